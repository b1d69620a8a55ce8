"""Pages in one HTML file that a browser opens from the file system: parts, scripts and data together."""

from __future__ import annotations

import base64
import html
import json
import struct
import zlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from nmt.io.files import write_text


def pack(values: dict[str, Any], rest: bytes) -> bytes:
    """Return a page's data: the length of the JSON text (four bytes, little-endian), the text, the bytes of `rest`."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return struct.pack("<I", len(text)) + text + rest


def write(output: Path, package: str, scripts: Sequence[str], title: str, data: bytes) -> None:
    """Write a page.

    Args:
        output: the HTML file.
        package: holds page.html, style.css and the scripts, which come behind what all pages share.
        scripts: in their order.
        title: of the page.
        data: what `pack` gave.
    """
    own, shared = resources.files(package), resources.files("pipeline.results") / "templates"
    parts = {
        "style": [shared / "pages.css", own / "style.css"],
        "script": [shared / "pages.js", *(own / name for name in scripts)],
    }
    page = (own / "page.html").read_text(encoding="utf-8").replace("{{title}}", html.escape(title))
    for name, files in parts.items():
        page = page.replace(f"{{{{{name}}}}}", "\n".join(file.read_text(encoding="utf-8") for file in files))
    page = page.replace("{{data}}", base64.b64encode(zlib.compress(data, 9)).decode("ascii"))
    write_text(output, page)
