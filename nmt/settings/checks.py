"""Checks settings where they enter; what is wrong is one short line: the key, what was found, what was expected."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from nmt.errors import UserError
from nmt.io.files import read_small

KeyPath = tuple[Any, ...]
Schema = TypeVar("Schema", bound=BaseModel)
LONGEST = 80
"""Maximum number of characters of a value or a key in a message."""
MOST = 100
"""Maximum number of errors that are listed."""
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = LONGEST


@dataclass(frozen=True)
class Problem:
    """An error at a key."""

    path: KeyPath
    text: str

    def __str__(self) -> str:
        return f"{shortened('.'.join(map(str, self.path)) or '(top)')}: {self.text}"


def read(schema: type[Schema], path: Path, remedy: str = "") -> Schema:
    """Return the settings in a JSON file. Raise a UserError if it cannot be read or has a wrong key."""
    return parse(schema, read_small(path), str(path), remedy)


def parse(schema: type[Schema], text: str | bytes, where: str, remedy: str = "") -> Schema:
    """Return the settings in a JSON text; see `validated`."""
    try:
        return schema.model_validate_json(text)
    except ValidationError as error:
        raise _refusal(error, schema, where, remedy) from None


def validated(schema: type[Schema], values: Any, where: str, remedy: str = "") -> Schema:
    """Return values as a schema has them. Raise a UserError: `where`, the first wrong key, and what to do."""
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        raise _refusal(error, schema, where, remedy) from None


def _refusal(error: ValidationError, schema: type[BaseModel], where: str, remedy: str) -> UserError:
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return UserError(f"{where}: {next(problems(error, schema))}{more}{remedy and f'; {remedy}'}")


def problems(error: ValidationError, schema: type[BaseModel]) -> Iterator[Problem]:
    """Yield the errors that `schema` found, in its order."""
    keys = _keys(schema)
    for detail in islice(error.errors(include_url=False), MOST):
        yield Problem(detail["loc"], _text(detail, keys))


def _keys(schema: type[BaseModel]) -> set[str]:
    """Return all keys of a schema and of those inside it."""
    described = schema.model_json_schema()
    parts = [described, *described.get("$defs", {}).values()]
    return {key for part in parts for key in part.get("properties", {})}


def _text(detail: ErrorDetails, keys: Collection[str]) -> str:
    message = detail["msg"]
    match detail["type"]:
        case "missing":
            return "missing"
        case "extra_forbidden":
            key = str(detail["loc"][-1])
            return "no key of this block" if key in keys else f"unknown key{nearest(key, sorted(keys))}"
        case "value_error":
            message = str(detail["ctx"]["error"])
    expected = message.removeprefix("Input should be ")
    separator = "; " if expected == message else ", expected "
    return f"found {shown(detail['input'])}{separator}{shortened(expected, 2 * LONGEST)}"


def shown(value: Any) -> str:
    """Return a value as a short piece of one line."""
    return shortened(_SHORT.repr(value))


def shortened(text: str, most: int = LONGEST) -> str:
    """Return text in one line without control characters. If it is longer than `most`, its middle is left out."""
    if len(text) > most:
        text = f"{text[: most // 2]}...{text[-most // 4 :]}"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def nearest(name: str, names: Collection[str]) -> str:
    """Return `; did you mean ...?` with the most similar name, or an empty text if no name is similar."""
    close = difflib.get_close_matches(name[:LONGEST], names, n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""
