"""Which settings decide which job."""

import os

import pytest

from nmt.io.files import write_json
from nmt.store.model_folder import NEEDED_FILES
from pipeline.config import job_settings
from pipeline.config.runs import collect_runs
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


@pytest.mark.parametrize("key", ["init_from", "pretrained"])
def test_model_with_other_settings_of_the_text_is_named(tmp_path, key):
    folder = tmp_path if key == "init_from" else tmp_path / "rnnsearch-30"
    folder.mkdir(exist_ok=True)
    write_json(folder / "text.json", text_settings().model_dump())
    for name in NEEDED_FILES:
        (folder / name).touch()
    value = str(tmp_path) if key == "init_from" else {"models": str(tmp_path)}
    assert not list(job_settings.find_text_differences(paper(tmp_path, **{key: value})))
    config = paper(tmp_path, **{key: value}, tokenization={"normalization": "punctuation"})
    (problem,) = job_settings.find_text_differences(config)
    assert str(folder) in problem
    assert "tokenization.normalization was not set and is now 'punctuation'" in problem
    if key == "pretrained":  # nothing is trained then
        config = config.model_copy(update={"init_from": "none"})
        assert list(job_settings.find_text_differences(config)) == [problem]


def test_other_text_of_data_from_is_named(tmp_path):
    config = load_experiment("cho2014b-demo").model_copy(update={"data_from": str(tmp_path)})
    assert not list(job_settings.find_text_differences(config))  # it is not prepared yet
    (test_corpus,) = config.use.test
    test_settings = job_settings.get_preparation_settings(config, test_corpus)
    settings_by_file = {tmp_path / "data" / "tokens" / test_corpus / "0.counts.json": test_settings}
    for split in ("train", "dev"):
        settings = job_settings.get_bitext_settings(config, split)
        settings_by_file[tmp_path / "data" / "binary" / split / "meta.json"] = settings
    for file, settings in settings_by_file.items():
        file.parent.mkdir(parents=True)
        write_json(file, {"settings": settings})
    assert not list(job_settings.find_text_differences(config))
    for file, settings in settings_by_file.items():
        write_json(file, {"settings": settings | {"languages": {"source": "de", "target": "fr"}}})
    problems = list(job_settings.find_text_differences(config))
    for file, problem in zip(settings_by_file, problems, strict=True):
        assert str(file.parent) in problem


def test_another_initial_model_repeats_jobs(tmp_path):
    """Snakemake repeats no job if an older model takes the place of its input."""
    (tmp_path / "source.tsv").write_text("a", encoding="utf-8")
    config = paper(tmp_path, init_from=str(tmp_path))
    (run, *_) = collect_runs(config).values()
    settings = []
    for text in ("one", "two"):
        (tmp_path / "summary.json").write_text(text, encoding="utf-8")
        os.utime(tmp_path / "summary.json", (1e9, 1e9))
        settings.append(job_settings.get_training_settings(config, run))
    assert settings[0] != settings[1]
