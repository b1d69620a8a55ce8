"""Settings of the phrase-based system that the models are compared with."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nmt.settings.base import BeamSize, Identifier, Names, PositiveInt, Settings, Threads, TokenCount
from pipeline.config.catalogue import FilePath, newer_key


class PhraseBased(Settings):
    """Moses on the same text. The paper only says that it had additional monolingual text (Sec. 5.1)."""

    enabled: bool
    """Train, tune and measure it: `make moses EXPERIMENT=...`. Its programs are taken from the PATH, or built once."""
    max_words: TokenCount
    """Longest sentence, in words, from which phrases are taken."""
    alignment_block: PositiveInt
    """Number of pairs that are aligned together (eflomal). More pairs need more memory. Later blocks start from what
    the first block has learned."""
    symmetrization: Literal[
        "grow-diag-final-and", "grow-diag-final", "grow-diag", "grow", "union", "intersect"
    ]
    """How the alignments of both directions are joined."""
    max_phrase_words: Annotated[int, Field(ge=1, le=20)]
    """Longest phrase, in words."""
    reordering: Literal["msd-bidirectional-fe", "msd-bidirectional-f"]
    """Type of the lexical reordering model."""
    distortion_limit: Annotated[int, Field(ge=-1, le=1000)]
    """Longest jump in the source, in words. -1: no limit."""
    lm_order: Annotated[int, Field(ge=2, le=6)]
    """Words in the longest n-gram of the language model. 5: Moses' baseline. 4: Cho et al. (2014b)."""
    lm_text: list[FilePath]
    """Files of tokens (plain, .gz or .zst, as `nmt data tokenize` writes them) for the language model, besides the
    target side of the training text."""
    lm_corpora: Names = newer_key([])
    """Corpora of the catalogue for the language model. Their target side is fetched and tokenized. A corpus of one
    language names the same file as source and target (experiments/sutskever2014/moses.yaml)."""
    lm_words: PositiveInt | None = newer_key(None)
    """Most words of all this text, in the order in which it is named. null: no limit."""
    phrase_model: Identifier | None = newer_key(None)
    """A model of the catalogue `models` that is not in use. It is trained on the pairs of the phrase table, each pair
    once. A second system is then tuned and measured, whose phrase table has p(target phrase given source phrase) as one
    more score (Cho et al., 2014a). null: there is no such system."""
    cube_pruning: Annotated[int, Field(ge=1, le=1_000_000)] | None
    """Search by cube pruning with this many pops, in tuning and in decoding. null: stack decoding, which is slower and
    a little better."""
    tuner: Literal["mert", "mira"]
    """What finds the weights on the development text: mert (Och, 2003) or mira (Cherry and Foster, 2012)."""
    tuning_rounds: Annotated[int, Field(ge=1, le=1000)]
    """Most rounds of decoding and optimizing."""
    tuning_n_best: BeamSize
    """Hypotheses per sentence and round."""
    tuning_sentences: PositiveInt | None = None
    """Number of development sentences for the tuning, spread over the text. null: all."""
    n_best: Annotated[int, Field(ge=1, le=100_000)]
    """Number of different hypotheses per sentence in the n-best lists (target `moses/test/n_best.gz`)."""
    n_best_factor: Annotated[int, Field(ge=1, le=1000)]
    """Number of hypotheses that are considered for each of these. With more, more of them differ, and it takes longer.
    """
    threads: Threads
    """Threads of each of its jobs. No result depends on it."""
