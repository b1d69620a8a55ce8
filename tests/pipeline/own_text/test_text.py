"""Parts of somebody's text: whole, apart from each other, and the same in any order of the lines."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from nmt.io.text_files import read_pairs
from nmt.settings.text import Languages
from pipeline.own_text.settings import write_experiment
from pipeline.own_text.text import SPLITS, ParallelText, TextStatistics, write_splits
from pipeline.preparation import matching_key
from tests.bitexts import write_text
from tests.messages import refused

LANGUAGES = Languages(source="de", target="es")


def lines(count: int = 3000, seed: int = 1) -> list[tuple[str, str]]:
    """Pairs of which some repeat a sentence of either side, in other case or with other punctuation."""
    draw = random.Random(seed)
    pairs = []
    for _ in range(count):
        source = f"Satz {draw.randrange(count)} ist da{draw.choice(['.', '!', ' .'])}"
        pairs.append((draw.choice([source, source.upper()]), f"La frase {draw.randrange(count)} está aquí."))
    return pairs


def text(folder: Path, pairs: list[tuple[str, str]], suffix: str = "") -> ParallelText:
    files = [folder / f"text.{language}{suffix}" for language in ("de", "es")]
    for side, file in enumerate(files):
        write_text(file, (pair[side] for pair in pairs))
    return ParallelText(*files)


def divided(
    folder: Path, given: dict[str, ParallelText]
) -> tuple[TextStatistics, dict[str, list[tuple[str, str]]]]:
    outputs = {part: (folder / f"{part}.de.zst", folder / f"{part}.es.zst") for part in SPLITS}
    found = write_splits(given, LANGUAGES, outputs)
    return found, {part: list(read_pairs(*files)) for part, files in outputs.items()}


def test_drawn_sets_share_no_sentence_with_each_other_or_the_training_text(tmp_path: Path) -> None:
    pairs = lines()
    found, parts = divided(tmp_path, {"train": text(tmp_path, pairs)})
    assert found.pairs == {part: len(some) for part, some in parts.items()}
    assert found.pairs["dev"] == found.pairs["test"] == len(pairs) // 20
    assert sum(found.pairs.values()) + found.left_out == len(pairs)
    assert found.left_out > 0
    for side in (0, 1):
        sentences = {part: {matching_key(pair[side]) for pair in some} for part, some in parts.items()}
        assert not sentences["dev"] & sentences["test"]
        assert not (sentences["dev"] | sentences["test"]) & sentences["train"]
        assert len(sentences["test"]) == found.pairs["test"]


def test_the_order_of_the_lines_draws_no_other_sets(tmp_path: Path) -> None:
    pairs = list(
        {
            (matching_key(source), matching_key(target)): (source, target) for source, target in lines()
        }.values()
    )
    _, parts = divided(tmp_path, {"train": text(tmp_path, pairs)})
    random.Random(2).shuffle(pairs)
    _, other = divided(tmp_path, {"train": text(tmp_path, pairs)})
    assert {part: sorted(some) for part, some in parts.items()} == {
        p: sorted(some) for p, some in other.items()
    }


def test_sets_that_are_given_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    test = text(tmp_path / "test", lines(10, seed=3), ".gz")
    found, parts = divided(tmp_path, {"train": text(tmp_path, lines(), ".zst"), "test": test})
    assert parts["test"] == lines(10, seed=3)
    assert found.pairs["dev"] == 150
    sources = {matching_key(pair[0]) for pair in parts["dev"]}
    assert not sources & {matching_key(pair[0]) for pair in parts["test"]}


def test_byte_order_marks_and_carriage_returns_go_and_tabs_divide(tmp_path: Path) -> None:
    pairs = lines()
    table = tmp_path / "text.tsv"
    rows = "".join(f"{source}\t{target}\r\n" for source, target in pairs)
    table.write_bytes(b"\xef\xbb\xbf" + rows.encode())
    _, parts = divided(tmp_path, {"train": ParallelText(table)})
    _, expected = divided(tmp_path, {"train": text(tmp_path, pairs)})
    assert parts == expected


def broken(folder: Path, kind: str) -> ParallelText:
    given = text(folder, lines())
    source, target = given.source, Path(str(given.target))
    if kind == "lines":
        source.write_text("".join(source.read_text().splitlines(keepends=True)[:-1]))
    elif kind == "latin-1":
        source.write_bytes(source.read_bytes().replace(b"Satz", "Sätz".encode("latin-1"), 1))
    elif kind == "missing":
        source.unlink()
    elif kind == "copy":
        target.write_bytes(source.read_bytes())
    elif kind == "blank":
        target.write_text("\n" * 3000)
    elif kind == "few":
        return text(folder, lines(900))
    elif kind == "tabs":
        source.write_text("".join(f"{one}\t{other}\tmore\n" for one, other in lines()))
        return ParallelText(source)
    elif kind == "both sides":
        source.write_text("".join(f"{one}\t{other}\n" for one, other in lines()))
    return given


@pytest.mark.parametrize(
    "kind",
    ["lines", "latin-1", "missing", "copy", "few", "blank", "tabs", "both sides"],
)
def test_text_that_cannot_be_used_gets_one_line_and_leaves_nothing(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "own"
    with refused():
        write_experiment(folder, {"train": broken(tmp_path, kind)}, ("de", "es"), tokenized=False)
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_nobody_s_own_file_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "own" / "text").mkdir(parents=True)
    given = text(tmp_path, lines())
    mine = given.source.rename(tmp_path / "own" / "text" / "train.de.zst")
    before = mine.read_bytes()
    with refused():
        write_experiment(
            tmp_path / "own", {"train": ParallelText(mine, given.target)}, ("de", "es"), tokenized=False
        )
    assert mine.read_bytes() == before
