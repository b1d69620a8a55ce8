"""Writes .npy files piece by piece, and maps them into memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from nmt.errors import UserError, errors_as_user_error
from nmt.io.files import atomic_path, require_regular_file

Array = np.ndarray[Any, Any]


def write_array(path: str | Path, dtype: Any, shape: tuple[int, ...], pieces: Iterable[Array]) -> None:
    """Write a .npy file of an array whose rows come in pieces. It appears when it is whole."""
    header = {"descr": npy.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        npy.write_array_header_1_0(file, header)
        for piece in pieces:
            file.write(np.ascontiguousarray(piece, dtype).tobytes())


def map_array(path: str | Path, *dtypes: Any) -> Array:
    """Memory-map a .npy file of one of these types. A `UserError` names a file that is malformed or of another type."""
    require_regular_file(path)
    with errors_as_user_error(
        path, "make it again", Exception
    ):  # NumPy's reader evaluates the header as Python
        array = np.load(path, mmap_mode="r", allow_pickle=False)  # noqa: TID251
    if array.dtype not in dtypes:
        expected = " or ".join(str(np.dtype(dtype)) for dtype in dtypes)
        raise UserError(f"{path}: holds {array.dtype}, expected {expected}; make it again")
    # a plain array view: slices of np.memmap cost microseconds each
    view: Array = array.view(np.ndarray)
    return view
