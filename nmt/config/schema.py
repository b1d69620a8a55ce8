"""What `config.yaml` may say: the one typed source of the schema.

Every class refuses unknown keys, so a typo is an error and never a silently ignored wish. The fields' comments in
`config.yaml` say what they mean in the paper; here stand only their types and limits.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from nmt.config.base import (
    BatchSize,
    Gigabytes,
    Hours,
    Identifier,
    PositiveInt,
    Rate,
    Seed,
    Settings,
    Threads,
    TrainedWith,
    Width,
    WithoutDefaults,
    Words,
)
from nmt.config.catalogue import Archive, Corpus
from nmt.config.families import FAMILIES, AnyArchitecture, FamilyName, GatedArchitecture, architecture_of

SentenceLength = Literal["source", "reference", "both"]
"""Whose words are counted when sentences are sorted by length; both: source and reference each."""

MinLength = Literal["half", "none"]
"""When a translation may end: behind half the source's length, or any time."""

Unfinished = Literal["widen", "retry", "best"]
"""What follows a search in which no translation ends: wider beams; first the same beam with the unknown word allowed,
as in the authors' code; or the best unfinished translation, which is taken in the end in any case."""

Unknown = Literal["allowed", "excluded"]
"""Whether translations of the column "All" may hold the unknown word; those of "No UNK" may where
`Unfinished` is `retry`."""

Remedy = Literal["repair", "keep", "drop", "stop"]
"""What becomes of a line with odd characters: repaired, kept as it is, dropped with its pair, or the run stops."""

FIRST_PAPER = "bahdanau2015"
LARGEST_VOCABULARY = 2**31 - 3
"""Ids are stored in 16 bits, or in 32 where they don't fit; two of them are the end symbol and UNK."""
Seeds = Annotated[list[Seed], Field(min_length=1, max_length=1000)]
Share = Annotated[float, Field(ge=0, le=1)]


class Released(Settings):
    """Somebody's released parts that take the place of what this run would make itself."""

    models: str | None
    """A folder with a folder for each run, as `nmt unpack` makes them."""
    results: str | None
    """A results folder with the parts that tables and figures are made of."""


class Languages(Settings):
    """Codes of both languages, as Moses' tokenizer knows them."""

    source: Annotated[str, Field(pattern=r"^[a-z]{2}$")]
    target: Annotated[str, Field(pattern=r"^[a-z]{2}$")]


class Use(WithoutDefaults):
    """The entries of the catalogues that this experiment uses."""

    train: Annotated[list[Identifier], Field(min_length=1)]
    dev: Annotated[list[Identifier], Field(min_length=1)]
    test: Annotated[list[Identifier], Field(min_length=1)]
    models: Annotated[list[Identifier], Field(min_length=1)]
    systems: list[Identifier] = Field(default=[])
    rescored: list[Identifier] = Field(default=[])


class GrammarSettings(Settings):
    """The generated language of the demo."""

    seed: Seed
    max_words: Annotated[int, Field(ge=12, le=1000)]
    """The least that every kind of clause fits into."""
    lexicon: Annotated[int, Field(ge=1, le=100_000)]
    zipf_exponent: Annotated[float, Field(gt=0, le=10)]


_LIMITS = {"min_words", "max_words", "max_ratio", "max_characters", "max_word_characters"}


class Cleaning(Settings):
    """Which pairs are blanked before tokenisation, and what becomes of odd characters; empty sides always go."""

    min_words: Words = 1
    max_words: Words | None = None
    max_ratio: Annotated[float, Field(gt=1, le=1e6)] | None = None
    max_characters: PositiveInt | None = None
    max_word_characters: PositiveInt | None = None
    invalid_utf8: Literal["repair", "drop", "stop"] = "repair"
    byte_order_mark: Remedy = "repair"
    carriage_return: Remedy = "repair"
    line_separators: Remedy = "repair"
    control_characters: Remedy = "repair"

    def keeping_all(self) -> Cleaning:
        """The same without limits, and with repairs where pairs would go: for text that is scored whole."""
        remedies = {name: "repair" for name, remedy in self if remedy == "drop"}
        return Cleaning.model_validate(self.model_dump(include={*Cleaning.model_fields} - _LIMITS) | remedies)

    @property
    def limits(self) -> tuple[str, ...]:
        """What a pair may exceed, in the order in which it is looked for; an empty side always goes."""
        limits = {
            "too_short": self.min_words > 1 or None,
            "too_long": self.max_words,
            "ratio": self.max_ratio,
            "too_many_characters": self.max_characters,
            "long_word": self.max_word_characters,
        }
        return ("empty", *(name for name, limit in limits.items() if limit is not None))


