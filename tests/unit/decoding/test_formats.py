"""n-best lists of other systems: one in memory at a time, in step with the source, faults named by their lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from nmt.decoding.formats import Entry, read_lists
from nmt.errors import UserError

MOSES = """0 ||| das ist ein haus  ||| LM0= -1.5 TM0= -2 ||| -3.5 ||| 0-1=0-1 ||| 0-0 1-1
0 ||| das haus ||| LM0= -1 TM0= -3 ||| -4
2 ||| ja ||| LM0= -1 ||| -1e-2
"""
SOURCE = "this is a house\n\nyes\n"


def lists(folder: Path, text: str = MOSES, source: str = SOURCE, name: str = "lists") -> list[object]:
    data = text.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (folder / "source").write_text(source, encoding="utf-8")
    return [
        (found.line, found.source, [*found.entries]) for found in read_lists(folder / name, folder / "source")
    ]


@pytest.mark.parametrize("name", ["lists", "lists.gz"])
def test_fields_of_moses_lines_and_an_empty_source_needs_none(tmp_path: Path, name: str) -> None:
    first, empty, last = lists(tmp_path, name=name)
    assert first == (
        0,
        ["this", "is", "a", "house"],
        [
            Entry("das ist ein haus", -3.5, "LM0= -1.5 TM0= -2", ("0-1=0-1", "0-0 1-1")),
            Entry("das haus", -4.0, "LM0= -1 TM0= -3"),
        ],
    )
    assert empty == (1, [], [Entry("", 0.0)])
    assert last == (2, ["yes"], [Entry("ja", -0.01, "LM0= -1")])


def test_records_of_decode_are_lists_too(tmp_path: Path) -> None:
    n_best = [{"text": "oui", "log_probability": -1.25}, {"text": "", "log_probability": -3}]
    record = {"line": 0, "source": "yes", "text": "oui", "n_best": n_best}
    expected = [(0, ["yes"], [Entry("oui", -1.25), Entry("", -3)])]
    assert lists(tmp_path, json.dumps(record) + "\n", "yes\n", "x.jsonl") == expected
    beyond = {"text": "b", "log_probability": int("9" * 400)}
    high = {"text": "a", "log_probability": "high"}
    for n_best in (None, 3, [], [3], [{"text": 3, "log_probability": -1}], [high], [beyond]):
        with pytest.raises(UserError):
            lists(tmp_path, json.dumps(record | {"n_best": n_best}) + "\n", "yes\n", "x.jsonl")
    with pytest.raises(UserError):
        lists(tmp_path, json.dumps(record) + "\n", "no\n", "x.jsonl")


def test_what_is_written_can_be_read_and_holds_the_models_feature() -> None:
    one = Entry("das haus", -4.0, "LM0= -1", ("0-0",)).rescored(-3.5, -3)
    assert one.line(7) == "7 ||| das haus ||| LM0= -1 NMT0= -3.0000 ||| -3.5000 ||| 0-0"
    assert Entry("a", -4.0).rescored(-3.5, -3).line(0) == "0 ||| a ||| NMT0= -3.0000 ||| -3.5000"


@pytest.mark.parametrize("text", ["|||", "a ||| b", "a|||| ||", "&#124; | ||", "&#124; &#124; &#124;"])
def test_a_hypothesis_may_have_the_separator_in_it(tmp_path: Path, text: str) -> None:
    line = Entry(text, -1.5, "NMT0= -1.5", ("0-0",)).line(0)
    assert lists(tmp_path, f"{line}\n", "yes\n") == [
        (0, ["yes"], [Entry(text, -1.5, "NMT0= -1.5", ("0-0",))])
    ]


@pytest.mark.parametrize(
    "line", ["0 ||| a ||| -1", "x ||| a ||| b ||| -1", "0 ||| a ||| b ||| high", "0 ||| a ||| b ||| nan"]
)
def test_a_faulty_line_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(UserError):
        lists(tmp_path, f"{line}\n", "yes\n")


@pytest.mark.parametrize(
    "text",
    [
        "1 ||| a ||| b ||| -1\n0 ||| a ||| b ||| -1\n",
        "1 ||| a ||| b ||| -1\n",
        "0 ||| a ||| b ||| -1\n",
        MOSES + "3 ||| a ||| b ||| -1\n",
        "",
    ],
    ids=range(5),
)
def test_faulty_lists_cost_a_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError):
        lists(tmp_path, text)
