"""Bitexts: memory-mapped pairs of sentences as word ids, made from token files.

A bitext is a folder. `{source,target}.ids.npy` contain the ids of all sentences, concatenated (no end symbols; uint16,
or uint32 for a side with more ids than 16 bits allow). `{source,target}.offsets.npy` contain the beginnings of the
sentences (int64, one more than there are pairs). `meta.json` contains counts and checksums.
"""

from __future__ import annotations

import hashlib
import shutil
import struct
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmt.data.bitext_folder import ARRAYS
from nmt.data.shards import global_line, in_order, random_key
from nmt.data.vocabulary import Vocabulary
from nmt.errors import UserError
from nmt.io.files import read_json, write_json
from nmt.io.npy import ArrayWriter, map_array, write_array
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs

BUCKETS = 256
"""Number of buckets, one for each first byte of a key. Shuffling has one bucket in memory: 1/256 of the corpus."""

_BUCKET_PREFIX = ".buckets-"
_FLUSH_BYTES = 1 << 17
_KEY_BYTES = 16
"""Bytes of a key, enough that no two pairs share a key. Pairs with equal keys would keep their order."""
_HEAD = struct.Struct(f"={_KEY_BYTES}sQQ")
"""Header of a pair in a bucket: its key, and the numbers of bytes of both sides."""

Corpora = Mapping[str, Sequence[tuple[str | Path, str | Path]]]
"""Token files (source, target) of all shards of each corpus, in order."""

EncodedPair = tuple[bytes | memoryview, bytes | memoryview]
"""Both sides' ids in native byte order."""

Ids = NDArray[np.uint16] | NDArray[np.uint32]


def id_type(vocabulary: Vocabulary) -> type[np.uint16] | type[np.uint32]:
    """Return the smallest type that holds all ids."""
    return np.uint16 if len(vocabulary) <= 2**16 else np.uint32


