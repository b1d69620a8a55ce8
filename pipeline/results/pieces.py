"""The archive of a run: the files that the results need, without weights, to be joined with those of other machines."""

import tarfile
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from nmt.errors import UserError, errors_as_user_error
from nmt.io.compression import ZstdError, open_zstd_writer
from nmt.io.files import atomic_path
from nmt.store.archive import LimitedStream
from pipeline.results.package import copy_into_package

FOLDERS_OF_RUNS = ("alignments", "models", "perplexity", "translations")
"""Folders of an experiment with files of its runs."""


def pack_run(files: Iterable[Path], archive: Path, keep_attention_of: Collection[str]) -> None:
    """Pack files of a run under their paths.

    Args:
        files: translations with their provenance, files of the training, attention, perplexity. Paths are relative to
            the experiment.
        archive: the output, a tar archive compressed with zstd.
        keep_attention_of: the translations that keep their attention. The others need a tenth of the space without it.
    """
    with TemporaryDirectory() as temporary_folder:
        folder = Path(temporary_folder)
        for file in files:
            if not (folder / file).exists():  # the copied translations have a provenance file already
                copy_into_package(file, folder / file, keep_attention=str(file) in keep_attention_of)
        with (
            atomic_path(archive) as temporary,
            temporary.open("wb") as raw_file,
            open_zstd_writer(raw_file) as zstd_file,
            tarfile.open(fileobj=zstd_file, mode="w|") as tar,
        ):
            tar.add(folder, arcname=".")


def unpack_run(archive: Path, folder: Path) -> None:
    """Unpack the archive of a run into an experiment.

    Raises:
        UserError: the file is no archive of a run, it is damaged, or it contains anything but plain files of a run.
    """
    with (
        errors_as_user_error(archive, tarfile.TarError, ZstdError, remedy="copy it again"),
        archive.open("rb") as raw_file,
        tarfile.open(fileobj=LimitedStream(raw_file, archive.stat().st_size), mode="r|") as tar,
    ):
        # Newer versions of Python also refuse unsafe members by this filter.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        for member in tar:
            # An archive from somebody else could contain links, or replace the settings of the experiment.
            parts = PurePosixPath(member.name).parts  # () is the folder itself
            is_in_folder_of_runs = not parts or (parts[0] in FOLDERS_OF_RUNS and ".." not in parts)
            if not (is_in_folder_of_runs and (member.isreg() or member.isdir())):
                raise UserError(
                    f"{archive}: holds {member.name!r}, expected plain files in {', '.join(FOLDERS_OF_RUNS)}"
                )
            # Files get the current time: Snakemake would not update results that are newer than their inputs.
            tar.extract(member, folder, set_attrs=False)
