"""Reads YAML 1.2. Unlike in YAML 1.1, `1e-6` is a number, `010` is ten, and `yes` and `1:30` are text."""

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from nmt.settings.base import shorten

MAX_CHARACTERS = 160
"""Maximum length of a message about invalid YAML."""


def parse(text: str) -> Any:
    """Return the value of a text in YAML.

    Raises:
        ValueError: the text is not YAML; the message says where and why, in one short line.
    """
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        position = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or str(error)
    except (ValueError, TypeError, RecursionError) as error:  # such as February 30, or a list as a key
        position, problem = "", str(error)
    problem_line = " ".join(problem.split())
    raise ValueError(f"{position}not valid YAML: {shorten(problem_line, MAX_CHARACTERS)}")
