"""Models that the experiment which `data_from` names has trained on the same text with the same settings.

They are used where they lie: nothing is trained twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmt.config.runs import Run, run_settings
from nmt.config.schema import Config

FILES = ("model.safetensors", "summary.json", "history.jsonl", "settings.json", "source.tsv", "target.tsv")
"""Of a model's folder: what is read of a finished model."""


def shared_models(config: Config, runs: Mapping[str, Run], folder: Path) -> dict[str, str]:
    """Folders of the other experiment's models by the runs of this one, in `folder`, that need no training.

    A run that has begun here stays here, and so does one that another run here continues from.
    """
    if config.data_from is None:
        return {}
    found = {}
    for name, run in runs.items():
        theirs = Path(config.data_from, "models", name)
        begun = any((folder / part / name).exists() for part in ("models", "state"))
        if not begun and _fits(folder / theirs, config, run, folder / config.data_from / "data"):
            found[name] = str(theirs)
    bases = {run.base for run in runs.values() if run.name not in found}
    return {name: path for name, path in found.items() if name not in bases}


def _fits(model: Path, config: Config, run: Run, data: Path) -> bool:
    """Whether a folder holds the run's model, trained on the text as it is now; labels may differ."""
    if not all((model / name).is_file() for name in FILES):
        return False
    wanted = json.loads(run_settings(config, run).model_dump_json())
    if {**_read(model / "settings.json"), "label": ""} != {**wanted, "label": ""}:
        return False
    trained = _read(model / "summary.json").get("data")
    train, dev = (_read(data / "binary" / part / "meta.json") for part in ("train", "dev"))
    now = {
        "train": train.get("sha256"),
        "dev": dev.get("sha256"),
        "source_vocabulary": train.get("source_vocabulary_sha256"),
        "target_vocabulary": train.get("target_vocabulary_sha256"),
    }
    return bool(train) and trained == now


def _read(path: Path) -> dict[str, Any]:
    """What a file of JSON says; nothing where it says nothing that can be read."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
