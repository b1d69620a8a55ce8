"""Turns errors of settings into one short line: the key, what was found, what was expected."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from nmt.errors import UserError

KeyPath = tuple[Any, ...]
LONGEST = 80
"""Maximum number of characters of a value or a key in a message."""

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = LONGEST


@dataclass(frozen=True)
class Problem:
    """An error at a key."""

    path: KeyPath
    text: str

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.text}"


def problems(error: ValidationError, schema: type[BaseModel]) -> Iterator[Problem]:
    """Yield all errors that `schema` found, in its order."""
    for detail in error.errors(include_url=False):
        place = detail["loc"]
        if place[-1:] == ("[key]",) and detail["type"] != "extra_forbidden":
            place = place[:-1]  # pydantic's mark for the key before it; a user's own key may have this name
        path = _keys(place, schema)
        yield Problem(path, _text(detail, path, schema))


def summary(error: ValidationError, schema: type[BaseModel]) -> str:
    """Return the first error, and the number of others."""
    first, *others = problems(error, schema)
    return f"{first} (and {len(others)} more)" if others else str(first)


Schema = TypeVar("Schema", bound=BaseModel)


def checked(schema: type[Schema], where: str, **values: Any) -> Schema:
    """Return settings given in Python. Raise a UserError that begins with `where` and names the first wrong one."""
    return validated(schema, values, where)


def validated(schema: type[Schema], values: Any, where: str, remedy: str = "") -> Schema:
    """Return values as a schema has them. Raise a UserError: `where`, the first wrong key, and what to do."""
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        raise UserError(f"{where}: {summary(error, schema)}{remedy and f'; {remedy}'}") from None


def dotted(path: KeyPath) -> str:
    """Return the path of a key as messages show it."""
    return shortened(".".join(map(str, path)) or "(top)")


def shown(value: Any) -> str:
    """Return a value as a short piece of one line."""
    if isinstance(value, Mapping):
        return shortened("keys " + ", ".join(map(str, value)) if value else "no keys")
    return shortened(_SHORT.repr(value))


def shortened(text: str, most: int = LONGEST) -> str:
    """Return text in one line without control characters. If it is longer than `most`, its middle is left out."""
    if len(text) > most:
        text = f"{text[: most // 2]}...{text[-most // 4 :]}"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def nearest(found: str, known: Sequence[str]) -> str:
    """Return `; did you mean ...?` with the most similar name, or an empty text if no name is similar."""
    close = difflib.get_close_matches(found[:LONGEST], known, n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


def known_keys(path: KeyPath, schema: Any, but: Any = None) -> list[str]:
    """Return the keys that a schema has at a path; none if names are free. Types with the key `but` do not count."""
    kinds = _models(schema)
    for part in path:
        kinds = [inner for kind in kinds for inner in _below(kind, part)]
    found = [kind.model_fields for kind in kinds if _is_model(kind) and but not in kind.model_fields]
    return list(dict.fromkeys(key for keys in found for key in keys))


def _text(detail: ErrorDetails, path: KeyPath, schema: type[BaseModel]) -> str:
    found = shown(detail["input"])
    match detail["type"]:
        case "extra_forbidden":
            known = known_keys(path[:-1], schema, but=path[-1])  # another family may have it
            here = f"; known here: {', '.join(known)}" if known else ""
            return f"unknown key{nearest(str(path[-1]), known)}{here}"
        case "missing":
            return "missing"
        case "value_error":
            return f"found {found}; {detail['ctx']['error']}"
        case "json_invalid":
            return f"found {found}, expected JSON: {detail['ctx']['error']}"
        case "union_tag_not_found":
            return f"missing, expected {_expected(detail)}"
        case "union_tag_invalid":
            found = repr(detail["ctx"]["tag"])
    return f"found {found}, expected {_expected(detail)}"


def _expected(detail: ErrorDetails) -> str:
    context = detail.get("ctx", {})
    match detail["type"]:
        case "greater_than_equal":
            return f"{context['ge']} or more"
        case "greater_than":
            return f"more than {context['gt']}"
        case "less_than_equal":
            return f"{context['le']} or less"
        case "string_pattern_mismatch":
            return f"text of the form {context['pattern']}"
        case "model_type" | "dict_type":
            return "keys with values"
        case "bool_type":
            return "true or false"
        case "string_type":
            return "text" + (" (in quotes)" if isinstance(detail["input"], int | float) else "")
        case "union_tag_invalid":
            return str(context["expected_tags"])
        case "int_type" | "int_from_float" | "int_parsing_size":
            return "integer" + _without_quotes(detail["input"], int)
        case "float_type":
            return "number" + _without_quotes(detail["input"], float)
    message = detail["msg"].removeprefix("Input should be ").removeprefix("a valid ")
    return shortened(message[:1].lower() + message[1:], 2 * LONGEST)


def _without_quotes(found: Any, number: type) -> str:
    """Return a hint if a number was written in quotes."""
    try:
        number(found if isinstance(found, str) else "")
    except ValueError:
        return ""
    return " (without quotes)"


def _keys(location: KeyPath, schema: type[BaseModel]) -> KeyPath:
    """Return the path of an error without the names of a union's types, which pydantic adds."""
    kinds, path = _models(schema), []
    for part in location:
        tagged = [kind for kind in kinds if len(kinds) > 1 and part in _tags(kind)]
        if tagged:
            kinds = tagged
        else:
            path.append(part)
            kinds = [inner for kind in kinds for inner in _below(kind, part)]
    return tuple(path)


def _tags(kind: Any) -> tuple[Any, ...]:
    """Return pydantic's names for a type in a union: its name, and the values of its literal fields."""
    literals = [get_args(field.annotation) for field in kind.model_fields.values()] if _is_model(kind) else []
    return (getattr(kind, "__name__", None), *(value for values in literals for value in values))


def _below(kind: Any, part: Any) -> list[Any]:
    """Return the possible types of a key of a model or a mapping, or of an item of a list."""
    if _is_model(kind):
        field = kind.model_fields.get(str(part))
        return _models(field.annotation) if field else []
    return _models(get_args(kind)[-1]) if get_origin(kind) in (dict, list) else []


def _models(kind: Any) -> list[Any]:
    """Return the alternatives of a type, without annotations and `| None`."""
    if get_origin(kind) is Annotated:
        return _models(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [inner for option in get_args(kind) if option is not type(None) for inner in _models(option)]
    return [kind]


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
