"""The table of ablations, where models have different numbers of seeds and settings with their default values.

tests/tools/test_results_page.py compares the table of the package `ablations`.
"""

from pipeline.results.inputs import Inputs
from pipeline.results.tables_and_figures import make_table
from tests.running import ROOT


def test_single_seeds_and_default_values() -> None:
    inputs = Inputs(ROOT / "results" / "packages" / "sutskever2014-demo")
    ablations = {"lstm-reversed": ["lstm-forward", "lstm-shallow"]}
    vars(inputs)["settings"] = inputs.settings.model_copy(update={"ablations": ablations})
    baseline, forward, shallow = make_table("ablations", inputs).rows
    # `reversed` is the default, so the recorded settings do not have it
    assert baseline[1] == "layers: 2, source_order: reversed"
    assert (forward[1], shallow[1]) == ("source_order: forward", "layers: 1")
    # only lstm-shallow has a single seed, so nothing says how much of its difference is noise
    assert (forward[3].startswith("("), shallow[3].startswith("(")) == (False, True)
