"""What is made of a shard one after the other is one job of Slurm's: what it asks for, and how it is tried again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt.io.files import read_json
from tests.slurm.cluster import Cluster, run
from tests.slurm.experiment import PATIENCE, Experiment, Watch

TEXT = "data/raw/demo-train/0.en.zst"
HELD_OUT = [
    f"data/tokens/demo-{part}/0.{language}.zst" for part in ("dev", "test") for language in ("en", "fr")
]
TARGET = "data/overlap/demo-train/0.json"


@pytest.fixture
def experiment(cluster: Cluster, tmp_path: Path) -> Iterator[Experiment]:
    """An experiment whose raw text is there, and the text that overlaps are looked for in."""
    experiment = Experiment(tmp_path)
    experiment.write_profile()
    experiment.start_here("--", TEXT, *HELD_OUT)
    assert experiment.heads[0].wait(timeout=PATIENCE) == 0, experiment.output()
    yield experiment
    experiment.remove()


def asked() -> list[tuple[str, str, str, str]]:
    """Cores, memory, time and state of all jobs, the oldest first."""
    lines = run("squeue", "--noheader", "--states=all", "--sort=i", "--format=%C %m %l %T").stdout.split("\n")
    return [tuple(line.split()) for line in lines if line]  # type: ignore[misc]


@pytest.mark.slow
def test_a_shard_s_chain_is_one_job_that_is_sent_again_with_more_of_everything_when_one_of_it_fails(
    cluster: Cluster, experiment: Experiment
) -> None:
    watch = Watch(cluster, experiment)
    # what the last of the chain reads besides: cleaning and tokenizing succeed
    held_out = experiment.folder / HELD_OUT[0]
    whole = held_out.read_bytes()
    held_out.write_bytes(bytes(len(whole)))
    experiment.start_on_cluster("--", TARGET)
    watch.until(
        lambda: "FAILED: overlap demo-train/0\nnmt: error: " in experiment.output(), "the error's own words"
    )
    held_out.write_bytes(whole)
    assert experiment.heads[-1].wait(timeout=PATIENCE) == 0, experiment.output()[-4000:]
    assert (experiment.folder / TARGET).exists()

    # cleaning, two languages side by side, counting: 15 minutes each, and 2 GB a job
    first, *_, last = asked()
    assert first == ("2", "4000M", "45:00", "FAILED")
    assert last == ("2", "8000M", "1:30:00", "COMPLETED")
    assert experiment.output().count("FAILED: ") == experiment.output().count("Trying to restart job") == 1
    (log,) = (experiment.folder / ".snakemake" / "slurm_logs").glob("group_text.demo-train.0_*/*.log")
    assert "nmt: error: " in log.read_text(encoding="utf-8", errors="replace")
    listed = read_json(experiment.folder / "logs" / "jobs.json")["jobs"]
    chain = [job for job in listed if job["log"].split("/", 2)[2].startswith("demo-train/0")]
    assert sorted(job["rule"] for job in chain if job["due"]) == ["clean", "overlap", "tokenize", "tokenize"]
    for stated in (job["resources"] for job in chain if job["due"]):
        assert (stated["runtime"], stated["mem_mb"]) == (45, 4000)
        assert stated["rules"] == "clean, overlap, tokenize"
    assert "Traceback" not in experiment.output()
