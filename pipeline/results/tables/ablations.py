"""The table of ablations of ambiguous details: models that differ from a baseline in a setting or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd

from nmt.errors import UserError
from nmt.settings.base import flatten
from pipeline.config.display import ReportSettings
from pipeline.results.seeds import Mean, Result, Results
from pipeline.results.tables.notes import seeds_note
from pipeline.results.tables.writer import Table, format_difference, format_number, make_frame
from pipeline.results.welch import p_value, standard_error

DECIMALS = 2
"""Decimals of the numbers for readers."""
CSV_DECIMALS = {"bleu_all": 2, "bleu_no_unk": 2, "dev_nll": 4}
"""The compared numbers, with their decimals for programs."""
IDENTITY = {"model", "label", "seed", "sample_seed"}
"""Settings that identify a run and do not say how its model was trained."""
SIGNIFICANCE_LEVEL = 0.05
"""A difference with at least this p-value is put in parentheses."""

_HEADERS = ["Model", "Settings", "All", "Δ", "No UNK°", "Δ", "Dev. NLL", "Δ"]
_NOTE = (
    "BLEU and NLL as in Tables 1 and 2: higher BLEU is better, lower NLL. Settings: those that differ from the "
    "baseline's, which is the first row of each block; of the baseline those in which others differ."
)
_NOISE_NOTE = (
    "Δ: difference of the means to the baseline; in parentheses where it may be noise: the p-value of Welch's "
    "t-test over the seeds is 0.05 or more."
)
_ONE_SEED_NOTE = "Δ: difference to the baseline. With a single seed nothing says how much of it is noise."


class Variant(NamedTuple):
    """A model of the table.

    means: its numbers by name, such as bleu_all, averaged over its runs. settings: of its training, by dotted key.
    """

    model: str
    means: Mapping[str, Mean]
    run_count: int
    settings: Mapping[str, Any]


class Difference(NamedTuple):
    """The difference between a variant and the baseline in one of their numbers.

    error and p: standard error and p-value of Welch's t-test, if both have several seeds.
    """

    value: float | None = None
    error: float | None = None
    p: float | None = None

    def format(self) -> str:
        """Return text like `+0.42`, in parentheses if it may be noise; "" for the baseline itself."""
        if self.value is None:
            return ""
        text = format_difference(self.value, DECIMALS)
        return f"({text})" if self.p is not None and self.p >= SIGNIFICANCE_LEVEL else text


def make_ablations_table(
    scores: Results, summaries: Results, run_settings: Results, settings: ReportSettings
) -> Table:
    """Return the table of ablations: a block of rows for each baseline of `artifacts.ablations`.

    Args:
        scores: the scores of each run.
        summaries: the content of its summary.json.
        run_settings: the content of its settings.json, from which the table says how a model differs.
        settings: those of tables and figures.

    Raises:
        UserError: the runs of a model differ in more than their seeds.
    """
    # 1. read the models of the table
    blocks = settings.ablations or {}
    variants: dict[str, Variant] = {}
    for baseline_name, names in blocks.items():
        for name in [baseline_name, *names]:
            variants[name] = _read_variant(name, scores[name], summaries[name], run_settings[name])

    # 2. each baseline with the values of whatever the other models of its block change, then these models
    records = []
    rows: list[list[str]] = []
    rules = []
    for baseline_name, names in blocks.items():
        rules.append(len(rows))
        baseline = variants[baseline_name]
        keys_by_model = {name: _differing_keys(baseline.settings, variants[name].settings) for name in names}
        changed_keys = sorted(set(chain.from_iterable(keys_by_model.values())))
        records.append(_make_csv_record(baseline, None, [], settings))
        rows.append(_format_row(baseline, None, changed_keys, settings))
        for name, keys in keys_by_model.items():
            records.append(_make_csv_record(variants[name], baseline, keys, settings))
            rows.append(_format_row(variants[name], baseline, keys, settings))

    # 3. the notes
    seed_counts = {name: variant.run_count for name, variant in variants.items()}
    single_seeds = max(seed_counts.values(), default=1) == 1
    difference_note = _ONE_SEED_NOTE if single_seeds else _NOISE_NOTE
    return Table(
        data=make_frame(records),
        display=pd.DataFrame(rows, columns=_HEADERS),
        text_columns=["Model", "Settings"],
        rules=rules[1:],
        notes=[_NOTE, difference_note, *seeds_note(seed_counts, settings)],
    )


def _read_variant(
    model: str, scores: Sequence[Result], summaries: Sequence[Result], run_settings: Sequence[Result]
) -> Variant:
    """Return a model of the table from the records of its runs; a `UserError` if their settings differ."""
    # 1. the numbers
    means = {"dev_nll": Mean.from_values([summary["dev_nll"] for summary in summaries])}
    for name in ("bleu_all", "bleu_no_unk"):
        means[name] = Mean.from_values([score[name] for score in scores])

    # 2. the settings, which the runs must share
    shared_settings = _training_settings(run_settings[0])
    for run in run_settings:
        keys = _differing_keys(shared_settings, _training_settings(run))
        if keys:
            seed = run_settings[0]["seed"]
            raise UserError(
                f"the runs of model {model!r} differ from that of seed {seed} in {keys[0]}; train them alike"
            )
    return Variant(model, means, len(scores), shared_settings)


def _training_settings(run: Result) -> dict[str, Any]:
    """Return how a run was trained, by dotted key: `architecture.step_order`."""
    return {key: value for key, value in flatten(run).items() if key not in IDENTITY}


def _differing_keys(settings: Mapping[str, Any], other_settings: Mapping[str, Any]) -> list[str]:
    keys = settings.keys() | other_settings.keys()
    return sorted(key for key in keys if settings.get(key) != other_settings.get(key))


def _subtract_baseline(name: str, variant: Variant, baseline: Variant | None) -> Difference:
    """Return the mean of a metric (`name`, such as bleu_all) over a variant's runs minus that of the baseline.

    The difference is empty for the baseline itself, and if a mean is unknown.
    """
    if baseline is None:
        return Difference()
    mean, baseline_mean = variant.means[name], baseline.means[name]
    if mean.value is None or baseline_mean.value is None:
        return Difference()
    value = mean.value - baseline_mean.value
    if mean.std is None or baseline_mean.std is None:
        return Difference(value)
    deviations = mean.std, baseline_mean.std
    counts = variant.run_count, baseline.run_count
    return Difference(value, standard_error(deviations, counts), p_value(value, deviations, counts))


def _make_csv_record(
    variant: Variant, baseline: Variant | None, keys: Sequence[str], settings: ReportSettings
) -> Result:
    """Return a row for programs, with columns in this order. keys: the settings that differ from the baseline's."""
    record: Result = {"model": settings.label(variant.model)}
    record["baseline"] = baseline.model if baseline else ""
    record["differs"] = ", ".join(f"{key}: {variant.settings.get(key)}" for key in keys)
    for name, decimals in CSV_DECIMALS.items():
        mean, difference = variant.means[name], _subtract_baseline(name, variant, baseline)
        record[name] = format_number(mean.value, decimals)
        record[f"{name}_std"] = format_number(mean.std, decimals)
        record[f"{name}_difference"] = format_number(difference.value, decimals)
        record[f"{name}_difference_error"] = format_number(difference.error, decimals)
        record[f"{name}_p"] = format_number(difference.p, 4)
    record["seeds"] = variant.run_count
    record["id"] = variant.model
    return record


def _format_row(
    variant: Variant, baseline: Variant | None, keys: Sequence[str], settings: ReportSettings
) -> list[str]:
    """Return the cells of a row for readers. keys: the settings to be shown."""
    displayed_settings = []
    for key in keys:
        short_key = key.rsplit(".", 1)[-1]  # architecture.step_order -> step_order
        displayed_settings.append(f"{short_key}: {variant.settings.get(key)}")
    cells = [settings.label(variant.model), ", ".join(displayed_settings)]
    for name in CSV_DECIMALS:
        cells.append(variant.means[name].format(DECIMALS))
        cells.append(_subtract_baseline(name, variant, baseline).format())
    return cells
