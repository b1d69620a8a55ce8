"""NumPy arrays on the disk: .npy files that are written in chunks and mapped into memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from nmt.errors import UserError, errors_as_user_error
from nmt.io.files import atomic_path, require_regular_file

Array = np.ndarray[Any, Any]


def write_array(path: str | Path, dtype: Any, shape: tuple[int, ...], chunks: Iterable[Array]) -> None:
    """Write an array of this type and shape, whose rows come in chunks, atomically."""
    header = {"descr": npy.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    with atomic_path(path) as temporary, temporary.open("ab") as file:
        npy.write_array_header_1_0(file, header)
        for chunk in chunks:
            file.write(np.ascontiguousarray(chunk, dtype).tobytes())


def map_array(path: str | Path, *dtypes: Any) -> Array:
    """Return the array of a .npy file, mapped into memory.

    Raises:
        UserError: the file is malformed, or its type is none of `dtypes`.
    """
    require_regular_file(path)
    # NumPy evaluates the header as Python, so a damaged one can raise any exception.
    with errors_as_user_error(path, Exception):
        array = np.load(path, mmap_mode="r", allow_pickle=False)  # noqa: TID251
    if array.dtype not in dtypes:
        expected_types = " or ".join(str(np.dtype(dtype)) for dtype in dtypes)
        raise UserError(f"{path}: holds {array.dtype}, expected {expected_types}; make it again")
    # Return a plain array: slicing a np.memmap is several times slower.
    plain_array: Array = array.view(np.ndarray)
    return plain_array
