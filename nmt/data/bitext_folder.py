"""Names of the files of a binary bitext, for those who need nothing else of it."""

ARRAYS = ("source.ids.npy", "target.ids.npy", "source.offsets.npy", "target.offsets.npy")
BITEXT_FILES = (*ARRAYS, "meta.json")
