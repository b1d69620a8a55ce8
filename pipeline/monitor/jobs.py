"""The jobs of an experiment, which the workflow lists when a run starts (`logs/jobs.json`).

Only the rules say which job makes which file from which others. The list has their jobs for one experiment, with the
settings of that moment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nmt.errors import UserError
from nmt.io.files import read_json, write_text
from pipeline.config.checkout import REPOSITORY, for_snakemake
from pipeline.config.layers import read_layer
from pipeline.config.schema import Config

FILE = Path("logs") / "jobs.json"
ONLY_LIST = "NMT_LIST_JOBS"
"""Names the environment variable with the file that Snakemake is to write the list to, instead of running any job."""

SECONDS = 900
"""Time limit for Snakemake's list, which takes seconds: a file system may hang."""


@dataclass(frozen=True)
class Job:
    """One job of the workflow. Paths start at the experiment's folder.

    rule: its rule in the workflow. log: logs/STAGE/NAME.log. due: whether it was to run when the list was made. local:
    whether it runs beside Snakemake even if other jobs are sent to a cluster. resources: what it requests, as far as
    that is known. Jobs that are sent together have the sum of their requests, with their `rules`.
    """

    rule: str
    wildcards: Mapping[str, str]
    outputs: tuple[str, ...]
    log: str
    due: bool
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
        return self.wildcards.get("model")


@dataclass(frozen=True)
class JobList:
    """All jobs for the targets of a run of Snakemake, done or not, and its merged settings."""

    config: Config
    jobs: tuple[Job, ...]

    @property
    def due(self) -> list[Job]:
        """Return the jobs that were to run."""
        return [job for job in self.jobs if job.due]

    @property
    def training(self) -> dict[str, Job]:
        """Return the training jobs by their runs."""
        return {job.run: job for job in self.jobs if job.run and job.stage == "train"}

    def write(self, path: Path) -> None:
        """Write the list, whole or not at all."""
        values = {"config": self.config.model_dump(mode="json"), "jobs": [asdict(job) for job in self.jobs]}
        write_text(path, json.dumps(values, ensure_ascii=False) + "\n")


def read(path: Path) -> JobList:
    """Read a list. A `UserError` says that it is damaged or of another version."""
    values = read_json(path)
    try:
        jobs = tuple(Job(**{**job, "outputs": tuple(job["outputs"])}) for job in values["jobs"])
        return JobList(Config.model_validate(values["config"]), jobs)
    except (KeyError, TypeError, ValidationError):
        again = "delete it, or start the run again"
        raise UserError(f"{path}: found no list of jobs that this version writes; {again}") from None


def list_jobs(folder: Path, configfiles: Sequence[Path] = (), pairs: Sequence[str] = ()) -> JobList:
    """Let Snakemake list the jobs of the experiment in a folder. It runs none and locks nothing.

    Args:
        folder: the experiment's.
        configfiles: settings laid over the folder's, as Snakemake is given them.
        pairs: single keys likewise, as KEY=VALUE.
    """
    for file in configfiles:  # what Snakemake says of such a file does not name it
        read_layer(file)
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "jobs.json"
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(_snakefile(folder))]
        command += ["--directory", str(folder), "--cores", "1", "--nolock", "--rerun-incomplete"]
        command += ["--quiet", "host", "progress", "rules", "reason"]
        command += ["--configfile", *(str(file.absolute()) for file in configfiles)] if configfiles else []
        command += ["--config", *pairs] if pairs else []
        result = subprocess.run(
            [*command, "--", "all", "list_jobs"],
            env={**os.environ, **for_snakemake(folder), ONLY_LIST: str(path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        if result.returncode != 0 or not path.exists():
            lines = result.stderr.strip().splitlines()
            problems = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
            raise UserError(*problems or [f"{folder}: Snakemake says: {lines[-1] if lines else 'nothing'}"])
        return read(path)


def _snakefile(folder: Path) -> Path:
    """Return the Snakefile of the repository that the folder lies in, or that this package lies in."""
    for place in (folder.resolve(), *folder.resolve().parents, REPOSITORY):
        if (place / "Snakefile").is_file() and (place / "config.yaml").is_file():
            return place / "Snakefile"
    raise UserError(
        f"{folder}: no Snakefile with a config.yaml beside it here or above; expected an experiment's folder"
    )
