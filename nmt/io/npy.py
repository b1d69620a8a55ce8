"""Writes .npy files of one-dimensional and row-wise arrays piece by piece, and maps them into memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from nmt.errors import UserError, naming
from nmt.io.files import atomic_path, require_regular_file


class ArrayWriter:
    """Appends rows to a .npy file. The header is completed on closing, so that no row stays in memory."""

    def __init__(self, path: Path, dtype: Any, row_shape: tuple[int, ...] = ()) -> None:
        self._dtype = np.dtype(dtype)
        self._row_shape = row_shape
        self._row_bytes: int = self._dtype.itemsize * int(np.prod(row_shape, dtype=int))
        self._file: IO[bytes] = path.open("wb")
        self.bytes = 0
        self._write_header(0)

    @property
    def rows(self) -> int:
        """Number of rows written so far."""
        return self.bytes // self._row_bytes

    def _write_header(self, rows: int) -> None:
        # numpy pads the header so that the first axis can grow in place
        shape = (rows, *self._row_shape)
        description = npy.dtype_to_descr(self._dtype)
        npy.write_array_header_1_0(self._file, {"descr": description, "fortran_order": False, "shape": shape})

    def append(self, rows: np.ndarray[Any, Any]) -> None:
        """Append an array of shape (n, *row_shape)."""
        self.append_bytes(np.ascontiguousarray(rows, dtype=self._dtype).tobytes())

    def append_bytes(self, data: bytes | memoryview) -> None:
        """Append whole rows given as bytes in native order."""
        self._file.write(data)
        self.bytes += len(data)

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:
            if kind is None:
                self._file.seek(0)
                self._write_header(self.rows)


@contextmanager
def write_array(path: str | Path, dtype: Any, row_shape: tuple[int, ...] = ()) -> Iterator[ArrayWriter]:
    """Open a .npy file for appending rows. It appears if the block ends without an error."""
    with atomic_path(path) as temporary, ArrayWriter(temporary, dtype, row_shape) as writer:
        yield writer


def map_array(path: str | Path, *dtypes: Any) -> np.ndarray[Any, Any]:
    """Memory-map a .npy file of one of these types. A `UserError` names a file that is malformed or of another type."""
    require_regular_file(path)
    with naming(path):
        array = np.load(path, mmap_mode="r", allow_pickle=False)  # noqa: TID251
    if array.dtype not in dtypes:
        expected = " or ".join(str(np.dtype(dtype)) for dtype in dtypes)
        raise UserError(f"{path}: holds {array.dtype}, expected {expected}; make it again")
    # a plain array view: slices of np.memmap cost microseconds each
    view: np.ndarray[Any, Any] = array.view(np.ndarray)
    return view
