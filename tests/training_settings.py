"""Settings of small training runs and searches, for tests."""

from nmt.settings.decoding import Decoding
from nmt.settings.model_types import MODEL_TYPES, ModelTypeName
from nmt.settings.paper import PAPER
from nmt.settings.training import ModelRun, Training
from tests.small_models import small_architecture


def training(**changes: object) -> Training:
    """The paper's optimizer on tiny batches."""
    settings = {
        "batch_size": 4,
        "batches_per_sort": 3,
        "updates": 30,
        "validate_every": 7,
        "checkpoint_every": 5,
        "log_every": 4,
        "train_sample": 10,
        "device": "cpu",
        "threads": 1,
    }
    return Training.model_validate(PAPER["run"]["training"] | settings | changes)


def model_run(
    continue_from: str | None = None, model_type: ModelTypeName = "rnnsearch", **changes: object
) -> ModelRun:
    """A small model; keyword arguments change its training."""
    known = MODEL_TYPES[model_type].architecture.model_fields
    starts = {key: 0.1 for key in ("init_std", "alignment_init_std") if key in known}
    return ModelRun(
        model="small",
        label="Small",
        model_type=model_type,
        max_words=12,
        seed=5,
        continue_from=continue_from,
        architecture=small_architecture(model_type, **starts),
        training=training(**changes),
    )


def decoding(**changes: object) -> Decoding:
    """A search for translations that are at most as long as their source."""
    settings = {
        "min_length": "none",
        "max_length_factor": 1,
        "if_no_eos": "best",
        "n_best": 1,
        "batch_size": 8,
        "device": "cpu",
        "threads": 1,
    }
    return Decoding.model_validate(PAPER["text"]["decoding"] | settings | changes)
