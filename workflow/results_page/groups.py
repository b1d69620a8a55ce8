"""Tables of docs/results.md over some sentences: by length, and what the papers found on long sentences."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

from nmt.data.detokenization import Detokenizer
from nmt.evaluation.bleu import BleuCounts, score, total
from nmt.evaluation.comparison import EvaluatedText, compare
from nmt.evaluation.seeds import mean
from nmt.evaluation.translations import read_records
from nmt.io.files import read_json
from nmt.io.text_files import write_lines
from pipeline.config.job_settings import report_settings
from pipeline.config.runs import run_settings, runs_of
from pipeline.config.schema import Config
from pipeline.results.package import MODES, ReplicationPackage
from pipeline.results.papers import ScoreTable
from pipeline.results.tables.significance import shown_p
from pipeline.results.tables.writer import signed

_STEP = 10
"""Lengths of a group."""
_LAST = 51
"""The least length of the last group."""

REPORTED = "the paper, reported"
"""The column of what a paper reports."""

Cells = dict[str, str]
Comparison = dict[str, dict[str, Any]]
"""The output of `compare`, by column."""


def compared(package: ReplicationPackage, config: Config, limit: int) -> Comparison:
    """Return the comparison of all sentences, those without unknown words, and those of more than `limit` words."""
    known: Comparison = read_json(package.folder / "comparison.json")
    return {**known, "long": _long_sentences(package, config, limit)}


def reported(table: ScoreTable) -> Comparison:
    """Return the same of what a paper reports, which says nothing of long sentences nor of p."""
    found: Comparison = {"long": {"systems": {}, "pairs": []}}
    for column in table.columns:
        scores = {system: row.value(column) for system, row in table.reported.items() if column in row.scores}
        found[column] = {
            "systems": {system: {"bleu": score} for system, score in scores.items()},
            "pairs": [
                {"first": first, "second": second, "difference": scores[second] - scores[first], "p": None}
                for first, second in permutations(scores, 2)
            ],
        }
    return found


def difference(column: Mapping[str, Any], model: str, other: str, samples: int) -> str:
    """Return a model's BLEU minus another's, with p; nothing where they were not compared."""
    for pair in column["pairs"]:
        if {pair["second"], pair["first"]} == {model, other}:
            p = shown_p(pair["p"], samples)
            likely = f", p {p if p.startswith('≤') else f'= {p}'}" if p else ""
            sign = 1 if pair["second"] == model else -1
            return f"{signed(sign * pair['difference'] + 0.0, 2)}{likely}"
    return ""


def _long_sentences(package: ReplicationPackage, config: Config, limit: int) -> dict[str, Any]:
    """Return what `compare` finds of the long sentences of the test set."""
    settings = report_settings(config)
    source, reference = (
        package.test(language) for language in (config.languages.source, config.languages.target)
    )
    test = EvaluatedText(source, reference, None, Detokenizer(config.languages.target, settings.tokenization))
    translations: dict[str, list[tuple[Path, Path]]] = {}
    with tempfile.TemporaryDirectory(prefix="nmt-results-page-") as folder:
        for run in runs_of(config, config.use.models).values():
            kept = Path(folder, f"{run.name}.jsonl")
            with write_lines(kept) as writer:
                for record, value in read_records(package.translations(run.name, MODES[0])):
                    if len(record.source) > limit:
                        writer.write(json.dumps(value))
            translations.setdefault(run.model, []).append((kept, kept))
        found: dict[str, Any] = compare(
            translations, {}, test, settings.bootstrap_samples, settings.bootstrap_seed
        )["all"]
    return found


def by_length(package: ReplicationPackage, config: Config) -> list[Cells]:
    """Return BLEU of each model by the words of the source, with the mean of several runs."""
    label = report_settings(config).label
    sides = (package.test(config.languages.source), package.test(config.languages.target))
    rows: dict[str, Cells] = {}
    for model in config.use.models:
        scores: dict[str, list[float]] = {}
        for run in runs_of(config, [model]):
            everything, known = (package.translations(run, mode) for mode in MODES)
            found: list[dict[str, Any]] = score(run, everything, known, [sides])["by_sentence"]
            groups: dict[str, list[BleuCounts]] = {}
            for row in sorted(found, key=lambda row: row["source_length"]):
                groups.setdefault(_length_group(row["source_length"]), []).append(BleuCounts.from_dict(row))
            for name, counts in groups.items():
                rows.setdefault(name, {"Words": name, "Sentences": f"{len(counts):,}"})
                scores.setdefault(name, []).append(total(counts).bleu)
        for name, values in scores.items():
            rows[name][label(model)] = f"{mean(values):.1f}"
    return list(rows.values())


def _length_group(words: int) -> str:
    first = min(_LAST, (max(words, 1) - 1) // _STEP * _STEP + 1)
    return f"{first} and more" if first == _LAST else f"{first} to {first + _STEP - 1}"


def findings(comparison: Comparison, config: Config, limit: int, updates: Mapping[str, int]) -> Cells:
    """Return what the paper found, as far as these models can show it.

    Attention, limit and more updates: differences in BLEU with p; share: BLEU of sentences of more than `limit` words
    by that of all; unknown words: BLEU without them minus that of all sentences. `updates` are those of each model.
    """
    samples = report_settings(config).bootstrap_samples
    runs = [run_settings(config, run) for run in runs_of(config, config.use.models).values()]
    # Of several models of a family and a limit, the first in `use.models` stands for it.
    model = {(run.family, run.max_words): run.model for run in reversed(runs) if run.continue_from is None}
    longest = max(run.max_words for run in runs)
    search, encdec = (model.get((family, longest), "") for family in ("rnnsearch", "rnnencdec"))
    trained_on = next((run.model for run in runs if run.continue_from == search), "")
    short_search, short_encdec = (model.get((family, limit), "") for family in ("rnnsearch", "rnnencdec"))
    everything, known, long = (comparison[column] for column in ("all", "no_unk", "long"))
    margin, longer = "RNNsearch minus RNNencdec", "longer minus shorter limit, long sentences"

    def share(system: str) -> str:
        found = [column["systems"].get(system, {}).get("bleu") for column in (long, everything)]
        return f"{found[0] / found[1]:.0%}" if all(found) else ""

    def gained(system: str) -> str:
        found = [column["systems"].get(system, {}).get("bleu") for column in (known, everything)]
        return signed(found[0] - found[1], 2) if all(found) else ""

    def more_updates() -> str:
        return f"{updates[trained_on] / updates[search]:.1f}" if {trained_on, search} <= set(updates) else ""

    return {
        f"{margin}, longer limit, all": difference(everything, search, encdec, samples),
        f"{margin}, longer limit, long sentences": difference(long, search, encdec, samples),
        f"{margin}, shorter limit, all": difference(everything, short_search, short_encdec, samples),
        f"{margin}, shorter limit, long sentences": difference(long, short_search, short_encdec, samples),
        "RNNsearch* minus RNNsearch, longer limit, all": difference(everything, trained_on, search, samples),
        **{
            f"Moses minus RNNsearch{star}, longer limit, {what}": difference(column, "moses", system, samples)
            for what, column in (("all", everything), ("no unknown words", known))
            for star, system in (("", search), ("*", trained_on))
        },
        "RNNsearch*, longer limit: updates / updates of RNNsearch": more_updates(),
        f"RNNsearch, {longer}": difference(long, search, short_search, samples),
        f"RNNencdec, {longer}": difference(long, encdec, short_encdec, samples),
        "RNNsearch, longer limit: BLEU on long sentences / BLEU on all": share(search),
        "RNNencdec, longer limit: BLEU on long sentences / BLEU on all": share(encdec),
        "RNNsearch, longer limit: no unknown words minus all": gained(search),
        "RNNencdec, longer limit: no unknown words minus all": gained(encdec),
    }
