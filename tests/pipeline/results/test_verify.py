"""Files of a package that are not those of its record."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pipeline.results.verify import find_altered_files


def test_line_ends_of_windows_are_named_once(tmp_path: Path) -> None:
    sums = {name: hashlib.sha256(b"a\nb\n").hexdigest() for name in ("x.md", "y.md", "z.md")}
    for name, text in {"x.md": b"a\r\nb\r\n", "y.md": b"a\r\nb\r\n", "z.md": b"other\n"}.items():
        (tmp_path / name).write_bytes(text)
    other, of_windows = find_altered_files(tmp_path, sums, set(sums))
    assert "z.md: altered" in other and "2 files" in of_windows
