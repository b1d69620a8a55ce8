"""`nmt translate` and `nmt score` as people call them: between pipes, with whatever bytes a text holds."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import unicodedata
from functools import partial
from pathlib import Path

import pytest

from tests.messages import check
from tests.running import ROOT
from tests.translators import text_settings, trained_model

TEXT = b"".join(
    [
        b"w3 w4 w5.\r\n",
        b"\n",
        b"   \t\n",
        b"w3 \x00\x01\x1b[31m w4 \x7f x\x7fy \xc2\x9b31m\n",
        b"caf\xe9 \xff\xfe w3\n",
        b"half a pair: \xed\xa0\x80 w4\n",
        "w3\u2028w4\u2029w5\x85w6\x0bw7\x0cw8\n".encode(),
        b"nothing here is known\n",
        b"w3 w4, " * 5000 + b"\n",
        b"a ||| b &amp; <c> [UNK] | \\ %s {}\n",
        b"\xef\xbb\xbf\n",
        "\N{CAT FACE} \u202e\u200b e\u0301\n".encode(),
        b"the last one ends without a line feed",
    ]
)
LINES = 13


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_model(tmp_path_factory.mktemp("cli_translator"))


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "nmt", *map(str, arguments)]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


def nmt(*arguments: object, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command(*arguments), input=text, capture_output=True, check=False, env=environment(), timeout=300
    )


def shell(line: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash, in which $0 is Python and $1, $2 are the arguments."""
    command = ["bash", "-c", line, sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, env=environment(), timeout=300)


def refused(found: subprocess.CompletedProcess[bytes]) -> None:
    message = found.stderr.decode()
    assert found.returncode == 2, message
    assert message.startswith("nmt: error: ") and message.count("\n") == 1
    assert not found.stdout
    check(message)


def test_one_line_out_for_each_line_in_whatever_it_holds(model: Path) -> None:
    found = nmt("translate", "--model", model, "--unknown", "copy", text=TEXT)
    message = found.stderr.decode()
    assert found.returncode == 0, message
    lines = found.stdout.decode("utf-8").split("\n")
    assert len(lines) == LINES + 1 and not lines[-1]
    assert [number for number, line in enumerate(lines[:-1]) if not line] == [1, 2]
    assert not any("[UNK]" in line or "&apos;" in line for line in lines)
    assert not [mark for line in lines for mark in line if unicodedata.category(mark) == "Cc"]
    check(message)


def test_tokens_in_tokens_out_and_everything_as_json(model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.en").write_bytes(TEXT.replace(b"w3 w4, " * 5000, b"w3 w4, " * 50))
    options = ("--json", "--tokenized", "--n-best", 2, "--max-words", 20)
    found = nmt("translate", "--model", model, *options, tmp_path / "text.en", "--output", tmp_path / "out")
    assert found.returncode == 0, found.stderr
    assert not found.stdout
    written = (tmp_path / "out").read_text(encoding="utf-8")
    assert len(written.splitlines()) == LINES
    records = [json.loads(line) for line in written.splitlines()]
    assert [record["line"] for record in records] == list(range(LINES))
    assert records[6]["source_tokens"] == ["w3", "w4", "w5", "w6", "w7", "w8"]
    assert records[8]["pieces"] == [20] * 5
    for record in records:
        assert record["text"] == " ".join(record["tokens"]) == record["n_best"][0]["text"]
        assert len(record["alignment"]) == len(record["tokens"])
        assert sum(record["pieces"]) == len(record["source_tokens"])
        assert {len(row) for row in record["alignment"]} <= set(record["pieces"])


def test_whoever_types_gets_an_answer_to_each_line_and_leaves_with_an_interrupt(model: Path) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command("translate", "--model", model),
        env=environment(),
        preexec_fn=partial(
            signal.signal, signal.SIGINT, signal.SIG_DFL
        ),  # a shell's background jobs ignore it
        **pipes,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        for text in (b"w3 w4\n", b"\n", b"w5\n"):
            process.stdin.write(text)
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 120)[0], "no answer while the input is open"
            assert process.stdout.readline().endswith(b"\n")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == -signal.SIGINT
        assert process.stderr.read() == b""


