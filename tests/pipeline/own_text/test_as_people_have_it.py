"""Files as spreadsheets write them, and sides that are off by a line."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.own_text.settings import write_experiment
from pipeline.own_text.shift import PairLengths
from pipeline.own_text.text import ParallelText
from tests.bitexts import write_text

Pairs = list[tuple[str, str]]


def quoting(count: int = 1200) -> Pairs:
    """Pairs of which some have quotes, and one a line break and a tab."""
    pairs = [(f'He said "I see {n}".', f'Il a dit "je vois {n}".') for n in range(count // 2)]
    pairs += [(f"I see {n}.", f"Je vois, {n}.") for n in range(count // 2)]
    return [*pairs, ("One\\ncell", "Une cellule")]


@pytest.mark.parametrize("quoting_rule", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("files", [1, 2])
def test_cells_of_a_spreadsheet_lose_their_quotes(tmp_path: Path, quoting_rule: int, files: int) -> None:
    pairs = [(one.replace("\\n", "\n"), other) for one, other in quoting()]
    columns: dict[str, Sequence[tuple[str, ...]]] = {"pairs.tsv": pairs}
    if files == 2:
        columns = {
            f"text.{side}": [(cell,) for cell in cells]
            for side, cells in zip(("en", "fr"), zip(*pairs, strict=True), strict=True)
        }
    for name, rows in columns.items():
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file, "excel-tab", quoting=quoting_rule).writerows(rows)
    given = ParallelText(*(tmp_path / name for name in columns))
    assert list(given.read_pairs()) == [(one.replace("\n", " "), other) for one, other in pairs]


@pytest.mark.parametrize(
    "line",
    ['He said "yes".', '"Yes", he said.', '"Yes', '"A" and ""B""', 'A 5" disk'],
)
def test_quotes_of_a_text_stay(tmp_path: Path, line: str) -> None:
    pairs = [(line, "Oui"), ('"Yes."', '"Oui."')]
    write_text(tmp_path / "pairs.tsv", ["\t".join(pair) for pair in pairs])
    assert list(ParallelText(tmp_path / "pairs.tsv").read_pairs()) == pairs


def translations(count: int) -> Pairs:
    draw = random.Random(5)
    lengths = [draw.randrange(3, 60) for _ in range(count)]
    return [("x" * n, "y" * round(1.1 * n + draw.gauss(2, 3) + 6)) for n in lengths]


def lengths(sources: list[str], targets: list[str]) -> PairLengths:
    found = PairLengths()
    for pair in zip(sources, targets, strict=False):
        found.add(*pair)
    return found


@pytest.mark.parametrize(("line", "lines"), [(0, 1), (600, 1), (655, 3), (1290, 1)])
def test_it_is_said_from_which_line_on_sides_are_off(line: int, lines: int) -> None:
    sources, targets = map(list, zip(*translations(1500), strict=True))
    assert lengths(sources, targets).find_shift() is None
    lost = lengths(sources, targets[:line] + targets[line + lines :]).find_shift()
    added = lengths(sources, targets[:line] + ["y" * 30] * lines + targets[line:]).find_shift()
    assert lost and added
    assert (lost.offset, added.offset) == (-lines, lines)
    assert abs(lost.line - line) < 12 and abs(added.line - line) < 12


def test_sentences_of_unrelated_lengths_are_not_off() -> None:
    sources, targets = map(list, zip(*translations(20_000), strict=True))
    random.Random(1).shuffle(targets)
    assert lengths(sources, targets).find_shift() is None
    assert lengths(["x"] * 500, ["y"] * 500).find_shift() is None


def test_what_was_found_in_files_of_all_sets_is_said(tmp_path: Path) -> None:
    def write(name: str, pairs: Pairs) -> ParallelText:
        files = [tmp_path / f"{name}.{language}" for language in ("en", "fr")]
        for file, side in zip(files, zip(*pairs, strict=True), strict=True):
            write_text(file, side)
        return ParallelText(*files)

    pairs = [(f"{one} {n}", f"{other} {n}") for n, (one, other) in enumerate(translations(2400))]
    sources, targets = zip(*pairs[1200:], strict=True)
    test = list(zip(sources[:-1], targets[1:], strict=True))
    given = {"train": write("train", pairs[:1200]), "test": write("test", test)}
    _, _, advice = write_experiment(tmp_path / "own", given, None, tokenized=False)
    assert any(str(given["test"]) in line and "line 1 on" in line for line in advice)
