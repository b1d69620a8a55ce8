"""The files that a training reads. This module does not need PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nmt.data.meta import data_checksums, read_meta
from nmt.errors import UserError
from nmt.settings.base import FlatSettings
from nmt.settings.training import ModelRun
from nmt.store.model_folder import initial_weights_checksum, read_model_key
from nmt.store.training_store import collect_training_inputs


@dataclass(frozen=True)
class TrainingFiles:
    """The files that a training reads.

    train, dev: folders of binarized text.
    source_vocabulary, target_vocabulary: files of the vocabularies.
    continue_from: folder of the finished model that the training continues.
    init_from: folder of the model whose weights are the initial ones.
    """

    train: Path
    dev: Path
    source_vocabulary: Path
    target_vocabulary: Path
    continue_from: Path | None = None
    init_from: Path | None = None

    @property
    def base_key(self) -> str | None:
        """The key of the finished model that the training continues."""
        return None if self.continue_from is None else read_model_key(self.continue_from)

    def check_agreement(self, run: ModelRun) -> None:
        """Raise a UserError unless the files agree with the settings on the model with which the training begins."""
        # if the settings name a model to continue, its folder must be given, and otherwise not
        if (run.continue_from is None) != (self.continue_from is None):
            raise UserError(
                f"--continue-from: settings say {run.continue_from!r}, the option says {self.continue_from}"
            )
        if self.continue_from and self.init_from:
            raise UserError(
                "--continue-from, --init-from: a training begins with one model; give one of them"
            )

    def collect_inputs(self, run: ModelRun) -> FlatSettings:
        """Return the settings and checksums that the weights of a training of these files depend on."""
        data = data_checksums(read_meta(self.train), read_meta(self.dev))
        data |= initial_weights_checksum(self.init_from)
        return collect_training_inputs(run, data, self.base_key)
