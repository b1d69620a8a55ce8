"""The demo, shrunk: killed, called again, finished, verified; then what makes it run again and what does not."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from nmt.io.text_files import read_lines
from tests.running import ROOT, TINY, make_demo, run, run_command, scheduled, snakemake, snakemake_command

MODELS = ["rnnencdec-30", "rnnsearch-30", "rnnencdec-50", "rnnsearch-50", "rnnsearch-50-star"]
LABELS = ["RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50*"]
NOTHING = "Nothing to be done"
MOST_WORDS = 12
"""Of a cleaned sentence of the training text, before it is cut into tokens."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run through workflow/run.py that is killed with all its jobs and called again, and what it printed then."""
    folder = tmp_path_factory.mktemp("demo")
    overlay = make_demo(folder)
    overlay.write_text(f"{TINY}cleaning: {{max_words: {MOST_WORDS}}}\n", encoding="utf-8")
    command = run_command(folder, "--configfile", str(overlay))
    kill_once(lambda: any(folder.glob("state/rnnsearch-50/checkpoint-*.json")), command)
    result = run(command)
    assert result.returncode == 0, result.stdout
    return folder, result.stdout


def kill_once(moment: Callable[[], bool], command: list[str]) -> None:
    """Start a command, and kill it with all its processes in this moment."""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not moment():
            assert process.poll() is None
            time.sleep(0.02)
        children = psutil.Process(process.pid).children(recursive=True)
        for victim in (psutil.Process(process.pid), *reversed(children)):
            with suppress(psutil.NoSuchProcess):
                victim.kill()
    psutil.wait_procs(children, timeout=30)  # they hold the folder until they are gone


