"""Access to what Snakemake does not document, under names of our own.

If a version of Snakemake moves one of these attributes, only this module changes. `tests/workflow/test_engine.py`
asks a running Snakemake for each of them.
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
"""Sets NMT_LOG to the log of a job: what follows the last `| tee -i`, with which every job's shell line ends."""


def of(workflow: Any, name: str) -> Any:
    """Return one of `OF_WORKFLOW` of the workflow that rules see."""
    return attrgetter(OF_WORKFLOW[name])(workflow)


def of_job(job: Any, name: str) -> Any:
    """Return one of `OF_JOB`."""
    return attrgetter(OF_JOB[name])(job)


def sends_jobs(workflow: Any) -> bool:
    """Return whether this Snakemake sends jobs to a cluster: it counts jobs, not cores, and runs in no such job itself.

    The executor itself is not known yet when rules are read.
    """
    return of(workflow, "jobs at once") is not None and not of(workflow, "inside a job")


def limit(workflow: Any, resource: str, count: int) -> None:
    """Let jobs share this amount of a resource, unless the user stated another."""
    resources = of(workflow, "resources")
    if resource not in resources:
        resources[resource] = count


def cores(workflow: Any) -> int:
    """Return the cores that jobs share; 1 where nothing is run and none were stated (`--unlock`)."""
    try:
        return int(workflow.cores)
    except WorkflowError:
        return 1


def status_command(workflow: Any) -> str | None:
    """Return the executor's program for the states of jobs, or None."""
    return getattr(of(workflow, "executor"), "status_command", None)


def recorded(workflow: Any, file: str) -> list[str] | None:
    """Return the parameters of the job that made a file, as Python shows each; None where there is no record."""
    found: list[str] | None = of(workflow, "recorded parameters")(IOFile(file))
    return found


def jobs_with_files(workflow: Any) -> Iterator[tuple[Any, bool]]:
    """Yield the jobs that make files, and whether each is due."""
    due = set(of(workflow, "due jobs")())
    return ((job, job in due) for job in of(workflow, "jobs") if job.output)


def levels(workflow: Any, job: Any) -> list[list[Any]]:
    """Return the jobs that are sent to a cluster together with this one, itself included, level by level."""
    group = of(workflow, "group of a job")(job)
    return [list(level) for level in group.toposorted] if group else [[job]]
