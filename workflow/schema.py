"""Write workflow/schemas/config.schema.json, what any layer of the settings may say, from `pipeline.config.schema`.

Editors read the schema. The settings themselves are checked by `pipeline.config.schema`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pipeline.config.layers import EXTENDS  # noqa: E402
from pipeline.config.schema import Config  # noqa: E402

TARGET = ROOT / "workflow" / "schemas" / "config.schema.json"


def schema() -> str:
    """Return the schema as text: every key optional, since a layer states only what it changes."""
    settings = _optional(Config.model_json_schema())
    settings["properties"][EXTENDS] = {"type": "string"}
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _optional(node: Any) -> Any:
    if isinstance(node, list):
        return [_optional(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: _optional(value) for key, value in node.items() if key != "required"}


if __name__ == "__main__":
    TARGET.write_text(schema(), encoding="utf-8")
