"""Settings of tables, figures and pages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from nmt.settings.base import Identifier, Names, Seed, Settings, Words
from nmt.settings.decoding import Unfinished, Unknown
from nmt.settings.text import Languages, SentenceLength, Tokenization
from pipeline.config.catalogue import FilePath

FIRST_PAPER = "bahdanau2015"


class Artifacts(Settings):
    """What the tables and figures show.

    A newer key with its default is not written, so that it changes no job's parameters and no finished run's record.
    """

    reported: bool
    """Whether the paper's numbers stand beside ours. They should only if the run is the paper's."""
    figure2_models: Annotated[list[Identifier], Field(min_length=1)]
    figure2_length: SentenceLength
    figure2_window: Words
    figure2_max_words: Words
    bootstrap_samples: Annotated[int, Field(ge=0, le=10_000)]
    """Bootstrap samples for each confidence interval; 0: no intervals. All are in memory at once: 10,000 samples of
    3,003 sentences take 2 GB, and some minutes for five models."""
    bootstrap_seed: Seed
    unknown_words_most: Words
    """Right end of the axis of BLEU against unknown words."""
    figure3_model: Identifier | None
    """The model of Figure 3. None: there is no Figure 3, for example because no model aligns."""
    figure3_words: Annotated[list[Words], Field(min_length=2, max_length=2)]
    figure3_seed: Seed
    table3_models: Annotated[list[Identifier], Field(min_length=1)]
    table3_words: Words
    table3_sentences: Annotated[int, Field(ge=1, le=1000)]
    table3_seed: Seed
    tree_model: Identifier | None = None
    """The model whose tree Figure 6 of Cho et al. (2014b) shows. None: there is no such figure."""
    tree_sentence: Annotated[str, Field(min_length=1, max_length=1000)] = (
        "Obama is the President of the United States."
    )
    """The sentence of that figure."""
    gold_alignments: FilePath | None = None
    """File of the test set's known alignments. Generated text has its own."""
    moses_translations: FilePath | None = None
    """File of Moses' translations of the test set, one sentence per line; None: its row is only reported."""
    moses_dev_translations: FilePath | None = Field(default=None, exclude_if=lambda file: file is None)
    """File of Moses' translations of the development set, for tables that show them."""
    score_groups: Annotated[int, Field(ge=2, le=1000)] = Field(
        default=8, exclude_if=lambda groups: groups == 8
    )
    """Groups of test sentences of equal size, by length and by rarity of words."""
    rank_of: Literal["source", "reference"] = Field(
        default="source", exclude_if=lambda side: side == "source"
    )
    """The side whose words' ranks sort these sentences."""
    papers: Annotated[list[Identifier], Field(min_length=1)] = Field(
        default=[FIRST_PAPER], exclude_if=lambda papers: papers == [FIRST_PAPER]
    )
    """Papers whose tables and figures are made, by their files in workflow/papers."""
    ablations: dict[Identifier, Annotated[Names, Field(min_length=1)]] | None = None
    """Baselines, each with the models that are compared with it; None: no such table."""

    @field_validator("figure3_words")
    @classmethod
    def _least_first(cls, words: list[int]) -> list[int]:
        if words[0] > words[1]:
            raise ValueError("expected the smaller number first")
        return words


class ReportSettings(Artifacts):
    """`--settings` of the report stage: `artifacts`, labels, how UNK was decoded, how text was tokenized."""

    labels: dict[Identifier, str]
    unknown: Unknown
    unfinished: Unfinished = "widen"
    """This and `unknown` are those of `Decoding`. Table 1 says how its columns were decoded."""
    languages: Languages
    tokenization: Tokenization
    """How text was tokenized, which detokenization undoes."""
    subwords: bool = Field(default=False, exclude_if=lambda subwords: not subwords)
    """Whether models read and write subword units, which Table 1 mentions."""

    def label(self, model: str) -> str:
        """Return the name that tables and figures show; a model without one is shown by its id."""
        # no entry of `labels`, which are parameters of every table
        return self.labels.get(model, "Moses + RNNenc" if model == "moses-rnnenc" else model)


class SentenceVectors(Settings):
    """A figure of sentence vectors (Sutskever et al., 2014, Fig. 2)."""

    model: Identifier
    panels: Annotated[
        list[Annotated[list[str], Field(min_length=3, max_length=100)]], Field(min_length=1, max_length=6)
    ]
    """Tokenized sentences, by the panels in which they are compared."""


class Playground(Settings):
    """The page that translates in the browser."""

    models: list[Identifier] | None
    """Those of the page; None: those that stand for what attention changes; empty: there is no page."""
    megabytes: Annotated[int, Field(ge=1, le=2000)]
    """Limit of all weights at so many bits."""
    bits: Literal[16, 8]
    """Bits of a weight in the page."""


class Release(Settings):
    """The archives of models that others get."""

    bits: Literal[32, 16]
    """Bits of a weight."""
