"""Bitexts: pairs of sentences as ids, in memory-mapped arrays that are made from token files.

A bitext is a folder with these files:

- `{source,target}.ids.npy`: the ids of all sentences, concatenated, without end symbols (uint16, or uint32 for a side
  with more ids than 16 bits allow);
- `{source,target}.offsets.npy`: where each sentence starts, and the number of all ids (int64);
- `meta.json`: counts and checksums.
"""

from __future__ import annotations

import hashlib
import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmt.data.meta import ARRAYS, Meta, read_meta
from nmt.data.shards import Corpora, make_random_key, read_numbered_pairs
from nmt.data.vocabulary import Vocabulary
from nmt.errors import UserError
from nmt.io.files import write_json
from nmt.io.npy import map_array, write_array

_PAIRS_PER_CHUNK = 100_000
"""Pairs whose ids are gathered in memory before they are written."""
_KEY_BYTES = 16
"""Bytes of a sort key. With so many bytes, no two pairs have the same random key."""

Ids = NDArray[np.uint16] | NDArray[np.uint32]


class Bitext:
    """Pairs of id sequences, read from the disk on demand.

    Attributes:
        meta: counts and checksums.
        sides: for "source" and "target", the ids of all sentences and the offsets at which sentences start.
    """

    def __init__(self, folder: Path) -> None:
        """Map the files of a folder. A `UserError` names a file that is missing or does not fit."""
        self.folder = folder
        self.meta = read_meta(folder)
        self.sides = {
            "source": self._map_side("source", self.meta.source_words),
            "target": self._map_side("target", self.meta.target_words),
        }

    def _map_side(self, side: str, word_count: int) -> tuple[Ids, NDArray[np.int64]]:
        """Return the ids and offsets of a side, which must have this number of words."""
        ids = map_array(self.folder / f"{side}.ids.npy", np.uint16, np.uint32)
        offsets = map_array(self.folder / f"{side}.offsets.npy", np.int64)
        if len(offsets) != self.meta.pairs + 1 or len(ids) != word_count or offsets[-1] != word_count:
            raise UserError(f"{self.folder}: the {side} files do not fit meta.json; make the bitext again")
        return ids, offsets

    def check(self, source_vocabulary: Vocabulary, target_vocabulary: Vocabulary) -> None:
        """Raise a UserError if the ids belong to other vocabularies, or were altered after binarization.

        This reads the whole arrays, at the rate of SHA-256: 1.8 GB/s on a CPU with instructions for it, which is three
        seconds for 41 million pairs of 60 words.
        """
        for side, vocabulary in (("source", source_vocabulary), ("target", target_vocabulary)):
            if getattr(self.meta, f"{side}_vocabulary_sha256") != vocabulary.sha256:
                raise UserError(
                    f"{self.folder}: its {side} ids were made with a different vocabulary; binarize the text again, or "
                    "name the folder that belongs to the vocabulary"
                )
        if compute_arrays_checksum(self.folder) != self.meta.sha256:
            raise UserError(
                f"{self.folder}: altered since it was made: its arrays have a different checksum than meta.json says; "
                "remove that folder and make it again"
            )

    def __len__(self) -> int:
        """Return the number of pairs."""
        return self.meta.pairs

    def source(self, i: int) -> Ids:
        """Return the ids of source sentence `i`, shape (S,), without the end symbol."""
        return self._ids_of_sentence("source", i)

    def target(self, i: int) -> Ids:
        """Return the ids of target sentence `i`, shape (T,), without the end symbol."""
        return self._ids_of_sentence("target", i)

    def _ids_of_sentence(self, side: str, i: int) -> Ids:
        ids, offsets = self.sides[side]
        return ids[offsets[i] : offsets[i + 1]]

    def compute_longer_lengths(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the length in ids of the longer side of each pair at `rows`, without end symbols."""
        source_lengths, target_lengths = (
            offsets[rows + 1] - offsets[rows] for _, offsets in self.sides.values()
        )
        longer_lengths: NDArray[np.int64] = np.maximum(source_lengths, target_lengths)
        return longer_lengths


def binarize(
    corpora: Corpora,
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    folder: str | Path,
    shuffle_seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Bitext:
    """Write the token files of some corpora as one bitext, and return it. Pairs with an empty side are left out.

    The bytes do not depend on the number of shards: pairs are ordered by corpus and global line number or, with a seed,
    by random keys that depend only on seed, corpus and global line number. All ids are in memory: 2 bytes per word
    (4 with more than 65,536 ids), and 60 bytes per pair.

    Args:
        source_vocabulary: the ids of source words.
        target_vocabulary: the ids of target words.
        shuffle_seed: the seed of the random order, or None to keep the order of the corpora.
        settings: the settings that the text was prepared with. They are stored in meta.json.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Without meta.json, the folder is not a bitext. So nobody reads incomplete arrays if this process is killed.
    (folder / "meta.json").unlink(missing_ok=True)

    # 1. encode all pairs, and give each a sort key; big-endian numbers are sorted by their bytes
    source, target = _Side(len(source_vocabulary)), _Side(len(target_vocabulary))
    sort_keys = bytearray()
    corpus_ranks = {corpus: rank for rank, corpus in enumerate(corpora)}
    for corpus, line_number, (source_line, target_line) in read_numbered_pairs(corpora, label="binarize"):
        source_ids = source_vocabulary.ids(source_line.split())
        target_ids = target_vocabulary.ids(target_line.split())
        if source_ids and target_ids:
            source.append(source_ids)
            target.append(target_ids)
            if shuffle_seed is None:
                sort_keys += struct.pack(">QQ", corpus_ranks[corpus], line_number)
            else:
                sort_keys += make_random_key(shuffle_seed, corpus, line_number, _KEY_BYTES)
    if not len(source):
        raise UserError(f"{folder}: no pair of its text has words on both sides")

    # 2. write them in the order of the keys
    order = _sort_by_key(sort_keys)
    source.write(folder, "source", order)
    target.write(folder, "target", order)
    meta = Meta(
        pairs=len(source),
        source_words=len(source.ids),
        target_words=len(target.ids),
        shuffled_seed=shuffle_seed,
        source_vocabulary_sha256=source_vocabulary.sha256,
        target_vocabulary_sha256=target_vocabulary.sha256,
        sha256=compute_arrays_checksum(folder),
        settings=dict(settings or {}),
    )
    write_json(folder / "meta.json", meta.model_dump())
    return Bitext(folder)


def _sort_by_key(keys: bytearray) -> NDArray[np.int64]:
    """Return the indices of keys of 16 bytes, sorted by these bytes."""
    # the halves of each key as numbers; `lexsort` sorts by the last array first
    first_halves, second_halves = np.frombuffer(keys, ">u8").reshape(-1, 2).astype(np.uint64).T
    return np.lexsort((second_halves, first_halves))


def compute_arrays_checksum(folder: Path) -> str:
    """Return the SHA-256 of the bytes of the four arrays, in the order of `ARRAYS`."""
    digest = hashlib.sha256()
    for name in ARRAYS:
        with (folder / name).open("rb") as file:
            hashlib.file_digest(file, lambda: digest)  # continues the digest of the previous files
    return digest.hexdigest()


class _Side:
    """One side in memory: the ids of all sentences, one after the other, and the offsets at which sentences start."""

    def __init__(self, vocabulary_size: int) -> None:
        self.type: type[np.uint16 | np.uint32] = np.uint16 if vocabulary_size <= 2**16 else np.uint32
        self.ids = array(np.dtype(self.type).char)
        self._offsets = array("q", [0])

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def append(self, ids: Sequence[int]) -> None:
        self.ids.extend(ids)
        self._offsets.append(len(self.ids))

    def write(self, folder: Path, side: str, order: NDArray[np.int64]) -> None:
        """Write ids and offsets of the sentences in this order."""
        ids, offsets = np.frombuffer(self.ids, self.type), np.frombuffer(self._offsets, np.int64)
        starts, ends = offsets[:-1], offsets[1:]
        lengths = (ends - starts)[order]
        new_offsets = np.concatenate(([0], np.cumsum(lengths)))
        write_array(folder / f"{side}.offsets.npy", np.int64, new_offsets.shape, [new_offsets])

        # gather the ids of some sentences at a time
        def gather_ids() -> Iterator[NDArray[Any]]:
            for start in range(0, len(order), _PAIRS_PER_CHUNK):
                rows = order[start : start + _PAIRS_PER_CHUNK]
                ranges = zip(starts[rows], ends[rows], strict=True)
                yield np.concatenate([ids[range_start:range_end] for range_start, range_end in ranges])

        write_array(folder / f"{side}.ids.npy", self.type, ids.shape, gather_ids())
