"""n-best lists of other systems: one in memory at a time, in step with the source, faults named by their lines."""

import json
from pathlib import Path

import pytest

from nmt.decoding.n_best_lists import NBestEntry, read_n_best_lists
from tests.bitexts import write_text
from tests.messages import refused

MOSES_LINES = [
    "0 ||| das ist ein haus  ||| LM0= -1.5 TM0= -2 ||| -3.5 ||| 0-1=0-1 ||| 0-0 1-1",
    "0 ||| das haus ||| LM0= -1 TM0= -3 ||| -4",
    "2 ||| ja ||| LM0= -1 ||| -1e-2",
]
SOURCE = ["this is a house", "", "yes"]


def read_lists(
    folder: Path, lines: list[str], source: list[str], name: str = "lists"
) -> list[tuple[int, list[str], list[NBestEntry]]]:
    lists = read_n_best_lists(write_text(folder / name, lines), write_text(folder / "source", source))
    return [(n_best.number, n_best.source, list(n_best.entries)) for n_best in lists]


@pytest.mark.parametrize("name", ["lists", "lists.gz"])
def test_moses_lists(tmp_path, name):
    """An empty source needs no list."""
    first, empty, last = read_lists(tmp_path, MOSES_LINES, SOURCE, name)
    assert first == (
        0,
        ["this", "is", "a", "house"],
        [
            NBestEntry("das ist ein haus", -3.5, "LM0= -1.5 TM0= -2", ("0-1=0-1", "0-0 1-1")),
            NBestEntry("das haus", -4.0, "LM0= -1 TM0= -3"),
        ],
    )
    assert empty == (1, [], [NBestEntry("", 0.0)])
    assert last == (2, ["yes"], [NBestEntry("ja", -0.01, "LM0= -1")])


def test_json_lists(tmp_path):
    n_best: object = [{"tokens": ["oui"], "log_probability": -1.25}, {"tokens": [], "log_probability": -3}]
    record = {"line": 0, "source_tokens": ["yes"], "tokens": ["oui"], "n_best": n_best}
    expected = [(0, ["yes"], [NBestEntry("oui", -1.25), NBestEntry("", -3)])]
    assert read_lists(tmp_path, [json.dumps(record)], ["yes"], "x.jsonl") == expected
    for n_best in (None, [], [{"tokens": 3, "log_probability": -1}]):
        with refused():
            read_lists(tmp_path, [json.dumps(record | {"n_best": n_best})], ["yes"], "x.jsonl")
    with refused():
        read_lists(tmp_path, [json.dumps(record)], ["no"], "x.jsonl")


@pytest.mark.parametrize("text", ["|||", "a ||| b", "a|||| ||", "&#124; | ||", "&#124; &#124; &#124;"])
def test_separator_in_a_hypothesis(tmp_path, text):
    entry = NBestEntry(text, -1.5, "NMT0= -1.5", ("0-0",))
    assert read_lists(tmp_path, [entry.format(0)], ["yes"]) == [(0, ["yes"], [entry])]


@pytest.mark.parametrize(
    "line", ["0 ||| a ||| -1", "x ||| a ||| b ||| -1", "0 ||| a ||| b ||| high", "0 ||| a ||| b ||| nan"]
)
def test_faulty_line_is_refused(tmp_path, line):
    with refused():
        read_lists(tmp_path, [line], ["yes"])


@pytest.mark.parametrize("numbers", [[1, 0], [1], [0], [0, 0, 2, 3], []])
def test_lists_of_other_sentences_are_refused(tmp_path, numbers):
    with refused():
        read_lists(tmp_path, [f"{number} ||| a ||| b ||| -1" for number in numbers], SOURCE)
