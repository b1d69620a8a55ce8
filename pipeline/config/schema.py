"""What `config.yaml` may say: keys, types and limits. Unknown keys are refused, so that a typo is an error."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from nmt.settings.base import (
    Gigabytes,
    Hours,
    Identifier,
    Names,
    OmitsDefaults,
    Rate,
    Seed,
    Seeds,
    Settings,
)
from nmt.settings.decoding import Decoding
from nmt.settings.model_types import GatedArchitecture, ModelTypeName
from nmt.settings.text import Languages, Tokenization
from nmt.settings.training import ModelEntry, Training
from pipeline.config.catalogue import (
    Archive,
    Corpus,
    FilePath,
    GrammarSettings,
    RescoredEntry,
    SystemEntry,
    check_address,
)
from pipeline.config.display import Display, Playground, Release, SentenceVectors
from pipeline.config.phrase_based import PhraseBased
from pipeline.config.text import Cleaning, Selection, VocabularySettings


class Pretrained(Settings):
    """Released models of others, which replace those that this run would train."""

    models: FilePath | None
    """Folder with one folder for each model in use, as `nmt unpack` writes them. Nothing is trained; these models
    translate the test text."""


class Use(OmitsDefaults):
    """The entries of the catalogues that this experiment uses."""

    train: Annotated[Names, Field(min_length=1)]
    """Training text (Sec. 4.1)."""
    dev: Annotated[Names, Field(min_length=1)]
    """Development text: training computes its negative log-likelihood (NLL) at every validation (Sec. 4.1)."""
    test: Annotated[Names, Field(min_length=1, max_length=1)]
    """Test text: BLEU is computed on it. Exactly one corpus (Sec. 4.1)."""
    models: Annotated[Names, Field(min_length=1)]
    """Models, in the order of the tables (Sec. 4.2)."""
    systems: Names = Field(default=[])
    """Other systems, such as ensembles. In the tables they follow the models, in this order."""
    rescored: Names = Field(default=[])
    """Rescored n-best lists. In the tables they follow all others, in this order."""


class ClusterResources(Settings):
    """What jobs ask a scheduler for."""

    train_hours: Hours
    """Longest time limit of a training job in hours, for example that of a partition. Another job continues a training
    that meets the limit. At most twice as many jobs are sent as the estimate needs."""
    updates_per_hour: dict[ModelTypeName, Rate]
    """Updates per hour by model type, for example {rnnsearch: 60000}. The time limit of a training job follows from
    this rate, until the run has shown its own."""
    gpu_teraflops: Annotated[float, Field(gt=0, le=100_000)]
    """For a model type without such a rate, the rate is the one measured on an H100, scaled by the speed of the GPU:
    10^12 operations per second with numbers of 32 bits (data
    sheets: T4 8, RTX 2080 Ti 13, A100 19.5, L4 30, H100 and H200
    67)."""
    train_attempts: Annotated[int, Field(ge=1, le=1000)]
    """On a cluster: how often a training job is submitted again after it was lost (cancelled, node lost, error),
    besides the times that its time limit requires."""
    train_memory_gb: Gigabytes
    """Memory of a training job in GB."""
    translate_hours: Hours
    """Time limit of a translation job in hours. The next job resumes."""
    moses_hours: Hours
    """Time limit in hours of Moses' word alignment, phrase extraction, tuning and translation, each a job."""
    data_memory_gb: Gigabytes
    """Memory of a data job in GB."""


