"""The demo, shrunk, as a user sends it to a cluster: a profile with partitions filled in, and the head process."""

import csv
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from tests.running import ROOT, make_demo, run_command
from tests.slurm.cluster import Cluster

CLUSTER = """
# Four models: three that start at once, and one that goes on from the last of them. `auto` asks for a GPU, and computes
# without one where there is none.
use: {models: [rnnencdec-30, rnnsearch-30, rnnsearch-50, rnnsearch-50-star]}
corpora: {demo-train: {shards: 1}}
training: {device: auto, log_every: 50, checkpoint_every: 50, validate_every: 250}
decoding: {device: auto}
models:
  rnnencdec-30: {training: {updates: 350}}
  rnnsearch-30: {training: {updates: 300}}
  rnnsearch-50: {training: {updates: 600}}
  rnnsearch-50-star: {training: {updates: 650}}
artifacts: {figure2_models: [rnnsearch-50, rnnsearch-30, rnnencdec-30], table3_models: [rnnsearch-50, rnnencdec-30]}
"""
PATIENCE = 480.0
"""Seconds in which anything must have happened, on a busy machine too."""
QUICK = ["--slurm-init-seconds-before-status-checks", "3", "--latency-wait", "20"]


ALIGNED = ["rnnsearch-30", "rnnsearch-50", "rnnsearch-50-star"]
TARGETS = ["--", *(f"results/{name}" for name in ("table1.csv", "table2.csv", "figure2.pdf", "figure3.pdf"))]
TARGETS += [f"results/alignment_error_rate/{model}.json" for model in ALIGNED]


class Experiment:
    """A folder with settings, and Snakemake at work on it."""

    def __init__(self, folder: Path, settings: str = "") -> None:
        self.folder = folder
        self.overlays = [make_demo(folder), folder / "cluster.yaml"]
        self.overlays[1].write_text(CLUSTER + settings, encoding="utf-8")
        self.profile = folder / "profile"
        self.heads: list[subprocess.Popen[bytes]] = []

    def write_profile(self) -> None:
        """The project's profile with both partitions filled in, and nothing else changed."""
        text = (ROOT / "slurm" / "config.yaml").read_text(encoding="utf-8")
        parts = re.split(r'slurm_partition: ""', text)
        assert len(parts) == 3
        self.profile.mkdir()
        filled = f"{parts[0]}slurm_partition: cpu{parts[1]}slurm_partition: gpu{parts[2]}"
        (self.profile / "config.yaml").write_text(filled, encoding="utf-8")

    def start_here(self, *options: str) -> None:
        """Start tools/run.py, to compute on this machine."""
        here = ["--configfile", *map(str, self.overlays), "--cores", "2"]
        self._start(*run_command(self.folder, *here, *options))

    def start_on_cluster(self, *options: str) -> None:
        """Start tools/run.py, to send jobs."""
        self._start(*run_command(self.folder, *self.options_on_cluster(), *options))

    def _start(self, *command: str) -> None:
        environment = os.environ | {"NMT_SBATCH_PAUSE": "1", "OMP_NUM_THREADS": "1"}
        with (self.folder / "output.txt").open("ab") as out:
            head = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment
            )
        self.heads.append(head)

    def options_on_cluster(self) -> list[str]:
        """What tools/run.py needs to send the experiment's jobs to the cluster."""
        return ["--configfile", *map(str, self.overlays), "--profile", str(self.profile), *QUICK]

    def kill_head(self) -> None:
        """End the head process as a crash of its machine would: its jobs don't notice."""
        head = psutil.Process(self.heads[-1].pid)
        processes = [head, *head.children(recursive=True)]
        for process in processes:
            process.send_signal(signal.SIGKILL)
        self.heads[-1].wait()
        psutil.wait_procs(processes[1:], timeout=30)  # they hold the folder until they are gone

    def output(self) -> str:
        """What all heads have printed."""
        return (self.folder / "output.txt").read_text(encoding="utf-8", errors="replace")

    def trainers(self) -> dict[str, psutil.Process]:
        """The processes that train, by run."""
        found = {}
        for process in psutil.process_iter(["cmdline", "cwd"]):
            line = process.info["cmdline"] or []
            if process.info["cwd"] == str(self.folder) and "--output" in line and line[0].endswith("python"):
                found[Path(line[line.index("--output") + 1]).name] = process
        return found

    def has_checkpoint(self, run: str) -> bool:
        """Whether a run has written one."""
        return any(self.folder.glob(f"store/trainings/{run}-*/checkpoint-*.safetensors"))

    def training_logs(self, run: str) -> str:
        """What Slurm wrote of a run's jobs that ended before their work was done."""
        folder = self.folder / ".snakemake" / "slurm_logs" / "rule_train" / run
        return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in folder.glob("*.log"))

    def remove(self) -> None:
        """End what still runs."""
        for head in self.heads:
            if head.poll() is None:
                self.kill_head()
        for process in self.trainers().values():
            process.kill()


