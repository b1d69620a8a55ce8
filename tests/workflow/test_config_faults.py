"""What is wrong with the settings is said before any job, all at once, one line each."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pipeline.config.experiment import missing_files
from pipeline.config.overlays import find_layers, load
from tests.messages import check, refused
from tests.running import ROOT, run, snakemake, snakemake_command

FAULTY = """
training: {updats: 5, epsilon: 1e400, batch_size: many}
vocabulary: {words: 0}
models:
  rnnsearch-30: {max_words: 0}
"""


@pytest.mark.parametrize(
    "text",
    [FAULTY, "seed: 1\nuse: [\n", "data_from: ../nowhere\n"],
    ids=["several", "no YAML", "text of an experiment that is not there"],
)
def test_every_fault_gets_one_line_with_file_key_found_and_allowed(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    result = snakemake(tmp_path, "-n")
    assert result.returncode == 2
    check(result.stdout)


def test_a_fault_names_the_layer_that_said_it(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("vocabulary: {words: -1}\n", encoding="utf-8")
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("decoding: {beam: 0}\n", encoding="utf-8")
    check(snakemake(tmp_path, "-n", "--configfile", str(overlay), "--config", "seed=soon").stdout)


@pytest.mark.parametrize(
    "text",
    [
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
    (tmp_path / "config.yaml").write_text(GIVEN, encoding="utf-8")
    result = snakemake(tmp_path, "-n")
    assert result.returncode == 2
    check(result.stdout)
    measured = "moses: {enabled: true, lm_text: [nowhere.gz]}\n"
    (tmp_path / "config.yaml").write_text(measured, encoding="utf-8")
    check(missing_files(load(find_layers(ROOT / "config.yaml", tmp_path))))


def test_a_folder_without_settings_is_not_the_papers_run(tmp_path: Path) -> None:
    """Snakemake makes a folder whose name is mistyped; a link may lead nowhere."""
    command = snakemake_command(tmp_path, "-n")
    (tmp_path / "config.yaml").unlink()
    result = run(command)
    assert result.returncode == 2
    check(result.stdout)
    (tmp_path / "config.yaml").symlink_to("nowhere.yaml")
    for other in (command, [sys.executable, "-m", "nmt", "status", str(tmp_path)]):
        result = run(other)
        assert result.returncode == 2
        check(result.stdout)


def test_a_date_that_there_is_not_in_an_overlay_is_one_line(tmp_path: Path) -> None:
    """Snakemake itself reads overlays, before the workflow does."""
    (tmp_path / "config.yaml").touch()
    overlay = tmp_path / "over.yaml"
    overlay.write_text("seed: 2014-02-30\n", encoding="utf-8")
    for program in (["workflow/run.py", str(tmp_path), "-n"], ["-m", "nmt", "preflight", str(tmp_path)]):
        result = run([sys.executable, *program, "--configfile", str(overlay)])
        assert result.returncode == 2
        check(result.stdout)


def test_braces_in_the_path_of_the_repository_are_refused_by_name(tmp_path: Path) -> None:
    clone = tmp_path / "{x}"
    clone.mkdir()
    for part in ("Snakefile", "config.yaml", "workflow", "nmt"):
        (clone / part).symlink_to(ROOT / part)
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(clone / "Snakefile"), "-n"]
    result = run([*command, "--directory", str(clone)])
    assert result.returncode == 2
    check(result.stdout)


def test_braces_in_names_sentences_and_the_path_of_an_experiment_mean_nothing(tmp_path: Path) -> None:
    text = {
        "models": {"rnnsearch-50": {"label": "RNN {50}"}},
        "seeds": [1, 2],
        "corpora": {
            "europarl-v7": {"source": {"archive": "europarl-v7", "member": "a{b}.en"}},
            "un-2000": {"shards": 1},
            "giga-fren": {"shards": 1},
        },
    }
    folder = tmp_path / "{x}"
    folder.mkdir()
    (folder / "config.yaml").write_text(json.dumps(text), encoding="utf-8")
    result = snakemake(folder, "-n", "-q", "rules")
    assert result.returncode == 0, result.stdout


def test_fewer_shards_than_there_are_leave_no_text_out(tmp_path: Path) -> None:
    """They would be read no more, and nothing would say so."""
    raw = tmp_path / "data" / "raw" / "europarl-v7"
    raw.mkdir(parents=True)
    for shard in range(8):
        (raw / f"{shard}.en.zst").touch()
    assert snakemake(tmp_path, "-n", "--", "data/raw/europarl-v7/0.en.zst").returncode == 0
    fewer = snakemake(tmp_path, "-n", "--config", "corpora={europarl-v7: {shards: 7}}")
    assert fewer.returncode == 2
    check(fewer.stdout)
