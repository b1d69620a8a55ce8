"""Which settings decide which job."""

import os

import pytest

from nmt.io.files import write_json
from nmt.store.model_folder import NEEDED_FILES
from pipeline.config import job_settings
from tests.experiments import load_experiment, paper
from tests.translators import text_settings


@pytest.mark.parametrize(
    ("pairs", "decides"),
    [
        ({"cleaning": {"max_words": 70}}, True),
        ({"selection": {"target_words": 1000}}, True),
        ({"use": {"train": ["europarl-v7"]}}, True),
        ({"mirrors": ["file:///mirror"]}, False),
        ({"resources": {"train_hours": 3}}, False),
        ({"corpora": {"europarl-v7": {"shards": 3}}}, False),
    ],
)
def test_what_decides_the_text(tmp_path, pairs, decides):
    before, after = (
        job_settings.get_bitext_settings(config, "train")
        for config in (paper(tmp_path), paper(tmp_path, **pairs))
    )
    assert (after != before) == decides


def test_stamp_of_a_file_tells_an_older_one_apart(tmp_path):
    """Snakemake repeats no job if an older file takes the place of its input."""
    file = tmp_path / "train.en"
    stamps = []
    for text in ("one", "two"):
        file.write_text(text, encoding="utf-8")
        os.utime(file, (1e9, 1e9))
        stamps.append(job_settings.get_file_stamps([str(file)]))
    assert stamps[0] != stamps[1]


def test_cleaning_limits_training_text(tmp_path):
    config = paper(tmp_path, cleaning={"max_words": 30, "max_ratio": 3.0})
    limits = {
        corpus: job_settings.get_preparation_settings(config, corpus)["cleaning"] for corpus in config.corpora
    }
    assert limits["europarl-v7"] == {"max_words": 30, "max_ratio": 3.0}
    assert limits["newstest2014"] == limits["newstest2012"] == {}


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({}, ""),
        ({"tokenization": {"normalization": "punctuation"}}, "tokenization.normalization"),
    ],
    ids=["same", "tokenization"],
)
def test_other_text_of_initial_model_is_named(tmp_path, changes, difference):
    write_json(tmp_path / "text.json", text_settings().model_dump())
    for name in NEEDED_FILES:
        (tmp_path / name).touch()
    config = paper(tmp_path, init_from=str(tmp_path), **changes)
    description = job_settings.describe_other_text_of_model(config)
    assert difference in description if difference else description == ""


def test_other_test_text_of_data_from_is_named(tmp_path):
    config = load_experiment("cho2014b-demo").model_copy(update={"data_from": str(tmp_path)})
    assert not job_settings.describe_other_test_text(config)
    (corpus,) = config.use.test
    counts_file = tmp_path / "data" / "tokens" / corpus / "0.counts.json"
    counts_file.parent.mkdir(parents=True)
    settings = job_settings.get_preparation_settings(config, corpus)
    write_json(counts_file, {"settings": settings})
    assert not job_settings.describe_other_test_text(config)
    settings["grammar"]["pairs"] = 25
    write_json(counts_file, {"settings": settings})
    assert "grammar.pairs" in job_settings.describe_other_test_text(config)
