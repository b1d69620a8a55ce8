"""Options and types that several subcommands share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from pydantic import BaseModel

from nmt.errors import UserError, errors_as_user_error
from nmt.io.files import is_replaceable, read_file
from nmt.settings.base import parse_json_settings, suggest_name
from nmt.settings.decoding import ComputeOptions

if TYPE_CHECKING:
    from nmt.store.trained_model import TrainedModel

Schema = TypeVar("Schema", bound=BaseModel)
Command = TypeVar("Command", bound=Callable[..., Any])


PATH = click.Path(path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
EXISTING = click.Path(exists=True, path_type=Path)


def parse_existing_folder(value: str) -> Path:
    """Return the path of a folder: the `type` of an option or an argument.

    If there is no such folder, the error suggests the folder beside it with the most similar name.
    """
    folder = Path(value)
    if not folder.is_dir():
        suggestion = suggest_name(folder.name, [path.name for path in folder.parent.glob("*/")])
        raise UserError(f"{folder}: no such folder{suggestion}")
    return folder


class SectionedCommand(click.Command):
    """A command whose help shows its options below several headings.

    Attributes:
        sections: heading -> names of parameters. All others come last.
    """

    def __init__(self, *arguments: Any, sections: Mapping[str, Sequence[str]], **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each section."""
        help_records = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):
                help_records[parameter.name or ""] = record

        other_names = [name for name in help_records if name not in chain(*self.sections.values())]
        for heading, names in {**self.sections, "Other options": other_names}.items():
            with formatter.section(heading):
                formatter.write_dl([help_records[name] for name in names])


input_option = partial(click.option, required=True, type=EXISTING)
"""A required option whose value is an existing file or folder, with the arguments of `click.option`."""
output_option = partial(click.option, "--output", required=True, type=FILE)
"""The option `--output`, a required file, with further arguments of `click.option`."""


def settings_option(description: str, default: str | None = None) -> Callable[[Command], Command]:
    """Return the option `--settings`, whose value `parse_settings` reads. The description begins its help."""
    help_text = f"{description}, as JSON or the path of a JSON file."
    return click.option(
        "--settings", required=not default, default=default, metavar="JSON|FILE", help=help_text
    )


def add_vocabulary_options(command: Command) -> Command:
    """Add the options `--source-vocabulary` and `--target-vocabulary`."""
    for side in ("target", "source"):
        command = input_option(f"--{side}-vocabulary", help=f"TSV file of the {side} vocabulary.")(command)
    return command


def add_settings_options(
    schema: type[BaseModel], keyword: str, keys: Sequence[str] = (), **defaults: Any
) -> Callable[[Command], Command]:
    """Return a decorator that adds options for keys of a class of settings, and passes them as one object.

    Args:
        schema: the class of settings. Its keys give the options their names, allowed values, defaults and help.
        keyword: the parameter of the command that gets the object.
        keys: the keys that become options; without them, all keys do.
        defaults: key -> value in place of the default of the class.
    """
    option_keys = keys or tuple(schema.model_fields)

    def add_options(command: Command) -> Command:
        @wraps(command)
        def call_with_settings(**values: Any) -> Any:
            settings = schema(**{key: values.pop(key) for key in option_keys})
            return command(**values, **{keyword: settings})

        # Decorators apply from the bottom up, so the last option is added first.
        for key in reversed(option_keys):
            call_with_settings = _make_option(schema, key, defaults.get(key))(call_with_settings)
        return cast(Command, call_with_settings)

    return add_options


def _make_option(schema: type[BaseModel], key: str, default: Any) -> Callable[[Command], Command]:
    """Return the option for a key of a class of settings. If `default` is None, its default is that of the class."""
    field = schema.model_fields[key]
    name = f"--{key.replace('_', '-')}"

    # 1. the help; a remark in brackets at the end of the description is true only of the class's default
    help_text = field.description or ""
    if default is None:
        default = field.default
    elif default != field.default:
        help_text = f"{help_text.partition(' [')[0].rstrip('.')}."

    # 2. the type, from the JSON schema; of `integer | None` only the integer can be written on a command line
    key_schema = schema.model_json_schema()["properties"][key]
    alternatives = key_schema.get("anyOf", [key_schema])
    (type_schema,) = (alternative for alternative in alternatives if alternative["type"] != "null")
    if type_schema["type"] == "boolean":
        return click.option(name, key, is_flag=True, help=help_text)
    value_type = (
        click.Choice(type_schema["enum"])
        if "enum" in type_schema
        else click.IntRange(type_schema["minimum"], type_schema["maximum"])
    )
    return click.option(
        name,
        key,
        type=value_type,
        default=default,
        show_default=default is not None,
        help=help_text,
        metavar="N" if isinstance(value_type, click.IntRange) else None,
    )


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
source_option = input_option("--source", help="Tokenized text, one sentence per line.")
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
    """Return a decorator that adds the options of a step of the workflow: `--batch-size`, `--threads`, `--device`."""
    return add_settings_options(
        ComputeOptions,
        "compute",
        keys=("batch_size", "threads", "device"),
        batch_size=batch_size,
        threads=1,
        device="auto",
    )


def load_models(folders: Sequence[Path], compute: ComputeOptions) -> tuple[list[TrainedModel], int]:
    """Load the models of a step of the workflow. Return the models and the batch size."""
    from nmt.store import trained_model

    models = trained_model.load_models(folders, compute.device or "auto", compute.threads or 1)
    return models, compute.batch_size or 80


def parse_settings(
    schema: type[Schema], value: str, complete: Callable[[dict[str, Any]], dict[str, Any]] | None = None
) -> Schema:
    """Read the value of `--settings`: JSON if it starts with a brace, otherwise the path of a JSON file.

    `complete` adds missing keys to the settings. A UserError names the first faulty key.
    """
    is_json = value.lstrip().startswith("{")
    location = "--settings" if is_json else value
    text = value.encode() if is_json else read_file(value)
    if complete is not None:
        # `complete` raises one of these errors if the JSON is no object
        with errors_as_user_error(location, AttributeError, TypeError, remedy="expected a JSON object"):
            text = json.dumps(complete(json.loads(text))).encode()
    return parse_json_settings(schema, text, location)


def check_outputs_first(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that checks that no output file is an input or another output, and then calls `callback`.

    `callback` is the function of a subcommand.
    """

    @wraps(callback)
    def check_and_call(**values: Any) -> Any:
        # the real paths of the inputs, then of the outputs as well, since a file may have several names, such as links
        used_files, outputs = set[str](), list[Path]()
        for name, value in values.items():
            arguments = value if isinstance(value, tuple) else (value,)  # an option may be repeated
            paths = [argument for argument in arguments if isinstance(argument, Path)]
            if name.startswith(("output", "plot")):
                outputs += paths
            else:
                # the input "-" is standard input, the output "-" a file of this name
                used_files |= {os.path.realpath("/dev/stdin" if str(path) == "-" else path) for path in paths}

        # a device, such as a terminal, may be input and output, or several outputs
        for path in outputs:
            file = os.path.realpath(path)
            if file in used_files and is_replaceable(path):
                raise UserError(
                    f"{path}: an output that is also an input or another output; name a different file"
                )
            used_files.add(file)
        return callback(**values)

    return check_and_call
