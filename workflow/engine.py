"""All that is asked of Snakemake beyond what it documents or its plugins' interfaces have, by name.

A version that moves one of these is told here: `tests/workflow/test_engine.py` asks a running Snakemake for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from snakemake.io import IOFile
from snakemake_interface_common.exceptions import WorkflowError

OF_WORKFLOW = {
    "config files": "config_settings.configfiles",
    "config": "config_settings.config",
    "jobs at once": "resource_settings.nodes",
    "set-resources": "resource_settings.overwrite_resources",
    "resources": "global_resources",
    "inside a job": "remote_exec",
    "executor": "executor_settings",
    "jobs": "dag.jobs",
    "due jobs": "dag.needrun_jobs",
    "group of a job": "dag.get_job_group",
    "recorded parameters": "persistence.params",
}
OF_JOB = {
    "local rules": "rule.workflow._localrules",
    "wildcards": "wildcards_dict",
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
    resources = of(workflow, "resources")
    if resource not in resources:
        resources[resource] = count


def cores(workflow: Any) -> int:
    """The cores that jobs share; 1 where nothing is run and none were stated (`--unlock`)."""
    try:
        return int(workflow.cores)
    except WorkflowError:
        return 1


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


def levels(workflow: Any, job: Any) -> list[list[Any]]:
    """The jobs that are sent to a cluster as one with this one, itself included: each level after the one before it."""
    group = of(workflow, "group of a job")(job)
    return [list(level) for level in group.toposorted] if group else [[job]]
