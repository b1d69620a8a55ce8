"""Names of runs: the first seed's go by the models' names, and a model goes on from the same seed's run."""

from pipeline.config.runs import Run, collect_runs
from tests.experiments import paper


def test_model_with_its_own_seeds(tmp_path):
    config = paper(tmp_path, "seeds: [4, 2]\nmodels: {rnnsearch-50-star: {seeds: [2]}}\n")
    runs = collect_runs(config, ["rnnsearch-50", "rnnsearch-50-star"])
    assert runs == {
        "rnnsearch-50": Run("rnnsearch-50", "rnnsearch-50", 4, None),
        "rnnsearch-50.seed-2": Run("rnnsearch-50.seed-2", "rnnsearch-50", 2, None),
        "rnnsearch-50-star": Run("rnnsearch-50-star", "rnnsearch-50-star", 2, "rnnsearch-50.seed-2"),
    }
