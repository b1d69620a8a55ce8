"""The files that rules read and write: of this experiment, of one whose text it uses, or of somebody else's models."""

from collections.abc import Iterable
from pathlib import Path

import pipeline.config.experiment as experiment
from nmt.evaluation.translations import provenance_path
from nmt.store.model_folder import NEEDED_FILES, SOURCE_VOCABULARY, TARGET_VOCABULARY
from pipeline.config.catalogue import Archive, Member
from pipeline.config.folder import ExperimentFolder
from pipeline.config.schema import Config
from workflow.plan import Plan


class Paths:
    """Names of files, relative to the working directory."""

    def __init__(self, config: Config, plan: Plan) -> None:
        self.config = config
        self.plan = plan
        self.folder = ExperimentFolder(config)
        self.data = str(self.folder.data)
        """Folder of the prepared text."""
        self.source, self.target = config.languages.source, config.languages.target
        self.test_corpus = config.use.test[0]

    # --- text ---------------------------------------------------------------------------------------------------

    def find_archive(self, path: str) -> Archive:
        """Return the entry of `archives` that has this path."""
        return next(archive for archive in self.config.archives.values() if archive.path == path)

    def origin_file(self, side: Member) -> str:
        """Return the file that a side of a corpus comes from: an archive, or the user's own file."""
        if side.archive:
            return f"data/archives/{self.config.archives[side.archive].path}"
        return str(side.file)

    def list_shards(self, corpora: Iterable[str]) -> list[str]:
        """Return every shard of these corpora as CORPUS/NUMBER."""
        return experiment.list_shards(self.config, corpora)

    def raw_files(self, corpus: str, language: str) -> list[str]:
        """Return one side of a corpus before tokenization, shard by shard."""
        return [f"data/raw/{shard}.{language}.zst" for shard in self.list_shards([corpus])]

    def token_files(self, corpora: Iterable[str], language: str, stage: str = "tokens") -> list[str]:
        """Return one side of the tokenized text of these corpora, shard by shard."""
        return [f"{self.data}/{stage}/{shard}.{language}.zst" for shard in self.list_shards(corpora)]

    def training_files(self, split: str, language: str) -> list[str]:
        """Return one side of the text that models learn from (split: train or dev), shard by shard."""
        if split == "train":
            return self.token_files(self.config.use.train, language, experiment.get_final_stage(self.config))
        return self.token_files(self.config.use.dev, language)

    def evaluation_file(self, set_name: str, language: str) -> str:
        """Return one side of a tokenized set that is translated: the test text, or the whole development text."""
        if set_name == "test":
            return self.token_files([self.test_corpus], language)[0]
        return f"data/dev.{language}.zst"

    def list_raw_references(self) -> list[str]:
        """Return a list with the references of the test set before tokenization, or [] if they came as tokens."""
        if self.config.corpora[self.test_corpus].tokenized:
            return []
        return [f"{self.data}/raw/{self.test_corpus}/0.{self.target}.zst"]

    def list_gold_alignments(self) -> list[str]:
        """Return a list with the file of the test text's gold alignments, or [] if there are none."""
        if self.config.artifacts.gold_alignments:
            return [self.config.artifacts.gold_alignments]
        if self.config.corpora[self.test_corpus].grammar:  # which also writes alignments
            return [f"{self.data}/raw/{self.test_corpus}/0.align.zst"]
        return []

    def vocabulary_file(self, language: str) -> str:
        """Return the file of a language's vocabulary: of the prepared text, or of the first pretrained model."""
        if not self.config.pretrained.models:
            return f"{self.data}/vocabulary/{language}.tsv"
        return self.model_vocabulary(self.model_folder(self.plan.selected_runs[0]), language)

    # --- models, and what they write ----------------------------------------------------------------------------

    def model_folder(self, run: str) -> str:
        """Return the folder of a run's model."""
        return f"{self.plan.models_folder}/{run}"

    def model_vocabulary(self, folder: str, language: str) -> str:
        """Return the file with a language's vocabulary in the folder of a model."""
        return f"{folder}/{SOURCE_VOCABULARY if language == self.source else TARGET_VOCABULARY}"

    def model_files(self, runs: Iterable[str]) -> list[str]:
        """Return the files of these runs' models that a command needs."""
        return [f"{self.model_folder(run)}/{name}" for run in runs for name in NEEDED_FILES]

    def provenance_files(self, files: Iterable[str]) -> list[str]:
        """Return the provenance files of translations."""
        return [str(provenance_path(Path(file))) for file in files]

    def plain_text_translations(self, set_name: str, system: str) -> str:
        """Return the file with the translations of a set by Moses, or with the best of a rescored n-best list."""
        if system in self.config.use.rescored:
            return f"rescored/{system}.{self.target}"
        if self.config.moses.enabled:
            return f"translations/{set_name}/{system}.txt"
        return str(self.config.artifacts.moses_translations)

    def n_best_list(self, rescored: str) -> str:
        """Return the n-best lists that are rescored: a file of the user's, or translations by a system of this run."""
        name = self.config.rescored[rescored].n_best_list
        return self.config.n_best_lists.get(name) or str(self.folder.translations("test", name, "all"))
