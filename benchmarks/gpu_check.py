"""Check that this machine's GPU computes correctly, and measure its speed: `make gpu-check`, about five minutes.

Usage: python -m benchmarks.gpu_check [--device cuda|cpu] [--tiny] [--only CHECK ...] [--output FILE]

The report is printed, and each check adds a line to benchmarks/results/gpu_check.jsonl. The exit code is 1 if a check
failed. With `--device cpu --tiny`, a processor makes the checks at tiny sizes.
"""

from __future__ import annotations

import argparse
import copy
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch._dynamo
from torch import Tensor

from benchmarks.contest import FOLDER, RESULTS, append, machine
from benchmarks.project import SUTSKEVERS, settings
from benchmarks.task import Sizes, draw
from nmt.backend.compiled import prepare_compiled_steps
from nmt.backend.device import make_deterministic
from nmt.backend.matmul import Backend
from nmt.data.batches import Batch, pad_pairs
from nmt.data.bitext import Bitext, binarize
from nmt.data.vocabulary import SPECIALS, WordVocabulary
from nmt.decoding import beam_search
from nmt.io.text_files import write_lines
from nmt.model import model_types, output_layer
from nmt.settings.model_types import ModelTypeName
from nmt.settings.training import ModelRun
from nmt.training.optimizers import make_gradients_dense
from nmt.training.trainer import Interrupted, Trainer
from nmt.training.update import Updater
from nmt.training.validation import GREEDY_SEARCH

MODEL_TYPES: dict[ModelTypeName, int] = {"rnnsearch": 1, "rnnencdec": 1, "grconv": 2, "lstm": 1}
"""The model types, each with the factor for its hidden and maxout units."""
LIMITS = {"fp32": 1e-5, "tf32": 1e-3, "bf16": 1e-2}
"""How far gradients may be from those of 64 bits, as a share of their norm, with the same choices of the maxout.

Where a pair's numbers are nearly equal, another precision chooses the other one. A few such choices are 1% of the
gradient in TF32, which would hide a wrong term of this size."""
KERNELS = ("torch", "compiled")
Figures = dict[str, Any]


@dataclass(frozen=True)
class Setup:
    """Says where the checks run, and whether sizes are so small that a processor can stand in for the GPU."""

    device: torch.device
    tiny: bool

    @property
    def on_gpu(self) -> bool:
        """Return whether the device is a GPU."""
        return self.device.type == "cuda"

    def sizes(self, length: int, batch: int = 80) -> Sizes:
        """Return the paper's sizes, or tiny ones."""
        return Sizes(min(length, 6), 4, 12, 8, 6, 60, 1) if self.tiny else Sizes(length, batch, threads=8)

    def small(self, length: int) -> Sizes:
        """Return sizes at which a whole training takes seconds."""
        return self.sizes(length) if self.tiny else Sizes(length, 80, 256, 124, 100, 2000, 8)

    def backend(self, precision: str = "fp32", kernels: str = "torch") -> Backend:
        """Return the backend of a model with this precision and these kernels."""
        make_deterministic(8 if self.on_gpu else 1)
        torch._dynamo.reset()
        fuse = prepare_compiled_steps(kernels, self.device)  # type: ignore[arg-type]
        return Backend(precision, fuse=fuse)  # type: ignore[arg-type]

    def precisions(self) -> list[str]:
        """Return the precisions that the device has."""
        return [name for name in LIMITS if self.on_gpu or name != "tf32"]

    def model(self, model_type: ModelTypeName, sizes: Sizes, backend: Backend, seed: int = 1) -> Any:
        """Return a model with random weights, made on the device, without the slow orthogonal initial values."""
        architecture, _ = self.settings(model_type, sizes, "fp32")
        with self.device:
            model = model_types.build_model(model_type, architecture, sizes.vocabulary, sizes.vocabulary)
        generator = torch.Generator(self.device).manual_seed(seed)
        for name, weight in model.named_parameters():
            scale = 0.1 if weight.dim() == 1 or name.endswith(".E") else 0.7 / weight.shape[0] ** 0.5
            weight.data.normal_(0, scale, generator=generator)
        model.use_backend(backend)
        return model

    def settings(self, model_type: ModelTypeName, sizes: Sizes, precision: str) -> Any:
        """Return a model type's architecture and training; no product depends on the processor."""
        changes = {"device": self.device.type, "precision": precision, "matmul_library": "torch"}
        return settings(model_type, sizes, MODEL_TYPES[model_type], **changes)

    def updater(
        self, model: Any, model_type: ModelTypeName, sizes: Sizes, precision: str, graphs: bool = True
    ) -> Updater:
        """Return what updates a model, with or without CUDA graphs."""
        updater = Updater(model, self.settings(model_type, sizes, precision)[1])
        if not graphs:
            updater.cuda_graphs = None
        return updater

    def prepared(self, updater: Updater, batch: Batch) -> Batch:
        """Return a batch as training prepares it for the updater."""
        return batch.pin_memory() if updater.cuda_graphs else batch.to(self.device)


