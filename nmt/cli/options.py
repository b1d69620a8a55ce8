"""What the command line's options have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click
from pydantic import BaseModel, ValidationError

from nmt.errors import UserError

FilePath = click.Path(path_type=Path)
Model = TypeVar("Model", bound=BaseModel)
Verb = Callable[..., None]


def shard_option(files: str, help_text: str) -> Callable[[Verb], Verb]:
    """`--shard CORPUS FILE...`, repeated; `files` names the files of a shard, one word each."""
    return click.option(
        "--shard",
        "shards",
        required=True,
        multiple=True,
        type=(str, *(FilePath for _ in files.split())),
        metavar=f"CORPUS {files}",
        help=help_text,
    )


def parse_settings(schema: type[Model], value: str) -> Model:
    """Read the value of `--settings`: JSON when it starts with a brace, otherwise the path of a JSON file.

    Raises a `UserError` that names the first key at fault and how many others there are.
    """
    inline = value.lstrip().startswith("{")
    where = "--settings" if inline else value
    try:
        text = value if inline else Path(value).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(
            f"--settings {value}: no such file; expected JSON or the path of a JSON file"
        ) from None
    try:
        return schema.model_validate_json(text)
    except ValidationError as error:
        raise UserError(f"{where}: {_first(error)}") from None


def _first(error: ValidationError) -> str:
    problem, *others = error.errors()
    key = ".".join(map(str, problem["loc"])) or "JSON"
    found = repr(problem["input"])
    more = f" (and {len(others)} more)" if others else ""
    return f"{key}: {problem['msg']}, found {found[:80]}{more}"
