"""The sweep over decoding settings: the scores of separate runs of `nmt decode`, and going on where it was killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.cli import commands
from nmt.data.vocabulary import UNKNOWN
from nmt.errors import UserError
from nmt.evaluation.bleu import multi_bleu
from nmt.evaluation.translations import words
from nmt.io.text_files import read_lines, write_lines
from nmt.model import trained_model
from nmt.training.export import export
from nmt.training.trainer import Trainer
from pipeline.config.catalogue import SweepRun
from pipeline.config.overlays import ConfigError, find_layers, load
from pipeline.report.sweep import searches_of, sweep_file
from tests.bitexts import write_bitext
from tests.running import ROOT
from tests.training_settings import model_run
from tests.unit.decoding.test_beam_search import decoding

LENGTHS = (1, 2, 3, 0, 12, 7, 9, 14, 4, 10, 8, 13)
SOURCES = [
    " ".join(f"w{2 + (7 * line + 3 * place * place) % 28}" for place in range(length))
    for line, length in enumerate(LENGTHS)
]
SOURCES[2] = "w7 strange w8"
GRID: dict[str, list[Any]] = {
    "beams": [1, 3],
    "normalize_by_length": [False, True],
    "min_length": ["half", "none"],
    "unknown": ["allowed", "excluded"],
}


def settings(**changes: Any) -> SweepRun:
    rest = {
        "max_length_factor": 2,
        "unfinished": "retry",
        "widest_beam": 500,
        "batch_size": 5,
        "device": "cpu",
        "threads": 1,
    }
    return SweepRun.model_validate({**GRID, **rest, **changes})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A test set, and a model whose weights are large enough to disagree with itself from setting to setting."""
    here = tmp_path_factory.mktemp("sweep")
    text = write_bitext(here, [([i % 28 + 2, i % 5 + 2], [i % 7 + 2]) for i in range(40)])
    trainer = Trainer(model_run(updates=1), text, text, (32, 32), here / "state")
    trainer.resume(None)
    trainer.run()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weight in trainer.model.parameters():
            weight.normal_(0, 0.9, generator=generator)
        trainer.model.readout.b_o[UNKNOWN] += 5.0
    export(here / "model", trainer, (here / "source.tsv", here / "target.tsv"), "updates")
    write(here / "test.en", SOURCES)
    # a reference that the model nearly finds, or BLEU would be 0 whatever the settings
    wanted = decoding(beam=2, max_length_factor=2, min_length="half").model_dump_json()
    options = ["--model", here / "model", "--source", here / "test.en", "--settings", wanted]
    nmt("decode", *options, "--output", here / "out")
    found = [json.loads(line)["text"] for line in read_lines(here / "out")]
    write(here / "test.fr", [text.replace("w9", "odd") for text in found])
    return here


def write(path: Path, lines: Sequence[str]) -> None:
    with write_lines(path) as writer:
        for line in lines:
            writer.write(line)


def nmt(*arguments: object) -> None:
    """A subcommand as a user calls it, in this process."""
    commands.main([str(argument) for argument in arguments], prog_name="nmt", standalone_mode=False)


def text_options(folder: Path) -> list[object]:
    return ["--model", folder / "model", "--source", folder / "test.en", "--reference", folder / "test.fr"]


@pytest.fixture(scope="module")
def swept(folder: Path) -> dict[str, Any]:
    """What the subcommand writes."""
    output = folder / "sweep" / "small.json"
    nmt("sweep", *text_options(folder), "--settings", settings().model_dump_json(), "--output", output)
    found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    return found


def decoded(folder: Path, output: Path, **changes: object) -> dict[str, Any]:
    """The numbers of a sweep, from a separate run of `nmt decode`."""
    wanted = decoding(max_length_factor=2, unfinished="retry", batch_size=5, **changes).model_dump_json()
    nmt("decode", *text_options(folder), "--settings", wanted, "--output", output)
    records = [json.loads(line) for line in read_lines(output)]
    texts, targets = [record["text"] for record in records], list(read_lines(folder / "test.fr"))
    length, reference = (sum(len(words(text)) for text in side) for side in (texts, targets))
    return {
        "bleu": multi_bleu().corpus_score(texts, [targets]).score,
        "mean_length": length / len(texts),
        "length_ratio": length / reference,
        "unfinished": sum(not record["finished"] for record in records),
        "log_probability": sum(record["log_probability"] for record in records) / len(records),
    }


