"""The table of ablations of ambiguous details: models that differ from a baseline in a setting or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from nmt.errors import UserError
from nmt.settings.base import flatten
from nmt.store.model_folder import SETTINGS
from pipeline.config.display import ReportSettings
from pipeline.results.inputs import Inputs
from pipeline.results.runs import Runs
from pipeline.results.seeds import Row, merged, with_deviation
from pipeline.results.tables.notes import seeds_note
from pipeline.results.tables.writer import Table, fixed, make_frame, signed
from pipeline.results.welch import p_value, standard_error

NUMBERS = {"bleu_all": 2, "bleu_no_unk": 2, "dev_nll": 2}
"""The compared numbers, with the decimals for readers."""
CSV_DECIMALS = {"bleu_all": 2, "bleu_no_unk": 2, "dev_nll": 4}
IDENTITY = {"model", "label", "seed", "sample_seed"}
"""Settings that identify a run and do not say how its model was trained."""
NOISE = 0.05
"""A difference with at least this p-value is put in parentheses."""

_KINDS = ("", "_std", "_difference", "_difference_error", "_p")
COLUMNS = [
    "model",
    "baseline",
    "differs",
    *(f"{name}{kind}" for name in NUMBERS for kind in _KINDS),
    "seeds",
    "id",
]
_WORDS = ["Model", "Settings"]
_HEADERS = [*_WORDS, "All", "Δ", "No UNK°", "Δ", "Dev. NLL", "Δ"]
_NOTE = (
    "BLEU and NLL as in Tables 1 and 2: higher BLEU is better, lower NLL. Settings: those that differ from the "
    "baseline's, which is the first row of each block; of the baseline those in which others differ."
)
_NOISE_NOTE = (
    "Δ: difference of the means to the baseline; in parentheses where it may be noise: the p-value of Welch's "
    "t-test over the seeds is 0.05 or more."
)
_ONE_SEED_NOTE = "Δ: difference to the baseline. With a single seed nothing says how much of it is noise."


def ablations(scores: Runs, summaries: Runs, run_settings: Runs, settings: ReportSettings) -> Table:
    """Return each baseline of `artifacts.ablations` with the models that are compared with it, a block each.

    Args:
        scores: what `score` wrote for each run.
        summaries: their summary.json.
        run_settings: their settings.json, from which the table says how a model differs.
        settings: of the report.

    Raises:
        UserError: the runs of a model differ in more than their seeds.
    """
    compared = settings.ablations or {}
    wanted = dict.fromkeys(model for base, others in compared.items() for model in (base, *others))
    models = {model: _model(model, scores, summaries, run_settings) for model in wanted}
    rows: list[Row] = []
    rules: list[int] = []
    for baseline, others in compared.items():
        rules.append(len(rows))
        rows += _block(models[baseline], [models[other] for other in others], settings)
    delta = _ONE_SEED_NOTE if all(row["seeds"] == 1 for row in rows) else _NOISE_NOTE
    plain = make_frame([{**row, **_plain_numbers(row)} for row in rows], COLUMNS)
    shown = pd.DataFrame([_cells(row) for row in rows], columns=_HEADERS)
    return Table(plain, shown, _WORDS, rules[1:], [_NOTE, delta, *seeds_note(rows)])


def _model(model: str, scores: Runs, summaries: Runs, run_settings: Runs) -> Row:
    """Return a model as one row: means and standard deviations, and its `settings` as flat keys."""
    rows = [
        {**score, "dev_nll": summary["dev_nll"]}
        for score, summary in zip(scores[model], summaries[model], strict=True)
    ]
    return {**merged(rows, list(NUMBERS)), "settings": shared_settings(run_settings[model])}


def _block(baseline: Row, others: Sequence[Row], settings: ReportSettings) -> list[Row]:
    """Return a baseline with the values of what the others change, then the others with what they change."""
    changes = [differing(baseline["settings"], other["settings"]) for other in others]
    changed = sorted({key for keys in changes for key in keys})
    rows = [_row(baseline, None, changed, settings)]
    return rows + [_row(other, baseline, keys, settings) for other, keys in zip(others, changes, strict=True)]


def shared_settings(runs: Sequence[Row]) -> dict[str, Any]:
    """Return the settings that all runs of a model share, as flat dotted keys."""
    first, *others = (
        {key: value for key, value in flatten(run).items() if key not in IDENTITY} for run in runs
    )
    for other in others:
        if keys := differing(first, other):
            model, seed = runs[0]["model"], runs[0]["seed"]
            raise UserError(
                f"the runs of model {model!r} differ from that of seed {seed} in {keys[0]}; train them alike"
            )
    return first


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return keys whose values are not the same, sorted."""
    return sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))


def _row(model: Row, baseline: Row | None, keys: Sequence[str], settings: ReportSettings) -> Row:
    own = {key: model["settings"].get(key) for key in keys}
    row = {
        **model,
        "id": model["model"],
        "model": settings.label(model["model"]),
        "baseline": baseline["model"] if baseline else "",
        "differs": _listed(own) if baseline else "",
        "settings": _listed({key.rsplit(".", 1)[-1]: value for key, value in own.items()}),
    }
    for name in NUMBERS if baseline else ():
        row |= _difference(name, model, baseline or {})
    return row


def _listed(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in settings.items())


def _difference(name: str, own: Row, baseline: Row) -> Row:
    """Return difference of the means; its standard error and p-value where both have a standard deviation."""
    means = own[name], baseline[name]
    deviations = own[f"{name}_std"], baseline[f"{name}_std"]
    seed_counts = own["seeds"], baseline["seeds"]
    if None in means:
        return {}
    difference = means[0] - means[1]
    if None in deviations:
        return {f"{name}_difference": difference}
    return {
        f"{name}_difference": difference,
        f"{name}_difference_error": standard_error(deviations, seed_counts),
        f"{name}_p": p_value(difference, deviations, seed_counts),
    }


def _plain_numbers(row: Row) -> dict[str, str]:
    return {
        f"{name}{kind}": fixed(row.get(f"{name}{kind}"), 4 if kind == "_p" else CSV_DECIMALS[name])
        for name in NUMBERS
        for kind in _KINDS
    }


def _cells(row: Row) -> list[str]:
    cells = [row["model"], row["settings"]]
    for name, decimals in NUMBERS.items():
        cells.append(with_deviation(row[name], row[f"{name}_std"], decimals))
        cells.append(_delta(row.get(f"{name}_difference"), row.get(f"{name}_p"), decimals))
    return cells


def _delta(difference: float | None, p: float | None, decimals: int) -> str:
    """Return `+0.42`, in parentheses if it may be noise, and nothing for the baseline."""
    if difference is None:
        return ""
    text = signed(difference, decimals)
    return f"({text})" if p is not None and p >= NOISE else text


def of_package(inputs: Inputs) -> Table:
    """Return the table of a package."""
    run_settings = inputs.of_runs(SETTINGS, inputs.config.use.models)
    return ablations(inputs.scores(), inputs.summaries(), run_settings, inputs.settings)
