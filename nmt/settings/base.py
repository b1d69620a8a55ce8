"""The base of all settings: ranges of numbers, checks where settings enter, and their comparison as dotted keys.

What is wrong is one short line: the key, what was found, what was expected.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)
from pydantic_core import ErrorDetails

from nmt.errors import UserError
from nmt.io.files import read_file

MAX_BEAM_SIZE, MAX_BATCH_SIZE, MAX_THREADS, MAX_SENTENCE_LENGTH = 10_000, 100_000, 1024, 100_000


def check_unique(values: list[Any]) -> list[Any]:
    """Return a list. Raise a ValueError if it has an entry twice."""
    if twice := sorted({str(value) for value in values if values.count(value) > 1}):
        raise ValueError(f"expected each entry once, not {', '.join(twice)} again")
    return values


Identifier = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
"""A name that becomes part of a path: lower-case letters, digits, dots and hyphens."""
Names = Annotated[list[Identifier], AfterValidator(check_unique)]
PositiveInt = Annotated[int, Field(ge=1, le=10**12)]
"""A count: no text has more words, no training more updates."""
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
"""The seeds that both NumPy and torch accept."""
Seeds = Annotated[list[Seed], Field(min_length=1, max_length=1000), AfterValidator(check_unique)]
TokenCount = Annotated[int, Field(ge=1, le=MAX_SENTENCE_LENGTH)]
"""Length of a sentence."""
BeamSize = Annotated[int, Field(ge=1, le=MAX_BEAM_SIZE)]
"""Number of hypotheses per sentence."""
BatchSize = Annotated[int, Field(ge=1, le=MAX_BATCH_SIZE)]
Threads = Annotated[int, Field(ge=1, le=MAX_THREADS)]
Hours = Annotated[float, Field(gt=0, le=10_000)]
Gigabytes = Annotated[int, Field(ge=1, le=100_000)]
Rate = Annotated[float, Field(gt=0, le=1e9)]
"""Updates per hour."""
Fraction = Annotated[float, Field(ge=0, le=1)]


class Settings(BaseModel):
    """The base of all settings. They are frozen and strict: unknown keys, other types, NaN and infinity are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class OmitsDefaults(Settings):
    """Settings that are written without the keys that have their default value.

    So a new key, which has a default value, changes nothing that was made before there was such a key: no command and
    no fingerprint of a training.
    """

    @model_serializer(mode="wrap")
    def _without_defaults(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        return {
            key: value
            for key, value in write(self).items()
            if fields[key].is_required()
            or getattr(self, key) != fields[key].get_default(call_default_factory=True)
        }


FlatSettings = dict[str, Any]


def flatten(tree: dict[str, Any], prefix: str = "") -> FlatSettings:
    """Return nested settings with dotted keys: {"a": {"b": 1}} becomes {"a.b": 1}."""
    flat: FlatSettings = {}
    for key, value in tree.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def describe_differences(was: FlatSettings, now: FlatSettings, ignore: frozenset[str] = frozenset()) -> str:
    """Return what changed as text, which is empty if nothing did."""
    keys = sorted(
        key for key in was.keys() | now.keys() if was.get(key) != now.get(key) and key not in ignore
    )
    return ", ".join(f"{key} was {was.get(key)!r} and is now {now.get(key)!r}" for key in keys)


# --- checks of what enters --------------------------------------------------------------------------------------------

KeyPath = tuple[Any, ...]
Schema = TypeVar("Schema", bound=BaseModel)
SHOWN_CHARACTERS = 80
"""Maximum number of characters of a value or a key in a message."""
SHOWN_ERRORS = 100
"""Maximum number of errors that are listed."""


@dataclass(frozen=True)
class Problem:
    """An error at a key."""

    path: KeyPath
    text: str

    def __str__(self) -> str:
        return f"{shorten('.'.join(map(str, self.path)) or '(top)')}: {self.text}"


def read_settings(schema: type[Schema], path: Path, remedy: str = "") -> Schema:
    """Return the settings in a JSON file. Raise a UserError if it cannot be read or has a wrong key."""
    return parse_json_settings(schema, read_file(path), str(path), remedy)


def parse_json_settings(schema: type[Schema], text: str | bytes, where: str, remedy: str = "") -> Schema:
    """Return the settings in a JSON text; see `validated`."""
    try:
        return schema.model_validate_json(text)
    except ValidationError as error:
        raise _refusal(error, schema, where, remedy) from None


def validate_settings(schema: type[Schema], values: Any, where: str) -> Schema:
    """Return values as a schema has them. Raise a UserError: `where` and the first wrong key."""
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        raise _refusal(error, schema, where, "") from None


def _refusal(error: ValidationError, schema: type[BaseModel], where: str, remedy: str) -> UserError:
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return UserError(f"{where}: {next(list_problems(error, schema))}{more}{remedy and f'; {remedy}'}")


def list_problems(error: ValidationError, schema: type[BaseModel]) -> Iterator[Problem]:
    """Yield the errors that `schema` found, in its order."""
    keys = _keys(schema)
    for detail in islice(error.errors(include_url=False), SHOWN_ERRORS):
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
            return "no key of this block" if key in keys else f"unknown key{suggest_name(key, sorted(keys))}"
        case "value_error":
            message = str(detail["ctx"]["error"])
    expected = message.removeprefix("Input should be ")
    separator = "; " if expected == message else ", expected "
    return f"found {format_value(detail['input'])}{separator}{shorten(expected, 2 * SHOWN_CHARACTERS)}"


def format_value(value: Any) -> str:
    """Return a value as a short piece of one line."""
    return shorten(repr(value))


def shorten(text: str, most: int = SHOWN_CHARACTERS) -> str:
    """Return text in one line without control characters. If it is longer than `most`, its middle is left out."""
    if len(text) > most:
        text = f"{text[: most // 2]}...{text[-most // 4 :]}"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def suggest_name(name: str, names: Collection[str]) -> str:
    """Return `; did you mean ...?` with the most similar name, or an empty text if no name is similar."""
    close = difflib.get_close_matches(name[:SHOWN_CHARACTERS], names, n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""