@pytest.mark.parametrize("n_best", [1, 10])
def test_every_combination_scores_as_a_decoding_of_its_own(
    folder: Path, swept: dict[str, Any], tmp_path: Path, n_best: int
) -> None:
    """Whether that one ends early, with the best translation certain, or keeps its n best."""
    combinations = list(product(*GRID.values()))
    assert len(swept["scores"]) == len(combinations)
    found = {
        (row["beam"], row["normalize_by_length"], row["min_length"], row["unknown"]): row
        for row in swept["scores"]
    }
    for beam, normalize, min_length, unknown in combinations:
        changes = {"normalize_by_length": normalize, "min_length": min_length, "unknown": unknown}
        row = found[beam, normalize, min_length, unknown]
        expected = decoded(folder, tmp_path / "out.jsonl", beam=beam, n_best=n_best, **changes)
        assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-5), (beam, changes)
        assert row["seconds"] >= 0


def test_the_combinations_of_this_test_differ(folder: Path, swept: dict[str, Any], tmp_path: Path) -> None:
    """Or the test above would show little: each setting changes a translation, and some are tried again wider."""
    rows = {
        (row["beam"], row["normalize_by_length"], row["min_length"], row["unknown"]): row["log_probability"]
        for row in swept["scores"]
    }
    plain = rows[3, False, "half", "allowed"]
    others = [(1, False, "half", "allowed"), (3, True, "half", "allowed"), (3, False, "none", "allowed")]
    assert plain not in [rows[other] for other in [*others, (3, False, "half", "excluded")]]
    assert len({row["bleu"] for row in swept["scores"]}) > 3
    model = trained_model.load(folder / "model", torch.device("cpu"))
    once = settings(beams=[1], unfinished="best")
    given_up = sweep_file(model, folder / "test.en", folder / "test.fr", once, tmp_path / "once.json")
    assert all(row["unfinished"] > 0 for row in given_up["scores"])


def test_what_all_scores_share_is_said_once(swept: dict[str, Any]) -> None:
    assert (swept["model"], swept["seed"], swept["sentences"]) == ("small", 5, len(SOURCES))
    assert swept["max_length_factor"] == 2 and swept["device"].startswith("CPU")
    assert swept["signature"].startswith("nrefs:1|case:mixed|eff:no|tok:none|smooth:none")


def test_one_ranking_keeps_only_the_best() -> None:
    for ranking in (False, True):
        (search,) = searches_of(
            settings(beams=[7], normalize_by_length=[ranking], min_length=["half"], unknown=["allowed"])
        )
        assert (search.n_best, search.normalize_by_length, search.beam) == (1, ranking, 7)


def test_one_ranking_scores_as_with_the_other_beside_it(
    folder: Path, swept: dict[str, Any], tmp_path: Path
) -> None:
    model = trained_model.load(folder / "model", torch.device("cpu"))
    for ranking in (False, True):
        wanted = settings(beams=[3], normalize_by_length=[ranking])
        alone = sweep_file(model, folder / "test.en", folder / "test.fr", wanted, tmp_path / "out.json")
        beside = [row for row in swept["scores"] if (row["normalize_by_length"], row["beam"]) == (ranking, 3)]
        for one, other in zip(alone["scores"], beside, strict=True):
            assert {**one, "seconds": 0} == pytest.approx({**other, "seconds": 0}, abs=1e-5)


