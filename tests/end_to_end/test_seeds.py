"""Two seeds and a comparison, from nothing to the tables: every run is there, and goes on from its own seed's."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.running import make_demo, nmt, run, run_command

OVERLAY = """
seeds: [3, 8]
use: {models: [rnnsearch-50, rnnsearch-50-star]}
artifacts:
  figure2_models: [rnnsearch-50, rnnsearch-50-star]
  table3_models: [rnnsearch-50]
  ablations: {rnnsearch-50: [rnnsearch-50-star]}
"""
RUNS = {
    "rnnsearch-50": ("rnnsearch-50", 3),
    "rnnsearch-50.seed-8": ("rnnsearch-50", 8),
    "rnnsearch-50-star": ("rnnsearch-50-star", 3),
    "rnnsearch-50-star.seed-8": ("rnnsearch-50-star", 8),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A finished run through workflow/run.py, and what it printed."""
    folder = tmp_path_factory.mktemp("seeds")
    overlay = make_demo(folder)
    seeds = folder / "seeds.yaml"
    seeds.write_text(OVERLAY, encoding="utf-8")
    result = run(run_command(folder, "--configfile", str(overlay), str(seeds)))
    assert result.returncode == 0, result.stdout
    return folder, result.stdout


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def table(folder: Path, name: str) -> dict[str, dict[str, str]]:
    with (folder / "results" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def test_every_run_says_which_model_and_seed_it_is(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    assert sorted(path.name for path in (folder / "models").iterdir()) == sorted(RUNS)
    for name, (model, seed) in RUNS.items():
        for file in (f"models/{name}/summary.json", f"models/{name}/settings.json", f"scores/{name}.json"):
            value = read(folder / file)
            assert (value["model"], value["seed"]) == (model, seed), file
        assert read(folder / f"results/alignment_error_rate/{name}.json")["model"] == name


def test_a_star_goes_on_from_its_own_seed(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    nlls = {}
    for name in RUNS:
        text = (folder / "models" / name / "history.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.split("\n") if line]
        nlls[name] = [(line["update"], line["dev_nll"]) for line in lines if "dev_nll" in line]
    # what goes on begins with a validation of the weights with which the other ended
    for later in ("", ".seed-8"):
        assert nlls[f"rnnsearch-50-star{later}"][0] == nlls[f"rnnsearch-50{later}"][-1]
    assert nlls["rnnsearch-50"] != nlls["rnnsearch-50.seed-8"]


def test_tables_carry_the_means_of_both_seeds(finished: tuple[Path, str]) -> None:
    folder, output = finished
    trained = table(folder, "table2")
    assert list(trained) == ["rnnsearch-50", "rnnsearch-50-star"]
    for model, row in trained.items():
        nlls = [
            read(folder / f"models/{name}/summary.json")["dev_nll"] for name in RUNS if RUNS[name][0] == model
        ]
        assert float(row["dev_nll"]) == pytest.approx(statistics.mean(nlls), abs=1e-4)
        assert float(row["dev_nll_std"]) == pytest.approx(statistics.stdev(nlls), abs=1e-4)
        assert (row["seeds"], row["seed"]) == ("2", "3 8")
    assert {row["seeds"] for row in table(folder, "table1").values()} == {"2"}
    assert "2 seeds (RNNsearch-50, RNNsearch-50*)" in " ".join(output.split())
    compared = read(folder / "results" / "comparison.json")["all"]["systems"]
    assert all("chrf_std" in system for system in compared.values()) and len(compared) == 2
    for model, row in table(folder, "table1").items():
        bleu = [read(folder / f"scores/{name}.json")["bleu_all"] for name in RUNS if RUNS[name][0] == model]
        assert compared[model]["bleu"] == pytest.approx(statistics.mean(bleu), abs=1e-5)
        assert compared[model]["runs"] == 2
        bounds = [float(row[f"{side}_all"]) for side in ("low", "high")]
        assert bounds == pytest.approx([compared[model]["low"], compared[model]["high"]], abs=0.006)
        assert bounds[0] <= statistics.mean(bleu) + 0.006 and bounds[1] >= statistics.mean(bleu) - 0.006


def test_results_of_several_seeds_are_made_again_from_their_package(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    verified = nmt("verify", folder / "results")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "files of tables made again identically" in verified.stdout


def test_ablations_say_what_differs(finished: tuple[Path, str]) -> None:
    folder, output = finished
    baseline, star = table(folder, "ablations").values()
    assert baseline["differs"] == ""
    assert star["differs"].split(", ") == [
        "continue_from: rnnsearch-50",
        "training.patience: 10",
        "training.updates: 20",
    ]
    difference = float(star["dev_nll"]) - float(baseline["dev_nll"])
    assert float(star["dev_nll_difference"]) == pytest.approx(difference, abs=2e-4)
    assert (folder / "results/ablations.md").read_text(encoding="utf-8").split("\n")[0] in output
