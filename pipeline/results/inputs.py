"""What tables, figures and pages are made of: a replication package, read once, and the scores of its translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nmt.data.detokenization import Detokenizer
from nmt.data.normalization import normalize
from nmt.errors import UserError
from nmt.evaluation.bleu import score_model, score_other_system
from nmt.evaluation.translations import TranslationRecord, read_translations, split_words
from nmt.io.files import read_json
from nmt.io.text_files import read_lines
from nmt.store.model_folder import SUMMARY
from pipeline.config import snapshot
from pipeline.config.display import ReportSettings
from pipeline.config.job_settings import get_report_settings
from pipeline.config.runs import (
    PHRASE_BASED,
    System,
    collect_runs,
    select_distinct_systems,
    select_other_systems,
    select_systems,
)
from pipeline.config.schema import Config
from pipeline.results.bootstrap import Bootstrap
from pipeline.results.comparison import Column, compare
from pipeline.results.corpora import Counts
from pipeline.results.package import MODES, ReplicationPackage
from pipeline.results.papers import Paper, ReportedData, list_translated_sets, read_paper
from pipeline.results.runs import Runs, by_model, sentence_counts
from pipeline.results.seeds import Row


@dataclass(frozen=True)
class Inputs:
    """A package and what follows from it. Paths and numbers are read when they are asked for.

    papers_folder: of the papers' files; a package from elsewhere must not say what a paper reports. scores_folder,
    comparison_file: what a run has measured before; without them, both are computed.
    """

    package: ReplicationPackage
    papers_folder: Path
    scores_folder: Path | None = None
    comparison_file: Path | None = None

    @cached_property
    def config(self) -> Config:
        """The settings of the run."""
        return snapshot.read_published_settings(self.package.configuration)

    @cached_property
    def settings(self) -> ReportSettings:
        """What tables and figures show, and how."""
        return get_report_settings(self.config)

    @cached_property
    def papers(self) -> dict[str, Paper]:
        """The papers whose tables and figures are made."""
        names = self.config.artifacts.papers
        return {name: read_paper(self.papers_folder / f"{name}.yaml") for name in names}

    @cached_property
    def systems(self) -> dict[str, System]:
        """The runs and systems that the results compare."""
        return select_systems(self.config)

    @property
    def runs(self) -> list[str]:
        """The names of the runs of the models in use."""
        return list(collect_runs(self.config, self.config.use.models))

    @cached_property
    def sets(self) -> list[str]:
        """The sets that are translated."""
        return list_translated_sets(self.papers.values())

    def other_systems(self, set_name: str = "test") -> dict[str, Path]:
        """Return other systems' translations of a set, as the settings name them: Moses', and rescored lists."""
        names = select_other_systems(self.config, set_name)
        return {name: self.package.other_translations(set_name, name) for name in names}

    def side(self, which: str, set_: str = "test") -> Path:
        """Return the file of the source or reference of a set."""
        language = getattr(self.config.languages, "source" if which == "source" else "target")
        return self.package.text(set_, language)

    def lines(self, which: str, set_: str = "test") -> list[str]:
        """Return the lines of the source or reference of a set."""
        return [*read_lines(self.side(which, set_))]

    def translations(self, model: str, mode: str, set_: str = "test") -> list[TranslationRecord]:
        """Return the translations of a system."""
        return [*read_translations(self.package.translations(set_, model, mode))]

    def other_lines(self, system: str, set_: str) -> list[str]:
        """Return another system's translations of a set."""
        return [*read_lines(self.other_systems(set_)[system])]

    @property
    def counts(self) -> list[Counts]:
        """Return the counts of the corpora."""
        found: list[Counts] = read_json(self.package.counts)
        return found

    @property
    def reported_data(self) -> ReportedData:
        """Return the words of training text that the first paper reports, if that is wanted."""
        first = next(iter(self.papers.values()))
        return first.data if self.settings.reported else ReportedData()

    # --- scores -------------------------------------------------------------------------------------------------------

    @cached_property
    def _scores(self) -> dict[tuple[str, str], Row]:
        return {}

    def score(self, system: str, set_: str = "test") -> Row:
        """Return the scores of a system's translations of a set."""
        if (system, set_) not in self._scores:
            self._scores[system, set_] = self._scored(system, set_)
        return self._scores[system, set_]

    def _scored(self, system: str, set_: str) -> Row:
        if self.scores_folder:
            row: Row = read_json(self.scores_folder / set_ / f"{system}.json")
            return row
        test = self.side("source", set_), self.side("reference", set_)
        first = self.systems.get(system)
        if first is None:
            known = self.package.translations(set_, self.runs[0], "no_unk")
            return {"seed": None, **score_other_system(system, self.other_systems(set_)[system], known, test)}
        files = [self.package.translations(set_, system, mode) for mode in MODES]
        return {"seed": first.seed, **score_model(first.model, files[0], files[1], test)}

    def scores(self, set_: str = "test") -> Runs:
        """Return the scores of all systems on a set, the runs of a model together."""
        return by_model(self.score(system, set_) for system in [*self.systems, *self.other_systems(set_)])

    def scores_of_runs(self, models: Sequence[str]) -> Runs:
        """Return the scores of some models' runs on the test set."""
        return by_model(self.score(run) for run in collect_runs(self.config, models))

    def curves(self) -> dict[str, Row]:
        """Return the scores of the systems in Figure 2, of models those of the first run; Moses is the last."""
        moses = [system for system in self.other_systems() if system == PHRASE_BASED]
        return {name: self.score(name) for name in [*self.config.artifacts.figure2_models, *moses]}

    @cached_property
    def comparison(self) -> dict[str, Any]:
        """Intervals, significance and today's metrics of all systems on the test set, by column of Table 1."""
        if self.comparison_file:
            found: dict[str, Any] = read_json(self.comparison_file)
            return found
        bootstrap = Bootstrap(self.settings.bootstrap_samples, self.settings.bootstrap_seed)
        return {mode: compare(self._column(mode), bootstrap) for mode in MODES}

    def _column(self, mode: str) -> Column:
        """Return all translations of a column of Table 1; a `UserError` if they are not of the same sentences."""
        target = self.config.languages.target
        detokenize = Detokenizer(target, self.settings.tokenization)
        translated = {name: self.translations(name, mode) for name in self.systems}
        first, *others = ([record.line for record in records] for records in translated.values())
        if any(lines != first for lines in others):
            raise UserError(f"not all systems translated the same sentences ({mode}); decode them again")
        texts: dict[str, list[list[str]]] = {}
        for name, records in translated.items():
            run = [detokenize(record.target) for record in records]
            texts.setdefault(self.systems[name].model, []).append(run)
        for name in self.other_systems():
            lines = self.other_lines(name, "test")
            texts[name] = [[detokenize(split_words(lines[line])) for line in first]]
        # a corpus that came as tokens has no other reference
        if not self.config.corpora[self.config.use.test[0]].tokenized:
            form = self.settings.tokenization.normalization
            raw = self.package.raw_reference(target)
            references = [normalize(line, form) for line in read_lines(raw)]
        else:
            references = [detokenize(split_words(line)) for line in self.lines("reference")]
        counts = {name: [sentence_counts(run, mode) for run in runs] for name, runs in self.scores().items()}
        return Column(counts, texts, [references[line] for line in first])

    # --- records of runs ----------------------------------------------------------------------------------------------

    def of_runs(self, name: str, models: Sequence[str]) -> Runs:
        """Return a JSON record of each run of some models."""
        return by_model(
            read_json(self.package.run_file(run, name)) for run in collect_runs(self.config, models)
        )

    def summaries(self) -> Runs:
        """Return the summaries of all runs."""
        return self.of_runs(SUMMARY, self.config.use.models)

    def perplexities(self) -> Runs:
        """Return perplexities on the test set: of systems that differ by their decoding alone, the first one's."""
        names = select_distinct_systems(self.systems.values())
        return by_model(read_json(self.package.perplexity(name)) for name in names)
