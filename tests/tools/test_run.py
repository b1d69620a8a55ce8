"""What `make demo` and its like print at the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.experiments import EXTENDS_PAPER
from tests.messages import check
from tests.running import ROOT, make_demo, programs_but
from tools import run
from workflow.records import take_run_lock


def test_results_are_printed_at_the_end(tmp_path, capsys):
    (tmp_path / "results").mkdir()
    row = f"| Modèle{' ' * 40}| All{' ' * 20}| 13a{' ' * 20}|"
    (tmp_path / "results" / "table1.md").write_text(f"{row}\n\nNotes.\n", encoding="utf-8")
    (tmp_path / "results" / "headline.txt").write_text(f"{'word ' * 30}\n", encoding="utf-8")
    (tmp_path / "results" / "report.html").touch()
    (tmp_path / "scores" / "test").mkdir(parents=True)
    for name, bleu in (("rnnencdec-5", 4.0), ("rnnsearch-5", 20.0), ("rnnsearch-5-star", 12.0)):
        (tmp_path / "models" / name).mkdir(parents=True)
        (tmp_path / "models" / name / "text.json").touch()
        (tmp_path / "scores" / "test" / f"{name}.json").write_text(f'{{"bleu_all": {bleu}}}')
    run._print_results(tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert row[:-25] in lines and "Notes." not in lines and len(lines) <= 16  # what fits into 80 columns
    assert f"Open {tmp_path}/results/report.html" in lines[-3]
    assert lines[-1].endswith("nmt translate --model " + str(tmp_path / "models" / "rnnsearch-5"))


def run_main(monkeypatch: pytest.MonkeyPatch, folder: Path, *options: str) -> int:
    monkeypatch.setattr(sys, "argv", ["run.py", str(folder), *options])
    return run.main()


def test_unusable_folder_is_one_line(tmp_path, monkeypatch, capsys):
    assert run_main(monkeypatch, tmp_path / "nowhere") == 2
    (line,) = capsys.readouterr().err.splitlines()
    check(line)


def test_second_run_is_refused_and_unlocks_nothing(tmp_path, monkeypatch, capsys):
    locked = tmp_path / ".snakemake" / "locks" / "0.output.lock"
    locked.parent.mkdir(parents=True)
    locked.touch()
    descriptor = take_run_lock(tmp_path)
    assert descriptor
    assert run_main(monkeypatch, tmp_path) == 2
    os.close(descriptor)
    check(capsys.readouterr().err.splitlines()[-1])
    assert locked.exists()


@pytest.mark.parametrize("options", [["--frce"], ["--rerun-triggers", "x"], ["--config", "seeds=[1,", "2]"]])
def test_wrong_option_is_one_line(tmp_path, monkeypatch, capsys, options):
    assert run_main(monkeypatch, tmp_path, "--notemp", *options) == 2
    (line,) = capsys.readouterr().err.splitlines()
    check(line)


@pytest.mark.parametrize("option", ["-n", "-nq", "-qn", "--dry-run", "--summary", "-l"])
def test_full_run_is_recognized_by_options(option):
    assert not run._is_full_run([option])
    assert run._is_full_run(["--config", "seed=2"])


def run_dry(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A dry-run of the paper in the folder `own`."""
    (folder / "own").mkdir()
    (folder / "own" / "config.yaml").write_text(EXTENDS_PAPER, encoding="utf-8")
    command = [sys.executable, "tools/run.py", str(folder / "own"), "-n", "-q", "rules"]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return result


def test_cache_without_a_writable_home(tmp_path):
    (tmp_path / "home").touch()  # a file: nobody can make a folder in it, root neither
    environment = {**os.environ, "HOME": str(tmp_path / "home")}
    environment.pop("XDG_CACHE_HOME", None)
    result = run_dry(tmp_path, environment)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "own" / ".snakemake" / "cache").is_dir()


def test_system_without_the_program_which(tmp_path):
    result = run_dry(tmp_path, {**os.environ, "PATH": str(programs_but(tmp_path, {"which"}))})
    assert result.returncode == 0, result.stderr


def test_profile_variable_and_shadowing_modules_do_not_act(tmp_path):
    for name in ("random", "statistics", "nmt"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')\n", encoding="utf-8")
    overlay = make_demo(tmp_path)
    options = ["--cores", "1", "--configfile", str(overlay), "--", "data/raw/demo-dev/0.en.zst"]
    command = [sys.executable, "tools/run.py", str(tmp_path), *options]
    environment = {**os.environ, "SNAKEMAKE_PROFILE": "/nowhere"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr + result.stdout
