"""The paper's full run resolves at once, without network, GPU or Slurm."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from nmt.model.model_folder import MODEL, RECORDS
from nmt.settings.training import ModelRun
from pipeline.config.experiment import final_stage, shards_of
from pipeline.config.overlays import find_layers, load
from pipeline.config.runs import run_settings, runs_of
from pipeline.monitor.jobs import list_jobs
from tests import kenlm
from tests.messages import check
from tests.running import ROOT, scheduled, snakemake

MODELS = ["rnnencdec-30", "rnnsearch-30", "rnnencdec-50", "rnnsearch-50", "rnnsearch-50-star"]
FEW_SHARDS = "corpora={europarl-v7: {shards: 1}, un-2000: {shards: 1}, giga-fren: {shards: 1}}"
"""The largest corpora in one shard each: hundreds of jobs fewer, for tests that need none of them."""


def test_a_checkout_may_be_moved_with_its_experiments() -> None:
    jobs = list_jobs(ROOT / "experiments" / "demo").jobs
    assert "../../workflow/papers/bahdanau2015.yaml" in {file for job in jobs for file in job.inputs}
    assert not [file for job in jobs for file in job.inputs if os.path.isabs(file)]


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a dry-run of the paper says, shell lines included. It loads no PyTorch, which would take seconds."""
    broken = tmp_path_factory.mktemp("broken") / "torch.py"
    broken.write_text("raise ImportError('the rules load PyTorch')\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(broken.parent))
        result = snakemake(tmp_path_factory.mktemp("paper"), "-n", "-p")
    assert result.returncode == 0, result.stdout
    return result.stdout


def test_paper_resolves_to_five_training_jobs_with_one_gpu_each(paper: str) -> None:
    jobs = scheduled(paper, "train")
    assert len(jobs) == 5
    for model in MODELS:
        (job,) = [job for job in jobs if f"models/{model}/model.safetensors" in job]
        assert "gpu=1" in job
    assert not scheduled(paper, "ablations")


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same of the paper with another seed for its text and two for its models."""
    changes = ["seed=7", "seeds=[1,2]", FEW_SHARDS]
    return snakemake(tmp_path_factory.mktemp("seeds"), "-n", "-p", "--config", *changes).stdout


def test_every_model_is_trained_with_every_seed_and_stars_go_on_from_their_own(seeds: str) -> None:
    jobs = scheduled(seeds, "train")
    names = [f"{model}{seed}" for model in MODELS for seed in ("", ".seed-2")]
    assert sorted(job.split("wildcards: model=")[1].split()[0] for job in jobs) == sorted(names)
    for name in names:
        model, _, later = name.partition(".seed-")
        (job,) = [job for job in jobs if f"models/{name}/model.safetensors" in job]
        (line,) = [
            line for line in seeds.split("\n") if f"--state state/{name} --output models/{name} " in line
        ]
        assert f'"model": "{model}", "sample_seed": 7, "seed": {later or 1}, ' in line
        assert "seeds" not in line
        base = "models/rnnsearch-50.seed-2" if later else "models/rnnsearch-50"
        assert (f"{base}/final_state.safetensors" in job.split("output:")[0]) == ("star" in name)
    assert len(scheduled(seeds, "score")) == len(scheduled(seeds, "translate")) / 2 == 10
    (table,) = scheduled(seeds, "table1")
    assert all(f"scores/{name}.json" in table and f"models/{name}/summary.json" in table for name in names)
    (figure,) = scheduled(seeds, "figure2")
    assert "scores/rnnsearch-50.json" in figure and "seed-2" not in figure


def test_moses_is_a_row_of_the_tables_where_it_is_measured_and_trains_no_model_anew(
    paper: str, tmp_path: Path
) -> None:
    wanted = ["results/table1.csv", "moses/n_best.gz"]
    on = snakemake(tmp_path, "-n", "-p", *wanted, "--config", "moses={enabled: true}", FEW_SHARDS).stdout
    assert "moses_programs" not in paper and "translations/moses" not in paper
    trained = [sorted(line for line in made.split("\n") if "nmt train " in line) for made in (paper, on)]
    assert trained[0] == trained[1] != []
    for rule in ("text", "align", "phrases", "language_model", "tune", "translate", "n_best"):
        assert scheduled(on, f"moses_{rule}"), rule
    (table,), (compare,) = scheduled(on, "table1"), scheduled(on, "compare")
    assert "scores/moses.json" in table and "translations/moses.txt" in compare
    (lists,) = [line for line in on.split("\n") if "--output-n-best moses/n_best.gz" in line]
    assert "--n-best 1000 --n-best-factor 20" in lists and "--cube-pruning 1000" in lists


ENSEMBLE = """
use: {models: [rnnencdec-50, rnnsearch-50], systems: [five, wide], rescored: [mixed, best]}
models: {rnnsearch-50: {seeds: [1, 2]}}
systems:
  five: {label: Five, members: [rnnsearch-50, rnnsearch-50.seed-2], decoding: {beam: 2}}
  wide: {label: Wide, members: [rnnencdec-50], decoding: {beam: 12}}
artifacts: {figure2_models: [rnnsearch-50], figure3_model: rnnsearch-50}
rescored:
  mixed: {label: Mixed, lists: wide, members: [rnnsearch-50, rnnsearch-50.seed-2], weight: 0.25}
  best: {label: Best, lists: moses}
n_best_lists: {moses: moses.nbest.gz}
sentence_vectors: {model: rnnencdec-50, panels: [[John admires Mary, Mary admires John, "It 's", "{braces}"]]}
"""


def test_systems_train_nothing_and_are_translated_as_their_members_together(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(ENSEMBLE, encoding="utf-8")
    (tmp_path / "moses.nbest.gz").touch()
    result = snakemake(tmp_path, "-n", "-p", "--config", FEW_SHARDS)
    assert result.returncode == 0, result.stdout
    assert len(scheduled(result.stdout, "train")) == 3
    lines = [
        line for line in result.stdout.split("\n") if "nmt test-set decode" in line and "--mode all" in line
    ]
    by_output = {line.split("--output translations/")[1].split(".all")[0]: line for line in lines}
    assert list(by_output) != [] and set(by_output) == {
        *("rnnencdec-50", "rnnsearch-50", "rnnsearch-50.seed-2", "five", "wide")
    }
    (rescore,), (oracle,) = scheduled(result.stdout, "rescore"), scheduled(result.stdout, "oracle")
    assert "translations/wide.all.jsonl" in rescore and "models/rnnsearch-50.seed-2/" in rescore
    assert "moses.nbest.gz" in oracle and "output: rescored/best.fr" in oracle
    assert "--average probability --source" in result.stdout and " --weight 0.25 " in result.stdout
    (compare,) = scheduled(result.stdout, "compare")
    assert "rescored/mixed.fr, rescored/best.fr" in compare
    (vectors,) = scheduled(result.stdout, "vectors")
    assert (
        "models/rnnencdec-50/model.safetensors" in vectors and "output: vectors/rnnencdec-50.tsv" in vectors
    )
    (report,) = scheduled(result.stdout, "report")
    assert "results/sentence_vectors.png" in report
    members = "--model models/rnnsearch-50 --model models/rnnsearch-50.seed-2 --average probability --source "
    assert members in by_output["five"] and '"beam": 2' in by_output["five"]
    assert "nmt test-set decode --model models/rnnencdec-50 --source" in by_output["wide"]
    assert '"beam": 12' in by_output["wide"] and '"beam": 10' in by_output["rnnencdec-50"]
    (job,) = [job for job in scheduled(result.stdout, "translate") if "output: translations/five.all" in job]
    assert all(f"models/{run}/model.safetensors" in job for run in ("rnnsearch-50", "rnnsearch-50.seed-2"))


def test_training_starts_once_the_text_is_binarized_and_selected(paper: str) -> None:
    assert len(scheduled(paper, "language_model")) == 4
    assert len(scheduled(paper, "select")) == len(scheduled(paper, "score_pairs")) > 5
    (train_text,) = [job for job in scheduled(paper, "binarize") if "part=train" in job]
    assert "data/selected/europarl-v7/0.en.zst" in train_text
    assert "data/tokens/europarl-v7" not in train_text


def test_training_text_is_shuffled_with_the_seed_and_development_text_stays_in_order(seeds: str) -> None:
    lines = {
        part: next(line for line in seeds.split("\n") if f"--output data/binary/{part} " in line)
        for part in ("train", "dev")
    }
    assert " --shuffle-seed 7 " in lines["train"] and "--shuffle-seed" not in lines["dev"]


def test_every_text_of_the_paper_is_checked_whatever_archive_it_comes_in(paper: str, tmp_path: Path) -> None:
    """Second sources carry no sums of archives."""
    pairs = {}
    (tmp_path / "config.yaml").touch()
    for corpus in load(find_layers(ROOT / "config.yaml", tmp_path)).corpora:
        for job in scheduled(paper, f"extract_{corpus}"):
            found = re.search(r"nmt data extract .* --pairs (\d+) ", job)
            assert found, corpus
            pairs[corpus] = int(found[1])
    assert len(pairs) == 8
    assert sum(pairs.values()) == 40_842_333 + 3003 + 3000 + 3003


def test_language_models_are_sorted_in_the_memory_that_their_job_asks_for(tmp_path: Path) -> None:
    """With the text there, so that the jobs' memory is known."""
    programs = kenlm.programs()
    for corpus in ("newstest2012", "newstest2013"):
        for side in ("en", "fr"):
            path = tmp_path / "data" / "tokens" / corpus / f"0.{side}.zst"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x" * 1_000_000)
    settings = ["--config", "resources={data_memory_gb: 3}"]
    wanted = "data/selection/lm/in.en.binary"
    output = snakemake(tmp_path, "-n", "-p", *settings, "--", wanted).stdout
    size = (2_000_000 + (programs / "lmplz").stat().st_size) / 2**20
    (job,) = [job for job in scheduled(output, "language_model") if f"output: {wanted}" in job]
    asked, given = re.search(r" mem_mb=(\d+)", job), re.search(r"--memory-mb (\d+)", job)
    assert asked and given
    assert int(asked[1]) == int(given[1]) == pytest.approx(3000 + 2 * size, abs=2)


def test_a_command_does_not_grow_with_the_number_of_shards(tmp_path: Path) -> None:
    """One argument of a shell, which a job's command is, holds 128 KiB."""
    text = {side: {"archive": "giga-fren", "member": side} for side in ("source", "target")}

    def commands(shards: int) -> list[str]:
        settings = {"corpora": {"many": {**text, "shards": shards}}, "use": {"train": ["many"]}}
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        output = snakemake(tmp_path, "-n", "-p", "--", "data").stdout
        rules = ("overlap", "sample_out_of_domain", "threshold", "vocabulary", "binarize")
        jobs = [scheduled(output, rule)[0] for rule in (*rules, "sum_counts")]
        return [line for job in jobs for line in job.split("\n") if "nmt " in line]

    few, many = commands(2), commands(100)
    assert len(few) == len(many) == 6
    assert max(map(len, many)) < max(map(len, few)) + 20


def test_what_needs_the_network_runs_where_snakemake_runs(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").touch()
    jobs = list_jobs(tmp_path, pairs=["moses={enabled: true}", FEW_SHARDS]).jobs
    here, sent = ({job.rule for job in jobs if job.local == local} for local in (True, False))
    assert {"download", "kenlm_programs", "moses_programs"} <= here
    assert {"extract_europarl-v7", "tokenize", "language_model", "score_pairs", "train"} <= sent


def test_europarl_resolves(tmp_path: Path) -> None:
    shutil.copy(ROOT / "experiments" / "europarl" / "config.yaml", tmp_path)
    result = snakemake(tmp_path, "-n")
    assert result.returncode == 0, result.stdout
    assert len(scheduled(result.stdout, "train")) == 5
    assert not scheduled(result.stdout, "language_model")


def test_deep_lstms_have_a_vocabulary_of_each_side_and_ensembles_of_their_runs(tmp_path: Path) -> None:
    shutil.copy(ROOT / "experiments" / "sutskever2014" / "config.yaml", tmp_path)
    output = snakemake(tmp_path, "-n", "-p").stdout
    assert len(scheduled(output, "train")) == 6
    words = {job.split("language=")[1][:2]: job for job in scheduled(output, "vocabulary")}
    assert "--words 160000" in words["en"] and "--words 80000" in words["fr"]
    ensembles = [job for job in scheduled(output, "translate") if "ensemble-5" in job]
    assert len(ensembles) == 2 * 3
    assert all(f"models/lstm-reversed.seed-{seed}/" in job for job in ensembles for seed in range(2, 6))
    measured = {job.split("wildcards: model=")[1].split()[0] for job in scheduled(output, "perplexity")}
    assert [name for name in measured if "ensemble-5" in name] == ["lstm-reversed-ensemble-5-beam-1"]
    assert {"lstm-forward", *(f"lstm-reversed.seed-{seed}" for seed in range(2, 6))} < measured


def resolved(folder: Path, experiment: str, overlay: str, *options: str) -> str:
    """A dry-run of an experiment of the checkout with an overlay that lies beside its config.yaml."""
    for name in ("config.yaml", overlay):
        shutil.copy(ROOT / "experiments" / experiment / name, folder)
    result = snakemake(folder, "-n", "-p", "--configfile", str(folder / overlay), *options)
    assert result.returncode == 0, result.stdout
    return result.stdout


def test_lstms_of_one_to_four_layers_are_compared(tmp_path: Path) -> None:
    output = resolved(tmp_path, "sutskever2014", "layers.yaml")
    layers = {}
    for line in output.split("\n"):
        if "nmt train " in line and ".seed-" not in line:
            stated = re.search(r'"layers": (\d)', line)
            layers[line.split("--output models/")[1].split()[0]] = stated[1] if stated else "4"
    assert layers == {
        "lstm-reversed-1-layer": "1",
        "lstm-reversed-2-layers": "2",
        "lstm-reversed-3-layers": "3",
        "lstm-reversed": "4",
        "lstm-forward": "4",
    }
    (table,) = scheduled(output, "sutskever2014_perplexity")
    assert all(f"perplexity/{model}.json" in table for model in layers)


def test_a_phrase_based_baseline_learns_its_language_from_news_of_its_own_besides(tmp_path: Path) -> None:
    """Sutskever et al. (2014), Table 2: nothing is to be edited."""
    output = resolved(tmp_path, "sutskever2014", "moses.yaml")
    (job,) = scheduled(output, "moses_language_model")
    news = re.findall(r"data/tokens/(news-crawl-\d+)/0\.fr\.zst", job.split("output:")[0])
    assert news == [f"news-crawl-{year}" for year in range(2013, 2006, -1)]
    assert " --also-words 418000000" in output
    assert not [job for job in scheduled(output, "tokenize") if "news-crawl" in job and "language=en" in job]
    assert len([job for job in scheduled(output, "download") if "news." in job]) == 7
    assert "news-crawl" not in scheduled(output, "vocabulary")[0]
    tables = scheduled(output, "sutskever2014_table2")[0]
    assert all(f"scores/{name}.json" in tables for name in ("moses", "rescored-lstm-forward", "oracle"))


def test_grconv_of_fifty_words_is_compared(tmp_path: Path) -> None:
    prepared(tmp_path / "other")
    mine = tmp_path / "mine"
    mine.mkdir()
    output = resolved(mine, "cho2014b", "fifty_words.yaml", "--config", "data_from=../other", "seeds=[1, 2]")
    trained = {job.split("wildcards: model=")[1].split()[0] for job in scheduled(output, "train")}
    models = {"rnnencdec-30", "grconv-30", "rnnencdec-50", "grconv-50"}
    assert trained == models | {f"{model}.seed-2" for model in models}
    # the explorer shows the first seed of each model
    assert re.findall(r"--trees (\S+) (\S+)", output) == [
        ("grConv", "trees/grconv-30.jsonl"),
        ("grConv-50", "trees/grconv-50.jsonl"),
    ]
    (figure,) = scheduled(output, "length_curves")
    assert "scores/grconv-50.json" in figure


def with_moses(folder: Path, experiment: str) -> str:
    """A dry-run of an experiment's moses.yaml on stand-ins for the text that it takes from another."""
    prepared(folder / "other")
    (folder / "demo").mkdir()
    shutil.copy(ROOT / "experiments" / "demo" / "config.yaml", folder / "demo")
    mine = folder / "mine"
    mine.mkdir()
    config = load(find_layers(ROOT / "config.yaml", ROOT / "experiments" / experiment))
    texts = {
        final_stage(config): config.use.train,
        "tokens": [*config.use.train, *config.use.dev, *config.use.test],
    }
    for stage, corpora in (texts | {"raw": config.use.test}).items():
        for shard in shards_of(config, corpora):
            for side in ("en", "fr", "align"):
                file = folder / f"other/data/{stage}/{shard}.{side}.zst"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
    return resolved(mine, experiment, "moses.yaml", "--config", "data_from=../other")


@pytest.mark.parametrize("experiment", ["multi30k", "overnight"])
def test_phrases_scored_by_a_model_are_a_second_row_of_moses_in_table_1(
    tmp_path: Path, experiment: str
) -> None:
    output = resolved(tmp_path, experiment, "moses.yaml")
    (table,) = scheduled(output, "table1")
    assert "scores/moses.json" in table and "scores/moses-rnnenc.json" in table
    assert len(scheduled(output, "train")) == 5 and len(scheduled(output, "train_on_phrases")) == 1
    assert bool(scheduled(output, "language_model")) == (experiment == "overnight")  # which selects its text
    assert " --rounds 6 " in output


@pytest.mark.parametrize("experiment", ["cho2014b", "cho2014b-demo"])
def test_moses_and_its_lists_rescored_by_an_lstm_are_rows_of_table_1(tmp_path: Path, experiment: str) -> None:
    output = with_moses(tmp_path, experiment)
    (table,) = scheduled(output, "cho2014b_table1a")
    for row in ("moses", "dev/moses", "moses-lstm", "grconv-30", "dev/grconv-30"):
        assert f"scores/{row}.json" in table, row
    (rescore,) = scheduled(output, "rescore")
    assert "moses/n_best.gz" in rescore and "models/lstm-reversed/model.safetensors" in rescore
    # Cho et al. (2014a): a model of the phrase table's pairs, whose score is tuned with the others
    assert "scores/moses-rnnenc.json" in table and "scores/dev/moses-rnnenc.json" in table
    (training,) = scheduled(output, "train_on_phrases")
    assert "moses/phrases/train/meta.json" in training and "models/rnnenc-phrases/" in training
    (line,) = [line for line in output.split("\n") if "--output models/rnnenc-phrases " in line]
    assert " --train moses/phrases/train --dev moses/phrases/dev " in line
    assert not [job for job in scheduled(output, "train") if "phrases" in job]
    for rule in ("moses_tune_scored", "moses_translate_scored"):
        job = scheduled(output, rule)[0].split("output:")[0]
        assert "moses/phrases/phrase-table.gz" in job and "moses/phrase-table.gz" not in job, rule
    assert not [job for job in scheduled(output, "translate") if "rnnenc-phrases" in job]


def test_the_authors_run_selects_from_their_list_of_text(tmp_path: Path) -> None:
    shutil.copy(ROOT / "experiments" / "groundhog" / "config.yaml", tmp_path)
    output = snakemake(tmp_path, "-n", "-p").stdout
    assert len(scheduled(output, "train")) == 5
    (vocabulary,) = [job for job in scheduled(output, "vocabulary") if "language=fr" in job]
    assert "--words 30000 --specials-count" in vocabulary
    for corpus in ("giga-fren", "news-test2008", "newstest2009", "newstest2010", "newstest2011"):
        assert f"data/selected/{corpus}/0.fr.zst" in vocabulary
    for job in scheduled(output, "download"):
        assert "--mirror" in job


def test_demo_asks_for_no_gpu_and_no_download(tmp_path: Path) -> None:
    shutil.copy(ROOT / "experiments" / "demo" / "config.yaml", tmp_path)
    output = snakemake(tmp_path, "-n").stdout
    assert len(scheduled(output, "train")) == 5 and not scheduled(output, "language_model")
    assert all("gpu=1" not in job for job in scheduled(output, "train"))
    assert not scheduled(output, "download")
    assert len(scheduled(output, "alignment_error_rate")) == 3


def test_data_from_another_experiment_is_read_and_never_made(tmp_path: Path) -> None:
    prepared(tmp_path / "other")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "config.yaml").write_text("data_from: ../other\n", encoding="utf-8")
    result = snakemake(mine, "-n")
    assert result.returncode == 0, result.stdout
    jobs = scheduled(result.stdout, "train")
    assert len(jobs) == 5
    assert all("../other/data/binary/train/meta.json" in job for job in jobs)
    assert "rule binarize" not in result.stdout


def prepared(other: Path) -> None:
    """Stand-ins for an experiment's prepared text."""
    names = ["source.ids.npy", "source.offsets.npy", "target.ids.npy", "target.offsets.npy", "meta.json"]
    files = [f"data/binary/{part}/{name}" for part in ("train", "dev") for name in names]
    files += ["data/vocabulary/en.tsv", "data/vocabulary/fr.tsv", "data/counts.json"]
    sets = ("newstest2012", "newstest2013", "newstest2014")
    files += [f"data/tokens/{name}/0.{language}.zst" for name in sets for language in ("en", "fr")]
    files += ["data/raw/newstest2014/0.fr.zst"]
    for file in files:
        (other / file).parent.mkdir(parents=True, exist_ok=True)
        (other / file).write_bytes(b"")


def test_a_model_of_the_other_experiment_is_taken_where_it_fits(tmp_path: Path) -> None:
    """Cho et al. (2014b): RNNenc is the root's RNNencdec-30."""
    prepared(tmp_path / "other")
    mine = tmp_path / "mine"
    mine.mkdir()
    settings = (ROOT / "experiments" / "cho2014b" / "config.yaml").read_text(encoding="utf-8")
    (mine / "config.yaml").write_text(
        settings.replace("data_from: ../..", "data_from: ../other"), encoding="utf-8"
    )
    result = snakemake(mine, "-n")
    assert result.returncode == 0, result.stdout
    assert len(scheduled(result.stdout, "train")) == 2
    (figure,) = scheduled(result.stdout, "cho2014b_figure6")
    assert "models/grconv-30/text.json" in figure
    config = load(find_layers(ROOT / "config.yaml", mine))
    run = runs_of(config, ["rnnencdec-30"])["rnnencdec-30"]
    theirs = finished(tmp_path / "other", run_settings(config, run))
    output = snakemake(mine, "-n").stdout
    (job,) = scheduled(output, "train")
    assert "models/grconv-30/model.safetensors" in job
    translating = [job for job in scheduled(output, "translate") if "rnnencdec" in job]
    assert translating and all("../other/models/rnnencdec-30/model.safetensors" in job for job in translating)
    (theirs / "settings.json").write_text("{}", encoding="utf-8")
    assert len(scheduled(snakemake(mine, "-n").stdout, "train")) == 2


def finished(other: Path, run: ModelRun) -> Path:
    """Stand-ins for a model that the experiment has trained on its text."""
    meta = {"sha256": "text", "source_vocabulary_sha256": "source", "target_vocabulary_sha256": "target"}
    for part in ("train", "dev"):
        (other / "data" / "binary" / part / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    data = {"train": "text", "dev": "text", "source_vocabulary": "source", "target_vocabulary": "target"}
    folder = other / "models" / run.model
    folder.mkdir(parents=True)
    for name in (*MODEL, *RECORDS):
        (folder / name).write_bytes(b"")
    (folder / "settings.json").write_text(run.model_dump_json(), encoding="utf-8")
    (folder / "summary.json").write_text(json.dumps({"data": data}), encoding="utf-8")
    return folder


INTERPRETATIONS = ["", "-appendix", "-section3", "-factored", "-mean"]


def test_ablations_are_trained_side_by_side_with_three_seeds(tmp_path: Path) -> None:
    shutil.copy(ROOT / "experiments" / "ablations" / "config.yaml", tmp_path)
    result = snakemake(tmp_path, "-n")
    assert result.returncode == 0, result.stdout
    jobs = scheduled(result.stdout, "train")
    assert len(jobs) == 30
    (table,) = scheduled(result.stdout, "ablations")
    assert "results/ablations.csv" in table
    for family in ("rnnencdec-50", "rnnsearch-50"):
        for interpretation in INTERPRETATIONS:
            for seed in ("", ".seed-2", ".seed-3"):
                name = f"{family}{interpretation}{seed}"
                assert f"scores/{name}.json" in table and f"models/{name}/settings.json" in table
    assert all("gpu=1" not in job for job in jobs)


def test_ablations_on_europarl_read_its_text(tmp_path: Path) -> None:
    prepared(tmp_path / "europarl")
    mine = tmp_path / "ablations-europarl"
    mine.mkdir()
    shutil.copy(ROOT / "experiments" / "ablations-europarl" / "config.yaml", mine)
    result = snakemake(mine, "-n")
    assert result.returncode == 0, result.stdout
    jobs = scheduled(result.stdout, "train")
    assert len(jobs) == 36
    assert all("../europarl/data/binary/train/meta.json" in job and "gpu=1" in job for job in jobs)
    (table,) = scheduled(result.stdout, "ablations")
    assert "scores/rnnsearch-50-adadelta-mean.seed-3.json" in table


@pytest.mark.parametrize(
    ("experiment", "other"),
    [("ablations", "demo"), ("ablations-europarl", "europarl"), ("cho2014b-demo", "demo")],
)
def test_models_are_trained_on_the_text_of_another_experiment(experiment: str, other: str) -> None:
    mine, its = (
        load(find_layers(ROOT / "config.yaml", ROOT / "experiments" / name)) for name in (experiment, other)
    )
    text = {"seed", "languages", "cleaning", "tokenization", "selection", "vocabulary", "grammar", "corpora"}
    assert mine.model_dump(include=text) == its.model_dump(include=text)
    roles = {"train", "dev", "test"}
    assert mine.use.model_dump(include=roles) == its.use.model_dump(include=roles)


def test_cores_and_profile_are_no_part_of_what_a_model_is(paper: str, tmp_path: Path) -> None:
    other = snakemake(tmp_path, "-n", "-p", "--cores", "3", "--profile", "slurm").stdout
    lines = [{line for line in text.split("\n") if "nmt train " in line} for text in (paper, other)]
    assert len(lines[0]) == 5
    assert lines[0] == lines[1]


def test_a_missing_gpu_is_said_before_any_job(tmp_path: Path) -> None:
    if any(Path("/dev").glob("nvidia[0-9]*")):
        pytest.skip("this machine has a GPU")
    result = snakemake(tmp_path, "--cores", "1")
    assert result.returncode == 2 and "Traceback" not in result.stdout
    (line,) = [line for line in result.stdout.splitlines() if "NVIDIA GPU" in line]
    check(line)
    assert not (tmp_path / "data").exists()


def test_the_development_set_is_translated_where_a_table_has_a_column_of_it(
    paper: str, tmp_path: Path
) -> None:
    assert "translations/dev/" not in paper and not scheduled(paper, "dev_text")
    output = snakemake(tmp_path, "-n", "--config", "artifacts={papers: [cho2014b]}", FEW_SHARDS).stdout
    jobs = scheduled(output, "translate")
    assert (
        len([job for job in jobs if "output: translations/dev/" in job]) == len(jobs) / 2 == 2 * len(MODELS)
    )
    assert all("data/dev.en.zst" in job for job in jobs if "output: translations/dev/" in job)
    (text, _) = scheduled(output, "dev_text")
    assert "newstest2012/0." in text and "newstest2013/0." in text
    (table,) = scheduled(output, "cho2014b_table1b")
    assert all(f"scores/{set_}{model}.json" in table for set_ in ("", "dev/") for model in MODELS)
    assert "results/translations/dev/" in output and "results/papers/cho2014b.yaml" in output
    assert "results/table1.csv" not in output


def test_a_paper_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = snakemake(tmp_path, "-n", "--config", "artifacts={papers: [nobody1999]}")
    assert result.returncode == 2
    check(result.stdout)
