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
    {"update": 50, "epoch": 0.5, "train_nll": 9.0, "seconds": 20.0},
    {"update": 50, "epoch": 0.5, "dev_nll": 8.0, "seconds": 20.0},
    {"update": 100, "epoch": 1.0, "train_nll": 7.0, "seconds": 45.0},
    {"update": 100, "epoch": 1.0, "dev_nll": 8.5, "seconds": 45.0},
]
SUMMARY = {"updates": 100, "epochs": 1.0, "hours": 47 / 3600, "dev_nll": 8.0, "best_update": 50}


def make_inputs(folder: Path, **changes: dict[str, Any]) -> Any:
    """A run and another that continues it, with some values of their summaries altered."""
    package = ReplicationPackage(folder)
    for run, base in (("a", None), ("b", "a")):
        settings = model_run(continue_from=base).model_copy(update={"model": run})
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
    return SimpleNamespace(package=package, runs=["a", "b"])


def test_runs_are_consistent(tmp_path: Path) -> None:
    """A run that continues another one and gets no better keeps its weights."""
    assert not list(find_inconsistent_runs(make_inputs(tmp_path)))
    assert not list(find_inconsistent_runs(make_inputs(tmp_path, b={"weights": "a" * 64})))


@pytest.mark.parametrize(
    "change",
    [
        {"hours": 0.001},
        {"hours": 5.0},
        {"dev_nll": 1.0},
        {"dev_nll": 8.5},
        {"updates": 200},
        {"epochs": 2.0},
        {"hidden_units": 1000},
        {"optimizer": "adam"},
    ],
    ids=str,
)
def test_altered_summary_is_found(tmp_path: Path, change: Any) -> None:
    (line,) = find_inconsistent_runs(make_inputs(tmp_path, b=change))
    assert str(tmp_path / "runs" / "b" / "summary.json") in line


@pytest.mark.parametrize("change", [{"seed": 2}, {"continue_from": None}], ids=str)
def test_weights_of_another_training_are_found(tmp_path: Path, change: Any) -> None:
    _, line = find_inconsistent_runs(make_inputs(tmp_path, b={"weights": "a" * 64} | change))
    assert "the same weights" in line
