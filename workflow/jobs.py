"""The jobs of a run, from Snakemake's graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.config.schema import Config
from pipeline.monitor.jobs import Job, JobList
from workflow import engine

RESOURCES = ("runtime", "mem_mb", "gpu", "gpu_model", "slurm_partition", "qos", "limited_by")
"""The resources that jobs request of a cluster, and the key of `resources` that limits the time."""


def job_list(config: Config, workflow: Any) -> JobList:
    """Return all jobs that make files, due or not.

    Args:
        config: the run's settings.
        workflow: Snakemake's.
    """
    return JobList(config, tuple(_job(workflow, *each) for each in engine.jobs_with_files(workflow)))


def _job(workflow: Any, job: Any, due: bool) -> Job:
    levels = engine.levels(workflow, job)
    return Job(
        rule=job.rule.name,
        wildcards=dict(engine.of_job(job, "wildcards")),
        outputs=tuple(map(str, job.output)),
        log=str(job.log[0]),
        due=due,
        local=job.rule.name in engine.of_job(job, "local rules"),
        resources=_stated(job) if levels == [[job]] else _together(levels),
    )


def _stated(job: Any) -> dict[str, Any]:
    """Return the resources of a job, without those that depend on inputs that are not there yet."""
    return {name: value for name in RESOURCES if type(value := job.resources.get(name)) in (int, str)}


def _together(levels: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return the resources of jobs that are sent together, as Snakemake adds them: a level runs in parallel.

    `rules` names them all.
    """
    stated = [[_stated(job) for job in level] for level in levels]
    minutes = sum(max(one.get("runtime", 0) for one in level) for level in stated)
    megabytes = max(sum(one.get("mem_mb", 0) for one in level) for level in stated)
    known = {name: value for name, value in (("runtime", minutes), ("mem_mb", megabytes)) if value}
    rules = ", ".join(sorted({job.rule.name for level in levels for job in level}))
    return {**stated[0][0], **known, "rules": rules}
