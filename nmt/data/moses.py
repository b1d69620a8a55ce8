"""sacremoses, Moses' tokenizer and detokenizer in Python.

sacremoses imports joblib for an option that is not used here. joblib's warning is suppressed: it warns if /dev/shm is
not writable, as in containers.
"""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=r".*joblib will operate in serial mode")
    import sacremoses

__all__ = ["sacremoses"]
