"""Every experiment resolves without network, GPU or Slurm, into the jobs that its papers ask for."""

import re

import pytest
import yaml

from tests.experiments import load_experiment
from tests.plans import EXPERIMENTS
from tests.running import ROOT

MODELS = ["rnnencdec-30", "rnnsearch-30", "rnnencdec-50", "rnnsearch-50", "rnnsearch-50-star"]
TRAINED = {
    "ablations": 30,
    "ablations-europarl": 36,
    "europarl-pieces": 10,
    "multi30k-subwords": 2,
    "cho2014b": 2,
    "sutskever2014": 6,
}
"""Models that experiments train, where not five."""


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_resolves(plans, experiment):
    plan = plans[experiment]
    assert plan.trained
    if experiment in TRAINED or not experiment.startswith(("cho", "sutskever")):
        assert len(plan.trained) == TRAINED.get(experiment, 5)
    small = "demo" in experiment or experiment == "ablations"
    assert all(("gpu=1" in job) != small for job in plan.jobs("train"))
    made = {"ablations": "ablations", "cho2014b": "cho2014b_table1b", "sutskever2014": "sutskever2014_table1"}
    plan.making(f"results/{made.get(experiment.partition('-')[0], 'table1')}.csv")


def test_training_reads_selected_text(plans):
    paper = plans["paper"]
    assert sorted(paper.trained) == sorted(MODELS)
    assert len(paper.jobs("language_model")) == 4
    assert paper.jobs("score_pairs_giga-fren") and paper.jobs("select_pairs_giga-fren")
    read = paper.inputs("data/binary/train/meta.json")
    assert "data/selected/europarl-v7/0.en.zst" in read and "data/tokens/europarl-v7/0.en.zst" not in read


def test_a_moved_checkout_repeats_no_selection(plans):
    """Snakemake compares the paths of inputs, so those of programs are relative."""
    text = plans["paper/moses"].text
    builds = set(re.findall(r"[^ ,\n]*\.(?:kenlm|moses)/build\.json", text))
    assert len(builds) == 2 and all(path.startswith("..") for path in builds)


def test_every_model_is_trained_with_every_seed(plans):
    seeds = plans["paper/seeds"]
    names = [f"{model}{seed}" for model in MODELS for seed in ("", ".seed-2")]
    assert sorted(seeds.trained) == sorted(names)
    for name, job in seeds.trained.items():
        model, _, later = name.partition(".seed-")
        settings = seeds.settings(f"models/{name}/model.safetensors")
        assert (settings["model"], settings["sample_seed"]) == (model, 7)
        assert settings["seed"] == int(later or 1) and "seeds" not in settings
        base = "models/rnnsearch-50.seed-2" if later else "models/rnnsearch-50"
        assert (f"{base}/final_state.safetensors" in job.split("output:")[0]) == ("star" in name)
    assert len(seeds.jobs("bleu")) == len(seeds.jobs("translate")) / 2 == 10


def test_moses_adds_a_row_and_no_training(plans):
    paper, on = plans["paper/seeds"], plans["paper/moses"]
    assert "moses_programs" not in paper.text and "translations/test/moses" not in paper.text
    # neither it nor cores or a cluster are a part of what a model is
    assert sorted(plans["paper"].lines("nmt train ")) == sorted(on.lines("nmt train ")) != []
    for rule in ("text", "align", "phrases", "language_model", "tune", "translate"):
        assert on.jobs(f"moses_{rule}"), rule
    # its programs are neither inputs, which depend on the PATH, nor outputs, which Snakemake deletes
    assert not any("input:" in job or "bin/" in job for job in on.jobs("moses_programs"))
    assert "scores/test/moses.json" in on.making("results/table1.csv")


def test_systems_are_translated_by_their_members(plans):
    plan = plans["paper/ensemble"]
    assert len(plan.trained) == 3
    lines = [line for line in plan.lines("nmt test-set decode") if "--mode all" in line]
    by_output = {line.split("--output translations/test/")[1].split(".all")[0]: line for line in lines}
    assert set(by_output) == {*("rnnencdec-50", "rnnsearch-50", "rnnsearch-50.seed-2", "five", "wide")}
    members = "--model models/rnnsearch-50 --model models/rnnsearch-50.seed-2 --average probability --source "
    assert members in by_output["five"]
    beams = {}
    for name in ("five", "wide", "rnnencdec-50"):
        beams[name] = plan.settings(f"translations/test/{name}.all.jsonl")["beam"]
    assert beams == {"five": 2, "wide": 12, "rnnencdec-50": 10}
    job = plan.inputs("translations/test/five.all.jsonl")
    assert {f"models/{run}/model.safetensors" for run in ("rnnsearch-50", "rnnsearch-50.seed-2")} <= job
    assert "translations/test/wide.all.jsonl" in plan.inputs("rescored/mixed.fr") and plan.lines(
        " --weight 0.25 "
    )
    assert "moses.nbest.gz" in plan.inputs("rescored/best.fr")
    assert "models/rnnencdec-50/model.safetensors" in plan.inputs("vectors/rnnencdec-50.tsv")