def drawn(sizes: Sizes, seed: int, shortest: int = 1) -> Batch:
    """Draw pairs of all lengths from the shortest up to the one of the sizes, padded as for a GPU."""
    shortest = min(shortest, sizes.length - 1)
    lengths = np.random.default_rng(seed).integers(shortest, sizes.length, (2, sizes.batch))
    lengths[:, 0] = sizes.length - 1
    sides = [
        [row[:length].astype(np.uint16) for row, length in zip(words, side, strict=True)]
        for words, side in zip(draw(sizes, seed), lengths, strict=True)
    ]
    return pad_pairs(sides[0], sides[1], source_eos=True, length_bucket=5)


def gradients(setup: Setup) -> Figures:
    """Compare gradients in each precision, with both kinds of kernels, with those of 64 bits on the processor.

    The maxout of all takes the numbers that are larger in 64 bits.
    """
    found: Figures = {}
    for model_type in MODEL_TYPES:
        sizes = setup.sizes(21, 8)
        model, batch = setup.model(model_type, sizes, setup.backend()), drawn(sizes, 3)
        exact = copy.deepcopy(model).cpu().double()
        choices: list[Tensor] = []
        with maxout_choices(choices):
            wanted = gradient(exact, batch)
        for precision in setup.precisions():
            for kernels in KERNELS:
                model.use_backend(setup.backend(precision, kernels))
                with maxout_choices(choices):
                    found_gradient = gradient(model, batch.to(setup.device))
                apart = float((found_gradient - wanted).norm() / wanted.norm())
                found[f"{model_type} {precision} {kernels}"] = apart
                assert apart < LIMITS[precision], found
    return found


def gradient(model: Any, batch: Batch) -> Tensor:
    """Return the gradient of a batch's cost as one vector of 64 bits."""
    model.zero_grad(set_to_none=True)
    model.total_nll(batch, include_padding=True).backward()
    make_gradients_dense(model.parameters())
    return torch.cat([weight.grad.flatten() for weight in model.parameters()]).cpu().double()


@contextmanager
def maxout_choices(choices: list[Tensor]) -> Iterator[None]:
    """Let the next maxout add its choices to an empty list, or else take those of the list."""

    def maxout(values: Tensor) -> Tensor:
        pairs = values.view(*values.shape[:-1], -1, 2)
        if not choices:
            choices.append(pairs.argmax(dim=-1, keepdim=True))
        return pairs.gather(-1, choices[0].to(values.device)).squeeze(-1)

    original, output_layer.maxout = output_layer.maxout, maxout
    try:
        yield
    finally:
        output_layer.maxout = original


def graphs(setup: Setup) -> Figures:
    """Compare updates replayed as CUDA graphs with updates called one by one: equal bits."""
    compared = 0
    for model_type in MODEL_TYPES:
        for precision, kernels in (("tf32", "compiled"), ("fp32", "torch"), ("bf16", "torch")):
            if precision not in setup.precisions():
                continue
            backend = setup.backend(precision, kernels)
            # PyTorch sorts more than 4,096 words for the gradient of the embeddings: 160 pairs have so many
            pairs = 160 if model_type == "rnnsearch" else 80
            ends = [updated(setup, model_type, backend, pairs, recorded) for recorded in (True, False)]
            assert all(torch.equal(*pair) for pair in zip(*ends, strict=True)), (
                f"{model_type}, {precision}, {kernels}"
            )
            compared += 1
    return {"compared": compared}


