"""Options and types that several subcommands share."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from pydantic import BaseModel

from nmt.errors import UserError
from nmt.io.files import is_replaceable, read_file
from nmt.settings.base import parse_json_settings
from nmt.settings.decoding import ComputeOptions

if TYPE_CHECKING:
    from nmt.store.trained_model import TrainedModel

Model = TypeVar("Model", bound=BaseModel)
Command = TypeVar("Command", bound=Callable[..., Any])


PATH = click.Path(path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
EXISTING = click.Path(exists=True, path_type=Path)


def file_option(
    name: str, help_text: str, metavar: str = "FILE", **extra: Any
) -> Callable[[Command], Command]:
    """Return a required option that names a file."""
    return click.option(name, type=PATH, required=True, metavar=metavar, help=help_text, **extra)


def settings_option(what: str, default: str | None = None) -> Callable[[Command], Command]:
    """Return the option `--settings`, read by `parse_settings`. `what` names the part of the configuration."""
    text = f"{what}, as JSON or the path of a JSON file."
    return click.option("--settings", required=not default, default=default, metavar="JSON|FILE", help=text)


def vocabularies(command: Command) -> Command:
    """Add the options that name the vocabularies of both sides."""
    for side in ("target", "source"):
        command = file_option(f"--{side}-vocabulary", f"TSV file of the {side} vocabulary.")(command)
    return command


def options_of(
    schema: type[BaseModel], keyword: str, *keys: str, **defaults: Any
) -> Callable[[Command], Command]:
    """Return a decorator that adds options for keys of a class, and hands them to the command as one object.

    Args:
        schema: the class. Its keys have the names, allowed values, defaults and help of the options.
        keyword: the command's parameter for the object.
        keys: the keys; none for all.
        defaults: values in place of the class's defaults.
    """
    chosen = keys or tuple(schema.model_fields)

    def add(command: Command) -> Command:
        @wraps(command)
        def call(**values: Any) -> Any:
            chosen_values = schema(**{key: values.pop(key) for key in chosen})
            return command(**values, **{keyword: chosen_values})

        for key in reversed(chosen):
            call = _option(schema, key, defaults.get(key))(call)
        return cast(Command, call)

    return add


def _option(schema: type[BaseModel], key: str, default: Any) -> Callable[[Command], Command]:
    field, described = schema.model_fields[key], schema.model_json_schema()["properties"][key]
    (kind,) = (kind for kind in described.get("anyOf", [described]) if kind["type"] != "null")
    default = field.default if default is None else default
    text = field.description or ""
    if default != field.default:
        text = f"{text.partition(' [')[0].rstrip('.')}."
    name = f"--{key.replace('_', '-')}"
    if kind["type"] == "boolean":
        return click.option(name, key, is_flag=True, help=text)
    values = (
        click.Choice(kind["enum"]) if "enum" in kind else click.IntRange(kind["minimum"], kind["maximum"])
    )
    return click.option(name, key, type=values, default=default, show_default=default is not None, help=text)


model_option = click.option(
    "--model", "model_path", required=True, type=PATH, metavar="FOLDER", help="Folder of a trained model."
)
models_option = click.option(
    "--model",
    "model_paths",
    required=True,
    multiple=True,
    type=PATH,
    metavar="FOLDER",
    help="Folder of a trained model, for example experiments/demo/models/rnnsearch-50. Repeat it for an ensemble.",
)
source_option = click.option(
    "--source", required=True, type=EXISTING, help="Tokenized text, one sentence per line."
)
tokenized_option = click.option(
    "--tokenized", is_flag=True, help="The text is already tokenized, as by `nmt data tokenize`."
)
average_option = click.option(
    "--average",
    type=click.Choice(["probability", "log_probability"]),
    default="probability",
    show_default=True,
    help="An ensemble averages this quantity of its models, word by word.",
)


def compute_options(batch_size: int = 80) -> Callable[[Command], Command]:
    """Return the options of a step of the workflow: `--batch-size`, `--threads` and `--device`."""
    defaults = {"batch_size": batch_size, "threads": 1, "device": "auto"}
    return options_of(ComputeOptions, "compute", *defaults, **defaults)


def load_models(folders: Sequence[Path], compute: ComputeOptions) -> tuple[list[TrainedModel], int]:
    """Load the models of a step of the workflow, and return them with the size of a batch."""
    from nmt.store import trained_model

    models = trained_model.load_models(folders, compute.device or "auto", compute.threads or 1)
    return models, compute.batch_size or 80


def parse_settings(
    schema: type[Model], value: str, complete: Callable[[dict[str, Any]], dict[str, Any]] | None = None
) -> Model:
    """Read the value of an option: JSON when it starts with a brace, otherwise the path of a JSON file.

    `complete` adds the values of keys that are not there. Raises a `UserError` that names the first faulty key and the
    number of the others.
    """
    is_text = value.lstrip().startswith("{")
    where, text = ("--settings", value) if is_text else (value, read_file(Path(value)))
    if complete is not None:
        with suppress(ValueError):  # what is no JSON is refused below
            values = json.loads(text)
            text = json.dumps(complete(values)) if isinstance(values, dict) else text
    return parse_json_settings(schema, text, where)


_WRITTEN = ("output", "plot")
"""Beginnings of the names of parameters whose file is written."""


def guarded(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Return a subcommand's function with a check before it: no output is an input or another output."""

    @wraps(callback)
    def call(**values: Any) -> Any:
        values_of = {key: value if isinstance(value, tuple) else (value,) for key, value in values.items()}
        paths = [(key, part) for key, parts in values_of.items() for part in parts if isinstance(part, Path)]
        places = Counter(os.path.realpath("/dev/stdin" if str(path) == "-" else path) for _, path in paths)
        for key, path in paths:
            if key.startswith(_WRITTEN) and is_replaceable(path) and places[os.path.realpath(path)] > 1:
                raise UserError(f"{path}: is written, and also an input or written twice; name another file")
        return callback(**values)

    return call
