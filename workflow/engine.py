"""All that is asked of Snakemake beyond what it documents, by name: a version that moves one of these is told here.

`tests/workflow/test_engine.py` asks a running Snakemake for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from snakemake.io import IOFile

OF_WORKFLOW = {
    "config files": "config_settings.configfiles",
    "config": "config_settings.config",
    "environments": "deployment_settings.deployment_method",
    "jobs at once": "resource_settings.nodes",
    "set-resources": "resource_settings.overwrite_resources",
    "resources": "global_resources",
    "a resource": "register_resource",
    "inside a job": "remote_exec",
    "jobs run here": "local_exec",
    "executor": "executor_settings",
    "graph": "dag",
    "jobs": "dag.jobs",
    "due jobs": "dag.needrun_jobs",
    "recorded parameters": "persistence.params",
    "whether nobody imports it": "modifier.is_main_snakefile",
    "cores": "resource_settings.cores",
}
OF_JOB = {
    "rule": "rule.name",
    "local rules": "rule.workflow._localrules",
    "wildcards": "wildcards_dict",
    "resources": "resources",
}
LOG = 'NMT_LOG="${{BASH_EXECUTION_STRING##*| tee -i }}"'
"""The log of a job, by the words behind the last `| tee -i` of what Snakemake gives bash, which every job ends with."""


def of(workflow: Any, name: str) -> Any:
    """One of `OF_WORKFLOW`, of the workflow that rules see."""
    return attrgetter(OF_WORKFLOW[name])(workflow)


def of_job(job: Any, name: str) -> Any:
    """One of `OF_JOB`."""
    return attrgetter(OF_JOB[name])(job)


def sends_jobs(workflow: Any) -> bool:
    """Whether this Snakemake sends jobs to a cluster: then it counts jobs, not cores, and is not inside such a job.

    The executor itself is not known yet when rules are read.
    """
    return of(workflow, "jobs at once") is not None and not of(workflow, "inside a job")


def limit(workflow: Any, resource: str, count: int) -> None:
    """Have jobs share so much of a resource, unless whoever runs it has said how much."""
    if resource not in of(workflow, "resources"):
        of(workflow, "a resource")(resource, count)


def status_command(workflow: Any) -> str | None:
    """What the executor asks a scheduler with, where there is one."""
    return getattr(of(workflow, "executor"), "status_command", None)


def recorded(workflow: Any, file: str) -> list[str] | None:
    """The parameters of the job that made a file, as Python shows each; None where there is no record."""
    found: list[str] | None = of(workflow, "recorded parameters")(IOFile(file))
    return found


def jobs_with_files(workflow: Any) -> Iterator[tuple[Any, bool]]:
    """The jobs that make files, and whether each is due."""
    due = set(of(workflow, "due jobs")())
    return ((job, job in due) for job in of(workflow, "jobs") if job.output)
