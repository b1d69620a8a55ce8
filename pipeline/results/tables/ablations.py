"""The table of ablations: models that differ from a baseline in one or two settings, where a paper is ambiguous."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nmt.settings.base import flatten, read_settings
from nmt.settings.training import ModelRun
from nmt.store.model_folder import SETTINGS
from pipeline.config.artifacts import ReportSettings
from pipeline.results.bootstrap import SIGNIFICANCE_LEVEL
from pipeline.results.inputs import Inputs
from pipeline.results.seeds import Mean, Result
from pipeline.results.tables.notes import seeds_note
from pipeline.results.tables.table import Table, format_difference, format_number
from pipeline.results.welch import Difference, compare_means

DECIMALS = 2
"""Decimals of the numbers for readers."""
CSV_DECIMALS = {"bleu_all": 2, "bleu_no_unk": 2, "dev_nll": 4}
"""The compared numbers, with their decimals in the CSV file."""
IDENTITY_KEYS = {"model", "label", "seed", "sample_seed"}
"""Settings that identify a run and do not say how its model was trained."""

_HEADERS = ["Model", "Settings", "All", "Δ", "No UNK°", "Δ", "Dev. NLL", "Δ"]
_NOTE = (
    "BLEU and NLL as in Tables 1 and 2: higher BLEU is better, lower NLL. Settings: those that differ from the "
    "baseline's, which is the first row of each block; of the baseline those in which others differ."
)
_DIFFERENCE_NOTE = (
    "Δ: difference of the means to the baseline; in parentheses where it may be noise: one of the two models has a "
    "single seed, or the p-value of Welch's t-test over the seeds is 0.05 or more."
)


class Variant(NamedTuple):
    """A model of the table.

    means: the means over the model's runs, by name such as bleu_all. settings: those of the first run, from which the
    others differ only in their seeds.
    """

    model: str
    means: Mapping[str, Mean]
    run_count: int
    settings: ModelRun

    def get_setting(self, key: str) -> Any:
        """Return a training setting by its dotted key; None if models of this type do not have it."""
        value: Any = self.settings
        for name in key.split("."):
            value = getattr(value, name, None)
        return value


def make_ablations_table(inputs: Inputs) -> Table:
    """Return the table of ablations: a block of rows for each baseline of `artifacts.ablations`."""
    variants = _read_variants(inputs)
    records = []
    rows: list[list[str]] = []
    group_starts = []
    seed_counts = {}

    # a block for each baseline: the baseline with all settings that its variants change, then the variants
    for baseline_name, names in (inputs.settings.ablations or {}).items():
        group_starts.append(len(rows))
        baseline = variants[baseline_name]
        changed_keys = {name: _find_differing_keys(baseline, variants[name]) for name in names}
        baseline_keys = sorted(set[str]().union(*changed_keys.values()))
        for name, keys in [(baseline_name, baseline_keys), *changed_keys.items()]:
            seed_counts[name] = variants[name].run_count
            record, cells = _describe_variant(variants[name], baseline, keys, inputs.settings)
            records.append(record)
            rows.append(cells)

    return Table(
        records,
        _HEADERS,
        rows,
        text_columns=["Model", "Settings"],
        group_starts=group_starts[1:],
        notes=[_NOTE, _DIFFERENCE_NOTE, *seeds_note(seed_counts, inputs.settings)],
    )


def _read_variants(inputs: Inputs) -> dict[str, Variant]:
    """Return all models by name."""
    scores = inputs.scores()
    variants = {}
    for model, summaries in inputs.summaries().items():
        means = {"dev_nll": Mean.from_values([summary["dev_nll"] for summary in summaries])}
        for name in ("bleu_all", "bleu_no_unk"):
            means[name] = Mean.from_values([score[name] for score in scores[model]])
        # the first run of a model has the name of the model
        settings = read_settings(ModelRun, inputs.run_file(model, SETTINGS))
        variants[model] = Variant(model, means, len(summaries), settings)
    return variants


def _find_differing_keys(baseline: Variant, variant: Variant) -> list[str]:
    settings = flatten(baseline.settings.model_dump(exclude=IDENTITY_KEYS))
    other_settings = flatten(variant.settings.model_dump(exclude=IDENTITY_KEYS))
    keys = settings.keys() | other_settings.keys()
    return sorted(key for key in keys if settings.get(key) != other_settings.get(key))


def _describe_variant(
    variant: Variant, baseline: Variant, keys: Sequence[str], settings: ReportSettings
) -> tuple[Result, list[str]]:
    """Return the row of a variant or of the baseline itself: the CSV record, and the cells for readers.

    keys: the settings that the row shows.
    """
    # 1. the settings; the cells for readers leave out the group: architecture.step_order -> step_order
    label = settings.label(variant.model)
    is_baseline = variant is baseline
    setting_texts = [f"{key}: {variant.get_setting(key)}" for key in keys]
    short_texts = [f"{key.split('.')[-1]}: {variant.get_setting(key)}" for key in keys]
    record: Result = {
        "model": label,
        "baseline": "" if is_baseline else baseline.model,
        "differs": "" if is_baseline else ", ".join(setting_texts),
    }
    cells = [label, ", ".join(short_texts)]

    # 2. the means, and their differences from the baseline's means
    for name, decimals in CSV_DECIMALS.items():
        mean = variant.means[name]
        difference = Difference() if is_baseline else compare_means(mean, baseline.means[name])
        record[name] = format_number(mean.value, decimals)
        record[f"{name}_std"] = format_number(mean.std, decimals)
        record[f"{name}_difference"] = format_number(difference.value, decimals)
        record[f"{name}_difference_error"] = format_number(difference.error, decimals)
        record[f"{name}_p"] = format_number(difference.p, 4)

        text = format_difference(difference.value, DECIMALS)
        may_be_noise = difference.p is None or difference.p >= SIGNIFICANCE_LEVEL
        cells += [mean.format(DECIMALS), f"({text})" if text and may_be_noise else text]
    record["seeds"] = variant.run_count
    record["id"] = variant.model
    return record, cells
