"""The comparison of systems without samples and without sentences. The packages of results have all other cases."""

from nmt.evaluation.bleu import count_matches
from pipeline.config.artifacts import ReportSettings
from pipeline.results.bootstrap import Bootstrap
from pipeline.results.intervals import compare_systems
from pipeline.results.tables.significance import make_significance_table
from tests.report_settings import report_settings


def test_comparison_without_samples_or_sentences() -> None:
    sentence = "le chat dort ."
    runs = [[count_matches(sentence, sentence)]]
    texts = [[sentence]]
    found = compare_systems({"a": runs, "b": runs}, {"a": texts, "b": texts}, [sentence], Bootstrap(0, 1))
    assert found["systems"]["a"]["low"] is None and found["pairs"][0]["p"] is None
    nothing = compare_systems({"a": [[]], "b": [[]]}, {"a": [[]], "b": [[]]}, [], Bootstrap(10, 1))
    assert nothing == {"sentences": 0, "systems": {}, "pairs": [], "signatures": {}}

    # a table has empty cells for a column without sentences
    settings = ReportSettings.model_validate(report_settings({"a": "A"}))
    rows = make_significance_table({"all": found, "no_unk": nothing}, settings).rows
    assert rows[0][3:] == ["", "", ""]
