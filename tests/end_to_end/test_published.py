"""What a run publishes: results that say where they come from, prove it, and can be made again without the run."""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from nmt import __version__
from pipeline.config.layers import merged, read_layer
from pipeline.results.ro_crate import record
from pipeline.results.verify import verify
from tests.running import ROOT, make_demo, run, run_command, scheduled, snakemake
from workflow import release

RUNS = ["rnnencdec-50", "rnnsearch-50"]
SETTINGS = """
# Two models that learn enough of short sentences to differ in every number.
use: {models: [rnnencdec-50, rnnsearch-50], systems: [both], rescored: [mixed]}
# An ensemble and its rescored lists, which are published as the models are.
systems:
  both: {label: Both, members: [rnnencdec-50, rnnsearch-50], average: log_probability, decoding: {beam: 3, n_best: 3}}
rescored:
  mixed: {label: Mixed, lists: both, members: [rnnsearch-50]}
corpora:
  demo-train: {grammar: {split: train, pairs: 2000}}
  demo-test: {grammar: {split: test, pairs: 60}}
grammar: {max_words: 12, lexicon: 20}
architecture: {hidden_units: 64, embedding_size: 32, maxout_units: 32, alignment_units: 32}
training: {learning_rate: 0.01, batch_size: 40, validate_every: 100, checkpoint_every: 100, log_every: 50}
models:
  rnnencdec-50: {training: {updates: 200}}
  rnnsearch-50: {training: {updates: 200}}
artifacts:
  papers: [bahdanau2015, cho2014b]
  figure2_models: [rnnsearch-50, rnnencdec-50]
  figure2_max_words: 12
  figure3_words: [5, 12]
  table3_models: [rnnencdec-50, rnnsearch-50]
  table3_words: 8
  bootstrap_samples: 50
  # any text of as many lines will do
  moses_translations: data/tokens/demo-test/0.en.zst
  moses_dev_translations: data/tokens/demo-dev/0.en.zst
"""
CHO = ("cho2014b_table1a", "cho2014b_table1b", "cho2014b_table2", "cho2014b_training")
TABLES = [
    f"{table}.{form}"
    for table in ("table1", "significance", "table2", "table3", *CHO)
    for form in ("csv", "md", "tex")
]


def settings_of(folder: Path) -> list[str]:
    """Lay the settings of this file over the tiny demo; returns Snakemake's options."""
    tiny = make_demo(folder)
    own = folder / "own.yaml"
    own.write_text(SETTINGS, encoding="utf-8")
    return ["--configfile", str(tiny), str(own)]


def finished_run(folder: Path) -> Path:
    result = run(run_command(folder, *settings_of(folder)))
    assert result.returncode == 0, result.stdout
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    return finished_run(tmp_path_factory.mktemp("published"))


@pytest.fixture
def results(finished: Path, tmp_path: Path) -> Path:
    """Nothing of the run but a copy of its results, to change."""
    folder = tmp_path / "results"
    shutil.copytree(finished / "results", folder)
    return folder


def nmt(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "-m", "nmt", *map(str, words)])


def problems(results: Path) -> list[str]:
    """What `nmt verify` lists."""
    with tempfile.TemporaryDirectory() as scratch:
        found = verify(results, Path(scratch)).problems
    assert found
    return found


def change(path: Path, old: str, new: str) -> None:
    """Replace the one place where a text stands in a file, compressed or not."""
    packed = path.suffix == ".gz"
    text = (gzip.decompress(path.read_bytes()) if packed else path.read_bytes()).decode("utf-8")
    assert text.count(old) == 1, (path, old, text.count(old))
    data = text.replace(old, new).encode("utf-8")
    path.write_bytes(gzip.compress(data, mtime=0) if packed else data)


def forge(results: Path) -> None:
    """Bring the record in line with whatever lies there now, as somebody would who wants to hide a change."""
    files = [path for path in results.rglob("*") if path.is_file() and path.name != "ro-crate-metadata.json"]
    record(results, files, results / "none")


def cell(path: Path, row: str, column: str) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return next(line[column] for line in csv.DictReader(file) if line["id"] == row)


# --- what is there ----------------------------------------------------------------------------------------------------


