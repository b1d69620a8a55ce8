"""What `config.yaml` may say: keys, types and limits. Unknown keys are refused, so that a typo is an error."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from nmt.settings.base import (
    Gigabytes,
    Hours,
    Identifier,
    Names,
    Rate,
    Seed,
    Seeds,
    Settings,
    WithoutDefaults,
)
from nmt.settings.decoding import Decoding
from nmt.settings.families import FamilyName, GatedArchitecture
from nmt.settings.text import Cleaning, Languages, Selection, Tokenization, VocabularySettings
from nmt.settings.training import ModelEntry, Training
from pipeline.config.artifacts import Artifacts, Playground, Release, SentenceVectors
from pipeline.config.catalogue import (
    Archive,
    Corpus,
    FilePath,
    GrammarSettings,
    RescoredEntry,
    SystemEntry,
)
from pipeline.config.phrase_based import PhraseBased


class Released(Settings):
    """Released models of others, which replace those that this run would train."""

    models: FilePath | None
    """A folder with a folder for each run, as `nmt unpack` makes them."""


class Use(WithoutDefaults):
    """The entries of the catalogues that this experiment uses."""

    train: Annotated[Names, Field(min_length=1)]
    dev: Annotated[Names, Field(min_length=1)]
    test: Annotated[Names, Field(min_length=1, max_length=1)]
    models: Annotated[Names, Field(min_length=1)]
    systems: Names = Field(default=[])
    rescored: Names = Field(default=[])


class ClusterResources(Settings):
    """What jobs ask a scheduler for."""

    train_hours: Hours
    updates_per_hour: dict[FamilyName, Rate]
    """Training speed by family. For other families it is what an H100 reached, scaled by `gpu_teraflops`."""
    gpu_teraflops: Annotated[float, Field(gt=0, le=100_000)]
    """Speed of the GPU that trains: 10^12 operations per second with numbers of 32 bits, from its data sheet."""
    train_attempts: Annotated[int, Field(ge=1, le=1000)]
    train_memory_gb: Gigabytes
    translate_hours: Hours
    moses_hours: Hours
    data_memory_gb: Gigabytes


class Config(WithoutDefaults):
    """The whole of `config.yaml` after its layers are merged."""

    seed: Seed
    seeds: Seeds | None
    """Seeds of the runs of every model; None: `seed` alone."""
    data_from: FilePath | None
    released: Released
    languages: Languages
    use: Use
    mirrors: list[str]
    archives: dict[Identifier, Archive]
    corpora: dict[Identifier, Corpus]
    grammar: GrammarSettings
    cleaning: Cleaning
    tokenization: Tokenization
    selection: Selection
    vocabulary: VocabularySettings
    architecture: GatedArchitecture
    training: Training
    models: dict[Identifier, ModelEntry]
    systems: dict[Identifier, SystemEntry] = Field(default={})
    n_best_lists: dict[Identifier, FilePath] = Field(default={})
    """Files with n-best lists of the test text by other systems."""
    rescored: dict[Identifier, RescoredEntry] = Field(default={})
    decoding: Decoding
    moses: PhraseBased
    artifacts: Artifacts
    sentence_vectors: SentenceVectors | None = None
    playground: Playground
    release: Release
    resources: ClusterResources
