"""The base of all settings, numbers with their ranges, and the comparison of settings as dotted keys."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

WIDEST, MOST_SENTENCES, MOST_THREADS, MOST_WORDS = 10_000, 100_000, 1024, 100_000


def each_once(values: list[Any]) -> list[Any]:
    """Return a list. Raise a ValueError if it has an entry twice."""
    if twice := sorted({str(value) for value in values if values.count(value) > 1}):
        raise ValueError(f"expected each entry once, not {', '.join(twice)} again")
    return values


Identifier = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
"""A name that becomes part of a path: lower-case letters, digits, dots and hyphens."""
Names = Annotated[list[Identifier], AfterValidator(each_once)]
PositiveInt = Annotated[int, Field(ge=1, le=10**12)]
"""A count: no text has more words, no training more updates."""
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
"""The seeds that both NumPy and torch accept."""
Seeds = Annotated[list[Seed], Field(min_length=1, max_length=1000), AfterValidator(each_once)]
Words = Annotated[int, Field(ge=1, le=MOST_WORDS)]
"""Length of a sentence."""
Width = Annotated[int, Field(ge=1, le=WIDEST)]
"""Number of hypotheses per sentence."""
BatchSize = Annotated[int, Field(ge=1, le=MOST_SENTENCES)]
Threads = Annotated[int, Field(ge=1, le=MOST_THREADS)]
Hours = Annotated[float, Field(gt=0, le=10_000)]
Gigabytes = Annotated[int, Field(ge=1, le=100_000)]
Rate = Annotated[float, Field(gt=0, le=1e9)]
"""Updates per hour."""
Share = Annotated[float, Field(ge=0, le=1)]


class Settings(BaseModel):
    """The base of all settings. They are frozen and strict: unknown keys, other types, NaN and infinity are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class WithoutDefaults(Settings):
    """Settings that are written without the keys that have their default value.

    So a new key, which has a default value, changes nothing that was made before there was such a key: no command and
    no fingerprint of a training.
    """

    @model_serializer(mode="wrap")
    def _without_defaults(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_defaults(self, write)


def without_defaults(settings: BaseModel, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
    """Return what `write` writes of settings, without the keys that have their default value."""
    fields = type(settings).model_fields
    return {
        key: value
        for key, value in write(settings).items()
        if fields[key].is_required()
        or getattr(settings, key) != fields[key].get_default(call_default_factory=True)
    }


Flat = dict[str, Any]


def flatten(tree: dict[str, Any], prefix: str = "") -> Flat:
    """Return nested settings with dotted keys: {"a": {"b": 1}} becomes {"a.b": 1}."""
    flat: Flat = {}
    for key, value in tree.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def differences(was: Flat, now: Flat, ignore: frozenset[str] = frozenset()) -> str:
    """Return what changed as text, which is empty if nothing did."""
    keys = sorted(
        key for key in was.keys() | now.keys() if was.get(key) != now.get(key) and key not in ignore
    )
    return ", ".join(f"{key} was {was.get(key)!r} and is now {now.get(key)!r}" for key in keys)
