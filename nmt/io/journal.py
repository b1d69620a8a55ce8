"""A journal of the finished parts of a long job, in the folder of its output, from which a killed job resumes.

The first line is a checksum of the inputs of the job. Each other line is the number of a part and its result, as JSON.
An incomplete last line, which a killed process leaves, is ignored.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from nmt.io.files import full_disk_as_user_error
from nmt.io.locks import open_exclusively


class Journal:
    """Results of the parts of one job, by their numbers: the file `.NAME.unfinished` in the folder of the output NAME.

    Only a job with the same inputs resumes; any other starts again. A second process waits until the first has ended,
    if the file system supports locks of the kernel.

    results: the results of the finished parts.
    """

    def __init__(self, output: Path, inputs_digest: str) -> None:
        """Open the journal of a job with this output, whose inputs have this checksum."""
        self.path = output.parent / f".{output.name}.unfinished"
        header = json.dumps(inputs_digest).encode() + b"\n"

        # keep the complete lines that an earlier process of the same job has written
        self._file = open_exclusively(self.path)
        self._file.seek(0)
        lines = self._file.readlines()
        if lines[:1] != [header]:
            lines = []  # a different job
        elif not lines[-1].endswith(b"\n"):
            lines.pop()  # a killed process has not completed it
        self._file.truncate(sum(map(len, lines)))
        if not lines:
            self._write(header)

        # each line is a number and a result
        self.results: dict[int, Any] = dict(map(json.loads, lines[1:]))

    def add(self, number: int, result: Any) -> None:
        """Store the result of a part as JSON. When this returns, a crash of process or machine cannot lose it."""
        line = json.dumps([number, result], ensure_ascii=False)
        self._write(line.encode() + b"\n")
        self.results[number] = result

    def _write(self, line: bytes) -> None:
        """Append a line, and wait until it is on the disk."""
        with full_disk_as_user_error(self.path):
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        """Close the journal. If the job has ended without an error, its output is complete: delete the journal."""
        # before a process that waits can open it
        if error_type is None:
            self.path.unlink(missing_ok=True)
        self._file.close()
