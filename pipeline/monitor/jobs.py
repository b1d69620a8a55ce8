"""The jobs of a run, as the workflow tells them when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.config.schema import Config

CHECK_ONLY = "NMT_PREFLIGHT"
"""The environment variable that lets Snakemake end after the check before its first job."""


@dataclass(frozen=True)
class Job:
    """One job of the workflow. Paths start at the experiment's folder.

    rule: its rule in the workflow. log: logs/STAGE/NAME.log. is_pending: whether it is to run. local: whether it runs
    beside Snakemake even if other jobs are submitted to a cluster. resources: what it requests, as far as that is
    known. Jobs that are submitted together have the sum of their requests, with their `rules`.
    """

    rule: str
    wildcards: Mapping[str, str]
    outputs: tuple[str, ...]
    log: str
    is_pending: bool
    local: bool
    resources: Mapping[str, Any]

    @property
    def stage(self) -> str:
        """Return the stage that a job belongs to: the folder of its log."""
        return self.log.split("/")[1]

    @property
    def name(self) -> str:
        """Return what the job works on: the name of its log."""
        return self.log.split("/", 2)[2].removesuffix(".log")

    @property
    def run(self) -> str | None:
        """Return the run that the job is about, if it is about one."""
        return self.wildcards.get("run") or self.wildcards.get("system")


@dataclass(frozen=True)
class JobList:
    """All jobs for the targets of a run of Snakemake, done or not, and its merged settings."""

    config: Config
    jobs: tuple[Job, ...]

    @property
    def pending_jobs(self) -> list[Job]:
        """Return the jobs that are to run."""
        return [job for job in self.jobs if job.is_pending]

    @property
    def runs_to_train(self) -> list[str]:
        """Return the runs that are to be trained."""
        return [job.run for job in self.pending_jobs if job.run and job.stage == "train"]

    @property
    def corpora_to_extract(self) -> list[str]:
        """Return the corpora whose text is to be made."""
        return [
            job.rule.removeprefix("extract_") for job in self.pending_jobs if job.rule.startswith("extract_")
        ]

    @property
    def archives_to_download(self) -> list[str]:
        """Return the archives that are to be fetched, by their names in the catalogue."""
        paths = {job.wildcards["archive"] for job in self.pending_jobs if job.rule == "download"}
        return [name for name, archive in self.config.archives.items() if archive.path in paths]


started_runs: list[JobList] = []
"""The run that this process has started, for Snakemake's logger."""
