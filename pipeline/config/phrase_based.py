"""Settings of the phrase-based system that the models are compared with."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nmt.settings.base import Identifier, Names, PositiveInt, Settings, Threads, Width, Words
from pipeline.config.catalogue import FilePath


class PhraseBased(Settings):
    """Moses on the same text. The paper only says that it had additional monolingual text (Sec. 5.1)."""

    enabled: bool
    max_words: Words
    """Longest sentence that phrases are taken from."""
    alignment_block: PositiveInt
    """Pairs that are aligned together."""
    symmetrization: Literal[
        "grow-diag-final-and", "grow-diag-final", "grow-diag", "grow", "union", "intersect"
    ]
    max_phrase_words: Annotated[int, Field(ge=1, le=20)]
    reordering: Literal["msd-bidirectional-fe", "msd-bidirectional-f"]
    distortion_limit: Annotated[int, Field(ge=-1, le=1000)]
    lm_order: Annotated[int, Field(ge=2, le=6)]
    lm_text: list[FilePath]
    """Token files of the target language besides the training text."""
    lm_corpora: Names = Field(default=[], exclude_if=lambda corpora: not corpora)
    """Corpora of the catalogue whose target side is such text."""
    lm_words: PositiveInt | None = Field(default=None, exclude_if=lambda words: words is None)
    """Limit for the words of all this text; None: no limit."""
    phrase_model: Identifier | None = Field(default=None, exclude_if=lambda model: model is None)
    """A model of the catalogue that learns the phrase table's pairs and scores them in a second system."""
    cube_pruning: Annotated[int, Field(ge=1, le=1_000_000)] | None
    """Pops of cube pruning; None: Moses' stack decoding."""
    tuner: Literal["mert", "mira"]
    tuning_rounds: Annotated[int, Field(ge=1, le=1000)]
    tuning_n_best: Width
    tuning_sentences: PositiveInt | None = None
    """Sentences of the development text that the weights are tuned on; None: all."""
    n_best: Annotated[int, Field(ge=1, le=100_000)]
    n_best_factor: Annotated[int, Field(ge=1, le=1000)]
    """Hypotheses considered per wanted entry. More of them give more different entries."""
    threads: Threads
