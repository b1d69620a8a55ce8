"""YAML 1.2: `1e-6` is a number, `010` is ten, `yes`, `1:30` and `2014-02-30` are text.

PyYAML reads YAML 1.1, where these are text, 8, true, 90 and an error. This module has the core schema of YAML 1.2
(Sec. 10.3). Keys are text, and no key may come twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

import yaml

from nmt.settings.faults import shortened

DEEPEST = 50
"""Limit for nested levels. Settings have six."""


def parse(text: str) -> Any:
    """Return the value of a text.

    Raises:
        ValueError: where it is no YAML, and why, in one short line.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  a SafeLoader
    except yaml.YAMLError as error:
        raise ValueError(_line(error)) from None


def parsed_or_text(text: str) -> Any:
    """Return the value of a text; the text itself where it is no YAML."""
    try:
        return parse(text)
    except ValueError:
        return text


def _line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    problem = " ".join(str(getattr(error, "problem", None) or error).split())
    return f"{place}not valid YAML: {shortened(problem, 160)}"


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """PyYAML's loader with the scalars of YAML 1.2 and stricter keys."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}
    yaml_constructors: ClassVar[dict[str | None, Any]] = {
        f"tag:yaml.org,2002:{tag}": yaml.SafeLoader.yaml_constructors[f"tag:yaml.org,2002:{tag}"]
        for tag in ("str", "seq")
    } | {None: yaml.SafeLoader.yaml_constructors[None]}
    depth = 0

    def compose_node(self, parent: yaml.Node, index: Any) -> yaml.Node:
        """Limit the depth of PyYAML's method, which calls itself for what is inside."""
        self.depth += 1
        if self.depth > DEEPEST:
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, f"nested more than {DEEPEST} deep", mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _integer(text: str) -> int:
    base = {"0x": 16, "0o": 8}.get(text[:2])
    return int(text[2:], base) if base else int(text)


def _float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


_CORE: dict[str, tuple[str, str, Callable[[str], Any]]] = {
    "null": (r"null|Null|NULL|~|", "nN~", lambda _: None),
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF", lambda text: text.lower() == "true"),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789", _integer),
    "float": (
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
        _float,
    ),
}
"""Name of a tag: its form, its first characters, the function for its value."""


def _scalar(
    tag: str, form: re.Pattern[str], value: Callable[[str], Any]
) -> Callable[[_Loader, yaml.Node], Any]:
    def construct(loader: _Loader, node: yaml.Node) -> Any:
        text = loader.construct_scalar(node)
        try:
            if form.fullmatch(text):
                return value(text)
        except ValueError:  # Python converts no number of more than 4,300 digits
            raise _refusal(f"found a number of {len(text):,} characters", node) from None
        raise _refusal(f"found {shortened(text)}, expected {tag}", node)

    return construct


def _mapping(loader: _Loader, node: yaml.Node) -> dict[str, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise _refusal("expected keys with values", node)
    mapping: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _refusal("found braces or brackets in place of a key: put text in quotes", key_node)
        key = loader.construct_object(key_node)
        if not isinstance(key, str):
            raise _refusal(f"found the key {shortened(key_node.value) or 'null'}, expected text", key_node)
        if key in mapping:
            raise _refusal(f"key said twice: {shortened(key)}", key_node)
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


def _refusal(problem: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


for _tag, (_form, _first, _value) in _CORE.items():
    _name, _pattern = f"tag:yaml.org,2002:{_tag}", re.compile(_form)
    _Loader.add_implicit_resolver(_name, re.compile(f"(?:{_form})$"), list(_first) + [""] * (_tag == "null"))
    _Loader.add_constructor(_name, _scalar(_tag, _pattern, _value))
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
