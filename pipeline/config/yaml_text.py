"""YAML 1.2: `1e-6` is a number, `010` is ten, `yes` and `1:30` are text, which YAML 1.1 reads otherwise."""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from nmt.settings.base import shortened


def parse(text: str) -> Any:
    """Return the value of a text.

    Raises:
        ValueError: where it is no YAML, and why, in one short line.
    """
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = " ".join((getattr(error, "problem", None) or str(error)).split())
    except (ValueError, TypeError, RecursionError) as error:  # a date that there is not, a list as a key
        place, problem = "", str(error)
    raise ValueError(f"{place}not valid YAML: {shortened(problem, 160)}")


def parse_or_keep(text: str) -> Any:
    """Return the value of a text; the text itself where it is no YAML."""
    try:
        return parse(text)
    except ValueError:
        return text
