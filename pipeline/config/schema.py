"""What `config.yaml` may say: keys, types and limits. Unknown keys are refused, so that a typo is an error."""

from typing import Annotated

from pydantic import Field

from nmt.settings.base import (
    Gigabytes,
    Hours,
    Identifier,
    Names,
    PositiveInt,
    Rate,
    Seed,
    Seeds,
    Settings,
)
from nmt.settings.decoding import Decoding
from nmt.settings.model_types import GatedArchitecture, ModelTypeName
from nmt.settings.text import Languages, Tokenization
from nmt.settings.training import ModelEntry, Training
from pipeline.config.artifacts import Artifacts, Playground, Release, SentenceVectors
from pipeline.config.catalogue import (
    Archive,
    Corpus,
    FilePath,
    GrammarSettings,
    NonemptyNames,
    RescoredEntry,
    SystemEntry,
)
from pipeline.config.moses import MosesSettings
from pipeline.config.text import Cleaning, Selection, VocabularySettings


class Pretrained(Settings):
    """Released models of others, which replace those that this run would train."""

    models: FilePath | None
    """Folder with one folder for each model in use, as `nmt unpack` writes them. These models are not trained."""


class Use(Settings):
    """The entries of the catalogues that this experiment uses."""

    train: NonemptyNames
    """Training text (Sec. 4.1)."""
    dev: NonemptyNames
    """Development text, on which validations compute the negative log-likelihood (NLL; Sec. 4.1)."""
    test: Annotated[Names, Field(min_length=1, max_length=1)]
    """Test text, on which BLEU is computed: exactly one corpus (Sec. 4.1)."""
    models: NonemptyNames
    """Models, in the order of the tables (Sec. 4.2)."""
    systems: Names = Field(default=[])
    """Ensembles, or models with a different decoding. Their rows follow the models' rows."""
    rescored: Names = Field(default=[])
    """Rescored n-best lists, whose rows come last."""


class ClusterResources(Settings):
    """What jobs ask a scheduler for."""

    train_hours: Hours
    """Maximum time limit of a training job in hours, for example a partition's. A longer training is continued by a new
    job."""
    updates_per_hour: dict[ModelTypeName, Rate]
    """Updates per hour by model type, for example {rnnsearch: 60000}, for the forecast and the time limit of a
    training until the run has measured its own rate. Without a rate a training asks for `train_hours`."""
    train_attempts: PositiveInt
    """How often a training job is submitted again after it was lost (cancelled, node lost, error)."""
    train_memory_gb: Gigabytes
    """Memory of a training job in GB."""
    translate_hours: Hours
    """Time limit in hours of a job that uses a trained model. If it ends a translation, the next job starts from the
    beginning; rescoring resumes."""
    moses_hours: Hours
    """Time limit in hours of each of Moses' jobs that may take hours: word alignment, phrase extraction and scores,
    tuning and translation."""
    data_memory_gb: Gigabytes
    """Memory of a data job in GB."""


class Config(Settings):
    """The whole of `config.yaml` after its layers are merged."""

    seed: Seed
    """Seed of shuffling, samples and initial weights. The grammar has its own."""
    seeds: Seeds | None
    """Seeds of the initial weights. Every model is trained with each; the tables show mean and standard deviation.
    null: only `seed`. Add new seeds at the end, because the runs of the first seed have the names of the models."""
    data_from: FilePath | None
    """Folder of an experiment whose prepared text this one uses. Its models with the same name and settings are
    used, too, unless this experiment has begun to train them. null: the run prepares its own text."""
    pretrained: Pretrained
    """Published models, from which the tables and figures are made."""
    init_from: FilePath | None = None
    """Folder of a trained model, for fine-tuning: the models begin with its weights, and use its vocabularies
    (docs/own-text.md#fine-tuning). null: the initial weights are random."""
    languages: Languages
    """Codes of the languages, as Moses' tokenizer knows them (Sec. 4)."""
    use: Use
    """Names of the entries that this run uses. The other entries have no effect."""
    mirrors: list[str]
    """Folders or URLs that hold the archives under their `path`, tried before the official addresses."""
    archives: dict[Identifier, Archive]
    """The files to download."""
    corpora: dict[Identifier, Corpus]
    """The bilingual texts, each in two sides from archives or files, or generated."""
    grammar: GrammarSettings
    """The synthetic language of corpora with `grammar`, which the paper's run does not use."""
    cleaning: Cleaning
    """Limits of training text, and of in-domain text that is not development text as well, before tokenization
    (docs/data.md#cleaning). The paper mentions none."""
    tokenization: Tokenization
    """Tokenization by Moses' rules (Sec. 4.1), without lower-casing and stemming."""
    selection: Selection
    """Selection of training text by bilingual cross-entropy difference (Axelrod et al., 2011; Sec. 4.1): from 850M
    words to 348M."""
    vocabulary: VocabularySettings
    """The words that have an id of their own, for all models (Sec. 4.1). All others are [UNK]. They are counted in the
    selected text of all lengths."""
    architecture: GatedArchitecture
    """Sizes of the models, and choices where the paper is not clear (Sec. 3, App. A and B.1). A model's own
    `architecture` wins."""
    training: Training
    """Optimizer, batches and records of the training (Sec. 4.2, B.2). A model's own `training` wins."""
    models: dict[Identifier, ModelEntry]
    """The models that can be trained."""
    systems: dict[Identifier, SystemEntry] = Field(default={})
    """Systems that train nothing: an ensemble of runs, or one run with a different decoding."""
    n_best_lists: dict[Identifier, FilePath] = Field(default={})
    """Files with n-best lists of other systems for the test text, by name of the system: tokenized, in Moses' format
    (`id ||| hypothesis ||| features ||| score`), plain or compressed (.gz, .zst)."""
    rescored: dict[Identifier, RescoredEntry] = Field(default={})
    """Systems that choose from n-best lists."""
    decoding: Decoding
    """Beam search (Sec. 4.2). Where the paper is silent, all but `if_no_eos` is what the authors' code does."""
    moses: MosesSettings
    """Moses (Koehn et al., 2007) on the same text, whose row in Table 1 is then measured (docs/phrase-based.md). What
    the paper does not say is Moses' own baseline."""
    artifacts: Artifacts
    """Contents of the tables and figures."""
    sentence_vectors: SentenceVectors | None = None
    """A figure of sentence vectors in the plane in which they differ most (PCA), as Figure 2 of Sutskever et al.
    (2014). null: no such figure."""
    playground: Playground
    """results/playground.html, where models translate in the browser."""
    release: Release
    """releases/RUN.tar.zst, archives of models for others (`snakemake releases`)."""
    resources: ClusterResources
    """Requests of the jobs to a scheduler. No result depends on them, and no job is repeated after a change."""

    @property
    def measures_moses(self) -> bool:
        """Whether the phrase-based system is trained and measured; published settings without it have no `moses`."""
        return self.moses is not None and self.moses.enabled
