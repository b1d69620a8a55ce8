"""Results of a killed process: who goes on with them, and who waits."""

import os
import subprocess
import sys

import pytest

from nmt.io.journal import Journal
from tests.running import ROOT


def test_journal_of_another_job(tmp_path):
    """Only the same job resumes, and an incomplete line is left out."""
    with pytest.raises(KeyboardInterrupt), Journal(tmp_path / "out", "digest") as journal:
        journal.add(3, ["done"])
        raise KeyboardInterrupt
    with journal.path.open("a", encoding="utf-8") as file:
        file.write("[5, ")
    written = journal.path.read_bytes()
    for digest, results in (("digest", {3: ["done"]}), ("other digest", {})):
        with Journal(tmp_path / "out", digest) as journal:
            assert journal.results == results
        assert not journal.path.exists()
        journal.path.write_bytes(written)


def test_second_process_waits(tmp_path):
    """And then has a journal of its own: the first has taken its file away."""
    code = "import sys; from pathlib import Path; from nmt.io.journal import Journal\n"
    code += "with Journal(Path(sys.argv[1]), 'digest') as journal: print(dict(journal.results))"
    command = [sys.executable, "-c", code, str(tmp_path / "out")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    with Journal(tmp_path / "out", "digest") as journal:
        journal.add(3, ["done"])
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as second:
            assert "another process works on it; waiting for it" in second.stderr.readline()
            assert second.poll() is None
            journal.__exit__(None, None, None)
            assert second.communicate(timeout=60)[0] == "{}\n"
            assert second.returncode == 0
