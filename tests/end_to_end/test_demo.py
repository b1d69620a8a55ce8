"""The demo, made small: what a run that was killed and called again leaves, and what a change makes again."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from nmt.io.text_files import read_lines
from tests.end_to_end.conftest import OUTPUT
from tests.running import ROOT, nmt, run, run_command, scheduled, snakemake, snakemake_command

RUNS = [
    "rnnencdec-50", "rnnsearch-50", "rnnsearch-50.seed-8", "rnnsearch-50-star", "rnnsearch-50-star.seed-8",
]  # fmt: skip
LABELS = ["RNNencdec-50", "RNNsearch-50", "RNNsearch-50*", "Both", "Mixed"]
NOTHING = "Nothing to be done"
MOST_WORDS = 11
"""Of a cleaned sentence of the training text, before it is cut into tokens."""


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def table(folder: Path, name: str) -> dict[str, dict[str, str]]:
    with (folder / "results" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def planned(folder: Path, *settings: str) -> str:
    """What a dry-run says, with settings as on the command line."""
    result = snakemake(folder, "-n", *(["--config", *settings] if settings else []))
    assert result.returncode == 0, result.stdout
    return result.stdout


# --- what is there


def test_all_tables_and_figures_are_there(finished):
    results = finished / "results"
    rows = table(finished, "table1")
    assert [row["model"] for row in rows.values()] == LABELS
    assert not any(row["reported_all"] for row in rows.values())
    for name in ("table1", "table2", "table3", "significance", "ablations"):
        assert all((results / f"{name}.{form}").stat().st_size > 100 for form in ("csv", "md", "tex"))
    for figure in ("figure2", "figure3", "learning_curves"):
        assert (results / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert (results / f"{figure}.pdf").read_bytes().startswith(b"%PDF")
    page = (results / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")


def test_a_person_is_told_the_finding_and_little_more(finished):
    output = (finished / OUTPUT).read_text(encoding="utf-8")
    assert output.count("rnnsearch-50-star: begins, 300 updates") == 1
    said = " ".join(output.split())  # whatever the width of its lines
    assert " ".join((finished / "results" / "headline.txt").read_text(encoding="utf-8").split()) in said
    assert str(finished / "results" / "report.html") in said
    progress = output.partition("| Model")[0]
    assert progress.count("\n") < 60 and "jobid" not in progress


def test_no_partial_files_are_left(finished):
    assert not [path for path in finished.rglob("*") if path.suffix in (".part", ".tmp")]
    for folder in ("locks", "incomplete"):
        assert not list((finished / ".snakemake" / folder).glob("*"))


def test_limits_of_cleaning_leave_development_and_test_text_whole(finished):
    lengths = {}
    for part in ("train", "dev", "test"):
        lines = read_lines(finished / "data" / "tokens" / f"demo-{part}" / "0.en.zst")
        lengths[part] = [len(line.split()) for line in lines]
    assert 0 in lengths["train"]  # an empty line in place of a sentence that is too long
    for part, sentences in (("dev", 20), ("test", 60)):
        assert len(lengths[part]) == sentences and 0 not in lengths[part]
        assert max(lengths[part]) > MOST_WORDS


def test_a_star_goes_on_from_its_own_seed(finished):
    nlls = {}
    for name in RUNS:
        lines = [json.loads(line) for line in read_lines(finished / "models" / name / "history.jsonl")]
        nlls[name] = [(line["update"], line["dev_nll"]) for line in lines if "dev_nll" in line]
    # what goes on begins with a validation of the weights with which the other ended
    for seed in ("", ".seed-8"):
        assert nlls[f"rnnsearch-50-star{seed}"][0] == nlls[f"rnnsearch-50{seed}"][-1]
    assert nlls["rnnsearch-50"] != nlls["rnnsearch-50.seed-8"]


def test_an_ensemble_trains_nothing(finished):
    made = read(finished / "results" / "translations" / "test" / "both.all.provenance.json")
    assert [model["name"] for model in made["models"]] == ["rnnencdec-50", "rnnsearch-50"]
    assert (made["average"], made["settings"]["beam"]) == ("log_probability", 3)
    assert (
        not (finished / "models" / "both").exists() and not (finished / "results" / "runs" / "both").exists()
    )


# --- what is made again


def test_a_second_run_has_nothing_to_do(finished):
    result = run(run_command(finished))
    assert result.returncode == 0
    assert result.stdout.count(NOTHING) == 1
    assert "RNNsearch-50*" in result.stdout


FASTER = "{training: {learning_rate: 0.5}}"
UNUSED = "corpora={europarl-v7: {shards: 3}, new: {grammar: {split: dev, pairs: 5}}}"
SCHEDULED = {
    "a comment, a mirror, an unused corpus": (
        ["mirrors=[/elsewhere]", "resources={train_hours: 9}", UNUSED],
        {},
    ),
    "training of one model": (
        ["models={rnnencdec-50: {training: {learning_rate: 0.5}}}"],
        {"train": 1, "tables": 1},
    ),
    "a model and its continuation": (
        [f"models={{rnnsearch-50: {FASTER}, rnnsearch-50-star: {FASTER}}}"],
        {"train": 4, "tables": 1},
    ),
    "another test set": (
        ["use={test: [other]}", "corpora={other: {grammar: {split: test, pairs: 25}}}"],
        {"prepare": 1, "binarize": 0, "tables": 1},
    ),
    "a seed more": (["models={rnnencdec-50: {seeds: [1, 2]}}"], {"train": 1, "translate": 2, "tables": 1}),
    "a figure's display": (["artifacts={figure2_window: 5}"], {"tables": 1}),
    "a wider search": (["decoding={beam: 3}"], {"model_card": 5, "package_settings": 1, "ro_crate": 1}),
}
"""Settings, and how many jobs of these rules they call for: none that trains or translates but for those named."""


@pytest.mark.parametrize("change", SCHEDULED)
def test_a_change_schedules_exactly_what_it_concerns(copy, change):
    settings, expected = SCHEDULED[change]
    with (copy / "config.yaml").open("a", encoding="utf-8") as file:
        file.write("\n# a comment\n")
    output = planned(copy, *settings)
    counts = {rule: len(scheduled(output, rule)) for rule in {"train": 0, **expected}}
    assert counts == {"train": 0, **expected}, output
    if not expected:
        assert NOTHING in output, output


def test_what_no_weight_follows_from_trains_nothing_again_and_tables_have_the_new_name(copy):
    def trainings():
        return {*copy.glob("store/trainings/*/finished-*")}

    before = trainings()
    settings = ["models={rnnsearch-50: {label: Mine}}", "training={log_every: 7, checkpoint_every: 9}"]
    result = run(run_command(copy, "--config", *settings))
    assert result.returncode == 0, result.stdout
    assert trainings() == before
    assert "| Mine" in (copy / "results" / "table1.md").read_text(encoding="utf-8")
    assert NOTHING in planned(copy, *settings)
    status = nmt("status", copy).stdout
    assert "outdated" not in status and "done" in status
    verified = nmt("verify", copy / "results")
    assert verified.returncode == 0 and "not in the record" not in verified.stdout, verified.stdout


def test_another_place_of_the_repository_schedules_nothing(copy, tmp_path):
    for name in ("workflow", "nmt", "pipeline"):
        shutil.copytree(ROOT / name, tmp_path / "repository" / name)
    shutil.copy(ROOT / "config.yaml", tmp_path / "repository")
    command = snakemake_command(copy, "-n")
    command[command.index(str(ROOT / "Snakefile"))] = shutil.copy(ROOT / "Snakefile", tmp_path / "repository")
    result = run(command)
    assert result.returncode == 0, result.stdout
    assert not any(scheduled(result.stdout, rule) for rule in ("train", "translate"))
