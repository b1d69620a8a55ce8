"""Which settings decide which job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.config import job_settings
from pipeline.config.runs import runs_of
from pipeline.config.snapshot import page_settings
from tests.experiments import paper


@pytest.mark.parametrize(
    ("pairs", "decides"),
    [
        ({"cleaning": {"max_words": 70}}, True),
        ({"selection": {"target_words": 1000}}, True),
        ({"use": {"train": ["europarl-v7"]}}, True),
        ({"mirrors": ["file:///mirror"]}, False),
        ({"resources": {"train_hours": 3}}, False),
        ({"selection": {"lm_vocabulary_least": 3}}, False),
        ({"corpora": {"europarl-v7": {"shards": 3}}}, False),
    ],
)
def test_what_decides_the_text(tmp_path: Path, pairs: dict[str, Any], decides: bool) -> None:
    before = job_settings.data_settings(paper(tmp_path))
    assert (job_settings.data_settings(paper(tmp_path, **pairs)) != before) == decides


def test_data_of_another_experiment_decide_by_their_place(tmp_path: Path) -> None:
    config = paper(tmp_path, data_from="../other")
    assert json.loads(job_settings.data_settings(config)) == {"data_from": config.data_from}


def test_training_is_decided_by_its_own_settings(tmp_path: Path) -> None:
    def settings(**pairs: Any) -> str:
        config = paper(tmp_path, **pairs)
        return job_settings.training_settings(config, runs_of(config, ["rnnsearch-50"])["rnnsearch-50"])

    assert settings() == settings(models={"rnnsearch-30": {"label": "other"}}, decoding={"beam": 3})
    assert settings() != settings(training={"batch_size": 7})


def test_the_comparison_follows_the_order_of_the_models(tmp_path: Path) -> None:
    models = paper(tmp_path).use.models
    forth, back = ({"train": ["europarl-v7"], "models": order} for order in (models, models[::-1]))
    settings = job_settings.comparison_settings
    assert settings(paper(tmp_path, use=forth)) != settings(paper(tmp_path, use=back))


def test_the_page_shows_what_is_in_use(tmp_path: Path) -> None:
    one = "rnnsearch-50"
    artifacts = {"figure2_models": [one], "figure3_model": one, "table3_models": [one]}
    use = {"train": ["europarl-v7"], "models": [one, "rnnencdec-30"]}
    config = paper(tmp_path, use=use, artifacts=artifacts)
    shown = json.loads(page_settings(config))
    assert set(shown["models"]) == {"rnnsearch-50", "rnnencdec-30"}
    assert "europarl-v7" in shown["corpora"] and "un-2000" not in shown["corpora"]
    assert "mirrors" not in shown


def test_limits_of_cleaning_are_for_training_text(tmp_path: Path) -> None:
    config = paper(tmp_path, cleaning={"max_words": 30, "max_ratio": 3.0})
    limits = {
        corpus: job_settings.preparation_settings(config, corpus)["cleaning"] for corpus in config.corpora
    }
    assert limits["europarl-v7"] == {"max_words": 30, "max_ratio": 3.0}
    assert limits["newstest2014"] == limits["newstest2012"] == {}
