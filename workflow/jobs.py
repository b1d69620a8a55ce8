"""The jobs of a run, out of Snakemake's own graph of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pipeline.config.schema import Config
from pipeline.monitor.jobs import Job, JobList

RESOURCES = ("runtime", "mem_mb", "gpu", "gpu_model", "slurm_partition", "qos")
"""What a cluster is asked for."""


def job_list(config: Config, graph: Any) -> JobList:
    """All jobs that make files, due or not.

    Args:
        config: the run's settings.
        graph: Snakemake's DAG.
    """
    due = set(graph.needrun_jobs())
    return JobList(config, tuple(_job(job, job in due) for job in _with_files(graph.jobs)))


def _with_files(jobs: Iterable[Any]) -> list[Any]:
    return [job for job in jobs if job.output]


def _job(job: Any, due: bool) -> Job:
    resources = {name: value for name in RESOURCES if _known(value := job.resources.get(name))}
    return Job(
        rule=job.rule.name,
        wildcards=dict(job.wildcards_dict),
        inputs=tuple(map(str, job.input)),
        outputs=tuple(map(str, job.output)),
        log=str(job.log[0]),
        due=due,
        local=job.rule.name in job.rule.workflow._localrules,
        resources=resources,
    )


def _known(value: object) -> bool:
    """Whether a resource is stated; what follows from inputs that are not there yet is not."""
    return type(value) in (int, str)
