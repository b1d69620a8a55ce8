"""What a long job has finished so far, beside its output: a killed job resumes from there.

The first line says what the job was made from; each other line is the result of one part of the job with the seconds
that it took, as JSON. A line that a killed process left unfinished does not count.
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
    """Results by the numbers of their parts, read from the file when asked for: in memory is where each begins."""

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

    `seconds` are those of all parts that are done, `resumed` says whether another process did some of them.
    Only a job with the same `made_from` resumes; another starts over. One process at a time: a second one waits until
    the first has ended, where the file system has the kernel's locks.
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
        """Read what is there; how many bytes of it are whole lines of this job."""
        self._file.seek(0)
        if self._file.readline() != header:
            return 0
        whole = len(header)
        for line in self._file:
            try:
                number, _, seconds = json.loads(line) if line.endswith(b"\n") else (None, None, 0.0)
            except ValueError:
                break
            if number is None:
                break
            self.done.places[number] = whole
            self.seconds += seconds
            whole += len(line)
        return whole

    def add(self, number: int, result: Any) -> None:
        """Keep a part's result; once this returns, no end of the process or its machine loses it."""
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
        """The output is there; nothing is left to resume."""
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
