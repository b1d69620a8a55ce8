"""Bitexts: memory-mapped pairs of sentences as word ids, made from token files.

A bitext is a folder. `{source,target}.ids.npy` contain the ids of all sentences, concatenated (no end symbols; uint16,
or uint32 for a side with more ids than 16 bits allow). `{source,target}.offsets.npy` contain the beginnings of the
sentences (int64, one more than there are pairs). `meta.json` contains counts and checksums.
"""

from __future__ import annotations

import hashlib
import struct
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmt.data.meta import ARRAYS, Meta, read_meta
from nmt.data.shards import Corpora, random_key, read_numbered_pairs
from nmt.data.vocabulary import Vocabulary
from nmt.errors import UserError
from nmt.io.files import write_json
from nmt.io.npy import map_array, write_array

_PIECE = 100_000
"""Pairs that are gathered at once."""
_KEY_BYTES = 16
"""Bytes of a key, enough that no two pairs share a key. Pairs with equal keys would keep their order."""

Ids = NDArray[np.uint16] | NDArray[np.uint32]


class Bitext:
    """Pairs of id sequences, read from the disk on demand.

    sides: ids of all sentences of "source" or "target", one after the other, and the beginnings of the sentences.
    """

    def __init__(self, folder: Path, meta: Meta) -> None:
        self.folder = folder
        self.meta = meta
        self.sides = {side: self._mapped(side) for side in ("source", "target")}

    @classmethod
    def open(cls, folder: str | Path) -> Bitext:
        """Map the files of `folder`. A `UserError` names a file that is missing or does not fit."""
        return cls(Path(folder), read_meta(Path(folder)))

    def check(self, source: Vocabulary, target: Vocabulary) -> None:
        """Raise a UserError if the ids are those of other vocabularies, or were altered after binarization.

        This reads the whole arrays, at the rate of SHA-256: 1.8 GB/s on a CPU with instructions for it, which is three
        seconds for 41 million pairs of 60 words.
        """
        for side, vocabulary in (("source", source), ("target", target)):
            if getattr(self.meta, f"{side}_vocabulary_sha256") != vocabulary.sha256:
                raise UserError(
                    f"{self.folder}: its {side} ids were made with another vocabulary; binarize the text again, or "
                    "name the folder that belongs to the vocabulary"
                )
        if fingerprint(self.folder) != self.meta.sha256:
            raise UserError(
                f"{self.folder}: altered since it was made: its arrays have another checksum than meta.json says; "
                "remove that folder and make it again"
            )

    def _mapped(self, side: str) -> tuple[Ids, NDArray[np.int64]]:
        ids = map_array(self.folder / f"{side}.ids.npy", np.uint16, np.uint32)
        offsets = map_array(self.folder / f"{side}.offsets.npy", np.int64)
        words = self.meta.source_words if side == "source" else self.meta.target_words
        if [len(offsets) - 1, len(ids), *offsets[-1:]] != [self.meta.pairs, words, words]:
            raise UserError(f"{self.folder}: the {side} files do not fit meta.json; make the bitext again")
        return ids, offsets

    def __len__(self) -> int:
        """Return the number of pairs."""
        return self.meta.pairs

    def source(self, i: int) -> Ids:
        """Return the ids of source sentence `i`, shape (S,), without the end symbol."""
        return self._sentence("source", i)

    def target(self, i: int) -> Ids:
        """Return the ids of target sentence `i`, shape (T,), without the end symbol."""
        return self._sentence("target", i)

    def _sentence(self, side: str, i: int) -> Ids:
        ids, offsets = self.sides[side]
        return ids[offsets[i] : offsets[i + 1]]

    def longer_lengths(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the length in ids of the longer side of each pair at `rows`, without end symbols."""
        source, target = (offsets[rows + 1] - offsets[rows] for _, offsets in self.sides.values())
        longer: NDArray[np.int64] = np.maximum(source, target)
        return longer


def binarize(
    corpora: Corpora,
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    folder: str | Path,
    shuffle_seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Bitext:
    """Write the bitext of some corpora into `folder`, shuffled if a seed is given.

    The bytes do not depend on the number of shards: pairs are ordered by corpus and global line number, or by random
    keys that depend only on seed, corpus and global line number. Pairs with an empty side are left out. All ids are in
    memory: 2 bytes a word (4 with more than 65,536 ids), and 60 bytes a pair. `settings`, with which the text was made,
    are written into meta.json.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # without meta.json the folder is no bitext: a run killed from here on leaves nothing that looks whole
    (folder / "meta.json").unlink(missing_ok=True)
    source, target = _Side(source_vocabulary), _Side(target_vocabulary)
    keys = bytearray()
    ranks = {corpus: rank for rank, corpus in enumerate(corpora)}
    for corpus, line, pair in read_numbered_pairs(corpora, "binarize"):
        ids = source.encode(pair[0]), target.encode(pair[1])
        if all(ids):
            source.append(ids[0])
            target.append(ids[1])
            if shuffle_seed is None:
                keys += struct.pack(">QQ", ranks[corpus], line)
            else:
                keys += random_key(shuffle_seed, corpus, line, _KEY_BYTES)
    if not len(source):
        raise UserError(f"{folder}: no pair with words on both sides in {', '.join(corpora)}")
    order = _order(keys)
    source.write(folder, "source", order)
    target.write(folder, "target", order)
    meta = Meta(
        pairs=len(source),
        source_words=len(source.ids),
        target_words=len(target.ids),
        shuffled_seed=shuffle_seed,
        source_vocabulary_sha256=source_vocabulary.sha256,
        target_vocabulary_sha256=target_vocabulary.sha256,
        sha256=fingerprint(folder),
        settings=dict(settings or {}),
    )
    write_json(folder / "meta.json", meta.model_dump())
    return Bitext.open(folder)


def _order(keys: bytes | bytearray) -> NDArray[np.int64]:
    """Return the order of keys by their bytes; equal keys keep theirs."""
    halves = np.frombuffer(keys, ">u8").reshape(-1, _KEY_BYTES // 8).astype(np.uint64)
    return np.lexsort(halves.T[::-1])


def fingerprint(folder: Path) -> str:
    """Return the SHA-256 of the bytes of the four arrays, in the order of `ARRAYS`."""
    digest = hashlib.sha256()
    for name in ARRAYS:
        with (folder / name).open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


class _Side:
    """The ids of one side, in memory: of all sentences one after the other, and where each ends."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.type: type[np.uint16 | np.uint32] = np.uint16 if len(vocabulary) <= 2**16 else np.uint32
        self.ids = array(np.dtype(self.type).char)
        self._ends = array("q", [0])

    def __len__(self) -> int:
        return len(self._ends) - 1

    def encode(self, line: str) -> list[int]:
        return self.vocabulary.ids(line.split())

    def append(self, ids: Sequence[int]) -> None:
        self.ids.extend(ids)
        self._ends.append(len(self.ids))

    def write(self, folder: Path, name: str, order: NDArray[np.int64]) -> None:
        """Write both arrays of the sentences in an order, piece by piece."""
        ids, ends = np.frombuffer(self.ids, self.type), np.frombuffer(self._ends, np.int64)
        lengths = np.diff(ends)[order]
        begins = np.concatenate(([0], np.cumsum(lengths)))
        write_array(folder / f"{name}.offsets.npy", np.int64, begins.shape, [begins])
        pieces = (order[begin : begin + _PIECE] for begin in range(0, len(order), _PIECE))
        gathered = (ids[concatenate_ranges(ends[piece], ends[piece + 1])] for piece in pieces)
        write_array(folder / f"{name}.ids.npy", self.type, ids.shape, gathered)


def concatenate_ranges(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all numbers of the ranges from `first` to `last`, concatenated."""
    sizes = last - first
    ends = np.cumsum(sizes)
    numbers: NDArray[np.int64] = np.arange(int(sizes.sum())) + np.repeat(first - (ends - sizes), sizes)
    return numbers
