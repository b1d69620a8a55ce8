"""The benchmark of batches: every sentence is in each arrangement once, and what differs is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import batching
from nmt.decoding.beam_search import Hypothesis
from nmt.io.text_files import write_lines
from tests.translators import trained_model
from tests.unit.decoding.test_beam_search import decoding


def test_each_arrangement_holds_each_sentence_once() -> None:
    sources = [["w"] * (1 + 7 * number % 10) for number in range(10)]
    found = batching.arrangements(sources, [4, 1])
    assert list(found) == ["1", "4", "4, drawn order"]
    for batches in found.values():
        assert sorted(place for batch in batches for place in batch) == list(range(10))
    assert [len(batch) for batch in found["4"]] == [4, 4, 2]
    assert found["4"] != found["4, drawn order"]
    lengths = [len(sources[place]) for batch in found["4"] for place in batch]
    assert lengths == sorted(lengths)


@pytest.mark.parametrize(("normalize", "apart"), [(False, 1), (True, 1)])
def test_what_differs_is_counted_and_what_no_tie_explains(normalize: bool, apart: int) -> None:
    first = [Hypothesis([2], -1.0, True), Hypothesis([2], -1.0, True), Hypothesis([3], -2.0, True)]
    second = [
        Hypothesis([2], -1.5, True),
        Hypothesis([4], -1.0 + 1e-6, True),
        Hypothesis([4], -2.0 + 1e-4, True),
    ]
    found = batching.compared(first, second, decoding(normalize_by_length=normalize))
    assert found == {"differ": 2, "apart": apart}


def test_a_run_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In 64 bits nothing differs; a run without translations is refused."""
    (tmp_path / "run" / "models").mkdir(parents=True)
    trained_model(tmp_path / "made").rename(tmp_path / "run" / "models" / "small")
    arguments = [str(tmp_path / "run"), "--output", str(tmp_path / "out.json"), "--threads", "1"]
    assert batching.main(arguments) == 1
    assert "small.all.jsonl; make the run first" in capsys.readouterr().err
    (tmp_path / "run" / "translations").mkdir()
    with write_lines(tmp_path / "run" / "translations" / "small.all.jsonl") as writer:
        for number in range(20):
            writer.write(
                json.dumps({"source": " ".join(f"w{number + place}" for place in range(number % 6))})
            )
    assert batching.main([*arguments, "--sentences", "15", "--batches", "1", "4"]) == 0
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["models"]["small"]
    assert found["sentences"] == 15
    assert set(found["float32"]) == {"4", "4, drawn order"}
    assert found["float64"] == {"4, drawn order": {"differ": 0, "apart": 0}}
