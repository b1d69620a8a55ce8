from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.cleaning import FAULT_NAMES, REASONS, clean
from nmt.io.files import read_json
from nmt.io.text_files import read_lines
from nmt.settings.text import Cleaning
from tests.messages import refused

LIMITS = Cleaning(max_words=4, max_ratio=2.0)


def cleaned(
    folder: Path, source: bytes, target: bytes, settings: Cleaning
) -> tuple[list[str], list[str], dict[str, Any]]:
    """Both sides' lines after cleaning, and the counts that are not zero."""
    (folder / "s").write_bytes(source)
    (folder / "t").write_bytes(target)
    counts = clean(
        folder / "s", folder / "t", settings, folder / "s.zst", folder / "t.zst", folder / "counts.json"
    )
    assert counts == read_json(folder / "counts.json")
    sides = ([*read_lines(folder / name)] for name in ("s.zst", "t.zst"))
    return *sides, {name: count for name, count in counts.items() if count}


def reason(folder: Path, source: str, target: str, settings: Cleaning) -> str | None:
    found = cleaned(folder, f"{source}\n".encode(), f"{target}\n".encode(), settings)[2]
    return next((name for name in REASONS if name in found), None)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a", "b", None),
        ("", "b", "empty"),
        ("a", " \u00a0\t", "empty"),
        ("a b c d", "a b c d", None),
        ("a b c d e", "a b c d", "too_long"),
        ("a b c d", "a b c d e", "too_long"),
        ("a\u00a0b\u3000c d", "a b c d", None),
        ("a b", "a b c d", None),
        ("a", "a b c", "ratio"),
        ("a b c", "a", "ratio"),
    ],
)
def test_reasons(tmp_path: Path, source: str, target: str, expected: str | None) -> None:
    assert reason(tmp_path, source, target, LIMITS) == expected


def test_without_limits_only_empty_sides_go(tmp_path: Path) -> None:
    assert reason(tmp_path, "a " * 500, "b" * 10_000, Cleaning()) is None
    assert reason(tmp_path, "a", "", Cleaning()) == "empty"


def test_short_sides_long_lines_and_long_words_go_when_asked(tmp_path: Path) -> None:
    assert reason(tmp_path, "a b", "a b c", Cleaning(min_words=3)) == "too_short"
    assert reason(tmp_path, "a b c", "a b c", Cleaning(min_words=3)) is None
    for limits, expected in ((Cleaning(max_characters=4), "too_many_characters"), (Cleaning(), None)):
        assert reason(tmp_path, "été!", "été !", limits) == expected
    for word, expected in (("é" * 10, None), ("é" * 11, "long_word")):
        assert reason(tmp_path, "a", f"b b b {word}", Cleaning(max_word_characters=10)) == expected


def judged(source: str, target: str, settings: Cleaning) -> str | None:
    """What Moses' script says of one pair, written out."""
    words = source.split(), target.split()
    fewer, more = sorted(map(len, words))
    if not fewer:
        return "empty"
    if fewer < settings.min_words:
        return "too_short"
    if settings.max_words is not None and more > settings.max_words:
        return "too_long"
    if settings.max_ratio is not None and more > settings.max_ratio * fewer:
        return "ratio"
    if settings.max_characters is not None and max(len(source), len(target)) > settings.max_characters:
        return "too_many_characters"
    longest = max(len(word) for side in words for word in side)
    if settings.max_word_characters is not None and longest > settings.max_word_characters:
        return "long_word"
    return None


LINE = st.text(st.sampled_from("abcé𝄞\u00a0\u2009\u3000 \t"), max_size=12)
SETTINGS = st.builds(
    Cleaning,
    min_words=st.integers(1, 3),
    max_words=st.none() | st.integers(2, 5),
    max_ratio=st.none() | st.floats(1.5, 3),
    max_characters=st.none() | st.integers(5, 10),
    max_word_characters=st.none() | st.integers(1, 5),
)


@given(pairs=st.lists(st.tuples(LINE, LINE), min_size=1), chosen=SETTINGS)
def test_a_block_of_lines_is_judged_as_each_line_alone(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], chosen: Cleaning
) -> None:
    source, target = ("".join(f"{line}\n" for line in side).encode() for side in zip(*pairs, strict=True))
    sources, targets, found = cleaned(tmp_path_factory.mktemp("clean"), source, target, chosen)
    reasons = [judged(*pair, chosen) for pair in pairs]
    expected = [("", "") if why else pair for pair, why in zip(pairs, reasons, strict=True)]
    assert [*zip(sources, targets, strict=True)] == expected
    for name in REASONS:
        assert found.get(name, 0) == reasons.count(name)
    assert found["pairs"] == len(pairs) == found.get("kept", 0) + sum(map(bool, reasons))
    assert found.get("source_words", 0) == sum(len(line.split()) for line, _ in pairs)
    assert found.get("kept_target_words", 0) == sum(len(line.split()) for _, line in expected)


