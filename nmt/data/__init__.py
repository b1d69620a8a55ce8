"""Data processing, from raw text to binarized text."""

ARRAYS = ("source.ids.npy", "target.ids.npy", "source.offsets.npy", "target.offsets.npy")
BITEXT_FILES = (*ARRAYS, "meta.json")
"""Files of a bitext, for those who need nothing else of it."""