class Bitext:
    """Pairs of id sequences, read from the disk on demand."""

    def __init__(self, folder: Path, meta: dict[str, Any]) -> None:
        self.folder = folder
        self.meta = meta
        self._source, self._source_offsets = self._mapped("source")
        self._target, self._target_offsets = self._mapped("target")

    @classmethod
    def open(cls, folder: str | Path) -> Bitext:
        """Map the files of `folder`. A `UserError` names a file that is missing or does not fit."""
        folder = Path(folder)
        if not (folder / "meta.json").is_file():
            raise UserError(f"{folder}: no bitext (meta.json is missing); make it with `nmt data binarize`")
        meta = read_json(folder / "meta.json")
        return cls(folder, meta if isinstance(meta, dict) else {})

    def refuse_altered(self) -> None:
        """Raise a UserError if the arrays were altered after binarization.

        This reads the whole arrays, at the rate of SHA-256: 1.8 GB/s on a CPU with instructions for it, which is three
        seconds for 41 million pairs of 60 words.
        """
        if fingerprint(self.folder) != self.meta.get("sha256"):
            raise UserError(
                f"{self.folder}: altered since it was made: its arrays have another checksum than meta.json says; "
                "remove that folder and make it again"
            )

    def _mapped(self, side: str) -> tuple[Ids, NDArray[np.int64]]:
        ids = map_array(self.folder / f"{side}.ids.npy", np.uint16, np.uint32)
        offsets = map_array(self.folder / f"{side}.offsets.npy", np.int64)
        pairs, words = self.meta.get("pairs"), self.meta.get(f"{side}_words")
        last = offsets[-1:].tolist()
        if [len(offsets) - 1, len(ids), *last] != [pairs, words, words]:
            raise UserError(
                f"{self.folder}: {side} files hold {len(offsets) - 1} sentences and {len(ids)} words, the last offset"
                f" is {last}; meta.json says {pairs} and {words}; make the bitext again"
            )
        return ids, offsets

    def side(self, side: str) -> tuple[Ids, NDArray[np.int64]]:
        """Return the ids of all sentences of "source" or "target", and the beginnings of the sentences."""
        return (
            (self._source, self._source_offsets) if side == "source" else (self._target, self._target_offsets)
        )

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._source_offsets) - 1

    def source(self, i: int) -> Ids:
        """Return the ids of source sentence `i`, shape (S,), without the end symbol."""
        return self._source[self._source_offsets[i] : self._source_offsets[i + 1]]

    def target(self, i: int) -> Ids:
        """Return the ids of target sentence `i`, shape (T,), without the end symbol."""
        return self._target[self._target_offsets[i] : self._target_offsets[i + 1]]

    def source_lengths(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the lengths of source sentences `start` to `stop` - 1 in ids, without end symbols."""
        return np.diff(self._source_offsets[start : stop + 1])

    def target_lengths(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the lengths of target sentences `start` to `stop` - 1 in ids, without end symbols."""
        return np.diff(self._target_offsets[start : stop + 1])


def binarize(
    corpora: Corpora,
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    folder: str | Path,
    shuffle_seed: int | None = None,
) -> Bitext:
    """Write the bitext of some corpora into `folder`, shuffled if a seed is given.

    The bytes do not depend on the number of shards: pairs are ordered by corpus and global line number, or by random
    keys that depend only on seed, corpus and global line number. Pairs with an empty side are left out. With shuffling,
    memory grows only with the largest of 256 buckets; without it, the files of all shards of a corpus are open at once.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _clear(folder)
    encode = _Encoder(source_vocabulary, target_vocabulary)
    if shuffle_seed is None:
        counts = _write(folder, encode.types, _straight(corpora, encode))
    else:
        with tempfile.TemporaryDirectory(dir=folder, prefix=_BUCKET_PREFIX) as temporary:
            counts = _write(
                folder, encode.types, _shuffled(_keyed(corpora, encode, shuffle_seed), Path(temporary))
            )
    if not counts["pairs"]:
        raise UserError(f"{folder}: no pair with words on both sides in {', '.join(corpora)}")
    meta = {
        **counts,
        "shuffled_seed": shuffle_seed,
        "source_vocabulary_sha256": source_vocabulary.sha256,
        "target_vocabulary_sha256": target_vocabulary.sha256,
        "sha256": fingerprint(folder),
    }
    write_json(folder / "meta.json", meta)
    return Bitext.open(folder)


def fingerprint(folder: Path) -> str:
    """Return the SHA-256 of the bytes of the four arrays, in the order of `ARRAYS`."""
    digest = hashlib.sha256()
    for name in ARRAYS:
        with (folder / name).open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


def _clear(folder: Path) -> None:
    # without meta.json the folder is no bitext: a run killed from here on leaves nothing that looks whole
    (folder / "meta.json").unlink(missing_ok=True)
    for leftover in folder.glob(f"{_BUCKET_PREFIX}*"):
        shutil.rmtree(leftover)


class _Encoder:
    """Turns pairs of lines into ids."""

    def __init__(self, source: Vocabulary, target: Vocabulary) -> None:
        self.types = id_type(source), id_type(target)
        self._sides = [
            (np.dtype(kind).char, side) for kind, side in zip(self.types, (source, target), strict=True)
        ]

    def __call__(self, pair: tuple[str, str]) -> EncodedPair | None:
        """Return the ids of both sides; None for a pair with an empty side."""
        source, target = (
            array(code, vocabulary.ids(line.split()))
            for (code, vocabulary), line in zip(self._sides, pair, strict=True)
        )
        return (source.tobytes(), target.tobytes()) if source and target else None


def _straight(corpora: Corpora, encode: _Encoder) -> Iterator[EncodedPair]:
    """Yield pairs by corpus and global line number."""
    with _progress(corpora) as progress:
        for corpus, shards in corpora.items():
            for pair in in_order(corpus, [read_pairs(*sides, progress) for sides in shards]):
                if encoded := encode(pair):
                    yield encoded


def _keyed(corpora: Corpora, encode: _Encoder, seed: int) -> Iterator[tuple[bytes, EncodedPair]]:
    """Yield the pairs of the shards one after the other, each with its own key."""
    with _progress(corpora) as progress:
        for corpus, shards in corpora.items():
            for number, sides in enumerate(shards):
                for line, pair in enumerate(read_pairs(*sides, progress)):
                    if encoded := encode(pair):
                        place = global_line(line, number, len(shards))
                        yield random_key(seed, corpus, place, _KEY_BYTES), encoded


def _progress(corpora: Corpora) -> AbstractContextManager[Progress]:
    files = [path for shards in corpora.values() for sides in shards for path in sides]
    return Progress.over_files(files, "binarize")


class _Side:
    """Writes ids and offsets of one side."""

    def __init__(self, folder: Path, side: str, kind: type[Any], stack: ExitStack) -> None:
        self._ids: ArrayWriter = stack.enter_context(write_array(folder / f"{side}.ids.npy", kind))
        self._offsets: ArrayWriter = stack.enter_context(
            write_array(folder / f"{side}.offsets.npy", np.int64)
        )
        self._write_offset()

    @property
    def words(self) -> int:
        return self._ids.rows

    def append(self, ids: bytes | memoryview) -> None:
        self._ids.append_bytes(ids)
        self._write_offset()

    def _write_offset(self) -> None:
        self._offsets.append_bytes(struct.pack("=q", self.words))


def _write(
    folder: Path, types: tuple[type[Any], type[Any]], encoded: Iterable[EncodedPair]
) -> dict[str, int]:
    with ExitStack() as stack:
        source, target = (
            _Side(folder, side, kind, stack) for side, kind in zip(("source", "target"), types, strict=True)
        )
        pairs = 0
        for source_ids, target_ids in encoded:
            source.append(source_ids)
            target.append(target_ids)
            pairs += 1
        return {"pairs": pairs, "source_words": source.words, "target_words": target.words}


def _shuffled(keyed: Iterable[tuple[bytes, EncodedPair]], folder: Path) -> Iterator[EncodedPair]:
    """Yield all pairs by their keys. Pairs whose keys have the same first byte share a bucket, which is sorted."""
    _fill_buckets(keyed, folder)
    for number in range(BUCKETS):
        bucket = _bucket(folder, number)
        records = [*_records(memoryview(bucket.read_bytes()))] if bucket.exists() else []
        bucket.unlink(missing_ok=True)
        for _, pair in sorted(records, key=itemgetter(0)):
            yield pair


def _bucket(folder: Path, number: int) -> Path:
    return folder / f"{number}"


def _fill_buckets(keyed: Iterable[tuple[bytes, EncodedPair]], folder: Path) -> None:
    buffers = [bytearray() for _ in range(BUCKETS)]
    for key, (source, target) in keyed:
        number = key[0]
        buffer = buffers[number]
        buffer += _HEAD.pack(key, len(source), len(target))
        buffer += source
        buffer += target
        if len(buffer) > _FLUSH_BYTES:
            _flush(buffer, _bucket(folder, number))
    for number, buffer in enumerate(buffers):
        if buffer:
            _flush(buffer, _bucket(folder, number))


def _flush(buffer: bytearray, bucket: Path) -> None:
    with bucket.open("ab") as file:
        file.write(buffer)
    buffer.clear()


def _records(data: memoryview) -> Iterator[tuple[bytes, EncodedPair]]:
    position = 0
    while position < len(data):
        key, source, target = _HEAD.unpack_from(data, position)
        begin = position + _HEAD.size
        middle = begin + source
        position = middle + target
        yield key, (data[begin:middle], data[middle:position])
