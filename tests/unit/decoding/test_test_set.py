"""Translating files: what is written, in which order, and for which sentences; the subcommands as a user calls them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nmt.data.vocabulary import UNKNOWN
from nmt.decoding.forced_decoding import score_translations
from nmt.decoding.test_set import Sentence, align_file, checksum, read_sentences, translate_file
from nmt.decoding.translator import Translator
from nmt.evaluation.translations import check_unaltered, read_provenance
from nmt.io.files import sha256, write_json
from nmt.io.journal import Journal
from nmt.io.text_files import read_lines
from nmt.store import trained_model
from nmt.store.trained_model import TrainedModel
from pipeline.results.package import copy_translations
from tests import translators
from tests.bitexts import write_text
from tests.messages import refused
from tests.running import ROOT, nmt
from tests.training_settings import decoding

SOURCES = ["w3 w4 w5 w6", "w2", "w7 strange w8", "", "w9 w10 w11 w12 w13 w14"]
TARGETS = ["w4 w5", "odd w3", "w8 w9 w10", "", "w2 w3 w4 w5 w6"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model after a few updates, and a test set beside it."""
    here = tmp_path_factory.mktemp("translation")
    translators.trained_model(here)
    for name, lines in (("test.en", SOURCES), ("test.fr", TARGETS)):
        write_text(here / name, lines)
    return here


@pytest.fixture(scope="module")
def model(folder: Path) -> TrainedModel:
    return trained_model.load_model(folder / "model", torch.device("cpu"))


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in read_lines(path)]


def test_every_line_is_translated_in_order(folder: Path, model: TrainedModel, tmp_path: Path) -> None:
    settings = decoding(beam=4, batch_size=2, max_length_factor=2)
    assert (
        translate_file([model], folder / "test.en", None, "all", settings, tmp_path / "out.jsonl").sentences
        == 5
    )
    found = records(tmp_path / "out.jsonl")
    assert [entry["line"] for entry in found] == [0, 1, 2, 3, 4]
    assert [" ".join(entry["source_tokens"]) for entry in found] == SOURCES
    assert [entry["source_unknown"] for entry in found] == [0, 0, 1, 0, 0]
    for entry in found:
        assert entry["n_best"][0]["tokens"] == entry["tokens"] and "text" not in entry
        assert sum(entry["word_log_probabilities"]) == pytest.approx(entry["log_probability"], abs=1e-3)
        assert len(entry["alignment"]) == len(entry["tokens"]) + entry["finished"]
        for row in entry["alignment"]:
            assert len(row) == len(entry["source_tokens"]) + 1
            assert sum(row) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("unknown", ["allowed", "excluded"])
def test_the_unknown_word_is_forbidden_in_no_unk_and_where_the_settings_say_so(
    folder: Path, tmp_path: Path, unknown: str
) -> None:
    model = trained_model.load_model(folder / "model", torch.device("cpu"))
    with torch.no_grad():
        model.network.readout.b_o[UNKNOWN] += 10.0
    settings = decoding(beam=2, max_length_factor=2, min_length="half", unknown=unknown)
    translate_file([model], folder / "test.en", None, "all", settings, tmp_path / "out.jsonl")
    written = [entry for entry in records(tmp_path / "out.jsonl") if "[UNK]" in entry["tokens"]]
    assert bool(written) == (unknown == "allowed")
    arguments = (folder / "test.en", folder / "test.fr", "no_unk")
    translate_file([model], *arguments, settings, tmp_path / "out.jsonl")
    found = records(tmp_path / "out.jsonl")
    assert [entry["line"] for entry in found] == [0, 3, 4]
    assert not any("[UNK]" in entry["tokens"] for entry in found)


def test_alignments_of_given_translations(folder: Path, model: TrainedModel, tmp_path: Path) -> None:
    align_file(model, folder / "test.en", folder / "test.fr", 2, tmp_path / "out.jsonl")
    for entry, source, target in zip(records(tmp_path / "out.jsonl"), SOURCES, TARGETS, strict=True):
        assert (entry["source_tokens"], entry["tokens"]) == (source.split(), target.split())
        assert len(entry["alignment"]) == len(target.split()) + 1
        assert all(len(row) == len(source.split()) + 1 for row in entry["alignment"])
    (alone,) = score_translations([model], [(SOURCES[0].split(), TARGETS[0].split())], 1)
    assert alone.attention == pytest.approx(
        np.array(records(tmp_path / "out.jsonl")[0]["alignment"]), abs=1e-4
    )


