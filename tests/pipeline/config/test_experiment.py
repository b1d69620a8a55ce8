"""What an experiment uses of its catalogues."""

from pipeline.config import experiment
from tests.experiments import load_experiment, paper


def test_list_corpora_with_selection(tmp_path):
    def used(enabled):
        selection = {"enabled": enabled, "in_domain": ["newstest2012", "newstest2011"]}
        return experiment.list_corpora(paper(tmp_path, selection=selection))

    plain = experiment.list_corpora(paper(tmp_path))
    assert used(True) == [*plain, "newstest2011"] and used(False) == plain
    assert len(plain) == len(set(plain)) >= 8


def test_word_budgets(tmp_path):
    config = paper(tmp_path, selection={"corpus_words": {"europarl-v7": 1000}})
    budgets = experiment.collect_budgets(config)
    assert budgets["europarl-v7"] == ["europarl-v7"]
    assert budgets[experiment.COMMON_BUDGET] == [name for name in config.use.train if name != "europarl-v7"]


def test_contrasted_models(tmp_path):
    def contrasted(*models):
        return experiment.select_contrasted_models(
            paper(tmp_path, artifacts={"figure2_models": list(models)})
        )

    assert contrasted("rnnencdec-50", "rnnencdec-30", "rnnsearch-50") == ["rnnsearch-50", "rnnencdec-50"]
    assert contrasted("rnnencdec-50", "rnnencdec-30") == ["rnnencdec-50", "rnnencdec-30"]
    assert contrasted("rnnsearch-50") == ["rnnsearch-50"]


def test_playground_models(tmp_path):
    assert experiment.select_playground_models(paper(tmp_path)) == ["rnnsearch-50", "rnnencdec-50"]
    for asked in ["rnnsearch-50-star"], []:
        assert experiment.select_playground_models(paper(tmp_path, playground={"models": asked})) == asked
    other = load_experiment("cho2014b")
    assert experiment.select_contrasted_models(other)[
        1
    ] == "grconv-30" and not experiment.select_playground_models(other)