def test_moses_language_model_reads_news_crawl(plans):
    """Sutskever et al. (2014), Table 2: nothing is to be edited."""
    plan = plans["sutskever2014/moses"]
    (job,) = plan.jobs("moses_language_model")
    news = re.findall(r"data/tokens/(news-crawl-\d+)/0\.fr\.zst", job.split("output:")[0])
    assert news == [f"news-crawl-{year}" for year in range(2013, 2006, -1)]
    assert "news-crawl-2013/0.en.zst" not in plan.text
    assert "news-crawl" not in plan.jobs("vocabulary")[0]


@pytest.mark.parametrize("experiment", ["multi30k", "cho2014b"])
def test_phrase_model_adds_a_second_moses(plans, experiment):
    """Cho et al. (2014b), Table 1: the model scores the phrase table's pairs, and is trained on them."""
    plan = plans[f"{experiment}/moses"]
    table = plan.inputs("results/table1.csv" if experiment != "cho2014b" else "results/cho2014b_table1a.csv")
    assert {"scores/test/moses.json", "scores/test/moses-rnnenc.json"} <= table
    (line,) = plan.lines("--output models/rnnenc-phrases ")
    assert " --train moses/phrases/train --dev moses/phrases/dev " in line
    assert not [job for job in (*plan.jobs("train"), *plan.jobs("translate")) if "rnnenc-phrases" in job]
    for rule in ("moses_tune_scored", "moses_translate_scored"):
        read = plan.jobs(rule)[0].split("output:")[0]
        assert "moses/phrases/phrase-table.gz" in read and "moses/phrase-table.gz" not in read, rule


def test_profile_names_every_rule_with_a_gpu(plans):
    profile = yaml.safe_load((ROOT / "slurm" / "config.yaml").read_text(encoding="utf-8"))
    on_gpu = set()
    for name in ("paper", "sutskever2014/moses", "multi30k/moses"):
        for rule, job in re.findall(r"\n *rule ([\w-]+):\n((?: +\w.*\n)+)", plans[name].text):
            on_gpu |= {rule} if ", gpu=1" in job else set()
    # alignments are read off where the right ones are known: of the demo's text, on its processor
    assert set(profile["set-resources"]) == on_gpu | {"align"}


def test_data_from_is_read_and_never_written(plans):
    for experiment, other in (("cho2014b", "../.."), ("ablations-europarl", "../europarl")):
        plan = plans[experiment]
        assert all(f"{other}/data/binary/train/meta.json" in job for job in plan.jobs("train"))
        assert all(f"--shared-store {other}/store " in line for line in plan.lines("nmt train "))
        assert not plan.jobs("binarize") and not plan.jobs("prepare")
    assert "../europarl/data/tokens/europarl-v7/0.fr.zst" in plan.inputs("moses/language_model.binary")


@pytest.mark.parametrize(
    ("experiment", "other"),
    [
        ("ablations", "demo"),
        ("ablations-europarl", "europarl"),
        ("cho2014b-demo", "demo"),
        ("sutskever2014-demo", "demo"),
    ],
)
def test_experiments_with_data_from_have_its_text_settings(experiment, other):
    mine, its = (load_experiment(name) for name in (experiment, other))
    text = {"seed", "languages", "cleaning", "tokenization", "selection", "vocabulary", "grammar", "corpora"}
    assert mine.model_dump(include=text) == its.model_dump(include=text)
    roles = {"train", "dev", "test"}
    assert mine.use.model_dump(include=roles) == its.use.model_dump(include=roles)


def test_dev_set_is_translated_if_a_table_needs_it(plans):
    assert "translations/dev/" not in plans["paper"].text and not plans["paper"].jobs("dev_text")
    plan = plans["cho2014b"]
    jobs = plan.jobs("translate")
    of_dev = [job for job in jobs if "output: translations/dev/" in job]
    assert len(of_dev) == len(jobs) / 2 and all("data/dev.en.zst" in job for job in of_dev)
    assert all(
        f"scores/{part}/grconv-30.json" in plan.inputs("results/cho2014b_table1b.csv")
        for part in ("test", "dev")
    )