def test_untouched_results_are_verified(results: Path) -> None:
    result = nmt("verify", results)
    assert result.returncode == 0, result.stdout
    # eight tables in three forms, a document of them, the comparison, the finding, and the error rate of the model that
    # aligns
    assert "28 files of tables made again identically; test text made again identically" in result.stdout
    assert "not in the record" not in result.stdout
    alone = next(line for line in result.stdout.split("\n") if line.startswith("note: known by checksum"))
    named = set(alone.partition("alone: ")[2].split(", "))
    assert {"figure2.pdf", "data.csv"} <= named and not named & set(TABLES)


def test_the_record_says_where_the_numbers_come_from(results: Path) -> None:
    from rocrate.rocrate import ROCrate

    crate = ROCrate(results)
    files = {path.relative_to(results).as_posix() for path in results.rglob("*") if path.is_file()}
    assert {entity.id for entity in crate.data_entities} == files - {"ro-crate-metadata.json"}
    summary = json.loads((results / "runs" / "rnnsearch-50" / "summary.json").read_text(encoding="utf-8"))
    training = crate.get("#training-rnnsearch-50")
    sums = {entity.get("sha256") for entity in training["object"]}
    assert set(summary["data"].values()) < sums and len(summary["data"]) == 4
    program = training["instrument"]
    needed = {package["name"]: package["softwareVersion"] for package in program["softwareRequirements"]}
    # of a build with CUDA, PyTorch itself says which, but not what installed it
    assert needed["torch"] == version("torch") and summary["torch"].startswith(needed["torch"])
    assert {"numpy", "sacrebleu"} <= set(needed)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if commit.returncode == 0:
        assert commit.stdout.strip()[:12] in program["softwareVersion"]


def test_an_ensemble_is_published_as_a_system_that_trained_nothing(results: Path, finished: Path) -> None:
    from rocrate.rocrate import ROCrate

    made = json.loads((results / "translations" / "both.all.made.json").read_text(encoding="utf-8"))
    assert [model["name"] for model in made["models"]] == RUNS
    assert (made["average"], made["settings"]["beam"]) == ("log_probability", 3)
    crate = ROCrate(results)
    weights = {entity["sha256"] for run in RUNS for entity in crate.get(f"#decoding-{run}-all")["object"]}
    assert {entity["sha256"] for entity in crate.get("#decoding-both-all")["object"]} == weights
    assert not (results / "runs" / "both").exists() and not (finished / "models" / "both").exists()
    compared = json.loads((results / "comparison.json").read_text(encoding="utf-8"))
    assert {*RUNS, "both"} < set(compared["all"]["systems"])
    assert cell(results / "table1.csv", "both", "model") == "Both"
    assert cell(results / "table1.csv", "mixed", "model") == "Mixed"
    assert (results / "translations" / "mixed.txt.gz").is_file()
    path = results / "config.json"
    change(path, '"beam": 3', '"beam": 4')
    forge(results)
    (problem,) = problems(results)
    expected = f"systems.both.decoding.beam is 4, but {results}/translations/both.all.made.json says 3"
    assert problem == f"{path}: {expected}"


# --- tampering --------------------------------------------------------------------------------------------------------


def test_changed_digits_are_named_with_their_lines_though_the_record_was_made_anew(results: Path) -> None:
    """Several files at once: making the tables again takes some seconds."""
    rate = results / "alignment_error_rate" / "rnnsearch-50.json"
    found_rate = str(json.loads(rate.read_text(encoding="utf-8"))["alignment_error_rate"])
    changes = {
        results / "table1.csv": (f",{cell(results / 'table1.csv', 'rnnsearch-50', 'bleu_all')},", ",99.99,"),
        results / "table2.csv": (f",{cell(results / 'table2.csv', 'rnnsearch-50', 'dev_nll')},", ",1.0000,"),
        rate: (f'"alignment_error_rate": {found_rate},\n  "base', '"alignment_error_rate": 0.01,\n  "base'),
    }
    for path, (old, new) in changes.items():
        change(path, old, new)
    finding = results / "finding.txt"
    finding.write_text(finding.read_text(encoding="utf-8").replace(" BLEU", "9 BLEU"), encoding="utf-8")
    table3 = results / "table3.md"
    table3.write_text(table3.read_text(encoding="utf-8") + "One line more.\n", encoding="utf-8")
    forge(results)
    found = problems(results)
    assert len(found) == 5 and any(line.startswith(f"{finding}, line 1: ") for line in found)
    for path, (old, new) in changes.items():
        (line,) = (line for line in found if line.startswith(f"{path}, line ") and line.endswith(" follows"))
        written, follows = line.split(" is written, ")
        assert new.split("\n")[0] in written and old.split("\n")[0] in follows, line
    says = "'One line more.' is written, nothing follows; table3.csv is the same"
    assert any(line.startswith(f"{table3}, line ") and line.endswith(says) for line in found)


