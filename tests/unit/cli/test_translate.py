"""`nmt translate` and `nmt score` as people call them: between pipes, with any bytes as text."""

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
from tests.translators import trained_model

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
LINE_COUNT = 13
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_model(tmp_path_factory.mktemp("cli_translator"))


def run_nmt(*arguments: object, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a subcommand with a text as its standard input."""
    command = [sys.executable, "-m", "nmt", *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True, check=False, env=ENVIRONMENT, timeout=300)


def run_bash(line: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash, in which $0 is Python and $1, $2 are the arguments."""
    command = ["bash", "-c", line, sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, env=ENVIRONMENT, timeout=300)


def assert_refused(result: subprocess.CompletedProcess[bytes]) -> None:
    """Check that a command ended with one line about its input, and wrote nothing."""
    message = result.stderr.decode()
    assert result.returncode == 2, message
    assert message.startswith("error: ") and message.count("\n") == 1
    assert not result.stdout
    check(message)


def test_translate_writes_a_line_per_line(model):
    result = run_nmt("translate", "--model", model, "--unknown", "copy", text=TEXT)
    message = result.stderr.decode()
    assert result.returncode == 0, message
    lines = result.stdout.decode("utf-8").split("\n")
    assert len(lines) == LINE_COUNT + 1 and not lines[-1]
    assert [number for number, line in enumerate(lines[:-1]) if not line] == [1, 2, 10]
    output = "".join(lines)
    assert "[UNK]" not in output and "&apos;" not in output
    assert "Cc" not in map(unicodedata.category, output)
    check(message)


def test_translate_json_has_tokens_and_attention(model, tmp_path):
    (tmp_path / "text.en").write_bytes(TEXT.replace(b"w3 w4, " * 5000, b"w3 w4, " * 50))
    options = ("--json", "--tokenized", "--n-best", 2, "--max-words", 20)
    files = (tmp_path / "text.en", "--output", tmp_path / "out")
    result = run_nmt("translate", "--model", model, *options, *files)
    assert result.returncode == 0, result.stderr
    assert not result.stdout
    lines = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    translations = [json.loads(line) for line in lines]
    assert [translation["line"] for translation in translations] == list(range(LINE_COUNT))
    assert translations[6]["source_tokens"] == ["w3", "w4", "w5", "w6", "w7", "w8"]
    assert translations[8]["pieces"] == [20] * 5
    for translation in translations:
        assert translation["text"] == " ".join(translation["tokens"]) == translation["n_best"][0]["text"]
        assert len(translation["alignment"]) == len(translation["tokens"])
        assert {len(row) for row in translation["alignment"]} <= set(translation["pieces"])


def test_translate_answers_while_input_is_open(model):
    with subprocess.Popen(
        [sys.executable, "-m", "nmt", "translate", "--model", model],
        env=ENVIRONMENT,
        # a shell lets its background jobs ignore the signal
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        for text in (b"w3 w4\n", b"\n", b"w5\n"):
            process.stdin.write(text)
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 120)[0], "no answer while the input is open"
            assert process.stdout.readline().endswith(b"\n")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == -signal.SIGINT
        assert process.stderr.read() == b""


def test_translate_exits_quietly_on_closed_pipe(model, tmp_path):
    (tmp_path / "text.en").write_bytes(b"w3 w4 w5\n" * 20_000)
    line = "$0 -m nmt translate --model $1 --beam-size 1 $2 | head -1; echo ${PIPESTATUS[0]}"
    result = run_bash(line, model, tmp_path / "text.en")
    lines = result.stdout.decode().split("\n")
    assert lines[1:] == [str(128 + signal.SIGPIPE), ""]
    assert result.stderr == b""


def test_score_writes_a_line_per_pair(model, tmp_path):
    source, target = tmp_path / "text.en", tmp_path / "text.fr"
    source.write_text("w3 w4 w5\n\nw9\n", encoding="utf-8")
    target.write_text("w4\n\nw5 w6\n", encoding="utf-8")
    result = run_nmt("score", "--model", model, "--json", source, "-", text=target.read_bytes())
    assert result.returncode == 0, result.stderr
    scores = [json.loads(line) for line in result.stdout.decode().splitlines()]
    assert [len(score["word_log_probabilities"]) for score in scores] == [2, 1, 3]
    for score in scores:
        assert sum(score["word_log_probabilities"]) == pytest.approx(score["log_probability"], abs=1e-3)
    plain_scores = [float(line) for line in run_nmt("score", "--model", model, source, target).stdout.split()]
    assert plain_scores == pytest.approx([score["log_probability"] for score in scores], abs=1e-3)
    target.write_text("w3\n", encoding="utf-8")
    assert_refused(run_nmt("score", "--model", model, source, target))


def test_missing_files_are_refused(model, tmp_path):
    assert_refused(run_nmt("translate", "--model", tmp_path / "nowhere"))
    assert_refused(run_nmt("translate", "--model", tmp_path))
    output = tmp_path / "out"
    assert_refused(run_nmt("translate", "--model", model, tmp_path / "no.en", "--output", output))
    assert not output.exists()


def test_translate_keeps_redirected_input(model, tmp_path):
    (tmp_path / "text.en").write_text("w3 w4\n")
    line = "$0 -m nmt translate --model $1 --output $2 < $2"
    assert_refused(run_bash(line, model, tmp_path / "text.en"))
    assert (tmp_path / "text.en").read_text() == "w3 w4\n"


def test_closed_standard_streams(model, tmp_path):
    (tmp_path / "text.en").write_text("w3 w4\n")
    line = "$0 -m nmt translate --model $1 $2"
    assert_refused(run_bash(f"{line} >&-", model, tmp_path / "text.en"))
    assert_refused(run_bash("$0 -m nmt translate --model $1 <&-", model))
    result = run_bash(f"{line} --output $2.fr >&-", model, tmp_path / "text.en")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "text.en.fr").read_text().count("\n") == 1


def test_unknown_words_are_counted_and_named(model, tmp_path):
    source, target = tmp_path / "text.en", tmp_path / "text.fr"
    source.write_text("w3 Kat kat W4\nw5 kat\n", encoding="utf-8")
    target.write_text("w3\nw4 [UNK]\n", encoding="utf-8")
    source_warning, target_warning = (
        run_nmt("score", "--model", model, source, target).stderr.decode().splitlines()
    )
    assert "4 of 6 source words" in source_warning and source_warning.endswith(" such as Kat, kat, W4")
    assert "1 of 3 target words" in target_warning
    (warning,) = run_nmt("translate", "--model", model, source).stderr.decode().splitlines()
    assert warning == source_warning
