"""sacremoses, Moses' tokenizer and detokenizer in Python.

joblib, which it imports for an option that is not used here, warns where /dev/shm cannot be written, as in containers.
"""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=r".*joblib will operate in serial mode")
    import sacremoses

__all__ = ["sacremoses"]
