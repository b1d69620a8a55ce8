"""The settings of a finished run as one file beside its results."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from nmt.settings.base import read as read_settings
from pipeline.config.catalogue import hide_secrets
from pipeline.config.display import Playground, Release
from pipeline.config.experiment import list_archives, list_corpora, lm_corpora
from pipeline.config.phrase_based import PhraseBased
from pipeline.config.schema import ClusterResources, Config


class Published(Config):
    """The settings without keys that have no influence on the results of a plain run."""

    mirrors: list[str] = Field(default_factory=list)
    resources: ClusterResources | None = None  # type: ignore[assignment]  # nobody asks for any
    playground: Playground | None = None  # type: ignore[assignment]  # needs the weights
    release: Release | None = None  # type: ignore[assignment]  # the same
    moses: PhraseBased | None = None  # type: ignore[assignment]  # none where it was not measured


def get_published_settings(config: Config) -> dict[str, Any]:
    """Return the merged settings as plain values, without unused entries of catalogues and keys without influence."""
    exclude = {"mirrors", "resources", "playground", "release"}
    moses = config.moses if config.moses and config.moses.enabled else None
    values = config.model_dump(exclude=exclude | (set() if moses else {"moses"}))
    corpora = [*list_corpora(config), *lm_corpora(config)]
    values["corpora"] = _only(values["corpora"], corpora)
    values["models"] = _only(values["models"], [*config.use.models, moses.phrase_model if moses else None])
    lists = [config.rescored[name].n_best_list for name in config.use.rescored]
    used = ("systems", config.use.systems), ("rescored", config.use.rescored), ("n_best_lists", lists)
    for catalogue, names in used:
        if catalogue in values:
            values[catalogue] = _only(values[catalogue], names)
    values["archives"] = _only(values["archives"], list_archives(config, corpora))
    for archive in values["archives"].values():
        for source in (archive, *archive["alternatives"]):
            source["url"] = hide_secrets(source["url"])
    return values


def _only(values: Mapping[str, Any], names: Collection[str | None]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}


def get_page_settings(config: Config) -> dict[str, Any]:
    """Return the settings that the page of a run shows: the published ones, but for the addresses of archives."""
    return {key: value for key, value in get_published_settings(config).items() if key != "archives"}


def read_published_settings(path: Path) -> Config:
    """Read the file of what `get_published_settings` gave."""
    return read_settings(Published, path, "expected the settings of a run")
