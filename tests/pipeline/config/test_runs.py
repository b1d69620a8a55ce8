"""Names of runs: the first seed's go by the models' names, and a model goes on from the same seed's run."""

from __future__ import annotations

from pathlib import Path

from pipeline.config.runs import runs_of
from tests.experiments import paper
from tests.messages import refused

PAIR = ["rnnsearch-50", "rnnsearch-50-star"]


def names(folder: Path, overlay: str) -> dict[str, tuple[str, int, str | None]]:
    runs = runs_of(paper(folder, overlay), PAIR)
    assert all(name == run.name for name, run in runs.items())
    return {run.name: (run.model, run.seed, run.base) for run in runs.values()}


def test_without_seeds_every_model_is_one_run_by_its_own_name(tmp_path: Path) -> None:
    expected = {
        "rnnsearch-50": ("rnnsearch-50", 7, None),
        "rnnsearch-50-star": ("rnnsearch-50-star", 7, "rnnsearch-50"),
    }
    assert names(tmp_path, "seed: 7\n") == expected


def test_the_first_seed_keeps_the_plain_name_and_stars_go_on_from_their_seed(tmp_path: Path) -> None:
    assert names(tmp_path, "seeds: [4, 2]\n") == {
        "rnnsearch-50": ("rnnsearch-50", 4, None),
        "rnnsearch-50.seed-2": ("rnnsearch-50", 2, None),
        "rnnsearch-50-star": ("rnnsearch-50-star", 4, "rnnsearch-50"),
        "rnnsearch-50-star.seed-2": ("rnnsearch-50-star", 2, "rnnsearch-50.seed-2"),
    }


def test_a_model_may_have_seeds_of_its_own(tmp_path: Path) -> None:
    overlay = "seeds: [4, 2]\nmodels: {rnnsearch-50-star: {seeds: [2]}}\n"
    assert names(tmp_path, overlay) == {
        "rnnsearch-50": ("rnnsearch-50", 4, None),
        "rnnsearch-50.seed-2": ("rnnsearch-50", 2, None),
        "rnnsearch-50-star": ("rnnsearch-50-star", 2, "rnnsearch-50.seed-2"),
    }


def test_a_model_cannot_go_on_from_a_seed_that_its_base_lacks(tmp_path: Path) -> None:
    with refused():
        paper(tmp_path, "models: {rnnsearch-50-star: {seeds: [1, 3]}}\n")
    with refused():
        paper(tmp_path, "seeds: [1, 2]\nmodels: {rnnsearch-50: {seeds: [1]}}\n")


def test_seeds_are_different_and_at_least_one(tmp_path: Path) -> None:
    with refused():
        paper(tmp_path, "seeds: [1, 2, 1]\n")
    with refused():
        paper(tmp_path, "models: {rnnsearch-30: {seeds: [5, 5]}}\n")
    with refused():
        paper(tmp_path, "seeds: []\n")
    with refused():
        paper(tmp_path, "seeds: [one]\n")


def test_no_model_has_the_name_of_a_run(tmp_path: Path) -> None:
    model = "{label: Mine, family: rnnsearch, max_words: 50}"
    with refused():
        paper(tmp_path, f"models: {{rnnsearch-50.seed-2: {model}}}\n")
    assert paper(tmp_path, f"models: {{rnnsearch-50.seed-two: {model}}}\n")
