"""A journal of the finished parts of a long job, beside its output, from which a killed job resumes.

The first line says what the job was made from. Each other line is the result of one part of the job with its seconds,
as JSON. An incomplete line of a killed process does not count.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from nmt.io.files import full_disk_as_user_error
from nmt.io.locks import open_alone


class Journal:
    """Results of the parts of one job, by number: `.NAME.unfinished` beside the output NAME.

    `done` holds the results, `seconds` is the time of all finished parts, and `resumed` says whether another process
    finished some of them. Only a job with the same `made_from` resumes; any other starts again. A second process waits
    until the first has ended, if the file system supports locks of the kernel.
    """

    def __init__(self, output: Path, made_from: str) -> None:
        self.path = output.parent / f".{output.name}.unfinished"
        header = json.dumps(made_from).encode() + b"\n"
        self.seconds = 0.0
        self.done: dict[int, Any] = {}
        self._file = open_alone(self.path)
        whole = self._read(header)
        self._file.truncate(whole)
        if not whole:
            self._write(header)
        self.resumed = bool(self.done)
        self._since = time.monotonic()

    def _read(self, header: bytes) -> int:
        """Read the existing file, and return how many of its bytes are complete lines of this job."""
        self._file.seek(0)
        if self._file.readline() != header:
            return 0
        whole = len(header)
        for line in self._file:
            if not line.endswith(b"\n"):
                break
            try:
                number, result, seconds = json.loads(line)
                self.done |= {int(number): result}
                self.seconds += seconds
            except (ValueError, TypeError):
                break
            whole += len(line)
        return whole

    def add(self, number: int, result: Any) -> None:
        """Store the result of a part as JSON. After the return, it survives the end of the process or the machine."""
        seconds = round(time.monotonic() - self._since, 3)
        line = json.dumps([number, result, seconds], ensure_ascii=False)
        self._write(line.encode() + b"\n")
        self.done[number] = json.loads(line)[1]
        self.seconds += seconds
        self._since = time.monotonic()

    def _write(self, line: bytes) -> None:
        with full_disk_as_user_error(self.path):
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())

    def remove(self) -> None:
        """Delete the journal after the output has been written."""
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