class Config(OmitsDefaults):
    """The whole of `config.yaml` after its layers are merged."""

    seed: Seed
    """Seed of shuffling, samples and initial weights. The grammar has its own."""
    seeds: Seeds | None
    """Seeds of the initial weights. Every model is trained with each of them, and the tables give mean and standard
    deviation. null: only `seed`. The runs of the first seed have the names of the models, so add new seeds at the end:
    nothing is then trained again."""
    data_from: FilePath | None
    """Folder of another experiment, whose prepared text is used and not changed. Its models are used, too, if they have
    the same name and the same settings. null: the run downloads and prepares its own text."""
    pretrained: Pretrained
    """Published models, from which the tables and figures are made. They are not changed."""
    languages: Languages
    """Codes of the languages, as Moses' tokenizer knows them (Sec. 4)."""
    use: Use
    """The entries of the catalogues that this run uses. The other entries have no effect."""
    mirrors: list[Annotated[str, AfterValidator(check_address)]]
    """Folders or URLs that hold the archives under their `path`. They are tried before the official address. Another
    mirror never changes what has already been downloaded."""
    archives: dict[Identifier, Archive]
    """The files to download."""
    corpora: dict[Identifier, Corpus]
    """The bilingual texts: two sides from archives or files, or generated text."""
    grammar: GrammarSettings
    """The synthetic language of corpora with `grammar`. The paper's run uses none."""
    cleaning: Cleaning
    """Which pairs are removed before tokenization. The paper mentions no limits. Pairs with an empty side are always
    removed. The limits are those of Moses' clean-corpus-n.perl, whose usual call would be max_words: 80, max_ratio:
    9.0. They apply to training text and in-domain text. Development and test text stays whole. Malformed characters
    are always repaired and counted: bytes that are not UTF-8 become U+FFFD; U+FEFF at the start of a line, carriage
    returns at its end and control characters are removed; other line separators inside a line become spaces."""
    tokenization: Tokenization
    """Tokenization by Moses' rules (Sec. 4.1), without lower-casing and stemming."""
    selection: Selection
    """Selection of training text by bilingual cross-entropy difference (Axelrod et al., 2011; Sec. 4.1): from 850M
    words to 348M."""
    vocabulary: VocabularySettings
    """The words that have an id of their own (Sec. 4.1). All others are [UNK]. They are counted in the selected text of
    all lengths, and are the same for all models."""
    architecture: GatedArchitecture
    """Sizes of the models, and choices where the paper is not clear (Sec. 3, App. A and B.1). All models share them; a
    model's own `architecture` wins."""
    training: Training
    """Optimizer, batches and records of the training (Sec. 4.2, B.2). All models share them; a model's own `training`
    wins."""
    models: dict[Identifier, ModelEntry]
    """The models that can be trained."""
    systems: dict[Identifier, SystemEntry] = Field(default={})
    """Systems that train nothing: an ensemble of runs, or one run with another decoding."""
    n_best_lists: dict[Identifier, FilePath] = Field(default={})
    """Files with n-best lists of other systems for the test text, by the name of the system. They are tokenized, in the
    form of Moses (`id ||| hypothesis ||| features ||| score`), plain or compressed (.gz, .zst)."""
    rescored: dict[Identifier, RescoredEntry] = Field(default={})
    """Systems that choose from n-best lists."""
    decoding: Decoding
    """Beam search (Sec. 4.2). Where the paper is silent, this is what the authors' code does."""
    moses: PhraseBased
    """A phrase-based system on the same text (Moses, Koehn et al., 2007). Its row in Table 1 is then measured. The
    paper says only that it had another 418 million words of monolingual text (Sec. 5.1). Cho et al. (2014b), who report
    the same 33.30 BLEU, add that the language model was a 4-gram model. The rest is Moses' own baseline."""
    artifacts: Display
    """What the tables and figures show."""
    sentence_vectors: SentenceVectors | None = None
    """A figure of sentence vectors, as Figure 2 of Sutskever et al. (2014). It shows sentences in the plane in which
    their vectors differ most (PCA). A vector is what the model's encoder hands to the decoder. null: there is no such
    figure."""
    playground: Playground
    """results/playground.html: models translate in the browser what you type."""
    release: Release
    """releases/RUN.tar.zst, the models for others (`snakemake releases`)."""
    resources: ClusterResources
    """What jobs request from a scheduler. No result depends on it, and a change makes nothing run again."""

    @property
    def measures_moses(self) -> bool:
        """Whether the phrase-based system is trained and measured; published settings without it have no `moses`."""
        return self.moses is not None and self.moses.enabled
