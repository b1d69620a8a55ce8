"""What a run publishes: results that say where they come from, prove it, and can be made again without the run."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from rocrate.rocrate import ROCrate

from nmt.evaluation.translations import provenance_path, sha256_of_lines
from nmt.io.files import read_json, sha256, write_json
from nmt.io.system import describe_code
from nmt.io.text_files import read_lines
from pipeline.results.inputs import open_package
from pipeline.results.retranslation import compare_models
from pipeline.results.ro_crate import write_crate
from pipeline.results.verify import verify_results
from tests.running import ROOT, nmt, scheduled, snakemake

RUNS = ["rnnencdec-50", "rnnsearch-50"]
TABLES = [
    f"{table}.{form}"
    for table in ("table1", "significance", "claims", "table2", "table3", "ablations")
    for form in ("csv", "md", "tex")
]


@pytest.fixture
def results(finished: Path, tmp_path: Path) -> Path:
    """Nothing of the run but a copy of its results, to change."""
    folder = tmp_path / "results"
    shutil.copytree(finished / "results", folder)
    return folder


def find_problems(results: Path, models: Path | None = None) -> list[str]:
    found = verify_results(results, models=models).problems
    assert found
    return found


@contextmanager
def edit_json(path: Path) -> Iterator[dict[str, Any]]:
    """Write the changes that the block makes to the values of a file."""
    values: dict[str, Any] = read_json(path)
    yield values
    write_json(path, values)


def replace_cell(path: Path, row: str, column: str, value: str) -> None:
    """Write another value into a cell of a CSV file."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame.loc[frame["id"] == row, column] = value
    frame.to_csv(path, index=False, lineterminator="\n")


def replace_lines(translations: Path, lines: list[dict[str, Any]]) -> None:
    """Write other translations with their provenance."""
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    translations.write_bytes(gzip.compress(text.encode()))
    with edit_json(provenance_path(translations)) as provenance:
        provenance["lines"] = sha256_of_lines(translations)


def renew_record(results: Path) -> None:
    """Bring the record in line with whatever lies there now, as somebody would who wants to hide a change."""
    files = [path for path in results.rglob("*") if path.is_file() and path.name != "ro-crate-metadata.json"]
    write_crate(results, files, results / "none")


# --- what is there


def test_untouched_results(results: Path) -> None:
    found = verify_results(results)
    assert not found.problems
    made = re.search(r"(\d+) recomputed files of tables are identical; recreated test text", found.conclusion)
    assert made and int(made[1]) >= len(TABLES)
    (alone,) = (note for note in found.notes if note.startswith("known by checksum"))
    named = set(alone.partition("alone: ")[2].split(", "))
    assert {"figure2.pdf", "report.html"} <= named and not named & set(TABLES)
    assert not any("not in the record" in note for note in found.notes)


def test_record_of_origin(results: Path) -> None:
    crate = ROCrate(results)
    files = {path.relative_to(results).as_posix() for path in results.rglob("*") if path.is_file()}
    assert {entity.id for entity in crate.data_entities} == files - {"ro-crate-metadata.json"}
    training = crate.get("#training-rnnsearch-50")
    sums = {entity.get("sha256") for entity in training["object"]}
    data = read_json(results / "runs" / "rnnsearch-50" / "summary.json")["data"]
    assert set(data.values()) < sums and len(data) == 4
    commit = describe_code()["commit"]
    assert commit is None or commit[:12] in training["instrument"]["softwareVersion"]
    weights = set()
    for run in RUNS:
        weights.update(entity["sha256"] for entity in crate.get(f"#decoding-{run}-test-all")["object"])
    assert {entity["sha256"] for entity in crate.get("#decoding-both-test-all")["object"]} == weights


# --- tampering, of which the record, made anew, says nothing


def test_altered_numbers_are_found(results: Path) -> None:
    with edit_json(results / "alignment_error_rate" / "rnnsearch-50.json") as rate:
        rate["alignment_error_rate"] = 0.01
    replace_cell(results / "table1.csv", "rnnsearch-50", "bleu_all", "99.99")
    replace_cell(results / "table2.csv", "rnnsearch-50", "dev_nll", "1.0000")
    replace_cell(results / "claims.csv", "attention-helps-50", "effect", "77.7777")
    headline, table3 = results / "headline.txt", results / "table3.md"
    headline.write_text(headline.read_text(encoding="utf-8").replace(" BLEU", "9 BLEU"), encoding="utf-8")
    table3.write_text(table3.read_text(encoding="utf-8") + "One line more.\n", encoding="utf-8")
    renew_record(results)
    found = find_problems(results)
    assert len(found) == 6 and any(line.startswith(f"{headline}, line 1: ") for line in found)
    for name, value in (
        ("table1.csv", "99.99"),
        ("table2.csv", "1.0000"),
        ("claims.csv", "77.7777"),
        ("alignment_error_rate/rnnsearch-50.json", "0.01"),
        ("table3.md", "'One line more.'"),
    ):
        (line,) = (line for line in found if line.startswith(f"{results / name}, line "))
        written, follows = line.split(" is written, ")
        assert value in written and value not in follows


