"""Write docs/settings.md: every key of the settings, its default, and what its class says of it."""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from nmt.settings.model_types import MODEL_TYPES  # noqa: E402
from pipeline.config.layers import DEFAULTS, read_layer  # noqa: E402
from pipeline.config.schema import Config  # noqa: E402

PAGE = ROOT / "docs" / "settings.md"
HEAD = """\
# Settings

An experiment's `config.yaml` says what it uses, and how it differs from the experiment that it extends
(`extends: ../paper`) and from the [defaults](../workflow/defaults.yaml), which are in parentheses here. What is
*(required)* has no default; [the paper's settings](../experiments/paper/config.yaml) are an example. Later layers win:

1. `workflow/defaults.yaml`
2. the `config.yaml` of the experiment that the working directory's one extends
3. the `config.yaml` of the working directory
4. files given with `--configfile`
5. pairs given with `--config`

Mappings are merged; lists and values are replaced. Unknown keys are refused. A relative path is relative to the file
that says it. A `*` stands for a name of your choice. `python workflow/settings_page.py` writes this page.
"""


def page() -> str:
    """Return the page as text."""
    defaults, texts = read_layer(DEFAULTS).values, descriptions(Config)
    parts = [HEAD]
    for key, field in Config.model_fields.items():
        model, catalogue = _model(field)
        models = (
            [model_type.architecture for model_type in MODEL_TYPES.values()]
            if key == "architecture"
            else [model]
        )
        values = {} if catalogue else defaults.get(key) or {}
        seen: set[type[BaseModel]] = {Config}
        below = [
            line for one in models if one for line in _keys(one, values, "*." if catalogue else "", seen)
        ]
        default = "" if below else f" {_default(field, defaults, key)}"
        parts.append(
            "\n".join([f"## {key}", "", texts[key] + default, "", *dict.fromkeys(below)]).rstrip() + "\n"
        )
    return "\n".join(parts)


def _keys(
    model: type[BaseModel], values: Mapping[str, Any], prefix: str, seen: set[type[BaseModel]]
) -> Iterator[str]:
    """Yield a line for each key of a block and below it, but for blocks with a section of their own or `seen`."""
    seen.add(model)
    texts = descriptions(model)
    for key, field in model.model_fields.items():
        inner, catalogue = _model(field)
        if inner and key not in Config.model_fields:
            yield f"- `{prefix}{key}`: {texts[key]}"
            if inner not in seen:
                yield from _keys(inner, {}, f"{prefix}{key}.*." if catalogue else f"{prefix}{key}.", seen)
        else:
            yield f"- `{prefix}{key}` {_default(field, values, key)}: {texts[key]}"


def _model(field: FieldInfo) -> tuple[type[BaseModel] | None, bool]:
    """Return the class of a block or of a catalogue's entries, and whether it is a catalogue."""
    catalogue = get_origin(field.annotation) is dict
    kinds = [field.annotation]
    while kinds:
        kind = kinds.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind, catalogue
        kinds += get_args(kind)
    return None, False


def _default(field: FieldInfo, values: Mapping[str, Any], key: str) -> str:
    if key not in values and field.is_required():
        return "*(required)*"
    return f"({json.dumps(values.get(key, field.default), ensure_ascii=False)})"


def descriptions(cls: type[BaseModel]) -> dict[str, str]:
    """Return the texts below the fields of a class and of those that it inherits from, by the fields' names."""
    found: dict[str, str] = {}
    for one in reversed(cls.__mro__):
        if not (issubclass(one, BaseModel) and one is not BaseModel):
            continue
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(node, ast.ClassDef)
        for statement, text in zip(node.body, node.body[1:], strict=False):
            match statement, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(below))):
                    found[name] = " ".join(below.split())
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