class Tokenization(Settings):
    """Moses' tokenizer and its switches."""

    tokenizer: Literal["moses"]
    escape: bool
    split_hyphens: bool


class Selection(Settings):
    """Axelrod et al. (2011): bilingual cross-entropy difference."""

    enabled: bool
    in_domain: list[Identifier]
    order: Annotated[int, Field(ge=2, le=6)]
    lm_vocabulary: Literal["all", "in_domain"] = "all"
    """Words that the language models know: each those of its own text, or all of them those of the in-domain text."""
    lm_vocabulary_least: PositiveInt = 2
    """So often must a word occur in the in-domain text; decides nothing where they know all words."""
    sample_pairs: PositiveInt | None = None
    """Size of the out-of-domain sample; None takes as many pairs as the in-domain text has."""
    target_words: PositiveInt
    corpus_words: dict[Identifier, PositiveInt] = Field(default={})
    """Corpora with a budget of their own; all others share `target_words`."""
    discount_fallback: bool = False


class VocabularySettings(TrainedWith):
    """The words that keep their own id."""

    words: Annotated[int, Field(ge=1, le=LARGEST_VOCABULARY)]
    target_words: Annotated[int, Field(ge=1, le=LARGEST_VOCABULARY)] | None = None
    """Of the target side where it has another number; None: `words`."""
    specials_count: bool
    """Whether UNK and the end symbol count among the words."""

    @property
    def sizes(self) -> tuple[int, int]:
        """Words of the source and of the target side."""
        return self.words, self.target_words or self.words


class Training(TrainedWith):
    """Optimizer, batches, stopping and bookkeeping: paper, Sec. 4.2 and B.2."""

    optimizer: Literal["adadelta", "adam", "sgd"]
    rho: Share
    epsilon: Annotated[float, Field(gt=0, le=1)]
    learning_rate: Annotated[float, Field(gt=0, le=1000)]
    decay_from_epoch: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Passes over the text after which the learning rate begins to fall; None: it never does."""
    decay_every_epochs: Annotated[float, Field(gt=0, le=1e6)] = 0.5
    decay_factor: Annotated[float, Field(gt=0, le=1)] = 0.5
    clip_norm: Annotated[float, Field(gt=0, le=1e9)]
    cost: Literal["sum", "mean"]
    not_finite: Literal["stop", "groundhog"]
    precision: Literal["fp32", "tf32", "bf16"]
    batch_size: BatchSize
    batches_per_sort: Annotated[int, Field(ge=1, le=10_000)]
    order: Literal["stored", "seed"] = "stored"
    """Of the training pairs: as they were shuffled when they were binarized, or drawn by the run's seed."""
    updates: PositiveInt
    epochs: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """Stop after so many passes over the text, if `updates` are not done before."""
    patience: PositiveInt | None
    """Stop after so many validations without a better development score; None: run all updates."""
    keep: Literal["best", "last"]
    """Weights of the finished model: those with the best development score, or the last."""
    dev_score: Literal["nll", "bleu"]
    """What `patience` and `keep` go by: the NLL, or BLEU of greedy translations."""
    dev_sentences: Literal["all", "within_limit"]
    """Development pairs that are watched and reported: all, or those within the model's `max_words`."""
    validate_every: PositiveInt
    checkpoint_every: PositiveInt
    log_every: PositiveInt
    train_sample: PositiveInt
    tensorboard: bool
    length_bucket: Annotated[int, Field(ge=1, le=10_000)]
    kernels: Literal["torch", "triton"] = "torch"
    """What works between the matrix products: PyTorch's operations, or kernels of the project's own on a GPU."""
    device: Literal["auto", "cpu", "cuda"]
    threads: Threads


RESUMABLE = frozenset(
    {
        "updates",
        "epochs",
        "patience",
        "keep",
        "checkpoint_every",
        "log_every",
        "tensorboard",
        "length_bucket",
        "kernels",
        "device",
    }
)
"""Training keys that may change between two parts of one run: they don't bear on the updates already made."""


ArchitectureOfFamily = Annotated[
    AnyArchitecture, BeforeValidator(lambda values, info: architecture_of(info.data.get("family"), values))
]
"""What the model's family, the field before it, may say."""


class ModelEntry(Settings):
    """One of the models to train. `architecture` and `training` hold only what differs from the shared ones."""

    label: str
    family: FamilyName
    max_words: Words
    continue_from: Identifier | None = None
    seeds: Seeds | None = None
    """None: the shared ones."""
    architecture: ArchitectureOfFamily
    training: Training

    @property
    def aligns(self) -> bool:
        """Whether the model says which source words a target word comes from."""
        return FAMILIES[self.family].aligns

    @property
    def makes_trees(self) -> bool:
        """Whether its encoder makes a tree of a sentence."""
        return FAMILIES[self.family].trees


