"""Corpora out of archives of every kind: whole, damaged and hostile."""

import bz2
import gzip
import hashlib
import io
import lzma
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.errors import UserError
from nmt.io.compression import decompress, zstd
from nmt.io.files import read_json
from nmt.io.text_files import open_lines
from pipeline.download.extraction import Side, extract_corpus
from tests.messages import refused

ENGLISH = b"Hello.\nA\xe2\x80\xa8B\xc2\x85C\nend\r\n\nlast"
FRENCH = b"Bonjour.\nD\nfin\n\ndernier\n"
ENGLISH_LINES = ["Hello.", "A\u2028B\x85C", "end\r", "", "last"]
FRENCH_LINES = ["Bonjour.", "D", "fin", "", "dernier"]


def pack_tar(path: Path, members: dict[str, bytes]) -> Path:
    mode = {".tgz": "w:gz", ".tar": "w", ".xz": "w:xz"}[path.suffix]
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def pack_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


Pack = Callable[[Path, dict[str, bytes]], Path]


def compress_tar(compress: Callable[[bytes], bytes]) -> Pack:
    """Packs a tar file that is compressed as a whole, whatever its name says."""

    def pack(path: Path, members: dict[str, bytes]) -> Path:
        path.write_bytes(compress(pack_tar(path.with_suffix(".tar"), members).read_bytes()))
        return path

    return pack


PACKS = {
    "tar": compress_tar(bytes),
    "gzip": pack_tar,
    "bzip2": compress_tar(bz2.compress),
    "xz": compress_tar(lzma.compress),
    "zstd": compress_tar(
        lambda data: zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
    ),
    "zip": pack_zip,
}


def extract_files(
    folder: Path,
    archives: tuple[Path, Path],
    members: tuple[str | None, str | None],
    shards: int = 1,
    pairs: int | None = None,
    sums: tuple[str | None, str | None] = (None, None),
) -> dict[str, Any]:
    sources = [folder / f"{i}.en.zst" for i in range(shards)]
    targets = [folder / f"{i}.fr.zst" for i in range(shards)]
    sides = [Side(*side) for side in zip(archives, members, (sources, targets), sums, strict=True)]
    return extract_corpus(dict(zip(("source", "target"), sides, strict=True)), folder / "counts.json", pairs)