def test_dropped_pairs_become_empty_lines_and_are_counted(tmp_path: Path) -> None:
    sources, targets, found = cleaned(tmp_path, b"a b\nx\n\na a a a a\nc\n", b"d\n\ny\nb\ne e e\n", LIMITS)
    assert sources == ["a b", "", "", "", ""]
    assert targets == ["d", "", "", "", ""]
    assert found == {
        "pairs": 5, "kept": 1, "empty": 2, "too_long": 1, "ratio": 1,
        "source_words": 9, "target_words": 6, "kept_source_words": 2, "kept_target_words": 1,
    }  # fmt: skip


FAULTY: dict[str, tuple[bytes, str, str]] = {
    # what stands in the text, what a repair makes of it, what `keep` leaves
    "invalid_utf8": (b"a\xe9b \xff", "a\ufffdb \ufffd", ""),
    "byte_order_mark": ("\ufeffa b".encode(), "a b", "\ufeffa b"),
    "carriage_return": (b"a b\r", "a b", "a b\r"),
    "line_separators": ("a\u2028b\x85c\rd\x0be".encode(), "a b c d e", "a\u2028b\x85c\rd\x0be"),
    "control_characters": (b"a\0b \x1cc\x07", "ab c", "a\0b \x1cc\x07"),
}


@pytest.mark.parametrize("fault", FAULT_NAMES)
@pytest.mark.parametrize("side", ["source", "target"])
def test_odd_characters_are_handled_as_the_settings_say(tmp_path: Path, fault: str, side: str) -> None:
    text, repaired, kept = FAULTY[fault]
    faulty, good = b"one\n" + text + b"\nthree\n", "un\ndeux \u00abb\u00bb\ntrois\n".encode()
    pair = (faulty, good) if side == "source" else (good, faulty)

    def lines(wish: str) -> tuple[list[str], list[str], dict[str, Any]]:
        sources, targets, found = cleaned(tmp_path, *pair, Cleaning.model_validate({fault: wish}))
        assert found[f"{side}_{fault}"] == 1
        return (sources, targets, found) if side == "source" else (targets, sources, found)

    assert lines("repair")[:2] == (["one", repaired, "three"], good.decode().split("\n")[:-1])
    mine, other, found = lines("drop")
    assert (mine, other) == (["one", "", "three"], ["un", "", "trois"])
    assert (found[fault], found["kept"]) == (1, 2)
    if kept:
        assert lines("keep")[0] == ["one", kept, "three"]
    with refused():
        lines("stop")


def test_a_text_with_windows_line_ends_loses_them(tmp_path: Path) -> None:
    sources, targets, found = cleaned(tmp_path, b"a\r\nb\r\n", b"c\r\nd", Cleaning())
    assert (sources, targets) == (["a", "b"], ["c", "d"])
    assert (found["source_carriage_return"], found["target_carriage_return"]) == (2, 1)


def test_a_fault_that_is_repaired_may_leave_an_empty_side(tmp_path: Path) -> None:
    sources, targets, found = cleaned(tmp_path, b"\0\r\nb\n", b"a\nb\n", Cleaning())
    assert (sources, targets) == (["", "b"], ["", "b"])
    assert (found["empty"], found["kept"]) == (1, 1)


def test_a_line_of_a_megabyte_goes_or_stays_whole_in_step(tmp_path: Path) -> None:
    long = b"word " * 210_000
    source, target = b"a\n" + long + b"\nc\n" + b"x\n" * 300_000, b"a\nb\n" + long + b"\n" + b"y\n" * 300_000
    sources, targets, found = cleaned(tmp_path, source, target, Cleaning())
    assert "\n".join(sources).encode() + b"\n" == source
    assert "\n".join(targets).encode() + b"\n" == target
    sources, targets, found = cleaned(tmp_path, source, target, Cleaning(max_characters=1_000_000))
    assert sources[:4] == ["a", "", "", "x"]
    assert targets[:4] == ["a", "", "", "y"]
    assert found["too_many_characters"] == 2
    assert len(sources) == len(targets) == 300_003


def test_a_file_without_line_ends_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.io.text_blocks.LONGEST_LINE", 1 << 21)
    with refused():
        cleaned(tmp_path, b"a\n" + b"x" * (1 << 23), b"a\nb\n", Cleaning())


def test_drops_of_faults_are_told_from_the_right_line_over_many_blocks(tmp_path: Path) -> None:
    lines = [b"word %d" % n for n in range(400_000)]
    for n in range(0, len(lines), 50_000):
        lines[n] += b"\xff"
    settings = Cleaning(invalid_utf8="drop")
    text = b"\n".join(lines) + b"\n"
    sources, targets, found = cleaned(tmp_path, text, b"y\n" * len(lines), settings)
    assert [n for n, line in enumerate(sources) if not line] == [*range(0, len(lines), 50_000)]
    assert [n for n, line in enumerate(targets) if not line] == [*range(0, len(lines), 50_000)]
    assert found["invalid_utf8"] == 8


@pytest.mark.parametrize(("source", "target"), [(b"a\nb\n", b"a\n"), (b"a\n", b"a\nb\n")])
def test_uneven_sides_leave_nothing(tmp_path: Path, source: bytes, target: bytes) -> None:
    with refused():
        cleaned(tmp_path, source, target, Cleaning())
    assert {path.name for path in tmp_path.iterdir()} == {"s", "t"}