class Search(Settings):
    """What a sweep over decoding settings leaves as `decoding` has it."""

    max_length_factor: Annotated[int, Field(ge=1, le=1000)]
    unfinished: Unfinished
    widest_beam: Width
    """A search in which nothing finishes is tried again until its beam was at least this wide."""
    batch_size: BatchSize
    device: Literal["auto", "cpu", "cuda"]
    threads: Threads


class Decoding(Search):
    """Beam search; the defaults are the authors' (see docs/fidelity/bahdanau2015.md)."""

    beam: Width
    normalize_by_length: bool
    min_length: MinLength
    unknown: Unknown
    n_best: Width


Average = Literal["probability", "log_probability"]
"""What several models that translate together take the mean of, word by word."""


class SystemEntry(Settings):
    """A system that trains nothing: runs that translate together, or one that translates in another way.

    `decoding` holds only what differs from the shared block.
    """

    label: str
    members: Annotated[list[Identifier], Field(min_length=1, max_length=100)]
    average: Average = "probability"
    decoding: Decoding


class RescoredEntry(Settings):
    """Another system's n-best lists rescored by the members, or without members as an oracle would choose."""

    label: str
    lists: Identifier
    """Whose: a name in `n_best_lists`, or a run or system in use."""
    members: Annotated[list[Identifier], Field(min_length=1, max_length=100)] | None = None
    average: Average = "probability"
    weight: Share = 0.5
    """The members' share of the mixed score."""


class Grid(Settings):
    """Decoding settings that a sweep tries: each of these values with each."""

    beams: Annotated[list[Width], Field(min_length=1)]
    normalize_by_length: Annotated[list[bool], Field(min_length=1)]
    min_length: Annotated[list[MinLength], Field(min_length=1)]
    unknown: Annotated[list[Unknown], Field(min_length=1)]


class Sweep(Grid):
    """The sweep over decoding settings, a target of its own."""

    models: Annotated[list[Identifier], Field(min_length=1)]


class SweepRun(Grid, Search):
    """All that decides a sweep's scores, besides model and text: what `nmt sweep --settings` reads."""


class TextSettings(Settings):
    """What a model's folder says so that the model can translate raw text: text.json, which `nmt package` writes."""

    languages: Languages
    tokenization: Tokenization
    decoding: Decoding
    """What `nmt translate` does unless it is told otherwise."""


class Artifacts(Settings):
    """What the tables and figures show.

    A newer key that has its default is not written: it changes no job's parameters and no finished run's record.
    """

    reported: bool
    """Show the paper's numbers beside ours: only where the run is the paper's."""
    figure2_models: Annotated[list[Identifier], Field(min_length=1)]
    figure2_length: SentenceLength
    figure2_window: Words
    figure2_max_words: Words
    bootstrap_samples: Annotated[int, Field(ge=0, le=10_000)]
    """Samples of sentences behind each confidence interval; 0: none are shown. All are in memory at once: 10,000 of the
    3,003 sentences of a test set take 2 GB, and five models some minutes."""
    bootstrap_seed: Seed
    unknown_words_most: Words
    """Right end of the axis of BLEU against unknown words."""
    figure3_model: Identifier | None
    """None: there is no Figure 3, as where no model aligns."""
    figure3_words: Annotated[list[Words], Field(min_length=2, max_length=2)]
    figure3_seed: Seed
    table3_models: Annotated[list[Identifier], Field(min_length=1)]
    table3_words: Words
    table3_sentences: Annotated[int, Field(ge=1, le=1000)]
    table3_seed: Seed
    tree_model: Identifier | None = None
    """Whose tree Figure 6 of Cho et al. (2014b) shows; None: there is no such figure."""
    tree_sentence: Annotated[str, Field(min_length=1, max_length=1000)] = (
        "Obama is the President of the United States."
    )
    """The sentence there."""
    gold_alignments: str | None = None
    """File of the test set's known alignments; text that the grammar wrote brings its own."""
    moses_translations: str | None = None
    """File of Moses' translations of the test set, one sentence per line; None: its row is only reported."""
    moses_dev_translations: str | None = Field(default=None, exclude_if=lambda file: file is None)
    """The same of the development set, where a table wants it."""
    score_groups: Annotated[int, Field(ge=2, le=1000)] = Field(
        default=8, exclude_if=lambda groups: groups == 8
    )
    """Groups of test sentences of equal size, by length and by rarity of words."""
    rank_of: Literal["source", "reference"] = Field(
        default="source", exclude_if=lambda side: side == "source"
    )
    """Whose words' ranks sort the sentences there."""
    papers: Annotated[list[Identifier], Field(min_length=1)] = Field(
        default=[FIRST_PAPER], exclude_if=lambda papers: papers == [FIRST_PAPER]
    )
    """Papers whose tables and figures are made, by their files in workflow/papers."""
    ablations: dict[Identifier, Annotated[list[Identifier], Field(min_length=1)]] | None = None
    """Baselines, each with the models that are compared with it; None: no such table."""