def test_a_reader_that_leaves_early_is_no_error(model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.en").write_bytes(b"w3 w4 w5\n" * 20_000)
    line = "$0 -m nmt translate --model $1 --beam-size 1 $2 | head -1; echo ${PIPESTATUS[0]}"
    found = shell(line, model, tmp_path / "text.en")
    lines = found.stdout.decode().split("\n")
    assert lines[1:] == [str(128 + signal.SIGPIPE), ""]
    assert found.stderr == b""


def test_scores_of_translations_are_those_of_the_search(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "text.en"
    source.write_text("w3 w4 w5\n\nw9\n", encoding="utf-8")
    translated = nmt("translate", "--model", model, "--json", "--tokenized", "--n-best", 3, source)
    records = [json.loads(line) for line in translated.stdout.decode().splitlines()]
    (tmp_path / "text.fr").write_text("".join(r["text"] + "\n" for r in records), encoding="utf-8")
    text = (tmp_path / "text.fr").read_bytes()
    found = nmt("score", "--model", model, "--tokenized", "--json", source, "-", text=text)
    assert found.returncode == 0, found.stderr
    scores = [json.loads(line) for line in found.stdout.decode().splitlines()]
    for record, scored in zip(records, scores, strict=True):
        assert sum(scored["word_log_probabilities"]) == pytest.approx(scored["log_probability"], abs=1e-3)
        if record["source_tokens"] and record["finished"]:
            assert scored["log_probability"] == pytest.approx(record["log_probability"], abs=1e-3)
    plain = nmt("score", "--model", model, source, tmp_path / "text.fr")
    assert [float(line) for line in plain.stdout.split()] == pytest.approx(
        [scored["log_probability"] for scored in scores], abs=1e-3
    )
    (tmp_path / "short.fr").write_text("w3\n", encoding="utf-8")
    uneven = nmt("score", "--model", model, source, tmp_path / "short.fr")
    refused(uneven)


def test_what_is_missing_is_named_in_one_line(model: Path, tmp_path: Path) -> None:
    refused(nmt("translate", "--model", tmp_path / "nowhere"))
    refused(nmt("translate", "--model", tmp_path))
    found = nmt("translate", "--model", model, tmp_path / "no.en", "--output", tmp_path / "out")
    refused(found)
    assert not (tmp_path / "out").exists()


def test_no_input_is_written_over(model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.en").write_text("w3 w4\n")
    refused(shell("$0 -m nmt translate --model $1 --output $2 < $2", model, tmp_path / "text.en"))
    assert (tmp_path / "text.en").read_text() == "w3 w4\n"


def test_a_folder_is_completed_by_hand(model: Path, tmp_path: Path) -> None:
    for path in model.iterdir():
        if path.name != "text.json":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    refused(nmt("translate", "--model", tmp_path))
    made = nmt("model", "package", "--model", tmp_path, "--settings", text_settings().model_dump_json())
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "text.json").read_bytes() == (model / "text.json").read_bytes()


@pytest.mark.parametrize("subcommand", ["translate", "score"])
def test_unknown_words_are_counted_and_named_in_one_line(
    model: Path, tmp_path: Path, subcommand: str
) -> None:
    (tmp_path / "text.en").write_text("w3 Kat kat W4\nw5 kat\n", encoding="utf-8")
    (tmp_path / "text.fr").write_text("w3\nw4 [UNK]\n", encoding="utf-8")
    inputs = [tmp_path / "text.en", tmp_path / "text.fr"][: 1 + (subcommand == "score")]
    source, *target = nmt(subcommand, "--model", model, *inputs).stderr.decode().splitlines()
    assert "4 of 6 source words" in source and source.endswith(": kat, Kat, W4")
    assert len(target) == (subcommand == "score") and all("1 of 3 target words" in line for line in target)
