"""The append-only record of a training run: `history.jsonl`, one JSON object a line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class History:
    """Lines already written stay; a run that goes on from a checkpoint first drops what came after it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def size(self) -> int:
        """Bytes written so far: what a checkpoint remembers."""
        return self.path.stat().st_size if self.path.exists() else 0

    def rewind(self, size: int) -> None:
        """Forget all after the first `size` bytes."""
        if self.path.exists():
            os.truncate(self.path, size)

    def add(self, record: dict[str, Any]) -> None:
        """Append one line and see it on the disk."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def records(self) -> list[dict[str, Any]]:
        """All lines, oldest first."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").split("\n") if line]
