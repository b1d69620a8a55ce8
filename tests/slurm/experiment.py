"""The demo, shrunk, as a user sends it to a cluster: a profile with partitions filled in, and the head process."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
from pathlib import Path

import psutil

from tests.running import ROOT, door_command, make_demo

CLUSTER = """
# Four models: three that start at once, of which one takes more than its time limit, and one that goes on from that.
# `auto` asks for a GPU, and computes without one where the device is none.
use: {models: [rnnencdec-30, rnnsearch-30, rnnsearch-50, rnnsearch-50-star]}
corpora: {demo-train: {shards: 1}}
training: {device: auto, log_every: 50, checkpoint_every: 50, validate_every: 500}
decoding: {device: auto}
models:
  rnnencdec-30: {training: {updates: 600}}
  rnnsearch-30: {training: {updates: 500}}
  rnnsearch-50: {training: {updates: 3500}}
  rnnsearch-50-star: {training: {updates: 3600}}
artifacts: {figure2_models: [rnnsearch-50, rnnsearch-30, rnnencdec-30]}
resources: {train_hours: 0.015}
"""
QUICK = ["--slurm-init-seconds-before-status-checks", "3", "--latency-wait", "20"]


class Experiment:
    """A folder with settings, and Snakemake at work on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.overlays = [make_demo(folder), folder / "cluster.yaml"]
        self.overlays[1].write_text(CLUSTER, encoding="utf-8")
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

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start the door; what it prints is added to `output`."""
        command = door_command(self.folder, "--configfile", *map(str, self.overlays), *options)
        environment = os.environ | {"NMT_SBATCH_PAUSE": "1", "OMP_NUM_THREADS": "1"}
        with (self.folder / "output.txt").open("ab") as out:
            head = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment
            )
        self.heads.append(head)
        return head

    def start_on_cluster(self, *options: str) -> subprocess.Popen[bytes]:
        """Start the head process: Snakemake with the profile, behind the door."""
        return self.start("--profile", str(self.profile), *QUICK, *options)

    def kill_head(self) -> None:
        """End the head process as a crash of its machine would: its jobs don't notice."""
        door = psutil.Process(self.heads[-1].pid)
        for process in [door, *door.children(recursive=True)]:
            process.send_signal(signal.SIGKILL)
        self.heads[-1].wait()

    def output(self) -> str:
        """What all heads have printed."""
        return (self.folder / "output.txt").read_text(encoding="utf-8", errors="replace")

    def trainers(self) -> dict[str, psutil.Process]:
        """The processes that train, by run."""
        found = {}
        for process in psutil.process_iter(["cmdline", "cwd"]):
            line = process.info["cmdline"] or []
            if process.info["cwd"] == str(self.folder) and "--state" in line and line[0].endswith("python"):
                found[Path(line[line.index("--state") + 1]).name] = process
        return found

    def has_checkpoint(self, run: str) -> bool:
        """Whether a run has written one."""
        return any((self.folder / "state" / run).glob("checkpoint-*.json"))

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


def results(folder: Path) -> dict[str, object]:
    """All that must come out alike, by file: whole files, and Table 2 without hours and device."""
    kinds = ["models/*/*model.safetensors", "translations/*", "alignments/*", "scores/*"]
    kinds += ["results/table1.*", "results/figure[23].*", "results/alignment_error_rate/*"]
    files = sorted(file for kind in kinds for file in folder.glob(kind))
    found: dict[str, object] = {str(file.relative_to(folder)): file.read_bytes() for file in files}
    with (folder / "results" / "table2.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        del row["hours"], row["hours_std"], row["device"]
    return {**found, "results/table2.csv": rows}
