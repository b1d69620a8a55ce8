"""What is wrong with the settings is said before any job, all at once, one line each."""

from __future__ import annotations

from pathlib import Path

from tests.running import snakemake

FAULTY = """
training: {updats: 5, epsilon: 1e400, batch_size: many}
vocabulary: {words: 0}
use: {train: [europarl], models: [rnnsearch-30]}
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
    unknown = line_about(output, "use.train")
    assert "found 'europarl'" in unknown
    assert "did you mean `europarl-v7`?" in unknown
    assert "found 'rnnsearch-50', which `use.models` lacks" in output


def test_a_fault_names_the_layer_that_said_it(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("vocabulary: {words: -1}\n", encoding="utf-8")
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("decoding: {beam: 0}\n", encoding="utf-8")
    output = snakemake(tmp_path, "-n", "--configfile", str(overlay), "--config", "seed=soon").stdout
    assert "config.yaml: vocabulary.words: found -1" in output
    assert "overlay.yaml: decoding.beam: found 0" in output
    assert "--config: seed: found 'soon', expected integer" in output
    assert len(errors(output)) == 3


def test_a_later_layer_wins(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("vocabulary: {words: -1}\n", encoding="utf-8")
    result = snakemake(tmp_path, "-n", "--config", "vocabulary={words: 100}")
    assert result.returncode == 0, result.stdout


def test_a_file_that_is_no_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("seed: 1\nuse: [\n", encoding="utf-8")
    result = snakemake(tmp_path, "-n")
    assert result.returncode == 2
    (line,) = errors(result.stdout)
    assert "config.yaml: line 3" in line
    assert "Traceback" not in result.stdout