class Watch:
    """Waits for what is to happen in an experiment on a cluster, and fails with what was printed if it does not."""

    def __init__(self, cluster: Cluster, experiment: Experiment) -> None:
        self.cluster, self.experiment = cluster, experiment

    def until(self, done: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
        deadline = time.monotonic() + patience
        while not done():
            head = self.experiment.heads[-1]
            assert head.poll() is None, f"{what}: the head ended: {self.experiment.output()[-4000:]}"
            assert time.monotonic() < deadline, (
                f"{what}\n{self.experiment.output()[-4000:]}\n{self.cluster.logs()}"
            )
            time.sleep(0.2)

    def find_jobs(self, state: str) -> dict[str, str]:
        """Ids of training jobs in a state, by run."""
        found = self.cluster.jobs(f"--states={state}")
        prefix = "rule_train_wildcards_"
        return {
            comment.removeprefix(prefix).split()[0]: id
            for id, _, comment in found
            if comment.startswith(prefix)
        }

    def read_gpus(self) -> dict[str, str]:
        """GPUs of the trainers at work, by run."""
        found = {}
        for name, process in self.experiment.trainers().items():
            with suppress(psutil.NoSuchProcess):  # it has just ended
                found[name] = process.environ().get("CUDA_VISIBLE_DEVICES", "")
        return found

    def wait_for_trainer(self, name: str, but: psutil.Process | None = None) -> psutil.Process:
        """A run's trainer, once it has written a checkpoint; another one than that given."""

        seen: list[psutil.Process] = []

        def found() -> bool:
            process = self.experiment.trainers().get(name)
            if process is not None and process != but and self.experiment.has_checkpoint(name):
                seen.append(process)
            return bool(seen)

        self.until(found, f"a trainer of {name} with a checkpoint")
        return seen[0]


def read_results(folder: Path) -> dict[str, object]:
    """All that must come out alike, by file: whole files; Table 2 and what made translations without clocks."""
    kinds = ["models/*/*model.safetensors", "translations/*/*.jsonl", "alignments/*", "scores/*/*"]
    kinds += ["results/table1.*", "results/figure[23].*", "results/alignment_error_rate/*"]
    files = sorted(file for kind in kinds for file in folder.glob(kind))
    found: dict[str, object] = {str(file.relative_to(folder)): file.read_bytes() for file in files}
    with (folder / "results" / "table2.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        del row["hours"], row["hours_std"], row["device"]
    provenances = {
        str(file.relative_to(folder)): read_provenance(file)
        for file in folder.glob("translations/*/*.provenance.json")
    }
    return {**found, **provenances, "results/table2.csv": rows}


def read_provenance(file: Path) -> dict[str, object]:
    """What made translations, without what a clock, a kill or the machine's name decides."""
    values = json.loads(file.read_text(encoding="utf-8"))
    return {key: values[key] for key in values if key not in ("seconds", "resumed", "device")}
