"""What a package says twice: summaries beside histories, weights of one run beside those of another."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.results.evidence import find_inconsistent_runs
from pipeline.results.package import ReplicationPackage
from tests.training_settings import model_run

HISTORY = [
    {"update": 0, "epoch": 0.0, "dev_nll": 7.5, "seconds": 0.0},
    {"update": 50, "epoch": 0.5, "train_nll": 9.0, "seconds": 20.0},
    {"update": 50, "epoch": 0.5, "dev_nll": 8.0, "seconds": 20.0},
    {"update": 100, "epoch": 1.0, "train_nll": 7.0, "seconds": 45.0},
    {"update": 100, "epoch": 1.0, "dev_nll": 8.5, "seconds": 45.0},
]
SUMMARY = {
    "updates": 100,
    "epochs": 1.0,
    "hours": 47 / 3600,
    "dev_nll": 8.0,
    "best_update": 50,
    "stopped_by": "updates",
    "data": {"train": "1"},
}
SAME_WEIGHTS = {"weights": "a" * 64}


def make_inputs(
    folder: Path, training: dict[str, Any] | None = None, base: str | None = "a", **changes: dict[str, Any]
) -> Any:
    """A run and another that continues it, with some values of their summaries altered.

    training: differences of the second run's settings. base: the model that it continues.
    """
    package = ReplicationPackage(folder)
    for run, settings in (
        ("a", model_run(updates=100)),
        ("b", model_run(base, **{"updates": 100} | (training or {}))),
    ):
        settings = settings.model_copy(update={"model": run})
        values = SUMMARY | settings.summary_fields() | {"weights": run * 64}
        files = {
            "summary.json": json.dumps(values | changes.get(run, {})),
            "settings.json": settings.model_dump_json(),
            "history.jsonl": "".join(json.dumps(line) + "\n" for line in HISTORY),
        }
        for name, text in files.items():
            path = package.run_file(run, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return SimpleNamespace(run_file=package.run_file, runs=["a", "b"])


def test_runs_are_consistent(tmp_path: Path) -> None:
    """A run that continues another one and gets no better keeps its weights."""
    assert not list(find_inconsistent_runs(make_inputs(tmp_path)))
    assert not list(find_inconsistent_runs(make_inputs(tmp_path, b=SAME_WEIGHTS)))


def test_two_models_keep_their_initial_weights(tmp_path: Path) -> None:
    """Fine-tuning with two learning rates has improved on neither."""
    kept = {"best_update": 0, "dev_nll": 7.5, "weights": "a" * 64, "data": {"initial_weights": "1"}}
    assert not list(
        find_inconsistent_runs(make_inputs(tmp_path, {"learning_rate": 0.5}, None, a=kept, b=kept))
    )


@pytest.mark.parametrize(
    ("training", "change"),
    [({"matmul_library": "torch"}, {}), ({"updates": 200, "patience": 3}, {"stopped_by": "development NLL"})],
    ids=["computing", "end"],
)
def test_two_models_of_one_training(tmp_path: Path, training: dict[str, Any], change: dict[str, Any]) -> None:
    """They are computed in another way, or early stopping ends both after the same update."""
    inputs = make_inputs(tmp_path, training, base=None, b=SAME_WEIGHTS | change)
    assert not list(find_inconsistent_runs(inputs))


@pytest.mark.parametrize(
    "change",
    [
        {"hours": 0.001},
        {"hours": 5.0},
        {"dev_nll": 1.0},
        {"dev_nll": 8.5},
        {"updates": 200},
        {"stopped_by": "epochs"},
        {"epochs": 2.0},
        {"hidden_units": 1000},
        {"optimizer": "adam"},
    ],
    ids=str,
)
def test_altered_summary_is_found(tmp_path: Path, change: Any) -> None:
    line, *_ = find_inconsistent_runs(make_inputs(tmp_path, b=change))
    assert str(tmp_path / "runs" / "b" / "summary.json") in line


@pytest.mark.parametrize(
    ("training", "base", "change"),
    [
        ({"learning_rate": 0.5}, "a", {}),
        ({}, "c", {}),
        ({}, "a", {"best_update": 100, "dev_nll": 8.5}),
        ({}, None, {"data": {"train": "2"}}),
    ],
    ids=["settings", "base", "kept update", "text"],
)
def test_weights_of_another_training_are_found(tmp_path: Path, training: Any, base: Any, change: Any) -> None:
    (line,) = find_inconsistent_runs(make_inputs(tmp_path, training, base, b=SAME_WEIGHTS | change))
    assert "the same weights" in line
