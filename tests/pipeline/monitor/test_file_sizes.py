"""Files that were cut short, with their time kept, since a run has made them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipeline.monitor import file_sizes


def cut(path: Path) -> None:
    """Leave the first half of a file, and its time."""
    status = path.stat()
    os.truncate(path, status.st_size // 2)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An experiment's folder with a table and a model, as a run leaves them."""
    monkeypatch.chdir(tmp_path)
    files = ["results/table1.csv", "models/m/model.safetensors"]
    for name in files:
        Path(name).parent.mkdir(parents=True)
        Path(name).write_text("0123456789")
    file_sizes.record([*files, "results/none"])
    return tmp_path


def test_a_file_cut_short_is_named_unless_it_is_made_again(made: Path) -> None:
    assert not file_sizes.damaged(made)
    cut(made / "results/table1.csv")
    told = "results/table1.csv: 5 bytes, but 10 when it was made"
    assert [str(file) for file in file_sizes.damaged(made)] == [told]
    assert not file_sizes.left_damaged(["results/table1.csv"], made)
    (line,) = file_sizes.left_damaged([], made)
    assert line == f"{told}; add to the command: --forcerun results/table1.csv"


def test_a_file_with_another_time_is_somebody_s_work(made: Path) -> None:
    (made / "results/table1.csv").write_text("mine")
    os.utime(made / "results/table1.csv", (1, 1))
    assert not file_sizes.damaged(made)


def test_what_another_run_made_stays_known(made: Path) -> None:
    Path("results/other").write_text("01")
    file_sizes.record(["results/other"])
    cut(made / "results/table1.csv")
    for _ in range(2):
        assert [file.path for file in file_sizes.damaged(made)] == ["results/table1.csv"]
        file_sizes.record(["results/table1.csv"])


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', '{"a": [1, "x"]}'])
def test_an_odd_record_is_none(made: Path, text: str) -> None:
    file_sizes.FILE.write_text(text)
    assert not file_sizes.damaged(made)
