"""Settings of tables, figures and pages."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from nmt.settings.base import Identifier, PositiveInt, Seed, Settings, TokenCount
from nmt.settings.decoding import IfNoEos, Unknown
from nmt.settings.model_types import ModelTypeName
from nmt.settings.text import Languages, Tokenization
from pipeline.config.catalogue import FilePath, NonemptyNames
from pipeline.config.text import SentenceLength

FIRST_PAPER = "bahdanau2015"


class Artifacts(Settings):
    """What the tables and figures show."""

    reported: bool
    """Show the paper's numbers beside the run's. Only if the run is the paper's."""
    figure2_models: NonemptyNames
    """Models or systems in Figure 2 and other figures of BLEU, in the order of the legend."""
    figure2_length: SentenceLength
    """Side whose words are the length of a sentence in Figure 2 and in tables by length: source, reference, or both.
    The paper does not say."""
    figure2_window: TokenCount
    """Number of lengths whose sentences make one point of the curve (Cho et al., 2014b)."""
    figure2_max_words: TokenCount
    """Right end of the axis of Figure 2."""
    bootstrap_samples: Annotated[int, Field(ge=0, le=10_000)]
    """Bootstrap samples of sentences (and seeds) for each 95% interval. 0: no intervals."""
    bootstrap_seed: Seed
    """Seed of these samples."""
    max_unknown_words: TokenCount
    """Right end of the axis of BLEU against unknown words of the source (Cho et al., 2014b, Fig. 4c)."""
    figure3_model: Identifier | None
    """The model whose alignments Figure 3 shows. null, or if no model has attention: no Figure 3."""
    figure3_words: Annotated[list[TokenCount], Field(min_length=2, max_length=2)]
    """Minimum and maximum source words of the random sentences in panels b to d of Figure 3, if the test set does not
    have the paper's own."""
    figure3_seed: Seed
    """Seed of the random sentences."""
    table3_models: NonemptyNames
    """Models in Table 3, long sentences, in the order of the rows (App. C)."""
    table3_words: TokenCount
    """Minimum words of a source in Table 3."""
    table3_sentences: PositiveInt
    """Number of sentences in Table 3: the paper's own if the test set has them, then random ones."""
    table3_seed: Seed
    """Seed of the random sentences."""
    tree_model: Identifier | None = None
    """The model whose tree is drawn (Cho et al., 2014b, Fig. 6). null, or if no model makes trees: no such figure."""
    tree_sentence: Annotated[str, Field(min_length=1, max_length=1000)] = (
        "Obama is the President of the United States."
    )
    """The sentence of the tree. The default is the paper's."""
    gold_alignments: FilePath | None = None
    """File with known word alignments of the test set's tokens, from which the alignment error rate is computed: in
    Pharaoh's format (`0-0 1-2`, one sentence per line; `1?2` is possible, not sure)."""
    moses_translations: FilePath | None = None
    """File with Moses' translations of the test set, tokenized, one per line, which Table 1 then measures."""
    score_groups: Annotated[int, Field(ge=2, le=1000)] = 8
    """Number of equal groups of test sentences in Figure 3 of Sutskever et al. (2014)."""
    rank_of: Literal["source", "reference"] = "source"
    """Side whose words sort the sentences there by average rank of frequency: source or reference."""
    papers: NonemptyNames = Field(default=[FIRST_PAPER])
    """Papers whose tables and figures are made (workflow/papers/PAPER.yaml)."""
    ablations: dict[Identifier, NonemptyNames] | None = None
    """Baselines, and for each the models that are compared with it (docs/ablations.md). null: no such table."""

    @field_validator("figure3_words")
    @classmethod
    def _check_order(cls, words: list[int]) -> list[int]:
        if words[0] > words[1]:
            raise ValueError("expected the smaller number first")
        return words


class ReportSettings(Artifacts):
    """Settings of tables and figures: `artifacts`, labels, the treatment of [UNK], the tokenization."""

    labels: dict[Identifier, str]
    model_types: dict[Identifier, ModelTypeName]
    """The type of each model, and of the first member of each system, which decides the colour of its lines."""
    unknown: Unknown
    if_no_eos: IfNoEos = "widen_beam"
    """This and `unknown` are those of `Decoding`. Table 1 says how its columns were decoded."""
    languages: Languages
    tokenization: Tokenization
    """How text was tokenized, which detokenization undoes."""
    subwords: bool = False
    """Whether models read and write subword units, which Table 1 mentions."""

    def label(self, model: str) -> str:
        """Return the name of a model in tables and figures: its label, or its id if it has none."""
        return self.labels.get(model, model)


class SentenceVectors(Settings):
    """A figure of sentence vectors (Sutskever et al., 2014, Fig. 2)."""

    model: Identifier
    """A model in use whose model type has no attention."""
    panels: Annotated[
        list[Annotated[list[str], Field(min_length=3, max_length=100)]], Field(min_length=1, max_length=6)
    ]
    """For each panel a list of tokenized sentences."""


class Playground(Settings):
    """The page that translates in the browser."""

    models: list[Identifier] | None
    """Models of the types rnnencdec or rnnsearch. null: of those in Figure 2, the first with attention and the first
    without. []: no page is made."""
    megabytes: Annotated[int, Field(ge=1, le=2000)]
    """Maximum megabytes of all weights. For larger models, the page only says why they are missing."""
    bits: Literal[16, 8]
    """Bits of a weight in the page, 16 or 8. With 8 the page is half as large, and some translations differ."""


class Release(Settings):
    """The archives of models that others get."""

    bits: Literal[32, 16]
    """Bits of a weight, 32 or 16. With 16 an archive is half as large, and some translations differ."""
