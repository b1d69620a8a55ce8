"""What a run writes about itself before its first job, and whether Snakemake has records of a run."""

import os
from collections.abc import Iterable
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import read_json, write_json
from nmt.io.locks import try_lock
from nmt.settings.base import read_settings
from pipeline.config.folder import RUN_SETTINGS
from pipeline.config.schema import Config
from pipeline.config.snapshot import get_published_settings
from pipeline.results.package import ReplicationPackage

RECORDS = Path(".snakemake/metadata")
"""Folder with the records of outputs, by which Snakemake knows the parameters of each."""
PLANNED_RESULTS = Path("settings/results.json")
"""The list of files that runs may have written into `results/`."""
CAPTIONS = Path("settings/captions")
"""Folder with the captions of `snakemake --report`."""
RUN_LOCK = Path(".snakemake/run.lock")
"""A file that a living Snakemake has locked."""


def check_records(config: Config) -> None:
    """Raise a UserError if files were made with different settings and Snakemake has no records of them.

    Without records, as in a copy without `.snakemake`, Snakemake would take all files for those of the present
    settings.
    """
    if any(RECORDS.glob("*")):
        return
    package = ReplicationPackage(Path("results"))
    if package.configuration.is_file():
        former_settings = read_json(package.configuration)
    elif RUN_SETTINGS.is_file():
        former_settings = get_published_settings(read_settings(Config, RUN_SETTINGS))
    else:
        return
    if former_settings != get_published_settings(config):
        raise UserError(
            f"{Path.cwd()}: its files were made with different settings, and .snakemake/, which records which ones, is"
            " missing: copy .snakemake/ from the original folder, or keep config.yaml, store/ and your own files, such"
            " as text/, and remove the rest"
        )


def plan_results(files: Iterable[str]) -> None:
    """Add files to the list of the files that runs may have written into `results/`.

    If a run is stopped, some of them stay. The next run that ends removes the files that it did not write itself.
    """
    planned_files = set(files)
    if PLANNED_RESULTS.is_file():
        planned_files |= set(read_json(PLANNED_RESULTS))
    write_json(PLANNED_RESULTS, sorted(planned_files))


def get_caption_file(name: str) -> Path:
    """Return the absolute path of the caption of a result, in reStructuredText."""
    return Path.cwd() / CAPTIONS / f"{name.replace('/', '-')}.rst"


def take_run_lock(folder: Path = Path()) -> int | None:
    """Lock an experiment until this process ends, or closes the descriptor that is returned.

    Returns None if another process has the lock.
    """
    path = folder / RUN_LOCK
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    if try_lock(descriptor):
        return descriptor
    os.close(descriptor)
    return None
