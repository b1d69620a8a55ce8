"""Access to what Snakemake does not document, under names of our own, and the jobs of a run from its graph.

If a version of Snakemake moves one of these attributes, only this module changes. `tests/workflow/test_internals.py`
asks a running Snakemake for each of them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any

from snakemake.settings.types import DeploymentMethod
from snakemake_interface_common.exceptions import WorkflowError

from pipeline.config.schema import Config
from pipeline.monitor.jobs import Job, JobList

OF_WORKFLOW = {
    "config files": "config_settings.configfiles",
    "config": "config_settings.config",
    "jobs at once": "resource_settings.nodes",
    "cores": "resource_settings.cores",
    "resources": "global_resources",
    "main process": "is_main_process",
    "executor": "executor_settings",
    "jobs": "dag.jobs",
    "due jobs": "dag.needrun_jobs",
    "options of the container": "deployment_settings.apptainer_args",
}
OF_JOB = {
    "local rules": "rule.workflow._localrules",
    "wildcards": "wildcards_dict",
}
LOG = 'NMT_LOG="${{BASH_EXECUTION_STRING##*| tee -i }}"'
"""Sets NMT_LOG to the log of a job: what follows the last `| tee -i`, with which a job's shell line ends."""


def of(workflow: Any, name: str) -> Any:
    """Return one of `OF_WORKFLOW` of the workflow that rules see."""
    return attrgetter(OF_WORKFLOW[name])(workflow)


def of_job(job: Any, name: str) -> Any:
    """Return one of `OF_JOB`."""
    return attrgetter(OF_JOB[name])(job)


def is_submitted_job(workflow: Any) -> bool:
    """Return whether this Snakemake runs a single job that another one has submitted."""
    return not of(workflow, "main process")


def submits_jobs(workflow: Any) -> bool:
    """Return whether this Snakemake submits its jobs to a cluster: its profile says `resources: [cluster=1]`.

    The executor itself is not known yet when rules are read. Without that line, a limit on jobs and none on cores
    tells.
    """
    says_so = "cluster" in of(workflow, "resources")
    counts_jobs = of(workflow, "jobs at once") is not None and of(workflow, "cores") is None
    return (says_so or counts_jobs) and not is_submitted_job(workflow)


def uses_container(workflow: Any) -> bool:
    """Return whether jobs run in the container, and so with its Python."""
    return DeploymentMethod.APPTAINER in workflow.deployment_settings.deployment_method


def limit(workflow: Any, resource: str, count: int) -> None:
    """Let jobs share this amount of a resource, unless the user stated another."""
    resources = of(workflow, "resources")
    if resource not in resources:
        resources[resource] = count


PARTITION_KEYS = ("slurm_partition", "gpu_model")


def use_default_partition(workflow: Any, names: Iterable[str]) -> None:
    """Let rules whose jobs need no GPU ask for the partition that a profile states for all, not for that with GPUs.

    A workflow that imports this one puts a prefix before the names.
    """
    default = next(rule.resources for rule in workflow.rules if f"_{rule.name}".endswith("_all"))
    endings = tuple(f"_{name}" for name in names)
    for rule in workflow.rules:
        if f"_{rule.name}".endswith(endings):
            asked = {key: value for key, value in rule.resources.items() if key not in PARTITION_KEYS}
            asked |= {key: default[key] for key in PARTITION_KEYS if key in default}
            rule.resources = type(default)(asked)


def bind(workflow: Any, folders: Iterable[Path]) -> None:
    """Let jobs in a container see these folders, where they are, beside the working folder."""
    settings, options = workflow.deployment_settings, of(workflow, "options of the container") or ""
    for folder in sorted({folder.resolve() for folder in folders if folder.exists()}):
        option = f" --bind {shlex.quote(str(folder))}"
        options += option * (option not in options)
    settings.apptainer_args = options


def cores(workflow: Any) -> int:
    """Return the cores that jobs share; 1 where nothing is run and none were stated (`--unlock`)."""
    try:
        return int(workflow.cores)
    except WorkflowError:
        return 1


def status_command(workflow: Any) -> str | None:
    """Return the executor's program for the states of jobs, or None."""
    return getattr(of(workflow, "executor"), "status_command", None)


RESOURCES = ("runtime", "mem_mb", "gpu", "gpu_model", "slurm_partition", "qos", "time_setting")
"""The resources that jobs request of a cluster, and the key of `resources` that limits the time."""


def job_list(config: Config, workflow: Any) -> JobList:
    """Return all jobs that make files, due or not.

    Args:
        config: the run's settings.
        workflow: Snakemake's.
    """
    due = set(of(workflow, "due jobs")())
    return JobList(
        config, tuple(_job(workflow, job, job in due) for job in of(workflow, "jobs") if job.output)
    )


def _job(workflow: Any, job: Any, due: bool) -> Job:
    return Job(
        rule=job.rule.name,
        wildcards=dict(of_job(job, "wildcards")),
        outputs=tuple(map(str, job.output)),
        log=str(job.log[0]),
        is_pending=due,
        local=job.rule.name in of_job(job, "local rules"),
        resources=_known_resources(job),
    )


def _known_resources(job: Any) -> dict[str, Any]:
    """Return the resources of a job, without those that depend on inputs that are not there yet."""
    return {name: value for name in RESOURCES if type(value := job.resources.get(name)) in (int, str)}
