"""What a training run was made from, so that a state folder is never gone on with under other settings or data."""

from __future__ import annotations

from typing import Any

from nmt.config.schema import FREE, ModelRun
from nmt.data.bitext import Bitext

Fingerprint = dict[str, Any]


def fingerprint(run: ModelRun, train: Bitext, dev: Bitext) -> Fingerprint:
    """Everything that decides the weights, as flat dotted keys."""
    settings = run.model_dump(exclude={"model", "label", "sample_seed", "training"})
    training = run.training.model_dump(exclude=set(FREE))
    data = {
        "train": train.meta["sha256"],
        "dev": dev.meta["sha256"],
        "source_vocabulary": train.meta["source_vocabulary_sha256"],
        "target_vocabulary": train.meta["target_vocabulary_sha256"],
    }
    return flatten({"settings": settings | {"training": training}, "data": data})


def flatten(tree: dict[str, Any], prefix: str = "") -> Fingerprint:
    """{"a": {"b": 1}} -> {"a.b": 1}."""
    flat: Fingerprint = {}
    for key, value in tree.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def differences(was: Fingerprint, now: Fingerprint, ignore: frozenset[str] = frozenset()) -> str:
    """What changed, in words; empty if nothing did."""
    keys = sorted(
        key for key in was.keys() | now.keys() if was.get(key) != now.get(key) and key not in ignore
    )
    return ", ".join(f"{key} was {was.get(key)!r} and is now {now.get(key)!r}" for key in keys)
