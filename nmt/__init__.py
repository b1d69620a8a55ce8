"""Neural machine translation by jointly learning to align and translate (Bahdanau, Cho & Bengio, ICLR 2015)."""

import os
from typing import TYPE_CHECKING

__all__ = ["Model", "Translation", "load"]
__version__ = "1.0.0"

# torch's OpenMP threads wait for each other in a loop that keeps their cores, also from those that they wait for:
# beside other work two threads are then several times slower than one. A short wait costs nothing on a quiet machine,
# a shorter one does (benchmarks/README.md). It changes no number, and has to be said before torch is loaded.
if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
    os.environ["GOMP_SPINCOUNT"] = "5000"

# Huge pages for large tensors, which Linux grants to programs that ask for them. They change no number; on a busy
# machine they save time (benchmarks/README.md).
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

# oneDNN keeps what it compiled for a product's shape. Of 1,024 shapes that takes a gigabyte in training, where batches
# are of every length; more than an update's or a search step's own are not worth keeping.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")

if TYPE_CHECKING:
    from nmt.api import Model, Translation, load


def __getattr__(name: str) -> object:
    """Return a function of the Python API. PyTorch and the other libraries are imported at its first use."""
    if name in __all__:
        from nmt import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
