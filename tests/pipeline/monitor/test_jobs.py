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


def a_job(log: str, inputs: str, outputs: str, run: str | None = None) -> Job:
    wildcards = {"model": run} if run else {}
    files = tuple(inputs.split()), tuple(outputs.split())
    return Job(log.split("/")[0], wildcards, *files, f"logs/{log}.log", True, False, {"runtime": 3})


JOBS = (
    a_job("report/table", "score.json", "table.md"),
    a_job("score/m", "m.jsonl", "score.json", "m"),
    a_job("select/tools", "", "lmplz"),
    a_job("select/all", "lmplz b", "chosen"),
    a_job("clean/a", "raw", "a"),
    a_job("clean/b", "a", "b"),
)


def listed() -> JobList:
    return JobList(load(find_layers(ROOT)), JOBS)


def test_a_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = listed()
    found.write(tmp_path / "logs" / "jobs.json")
    assert read(tmp_path / "logs" / "jobs.json") == found


@pytest.mark.parametrize("text", ["[]", '{"jobs": []}', '{"config": {}, "jobs": [{"rule": "train"}]}'])
def test_a_file_that_is_no_list_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "jobs.json").write_text(text, encoding="utf-8")
    with refused():
        read(tmp_path / "jobs.json")


def test_stage_and_name_are_those_of_the_log() -> None:
    assert (JOBS[4].stage, JOBS[4].name, JOBS[1].run, JOBS[0].run) == ("clean", "a", "m", None)


def test_stages_stand_in_the_order_in_which_data_flows() -> None:
    found = listed()
    assert list(found.stages).index("clean") < list(found.stages).index("select")
    assert list(found.stages).index("score") < list(found.stages).index("report")
    assert [job.name for job in found.stages["clean"]] == ["a", "b"]
    assert found.sources["logs/select/all.log"] == {"logs/select/tools.log", "logs/clean/b.log"}


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
