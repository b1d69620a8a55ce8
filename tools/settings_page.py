"""Write docs/settings.md: every key of the settings, its default, and its description in the code."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from nmt.settings.base import Settings  # noqa: E402

# The text below a key becomes its description in the classes that are defined from here on. This takes time, and nobody
# else needs it.
Settings.model_config["use_attribute_docstrings"] = True

from nmt.settings.model_types import MODEL_TYPES  # noqa: E402
from pipeline.config.layers import read_defaults  # noqa: E402
from pipeline.config.schema import Config  # noqa: E402

PAGE = ROOT / "docs" / "settings.md"
HEAD = """\
# Settings

    extends: ../paper
    vocabulary: {words: 15000}

This `config.yaml` is an experiment that differs from [the paper's](../experiments/paper/config.yaml) in one key. Here
the keys have their [defaults](../workflow/defaults.yaml) in parentheses; a *(required)* one has no default. A `*`
stands for a name of your choice. Later layers override earlier ones:

1. `nmt/settings/paper.json` (models, training, search) and `workflow/defaults.yaml`
2. the `config.yaml` of the experiment that is extended
3. the `config.yaml` of the working directory
4. files given with `--configfile`
5. pairs given with `--config`

Mappings are merged; lists and values are replaced. Unknown keys are errors. A relative path is relative to the file
that contains it.
"""


def format_page() -> str:
    """Return the page as text."""
    defaults = read_defaults().values
    sections = [HEAD]
    for key, field in Config.model_fields.items():
        block, is_mapping = _find_block(field)
        blocks = [block] if block else []
        if key == "architecture":
            blocks = [model_type.architecture for model_type in MODEL_TYPES.values()]

        # a mapping, such as `models`, has no defaults for its entries; nor has a block that is null by default
        prefix = "*." if is_mapping else ""
        section_defaults = defaults.get(key)
        if is_mapping or section_defaults is None:
            section_defaults = {}
        described_blocks: set[type[BaseModel]] = {Config}
        lines: list[str] = []
        for block in blocks:
            lines += _describe_keys(block, section_defaults, prefix, described_blocks)

        text = _describe(field)
        if not lines:
            text += f" {_format_default(field, defaults, key)}"
        distinct_lines = list(dict.fromkeys(lines))  # model types share keys
        section = "\n".join([f"## {key}", "", text, "", *distinct_lines])
        sections.append(section.rstrip() + "\n")
    return "\n".join(sections)


def _describe_keys(
    block: type[BaseModel], defaults: Mapping[str, Any], prefix: str, described_blocks: set[type[BaseModel]]
) -> Iterator[str]:
    """Yield a line for each key of a block and of the blocks in it.

    The keys of an inner block are left out if the page has a section for it, or has described its class before.
    """
    described_blocks.add(block)
    for key, field in block.model_fields.items():
        inner_block, is_mapping = _find_block(field)
        has_own_section = key in Config.model_fields
        if inner_block and not has_own_section:
            yield f"- `{prefix}{key}`: {_describe(field)}"
            if inner_block not in described_blocks:
                # an inner block has the defaults of its class
                inner_prefix = f"{prefix}{key}.*." if is_mapping else f"{prefix}{key}."
                yield from _describe_keys(inner_block, {}, inner_prefix, described_blocks)
        else:
            yield f"- `{prefix}{key}` {_format_default(field, defaults, key)}: {_describe(field)}"


def _describe(field: FieldInfo) -> str:
    """Return the text below a key of a class, in one line."""
    return " ".join(str(field.description).split())


def _find_block(field: FieldInfo) -> tuple[type[BaseModel] | None, bool]:
    """Return the class of a field that is a block of keys, or None for a single key.

    The second returned value is whether the field is a mapping of names to such blocks, as `models` is.
    """
    annotations = [field.annotation]
    while annotations:
        annotation = annotations.pop()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return annotation, get_origin(field.annotation) is dict
        annotations += get_args(annotation)  # the parts of `dict[str, ModelEntry] | None`
    return None, False


def _format_default(field: FieldInfo, defaults: Mapping[str, Any], key: str) -> str:
    """Return the default of a key in parentheses: from the layer of defaults, or else from the key's class."""
    if key not in defaults and field.is_required():
        return "*(required)*"
    return f"({json.dumps(defaults.get(key, field.default), ensure_ascii=False)})"


if __name__ == "__main__":
    PAGE.write_text(format_page(), encoding="utf-8")
