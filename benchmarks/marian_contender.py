"""Marian's search, seen from the driver: a model with drawn weights, and a process for each beam size."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import ROOT, Contender, ContenderFailed, ToolkitContender
from benchmarks.sockeye_contender import write_text
from benchmarks.task import Sizes, sample_sentences
from benchmarks.worker import measure_peak_memory

BATCH_SIZE = 16
"""The sentences of Marian's own batches, each of which a thread takes. Small ones divide evenly, with less padding."""
WORKSPACE_MEGABYTES = 1000
"""The memory that Marian takes at its start."""


class Marian(ToolkitContender):
    """Answers the requests of a search that `benchmarks.worker` answers for others."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        super().__init__(name, python, threads)
        self.beam: int | None = None  # the beam size of the running process
        self.variables = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the reply to a request. `search` makes the model. `decode` with a new beam size starts a process."""
        if request["do"] == "search":
            self.sizes = Sizes(**request["sizes"])
            self._make_model()
            return {}
        if request["do"] == "memory":
            return {"peak_bytes": measure_peak_memory(self.process.pid)}

        if request["beam"] != self.beam:
            self._start_search(request["beam"])

        # Marian's own end symbol is forbidden, too, so each translation is longer than its source.
        sentences = sample_sentences(request["lengths"], self.sizes.vocabulary, request["number"])
        reply = super().ask(sentences=sentences)
        for words, translation_length in zip(sentences, reply["lengths"], strict=True):
            assert translation_length > len(words), "a translation ended too early"
        return {"seconds": reply["seconds"]}

    def _compile_intel_library(self) -> str:
        """Compile a library with which MKL uses its fast kernels on any processor, the best case for Marian.

        Returns the path of the library.
        """
        library = self.folder / "intel.so"
        code = "int mkl_serv_intel_cpu(void) { return 1; }\nint mkl_serv_intel_cpu_true(void) { return 1; }\n"
        compiler = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
        try:
            subprocess.run(compiler, input=code, text=True, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ContenderFailed(f"{self.name}: no C compiler: {error}") from None
        return str(library)

    def _make_model(self) -> None:
        """Write a model with random weights, which cannot write the end symbol."""
        self.variables["LD_PRELOAD"] = self._compile_intel_library()

        # 1. let Marian save its initial weights, after an update with a learning rate of 0
        write_text(self.folder, Sizes(3, 2, vocabulary=self.sizes.vocabulary), batch_count=2)
        command = [
            *make_train_command(self.python, self.sizes), "--train-sets", "source", "target", "-m", "model.npz",
            "-l", 0, "--mini-batch", 2, "--after", "1u", "--cpu-threads", 1, "-w", WORKSPACE_MEGABYTES,
            "--data-threads", 1, "--quiet",
        ]  # fmt: skip
        self.start_program(
            command, self.variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        _, messages = self.process.communicate()
        path = self.folder / "model.npz"
        if not path.exists():
            raise ContenderFailed(f"{self.name}: no model: {messages[-300:]}")

        # 2. make the end symbol, the first word, impossible
        weights = dict(np.load(path))  # noqa: TID251  Marian writes no other form
        bias_name = next(name for name in weights if name.endswith(("ff_logit_b", "ff_logit_l2_b")))
        weights[bias_name][..., 0] = -1e9
        np.savez(path, **weights)

    def _start_search(self, beam: int) -> None:
        """Start a process for a beam size, and end the process for the previous one."""
        if self.beam:
            Contender.close(self)  # not `self.close()`, which also removes the model
        self.beam = beam
        command = [
            self.python, ROOT / "benchmarks" / "marian_worker.py", "-m", "model.npz",
            "-v", "vocabulary.yml", "vocabulary.yml", "--beam-size", beam, "--normalize", 0, "--max-length-factor", 1,
            "--mini-batch", BATCH_SIZE, "--maxi-batch", 1000, "--maxi-batch-sort", "src", "--max-length", 200,
            "--cpu-threads", self.threads, "-w", WORKSPACE_MEGABYTES, "--data-threads", 1, "--quiet",
            "--gemm-type", "packed8", "--optimize",
        ]  # fmt: skip
        self.start_program(command, self.variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def make_train_command(python: Path, sizes: Sizes) -> list[object]:
    """Return the command `pymarian train` with the sizes of the model."""
    return [
        python.with_name("pymarian"), "train", "--type", "amun", "--enc-cell", "gru", "--dec-cell", "gru",
        "--dim-emb", sizes.embedding, "--dim-rnn", sizes.hidden,
        "--dim-vocabs", sizes.vocabulary, sizes.vocabulary, "--vocabs", "vocabulary.yml", "vocabulary.yml",
    ]  # fmt: skip
