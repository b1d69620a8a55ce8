"""Settings as JSON: those of a job, of a finished run, of a model's folder."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from nmt.errors import UserError
from nmt.io.files import refuse_special
from nmt.settings.faults import summary

Model = TypeVar("Model", bound=BaseModel)


def parse(schema: type[Model], text: str | bytes, where: str, remedy: str = "") -> Model:
    """The settings of a text; a `UserError` names the first key at fault and how many others there are.

    Args:
        where: what the message starts with, such as a path.
        remedy: what to do, at the end of the message.
    """
    try:
        return schema.model_validate_json(text)
    except ValidationError as error:
        hint = f"; {remedy}" if remedy else ""
        raise UserError(f"{where}: {summary(error, schema)}{hint}") from None


def read(schema: type[Model], path: Path, remedy: str = "") -> Model:
    """The settings of a file; a `UserError` where there is none or it is at fault."""
    refuse_special(path)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    return parse(schema, text, str(path), remedy)
