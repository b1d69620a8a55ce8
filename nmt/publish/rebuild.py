"""How each table and figure is made again from the parts kept in `results/`: the verbs and options of the workflow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from nmt.config.projections import report_settings
from nmt.config.runs import runs_of
from nmt.config.schema import Config
from nmt.errors import UserError
from nmt.publish.replication_package import MODES, Parts

TABLES = ("table1", "significance", "table2", "table3", "ablations")
COMPARISON = "comparison.json"
ERROR_RATES = "alignment_error_rate"
"""A folder with a file for each run."""
FIGURES = ("figure2", "unknown_words", "figure3", "learning_curves")

Verb = Callable[[Sequence[str]], None]
"""Runs a verb of the command line with these words."""


class Remake:
    """Tables and figures of one results folder, made again in another.

    Scores are computed once, when the first artifact needs them.
    """

    def __init__(self, config: Config, parts: Parts, output: Path, verb: Verb) -> None:
        self._config = config
        self._parts = parts
        self._output = output
        self._verb = verb
        self._settings = report_settings(config).model_dump_json()

    def artifacts(self, names: Sequence[str]) -> list[str]:
        """Of these names, what the settings ask for."""
        return [name for name in names if name != "ablations" or self._config.artifacts.ablations]

    def make(self, name: str) -> list[Path]:
        """Make one table or figure; returns its files."""
        options = {
            "table1": self._table1,
            "significance": self._comparison,
            "table2": self._table2,
            "table3": self._table3,
            "ablations": self._ablations,
            "figure2": self._curves,
            "unknown_words": self._curves,
            "figure3": self._figure3,
            "learning_curves": self._learning_curves,
        }[name]()
        forms = ("csv", "md", "tex") if name in TABLES else ("pdf", "png")
        files = [self._output / f"{name}.{form}" for form in forms]
        outputs = [
            word for form, file in zip(forms, files, strict=True) for word in (f"--output-{form}", str(file))
        ]
        self._verb([name.replace("_", "-"), *options, "--settings", self._settings, *outputs])
        return files

    def measured_runs(self) -> list[str]:
        """The runs whose attention is kept beside known alignments."""
        runs = runs_of(self._config, self._config.use.models)
        return [run for run in runs if self._parts.alignments(run).is_file()]

    def error_rate(self, run: str) -> Path:
        """Compute a run's alignment error rate; returns its file."""
        file = self._output / ERROR_RATES / f"{run}.json"
        kept = ("--alignments", str(self._parts.alignments(run)), "--gold", str(self._parts.gold))
        self._verb(["alignment-error-rate", "--model", run, *kept, "--output", str(file)])
        return file

    def _table1(self) -> list[str]:
        scores = self._scores(self._config.use.models)
        return [*scores, *self._summaries(), *self._comparison(), *self._paper()]

    def _table3(self) -> list[str]:
        models = self._config.artifacts.table3_models
        files = [(model, str(self._parts.translations(model, "all"))) for model in models]
        sides = self._config.languages
        return [
            *(word for model, file in files for word in ("--translations", model, file)),
            *("--reference", str(self._parts.test(sides.target))),
            *self._paper(),
        ]

    def _table2(self) -> list[str]:
        return [*self._summaries(), *self._paper()]

    def _ablations(self) -> list[str]:
        pairs = (self._config.artifacts.ablations or {}).items()
        models = list(dict.fromkeys(model for base, others in pairs for model in (base, *others)))
        return [
            *self._scores(models),
            *self._of_runs("--summary", "summary.json", models),
            *self._of_runs("--run-settings", "settings.json", models),
        ]

    def _curves(self) -> list[str]:
        return [word for run in self._config.artifacts.figure2_models for word in self._score(run)]

    def _figure3(self) -> list[str]:
        run = self._config.artifacts.figure3_model
        return [
            "--all",
            str(self._parts.translations(run, "all")),
            "--no-unk",
            str(self._parts.translations(run, "no_unk")),
            *self._paper(),
        ]

    def _learning_curves(self) -> list[str]:
        return [*self._summaries(), *self._of_runs("--history", "history.jsonl", self._config.use.models)]

    def _summaries(self) -> list[str]:
        return self._of_runs("--summary", "summary.json", self._config.use.models)

    def _of_runs(self, option: str, name: str, models: Sequence[str]) -> list[str]:
        runs = runs_of(self._config, models)
        return [word for run in runs for word in (option, str(self._parts.of_run(run, name)))]

    def _paper(self) -> list[str]:
        return ["--paper", str(self._parts.paper)]

    def _comparison(self) -> list[str]:
        """Compare the models, once."""
        path = self._output / COMPARISON
        if not path.exists():
            parts, config = self._parts, self._config
            sides = config.languages
            models = [
                ("--translations", model, *(str(parts.translations(run, mode)) for mode in MODES))
                for model in config.use.models
                for run in runs_of(config, [model])
            ]
            raw = parts.raw_reference(sides.target)
            options = [
                *(word for words in models for word in words),
                *(
                    ("--given", "moses", str(parts.given("moses")))
                    if config.artifacts.moses_translations
                    else ()
                ),
                *(() if config.corpora[config.use.test[0]].tokenized else ("--raw-reference", str(raw))),
            ]
            test = ("--source", str(parts.test(sides.source)), "--reference", str(parts.test(sides.target)))
            self._verb(["compare", *options, *test, "--settings", self._settings, "--output", str(path)])
        return ["--comparison", str(path)]

    def _scores(self, models: Sequence[str]) -> list[str]:
        return [word for run in runs_of(self._config, models) for word in self._score(run)]

    def _score(self, name: str) -> list[str]:
        """Evaluate a run's translations, once."""
        path = self._output / "scores" / f"{name}.json"
        if not path.exists():
            run = runs_of(self._config, self._config.use.models).get(name)
            if run is None:
                raise UserError(f"{self._parts.configuration}: {name!r} is not in `use.models`")
            sides = self._config.languages
            self._verb(
                [
                    "evaluate",
                    *("--model", run.model, "--seed", str(run.seed)),
                    *("--all", str(self._parts.translations(name, "all"))),
                    *("--no-unk", str(self._parts.translations(name, "no_unk"))),
                    *("--source", str(self._parts.test(sides.source))),
                    *("--reference", str(self._parts.test(sides.target))),
                    *("--output", str(path)),
                ]
            )
        return ["--score", str(path)]
