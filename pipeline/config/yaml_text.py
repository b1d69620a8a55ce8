"""YAML 1.2: `1e-6` is a number, `010` is ten, `yes` and `1:30` are text, which YAML 1.1 reads otherwise."""

from __future__ import annotations

import json
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from nmt.settings.checks import shortened


def parse(text: str) -> Any:
    """Return the value of a text.

    Raises:
        ValueError: where it is no YAML, and why, in one short line.
    """
    try:
        value = YAML(typ="safe", pure=True).load(text)
        json.dumps(value, default=str, skipkeys=True)  # refuses an alias of what it is inside of
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise ValueError(f"{place}not valid YAML: {shortened(' '.join(problem.split()), 160)}") from None
    except RecursionError:
        raise ValueError("not valid YAML: nested too deep") from None
    except (
        ValueError,
        TypeError,
    ) as error:  # a date that there is not, a number of 5,000 digits, a list as a key
        raise ValueError(f"not valid YAML: {shortened(str(error), 160)}") from None
    return value


def parsed_or_text(text: str) -> Any:
    """Return the value of a text; the text itself where it is no YAML."""
    try:
        return parse(text)
    except ValueError:
        return text
