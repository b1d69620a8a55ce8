"""The base of all settings: ranges of numbers, comparison of settings, and messages about wrong ones.

A message is one short line: the key, what was found, what was expected.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from dataclasses import dataclass
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

MAX_BEAM_SIZE = 10_000
MAX_SENTENCE_LENGTH = 100_000


def check_unique(values: list[Any]) -> list[Any]:
    """Return a list unchanged. Raise a ValueError if it has an entry twice."""
    if len(set(values)) < len(values):
        raise ValueError("expected each entry once")
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
BatchSize = Annotated[int, Field(ge=1, le=100_000)]
Threads = Annotated[int, Field(ge=1, le=1024)]
Hours = Annotated[float, Field(gt=0, le=10_000)]
Gigabytes = Annotated[int, Field(ge=1, le=100_000)]
Rate = Annotated[float, Field(gt=0, le=1e9)]
"""Updates per hour."""
Fraction = Annotated[float, Field(ge=0, le=1)]


class Settings(BaseModel):
    """The base of all settings. They are frozen and strict: unknown keys, other types, NaN and infinity are refused.

    They are written without the keys that have the default of their class. So a new key, which has a default, changes
    no job's parameters and no fingerprint of a training.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_serializer(mode="wrap")
    def _omit_defaults(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the values to write, without optional keys that have their default value."""
        serialized_values = {}
        for key, value in serialize(self).items():
            field = type(self).model_fields[key]
            default = field.get_default(call_default_factory=True)
            if field.is_required() or getattr(self, key) != default:
                serialized_values[key] = value
        return serialized_values


FlatSettings = dict[str, Any]
"""Settings with dotted keys."""
SHA256 = re.compile("[0-9a-f]{64}")
"""Pattern of a checksum."""


def flatten(tree: dict[str, Any], prefix: str = "") -> FlatSettings:
    """Return nested settings with dotted keys: {"a": {"b": 1}} becomes {"a.b": 1}."""
    flat_settings: FlatSettings = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat_settings |= flatten(value, f"{prefix}{key}.")
        else:
            flat_settings[f"{prefix}{key}"] = value
    return flat_settings


def describe_differences(
    old_settings: FlatSettings, new_settings: FlatSettings, ignore: frozenset[str] = frozenset()
) -> str:
    """Return a text that names the keys that have changed, or "" if none has. Keys in `ignore` do not count.

    Example: "data.train was replaced, training.rho was 0.95 and is now 0.9, training.order was 'seed' and is now not
    set". A key that is not set has its default.
    """
    descriptions = []
    for key in sorted(old_settings.keys() | new_settings.keys()):
        if key in ignore or old_settings.get(key) == new_settings.get(key):
            continue
        old_value, new_value = (
            repr(settings[key]) if key in settings else "not set" for settings in (old_settings, new_settings)
        )
        # two checksums: their digits would tell a reader nothing
        if SHA256.fullmatch(old_value.strip("'")) and SHA256.fullmatch(new_value.strip("'")):
            descriptions.append(f"{key} was replaced")
        else:
            descriptions.append(f"{key} was {old_value} and is now {new_value}")
    return ", ".join(descriptions)


# --- messages about wrong settings ------------------------------------------------------------------------------------

KeyPath = tuple[Any, ...]
"""The keys and list indices that lead to a value: ("models", "small", "seeds", 0)."""
Schema = TypeVar("Schema", bound=BaseModel)
SHOWN_CHARACTERS = 80
"""Maximum number of characters of a value or a key in a message."""


@dataclass(frozen=True)
class Problem:
    """An error at a key."""

    path: KeyPath
    text: str

    def __str__(self) -> str:
        key = ".".join(str(step) for step in self.path)
        return f"{shorten(key)}: {self.text}" if key else self.text


def read_settings(schema: type[Schema], path: Path, remedy: str = "") -> Schema:
    """Return the settings in a JSON file. Raises a UserError if it cannot be read or has a wrong key."""
    return parse_json_settings(schema, read_file(path), str(path), remedy)


def parse_json_settings(schema: type[Schema], text: str | bytes, location: str, remedy: str = "") -> Schema:
    """Return the settings in a JSON text. Raises a UserError, which begins with `location`, at a wrong key."""
    try:
        return schema.model_validate_json(text)
    except ValidationError as error:
        raise _make_user_error(error, schema, location, remedy) from None


def validate_settings(schema: type[Schema], values: Any, location: str) -> Schema:
    """Return values as settings. Raises a UserError, which begins with `location`, at a wrong key."""
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        raise _make_user_error(error, schema, location, "") from None


def _make_user_error(
    error: ValidationError, schema: type[BaseModel], location: str, remedy: str
) -> UserError:
    """Return the error that names the first wrong key, the number of further ones, and the remedy."""
    message = f"{location}: {list_problems(error, schema)[0]}"
    if error.error_count() > 1:
        message += f" (and {error.error_count() - 1} more)"
    return UserError(f"{message}; {remedy}" if remedy else message)


def list_problems(error: ValidationError, schema: type[BaseModel]) -> list[Problem]:
    """Return the problems that `schema` has found in some values, in the order of its keys."""
    known_keys = _list_keys(schema)
    return [Problem(detail["loc"], _explain_error(detail, known_keys)) for detail in error.errors()]


def _list_keys(schema: type[BaseModel]) -> set[str]:
    """Return all keys of a schema and of the schemas inside it."""
    description = schema.model_json_schema()
    keys = set(description.get("properties", {}))
    for inner_description in description.get("$defs", {}).values():
        keys |= set(inner_description.get("properties", {}))
    return keys


def _explain_error(detail: ErrorDetails, known_keys: Collection[str]) -> str:
    """Return a description of the problem with a value, such as "found 3, expected a valid string"."""
    if detail["type"] == "missing":
        return "missing"
    if detail["type"] == "json_invalid":
        return detail["msg"]
    if detail["type"] == "extra_forbidden":
        key = str(detail["loc"][-1])
        if key in known_keys:
            return "no key of this block"
        return f"unknown key{suggest_name(key, sorted(known_keys))}"

    # "Input should be a valid string" -> "found 3, expected a valid string"; other messages stay as they are
    message = detail["msg"].removeprefix("Value error, ")
    expectation = message.removeprefix("Input should be ")
    separator = "; " if expectation == message else ", expected "
    return f"found {format_value(detail['input'])}{separator}{shorten(expectation, 2 * SHOWN_CHARACTERS)}"


def format_value(value: Any) -> str:
    """Return a value of a settings file as a short text."""
    return "null" if value is None else shorten(repr(value))


def shorten(text: str, max_length: int = SHOWN_CHARACTERS) -> str:
    """Return a text or, if it is longer than `max_length`, its beginning and its end."""
    if len(text) <= max_length:
        return text
    return f"{text[: max_length // 2]}...{text[-max_length // 4 :]}"


def suggest_name(name: str, known_names: Collection[str]) -> str:
    """Return `; did you mean ...?` with the most similar name, or an empty text if no name is similar."""
    matches = difflib.get_close_matches(name[:SHOWN_CHARACTERS], known_names, n=1, cutoff=0.6)
    return f"; did you mean `{matches[0]}`?" if matches else ""
