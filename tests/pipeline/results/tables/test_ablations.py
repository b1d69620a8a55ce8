"""The table of ablations: what differs is read from the runs' settings, numbers against sums by hand."""

import math
from typing import Any

from pipeline.config.artifacts import ReportSettings
from pipeline.results.seeds import Result
from pipeline.results.tables.ablations import make_ablations_table
from pipeline.results.tables.writer import Table, render_formats
from tests.report_settings import report_settings
from tests.table_inputs import csv_rows, markdown_cells
from tests.training_settings import model_run

LABELS = {
    "base": "RNNsearch-50",
    "appendix": "RNNsearch-50, A.2.2",
    "both": "RNNsearch-50, both",
    "other": "Other",
}
SETTINGS = report_settings(LABELS, ablations={"base": ["appendix", "both"], "other": ["base"]})
CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "base": {},
    "appendix": {"architecture": {"step_order": "appendix"}},
    "both": {"architecture": {"output_layer": "factored"}, "training": {"cost": "mean", "updates": 99}},
    "other": {"training": {"optimizer": "adam"}},
}
# BLEU All, dev NLL of each seed; No UNK is All plus 10
RUNS = {
    "base": {1: (10.0, 30.0), 2: (11.0, 31.0), 3: (15.0, 32.0)},
    "appendix": {1: (13.0, 30.0), 2: (14.0, 31.0)},
    "both": {1: (2.0, 40.0), 2: (2.0, 40.0), 3: (2.0, 40.0)},
    "other": {1: (9.5, 30.0)},
}


def run_settings(model: str, seed: int) -> Result:
    """What `nmt train` writes as settings.json."""
    settings = model_run().model_dump() | {
        "model": model,
        "label": LABELS[model],
        "seed": seed,
        "sample_seed": 1,
    }
    for block, changes in CHANGES[model].items():
        settings[block] = settings[block] | changes
    return settings


def make_table() -> Table:
    """The table of `RUNS`."""
    scores: dict[str, list[Result]] = {}
    summaries: dict[str, list[Result]] = {}
    settings: dict[str, list[Result]] = {}
    for model, runs in RUNS.items():
        scores[model] = [{"bleu_all": bleu, "bleu_no_unk": bleu + 10} for bleu, _ in runs.values()]
        summaries[model] = [{"dev_nll": nll} for _, nll in runs.values()]
        settings[model] = [run_settings(model, seed) for seed in runs]
    return make_ablations_table(scores, summaries, settings, ReportSettings.model_validate(SETTINGS))


def test_differing_settings() -> None:
    rows = csv_rows(render_formats(make_table()))
    assert [(row["id"], row["baseline"]) for row in rows] == [
        ("base", ""),
        ("appendix", "base"),
        ("both", "base"),
        ("other", ""),
        ("base", "other"),
    ]
    assert [row["differs"] for row in rows] == [
        "",
        "architecture.step_order: appendix",
        "architecture.output_layer: factored, training.cost: mean, training.updates: 99",
        "",
        "training.optimizer: adadelta",
    ]


def test_means_and_differences_by_hand() -> None:
    base, appendix, both, other, _ = csv_rows(render_formats(make_table()))
    # 10, 11, 15: mean 12, deviation sqrt((4 + 1 + 9) / 2); 13, 14: mean 13.5, deviation sqrt(0.5)
    assert (base["bleu_all"], base["bleu_all_std"], base["seeds"]) == ("12.00", "2.65", "3")
    assert (appendix["bleu_all"], appendix["bleu_all_std"], appendix["seeds"]) == ("13.50", "0.71", "2")
    assert (base["bleu_all_difference"], appendix["bleu_all_difference"]) == ("", "1.50")
    error = math.sqrt(7 / 3 + 0.5 / 2)
    assert appendix["bleu_all_difference_error"] == f"{error:.2f}"
    assert (appendix["bleu_no_unk"], appendix["bleu_no_unk_difference"]) == ("23.50", "1.50")
    # NLL 30, 31, 32 against 40 three times
    assert (base["dev_nll"], base["dev_nll_std"]) == ("31.0000", "1.0000")
    assert (both["dev_nll_difference"], both["dev_nll_difference_error"]) == (
        "9.0000",
        f"{math.sqrt(1 / 3):.4f}",
    )
    assert (other["bleu_all"], other["bleu_all_std"], other["seeds"]) == ("9.50", "", "1")


def test_noise_is_in_parentheses() -> None:
    cells = markdown_cells(render_formats(make_table()))
    assert cells[0] == ["Model", "Settings", "All", "Δ", "No UNK°", "Δ", "Dev. NLL", "Δ"]
    # the baseline shows its own values of whatever the others change
    assert cells[2][1] == "output_layer: direct, step_order: groundhog, cost: sum, updates: 30"
    assert cells[2][2:4] == ["12.00 ± 2.65", ""]
    # 1.5 is less than one standard error, 1.61
    assert cells[3][1:] == [
        "step_order: appendix",
        *("13.50 ± 0.71", "(+1.50)", "23.50 ± 0.71", "(+1.50)", "30.50 ± 0.71", "(−0.50)"),
    ]
    # 10 is 6.5 standard errors with two degrees of freedom, where 4.3 have a p of 0.05
    assert cells[4][2:4] == ["2.00", "−10.00"]
    assert cells[4][6:] == ["40.00", "+9.00"]
    # a single seed has no standard error to hold a difference against
    assert cells[6][2:4] == ["12.00 ± 2.65", "+2.50"]