def test_settings_that_ask_for_no_table_make_none_of_it(results: Path) -> None:
    """What the package does not ask for is not made again: so nobody knows where its numbers come from."""
    path = results / "config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["artifacts"]["papers"] = ["cho2014b"]
    path.write_text(json.dumps(settings), encoding="utf-8")
    old = cell(results / "table1.csv", "rnnsearch-50", "bleu_all")
    change(results / "table1.csv", f",{old},", ",99.99,")
    forge(results)
    result = nmt("verify", results)
    assert result.returncode == 1, result.stdout
    found = result.stdout.split("\n")
    for form in ("csv", "md", "tex"):
        says = f"does not follow: {path} asks for no such table, so it is not made again"
        assert f"{results / 'table1'}.{form}: {says}" in found
    (note,) = (line for line in found if line.startswith("note: settings other than those of experiments/"))
    assert "artifacts.papers" in note


def test_altered_and_missing_files_are_named(results: Path) -> None:
    names = [results / "translations" / f"{run}.all.jsonl.gz" for run in RUNS]
    texts = [path.read_bytes() for path in names]
    for path, text in zip(names, reversed(texts), strict=True):
        path.write_bytes(text)
    shutil.copy(results / "figure3.png", results / "figure2.png")
    (results / "figure3.pdf").unlink()
    (results / "notes.txt").write_text("mine\n", encoding="utf-8")
    record = results / "ro-crate-metadata.json"
    text = record.read_text(encoding="utf-8")
    older = text.replace(f'"softwareVersion": "{__version__}', '"softwareVersion": "0.0.9')
    record.write_text(older, encoding="utf-8")
    result = nmt("verify", results)
    assert result.returncode == 1 and "Traceback" not in result.stdout
    for path in (*names, results / "figure2.png"):
        assert f"{path}: altered: sha256 " in result.stdout
    assert f"{results}/figure3.pdf: missing, but in the record" in result.stdout
    assert f"note: {results}/notes.txt: not in the record" in result.stdout
    assert "note: the tables were made with nmt 0.0.9" in result.stdout
    for path in names:  # nothing is made again from them
        assert f"cannot be made again: {path}: altered since it was decoded" in result.stdout


def test_a_translation_of_another_sentence_is_named(results: Path) -> None:
    path = results / "translations" / "rnnencdec-50.all.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")
    first = json.loads(lines[0])
    first["source"] = "something else"
    lines[0] = json.dumps(first)
    path.write_bytes(gzip.compress("\n".join(lines).encode("utf-8")))
    forge(results)
    lines_of = problems(results)
    assert any(line.startswith(f"translations: {path}: altered since it was decoded") for line in lines_of)
    assert any(
        f"cannot be made again: {path}: line 0 translates another sentence" in line for line in lines_of
    )


def test_other_settings_are_named_by_their_keys(results: Path) -> None:
    path = results / "config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    beam = values["decoding"]["beam"]
    values["decoding"] |= {"beam": beam + 1, "unknown": "excluded"}
    values["models"]["rnnsearch-50"]["training"]["learning_rate"] = 1.0
    path.write_text(json.dumps(values), encoding="utf-8")
    forge(results)
    rate, found_beam, unknown, *tables = problems(results)
    assert f"{path}: training.learning_rate of rnnsearch-50 is 1.0" in rate
    assert "runs/rnnsearch-50/settings.json says 0.01" in rate
    made = f"{results}/translations/rnnencdec-50.all.made.json"
    assert found_beam == f"{path}: decoding.beam is {beam + 1}, but {made} says {beam}"
    assert f"{path}: decoding.unknown is 'excluded', but " in unknown
    # which the notes below both papers' tables of scores say
    of_scores = tuple(f"{results}/{name}" for name in ("table1.", "cho2014b_table1", "tables.tex"))
    assert tables and all(line.startswith(of_scores) for line in tables)


