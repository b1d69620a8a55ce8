"""The jobs of a run of Snakemake, as the workflow lists them when it starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.config.schema import Config

CHECK_FILE_VARIABLE = "NMT_PREFLIGHT"
"""The environment variable with the file that gets the forecast and the problems of a dry-run, as JSON."""


@dataclass(frozen=True)
class Job:
    """One job of the workflow.

    Attributes:
        rule: name of its rule.
        wildcards: name -> value.
        log: logs/STAGE/NAME.log.
        is_local: whether it runs next to Snakemake even if other jobs are submitted to a cluster.
        resources: the requested resources by name, without those that are not known yet.
    """

    rule: str
    wildcards: Mapping[str, str]
    log: str
    is_local: bool
    resources: Mapping[str, Any]

    @property
    def stage(self) -> str:
        """The stage that the job belongs to: the folder of its log."""
        return self.log.split("/")[1]

    @property
    def name(self) -> str:
        """The object of the job, such as a run or a shard: the name of its log."""
        return self.log.split("/", 2)[2].removesuffix(".log")

    @property
    def run(self) -> str | None:
        """The run (a model at a seed) or ensemble that the job is about, if it is about one."""
        return self.wildcards.get("run") or self.wildcards.get("system")


@dataclass(frozen=True)
class JobList:
    """The jobs that Snakemake will run, and the merged settings of the run."""

    config: Config
    pending_jobs: tuple[Job, ...]

    @property
    def runs_to_train(self) -> list[str]:
        """The runs with a pending job of training."""
        return [job.run for job in self.pending_jobs if job.run and job.stage == "train"]

    @property
    def corpora_to_extract(self) -> list[str]:
        """The corpora whose raw text Snakemake will extract, perhaps once more."""
        # the rules are called extract_CORPUS
        rules = [job.rule for job in self.pending_jobs if job.rule.startswith("extract_")]
        return [rule.removeprefix("extract_") for rule in rules]

    @property
    def archives_to_download(self) -> list[str]:
        """The names, in `archives`, of the archives that Snakemake will download."""
        paths = {job.wildcards["archive"] for job in self.pending_jobs if job.rule == "download"}
        return [name for name, archive in self.config.archives.items() if archive.path in paths]


started_job_lists: list[JobList] = []
"""The jobs of the run that this process starts: the rules add them, and the logger shows their progress."""
