"""Neural machine translation by jointly learning to align and translate (Bahdanau, Cho & Bengio, ICLR 2015)."""

import os
from typing import TYPE_CHECKING

__all__ = ["Model", "Translation", "load"]
__version__ = "1.0.0"

# While torch's OpenMP threads wait for each other, they keep their cores busy. On a machine with other work, two
# threads are then several times slower than one, so they wait only for a short time in this way. That costs nothing on
# a quiet machine; a shorter time would (benchmarks/README.md). It changes no number. torch reads it when it is loaded.
if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
    os.environ["GOMP_SPINCOUNT"] = "5000"

# Huge pages for large tensors, which Linux grants to programs that ask for them. They change no number; on a busy
# machine they save time (benchmarks/README.md).
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

# oneDNN keeps the code that it compiled for the shape of a matrix multiplication, by default for 1,024 shapes. In
# training, where batches are of every length, that takes a gigabyte. 64 are enough for an update or a step of a search.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")

if TYPE_CHECKING:
    from nmt.api import Model, Translation, load


def __getattr__(name: str) -> object:
    """Return a name of the Python API. The first use of a name imports PyTorch and the other libraries."""
    if name in __all__:
        from nmt import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