def test_files_of_another_shape_are_problems_like_others(results: Path) -> None:
    says = {
        "translations/rnnsearch-50.all.jsonl.gz": (
            '"text": "',
            '"text": null, "was": "',
            "text: found None, expected",
        ),
        "translations/rnnencdec-50.no_unk.jsonl.gz": (
            '"line": ',
            '"line": "x", "was": ',
            "line: found 'x', expected integer",
        ),
        "runs/rnnsearch-50/summary.json": ('"updates": 200', '"updates": "200"', "'updates' is '200'"),
        "translations/rnnencdec-50.all.made.json": ('"settings"', '"set"', "expected 'settings', dict"),
    }
    for name, (old, new, _) in says.items():
        path = results / name
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert old.encode() in data
        data = data.replace(old.encode(), new.encode(), 1)
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    found = problems(results)
    for name, (_, _, problem) in says.items():
        assert any(f"{results / name}: altered" in line for line in found)
        assert any(problem in line and "altered" not in line for line in found), (problem, found)
    assert not any("Traceback" in line for line in found)


@pytest.mark.parametrize("spoil", ["remove", "truncate", "empty"])
def test_results_without_a_record_are_refused_in_a_line(results: Path, spoil: str) -> None:
    record = results / "ro-crate-metadata.json"
    text = {"truncate": record.read_text(encoding="utf-8")[:500], "empty": "{}"}.get(spoil, "")
    record.unlink()
    if spoil != "remove":
        record.write_text(text, encoding="utf-8")
    result = nmt("verify", results)
    assert result.returncode == 2
    assert result.stdout.startswith(f"nmt: error: {record}") and result.stdout.count("\n") == 1


# --- what comes from somebody else ------------------------------------------------------------------------------------


def test_a_reference_that_is_a_models_own_output_and_other_numbers_of_the_paper_are_named(
    results: Path,
) -> None:
    translations = gzip.decompress((results / "translations/rnnsearch-50.all.jsonl.gz").read_bytes()).decode()
    texts = [json.loads(line)["text"] for line in translations.splitlines()]
    for name in ("fr.txt.gz", "fr.raw.txt.gz"):
        (results / "test" / name).write_bytes(gzip.compress("".join(f"{text}\n" for text in texts).encode()))
    change(results / "papers" / "bahdanau2015.yaml", "28.45", "48.45")
    forge(results)
    found = problems(results)
    for name in ("fr.txt.gz", "fr.raw.txt.gz"):
        (line,) = (line for line in found if line.startswith(f"{results}/test/{name}, line "))
        assert " comes from its source" in line
    (line,) = (line for line in found if line.startswith(f"{results}/papers/bahdanau2015.yaml, line "))
    assert f"stands in {ROOT}/workflow/papers/bahdanau2015.yaml" in line


def test_settings_from_somebody_else_read_and_run_nothing(results: Path, tmp_path: Path) -> None:
    secret, trace = tmp_path / "secret.txt", tmp_path / "trace"
    secret.write_text("do not tell\n" * 60, encoding="utf-8")
    path = results / "config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    values |= {"data_from": str(tmp_path), "mirrors": [str(tmp_path)]}
    values["released"] = {"models": str(tmp_path), "results": str(tmp_path)}
    values["artifacts"] |= {"gold_alignments": str(secret), "moses_translations": str(secret)}
    values["models"]["rnnsearch-50"]["label"] = f"$(touch {trace})'; touch {trace}; {{input}} {{{{x}}}}"
    archive = {"url": "http://127.0.0.1:9/x", "path": "../../secret.txt"}
    values["archives"]["wmt14-test"] = values["archives"]["other"] = archive
    path.write_text(json.dumps(values), encoding="utf-8")
    forge(results)
    before = sorted(tmp_path.iterdir())
    result = nmt("verify", results, "--archives", tmp_path)
    assert result.returncode == 1
    assert "do not tell" not in result.stdout and "Traceback" not in result.stdout
    assert sorted(tmp_path.iterdir()) == before and not trace.exists()
    # the label is another, and nothing else is
    tables = {line.partition(",")[0] for line in result.stdout.split("\n") if line.startswith(str(results))}
    assert tables <= {str(results / name) for name in (*TABLES, "tables.tex", "finding.txt")}, result.stdout