def test_altered_table_without_setting_is_found(results: Path) -> None:
    with edit_json(results / "config.json") as settings:
        settings["artifacts"]["ablations"] = {}
    renew_record(results)
    found = verify_results(results)
    for form in ("csv", "md", "tex"):
        says = f"{results / 'ablations'}.{form}: does not follow"
        assert any(line.startswith(says) for line in found.problems), found.problems
    assert any(line.startswith("settings that differ from experiments/") for line in found.notes)


def test_altered_and_missing_files(results: Path) -> None:
    names = [results / "translations" / "test" / f"{run}.all.jsonl.gz" for run in RUNS]
    texts = [path.read_bytes() for path in names]
    for path, text in zip(names, reversed(texts), strict=True):
        path.write_bytes(text)
    (results / "figure3.pdf").unlink()
    (results / "notes.txt").write_text("mine\n", encoding="utf-8")
    with edit_json(results / "tables.provenance.json") as made_with:
        made_with["code"]["version"] = "0.0.9"
    result = nmt("verify", results)
    assert result.returncode == 1 and "Traceback" not in result.stdout + result.stderr
    for path in names:
        assert f"{path}: altered: sha256 " in result.stdout
    # nothing is made again from such files
    assert "cannot be recomputed: " in result.stdout and " is written, " not in result.stdout
    assert f"{results}/figure3.pdf: missing, but in the record" in result.stdout
    assert f"note: {results}/notes.txt: not in the record" in result.stderr
    assert "note: the tables were made with nmt 0.0.9" in result.stderr


def test_altered_settings_and_weights_are_found(results: Path) -> None:
    with edit_json(results / "config.json") as values:
        beam = values["decoding"]["beam"]
        values["decoding"]["beam"] += 1
        values["systems"]["both"]["decoding"]["beam"] = 4
        values["models"]["rnnsearch-50"]["training"]["learning_rate"] = 1.0
    with edit_json(results / "runs/rnnsearch-50/summary.json") as summary:
        summary["weights"] = "0" * 64
    twice = results / "translations/test/rnnencdec-50.no_unk.provenance.json"
    with edit_json(twice) as provenance:
        provenance["models"].insert(0, provenance["models"][0] | {"sha256": "0" * 64})
    renew_record(results)
    found = find_problems(results)
    named = f"{results}/translations/test/{{}}.all.provenance.json"
    for parts in (
        (str(twice), "models was ['rnnencdec-50', 'rnnencdec-50']"),
        (named.format("rnnsearch-50"), "weights.rnnsearch-50 was replaced"),
        (f"{results}/runs/rnnsearch-50/settings.json", "training.learning_rate was 0.01 and is now 1.0"),
        (named.format("rnnencdec-50"), f"beam was {beam} and is now {beam + 1}"),
        (named.format("both"), "beam was 3 and is now 4"),
    ):
        assert any(all(part in line for part in parts) for line in found), (parts, found)


