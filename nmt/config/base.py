"""What all settings are made of."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

PositiveInt = Annotated[int, Field(ge=1, le=10**12)]
"""A count: no text has more words, no training more updates."""


class Settings(BaseModel):
    """Base of all settings: frozen, strict about types, unknown keys and numbers that are not finite refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class TrainedWith(Settings):
    """Settings that a model is trained with: a key that has its default is not written.

    So a new key, which comes with a default, changes neither the command nor the fingerprint of any model that was
    trained before there was such a key. A key without a default is always written, whatever its value.
    """

    @model_serializer(mode="wrap")
    def _without_defaults(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        fields = type(self).model_fields
        return {
            key: value
            for key, value in written.items()
            if fields[key].is_required()
            or getattr(self, key) != fields[key].get_default(call_default_factory=True)
        }
