"""Tables with a paper's numbers.

tests/tools/test_results_page.py compares all other tables with those of the packages in the repository.
"""

from pipeline.results.inputs import Inputs
from pipeline.results.tables.table import Table
from pipeline.results.tables_and_figures import make_table
from tests.latex import assert_compiles
from tests.running import ROOT


def make_table_with_reported_numbers(name: str) -> Table:
    """A table of the demo's package as a run of the paper makes it."""
    folder = ROOT / "results" / "packages" / "demo"
    inputs = Inputs(folder, comparison_file=folder / "comparison.json")
    vars(inputs)["settings"] = inputs.settings.model_copy(update={"reported": True})
    return make_table(name, inputs)


def test_reported_scores() -> None:
    table = make_table_with_reported_numbers("table1")
    assert table.headers == [
        "Model", "All", "95%", "No UNK°", "95%", "All, reported", "No UNK°, reported", "Δ All", "Δ No UNK°",
        "13a", "chrF",
    ]  # fmt: skip
    rows = {row["id"]: row for row in table.records}
    star, moses = rows["rnnsearch-50-star"], rows["moses"]
    assert (star["reported_all"], star["reported_no_unk"]) == ("28.45", "36.15")
    assert star["difference_all"] == f"{float(star['bleu_all']) - 28.45:+.2f}"
    # the run has no Moses
    assert (moses["model"], moses["reported_no_unk"]) == ("Moses", "35.63")
    assert (moses["bleu_all"], moses["difference_all"], moses["seeds"]) == ("", "", None)
    assert table.notes[-1].startswith("Reported: what Bahdanau et al. (2015) give in their Table 1")
    assert_compiles(table1=table)


def test_reported_training() -> None:
    table = make_table_with_reported_numbers("table2")
    row = ["RNNencdec-30, reported", "846,000", "6.4", "109", "TITAN BLACK", "28.1", "53.0"]
    assert table.rows[1] == row
    assert (table.records[0]["reported_updates"], table.records[0]["reported_dev_nll"]) == ("846000", "53.0")
