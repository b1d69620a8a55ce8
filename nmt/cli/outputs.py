"""A check before each subcommand: no output may be one of its inputs, and no two outputs the same file."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

from nmt.cli.options import files_of
from nmt.errors import UserError
from nmt.io.files import replaceable
from nmt.model.model_folder import SETTINGS, SOURCE_VOCABULARY, TARGET_VOCABULARY, TEXT, WEIGHTS

_OF_A_MODEL = (WEIGHTS, SETTINGS, SOURCE_VOCABULARY, TARGET_VOCABULARY, TEXT)
"""Files that are read from the folder of a model."""
_NAMES_OF_FILES = ("patterns", "inputs", "settings")
"""Parameters whose text may name an input file."""


class Written(click.Path):
    """The type of an output file whose parameter is not called `output...`."""


WRITTEN = Written(path_type=Path)


def guarded(command: click.Command, callback: Callable[..., Any]) -> Callable[..., Any]:
    """Return the subcommand's function with a check of its files before it."""

    @wraps(callback)
    def call(**values: Any) -> Any:
        refuse_same(command, values)
        return callback(**values)

    return call


def refuse_same(command: click.Command, values: Mapping[str, Any]) -> None:
    """Raise a UserError if an output is also an input or another output."""
    outputs = [
        (_named(parameter), path)
        for parameter in command.params
        if _is_written(parameter)
        for path in _paths(values.get(str(parameter.name)))
    ]
    written = {parameter.name for parameter in command.params if _is_written(parameter)}
    inputs = [
        path for name, value in values.items() if name not in written for path in _read(name, value, values)
    ]
    for number, (name, output) in enumerate(outputs):
        if any(_is(input, output) for input in inputs):
            raise UserError(f"{name} {output}: is an input; name another file")
        for other, earlier in outputs[:number]:
            if replaceable(output) and os.path.realpath(output) == os.path.realpath(earlier):
                raise UserError(f"{name} {output}: is {other}, too; name another file")


def _is_written(parameter: click.Parameter) -> bool:
    return isinstance(parameter.type, Written) or str(parameter.name).startswith("output")


def _named(parameter: click.Parameter) -> str:
    return parameter.opts[0] if isinstance(parameter, click.Option) else str(parameter.name).upper()


def _paths(value: Any) -> Iterator[Path]:
    """Yield the paths in a value, which may be a tuple of tuples."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _paths(part)


def _read(name: str, value: Any, values: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the files that a subcommand reads for a parameter."""
    if name in _NAMES_OF_FILES:
        texts = value if isinstance(value, tuple) else (value,)
        value = tuple(
            path
            for text in texts
            if _names_files(text)
            for path in _of_pattern(text, values.get("corpora", ()))
        )
    for path in _paths(value):
        yield path
        if os.path.isdir(path):
            yield from (path / part for part in _OF_A_MODEL)


def _names_files(text: Any) -> bool:
    return bool(text) and ("{shard}" in text or not text.lstrip().startswith("{"))  # which is JSON


def _of_pattern(text: str, corpora: Any) -> list[Path]:
    return files_of(corpora, text) if "{shard}" in text else [Path(text)]


def _is(input: Path, output: Path) -> bool:
    """Return whether both are the same file. Devices and pipes may be both read and written."""
    if input == output:
        return replaceable(output)
    try:
        read = os.fstat(sys.stdin.fileno()) if str(input) == "-" else input.stat()
        written = output.stat()
    except (OSError, ValueError, AttributeError):  # no such file, no name of one, closed standard input
        return False
    return stat.S_ISREG(written.st_mode) and os.path.samestat(read, written)
