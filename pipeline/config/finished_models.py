"""Finished models: those of the experiment in `data_from`, and those that a run would delete.

Models of the other experiment with the same text and settings are used where they lie, so that nothing is trained
twice. A run would delete its own outdated models, since Snakemake removes a job's outputs before the job starts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmt.errors import UserError
from nmt.io.files import read_json
from nmt.settings.base import differences, flatten, read
from nmt.settings.training import ModelRun
from nmt.store.model_folder import MODEL, RECORDS, SETTINGS, SUMMARY, WEIGHTS
from pipeline.config.runs import Run, run_settings, runs_of
from pipeline.config.schema import Config


def shared_models(config: Config, runs: Mapping[str, Run], folder: Path) -> dict[str, str]:
    """Return folders of the other experiment's models by the runs of this one, in `folder`, that need no training.

    A run that has begun here stays here, and so does one that another run in use continues from here.
    """
    if config.data_from is None:
        return {}
    found = {}
    for name, run in runs.items():
        theirs = Path(config.data_from, "models", name)
        begun = any((folder / part / name).exists() for part in ("models", "state"))
        if not begun and _fits(folder / theirs, config, run, folder / config.data_from / "data"):
            found[name] = str(theirs)
    bases = {run.base for run in runs_of(config, config.use.models).values() if run.name not in found}
    return {name: path for name, path in found.items() if name not in bases}


def _fits(model: Path, config: Config, run: Run, data: Path) -> bool:
    """Return whether a folder holds the run's model, trained on the text as it is now; labels may differ."""
    if not all((model / name).is_file() for name in (*MODEL, *RECORDS)):
        return False
    try:
        had = read(ModelRun, model / SETTINGS)
    except UserError:
        return False
    if had.outcome() != run_settings(config, run).outcome():
        return False
    return _read(model / SUMMARY).get("data") == _text(data / "binary")


def in_danger(config: Config, runs: Sequence[str], rules: Collection[str], folder: Path) -> list[str]:
    """Return a line for each finished model that a run would delete without being able to continue it.

    Args:
        config: the run's settings.
        runs: those about to be trained.
        rules: those of the workflow that have jobs due.
        folder: of the experiment.
    """
    all_runs = runs_of(config, list(config.models))
    sentences = Path(config.data_from or "", "data", "binary")
    found = {}
    for run in runs:
        phrases = config.moses.enabled and all_runs[run].model == config.moses.phrase_model
        text = Path("moses", "phrases") if phrases else sentences
        due = ("moses_phrase_ids" if phrases else "binarize") in rules
        found[run] = _danger(folder, run, run_settings(config, all_runs[run]), text, due)
    return [
        f"models/{run}: finished, {problem}; set back what was changed, or move models/{run} and state/{run} away"
        for run, problem in found.items()
        if problem
    ]


def _danger(folder: Path, run: str, wanted: ModelRun, text: Path, text_is_due: bool) -> str | None:
    model = folder / "models" / run
    continues = any((folder / "state" / run).glob("checkpoint-*"))
    finished = (model / SUMMARY).is_file()  # written last: a training may be killed while it writes its model
    if not (model / WEIGHTS).is_file() or (continues and not finished):
        return None
    try:
        had = read(ModelRun, model / SETTINGS)
    except UserError:
        return f"but its {SETTINGS} cannot be read"
    if changed := differences(flatten(had.fingerprint_fields()), flatten(wanted.fingerprint_fields())):
        return f"but with other settings: {changed}"
    if text_is_due:
        return "and its text is to be made anew (to make that alone: the target `data`)"
    if _read(model / SUMMARY).get("data") != _text(folder / text):
        return f"but on other text than {text} holds now"
    if not continues:
        return f"and without state/{run} it would be trained from the start"
    return None


def _text(binary: Path) -> dict[str, Any]:
    """Return the checksums of the text as it is now, under the names that a model's summary uses."""
    train, dev = (_read(binary / part / "meta.json") for part in ("train", "dev"))
    return {
        "train": train.get("sha256"),
        "dev": dev.get("sha256"),
        "source_vocabulary": train.get("source_vocabulary_sha256"),
        "target_vocabulary": train.get("target_vocabulary_sha256"),
    }


def _read(path: Path) -> dict[str, Any]:
    """Return what a file of JSON says; nothing where it says nothing that can be read."""
    try:
        values = read_json(path)
    except UserError:
        return {}
    return values if isinstance(values, dict) else {}
