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
from nmt.data.bitext_folder import BITEXT_FILES
from nmt.errors import UserError
from nmt.io.files import replaceable
from nmt.model.model_folder import FINAL_STATE, SETTINGS, SOURCE_VOCABULARY, TARGET_VOCABULARY, TEXT, WEIGHTS

_OF_A_MODEL = (WEIGHTS, SETTINGS, SOURCE_VOCABULARY, TARGET_VOCABULARY, TEXT)
"""Files that are read from the folder of a model."""
_NAMES_OF_FILES = ("patterns", "inputs", "settings")
"""Parameters whose text may name an input file."""


class Written(click.Path):
    """The type of an output file whose parameter is not called `output...`, also as one of several values."""


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
        for path in _paths(_part(parameter, values.get(str(parameter.name)), written=True))
    ]
    inputs = [
        path
        for parameter in command.params
        for path in _read(parameter, values.get(str(parameter.name)), values)
        if outputs
    ]
    for number, (name, output) in enumerate(outputs):
        # a model's folder may hold what its training continues from
        if any(_is(input, file) for input in inputs for file in (output, output / FINAL_STATE)):
            raise UserError(f"{name} {output}: is an input; name another file")
        for other, earlier in outputs[:number]:
            if replaceable(output) and os.path.realpath(output) == os.path.realpath(earlier):
                raise UserError(f"{name} {output}: is {other}, too; name another file")


def _part(parameter: click.Parameter, value: Any, written: bool) -> Any:
    """Return the part of a parameter's value that is written, or the part that is not."""
    kinds = parameter.type.types if isinstance(parameter.type, click.Tuple) else []
    if any(isinstance(kind, Written) for kind in kinds):
        return tuple(
            path
            for row in value or ()
            for kind, path in zip(kinds, row, strict=True)
            if isinstance(kind, Written) == written
        )
    whole = isinstance(parameter.type, Written) or str(parameter.name).startswith("output")
    return value if whole == written else None


def _named(parameter: click.Parameter) -> str:
    return parameter.opts[0] if isinstance(parameter, click.Option) else str(parameter.name).upper()


def _paths(value: Any) -> Iterator[Path]:
    """Yield the paths in a value, which may be a tuple of tuples."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _paths(part)


def _read(parameter: click.Parameter, value: Any, values: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the files that a subcommand reads for a parameter."""
    value = _part(parameter, value, written=False)
    if parameter.name in _NAMES_OF_FILES:
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
            yield from (path / part for part in (*_OF_A_MODEL, *BITEXT_FILES))


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
