"""The archive of a run, which may come from elsewhere."""

import io
import tarfile
from pathlib import Path

import pytest

from nmt.io.compression import open_zstd_writer
from pipeline.results.pieces import unpack_run
from tests.messages import refused


@pytest.mark.parametrize(
    "name", ["config.yaml", "store/trainings/a", "translations/../config.yaml", "models/a"]
)
def test_archive_has_only_files_of_a_run(tmp_path: Path, name: str) -> None:
    archive = tmp_path / "run.tar.zst"
    with (
        archive.open("wb") as raw_file,
        open_zstd_writer(raw_file) as zstd_file,
        tarfile.open(fileobj=zstd_file, mode="w|") as tar,
    ):
        member = tarfile.TarInfo(name)
        member.size = 2
        if name == "models/a":
            member.type, member.linkname, member.size = tarfile.SYMTYPE, "config.yaml", 0
        tar.addfile(member, io.BytesIO(b"{}"))
    folder = tmp_path / "experiment"
    folder.mkdir()
    (folder / "config.yaml").write_text("mine", encoding="utf-8")
    with refused():
        unpack_run(archive, folder)
    assert [path.name for path in folder.rglob("*")] == ["config.yaml"]
    assert (folder / "config.yaml").read_text(encoding="utf-8") == "mine"