@pytest.mark.slow
def test_a_killed_decode_goes_on_where_it_stopped(folder: Path, tmp_path: Path) -> None:
    """Killed for good after a few batches; what was done is not done again, and the bytes are the same."""
    lines = (range(number, number + 1 + number % 5) for number in range(1500))
    write_text(tmp_path / "long.en", (" ".join(f"w{2 + word % 28}" for word in line) for line in lines))
    settings = decoding(beam=3, batch_size=2, max_length_factor=2, n_best=2).model_dump_json()

    def start(output: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "nmt", "test-set", "decode", "--model", str(folder / "model")]
        command += ["--source", str(tmp_path / "long.en"), "--settings", settings, "--output", str(output)]
        return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)})

    def making(name: str) -> dict[str, Any]:
        return json.loads((tmp_path / f"{name}.provenance.json").read_text(encoding="utf-8"))

    output = tmp_path / "killed.jsonl"
    part = tmp_path / ".killed.jsonl.unfinished"
    process = start(output)
    while not (part.exists() and part.stat().st_size > 5000):
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert not output.exists()
    # what a whole line says is believed: the next run must have taken it from there
    lines = part.read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b'"line": 0,', b'"line": 0, "kept": true,')
    number, done, _ = json.loads(lines[2])
    lines[2] = json.dumps([number, done, 5000.0], ensure_ascii=False).encode()
    part.write_bytes(b"\n".join(lines) + b'[7000, [{"li')
    assert start(output).wait() == 0
    assert start(tmp_path / "whole.jsonl").wait() == 0
    assert output.read_bytes().count(b'"kept": true, ') == 1
    assert output.read_bytes().replace(b'"kept": true, ', b"") == (tmp_path / "whole.jsonl").read_bytes()
    assert not part.exists()
    killed, whole = making("killed"), making("whole")
    assert 5000 < killed.pop("seconds") < 5600 and 0 < whole.pop("seconds") < 600
    assert killed.pop("resumed") and not whole.pop("resumed")
    assert killed.pop("lines") != whole.pop("lines")  # for the mark
    assert killed == whole


def test_what_made_translations_stands_beside_them(folder: Path, tmp_path: Path) -> None:
    settings = decoding(beam=3, max_length_factor=2)
    output = tmp_path / "out.jsonl"
    options = ["--model", folder / "model", "--source", folder / "test.en", "--output", output]
    result = nmt("test-set", "decode", *options, "--settings", settings.model_dump_json())
    assert result.returncode == 0, result.stderr
    made = read_provenance(output)
    assert (made["mode"], made["sentences"], made["settings"]) == ("all", 5, settings.model_dump())
    assert made["models"] == [{"name": "model", "sha256": sha256(folder / "model" / "model.safetensors")}]
    assert made["device"].startswith("CPU (") and made["made_with"]["packages"]["torch"] == version("torch")
    copy_translations(output, tmp_path / "kept" / "out.jsonl.gz", attention=False)
    check_unaltered(tmp_path / "kept" / "out.jsonl.gz")
    lines = [*read_lines(output)]
    output.write_text(
        "\n".join([lines[0].replace('"tokens": [', '"tokens": ["w2", ', 1), *lines[1:]]) + "\n",
        encoding="utf-8",
    )
    with refused():
        copy_translations(output, tmp_path / "again.jsonl.gz", attention=False)
    write_json(tmp_path / "out.provenance.json", made | {"models": [3]})
    with refused():
        read_provenance(output)


def test_another_text_search_or_model_is_another_job(folder: Path, model: TrainedModel) -> None:
    sentences = read_sentences(folder / "test.en", None)

    def job(
        forbid: bool = False, text: list[Sentence] = sentences, by: TrainedModel = model, **changes: Any
    ) -> str:
        return checksum(Translator([by], decoding(**changes), forbid), text)

    other = [sentences[0]._replace(source=["w3"]), *sentences[1:]]
    another = trained_model.load_model(folder / "model", torch.device("cpu"))
    with torch.no_grad():
        another.network.readout.b_o[UNKNOWN] += 1.0
    jobs = {job(), job(text=other), job(text=sentences[:4]), job(forbid=True), job(beam=7), job(by=another)}
    assert len(jobs) == 6


def test_another_job_does_not_go_on(tmp_path: Path) -> None:
    with Journal(tmp_path / "out", "one") as part:
        part.add(3, ["done"])
    with part.path.open("a", encoding="utf-8") as file:
        file.write("5\n")
    with Journal(tmp_path / "out", "one") as part:
        assert part.done == {3: ["done"]}
    with Journal(tmp_path / "out", "other") as part:
        assert part.done == {}


def test_a_second_process_waits_for_the_first(tmp_path: Path) -> None:
    """And then makes its own: the first has taken its file away."""
    code = "import sys; from pathlib import Path; from nmt.io.journal import Journal\n"
    code += "with Journal(Path(sys.argv[1]), 'one') as part: print(dict(part.done))"
    with Journal(tmp_path / "out", "one") as part:
        part.add(3, ["done"])
        command = [sys.executable, "-c", code, str(tmp_path / "out")]
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        ) as second:
            assert second.stderr is not None
            assert "another process works on it; waiting for it" in second.stderr.readline()
            assert second.poll() is None
            part.remove()
            part.__exit__(None, None, None)
            assert second.communicate(timeout=60)[0] == "{}\n"
            assert second.returncode == 0