def updated(
    setup: Setup, model_type: ModelTypeName, backend: Backend, pairs: int, recorded: bool
) -> list[Tensor]:
    """Return the weights after seven updates of two lengths."""
    sizes = setup.sizes(51, pairs)
    model = setup.model(model_type, sizes, backend)
    updater = setup.updater(model, model_type, sizes, backend.precision, recorded)
    for number in range(7):
        batch = drawn(setup.sizes(26 if number % 2 else 51, pairs), number)
        updater(setup.prepared(updater, batch), epoch=number // 5)
    return [weight.detach().cpu() for weight in model.parameters()]


def resume(setup: Setup) -> Figures:
    """Compare a training that is stopped twice and resumed with one in a piece: equal bits."""
    updates, found = (12 if setup.tiny else 45), {}
    for model_type in ("rnnsearch", "lstm"):
        with tempfile.TemporaryDirectory() as name:
            text, run = write_text(Path(name), setup), model_run(setup, model_type, updates)
            whole, broken = (
                trained(setup, run, text, Path(name) / str(len(stops)), stops)
                for stops in ([], [updates // 3, updates // 3 + 3])
            )
            different = [name for name, value in whole.items() if not torch.equal(value, broken[name])]
            assert not different, f"{model_type}: {different[:3]}"
            found[model_type] = len(whole)
    return {"tensors equal": found}


def trained(setup: Setup, run: ModelRun, text: Bitext, state: Path, stops: list[int]) -> dict[str, Tensor]:
    """Train, with a stop after each of these updates. Return all tensors of the state."""
    words = WordVocabulary([(f"w{rank}", 1) for rank in range(setup.small(26).vocabulary - len(SPECIALS))])
    for stop in [*stops, None]:
        made = Trainer(run, text, text, (words, words), state)
        made.resume(None)
        update = made._update

        def until(batch: Any, made: Trainer = made, update: Any = update, stop: int | None = stop) -> None:
            update(batch)
            if made.counters.update == stop:
                made.is_stopping.set()

        made._update = until  # type: ignore[method-assign]
        try:
            made.run()
        except Interrupted:
            assert stop is not None
    return made.make_checkpoint().tensors


def model_run(setup: Setup, model_type: Any, updates: int) -> ModelRun:
    """Return a run at small sizes; other settings are those of `config.yaml`."""
    architecture, training = setup.settings(model_type, setup.small(26), "tf32" if setup.on_gpu else "fp32")
    changes: Figures = SUTSKEVERS if model_type == "lstm" else {}
    changes |= {
        "updates": updates,
        "validate_every": updates // 2,
        "log_every": 10,
        "checkpoint_every": 10**9,
    }
    changes |= {"patience": None, "keep": "last", "kernels": "compiled" if setup.on_gpu else "torch"}
    return ModelRun.model_validate(
        {"model": "check", "label": "check", "model_type": model_type, "max_words": 30, "seed": 1,
         "continue_from": None,
         "architecture": architecture.model_dump(), "training": training.model_dump() | changes}
    )  # fmt: skip


def write_text(folder: Path, setup: Setup) -> Bitext:
    """Write drawn pairs, and return them as ids. A target is its source backwards."""
    sizes = replace(setup.small(26), batch=40 if setup.tiny else 4000)
    words = sizes.vocabulary - 2
    vocabulary = WordVocabulary([(f"w{number}", words - number) for number in range(words)])
    lengths = np.random.default_rng(1).integers(3, sizes.length, sizes.batch)
    rows = [
        [int(word) - 4 for word in row[:length]]
        for row, length in zip(draw(sizes, 0)[0], lengths, strict=True)
    ]
    for side, step in (("source", 1), ("target", -1)):
        with write_lines(folder / f"{side}.txt") as writer:
            for row in rows:
                writer.write(" ".join(f"w{number}" for number in row[::step]))
    sides = {"drawn": [(folder / "source.txt", folder / "target.txt")]}
    return binarize(sides, vocabulary, vocabulary, folder / "text")


def search(setup: Setup) -> Figures:
    """Compare a beam search with one in 64 bits, and time 3,003 sentences at beam 10."""
    found: Figures = {}
    decoding = GREEDY_SEARCH.model_copy(update={"beam": 5, "max_length_factor": 1})
    searched: tuple[ModelTypeName, ...] = ("rnnsearch", "lstm")
    for model_type in searched:
        sizes = setup.sizes(16, 8)
        model, batch = setup.model(model_type, sizes, setup.backend()).eval(), drawn(sizes, 5)
        exact = copy.deepcopy(model).cpu().double()
        limits = batch.source_lengths.numpy() - 1
        with torch.no_grad():
            both = [
                beam_search.search(
                    one, one.encode(there.source, there.source_lengths), limits, decoding, True
                )
                for one, there in ((model, batch.to(setup.device)), (exact, batch))
            ]
        same = sum(a[0].ids == b[0].ids for a, b in zip(*both, strict=True))
        assert same >= 0.8 * len(both[0]), f"{model_type}: {same} of {len(both[0])} translations equal"
        found[f"{model_type} equal"] = f"{same} of {len(both[0])}"
    model, sizes = setup.model("rnnsearch", setup.sizes(24), setup.backend()).eval(), setup.sizes(24, 128)
    batches = [drawn(sizes, number) for number in range(2 if setup.tiny else 24)]
    begin = time.monotonic()
    with torch.no_grad():
        for batch in batches:
            there = batch.to(setup.device)
            encoded = model.encode(there.source, there.source_lengths)
            limits = batch.source_lengths.numpy() + 2
            beam_search.search(model, encoded, limits, GREEDY_SEARCH.model_copy(update={"beam": 10}), False)
    seconds = time.monotonic() - begin
    return found | {"sentences": len(batches) * sizes.batch, "seconds": seconds}


def speed(setup: Setup) -> Figures:
    """Measure milliseconds of an update, by model type, length, precision and kernels, and the most memory in GB."""
    found: Figures = {}
    for model_type in MODEL_TYPES:
        for length in (31, 51):
            for precision, kernels in (
                ("tf32", "compiled"),
                ("tf32", "torch"),
                ("fp32", "torch"),
                ("bf16", "compiled"),
            ):
                if precision not in setup.precisions() or (
                    model_type in ("grconv", "lstm") and precision != "tf32"
                ):
                    continue
                gc.collect()
                sizes = setup.sizes(length)
                model = setup.model(model_type, sizes, setup.backend(precision, kernels))
                updater = setup.updater(model, model_type, sizes, precision)
                batch = setup.prepared(updater, drawn(sizes, 1, shortest=length - 1))
                begin = time.monotonic()
                updater(batch)
                figures = {"first update, s": time.monotonic() - begin}
                figures["ms"] = milliseconds(setup, lambda: updater(batch))  # noqa: B023
                if setup.on_gpu:
                    figures["GB"] = torch.cuda.max_memory_allocated() / 1e9
                    torch.cuda.reset_peak_memory_stats()
                found[f"{model_type} {length} {precision} {kernels}"] = figures
    return found


def milliseconds(setup: Setup, work: Callable[[], object], times: int = 15) -> float:
    """Return the median time of a call over three rounds, after three calls that do not count."""
    rounds = []
    for number in range(4):
        if setup.on_gpu:
            torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(3 if number == 0 else times):
            work()
        if setup.on_gpu:
            torch.cuda.synchronize()
        rounds.append((time.perf_counter() - begin) / times)
    return 1e3 * float(np.median(rounds[1:]))


CHECKS: dict[str, Callable[[Setup], Figures]] = {
    check.__name__: check for check in (gradients, graphs, resume, search, speed)
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the checks and report them. Return 0, 1 if a check failed, or 2 if there is no GPU."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu_check", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="a few units instead of the paper's sizes")
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS), metavar="CHECK")
    parser.add_argument("--output", type=Path, default=RESULTS / "gpu_check.jsonl", help="(%(default)s)")
    options = parser.parse_args(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        print("no GPU here: nothing was checked")
        return 2
    setup, failed = Setup(torch.device(options.device), options.tiny), False
    name = torch.cuda.get_device_name() if setup.on_gpu else "processor"
    print(f"{name}, PyTorch {torch.__version__}{', tiny sizes' if setup.tiny else ''}", flush=True)
    about = machine(False) | {"gpu": name, "tiny": setup.tiny}
    for check in options.only:
        begin = time.monotonic()
        try:
            found: Figures = {"result": "passed", "figures": CHECKS[check](setup)}
        except Exception as error:
            found, failed = {"result": "failed", "reason": f"{type(error).__name__}: {error}"[:1000]}, True
        found["took"] = round(time.monotonic() - begin, 1)
        print(f"{check}: {found['result']} in {found['took']} s", flush=True)
        for key, value in found.get("figures", {"": found.get("reason")}).items():
            print(f"    {key}: {value}", flush=True)
        append(options.output, [{"check": check} | found], about)
    return int(failed)


if __name__ == "__main__":
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(FOLDER / ".compiled"))
    sys.exit(main())
