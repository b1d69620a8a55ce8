from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.extraction import Side, extract
from nmt.files import read_json
from nmt.shards import BLOCK_LINES, global_line, shard_of
from nmt.text import read_lines
from tests.running import MIRROR

ENGLISH = b"Hello.\nA\xe2\x80\xa8B\xc2\x85C\nend\r\n\nlast"
FRENCH = b"Bonjour.\nD\nfin\n\ndernier\n"
ENGLISH_LINES = ["Hello.", "A\u2028B\x85C", "end", "", "last"]
FRENCH_LINES = ["Bonjour.", "D", "fin", "", "dernier"]


def tar(path: Path, members: dict[str, bytes]) -> Path:
    mode = {".tgz": "w:gz", ".tar": "w", ".xz": "w:xz"}[path.suffix]
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def run(
    folder: Path, archives: tuple[Path, Path], members: tuple[str | None, str | None], shards: int = 1
) -> dict[str, int]:
    sources = [folder / f"{i}.en.zst" for i in range(shards)]
    targets = [folder / f"{i}.fr.zst" for i in range(shards)]
    sides = Side(archives[0], members[0], sources), Side(archives[1], members[1], targets)
    return extract(*sides, folder / "counts.json")


def assert_extracted(folder: Path) -> None:
    assert [*read_lines(folder / "0.en.zst")] == ENGLISH_LINES
    assert [*read_lines(folder / "0.fr.zst")] == FRENCH_LINES


def assert_nothing_left(folder: Path) -> None:
    assert not folder.exists() or not [*folder.iterdir()]


@pytest.mark.parametrize("name", ["a.tgz", "a.tar", "a.tar.xz"])
@pytest.mark.parametrize("order", [("x/c.en", "x/c.fr"), ("x/c.fr", "x/c.en")])
def test_tar_with_members_in_any_order(tmp_path: Path, name: str, order: tuple[str, str]) -> None:
    texts = {"x/c.en": ENGLISH, "x/c.fr": FRENCH}
    members = {"other": b"x", order[0]: texts[order[0]], "between": b"\xff", order[1]: texts[order[1]]}
    archive = tar(tmp_path / name, members)
    counts = run(tmp_path / "out", (archive, archive), ("x/c.en", "x/c.fr"))
    assert_extracted(tmp_path / "out")
    assert counts == read_json(tmp_path / "out" / "counts.json")
    assert counts == {
        "pairs": 5,
        "source_words": 6,
        "target_words": 4,
        "source_invalid_lines": 0,
        "target_invalid_lines": 0,
        "source_empty_lines": 1,
        "target_empty_lines": 1,
    }


def test_tar_with_compressed_members(tmp_path: Path) -> None:
    members = {"./g.en.gz": gzip.compress(ENGLISH), "./g.fr.bz2": bz2.compress(FRENCH)}
    archive = tar(tmp_path / "a.tar", members)
    run(tmp_path / "out", (archive, archive), ("g.en.gz", "g.fr.bz2"))
    assert_extracted(tmp_path / "out")


def test_sides_in_two_archives_and_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t/c.en", ENGLISH)
    target = tar(tmp_path / "b.tgz", {"c.fr": FRENCH})
    run(tmp_path / "out", (tmp_path / "a.zip", target), ("t/c.en", "c.fr"))
    assert_extracted(tmp_path / "out")


def test_plain_and_gzip_files_without_archive(tmp_path: Path) -> None:
    (tmp_path / "a.en.gz").write_bytes(gzip.compress(ENGLISH))
    (tmp_path / "a.fr").write_bytes(FRENCH)
    run(tmp_path / "out", (tmp_path / "a.en.gz", tmp_path / "a.fr"), (None, None))
    assert_extracted(tmp_path / "out")


def test_segments_of_sgml(tmp_path: Path) -> None:
    sgml = (
        '<refset setid="x"><doc docid="1">\n<hl>\n'
        '<seg id="1"> A &amp; B &lt;c&gt; &#8217;x &copy </seg>\n</hl>\n'
        '<p><SEG id="2">two\nlines</SEG> <seg id="3">&quot;l&apos;a&quot;\u2028b</seg>\n</p></doc></refset>\n'
    )
    archive = tar(tmp_path / "a.tgz", {"s.en.sgm": sgml.encode(), "c.fr": b"1\n2\n3\n"})
    run(tmp_path / "out", (archive, archive), ("s.en.sgm", "c.fr"))
    assert [*read_lines(tmp_path / "out" / "0.en.zst")] == [
        "A & B <c> ’x &copy",
        "two lines",
        '"l\'a"\u2028b',
    ]


