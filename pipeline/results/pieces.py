"""The archive of a run: the files that the results need, without weights, to be joined with those of other machines."""

import tarfile
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from nmt.errors import UserError
from nmt.io.compression import ZstdError, decompress, open_zstd_writer
from nmt.io.files import atomic_path, copy_file
from pipeline.results.package import MODES, copy_translations


def pack_run(files: Iterable[Path], archive: Path, keep_attention_of: Collection[str]) -> None:
    """Pack files of a run under their paths.

    Args:
        files: translations with their provenance, files of the training, attention, perplexity. Their paths start at
            the experiment.
        archive: the output, a tar archive compressed with zstd.
        keep_attention_of: the translations that keep their attention. The others need a tenth of the space without it.
    """
    with TemporaryDirectory() as temporary_folder:
        folder = Path(temporary_folder)
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            if file.name.endswith(tuple(f".{mode}.jsonl" for mode in MODES)):
                copy_translations(file, folder / file, keep_attention=str(file) in keep_attention_of)
            elif not (folder / file).exists():  # the copied translations have a provenance file already
                copy_file(file, folder / file)
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
        UserError: it is no such archive, or it is damaged.
    """
    try:
        with (
            archive.open("rb") as raw_file,
            decompress(raw_file) as tar_file,
            tarfile.open(fileobj=tar_file, mode="r|") as tar,
        ):
            tar.extractall(folder, filter=_use_current_time)
    except (tarfile.TarError, ZstdError, EOFError):
        raise UserError(f"{archive}: not an archive of a run, or damaged; copy it again") from None


def _use_current_time(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
    """Return a member of an archive with the current time.

    With its own time it could be older than the scores of a run that was joined before, which would then stay.
    """
    return tarfile.data_filter(member, folder).replace(mtime=time.time())
