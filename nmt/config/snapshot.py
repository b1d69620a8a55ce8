"""The settings of a finished run as one file beside its results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from nmt.config.experiment import archives_of, corpora_in_use, runs_in_use
from nmt.config.schema import ClusterResources, Config, Sweep
from nmt.errors import UserError
from nmt.io.files import read_json


class Published(Config):
    """The settings without what has no influence on the results of a plain run."""

    mirrors: list[str] = Field(default_factory=list)
    resources: ClusterResources | None = None  # type: ignore[assignment]  # nobody asks for any
    sweep: Sweep | None = None  # type: ignore[assignment]  # has results of its own

    @model_validator(mode="before")
    @classmethod
    def _as_before(cls, values: Any) -> Any:
        """Settings that an earlier version wrote, by today's names and without what decides no results any more."""
        if not isinstance(values, dict):
            return values
        blocks = {name: dict(values[name]) for name in ("selection", "artifacts") if _is_block(values, name)}
        for gone in ("cut", "held_out", "held_out_shares"):
            blocks.get("selection", {}).pop(gone, None)
        if "readings" in (artifacts := blocks.get("artifacts", {})):
            artifacts["ablations"] = artifacts.pop("readings")
        return values | blocks


def published(config: Config) -> dict[str, Any]:
    """The merged settings as plain values: only the entries of the catalogues in use, nothing without influence."""
    values = config.model_dump(exclude={"mirrors", "resources", "sweep"})
    corpora = corpora_in_use(config)
    values["corpora"] = _only(values["corpora"], corpora)
    values["models"] = _only(values["models"], [run.model for run in runs_in_use(config).values()])
    values["archives"] = _only(values["archives"], archives_of(config, corpora))
    return values


def _is_block(values: Mapping[str, Any], name: str) -> bool:
    return isinstance(values.get(name), dict)


def _only(values: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}


def read(path: Path) -> Config:
    """Read the file of what `published` gave."""
    return checked(read_json(path), str(path))


def parse(value: str) -> Config:
    """Read an option's value: JSON as `published` gives it when it starts with a brace, otherwise a file's path."""
    if not value.lstrip().startswith("{"):
        return read(Path(value))
    try:
        return checked(json.loads(value), "--configuration")
    except json.JSONDecodeError as error:
        raise UserError(f"--configuration: not JSON: {error.msg}") from None


def checked(values: Any, where: str) -> Config:
    """Settings from plain values; a `UserError` names the first key that is not as it should be."""
    try:
        return Published.model_validate(values)
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(map(str, problem["loc"]))
        raise UserError(f"{where}: {key}: {problem['msg']}; expected the settings of a run") from None
