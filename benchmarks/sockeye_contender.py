"""Sockeye, which trains by its own command line and is stopped between two updates.

It gets SIGSTOP as soon as it has printed that an update is done, and SIGCONT at its next turn. The work that it
does before it stops counts, too, as do updates that it finishes in this time. The clock includes its reading of
batches, which a thread does ahead of time.
"""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.contest import ROOT, Failed, Program
from benchmarks.task import SPECIALS, Sizes, draw
from benchmarks.worker import peak, state

UPDATE = re.compile(r"Up\. (\d+) ")
WARM_UP = 2
"""The updates before the first turn, in which graphs and the optimizer's state are made."""
BATCHES = 40
"""The number of different batches."""


class Sockeye(Program):
    """Trains its RNN: bidirectional GRU with n/2 units per direction, GRU with input feeding, MLP attention, n to V."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        super().__init__(name, python, threads)
        self.updates = queue.Queue[bool]()
        self.last: list[str] = []

    def command(self, sizes: Sizes) -> list[object]:
        """Return the command that trains on the files in the folder."""
        return [
            self.python, ROOT / "benchmarks" / "sockeye_updates.py", "--source", "source",
            "--target", "target", "--validation-source", "source", "--validation-target", "target",
            "--source-vocab", "vocabulary.json", "--target-vocab", "vocabulary.json", "--output", "model", "--use-cpu",
            "--encoder", "rnn", "--decoder", "rnn", "--rnn-cell-type", "gru", "--rnn-num-hidden", sizes.hidden,
            "--rnn-attention-type", "mlp", "--rnn-attention-num-hidden", sizes.hidden, "--num-embed", sizes.embedding,
            "--num-layers", 1, "--batch-size", sizes.batch, "--batch-type", "sentence", "--max-seq-len", sizes.length,
            "--no-bucketing", "--optimizer", "adam", "--gradient-clipping-type", "norm",
            "--gradient-clipping-threshold", 1, "--embed-dropout", 0, "--rnn-decoder-hidden-dropout", 0,
            "--checkpoint-frequency", 1000000, "--max-updates", 1000000,
        ]  # fmt: skip

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the reply to a request, as a worker does."""
        if request["do"] == "train":
            return self._start(Sizes(**request["sizes"]))
        if request["do"] == "memory":
            return {"peak_bytes": peak(self.process.pid)}
        begin = time.perf_counter()
        os.kill(self.process.pid, signal.SIGCONT)
        self._wait(1)
        self._stop()
        seconds = time.perf_counter() - begin
        return {"seconds": seconds / (1 + self._finished())}

    def _start(self, sizes: Sizes) -> dict[str, Any]:
        write_text(self.folder, sizes)
        none, threads = subprocess.DEVNULL, str(self.threads)
        environment = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        self.start(self.command(sizes), environment, stdin=none, stdout=none, stderr=subprocess.PIPE)
        threading.Thread(target=self._listen, daemon=True).start()
        self._wait(WARM_UP)
        self._stop()
        self._finished()
        return {"parameters": None}

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
        """Return the number of updates that were also done before the stop."""
        more = 0
        while not self.updates.empty() and self.updates.get():
            more += 1
        return more

    def _stop(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)
        while (letter := state(self.process.pid)) not in "Tt":
            if letter in "ZX":
                raise Failed(f"{self.name}: its process ended: {' '.join(self.last)[-300:]}")
            time.sleep(0.0005)


def write_text(folder: Path, sizes: Sizes, batches: int = BATCHES) -> None:
    """Write the drawn words of both sides, batch after batch, and the vocabulary in the forms of both toolkits."""
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