def md5(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()


def assert_extracted(folder: Path) -> None:
    for language, lines in (("en", ENGLISH_LINES), ("fr", FRENCH_LINES)):
        with open_lines(folder / f"0.{language}.zst") as stream:
            assert [line.decode() for line in stream] == lines


def assert_nothing_left(folder: Path) -> None:
    assert not folder.exists() or not [*folder.iterdir()]


@pytest.mark.parametrize("order", [("x/c.en", "x/c.fr"), ("x/c.fr", "x/c.en")])
def test_members_in_any_order(tmp_path, order):
    texts = {"x/c.en": ENGLISH, "x/c.fr": FRENCH}
    members = {"other": b"x", order[0]: texts[order[0]], "between": b"\xff", order[1]: texts[order[1]]}
    archive = pack_tar(tmp_path / "a.tgz", members)
    counts = extract_files(tmp_path / "out", (archive, archive), ("x/c.en", "x/c.fr"))
    assert_extracted(tmp_path / "out")
    assert counts == read_json(tmp_path / "out" / "counts.json")
    assert counts == {
        "pairs": 5,
        "source_words": 6,
        "target_words": 4,
        "source_md5": md5(ENGLISH),
        "target_md5": md5(FRENCH),
    }


def test_invalid_bytes_are_kept(tmp_path):
    (tmp_path / "a.en").write_bytes(b"ok\nb\xe9d \xff\nok\n")
    (tmp_path / "a.fr").write_bytes(b"1\n2\n3\n")
    extract_files(tmp_path / "out", (tmp_path / "a.en", tmp_path / "a.fr"), (None, None))
    with (tmp_path / "out" / "0.en.zst").open("rb") as file:
        assert decompress(file).read() == b"ok\nb\xe9d \xff\nok\n"


@pytest.mark.parametrize(
    ("members", "source"),
    [
        ({"c.en": b"1\n2\n3\n", "c.fr": b"1\n2\n"}, "c.en"),
        ({"c.en": b"", "c.fr": b"1\n"}, "c.en"),
        ({"c.en": b"1\n", "c.fr": b""}, "c.en"),
        ({"training/europarl-v7.fr-en.en": b"1\n", "c.fr": b"1\n"}, "training/europarl-v7.fr-en.fr"),
        ({"x/c.en": b"1\n", "y/c.en": b"1\n", "c.fr": b"1\n"}, "z/c.en"),
    ],
    ids=["a line more", "empty source", "empty target", "missing, with a near name", "two of one name"],
)
def test_unparallel_members_are_refused(tmp_path, members, source):
    archive = pack_tar(tmp_path / "a.tgz", members)
    with refused():
        extract_files(tmp_path / "out", (archive, archive), (source, "c.fr"))
    assert_nothing_left(tmp_path / "out")


@pytest.mark.parametrize("fault", ["cut", "flipped", "no archive"])
@pytest.mark.parametrize("pack", sorted(PACKS.keys() - {"tar"}))
def test_damaged_archive_is_refused(tmp_path, pack, fault):
    text = b"".join(b"%d\n" % (i * 7919) for i in range(20_000))
    archive = PACKS[pack](tmp_path / "a.tgz", {"c.en": text, "c.fr": text})
    data = bytearray(archive.read_bytes())
    if fault == "cut":
        del data[-9:]
    elif fault == "flipped":
        data[len(data) // 2] ^= 1
    else:
        data = bytearray(b"<html>moved</html>" * 100)
    archive.write_bytes(data)
    with refused():
        extract_files(tmp_path / "out", (archive, archive), ("c.en", "c.fr"))
    assert_nothing_left(tmp_path / "out")


# --- what an archive may be, whatever its name


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize(
    ("compress_source", "compress_target"), [(gzip.compress, lzma.compress), (bytes, bz2.compress)]
)
def test_format_is_told_by_content(
    tmp_path,
    pack,
    compress_source,
    compress_target,
):
    archive = PACKS[pack](
        tmp_path / "a.tgz", {"x/c.en": compress_source(ENGLISH), "./x/c.fr": compress_target(FRENCH)}
    )
    extract_files(tmp_path / "out", (archive, archive), ("x/c.en", "x/c.fr"))
    assert_extracted(tmp_path / "out")


@pytest.mark.parametrize("pack", PACKS)
def test_archive_is_not_text(tmp_path, pack):
    archive = PACKS[pack](tmp_path / "a.tgz", {"c.en": ENGLISH, "c.fr": FRENCH})
    with refused():
        extract_files(tmp_path / "out", (archive, archive), (None, "c.fr"))
    assert_nothing_left(tmp_path / "out")

    # a word at the place of the letters in a tar archive
    word = tmp_path / "word"
    word.write_bytes(b"x" * 256 + b"mustard\n")
    extract_files(tmp_path / "out", (word, word), (None, None))


# --- what is known of the text


def test_checksums_of_members(tmp_path):
    members = {"c.en": gzip.compress(ENGLISH, mtime=0), "c.fr": FRENCH}
    sums = md5(members["c.en"]), md5(members["c.fr"])
    archive = pack_tar(tmp_path / "a.tgz", members)
    counts = extract_files(tmp_path / "out", (archive, archive), ("c.en", "c.fr"), pairs=5, sums=sums)
    assert (counts["source_md5"], counts["target_md5"]) == sums
    with refused():
        extract_files(tmp_path / "other", (archive, archive), ("c.en", "c.fr"), sums=(sums[0], "0" * 32))
    with refused():
        extract_files(tmp_path / "other", (archive, archive), ("c.en", "c.fr"), pairs=6)
    assert_nothing_left(tmp_path / "other")


# --- archives that mean harm


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_repeated_member_is_refused(tmp_path):
    archive = pack_zip(tmp_path / "a", {"c.en": ENGLISH, "c.fr": FRENCH})
    with zipfile.ZipFile(archive, "a") as more:
        more.writestr("c.en", b"1\n")
    with refused():
        extract_files(tmp_path / "out", (archive, archive), ("c.en", "c.fr"))
    assert_nothing_left(tmp_path / "out")


@pytest.mark.parametrize("line", [b"", b"\n"], ids=["no line end", "lines"])
def test_compressed_bomb_is_streamed(tmp_path, monkeypatch, line):
    monkeypatch.setattr("nmt.io.text_files.MAX_LINE_BYTES", 1 << 22)
    content = (b"\0" * 999 + (line or b"\0")) * (1 << 15)  # 32 MB
    archive = pack_tar(tmp_path / "a.tgz", {"c.en": content, "c.fr": b"x\n" * (1 << 15)})
    assert archive.stat().st_size < len(content) / 200
    tracemalloc.start()
    if not line:
        with refused():
            extract_files(tmp_path / "out", (archive, archive), ("c.en", "c.fr"))
    else:
        assert extract_files(tmp_path / "out", (archive, archive), ("c.en", "c.fr"))["pairs"] == 1 << 15
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 24_000_000


SGML_TEXTS = {
    "c.en": b"\n".join(ENGLISH_LINES[n].encode() for n in range(3)),
    "c.fr.sgm": b'<doc docid="1"><seg id="1">a &#65; b</seg>\n<seg id="2">c</seg><seg id=3> d </seg></doc>',
}


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore")
@given(
    pack=st.sampled_from(sorted(PACKS)),
    changes=st.lists(st.tuples(st.integers(0, 1 << 14), st.binary(max_size=4)), min_size=1, max_size=6),
    rest=st.integers(0, 1 << 14) | st.none(),
)
def test_any_archive_is_text_or_error(
    tmp_path_factory,
    pack,
    changes,
    rest,
):
    folder = tmp_path_factory.mktemp("damaged")
    archive = PACKS[pack](folder / "a.tgz", SGML_TEXTS)
    data = bytearray(archive.read_bytes())
    for place, value in changes:
        data[place % len(data) : place % len(data) + len(value)] = value
    archive.write_bytes(data[: rest % len(data) if rest is not None else len(data)])
    try:
        extract_files(folder / "out", (archive, archive), ("c.en", "c.fr.sgm"))
    except UserError as error:
        assert "\n" not in str(error)
        assert_nothing_left(folder / "out")
