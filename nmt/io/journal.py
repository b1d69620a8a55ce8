"""A journal of the finished parts of a long job, beside its output, from which a killed job resumes.

The first line says what the job was made from. Each other line is the result of one part of the job with its seconds,
as JSON. An incomplete line of a killed process does not count.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from nmt.io.files import disk_full
from nmt.io.locks import open_alone


class Results(Mapping[int, Any]):
    """Results by the numbers of their parts, read from the file on demand. Only their positions are in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.places: dict[int, int] = {}

    def __getitem__(self, number: int) -> Any:
        self._file.seek(self.places[number])
        return json.loads(self._file.readline())[1]

    def __iter__(self) -> Iterator[int]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, number: object) -> bool:
        return number in self.places


class Journal:
    """Results of the parts of one job, by number: `.NAME.unfinished` beside the output NAME.

    `seconds` is the time of all finished parts; `resumed` says whether another process finished some of them. Only a
    job with the same `made_from` resumes; any other starts again. A second process waits until the first has ended, if
    the file system supports locks of the kernel.
    """

    def __init__(self, output: Path, made_from: str) -> None:
        self.path = output.with_name(f".{output.name}.unfinished")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        header = json.dumps(made_from).encode() + b"\n"
        self.seconds = 0.0
        self._file = open_alone(self.path)
        self.done = Results(self._file)
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
            try:
                number, _, seconds = json.loads(line) if line.endswith(b"\n") else (None, None, 0.0)
            except (ValueError, TypeError):
                break
            if number is None:
                break
            self.done.places[number] = whole
            self.seconds += seconds
            whole += len(line)
        return whole

    def add(self, number: int, result: Any) -> None:
        """Store the result of a part. After the return, it survives the end of the process or the machine."""
        seconds = round(time.monotonic() - self._since, 3)
        place = self._file.seek(0, os.SEEK_END)
        self._write(json.dumps([number, result, seconds], ensure_ascii=False).encode() + b"\n")
        self.done.places[number] = place
        self.seconds += seconds
        self._since = time.monotonic()

    def _write(self, line: bytes) -> None:
        with disk_full(self.path):
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())

    def remove(self) -> None:
        """Delete the journal after the output has been written."""
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
