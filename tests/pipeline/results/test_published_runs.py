"""Scores of a run beside those of the published runs of its experiment."""

import json
from pathlib import Path

import pytest

from pipeline.results.published_runs import compare_with_published_runs


def write_results(folder: Path, bleu: float, std: float | None, seeds: list[int], **settings: object) -> Path:
    folder.mkdir()
    row = f"RNN,rnn,{bleu},{'' if std is None else std},{len(seeds)}"
    (folder / "table1.csv").write_text(f"model,id,bleu_all,bleu_all_std,seeds\n{row}\n")
    (folder / "config.json").write_text(json.dumps({"seeds": seeds, **settings}))
    return folder


@pytest.mark.parametrize(
    ("distance", "agrees"),
    [(9.8, True), (10.0, False)],  # Student's t of two degrees of freedom: p = 0.01 at 9.925
)
def test_difference_beyond_what_seeds_explain_is_named(tmp_path: Path, distance: float, agrees: bool) -> None:
    published = write_results(tmp_path / "published", 90, 0.2, [1, 2, 3])
    one_run = write_results(tmp_path / "run", 90 - distance * 0.2 * (1 + 1 / 3) ** 0.5, None, [4])
    sentence = compare_with_published_runs(one_run, published)
    assert sentence is not None
    assert ("RNN has" not in sentence) is agrees


def test_runs_with_other_settings_are_not_compared(tmp_path: Path) -> None:
    published = write_results(tmp_path / "published", 90, 0.2, [1, 2, 3])
    one_run = write_results(tmp_path / "run", 90, None, [1], vocabulary={"words": 9})
    assert compare_with_published_runs(one_run, published) is None
