"""Files of spreadsheets, and sides that are out of step."""

import csv
import random

import pytest

from nmt.errors import UserError
from nmt.io.text_files import read_lines, read_pairs
from pipeline.own_text.parallel_text import ParallelText
from pipeline.own_text.settings import write_experiment
from pipeline.own_text.shift import WINDOW, PairLengths
from tests.bitexts import write_text
from tests.pipeline.own_text.test_splits import write_parallel_text


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("file_count", [1, 2])
def test_quotes_of_a_spreadsheet_are_removed(tmp_path, quoting, file_count):
    pairs = [
        ('He said "I see".', 'Il a dit "je vois".'),
        ("I see.", "Je vois."),
        ("One\ncell", "Une cellule"),
    ]
    files = {"pairs.tsv": pairs}
    if file_count == 2:
        files = {f"text.{code}": [(pair[side],) for pair in pairs] for side, code in enumerate(("en", "fr"))}
    for name, rows in files.items():
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file, "excel-tab", quoting=quoting).writerows([*rows, ()])
    text = ParallelText(*(tmp_path / name for name in files))
    assert list(text.read_pairs()) == [*pairs[:-1], ("One cell", "Une cellule"), ("", "")]


@pytest.mark.parametrize(
    "line",
    ['He said "yes".', '"Yes", he said.', '"Yes', '"A" and ""B""', 'A 5" disk'],
)
def test_quotes_of_a_text_stay(tmp_path, line):
    pairs = [(line, "Oui"), ('"Yes."', '"Oui."')]
    write_text(tmp_path / "pairs.tsv", ["\t".join(pair) for pair in pairs])
    assert list(ParallelText(tmp_path / "pairs.tsv").read_pairs()) == pairs


def make_translations(count: int) -> tuple[list[str], list[str]]:
    """Return sentences, and translations whose lengths are about 1.1 times theirs."""
    random_source = random.Random(5)
    lengths = [random_source.randrange(3, 60) for _ in range(count)]
    targets = ["y" * round(1.1 * length + random_source.gauss(2, 3) + 6) for length in lengths]
    return ["x" * length for length in lengths], targets


def find_shift(sources: list[str], targets: list[str]) -> int | None:
    lengths = PairLengths()
    for source, target in zip(sources, targets, strict=False):
        lengths.add(source, target)
    return lengths.find_shifted_line()


@pytest.mark.parametrize(("line", "count"), [(0, 1), (600, 1), (655, 3), (600, 80), (1290, 1)])
def test_find_shift_after_lost_or_added_lines(line, count):
    sources, targets = make_translations(1500)
    lost = find_shift(sources, targets[:line] + targets[line + count :])
    added = find_shift(sources, targets[:line] + ["y" * 30] * count + targets[line:])
    assert lost and added
    for shifted_line in (lost, added):
        assert shifted_line - 1 <= line < shifted_line + 2 * WINDOW


def test_find_shift_in_step_and_unrelated():
    sources, targets = make_translations(20_000)
    assert find_shift(sources, targets) is None
    random.Random(1).shuffle(targets)
    assert find_shift(sources, targets) is None
    assert find_shift(["x"] * 500, ["y"] * 500) is None


def test_advice_on_a_shift(tmp_path):
    # distinct sentences; those of the test set are out of step
    numbers = range(2400)
    sides = [[f"{side[number]} {number}" for number in numbers] for side in make_translations(2400)]
    train_pairs = list(zip(sides[0][:1200], sides[1][:1200], strict=True))
    test_pairs = list(zip(sides[0][1200:-1], sides[1][1201:], strict=True))
    texts = {
        "train": write_parallel_text(tmp_path, train_pairs),
        "test": write_parallel_text(tmp_path, test_pairs, ".zst"),
    }
    _, advice = write_experiment(tmp_path / "own", texts, None, tokenized=False)
    assert any(str(texts["test"]) in line and "line 1 on" in line for line in advice)


def test_encodings_and_lengths_say_what_to_do(tmp_path):
    lines = [f"Haus nummer {number}." for number in range(1200)]
    for name, encoding in (("utf-16.de", "utf-16"), ("windows.de", "cp1252")):
        (tmp_path / name).write_text("\n".join(["Häuser", *lines]), encoding=encoding)
        with pytest.raises(UserError, match=f"(?i)iconv -f {encoding.replace('cp', 'windows-')} -t") as error:
            list(read_lines(tmp_path / name))
        assert "\n" not in str(error.value)
    (tmp_path / "long.de").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "short.en").write_text("\n".join(lines[:-3]), encoding="utf-8")
    with pytest.raises(UserError, match=r"1,200 lines.* 1,197"):
        list(read_pairs(tmp_path / "long.de", tmp_path / "short.en"))
