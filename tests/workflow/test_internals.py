"""What Snakemake does not document is where this project asks for it: a new version that moves it fails here."""

import sys

from tests.running import ROOT, run

SNAKEFILE = f"""
import shutil
import signal
import sys
import threading
from types import SimpleNamespace
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.script import PythonScript
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from workflow import internals

internals.stop_without_deadlock()
internals.quote_python()
internals.bind_folders(workflow, [Path("."), Path(".")])
internals.limit_resource(workflow, "gpu", 1)
internals.limit_resource(workflow, "licence", 1)

localrules: all

rule all:
    output: "all.txt"
    log: "all.log"
    resources: slurm_partition="small"
    shell: "touch {{output}}"

rule other:
    output: "other.txt"
    resources: slurm_partition="large", gpu_model="h200"
    shell: "touch {{output}}"

internals.use_default_partition(workflow, ["other"])

onstart:
    (job,) = internals.list_jobs(None, workflow).pending_jobs
    assert (job.rule, job.log, job.is_local) == ("all", "all.log", True)
    assert job.resources["slurm_partition"] == "small"
    other = next(rule for rule in workflow.rules if rule.name == "other")
    assert (other.resources["slurm_partition"], other.resources.get("gpu_model")) == ("small", None)
    assert internals.get_config_files(workflow) == [Path("overlay.yaml").resolve()]
    assert dict(internals.get_config_pairs(workflow)) == {{"seed": 3}}
    assert internals.count_cores(workflow) == 2
    assert workflow.global_resources["gpu"] == 5 and workflow.global_resources["licence"] == 1
    assert internals.get_status_command(workflow) is None
    assert not internals.submits_jobs(workflow) and not internals.is_submitted_job(workflow)
    assert not internals.uses_container(workflow)
    # the handler of the signal TERM returns although the interrupted code holds the lock
    assert signal.getsignal(signal.SIGTERM) == workflow.scheduler.exit_gracefully
    scheduler = SimpleNamespace(_lock=threading.Lock(), _open_jobs=threading.Semaphore(0))
    with scheduler._lock:
        handler = threading.Thread(target=JobScheduler.exit_gracefully, args=(scheduler,), daemon=True)
        handler.start()
        handler.join(timeout=10)
        assert not handler.is_alive()
    assert scheduler._open_jobs.acquire(timeout=10) and scheduler._user_kill == "graceful"
    # a script, whose other attributes are None, runs with a program in a folder with a space
    class Script:
        resources = {{}}
        __getattr__ = lambda self, name: None
    Path("a b").mkdir()
    Path("a b/python").symlink_to(shutil.which("true"))
    PythonScript._execute_cmd(Script(), "{{py_exec}}", py_exec="a b/python", is_python_script=True)
    (job,) = workflow.dag.jobs
    sys.executable, python = "a b/python", sys.executable
    assert " 'a b/python' -m snakemake " in f" {{workflow.scheduler._executor.format_job_exec(job)}}"
    sys.executable = python
    assert internals.find_job(workflow, workflow.dag.jobid(job)) is job
    job.rule.restart_times = 7
    internals.give_up(job)
    assert job.attempt == 8
    folder = str(Path.cwd())
    assert workflow.deployment_settings.apptainer_args == f"--nv --bind {{folder}}2 --bind {{folder}}"
"""


def test_snakemake_has_the_internals(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    (tmp_path / "overlay.yaml").write_text("{}", encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--jobs", "2", "--directory", str(tmp_path)]
    command += ["--resources", "gpu=5", "--config", "seed=3", "--configfile", str(tmp_path / "overlay.yaml")]
    command += [f"--apptainer-args=--nv --bind {tmp_path.resolve()}2"]
    result = run([*command, "-s", str(tmp_path / "Snakefile")])
    assert result.returncode == 0, result.stdout
