"""Settings of jobs as files: they are written only if that makes the jobs run again."""

import os
import time
from pathlib import Path

import pytest

from tests.messages import refused
from workflow.settings_files import SettingsFiles


def test_changed_settings_are_refused_while_the_clock_stands_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def write(words: int) -> None:
        files = SettingsFiles()
        files.add("vocabulary", {"words": words})
        with files.run_lock:
            files.write()

    write(300)
    log = tmp_path / ".snakemake" / "log" / "last.snakemake.log"
    log.parent.mkdir()
    log.touch()
    os.utime(log, (time.time() + 3600,) * 2)
    write(300)
    for _ in range(2):
        with refused():
            write(200)
    os.utime(log)
    write(200)
