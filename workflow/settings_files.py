"""What decides the jobs of a run, as small files that rules have as inputs.

Snakemake compares the content of such files with what it was when an output was made. Where it has no records, as in a
copied run, the file of a changed setting is newer than the outputs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from nmt.errors import UserError
from nmt.io.files import write_text
from nmt.io.locks import hold_folder

LOCK = Path(".snakemake") / "run"
"""Folder of the lock that a Snakemake holds as long as it lives."""
WAIT_SECONDS = 3.0
"""Time for another Snakemake to end, which only plans."""


class SettingsFiles:
    """The files in `settings/` of the working directory. They are written by the Snakemake that a person calls.

    Its jobs on a cluster take them as they are, so that an edit of config.yaml during the run changes nothing of it.
    Nor does a second Snakemake write them while the first one lives.
    """

    def __init__(self) -> None:
        self.texts: dict[Path, str] = {}
        self.lock = ExitStack()
        self.locked = False

    def add(self, name: str, values: BaseModel | Mapping[str, Any]) -> str:
        """Return the path of a file for these values, which `write` writes."""
        path = Path("settings") / f"{name}.json"
        plain = values.model_dump(mode="json") if isinstance(values, BaseModel) else values
        self.texts[path] = json.dumps(plain, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
        return str(path)

    def write(self) -> None:
        """Take the lock of the run, and write the files whose content has changed."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                self.lock.enter_context(hold_folder(LOCK, "refuse"))
                break
            except UserError:
                if time.monotonic() > deadline:
                    return
                time.sleep(0.2)
        self.locked = True
        for path, text in self.texts.items():
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                write_text(path, text)

    def require_lock(self) -> None:
        """Raise a UserError if another Snakemake is at work here."""
        if not self.locked:
            raise UserError(f"{Path.cwd()}: another run is active here: wait for it, or end it")
