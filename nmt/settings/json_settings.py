"""Reads settings in JSON: those of a job, of a finished run, of a model's folder."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from nmt.errors import UserError
from nmt.io.files import refuse_special
from nmt.settings.faults import summary

Model = TypeVar("Model", bound=BaseModel)


def parse(schema: type[Model], text: str | bytes, where: str, remedy: str = "") -> Model:
    """Return the settings in a text. Raise a UserError that names the first wrong key and the number of others.

    Args:
        schema: the class of the settings.
        text: the text in JSON.
        where: beginning of the error message, such as a path.
        remedy: end of the error message, which says what to do.
    """
    try:
        return schema.model_validate_json(text)
    except ValidationError as error:
        hint = f"; {remedy}" if remedy else ""
        raise UserError(f"{where}: {summary(error, schema)}{hint}") from None


def read(schema: type[Model], path: Path, remedy: str = "") -> Model:
    """Return the settings in a file. Raise a UserError if it cannot be read or has a wrong key."""
    refuse_special(path)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    return parse(schema, text, str(path), remedy)