def test_settings_from_somebody_else_ask_for_no_work_without_end(results: Path) -> None:
    path = results / "config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    values["corpora"]["demo-test"]["grammar"]["pairs"] = 10**12
    path.write_text(json.dumps(values), encoding="utf-8")
    forge(results)
    says = f"{path}: corpora.demo-test.grammar.pairs is 1,000,000,000,000, but {results}/test/en.txt.gz has 60 lines"
    assert f"the test text cannot be made again: {says}" in problems(results)
    values["artifacts"]["bootstrap_samples"] = 10**5
    path.write_text(json.dumps(values), encoding="utf-8")
    assert any(
        "bootstrap_samples: found 100000, expected 10000 or less" in line for line in problems(results)
    )


def test_links_and_pipes_are_never_opened(results: Path, tmp_path: Path) -> None:
    os.symlink("/etc/passwd", results / "notes")
    os.mkfifo(results / "pipe")
    result = nmt("verify", results)
    assert result.returncode == 0, result.stdout
    for name in ("notes", "pipe"):
        assert f"note: {results}/{name}: a link or special file" in result.stdout
    summary = results / "runs" / "rnnsearch-50" / "summary.json"
    for make in (lambda: os.mkfifo(summary), lambda: os.symlink(tmp_path / "moved", summary)):
        if not (tmp_path / "moved").exists():
            summary.rename(tmp_path / "moved")
        summary.unlink(missing_ok=True)
        make()
        found = problems(results)
        assert f"{summary}: missing, but in the record" in found[0]
        assert f"{summary}: a link or special file" in found[1] and len(found) == 2


# --- from released parts ----------------------------------------------------------------------------------------------


def released(finished: Path, folder: Path, text: str) -> list[str]:
    """Settings of another experiment that takes parts of the first."""
    options = settings_of(folder)
    overlay = folder / "released.yaml"
    overlay.write_text(text, encoding="utf-8")
    return [*options, str(overlay)]


def test_tables_from_released_models_are_those_of_the_run(finished: Path, tmp_path: Path) -> None:
    options = ["--configfile", str(finished / "tiny.yaml"), str(finished / "own.yaml")]
    result = snakemake(finished, "releases", "--cores", "2", *options)
    assert result.returncode == 0, result.stdout
    archives = sorted((finished / "releases").iterdir())
    assert [path.name for path in archives] == [f"{run}.tar.zst" for run in RUNS]
    assert nmt("unpack", *archives, "--output", tmp_path / "theirs").returncode == 0
    mine = tmp_path / "mine"
    mine.mkdir()
    options = released(finished, mine, "released: {models: ../theirs}\n")
    result = snakemake(mine, *(f"results/{name}" for name in TABLES), "--cores", "2", *options)
    assert result.returncode == 0, result.stdout
    assert not (mine / "models").exists() and not (mine / "data" / "binary").exists()
    for name in TABLES:
        assert (mine / "results" / name).read_bytes() == (finished / "results" / name).read_bytes(), name


def test_a_release_packs_models_and_results_and_trains_nothing(finished: Path, tmp_path: Path) -> None:
    copy, folder = tmp_path / "demo", tmp_path / "release"
    shutil.copytree(finished, copy)
    folder.mkdir()
    settings = merged([read_layer(copy / name) for name in ("config.yaml", "tiny.yaml", "own.yaml")])
    (copy / "config.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    release.add_experiment(folder, copy)
    archives = {f"demo-{run}.tar.zst" for run in RUNS}
    assert {path.name for path in folder.iterdir()} == {*archives, "demo-results.zip"}
    shutil.unpack_archive(folder / "demo-results.zip", tmp_path / "theirs")
    assert nmt("verify", tmp_path / "theirs" / "results").returncode == 0
    assert (
        nmt("unpack", folder / "demo-rnnsearch-50.tar.zst", "--output", tmp_path / "models").returncode == 0
    )


# --- model cards ------------------------------------------------------------------------------------------------------


def test_a_card_and_the_record_follow_another_score_without_training(finished: Path) -> None:
    options = ["--configfile", str(finished / "tiny.yaml"), str(finished / "own.yaml")]
    result = snakemake(finished, "-n", *options, "--config", "decoding={beam: 3}")
    assert result.returncode == 0, result.stdout
    counts = {"train": 0, "package": 2, "model_card": 2, "package_settings": 1, "tables": 1, "ro_crate": 1}
    assert {rule: len(scheduled(result.stdout, rule)) for rule in counts} == counts
