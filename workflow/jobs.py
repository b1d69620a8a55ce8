"""The jobs of a run, out of Snakemake's own graph of them."""

from __future__ import annotations

from typing import Any

from pipeline.config.schema import Config
from pipeline.monitor.jobs import Job, JobList
from workflow import engine

RESOURCES = ("runtime", "mem_mb", "gpu", "gpu_model", "slurm_partition", "qos", "limited_by")
"""What a cluster is asked for, and the key of `resources` that limits the time."""


def job_list(config: Config, workflow: Any) -> JobList:
    """All jobs that make files, due or not.

    Args:
        config: the run's settings.
        workflow: Snakemake's.
    """
    return JobList(config, tuple(_job(*each) for each in engine.jobs_with_files(workflow)))


def _job(job: Any, due: bool) -> Job:
    rule, asked = engine.of_job(job, "rule"), engine.of_job(job, "resources")
    return Job(
        rule=rule,
        wildcards=dict(engine.of_job(job, "wildcards")),
        inputs=tuple(map(str, job.input)),
        outputs=tuple(map(str, job.output)),
        log=str(job.log[0]),
        due=due,
        local=rule in engine.of_job(job, "local rules"),
        resources={name: value for name in RESOURCES if _known(value := asked.get(name))},
    )


def _known(value: object) -> bool:
    """Whether a resource is stated; what follows from inputs that are not there yet is not."""
    return type(value) in (int, str)
