"""Access to what Snakemake does not document, under names of our own, and the jobs of a run from its graph.

If a version of Snakemake moves one of these attributes, only this module changes. `tests/workflow/test_internals.py`
calls each function in a running Snakemake.
"""

import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from threading import Thread
from typing import Any

from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.script import PythonScript
from snakemake.settings.types import DeploymentMethod
from snakemake_interface_executor_plugins.executors.real import RealExecutor

from pipeline.config.schema import Config
from pipeline.monitor.jobs import Job, JobList

PARTITION_RESOURCES = ("slurm_partition", "gpu_model")

# --- the command line -------------------------------------------------------------------------------------------------


def get_config_files(workflow: Any) -> list[Path]:
    """Return the files after `--configfile`."""
    return list(workflow.config_settings.configfiles)


def get_config_pairs(workflow: Any) -> dict[str, Any]:
    """Return the pairs after `--config`."""
    return dict(workflow.config_settings.config)


def count_cores(workflow: Any) -> int:
    """Return the number of cores that jobs share; 1 if none is given, as with `--unlock`, which runs no job."""
    return int(workflow.resource_settings.cores or 1)


def uses_container(workflow: Any) -> bool:
    """Return whether jobs run in the container, with the container's Python."""
    return DeploymentMethod.APPTAINER in workflow.deployment_settings.deployment_method


def is_submitted_job(workflow: Any) -> bool:
    """Return whether this Snakemake runs a single job that another one has submitted."""
    return not workflow.is_main_process


def submits_jobs(workflow: Any) -> bool:
    """Return whether this Snakemake submits its jobs to a cluster.

    The executor is not known yet when rules are read. But the profile of a cluster says `resources: [cluster=1]`, and
    other profiles limit the number of jobs instead of the cores.
    """
    if is_submitted_job(workflow):
        return False
    settings = workflow.resource_settings
    limits_jobs = settings.nodes is not None and settings.cores is None
    return limits_jobs or "cluster" in workflow.global_resources


def get_status_command(workflow: Any) -> str | None:
    """Return the executor's program for the states of jobs, or None."""
    return getattr(workflow.executor_settings, "status_command", None)


# --- what the rules change of it --------------------------------------------------------------------------------------


def limit_resource(workflow: Any, resource: str, count: int) -> None:
    """Let jobs share this amount of a resource, unless the user has set a different one."""
    workflow.global_resources.setdefault(resource, count)


def bind_folders(workflow: Any, folders: Iterable[Path]) -> None:
    """Let jobs in a container see these folders, under the same paths, in addition to the working folder."""
    settings = workflow.deployment_settings
    options = settings.apptainer_args or ""
    for folder in sorted({folder.resolve() for folder in folders if folder.exists()}):
        option = f" --bind {shlex.quote(str(folder))}"
        # both with a space at the end, since the user's `--bind /data2` does not bind /data
        if f"{option} " not in f"{options} ":
            options += option
    settings.apptainer_args = options


def use_default_partition(workflow: Any, rule_names: Collection[str]) -> None:
    """Let some rules request the default partition, although the profile assigns a partition with GPUs to them.

    rule_names: the rules whose jobs need no GPU.
    """
    # The profile names no partition for the rule `all`, so this rule has the default partition.
    default_resources = workflow.get_rule("all").resources
    for rule in workflow.rules:
        if rule.name in rule_names:
            resources = dict(rule.resources)
            for key in PARTITION_RESOURCES:
                resources.pop(key, None)
                if key in default_resources:
                    resources[key] = default_resources[key]
            rule.resources = type(default_resources)(resources)  # a class of Snakemake


def stop_without_deadlock() -> None:
    """Let Snakemake take the signal TERM at any moment.

    Its handler takes a lock. If the signal came while the interrupted code itself held this lock, as after the end of a
    job, Snakemake would wait for ever. So the handler runs in a thread of its own.
    """
    handle_signal = JobScheduler.exit_gracefully

    def start_thread(scheduler: JobScheduler, *arguments: Any) -> None:
        Thread(target=handle_signal, args=(scheduler, *arguments)).start()

    JobScheduler.exit_gracefully = start_thread


def quote_python() -> None:
    """Quote the path of Python in the commands of scripts and of submitted jobs, which Snakemake does not.

    The path may contain a space.
    """
    run_script = PythonScript._execute_cmd

    def run_quoted_script(script: Any, command: str, **values: Any) -> Any:
        return run_script(script, command.replace("{py_exec}", "{py_exec:q}"), **values)

    PythonScript._execute_cmd = run_quoted_script

    format_job = RealExecutor.format_job_exec

    def format_quoted_job(executor: Any, job: Any) -> str:
        python = executor.get_python_executable()
        command: str = format_job(executor, job)
        return command.replace(f"{python} -m snakemake", f"{shlex.quote(python)} -m snakemake", 1)

    RealExecutor.format_job_exec = format_quoted_job


# --- failed jobs ------------------------------------------------------------------------------------------------------


def find_job(workflow: Any, number: int) -> Any:
    """Return the job to which Snakemake has given a number."""
    return next(job for job in workflow.dag.jobs if workflow.dag.jobid(job) == number)


def give_up(job: Any) -> None:
    """Prevent the repetition of a failed job, as if this had been its last attempt.

    Setting the public attribute `attempt` would compute the job's resources anew before the scheduler gets back those
    that the job had.
    """
    job._attempt = job.restart_times + 1


# --- the graph of jobs ------------------------------------------------------------------------------------------------


def list_jobs(config: Config, workflow: Any) -> JobList:
    """Return the jobs that Snakemake will run and that make files.

    config: the run's settings.
    """
    dag = workflow.dag
    jobs = [_describe_job(job) for job in dag.jobs if job.output and dag.needrun(job)]
    return JobList(config, tuple(jobs))


def _describe_job(job: Any) -> Job:
    """Return what the preflight check and the logger need to know of one of Snakemake's jobs."""
    # Until its inputs exist, a resource that depends on them is a placeholder: a subclass of str.
    known_resources = {name: value for name, value in job.resources.items() if type(value) in (int, str)}
    return Job(
        rule=job.rule.name,
        wildcards=dict(job.wildcards_dict),
        log=str(job.log[0]),
        is_local=job.rule.name in job.rule.workflow._localrules,
        resources=known_resources,
    )