def test_a_killed_sweep_goes_on_where_it_stopped(folder: Path, tmp_path: Path) -> None:
    """Killed for good after a few searches; what was done is believed, and the rest is done."""
    for name in ("test.en", "test.fr"):
        write(tmp_path / name, list(read_lines(folder / name)) * 15)
    output, part = tmp_path / "sweep.json", tmp_path / ".sweep.json.unfinished"
    command = [sys.executable, "-m", "nmt", "sweep", "--model", str(folder / "model"), "--source"]
    command += [str(tmp_path / "test.en"), "--reference", str(tmp_path / "test.fr")]
    command += ["--settings", settings(unfinished="best").model_dump_json(), "--output", str(output)]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)})
    while not (part.exists() and part.read_bytes().count(b"\n") > 3):
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert not output.exists()
    # the first search is of a beam of 1, [UNK] allowed, at least half the source: its number must come from here
    lines = part.read_bytes().split(b"\n")
    number, first, seconds = json.loads(lines[1])
    assert number == 0
    lines[1] = json.dumps([0, {**first, "seconds": 1e6}, seconds]).encode()
    part.write_bytes(b"\n".join(lines) + b'[7000, {"se')
    nmt(*command[3:])
    long = [row["seconds"] > 1e5 for row in json.loads(output.read_text(encoding="utf-8"))["scores"]]
    assert long == [True, True, *[False] * (len(long) - 2)]
    assert not part.exists()
    rows = json.loads(output.read_text(encoding="utf-8"))["scores"]
    nmt(*command[3:-1], tmp_path / "whole.json")
    whole = json.loads((tmp_path / "whole.json").read_text(encoding="utf-8"))["scores"]
    assert [{**row, "seconds": 0} for row in rows] == [{**row, "seconds": 0} for row in whole]


def test_another_reference_or_grid_begins_anew(folder: Path, tmp_path: Path) -> None:
    model = trained_model.load(folder / "model", torch.device("cpu"))
    small = {"beams": [1], "min_length": ["none"], "unknown": ["allowed"]}
    output, part = tmp_path / "sweep.json", tmp_path / ".sweep.json.unfinished"

    def left(reference: Path, **changes: Any) -> bytes:
        """The header that a sweep leaves when it is stopped before its end."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pipeline.report.sweep.write_json", stop)
            with pytest.raises(KeyboardInterrupt):
                sweep_file(model, folder / "test.en", reference, settings(**{**small, **changes}), output)
        return part.read_bytes().split(b"\n")[0]

    write(tmp_path / "other.fr", list(read_lines(folder / "test.fr"))[::-1])
    plain = left(folder / "test.fr")
    assert plain == left(folder / "test.fr")
    assert len({plain, left(tmp_path / "other.fr"), left(folder / "test.fr", unknown=["excluded"])}) == 3


def stop(*arguments: object) -> None:
    raise KeyboardInterrupt


def test_a_text_without_lines_is_refused(folder: Path, tmp_path: Path) -> None:
    for name in ("test.en", "test.fr"):
        (tmp_path / name).write_bytes(b"")
    model = trained_model.load(folder / "model", torch.device("cpu"))
    with pytest.raises(UserError, match=r"test\.en: has no lines"):
        sweep_file(model, tmp_path / "test.en", tmp_path / "test.fr", settings(), tmp_path / "out.json")


def problems(folder: Path, text: str) -> list[str]:
    (folder / "config.yaml").write_text(f"sweep: {text}\n", encoding="utf-8")
    try:
        load(find_layers(ROOT / "config.yaml", folder))
    except ConfigError as error:
        return error.problems
    return []


def test_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    assert problems(tmp_path, "{models: [rnnsearch-30], beams: [1, 12], unknown: [excluded]}") == []
    (line,) = problems(tmp_path, "{models: [rnnsearch-51]}")
    assert "sweep.models: found 'rnnsearch-51', which `use.models` lacks; did you mean" in line
    (line,) = problems(tmp_path, "{beams: [1, 2, 1, 1]}")
    assert "sweep.beams: found 1 twice, expected each value once" in line
    for text in ("{beams: []}", "{beams: [0]}", "{min_length: [third]}", "{unknown: allowed}"):
        assert len(problems(tmp_path, text)) == 1, text
