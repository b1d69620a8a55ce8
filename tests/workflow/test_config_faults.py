"""What is wrong with the settings is said before any job, all at once, one line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.config.experiment import missing_files
from pipeline.config.overlays import find_layers, load, refuse_unreadable
from tests.messages import check, refused
from tests.running import ROOT, snakemake

FAULTY = """
training: {updats: 5, epsilon: 1e400, batch_size: many}
vocabulary: {words: 0}
models:
  rnnsearch-30: {max_words: 0}
"""


def test_every_fault_gets_one_line_with_the_layer_that_said_it_and_its_key(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(FAULTY, encoding="utf-8")
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("decoding: {beam: 0}\n", encoding="utf-8")
    result = snakemake(tmp_path, "-n", "--configfile", str(overlay), "--config", "seed=soon")
    assert result.returncode == 2
    check(result.stdout)


def test_text_of_an_experiment_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("data_from: ../nowhere\n", encoding="utf-8")
    result = snakemake(tmp_path, "-n")
    assert result.returncode == 2
    check(result.stdout)


@pytest.mark.parametrize(
    "text",
    [
        "seed: 1\nuse: [\n",
        "seed: {{ SEED }}",
        "data_from: ../{other}",
        "moses: {enabled: true, phrase_model: rnnsearch-50}",
        "moses: {enabled: true, lm_corpora: [nws]}",
        "{systems: {moses: {label: M, members: [rnnsearch-50]}}, use: {systems: [moses]}}",
    ],
)
def test_ordinary_slips_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(text, encoding="utf-8")
    with refused():
        load(find_layers(ROOT / "config.yaml", Path()))


GIVEN = """
artifacts: {moses_translations: nowhere.txt, gold_alignments: nowhere.align}
n_best_lists: {m: nowhere.gz}
rescored: {r: {label: R, lists: m, members: [rnnsearch-50]}}
use: {rescored: [r]}
"""


def test_files_that_are_not_there_are_named_all_at_once(tmp_path: Path) -> None:
    for text in (GIVEN, "moses: {enabled: true, lm_text: [nowhere.gz]}\n"):
        (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
        check(missing_files(load(find_layers(ROOT / "config.yaml", tmp_path))))


def test_a_date_that_there_is_not_in_an_overlay_is_one_line(tmp_path: Path) -> None:
    """Snakemake itself reads overlays, before the workflow does."""
    overlay = tmp_path / "over.yaml"
    overlay.write_text("seed: 2014-02-30\n", encoding="utf-8")
    with refused():
        refuse_unreadable([overlay])
