"""The inputs of tables, figures and pages: a replication package, and the scores of its translations."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nmt.data.detokenization import Detokenizer
from nmt.data.normalization import normalize
from nmt.errors import UserError
from nmt.evaluation.bleu import score_model, score_plain_text
from nmt.evaluation.translations import TranslationRecord, read_translations, split_words
from nmt.io.files import read_json
from nmt.io.text_files import read_lines
from nmt.store.model_folder import SUMMARY
from pipeline.config import snapshot
from pipeline.config.artifacts import ReportSettings
from pipeline.config.job_settings import get_report_settings
from pipeline.config.runs import (
    MOSES,
    System,
    collect_runs,
    select_distinct_systems,
    select_systems,
    select_text_only_systems,
)
from pipeline.config.schema import Config
from pipeline.results.bootstrap import Bootstrap
from pipeline.results.intervals import compare_systems
from pipeline.results.outputs import Outputs, list_outputs
from pipeline.results.package import MODES, ReplicationPackage, list_files
from pipeline.results.papers import (
    PAPERS_FOLDER,
    Paper,
    PerplexityTable,
    list_translated_sets,
    read_paper,
)
from pipeline.results.seeds import Result, Results, ScoredSentences, get_scored_sentences, group_by_model


@dataclass(frozen=True)
class Inputs(ReplicationPackage):
    """A replication package, and the scores of its translations. Files are read on first use."""

    scores_folder: Path | None = None
    """Folder of the scores that a run has computed; None: scores are computed from the translations."""
    comparison_file: Path | None = None
    """The comparison of all systems that a run has computed; None: the comparison is computed when it is needed."""
    _scores_by_set: dict[str, Results] = field(default_factory=dict, compare=False)

    @cached_property
    def config(self) -> Config:
        """The settings of the run."""
        return snapshot.read_published_settings(self.configuration)

    @cached_property
    def settings(self) -> ReportSettings:
        """The settings of tables and figures."""
        return get_report_settings(self.config)

    @property
    def bootstrap(self) -> Bootstrap:
        """The bootstrap of tables and figures."""
        return Bootstrap(self.settings.bootstrap_samples, self.settings.bootstrap_seed)

    @cached_property
    def papers(self) -> dict[str, Paper]:
        """The papers whose tables and figures are made. Their files are the checkout's: a package may be forged."""
        names = self.config.artifacts.papers
        return {name: read_paper(PAPERS_FOLDER / f"{name}.yaml") for name in names}

    @property
    def first_paper(self) -> Paper:
        """The first paper, whose example sentences and numbers of words are shown."""
        return self.papers[self.config.artifacts.papers[0]]

    @cached_property
    def systems(self) -> dict[str, System]:
        """The runs and systems that the results compare."""
        return select_systems(self.config)

    @property
    def runs(self) -> list[str]:
        """The names of the runs of the selected models."""
        return list(collect_runs(self.config, self.config.use.models))

    @cached_property
    def sets(self) -> list[str]:
        """The sets that are translated."""
        return list_translated_sets(self.papers.values())

    @cached_property
    def outputs(self) -> Outputs:
        """The tables and figures that can be made from the package.

        Alignment error rates need attention weights, which some packages leave out to be small.
        """
        outputs = list_outputs(self.config, list(self.papers.values()))
        aligned_runs = [run for run in outputs.aligned_runs if self.alignments(run).is_file()]
        return replace(outputs, aligned_runs=aligned_runs)

    # --- texts --------------------------------------------------------------------------------------------------------

    def system_names(self, set_name: str = "test") -> list[str]:
        """Return the names of all systems that have translated a set, those that have only text (Moses) last."""
        return [*self.systems, *select_text_only_systems(self.config, set_name)]

    @property
    def vocabulary_files(self) -> list[Path]:
        """The vocabularies of source and target."""
        languages = self.config.languages
        return [self.vocabulary(language) for language in (languages.source, languages.target)]

    def text_files(self, set_name: str = "test") -> tuple[Path, Path]:
        """Return the files of the source and of the reference of a set."""
        languages = self.config.languages
        return self.text(set_name, languages.source), self.text(set_name, languages.target)

    def read_text(self, side: str, set_name: str = "test") -> list[str]:
        """Return the lines of the "source" or "reference" of a set."""
        source, reference = self.text_files(set_name)
        return list(read_lines(source if side == "source" else reference))

    def system_translations(self, system: str, mode: str, set_name: str = "test") -> list[TranslationRecord]:
        """Return a system's translations of a set. mode: `all`, or `no_unk` for sentences without unknown words.

        The translations of a system that has only text have neither scores nor attention.
        """
        if system in self.systems:
            return list(read_translations(self.translations(set_name, system, mode)))
        # the translations of a model say which sentences have no unknown words; a plain text does not
        texts = list(read_lines(self.plain_text_translations(set_name, system)))
        records = []
        for record in self.system_translations(self.runs[0], mode, set_name):
            target = split_words(texts[record.line])
            records.append(TranslationRecord(line=record.line, source=record.source, target=target))
        return records

    # --- scores -------------------------------------------------------------------------------------------------------

    def scores(self, set_name: str = "test") -> Results:
        """Return the scores of all systems on a set, grouped by model."""
        if set_name not in self._scores_by_set:
            scores = (self._compute_score(system, set_name) for system in self.system_names(set_name))
            self._scores_by_set[set_name] = group_by_model(scores)
        return self._scores_by_set[set_name]

    def _compute_score(self, system: str, set_name: str) -> Result:
        """Read the scores of a system from `scores_folder` or, without it, compute them from the translations."""
        if self.scores_folder:
            score: Result = read_json(self.scores_folder / set_name / f"{system}.json")
            return score

        test_set = self.text_files(set_name)
        if system not in self.systems:
            # the translations of a model say which sentences have no unknown words; a plain text does not
            no_unk_path = self.translations(set_name, self.runs[0], "no_unk")
            path = self.plain_text_translations(set_name, system)
            return {"seed": None, **score_plain_text(system, path, no_unk_path, test_set)}
        run = self.systems[system]
        all_path, no_unk_path = (self.translations(set_name, system, mode) for mode in MODES)
        return {"seed": run.seed, **score_model(run.model, all_path, no_unk_path, test_set)}

    def figure2_sentences(self) -> dict[str, ScoredSentences]:
        """Return the scored sentences of each system in Figure 2: of a model's first run, and of Moses if it ran."""
        names = [*self.config.artifacts.figure2_models]
        if MOSES in self.scores():
            names.append(MOSES)
        return {name: self.scores()[name][0]["by_sentence"] for name in names}

    @cached_property
    def comparison(self) -> dict[str, Any]:
        """Intervals, significance and modern metrics of all systems on the test set, by column of Table 1."""
        if self.comparison_file:
            comparison: dict[str, Any] = read_json(self.comparison_file)
            return comparison
        return {mode: self._compare_column(mode) for mode in MODES}

    def _compare_column(self, mode: str) -> dict[str, Any]:
        """Compare the systems of a column of Table 1."""
        detokenize = Detokenizer(self.config.languages.target, self.settings.tokenization)

        # the translations of each run, and the references of the same lines: those of the last run, as of all others
        texts: dict[str, list[list[str]]] = {}
        for name in self.system_names():
            model = self.systems[name].model if name in self.systems else name
            records = self.system_translations(name, mode)
            texts.setdefault(model, []).append([detokenize(record.target) for record in records])
        all_references = self._read_references(detokenize)
        references = [all_references[record.line] for record in records]

        # the n-gram counts of the same sentences
        counts = {}
        for model, runs in self.scores().items():
            counts[model] = [get_scored_sentences(run, mode) for run in runs]
        return compare_systems(counts, texts, references, self.bootstrap)

    def _read_references(self, detokenize: Detokenizer) -> list[str]:
        """Return the references before tokenization. If the corpus is given as tokens, they are detokenized."""
        if self.config.corpora[self.config.use.test[0]].tokenized:
            return [detokenize(split_words(line)) for line in self.read_text("reference")]
        form = self.settings.tokenization.normalization
        raw_reference = self.raw_reference(self.config.languages.target)
        return [normalize(line, form) for line in read_lines(raw_reference)]

    # --- records of runs ----------------------------------------------------------------------------------------------

    def summaries(self) -> Results:
        """Return the summaries of all runs, by model."""
        return group_by_model(read_json(self.run_file(run, SUMMARY)) for run in self.runs)

    def perplexities(self) -> Results:
        """Return perplexities on the test set, by model; {} if no table shows them.

        Systems that differ only in decoding share a perplexity.
        """
        tables = [table for paper in self.papers.values() for table in paper.tables.values()]
        if not any(isinstance(table, PerplexityTable) for table in tables):
            return {}
        names = select_distinct_systems(self.systems.values())
        return group_by_model(read_json(self.perplexity(name)) for name in names)


@contextmanager
def open_package(folder: Path) -> Iterator[Inputs]:
    """Yield the inputs in a folder of results, which may come from somebody else. Errors inside name the folder.

    Raises:
        UserError: the folder has links or special files, or is too large to be read; or there was an error inside.
    """
    _, unreadable_files = list_files(folder)
    if unreadable_files:
        raise UserError(*unreadable_files)
    try:
        yield Inputs(folder)
    except UserError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise UserError(
            f"{folder}: cannot be read ({reason}); `nmt verify` says what is wrong with it"
        ) from error
