"""What the scripts of rules share."""

import os
import signal
import subprocess
import sys

from tests.running import ROOT

JOB = """
import subprocess, sys
from types import SimpleNamespace
sys.path.append(sys.argv[1])
import job

job.LOG_WAIT_SECONDS = 0.5
with job.job(SimpleNamespace(log=["job.log"], input={}, output={})):
    print("begun", flush=True)
    if "bug" in sys.argv:
        1 / 0
    with open("child", "w") as file:
        file.write(str(subprocess.Popen(["sleep", "600"]).pid))
    open("nowhere/file")
"""


def test_job_ends_before_a_program_that_it_started(tmp_path):
    command = [sys.executable, "-c", JOB, str(ROOT / "workflow" / "scripts")]
    ended = subprocess.run(command, cwd=tmp_path, check=False, stdout=subprocess.DEVNULL)
    assert ended.returncode == 2
    os.kill(
        int((tmp_path / "child").read_text()), signal.SIGKILL
    )  # it lives on: the job has not waited for it
    log = (tmp_path / "job.log").read_text(encoding="utf-8")
    assert log == "begun\nerror: nowhere/file: No such file or directory\n"


def test_log_has_the_traceback_of_a_bug(tmp_path):
    command = [sys.executable, "-c", JOB, str(ROOT / "workflow" / "scripts"), "bug"]
    ended = subprocess.run(command, cwd=tmp_path, check=False, stdout=subprocess.DEVNULL)
    assert ended.returncode == 1
    log = (tmp_path / "job.log").read_text(encoding="utf-8")
    assert log.startswith("begun\nTraceback") and log.endswith("ZeroDivisionError: division by zero\n")
