"""Marian's search, seen from the driver: a model with drawn weights, and a process for each beam size."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import ROOT, Failed, Program, Remote
from benchmarks.sockeye_contender import write_text
from benchmarks.task import Sizes, draw_sentences
from benchmarks.worker import peak

BATCH = 16
"""The sentences that Marian gives to a thread at once. Small batches divide ours more evenly, and need less padding."""
WORKSPACE = 1000
"""The megabytes that Marian takes at its start."""


class Marian(Program):
    """Answers the requests of a search that `benchmarks.worker` answers for others."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        super().__init__(name, python, threads)
        self.beam = 0
        self.environment = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the reply to a request. `search` draws the model. `decode` with a new beam size starts a process."""
        if request["do"] == "search":
            self.vocabulary = request["sizes"]["vocabulary"]
            return self._draw(Sizes(**request["sizes"]))
        if request["do"] == "memory":
            return {"peak_bytes": peak(self.process.pid)}
        if request["beam"] != self.beam:
            self._start(request["beam"])
        sentences = draw_sentences(request["lengths"], self.vocabulary, request["number"])
        reply = super().ask(sentences=sentences)
        assert all(
            written > len(words) for written, words in zip(reply["written"], sentences, strict=True)
        ), "it did not search as far as it should"
        return {"seconds": reply["seconds"]}

    def _intel(self) -> str:
        """Return a library with which MKL takes its fast kernels on any processor, the best case of this peer."""
        library = self.folder / "intel.so"
        code = "int mkl_serv_intel_cpu(void) { return 1; }\nint mkl_serv_intel_cpu_true(void) { return 1; }\n"
        compiler = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
        try:
            subprocess.run(compiler, input=code, text=True, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Failed(f"{self.name}: no C compiler: {error}") from None
        return str(library)

    def _draw(self, sizes: Sizes) -> dict[str, Any]:
        """Write a model: the weights after an update with a learning rate of 0. The end symbol is made impossible."""
        self.environment["LD_PRELOAD"] = self._intel()
        write_text(self.folder, Sizes(3, 2, vocabulary=sizes.vocabulary), batches=2)
        command = [
            *marian_model(self.python, sizes), "--train-sets", "source", "target", "-m", "model.npz", "-l", 0,
            "--mini-batch", 2, "--after", "1u", "--cpu-threads", 1, "-w", WORKSPACE, "--data-threads", 1, "--quiet",
        ]  # fmt: skip
        result = subprocess.run(
            [str(word) for word in command], cwd=self.folder, env=os.environ | self.environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if not (path := self.folder / "model.npz").exists():
            raise Failed(f"{self.name}: no model: {result.stderr[-300:]}")
        weights = dict(np.load(path))  # noqa: TID251  Marian writes no other form
        bias = next(name for name in weights if name.endswith(("ff_logit_b", "ff_logit_l2_b")))
        weights[bias] = weights[bias].copy()
        weights[bias][..., 0] = -1e9
        np.savez(path, **weights)
        return {
            "parameters": sum(part.size for name, part in weights.items() if not name.startswith("special:"))
        }

    def _start(self, beam: int) -> None:
        if self.beam:
            Remote.close(self)
        self.beam = beam
        command = [
            self.python, ROOT / "benchmarks" / "marian_worker.py", "-m", "model.npz",
            "-v", "vocabulary.yml", "vocabulary.yml", "--beam-size", beam, "--normalize", 0, "--max-length-factor", 1,
            "--mini-batch", BATCH, "--maxi-batch", 1000, "--maxi-batch-sort", "src", "--max-length", 200,
            "--cpu-threads", self.threads, "-w", WORKSPACE, "--data-threads", 1, "--quiet",
            "--gemm-type", "packed8", "--optimize",
        ]  # fmt: skip
        self.start(command, self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def marian_model(python: Path, sizes: Sizes) -> list[object]:
    """Return the command `pymarian train` with the sizes of the model."""
    return [
        python.with_name("pymarian"), "train", "--type", "amun", "--enc-cell", "gru", "--dec-cell", "gru",
        "--dim-emb", sizes.embedding, "--dim-rnn", sizes.hidden,
        "--dim-vocabs", sizes.vocabulary, sizes.vocabulary, "--vocabs", "vocabulary.yml", "vocabulary.yml",
    ]  # fmt: skip
