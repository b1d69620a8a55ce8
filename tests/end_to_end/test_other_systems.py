"""Where the system has not all that Linux has: real processes, from which it is withheld."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import ROOT, make_demo, run_command
from tests.training_settings import model_run
from tests.translators import trained_model

PLACE = ROOT / "tests" / "like_macos"


def as_on_macos(*command: str | Path) -> str:
    """What a command prints where much is missing; it must succeed."""
    path = os.pathsep.join([str(PLACE), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, and the text that it was trained on."""
    folder = tmp_path_factory.mktemp("macos")
    trained_model(folder)
    return folder


def test_what_is_withheld_is_not_there() -> None:
    questions = (
        "import ctypes, os, platform; from pathlib import Path\n"
        "def missing(call):\n"
        "    try: call()\n"
        "    except (AttributeError, ImportError, OSError): return True\n"
        "print(missing(lambda: os.sched_getaffinity(0)), missing(lambda: open('/proc/cpuinfo')),\n"
        "      missing(lambda: ctypes.CDLL(None).malloc_trim), missing(lambda: __import__('triton')),\n"
        "      not Path('/proc/cpuinfo').exists(), platform.libc_ver() == ('', ''))\n"
    )
    assert set(as_on_macos("-c", questions).split()) == {"True"}


def test_python_and_the_command_translate_alike(made: Path) -> None:
    line = "w3 w4 w5."
    code = f"import nmt; print(nmt.load({str(made / 'model')!r}).translate({line!r}))"
    (made / "line").write_text(f"{line}\n", encoding="utf-8")
    said = as_on_macos("-m", "nmt", "translate", "--model", made / "model", made / "line")
    assert as_on_macos("-c", code).strip() in said.splitlines()


def test_a_model_is_trained(made: Path, tmp_path: Path) -> None:
    settings = model_run(updates=3, device="auto").model_dump_json()
    texts = ["--train", made / "bitext", "--dev", made / "bitext"]
    words = ["--source-vocabulary", made / "source.tsv", "--target-vocabulary", made / "target.tsv"]
    places = ["--state", tmp_path / "state", "--output", tmp_path / "model"]
    as_on_macos("-m", "nmt", "train", "--settings", settings, *texts, *words, *places)
    assert (tmp_path / "model" / "model.safetensors").is_file()


def test_a_run_looks_ahead_and_makes_files(tmp_path: Path) -> None:
    overlay, target = make_demo(tmp_path), "data/tokens/demo-dev/0.en.zst"
    options = ("--configfile", str(overlay))
    assert "training: 5 runs" in as_on_macos("-m", "nmt", "preflight", *options, tmp_path)
    assert "unable" not in as_on_macos(*run_command(tmp_path, *options, "--", target)[1:])
    assert (tmp_path / target).is_file()
