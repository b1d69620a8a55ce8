"""Settings of decoding: beam search, systems of several models, rescoring, translating raw text."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from nmt.io.system import count_cpus
from nmt.settings.base import BatchSize, BeamSize, Settings, Threads, TokenCount
from nmt.settings.text import Languages, Tokenization

IfNoEos = Literal["widen_beam", "retry", "best"]
Unknown = Literal["allowed", "excluded"]
Device = Literal["auto", "cpu", "cuda"]
Average = Literal["probability", "log_probability"]
"""The quantity that an ensemble averages, word by word."""
UnknownWords = Literal["keep", "forbid", "copy"]
SearchPrecision = Literal["fp32", "tf32", "bf16", "int8"]
"""The number type of the factors in the matrix products of a search."""


class SearchSettings(Settings):
    """Settings that decide which translations beam search finds. docs/fidelity/bahdanau2015.md has the authors'."""

    max_length_factor: Annotated[int, Field(ge=1, le=1000)]
    """Maximum length of a translation, as a multiple of the source's length (with EOS)."""
    if_no_eos: IfNoEos
    """What happens if no translation in the beam ends. widen_beam: search again with doubled beams. retry: as the
    authors' code does, first with [UNK] where it was forbidden. best: take the best unfinished translation, as the
    other two do in the end."""
    max_beam: BeamSize
    """The beam is doubled until it has at least this size."""
    widening_budget: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Maximum cost of these further searches per sentence, in multiples of its first search: with 6, a beam of 10
    becomes 20 and 40 wide (2 + 4). null: no limit."""
    beam: BeamSize
    """Beam size. Every finished translation takes one place of the beam."""
    normalize_by_length: bool
    """Rank finished translations by log-probability divided by length."""
    min_length: Literal["half", "none"]
    """Minimum length of a translation. half: half the source's length. none: no minimum."""
    unknown: Unknown
    """Whether the model can write [UNK] in the column "All" of Table 1. allowed: it can, as the note to the table says.
    excluded: it cannot, as in Cho et al. (2014b)."""
    n_best: BeamSize
    """Number of translations per sentence."""


class Decoding(SearchSettings):
    """Settings of beam search, and of how it is computed."""

    batch_size: BatchSize
    """Sentences per batch. Only the last digits of scores depend on it."""
    device: Device
    """cuda, cpu, or auto: the GPU if there is one."""
    threads: Threads
    """Threads of the matrix products."""

    def deciding_fields(self) -> dict[str, Any]:
        """Return the settings that translations depend on. Others change only last digits of their scores."""
        return self.model_dump(mode="json", include=set(SearchSettings.model_fields))


class ComputeOptions(Settings):
    """How a trained model computes: options of the command line and keywords of `nmt.load`. None: as the model says."""

    batch_size: BatchSize | None = Field(
        default=None, description="Sentences per batch [default: the model's]."
    )
    device: Device | None = Field(
        default=None,
        description="auto uses the GPU if there is one [default: cpu if the model's settings say so, else auto].",
    )
    threads: Threads | None = Field(
        default=None, description="CPU threads [default: one for each core]. Last digits may depend on it."
    )
    precision: SearchPrecision | None = Field(
        default=None,
        description="Precision of the matrix products. bf16 and int8 are faster on processors that have instructions "
        "for them (int8: VNNI, bf16: AVX512-BF16 or AMX), and are refused on others. tf32 is for GPUs [default: fp32, "
        "or on a GPU tf32 if the model was trained in it].",
    )


class TranslateOptions(Settings):
    """Settings of a translation: options of the command line and keywords of `Model.translate`. None: the model's."""

    beam_size: BeamSize | None = Field(
        default=None,
        description="Beam size: hypotheses kept at each step. 1 is greedy search, the fastest [default: the model's].",
    )
    unknown: UnknownWords | None = Field(
        default=None,
        description="Words that are not in the vocabulary. keep: the translation may contain [UNK]. forbid: the model "
        "must write other words. copy: the source word with most attention replaces [UNK] [default: the model's, keep "
        "or forbid].",
    )
    tokenized: bool = Field(
        default=False,
        description="The text is already tokenized, as by `nmt data tokenize`; the translation is tokenized, too. "
        "Models that were trained on tokenized text always work like this.",
    )
    max_words: TokenCount = Field(
        default=100,
        description="Maximum number of tokens that are translated together. Longer lines are translated in pieces. If "
        "possible, a piece ends with a full stop or comma.",
    )


class PythonOptions(TranslateOptions):
    """Keywords of `Model.translate`: the options of `nmt translate`, and which results are returned."""

    n_best: BeamSize | None = None
    """Number of translations of a line. A smaller beam size is raised to it. None: the best one alone, not in a list.
    """
    attention: bool = True
    """Whether translations have their attention."""


class TextSettings(Settings):
    """The settings with which a model translates raw text: text.json in its folder, by `nmt model package`."""

    languages: Languages
    tokenization: Tokenization
    decoding: Decoding
    """The default settings of `nmt translate`."""
    tokenized: bool = False
    """Whether the training text came tokenized, by whatever tool. Then the model translates tokens."""

    def decoding_settings(
        self, compute: ComputeOptions, options: TranslateOptions, n_best: int = 1
    ) -> Decoding:
        """Return the settings of a search: the values of the options, or of the model for options without a value."""
        # `cuda` is meant for the machine of the experiment. A published model also works without a GPU.
        device = "cpu" if self.decoding.device == "cpu" else "auto"
        changes = {
            "beam": max(options.beam_size or self.decoding.beam, n_best),
            "n_best": n_best,
            "batch_size": compute.batch_size or self.decoding.batch_size,
            "threads": compute.threads or count_cpus(),
            "device": compute.device or device,
        }
        return self.decoding.model_copy(update=changes)