def test_other_text_and_fewer_sentences_are_found(results: Path) -> None:
    with edit_json(results / "config.json") as values:
        values["vocabulary"]["words"] = 30_000
    translations = results / "translations" / "test" / "rnnsearch-50.no_unk.jsonl.gz"
    lines = list(map(json.loads, read_lines(translations)))
    replace_lines(translations, lines[: len(lines) // 2])
    renew_record(results)
    found = find_problems(results)
    assert any("text that was made with different settings: vocabulary.words" in line for line in found)
    assert any(line.startswith(f"{translations}: its sentences") for line in found)


def test_translations_without_setting_are_noted(results: Path) -> None:
    shutil.copytree(results / "translations" / "test", results / "translations" / "dev")
    found = verify_results(results)
    assert not found.problems and any("translations/dev/" in note for note in found.notes)


def test_models_translate_again(results: Path, finished: Path) -> None:
    found = verify_results(results, models=finished / "models")
    assert not found.problems
    assert "of 6 of 6 systems, and recomputed their development NLL" in found.conclusion


def test_forged_translations_and_trainings_are_found_by_models(results: Path, finished: Path) -> None:
    """Two words change places in each translation, which keeps its score; and a model has a better NLL."""
    translations = results / "translations/test/rnnencdec-50.all.jsonl.gz"
    lines = list(map(json.loads, read_lines(translations)))
    for line in lines:
        line["tokens"] = line["tokens"][1:2] + line["tokens"][:1] + line["tokens"][2:]
    replace_lines(translations, lines)
    summary = results / "runs/rnnsearch-50/summary.json"
    with edit_json(summary) as values:
        values["dev_nll"] *= 0.99
        values["parameters"] = 7
    renew_record(results)

    problems = find_problems(results, models=finished / "models")
    (problem,) = (line for line in problems if line.startswith(f"{translations}: "))
    count = re.search(r": the models do not confirm (\d+) of 50 .*: its log-probability is ", problem)
    assert count and int(count[1]) > 40
    for says in ("not the number of the model's weights", "dev_nll is "):
        assert any(line.startswith(f"{summary}: {says}") for line in problems)


def test_other_models_are_found(results: Path, finished: Path, tmp_path: Path) -> None:
    for run, other_run in (("rnnencdec-50", "rnnencdec-50"), ("rnnsearch-50", "rnnsearch-50.seed-8")):
        shutil.copytree(finished / "models" / other_run, tmp_path / "models" / run)
    found = verify_results(results, models=tmp_path / "models")
    weights = tmp_path / "models/rnnsearch-50/model.safetensors"
    assert found.problems[0].startswith(f"{weights}: its checksum differs from ")
    assert not any("rnnencdec" in line for line in found.problems)

    # a word of the package that is not in the models' vocabularies
    vocabulary = results / "training_text/fr.vocabulary.tsv.gz"
    vocabulary.write_bytes(
        gzip.compress(gzip.decompress(vocabulary.read_bytes()).replace(b"\t.\t", b"\t..\t"))
    )
    with open_package(results) as inputs:
        problems = [*compare_models(inputs, finished / "models")]
    assert f"{vocabulary}: differs from the vocabulary of rnnencdec-50" in problems


# --- what comes from somebody else


def test_altered_reference_is_found(results: Path) -> None:
    translations = results / "translations/test/rnnsearch-50.all.jsonl.gz"
    text = "".join(f"{' '.join(json.loads(line)['tokens'])}\n" for line in read_lines(translations))
    names = ("fr.txt.gz", "fr.raw.txt.gz")
    for name in names:
        (results / "test" / name).write_bytes(gzip.compress(text.encode()))
    renew_record(results)
    found = find_problems(results)
    for name in names:
        (line,) = (line for line in found if line.startswith(f"{results}/test/{name}, line "))
        assert " comes from its source" in line


def test_foreign_settings_read_and_run_nothing(results: Path, tmp_path: Path) -> None:
    secret, trace = tmp_path / "secret.txt", tmp_path / "trace"
    secret.write_text("do not tell\n" * 60, encoding="utf-8")
    with edit_json(results / "config.json") as values:
        values |= {"data_from": str(tmp_path), "mirrors": [str(tmp_path)]}
        values["pretrained"] = {"models": str(tmp_path)}
        values["artifacts"]["gold_alignments"] = str(secret)
        values["models"]["rnnsearch-50"]["label"] = f"$(touch {trace})'; touch {trace}; {{input}} {{{{x}}}}"
        archive = {"url": "http://127.0.0.1:9/x", "path": "../../secret.txt"}
        values["archives"]["wmt14-test"] = values["archives"]["other"] = archive
    renew_record(results)
    before = sorted(tmp_path.iterdir())
    found = verify_results(results, archives=tmp_path)
    assert not any("do not tell" in line for line in (*found.problems, *found.notes))
    assert sorted(tmp_path.iterdir()) == before and not trace.exists()
    # the label is another; pretrained models have no training text, so no tables of it
    assert any(line.startswith(f"{results}/table1.csv") for line in found.problems)
    assert any(line.startswith(f"{results}/data.csv: does not follow: ") for line in found.problems)


def test_foreign_settings_are_bounded(results: Path) -> None:
    with edit_json(results / "config.json") as values:
        values["corpora"]["demo-test"]["grammar"]["pairs"] = 10**12
    renew_record(results)
    assert any("grammar.pairs is 1,000,000,000,000; " in line for line in find_problems(results))
    with edit_json(results / "config.json") as values:
        values["artifacts"]["bootstrap_samples"] = 10**5
    assert any("bootstrap_samples: found 100000" in line for line in find_problems(results))


def test_links_and_pipes_are_not_opened(results: Path) -> None:
    os.symlink("/etc/passwd", results / "notes")
    summary = results / "runs" / "rnnsearch-50" / "summary.json"
    summary.unlink()
    os.mkfifo(summary)
    found = verify_results(results)
    missing, link, pipe = found.problems
    assert f"{summary}: missing, but in the record" in missing
    assert f"{results}/notes: a link" in link and f"{summary}: a link or special file" in pipe


# --- what others take of it


def test_release_translates_as_the_run(copy: Path, tmp_path: Path) -> None:
    """The packed models: others translate with them in an experiment of their own."""
    packed = snakemake(copy, "--cores", "2", "--", "releases")
    assert packed.returncode == 0, packed.stdout
    archives = [copy / "releases" / f"{run}.tar.zst" for run in RUNS]
    assert nmt("unpack", *archives, "--output", tmp_path / "models").returncode == 0
    mine = tmp_path / "mine"
    mine.mkdir()
    settings = yaml.safe_load((copy / "config.yaml").read_text(encoding="utf-8"))
    settings["pretrained"] = {"models": "../models"}
    settings["use"] |= {"models": RUNS, "systems": [], "rescored": []}
    settings["models"]["rnnsearch-50"]["seeds"] = [1]
    settings["artifacts"]["ablations"] = {}
    (mine / "config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    name = "translations/test/rnnsearch-50.all.jsonl"
    result = snakemake(mine, "--cores", "2", "--", name)
    assert result.returncode == 0, result.stdout
    assert not (mine / "models").exists() and not (mine / "data" / "binary").exists()
    assert (mine / name).read_bytes() == (copy / name).read_bytes()


def test_fine_tuning(copy: Path, tmp_path: Path) -> None:
    """A model of the run is trained on other text, and compared before and after; the results agree with themselves."""
    model = copy / "models" / "rnnsearch-50"
    for language in ("en", "fr"):
        file = ROOT / "docs" / "assignment" / "text" / f"train.{language}.gz"
        lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
        (tmp_path / f"own.{language}").write_bytes(b"".join(lines[:600]))
    own = tmp_path / "own"
    made = nmt("new", own, tmp_path / "own.en", tmp_path / "own.fr", "--init-from", model)
    assert made.returncode == 0, made.stderr
    config = own / "config.yaml"
    settings = config.read_text(encoding="utf-8")
    config.write_text(settings.replace("updates: 1000", "updates: 60"), encoding="utf-8")
    result = snakemake(own, "--cores", "2")
    assert result.returncode == 0, result.stdout

    folders = [model, own / "models" / "rnnsearch-50", own / "models" / "rnnsearch-50-tuned"]
    base, before, after = (sha256(folder / "model.safetensors") for folder in folders)
    assert base == before != after
    assert not verify_results(own / "results").problems
    assert "0/0" in nmt("status", own).stdout
    dev_nlls = pd.read_csv(own / "results" / "table2.csv", index_col="id")["dev_nll"]
    assert dev_nlls["rnnsearch-50-tuned"] < dev_nlls["rnnsearch-50"]


MODULE = re.compile(r"```python\n# Snakefile\n(.*?)```", re.DOTALL)


def test_import_as_module(copy: Path) -> None:
    """As docs/running.md says. Nothing is made again but what is missing."""
    (snakefile,) = MODULE.findall((ROOT / "docs" / "running.md").read_text(encoding="utf-8"))
    (copy / "Snakefile").write_text(snakefile.replace("/path/to/this/clone", str(ROOT)), encoding="utf-8")
    (copy / "config").mkdir()
    (copy / "config.yaml").rename(copy / "config" / "config.yaml")
    table = copy / "results" / "table1.csv"
    before = table.read_bytes()
    table.unlink()
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "results/table1.csv"]
    made = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[-4000:]
    assert table.read_bytes() == before
    assert len(scheduled(made.stderr, "tables")) == 1 and not scheduled(made.stderr, "translate")


def test_snakemake_report(copy: Path) -> None:
    result = snakemake(copy, "--report", str(copy / "report.html"))
    assert result.returncode == 0, result.stdout
    page = (copy / "report.html").read_text(encoding="utf-8")
    assert "figure3.png" in page and "Figure 3: alignments" in page and "Four alignments" in page
