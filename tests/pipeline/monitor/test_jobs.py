"""The list of an experiment's jobs: as a file, and what follows from inputs and outputs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nmt.errors import UserError
from pipeline.config.layers import find_layers, load
from pipeline.monitor.jobs import Job, JobList, list_jobs, read
from tests.experiments import EXTENDS_PAPER
from tests.messages import refused
from tests.running import ROOT, slurm_of

JOBS = (
    Job("score", {"model": "m"}, ("score.json",), "logs/score/m.log", True, False, {"runtime": 3}),
    Job("clean", {}, ("a",), "logs/clean/a.log", True, False, {}),
)


def test_a_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = JobList(load(find_layers(ROOT)), JOBS)
    found.write(tmp_path / "logs" / "jobs.json")
    assert read(tmp_path / "logs" / "jobs.json") == found


@pytest.mark.parametrize("text", ["[]", '{"jobs": []}', '{"config": {}, "jobs": [{"rule": "train"}]}'])
def test_a_file_that_is_no_list_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "jobs.json").write_text(text, encoding="utf-8")
    with refused():
        read(tmp_path / "jobs.json")


def test_stage_and_name_are_those_of_the_log() -> None:
    assert (JOBS[1].stage, JOBS[1].name, JOBS[0].run, JOBS[1].run) == ("clean", "a", "m", None)


def test_where_snakemake_ends_in_a_traceback_its_last_line_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("squeue", path="/usr/bin:/bin"):
        pytest.skip("Slurm is installed here")
    programs = slurm_of(tmp_path, "batch* 1:00 100000 (null)")
    (programs / "squeue").unlink()  # without it Snakemake's executor for Slurm cannot be imported
    (tmp_path / "config.yaml").write_text(EXTENDS_PAPER, encoding="utf-8")
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    with pytest.raises(UserError, match=r"Snakemake says: .*'squeue'") as caught:
        list_jobs(tmp_path)
    assert "\n" not in str(caught.value)
