"""The fingerprint of a training run, so that no run resumes from a state with other settings or data."""

from __future__ import annotations

from nmt.data.bitext import Bitext
from nmt.settings.base import Flat, flatten
from nmt.settings.training import ModelRun

Fingerprint = Flat


def fingerprint(run: ModelRun, train: Bitext, dev: Bitext) -> Fingerprint:
    """Return everything that determines the weights, with flat dotted keys."""
    data = {
        "train": train.meta.sha256,
        "dev": dev.meta.sha256,
        "source_vocabulary": train.meta.source_vocabulary_sha256,
        "target_vocabulary": train.meta.target_vocabulary_sha256,
    }
    return flatten({"settings": run.deciding(), "data": data})