@pytest.fixture
def copy(finished: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of the finished run, times and Snakemake's records included, to change."""
    folder = tmp_path / finished[0].name  # the report's title has it
    shutil.copytree(finished[0], folder)
    return folder


def planned(folder: Path, *options: str) -> str:
    result = snakemake(folder, "-n", "--configfile", str(folder / "tiny.yaml"), *options)
    assert result.returncode == 0, result.stdout
    return result.stdout


def test_all_tables_and_figures_are_there(finished: tuple[Path, str]) -> None:
    folder, output = finished
    results = folder / "results"
    with (results / "table1.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:5] == ["model", "bleu_all", "bleu_no_unk", "reported_all", "reported_no_unk"]
    assert [row["model"] for row in rows] == LABELS
    assert not any(row["reported_all"] for row in rows)
    for name in ("table2.csv", "table1.md", "table2.md", "table1.tex", "table2.tex"):
        assert (results / name).stat().st_size > 100
    for figure in ("figure2", "figure3", "learning_curves"):
        assert (results / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert (results / f"{figure}.pdf").read_bytes().startswith(b"%PDF")
    for page in ("playground", "report"):
        assert (results / f"{page}.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (results / "finding.txt").read_text(encoding="utf-8").startswith("At ")
    assert "RNNsearch-50*" in output
    assert output.count("RNNsearch-50* trained, 20 updates") == 1
    said = " ".join(output.split())  # whatever the width of its lines
    assert " ".join((results / "finding.txt").read_text(encoding="utf-8").split()) in said
    assert str(results / "report.html") in said
    progress = output.partition("| Model")[0]
    assert progress.count("\n") < 60 and "jobid" not in progress


def test_the_results_are_verified(finished: tuple[Path, str]) -> None:
    assert_verified(finished[0] / "results")


def test_the_report_on_the_text_follows_what_was_binarized(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    with (folder / "results" / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["part"], row["stage"], row["measure"], row["side"]): row for row in csv.DictReader(file)}
    for part in ("train", "dev"):
        meta = json.loads((folder / "data" / "binary" / part / "meta.json").read_text(encoding="utf-8"))
        assert rows[part, "tokens", "pairs", ""]["value"] == str(meta["pairs"])
        for side in ("source", "target"):
            assert rows[part, "tokens", "words", side]["value"] == str(meta[f"{side}_words"])
    page = (folder / "results" / "data.md").read_text(encoding="utf-8")
    assert "| demo-train" in page and "eported" not in page
    for kind in ("pdf", "png"):
        assert (folder / "results" / f"data.{kind}").stat().st_size > 1000


def test_limits_of_cleaning_leave_development_and_test_text_whole(finished: tuple[Path, str]) -> None:
    data = finished[0] / "data"
    lengths = {
        corpus: [len(line.split()) for line in read_lines(data / "tokens" / corpus / "0.en.zst")]
        for corpus in ("demo-train", "demo-dev", "demo-test")
    }
    assert 0 in lengths["demo-train"]  # an empty line in place of a sentence that is too long
    for corpus, sentences in (("demo-dev", 20), ("demo-test", 30)):
        assert len(lengths[corpus]) == sentences and 0 not in lengths[corpus]
        assert max(lengths[corpus]) > MOST_WORDS
    translated = [*read_lines(finished[0] / "translations" / "rnnsearch-50.all.jsonl")]
    scores = json.loads((finished[0] / "scores" / "rnnsearch-50.json").read_text(encoding="utf-8"))
    assert len(translated) == scores["sentences_all"] == 30


def test_summaries_tell_what_table_2_needs(finished: tuple[Path, str]) -> None:
    summaries = {
        model: json.loads((finished[0] / "models" / model / "summary.json").read_text(encoding="utf-8"))
        for model in MODELS
    }
    assert [summaries[model]["updates"] for model in MODELS] == [10, 10, 10, 10, 20]
    assert summaries["rnnsearch-50-star"]["hours"] > summaries["rnnsearch-50"]["hours"] > 0
    for summary in summaries.values():
        assert 0 < summary["train_nll"] < 1000
        assert 0 < summary["dev_nll"] < 1000


def test_a_models_folder_translates_raw_text_wherever_it_lies(
    finished: tuple[Path, str], tmp_path: Path
) -> None:
    shutil.copytree(finished[0] / "models" / "rnnsearch-50", tmp_path / "model")
    (tmp_path / "text.en").write_text("Clara's friend sees Julia.\n\nNo.\n", encoding="utf-8")
    command = [sys.executable, "-m", "nmt", "translate", "--model", str(tmp_path / "model")]
    result = run([*command, str(tmp_path / "text.en"), "--output", str(tmp_path / "text.fr")])
    assert result.returncode == 0, result.stdout
    assert (tmp_path / "text.fr").read_text(encoding="utf-8").count("\n") == 3


def test_a_second_run_has_nothing_to_do(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    result = run(run_command(folder, "--configfile", str(folder / "tiny.yaml")))
    assert result.returncode == 0
    assert result.stdout.count(NOTHING) == 1
    assert "RNNsearch-50*" in result.stdout


def test_a_comment_cores_a_mirror_or_an_unused_corpus_schedule_nothing(copy: Path) -> None:
    with (copy / "config.yaml").open("a", encoding="utf-8") as file:
        file.write("\n# a comment\n")
    corpora = "corpora={europarl-v7: {shards: 3}, new: {grammar: {split: dev, pairs: 5}}}"
    settings = ["mirrors=[/elsewhere]", "resources={train_hours: 9}", corpora]
    output = planned(copy, "--cores", "7", "--config", *settings)
    assert NOTHING in output, output


def test_changed_training_settings_schedule_exactly_the_models_they_concern(copy: Path) -> None:
    one = planned(copy, "--config", "models={rnnsearch-30: {training: {learning_rate: 0.5}}}")
    (job,) = scheduled(one, "train")
    assert "models/rnnsearch-30/model.safetensors" in job
    # of RNNsearch-50* Snakemake says so once its base is made: workflow/run.py looks again
    assert len(scheduled(planned(copy, "--config", "training={learning_rate: 0.5}"), "train")) == 5 - 1


def test_what_no_weight_follows_from_trains_nothing_again_and_tables_have_the_new_name(copy: Path) -> None:
    shutil.rmtree(copy / "state")  # with which a finished model that is due could be continued
    settings = ["models={rnnsearch-50: {label: Mine}}", "training={log_every: 7, checkpoint_every: 9}"]
    settings += ["selection={sample_pairs: 7}"]  # the selection is off
    output = planned(copy, "--config", *settings)
    assert not scheduled(output, "train") and len(scheduled(output, "tables")) == 1
    result = run(run_command(copy, "--configfile", str(copy / "tiny.yaml"), "--config", *settings))
    assert result.returncode == 0, result.stdout
    assert "| Mine" in (copy / "results" / "table1.md").read_text(encoding="utf-8")
    assert NOTHING in planned(copy, "--config", *settings)
    assert_verified(copy / "results")
    status = run([sys.executable, "-m", "nmt", "status", str(copy)]).stdout
    assert "outdated" not in status and "done" in status


def test_another_seed_trains_its_own_runs_and_nothing_again(copy: Path) -> None:
    output = planned(copy, "--config", "seeds=[1,2]")
    jobs = scheduled(output, "train")
    assert len(jobs) == 5
    assert all(f"models/{model}.seed-2/model.safetensors" in "".join(jobs) for model in MODELS)
    assert len(scheduled(output, "translate")) == 10
    assert len(scheduled(output, "tables")) == 1
    one = planned(copy, "--config", "models={rnnencdec-30: {seeds: [1, 2]}}")
    assert len(scheduled(one, "train")) == 1


def test_changed_display_of_a_figure_draws_it_anew_and_trains_nothing(copy: Path) -> None:
    output = planned(copy, "--config", "artifacts={figure2_window: 5}")
    assert len(scheduled(output, "tables")) == 1
    assert not scheduled(output, "train")
    assert not scheduled(output, "translate")


def assert_verified(results: Path) -> None:
    """All is as it was recorded."""
    result = run([sys.executable, "-m", "nmt", "verify", str(results)])
    assert result.returncode == 0, result.stdout
    assert "not in the record" not in result.stdout


def test_another_interpreter_or_place_of_the_repository_schedules_nothing(copy: Path, tmp_path: Path) -> None:
    for entry in ("Snakefile", "config.yaml", "workflow", "nmt"):
        (tmp_path / "repository").mkdir(exist_ok=True)
        (tmp_path / "repository" / entry).symlink_to(ROOT / entry)
    command = snakemake_command(copy, "-n", "--configfile", str(copy / "tiny.yaml"))
    command[command.index(str(ROOT / "Snakefile"))] = str(tmp_path / "repository" / "Snakefile")
    result = run(command)
    assert result.returncode == 0, result.stdout
    assert not scheduled(result.stdout, "train")


def test_a_report_is_written_offline(copy: Path) -> None:
    overlay = str(copy / "tiny.yaml")
    result = snakemake(copy, "--configfile", overlay, "--report", str(copy / "report.html"))
    assert result.returncode == 0, result.stdout
    assert "figure3.png" in (copy / "report.html").read_text(encoding="utf-8")


def test_no_partial_files_are_left(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    left = [path for path in folder.rglob("*") if path.suffix in (".part", ".tmp")]
    assert not left
    assert not list((folder / ".snakemake" / "locks").glob("*"))
    assert not list((folder / ".snakemake" / "incomplete").glob("*"))
