"""Sockeye, which trains by its own command line and is stopped between two updates.

It gets SIGSTOP as soon as it has printed that an update is done, and SIGCONT at its next turn. The work that it
does before it stops counts, too, as do updates that it finishes in this time. The clock includes its reading of
batches, which a thread does ahead of time.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.contest import ROOT, ContenderFailed, ToolkitContender
from benchmarks.task import SPECIAL_COUNT, Sizes, sample_pairs
from benchmarks.worker import measure_peak_memory, read_process_state

UPDATE_DONE = "Update done"
"""The line of `sockeye_updates.py` after each update."""
WARM_UP_UPDATES = 2
"""The updates before the first turn, in which graphs and the optimizer's state are made."""
BATCH_COUNT = 40
"""The number of different batches."""


class Sockeye(ToolkitContender):
    """Trains its RNN: bidirectional GRU with n/2 units per direction, GRU with input feeding, MLP attention, n to V."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        super().__init__(name, python, threads)
        self.updates = queue.Queue[bool]()  # True for each update, False at the end of the program
        self.last_lines: list[str] = []

    def make_command(self, sizes: Sizes) -> list[object]:
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
        """Return the reply to a request of `benchmarks.worker`."""
        if request["do"] == "train":
            self._start(Sizes(**request["sizes"]))
            return {}
        if request["do"] == "memory":
            return {"peak_bytes": measure_peak_memory(self.process.pid)}

        # an update: let the program run until it has made one; it may end further ones before it stops
        start = time.perf_counter()
        os.kill(self.process.pid, signal.SIGCONT)
        self._wait_for_updates(1)
        self._stop()
        seconds = time.perf_counter() - start
        return {"seconds": seconds / (1 + self._count_further_updates())}

    def _start(self, sizes: Sizes) -> None:
        """Start the program, and stop it after the updates that do not count."""
        write_text(self.folder, sizes)
        threads = str(self.threads)
        self.start_program(
            self.make_command(sizes),
            {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        threading.Thread(target=self._listen, daemon=True).start()
        self._wait_for_updates(WARM_UP_UPDATES)
        self._stop()
        self._count_further_updates()

    def _listen(self) -> None:
        """Read the program's messages until it ends."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.last_lines = [*self.last_lines, line.strip()][-3:]
            if UPDATE_DONE in line:
                self.updates.put(True)
        self.updates.put(False)

    def _wait_for_updates(self, count: int) -> None:
        """Wait until the program has made so many updates. Raises ContenderFailed if it ends before."""
        for _ in range(count):
            if not self.updates.get():
                was_killed = self.process.wait() == -signal.SIGKILL
                raise self._make_failure("was killed: too little memory?" if was_killed else None)

    def _make_failure(self, end: str | None = None) -> ContenderFailed:
        """Return the error for the end of the program, with its last lines if nothing else is known."""
        if end is None:
            end = f"ended: {' '.join(self.last_lines)[-300:]}"
        return ContenderFailed(f"{self.name}: its process {end}")

    def _count_further_updates(self) -> int:
        """Return the number of updates that were also done before the stop."""
        update_count = 0
        while not self.updates.empty() and self.updates.get():
            update_count += 1
        return update_count

    def _stop(self) -> None:
        """Stop the program, and wait until it has stopped."""
        os.kill(self.process.pid, signal.SIGSTOP)
        state = read_process_state(self.process.pid)
        while state not in "Tt":  # stopped
            if state in "ZX":  # ended
                raise self._make_failure()
            time.sleep(0.0005)
            state = read_process_state(self.process.pid)


def write_text(folder: Path, sizes: Sizes, batch_count: int = BATCH_COUNT) -> None:
    """Write random words of both sides, batch after batch, and the vocabulary in the forms of both toolkits."""
    # 1. text: a line for each sentence, such as "w5 w17 w4"
    with (folder / "source").open("w") as source, (folder / "target").open("w") as target:
        for batch_number in range(batch_count):
            for file, rows in zip((source, target), sample_pairs(sizes, batch_number), strict=True):
                for row in rows.tolist():
                    file.write(" ".join(f"w{word_id}" for word_id in row) + "\n")

    # 2. Sockeye's vocabulary is JSON, and Marian's YAML
    words = [f"w{word_id}" for word_id in range(SPECIAL_COUNT, sizes.vocabulary)]
    sockeye_words = ["<pad>", "<unk>", "<s>", "</s>", *words]
    sockeye_ids = {word: word_id for word_id, word in enumerate(sockeye_words)}
    (folder / "vocabulary.json").write_text(json.dumps(sockeye_ids), "ascii")
    with (folder / "vocabulary.yml").open("w") as marian_vocabulary:
        for word_id, word in enumerate(["</s>", "<unk>", "w2", "w3", *words]):
            marian_vocabulary.write(f"{word}: {word_id}\n")
