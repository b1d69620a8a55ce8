"""Peers that train by their own command line, Marian and Sockeye: each is stopped between two updates.

As soon as a toolkit has said that an update is done it gets SIGSTOP, at its next turn SIGCONT. What it works in the
instant between counts, too, as do updates that it finishes meanwhile. Its own reading of batches, on a thread ahead of
time, is in the clock.
"""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.training import memory
from benchmarks.training.contest import ROOT, Failed, Remote
from benchmarks.training.sentences import SPECIALS, draw
from benchmarks.training.sizes import Sizes

UPDATE = re.compile(r"Up\. (\d+) ")
WARM_UP = 2
"""Updates before the first turn: they build graphs and the optimizer's state."""
BATCHES = 40
WORKSPACE = 2500
"""Megabytes that Marian takes beforehand; with fewer it would train in smaller pieces."""


class Toolkit(Remote):
    """A toolkit in its process, asked like a worker; subclasses say how it is called."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        self.name, self.python, self.threads = name, Path(python).absolute(), threads
        self.folder = Path(tempfile.mkdtemp(prefix=f"{name}."))
        self.updates = queue.Queue[bool]()
        self.last: list[str] = []

    def command(self, sizes: Sizes) -> list[object]:
        """What starts training on the files in the folder."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """Its environment variables."""
        return {"OMP_NUM_THREADS": str(self.threads), "OPENBLAS_NUM_THREADS": str(self.threads)}

    def ask(self, **request: Any) -> dict[str, Any]:
        """As a worker answers; a turn is an update."""
        if request["do"] == "set up":
            return self._start(Sizes(**request["sizes"]))
        if request["do"] == "memory":
            return {"peak_bytes": memory.status("VmHWM", self.process.pid), "peak_gpu_bytes": None}
        begin, busy = time.perf_counter(), memory.processor_seconds(self.process.pid)
        os.kill(self.process.pid, signal.SIGCONT)
        self._wait(request["count"])
        self._stop()
        seconds = time.perf_counter() - begin
        busy = memory.processor_seconds(self.process.pid) - busy
        done = request["count"] + self._finished()
        return {"seconds": seconds / done, "processors": busy / seconds, "nll": []}

    def close(self) -> None:
        """End the process and remove its files."""
        if hasattr(self, "process"):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder)

    def _start(self, sizes: Sizes) -> dict[str, Any]:
        write_text(self.folder, sizes)
        self.process = subprocess.Popen(
            [str(word) for word in self.command(sizes)], env=os.environ | self.environment(), cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        threading.Thread(target=self._listen, daemon=True).start()
        self._wait(WARM_UP)
        self._stop()
        self._finished()
        resident = memory.status("VmRSS", self.process.pid)
        return {
            "parameters": None, "multiply_adds": None, "resident_bytes": resident, "torch": None, "gpu": None
        }  # fmt: skip

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.last = [*self.last, line.strip()][-3:]
            if UPDATE.search(line):
                self.updates.put(True)
        self.updates.put(False)

    def _wait(self, updates: int) -> None:
        for _ in range(updates):
            if not self.updates.get():
                killed = self.process.wait() == -signal.SIGKILL
                said = "was killed: too little memory?" if killed else f"ended: {' '.join(self.last)[-300:]}"
                raise Failed(f"{self.name}: its process {said}")

    def _finished(self) -> int:
        """How many updates more were done before the stop."""
        more = 0
        while not self.updates.empty() and self.updates.get():
            more += 1
        return more

    def _stop(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)
        while memory.state(self.process.pid) not in "Tt":
            time.sleep(0.0005)


class Marian(Toolkit):
    """Its `amun`: bidirectional GRU, conditional GRU, MLP attention, tanh readout; both workers' gradients summed."""

    def environment(self) -> dict[str, str]:
        """With the answer that the processor is Intel's, if the name says so."""
        return {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"} | preloaded(self.name, self.folder)

    def command(self, sizes: Sizes) -> list[object]:
        """As in `Toolkit`."""
        return [
            *marian_model(self.python, sizes), "--train-sets", "source", "target", "-m", "model.npz",
            "--mini-batch", sizes.batch, "--maxi-batch", 1, "--maxi-batch-sort", "none", "--shuffle", "none",
            "--cost-type", "ce-sum", "--clip-norm", 1, "--optimizer", "adam", "-l", 0.0001, "--max-length", 200,
            "--disp-freq", "1u", "--save-freq", "1000000u", "--after", "1000000u", "--data-threads", 1,
            "--cpu-threads", self.threads, "--sync-sgd", "-w", WORKSPACE,
        ]  # fmt: skip


class Sockeye(Toolkit):
    """Its RNN: bidirectional GRU of n/2 units a direction, GRU with input feeding, MLP attention, n to V."""

    def command(self, sizes: Sizes) -> list[object]:
        """As in `Toolkit`."""
        return [
            self.python, ROOT / "benchmarks" / "training" / "sockeye_updates.py", "--source", "source",
            "--target", "target", "--validation-source", "source", "--validation-target", "target",
            "--source-vocab", "vocabulary.json", "--target-vocab", "vocabulary.json", "--output", "model", "--use-cpu",
            "--encoder", "rnn", "--decoder", "rnn", "--rnn-cell-type", "gru", "--rnn-num-hidden", sizes.hidden,
            "--rnn-attention-type", "mlp", "--rnn-attention-num-hidden", sizes.hidden, "--num-embed", sizes.embedding,
            "--num-layers", 1, "--batch-size", sizes.batch, "--batch-type", "sentence", "--max-seq-len", sizes.length,
            "--no-bucketing", "--optimizer", "adam", "--gradient-clipping-type", "norm",
            "--gradient-clipping-threshold", 1, "--embed-dropout", 0, "--rnn-decoder-hidden-dropout", 0,
            "--checkpoint-frequency", 1000000, "--max-updates", 1000000,
        ]  # fmt: skip


def marian_model(python: Path, sizes: Sizes) -> list[object]:
    """`pymarian train` with the sizes of the model."""
    return [
        python.with_name("pymarian"), "train", "--type", "amun", "--enc-cell", "gru", "--dec-cell", "gru",
        "--dim-emb", sizes.embedding, "--dim-rnn", sizes.hidden,
        "--dim-vocabs", sizes.vocabulary, sizes.vocabulary, "--vocabs", "vocabulary.yml", "vocabulary.yml",
    ]  # fmt: skip


def preloaded(name: str, folder: Path) -> dict[str, str]:
    """What has MKL believe that it runs on an Intel processor, where a contender's name asks for it."""
    if "intel" not in name and "int8" not in name:
        return {}
    library = folder / "intel.so"
    compiler = ["cc", "-shared", "-fPIC", "-o", str(library), str(ROOT / "benchmarks" / "intel.c")]
    try:
        subprocess.run(compiler, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failed(f"{name}: no C compiler: {error}") from None
    return {"LD_PRELOAD": str(library)}


def write_text(folder: Path, sizes: Sizes, batches: int = BATCHES) -> None:
    """Both sides' drawn words, a batch after the other, and the vocabulary in both toolkits' forms."""
    drawn = [draw(sizes, update) for update in range(batches)]
    for side, name in enumerate(("source", "target")):
        rows = (row for update in drawn for row in update[side].tolist())
        text = "".join(f"{' '.join(f'w{word}' for word in row)}\n" for row in rows)
        (folder / name).write_text(text, encoding="ascii")
    words = [f"w{word}" for word in range(SPECIALS, sizes.vocabulary)]
    sockeye = ["<pad>", "<unk>", "<s>", "</s>", *words]
    (folder / "vocabulary.json").write_text(
        json.dumps({word: at for at, word in enumerate(sockeye)}), "ascii"
    )
    marian = ["</s>", "<unk>", "w2", "w3", *words]
    lines = "".join(f"{word}: {at}\n" for at, word in enumerate(marian))
    (folder / "vocabulary.yml").write_text(lines, "ascii")