class Report(Artifacts):
    """`--settings` of the report stage: `artifacts`, labels, how UNK was decoded, how text was tokenized."""

    labels: dict[Identifier, str]
    unknown: Unknown
    unfinished: Unfinished = "widen"
    """Both as in `Decoding`: Table 1 says how its columns came about."""
    languages: Languages
    tokenization: Tokenization
    """How text was tokenized, which detokenization undoes."""

    def label(self, model: str) -> str:
        """The name that tables and figures show; a model without one is shown by its id."""
        return self.labels.get(model, model)

    def short_label(self, model: str) -> str:
        """The name in Figure 2 and Table 2, where the paper shortens RNNencdec to RNNenc."""
        return self.label(model).replace("RNNencdec", "RNNenc")


class SentenceVectors(Settings):
    """A figure of sentence vectors (Sutskever et al., 2014, Fig. 2)."""

    model: Identifier
    panels: Annotated[
        list[Annotated[list[str], Field(min_length=3, max_length=100)]], Field(min_length=1, max_length=6)
    ]
    """Tokenized sentences, by the panels in which they are compared."""


class Playground(Settings):
    """The page that translates in the browser."""

    made: bool
    megabytes: Annotated[int, Field(ge=1, le=2000)]
    """Limit of all weights at 16 bits."""


class Overlap(Settings):
    """What becomes of training pairs with a sentence of the development or test set."""

    drop: Literal["none", "source", "target", "either", "both"]
    """Which side must stand in a held-out set for a pair to go."""
    alike: bool
    """Compare letters and digits alone, whatever their case, instead of tokens."""


class ClusterResources(Settings):
    """What jobs ask a scheduler for."""

    train_hours: Hours
    updates_per_hour: dict[FamilyName, Rate]
    """How fast a family is trained; of one that is not in it, an estimate from `gpu_teraflops`."""
    gpu_teraflops: Annotated[float, Field(gt=0, le=100_000)]
    """Of the GPU that trains: 10^12 operations a second with numbers of 32 bits, as its data sheet has it."""
    train_attempts: Annotated[int, Field(ge=1, le=1000)]
    train_memory_gb: Gigabytes
    translate_hours: Hours
    sweep_hours: Hours
    data_memory_gb: Gigabytes


class Config(WithoutDefaults):
    """The whole of `config.yaml` after its layers are merged."""

    seed: Seed
    seeds: Seeds | None
    """Each makes a run of every model; None: `seed` alone."""
    data_from: str | None
    released: Released
    languages: Languages
    use: Use
    mirrors: list[str]
    archives: dict[Identifier, Archive]
    corpora: dict[Identifier, Corpus]
    grammar: GrammarSettings
    cleaning: Cleaning
    tokenization: Tokenization
    overlap: Overlap
    selection: Selection
    vocabulary: VocabularySettings
    architecture: GatedArchitecture
    training: Training
    models: dict[Identifier, ModelEntry]
    systems: dict[Identifier, SystemEntry] = Field(default={})
    n_best_lists: dict[Identifier, str] = Field(default={})
    """Files of other systems' lists of the test text."""
    rescored: dict[Identifier, RescoredEntry] = Field(default={})
    decoding: Decoding
    sweep: Sweep
    artifacts: Artifacts
    sentence_vectors: SentenceVectors | None = None
    playground: Playground
    resources: ClusterResources


class ModelRun(TrainedWith):
    """All that decides one model's weights, besides the data: what `nmt train --settings` reads."""

    model: Identifier
    """Its id in the catalogue; the runs of one model differ in `seed` alone."""
    label: str
    family: FamilyName
    max_words: Words
    seed: Seed
    """Of the start values, and of the order of the training pairs where `training.order` says so."""
    sample_seed: Seed | None = None
    """Of the training pairs whose NLL Table 2 reports: the same for every run of a model; None: `seed`."""
    continue_from: Identifier | None
    architecture: ArchitectureOfFamily
    training: Training

    @property
    def aligns(self) -> bool:
        """As in `ModelEntry`."""
        return FAMILIES[self.family].aligns
