"""experiments/groundhog: the paper as its authors ran it, and nothing that the paper's own run already does."""

from typing import Any

import pytest
import torch

from nmt.data.vocabulary import SPECIALS, compute_size_without_specials
from nmt.model import model_types
from pipeline.config.layers import find_layers, load_config
from pipeline.config.schema import Config
from tests.running import ROOT

FOLDER = ROOT / "experiments" / "groundhog"
GROUNDHOG = load_config(find_layers(FOLDER))
PAPER = load_config(find_layers(ROOT))


def value(config: Config, key: str) -> Any:
    """The setting at a key, None for a name that a catalogue lacks."""
    found: Any = config
    for part in key.split("/"):
        found = found.get(part) if isinstance(found, dict) else getattr(found, part)
    return found


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("rnnencdec-30", 72_487_101),
        ("rnnsearch-30", 84_349_101),
        ("rnnencdec-50", 72_487_101),
        ("rnnsearch-50", 84_349_101),
        ("rnnsearch-50-star", 84_349_101),
    ],
)
def test_number_of_parameters_is_the_authors(model, parameters):
    entry = GROUNDHOG.models[model]
    text = GROUNDHOG.vocabulary
    ids = len(SPECIALS) + compute_size_without_specials(text.words, text.specials_included)
    with torch.device("meta"):
        made = model_types.build_model(entry.model_type, entry.architecture, (ids, ids))
    assert sum(weight.numel() for weight in made.parameters()) == parameters


# What groundhog.md and the paper's appendix say of the authors' runs, whether the paper's own run does the same or not.
AUTHORS = {
    "vocabulary/words": 30_000,
    "vocabulary/specials_included": True,
    "architecture/step_order": "groundhog",
    "architecture/output_layer": "factored",
    "architecture/source_eos": True,
    "architecture/unused_ids": 1,
    "training/optimizer": "adadelta",
    "training/rho": 0.95,
    "training/epsilon": 1e-6,
    "training/learning_rate": 1.0,
    "training/clip_norm": 1.0,
    "training/cost": "sum",
    "training/not_finite": "groundhog",
    "training/precision": "fp32",
    "training/batch_size": 80,
    "training/batches_per_sort": 20,
    "models/rnnencdec-30/training/batches_per_sort": 10,
    "models/rnnencdec-50/training/batches_per_sort": 20,
    "tokenization/escape": True,
    "tokenization/split_hyphens": False,
    "selection/lm_vocabulary": "in_domain",
    "selection/lm_vocabulary_min_count": 1,
    "cleaning/max_words": None,
    "cleaning/max_ratio": None,
    "decoding/beam": 10,
    "decoding/normalize_by_length": False,
    "decoding/min_length": "half",
    "decoding/max_length_factor": 3,
    "decoding/if_no_eos": "retry",
    "decoding/unknown": "allowed",
}


@pytest.mark.parametrize("key", AUTHORS)
def test_settings_are_the_authors(key):
    assert value(GROUNDHOG, key) == AUTHORS[key]


def test_news_test_sets_are_training_text():
    more = ["news-test2008", "newstest2009", "newstest2010", "newstest2011"]
    assert GROUNDHOG.use.train == [*PAPER.use.train, *more]
    assert not set(PAPER.use.train) & set(more)
    assert (GROUNDHOG.use.dev, GROUNDHOG.use.test) == (PAPER.use.dev, PAPER.use.test)


def test_selection_keeps_348_million_words():
    """348M French words (Sec. 4.1): the corpora that were selected from, and those kept whole."""
    kept = GROUNDHOG.selection.corpus_words
    whole = set(GROUNDHOG.use.train) - set(kept)
    assert whole >= {"news-commentary-v9", "commoncrawl", "news-test2008", "newstest2011"}
    assert sum(kept.values()) + 5_500_000 + 90_000_000 == pytest.approx(348_000_000, rel=0.001)
    assert GROUNDHOG.selection.target_words > 100_000_000, "the budget of the others leaves them whole"
