"""Names of runs: the first seed's go by the models' names, and a model goes on from the same seed's run."""

from pathlib import Path

from pipeline.config.runs import collect_runs
from tests.experiments import paper

PAIR = ["rnnsearch-50", "rnnsearch-50-star"]


def describe_runs(folder: Path, overlay: str) -> dict[str, tuple[str, int, str | None]]:
    runs = collect_runs(paper(folder, overlay), PAIR)
    assert all(name == run.name for name, run in runs.items())
    return {run.name: (run.model, run.seed, run.base) for run in runs.values()}


def test_without_seeds_a_model_is_one_run(tmp_path: Path) -> None:
    expected = {
        "rnnsearch-50": ("rnnsearch-50", 7, None),
        "rnnsearch-50-star": ("rnnsearch-50-star", 7, "rnnsearch-50"),
    }
    assert describe_runs(tmp_path, "seed: 7\n") == expected


def test_model_with_its_own_seeds(tmp_path: Path) -> None:
    overlay = "seeds: [4, 2]\nmodels: {rnnsearch-50-star: {seeds: [2]}}\n"
    assert describe_runs(tmp_path, overlay) == {
        "rnnsearch-50": ("rnnsearch-50", 4, None),
        "rnnsearch-50.seed-2": ("rnnsearch-50", 2, None),
        "rnnsearch-50-star": ("rnnsearch-50-star", 2, "rnnsearch-50.seed-2"),
    }
