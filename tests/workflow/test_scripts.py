"""What the scripts of rules share."""

import os
import signal
import subprocess
import sys

from tests.running import ROOT

JOB = """
import subprocess, sys
from types import SimpleNamespace
sys.path.append(sys.argv[2])
import job

job.LOG_WAIT_SECONDS = 0.5
with job.job(SimpleNamespace(log=[sys.argv[1]], input={}, output={})):
    print("begun", flush=True)
    with open("child", "w") as file:
        file.write(str(subprocess.Popen(["sleep", "600"]).pid))
    open("nowhere/file")
"""


def test_job_ends_before_a_program_that_it_started(tmp_path):
    command = [sys.executable, "-c", JOB, "job.log", str(ROOT / "workflow" / "scripts")]
    ended = subprocess.run(command, cwd=tmp_path, check=False, stdout=subprocess.DEVNULL)
    assert ended.returncode == 2
    os.kill(
        int((tmp_path / "child").read_text()), signal.SIGKILL
    )  # it lives on: the job has not waited for it
    log = (tmp_path / "job.log").read_text(encoding="utf-8")
    assert log == "begun\nerror: nowhere/file: No such file or directory\n"