def test_invalid_bytes_are_replaced_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_bytes(b"ok\nb\xe9d \xff\nok\n")
    (tmp_path / "a.fr").write_bytes(b"1\n2\n3\n")
    counts = run(tmp_path / "out", (tmp_path / "a.en", tmp_path / "a.fr"), (None, None))
    assert counts["source_invalid_lines"] == 1
    assert counts["target_invalid_lines"] == 0
    assert [*read_lines(tmp_path / "out" / "0.en.zst")][1] == "b\ufffdd \ufffd"


def test_blocks_are_dealt_to_shards_in_turn(tmp_path: Path) -> None:
    lines = 3 * BLOCK_LINES + 5
    text = "".join(f"{i}\n" for i in range(lines)).encode()
    (tmp_path / "a.en").write_bytes(text)
    (tmp_path / "a.fr").write_bytes(text)
    run(tmp_path / "out", (tmp_path / "a.en", tmp_path / "a.fr"), (None, None), shards=2)
    for shard in (0, 1):
        found = [*map(int, read_lines(tmp_path / "out" / f"{shard}.fr.zst"))]
        assert found == [global_line(i, shard, 2) for i in range(len(found))]
        assert all(shard_of(line, 2) == shard for line in found)
    assert len(found) == BLOCK_LINES + 5


def test_sides_that_differ_by_a_line_are_refused(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tgz", {"c.en": b"1\n2\n3\n", "c.fr": b"1\n2\n"})
    message = r"a\.tgz:c\.en has 3 lines but .*a\.tgz:c\.fr has 2 lines"
    with pytest.raises(UserError, match=message):
        run(tmp_path / "out", (archive, archive), ("c.en", "c.fr"))
    assert_nothing_left(tmp_path / "out")


@pytest.mark.parametrize("empty", [0, 1])
def test_an_empty_file_is_refused(tmp_path: Path, empty: int) -> None:
    texts = [b"1\n", b"1\n"]
    texts[empty] = b""
    archive = tar(tmp_path / "a.tgz", {"c.0": texts[0], "c.1": texts[1]})
    with pytest.raises(UserError, match=rf"a\.tgz:c\.{empty}: holds no lines"):
        run(tmp_path / "out", (archive, archive), ("c.0", "c.1"))
    assert_nothing_left(tmp_path / "out")


def test_a_missing_member_brings_near_names(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tgz", {"training/europarl-v7.fr-en.en": b"1\n", "c.fr": b"1\n"})
    with pytest.raises(UserError, match=r"no member europarl-v7\.fr-en\.en; near names: training/europarl"):
        run(tmp_path / "out", (archive, archive), ("europarl-v7.fr-en.en", "c.fr"))
    assert_nothing_left(tmp_path / "out")


@pytest.mark.parametrize("fault", ["cut", "flipped", "no archive"])
def test_a_damaged_archive_is_refused(tmp_path: Path, fault: str) -> None:
    text = b"".join(b"%d\n" % (i * 7919) for i in range(20_000))
    archive = tar(tmp_path / "a.tgz", {"c.en": text, "c.fr": text})
    data = bytearray(archive.read_bytes())
    if fault == "cut":
        del data[-9:]
    elif fault == "flipped":
        data[len(data) // 2] ^= 1
    else:
        data = bytearray(b"<html>moved</html>" * 100)
    archive.write_bytes(data)
    with pytest.raises(UserError, match=r"a\.tgz: damaged"):
        run(tmp_path / "out", (archive, archive), ("c.en", "c.fr"))
    assert_nothing_left(tmp_path / "out")


def test_missing_archives_and_equal_sides_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        run(tmp_path / "out", (tmp_path / "a.tgz", tmp_path / "a.tgz"), ("a", "b"))
    with pytest.raises(UserError, match="two different texts"):
        run(tmp_path / "out", (tmp_path / "a.tgz", tmp_path / "a.tgz"), ("a", "a"))


@pytest.mark.skipif(not MIRROR.is_dir(), reason="no mirror with real archives beside the checkout")
def test_real_segments_equal_the_plain_text(tmp_path: Path) -> None:
    archive = MIRROR / "wmt14" / "dev.tgz"
    name = "dev/newstest2013"
    run(tmp_path / "plain", (archive, archive), (f"{name}.en", f"{name}.fr"))
    run(tmp_path / "sgm", (archive, archive), (f"{name}-src.en.sgm", f"{name}-ref.fr.sgm"))
    for side in ("0.en.zst", "0.fr.zst"):
        plain = [line.strip() for line in read_lines(tmp_path / "plain" / side)]
        assert [*read_lines(tmp_path / "sgm" / side)] == plain
    assert read_json(tmp_path / "sgm" / "counts.json")["pairs"] == 3000
