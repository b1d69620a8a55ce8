"""Settings of the phrase-based system that the models are compared with."""

from typing import Annotated, Literal

from pydantic import Field

from nmt.settings.base import BeamSize, Identifier, Names, PositiveInt, Settings, Threads, TokenCount
from pipeline.config.catalogue import FilePath


class MosesSettings(Settings):
    """Moses on the same text. The paper only says that it had additional monolingual text (Sec. 5.1)."""

    enabled: bool
    """Train, tune and measure Moses, as `make moses EXPERIMENT=...` does."""
    max_words: TokenCount
    """Maximum words of a sentence from which phrases are taken."""
    alignment_block: PositiveInt
    """Pairs that eflomal aligns together. More pairs need more memory."""
    symmetrization: Literal[
        "grow-diag-final-and", "grow-diag-final", "grow-diag", "grow", "union", "intersect"
    ]
    """Method of joining the alignments of both directions."""
    max_phrase_words: PositiveInt
    """Maximum words of a phrase."""
    reordering: Literal["msd-bidirectional-fe", "msd-bidirectional-f"]
    """Type of the lexical reordering model."""
    distortion_limit: Annotated[int, Field(ge=-1, le=1000)]
    """Maximum jump in the source, in words. -1: no limit."""
    lm_order: Annotated[int, Field(ge=2, le=6)]
    """Order of the language model. 5: Moses' baseline. 4: Cho et al. (2014b)."""
    lm_text: list[FilePath]
    """Files of tokens (plain, .gz or .zst, as `nmt data tokenize` writes them) for the language model, in addition to
    the target side of the training text."""
    lm_corpora: Names = Field(default=[])
    """Corpora whose target side is added to the language model. A corpus of one language names the same file as source
    and target (experiments/sutskever2014/moses.yaml)."""
    lm_words: PositiveInt | None = None
    """Maximum words of this additional text, in the order of its names. null: no limit."""
    phrase_model: Identifier | None = None
    """An entry of `models` that is not in use, whose score enters the phrase table of a second system
    (docs/phrase-based.md). null: no such system."""
    cube_pruning: PositiveInt | None
    """Pops of cube pruning, in tuning and in decoding. null: stack decoding, which is slower and a little better."""
    tuner: Literal["mert", "mira"]
    """Method of tuning the weights on the development text: mert (Och, 2003) or mira (Cherry and Foster, 2012)."""
    tuning_rounds: PositiveInt
    """Maximum rounds of decoding and optimizing."""
    tuning_n_best: BeamSize
    """Hypotheses per sentence and round."""
    tuning_sentences: PositiveInt | None = None
    """Development sentences for the tuning, spread over the text. null: all."""
    n_best: PositiveInt
    """Different hypotheses per sentence in the n-best lists (`moses/test/n_best.gz`)."""
    n_best_factor: PositiveInt
    """Hypotheses that are considered for each of these."""
    threads: Threads
    """Threads of each of Moses' jobs. No result depends on it."""
