"""What is wrong with the settings is said before any job, all at once, one line each."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pipeline.config.experiment import missing_files
from pipeline.config.overlays import ConfigError, find_layers, load
from tests.running import ROOT, run, snakemake, snakemake_command

FAULTY = """
training: {updats: 5, epsilon: 1e400, batch_size: many}
vocabulary: {words: 0}
models:
  rnnsearch-30: {max_words: 0}
"""


def errors(output: str) -> list[str]:
    return [line for line in output.split("\n") if line.startswith("error: ")]


def line_about(output: str, key: str) -> str:
    (line,) = [line for line in errors(output) if f": {key}: " in line]
    return line


def test_every_fault_gets_one_line_with_file_key_found_and_allowed(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(FAULTY, encoding="utf-8")
    result = snakemake(tmp_path, "-n")
    output = result.stdout
    assert result.returncode == 2
    assert "Traceback" not in output
    assert "rule " not in output
    typo = line_about(output, "training.updats")
    assert "config.yaml" in typo
    assert "unknown key" in typo
    assert "did you mean `updates`?" in typo
    assert "batches_per_sort" in typo
    assert "found inf, expected a finite number" in line_about(output, "training.epsilon")
    assert "found 'many', expected integer" in line_about(output, "training.batch_size")
    assert "found 0, expected 1 or more" in line_about(output, "vocabulary.words")
    assert "found 0, expected 1 or more" in line_about(output, "models.rnnsearch-30.max_words")


def test_a_fault_names_the_layer_that_said_it(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("vocabulary: {words: -1}\n", encoding="utf-8")
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("decoding: {beam: 0}\n", encoding="utf-8")
    output = snakemake(tmp_path, "-n", "--configfile", str(overlay), "--config", "seed=soon").stdout
    assert "config.yaml: vocabulary.words: found -1" in output
    assert "overlay.yaml: decoding.beam: found 0" in output
    assert "--config: seed: found 'soon', expected integer" in output
    assert len(errors(output)) == 3


def test_a_file_that_is_no_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("seed: 1\nuse: [\n", encoding="utf-8")
    result = snakemake(tmp_path, "-n")
    assert result.returncode == 2
    (line,) = errors(result.stdout)
    assert "config.yaml: line 3" in line
    assert "Traceback" not in result.stdout


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "seed: {{ SEED }}",
            "config.yaml: line 1, column 8: not valid YAML: found braces or brackets in place",
        ),
        ("seed: -1", "seed: found -1, expected 0 or more"),
        (f"seed: {2**64}", "seed: found 18446744073709551616, expected 9223372036854775807 or less"),
        (
            "resources: {translate_hours: .inf}",
            "resources.translate_hours: found inf, expected a finite number",
        ),
        ("data_from: ../{other}", "data_from: found '../{other}', expected no braces"),
        (
            "moses: {enabled: true, phrase_model: rnnsearch-50}",
            "rnnsearch-50', which is in use and learns sentences",
        ),
        ("moses: {enabled: true, lm_corpora: [nws]}", "moses.lm_corpora: found 'nws', which the catalogue"),
        (
            "{systems: {moses: {label: M, members: [rnnsearch-50]}}, use: {systems: [moses]}}",
            "systems.moses: the name is that of the phrase-based system: expected another one",
        ),
    ],
)
def test_ordinary_slips_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        load(find_layers(ROOT / "config.yaml", Path()))
    (line,) = raised.value.problems
    assert problem in line and len(line) < 300


GIVEN = """
artifacts: {moses_translations: nowhere.txt, gold_alignments: nowhere.align}
n_best_lists: {m: nowhere.gz}
rescored: {r: {label: R, lists: m, members: [rnnsearch-50]}}
use: {rescored: [r]}
"""


def test_files_that_are_not_there_are_named_all_at_once(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(GIVEN, encoding="utf-8")
    result = snakemake(tmp_path, "-n")
    assert result.returncode == 2 and "Traceback" not in result.stdout
    keys = {line.split(": ")[1] for line in errors(result.stdout)}
    assert keys == {"artifacts.gold_alignments", "artifacts.moses_translations", "n_best_lists.m"}
    measured = "moses: {enabled: true, lm_text: [nowhere.gz]}\n"
    (tmp_path / "config.yaml").write_text(measured, encoding="utf-8")
    (line,) = missing_files(load(find_layers(ROOT / "config.yaml", tmp_path)))
    assert line.startswith("moses.lm_text: ")


def test_text_of_another_experiment_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("data_from: ../nowhere\n", encoding="utf-8")
    result = snakemake(tmp_path, "-n")
    (line,) = errors(result.stdout)
    assert result.returncode == 2 and "Traceback" not in result.stdout
    assert "data_from: ../nowhere has no data/tokens/newstest2014/0.en.zst: run that" in line


def test_a_folder_without_settings_is_not_the_papers_run(tmp_path: Path) -> None:
    """Snakemake makes a folder whose name is mistyped; a link may lead nowhere."""
    command = snakemake_command(tmp_path, "-n")
    (tmp_path / "config.yaml").unlink()
    result = run(command)
    assert result.returncode == 2 and "no config.yaml here" in result.stdout
    (tmp_path / "config.yaml").symlink_to("nowhere.yaml")
    for other in (command, [sys.executable, "-m", "nmt", "status", str(tmp_path)]):
        result = run(other)
        assert result.returncode == 2 and "config.yaml: cannot be read: No such file" in result.stdout
        assert "Traceback" not in result.stdout


def test_braces_in_the_path_of_an_experiment_mean_nothing(tmp_path: Path) -> None:
    (tmp_path / "{x}").mkdir()
    result = snakemake(tmp_path / "{x}", "-n", "-q")
    assert result.returncode == 0, result.stdout


def test_a_date_that_there_is_not_in_an_overlay_is_one_line(tmp_path: Path) -> None:
    """Snakemake itself reads overlays, before the workflow does."""
    (tmp_path / "config.yaml").touch()
    overlay = tmp_path / "over.yaml"
    overlay.write_text("seed: 2014-02-30\n", encoding="utf-8")
    for program in (["workflow/run.py", str(tmp_path), "-n"], ["-m", "nmt", "preflight", str(tmp_path)]):
        result = run([sys.executable, *program, "--configfile", str(overlay)])
        assert result.returncode == 2
        assert result.stdout.endswith(
            f"error: {overlay}: not valid YAML 1.1: day is out of range for month: put it in quotes\n"
        )
        assert result.stdout.count("\n") == 1


def test_braces_in_the_path_of_the_repository_are_refused_by_name(tmp_path: Path) -> None:
    clone = tmp_path / "{x}"
    clone.mkdir()
    for part in ("Snakefile", "config.yaml", "workflow", "nmt"):
        (clone / part).symlink_to(ROOT / part)
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(clone / "Snakefile"), "-n"]
    result = run([*command, "--directory", str(clone)])
    assert result.returncode == 2
    (line,) = errors(result.stdout)
    assert line.startswith(f"error: {clone}: braces in the repository's path")


def test_braces_in_names_and_sentences_mean_nothing(tmp_path: Path) -> None:
    text = {
        "models": {"rnnsearch-50": {"label": "RNN {50}"}},
        "seeds": [1, 2],
        "corpora": {"europarl-v7": {"source": {"archive": "europarl-v7", "member": "a{b}.en"}}},
    }
    (tmp_path / "config.yaml").write_text(json.dumps(text), encoding="utf-8")
    result = snakemake(tmp_path, "-n", "-q", "rules")
    assert result.returncode == 0, result.stdout


def test_fewer_shards_than_there_are_leave_no_text_out(tmp_path: Path) -> None:
    """They would be read no more, and nothing would say so."""
    raw = tmp_path / "data" / "raw" / "europarl-v7"
    raw.mkdir(parents=True)
    for shard in range(8):
        (raw / f"{shard}.en.zst").touch()
    assert snakemake(tmp_path, "-n", "-q", "rules").returncode == 0
    fewer = snakemake(tmp_path, "-n", "--config", "corpora={europarl-v7: {shards: 7}}")
    (line,) = errors(fewer.stdout)
    assert fewer.returncode == 2
    assert "corpora.europarl-v7.shards: 7, but data/raw/europarl-v7 has more; set the number back" in line
