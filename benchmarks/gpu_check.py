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
from torch import Tensor

from benchmarks.contest import FOLDER, RESULTS, append_measurements, describe_machine
from benchmarks.project import make_settings
from benchmarks.task import SPECIAL_COUNT, Sizes, sample_pairs
from nmt.backend.compiled import Kernels, prepare_compiled_steps
from nmt.backend.device import make_deterministic
from nmt.backend.matmul import Backend, Precision
from nmt.data.batches import Batch, pad_pairs
from nmt.data.bitext import binarize
from nmt.data.vocabulary import SPECIALS, Vocabulary
from nmt.decoding import beam_search
from nmt.io.text_files import write_lines
from nmt.model import model_types, output_layer
from nmt.settings.decoding import SearchSettings
from nmt.settings.model_types import ModelTypeName
from nmt.settings.training import ModelRun
from nmt.training.optimizers import make_gradients_dense
from nmt.training.trainer import Interrupted, Trainer
from nmt.training.training_files import TrainingFiles
from nmt.training.update import Updater
from nmt.training.validation import GREEDY_SEARCH

MODEL_TYPES: dict[ModelTypeName, int] = {"rnnsearch": 1, "rnnencdec": 1, "grconv": 2, "lstm": 1}
"""The model types, each with the factor for its hidden and maxout units."""
MAX_DISTANCES: dict[Precision, float] = {"fp32": 1e-5, "tf32": 1e-3, "bf16": 1e-2}
"""How far gradients may be from those of 64 bits, as a fraction of their norm, with the same choices of the maxout.

Where a pair's numbers are nearly equal, another precision chooses the other one. A few such choices are 1% of the
gradient in TF32, which would hide a wrong term of this size."""
KERNELS: tuple[Kernels, ...] = ("torch", "compiled")
Measurements = dict[str, Any]
"""What a check has measured, by name."""


@dataclass(frozen=True)
class Setup:
    """Says where the checks run, and whether sizes are so small that a processor can stand in for the GPU."""

    device: torch.device
    is_tiny: bool

    @property
    def on_gpu(self) -> bool:
        """Whether the device is a GPU."""
        return self.device.type == "cuda"

    def make_sizes(self, length: int, batch: int = 80) -> Sizes:
        """Return the paper's sizes, or tiny ones."""
        if not self.is_tiny:
            return Sizes(length, batch, threads=8)
        return Sizes(
            length=min(length, 6), batch=4, hidden=12, embedding=8, maxout=6, vocabulary=60, threads=1
        )

    def make_small_sizes(self) -> Sizes:
        """Return sizes at which a whole training takes seconds."""
        sizes = self.make_sizes(26)
        if self.is_tiny:
            return sizes
        return replace(sizes, hidden=256, embedding=124, maxout=100, vocabulary=2000)

    def make_backend(self, precision: Precision = "fp32", kernels: Kernels = "torch") -> Backend:
        """Return the backend of a model with this precision and these kernels."""
        make_deterministic(8 if self.on_gpu else 1)
        torch._dynamo.reset()
        return Backend(precision, fuse=prepare_compiled_steps(kernels, self.device))

    def list_precisions(self) -> list[Precision]:
        """Return the precisions that the device has."""
        return [precision for precision in MAX_DISTANCES if self.on_gpu or precision != "tf32"]

    def make_model(self, model_type: ModelTypeName, sizes: Sizes, backend: Backend) -> Any:
        """Return a model with random weights, made on the device, without the slow orthogonal initial values."""
        architecture, _ = self.make_settings(model_type, sizes, "fp32")
        with self.device:
            model = model_types.build_model(model_type, architecture, (sizes.vocabulary, sizes.vocabulary))
        generator = torch.Generator(self.device).manual_seed(1)
        for name, weight in model.named_parameters():
            is_matrix = weight.dim() > 1 and not name.endswith(".E")
            scale = 0.7 / weight.shape[0] ** 0.5 if is_matrix else 0.1
            weight.data.normal_(0, scale, generator=generator)
        model.use_backend(backend)
        return model

    def make_settings(self, model_type: ModelTypeName, sizes: Sizes, precision: Precision) -> Any:
        """Return the architecture and training of a model type. PyTorch computes matrix products on all processors."""
        changes = {"device": self.device.type, "precision": precision, "matmul_library": "torch"}
        return make_settings(model_type, sizes, MODEL_TYPES[model_type], **changes)

    def make_updater(self, model: Any, model_type: ModelTypeName, sizes: Sizes) -> Updater:
        """Return the updater of a model, in the precision of the model's backend."""
        _, training = self.make_settings(model_type, sizes, model.backend.precision)
        return Updater(model, training)

    def prepare_batch(self, updater: Updater, batch: Batch) -> Batch:
        """Return a batch as training prepares it for the updater."""
        return batch.pin_memory() if updater.cuda_graphs else batch.to(self.device)


def sample_batch(sizes: Sizes, seed: int, min_length: int = 1) -> Batch:
    """Return random pairs of all lengths up to `sizes.length`, padded as for a GPU.

    The first pair has this length, so that all batches are equally wide.
    """
    min_length = min(min_length, sizes.length - 1)
    lengths = np.random.default_rng(seed).integers(min_length, sizes.length, (2, sizes.batch))
    lengths[:, 0] = sizes.length - 1

    # cut each row to its length
    sides = []
    for rows, side_lengths in zip(sample_pairs(sizes, seed), lengths, strict=True):
        ids = rows.astype(np.uint16)
        sides.append([row[:length] for row, length in zip(ids, side_lengths, strict=True)])
    return pad_pairs(sides[0], sides[1], source_eos=True, length_bucket=5)


def check_gradients(setup: Setup) -> Measurements:
    """Compare gradients in each precision, with both kinds of kernels, with those of 64 bits on the processor."""
    distances: Measurements = {}
    for model_type in MODEL_TYPES:
        sizes = setup.make_sizes(21, 8)
        batch = sample_batch(sizes, 3)
        model = setup.make_model(model_type, sizes, setup.make_backend())

        # In every precision, the maxouts take the numbers that are larger in 64 bits.
        exact_model = copy.deepcopy(model).cpu().double()
        choices: list[Tensor] = []
        with share_maxout_choices(choices):
            exact_gradient = compute_gradient(exact_model, batch)
        for precision in setup.list_precisions():
            for kernels in KERNELS:
                model.use_backend(setup.make_backend(precision, kernels))
                with share_maxout_choices(choices):
                    gradient = compute_gradient(model, batch.to(setup.device))
                distance = float((gradient - exact_gradient).norm() / exact_gradient.norm())
                distances[f"{model_type} {precision} {kernels}"] = distance
                assert distance < MAX_DISTANCES[precision], distances
    return distances


def compute_gradient(model: Any, batch: Batch) -> Tensor:
    """Return the gradient of a batch's cost as one vector of 64 bits."""
    model.zero_grad(set_to_none=True)
    model.total_nll(batch, include_padding=True).backward()
    make_gradients_dense(model.parameters())
    return torch.cat([weight.grad.flatten() for weight in model.parameters()]).cpu().double()


@contextmanager
def share_maxout_choices(choices: list[Tensor]) -> Iterator[None]:
    """Let maxouts take the choices in the list. If it is empty, the next maxout adds its own choices to it."""

    def choose_as_before(values: Tensor) -> Tensor:
        """Return one number of each pair in the last dimension."""
        pairs = values.view(*values.shape[:-1], -1, 2)
        if not choices:
            choices.append(pairs.argmax(dim=-1, keepdim=True))
        return pairs.gather(-1, choices[0].to(values.device)).squeeze(-1)

    original = output_layer.maxout
    output_layer.maxout = choose_as_before
    try:
        yield
    finally:
        output_layer.maxout = original


def check_graphs(setup: Setup) -> Measurements:
    """Compare updates replayed as CUDA graphs with updates called one by one: equal bits."""
    backends: tuple[tuple[Precision, Kernels], ...] = (
        ("tf32", "compiled"),
        ("fp32", "torch"),
        ("bf16", "torch"),
    )
    compared_count = 0
    for model_type in MODEL_TYPES:
        for precision, kernels in backends:
            if precision not in setup.list_precisions():
                continue
            backend = setup.make_backend(precision, kernels)
            replayed_weights = make_updates(setup, model_type, backend, use_graphs=True)
            called_weights = make_updates(setup, model_type, backend, use_graphs=False)
            for replayed, called in zip(replayed_weights, called_weights, strict=True):
                assert torch.equal(replayed, called), f"{model_type}, {precision}, {kernels}"
            compared_count += 1
    return {"compared": compared_count}


def make_updates(setup: Setup, model_type: ModelTypeName, backend: Backend, use_graphs: bool) -> list[Tensor]:
    """Return the weights after seven updates of two lengths."""
    # 160 pairs have more than 4,096 words: from so many on, PyTorch sorts words for the gradient of the embeddings
    pairs = 160 if model_type == "rnnsearch" else 80
    sizes = setup.make_sizes(51, pairs)
    model = setup.make_model(model_type, sizes, backend)
    updater = setup.make_updater(model, model_type, sizes)
    if not use_graphs:
        updater.cuda_graphs = None
    for number in range(7):
        batch = sample_batch(setup.make_sizes(26 if number % 2 else 51, pairs), number)
        updater(setup.prepare_batch(updater, batch), epoch=number // 5)
    return [weight.detach().cpu() for weight in model.parameters()]


def check_resume(setup: Setup) -> Measurements:
    """Compare a training that is stopped twice and resumed with an uninterrupted one: equal bits."""
    updates = 12 if setup.is_tiny else 45
    tensor_counts = {}
    for model_type in ("rnnsearch", "lstm"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files = write_text(folder, setup)
            run = make_run(setup, model_type, updates)
            uninterrupted = train_with_stops(run, files, folder / "uninterrupted", [])
            stop_updates = [updates // 3, updates // 3 + 3]
            resumed = train_with_stops(run, files, folder / "resumed", stop_updates)
        differences = [name for name in uninterrupted if not torch.equal(uninterrupted[name], resumed[name])]
        assert not differences, f"{model_type}: {differences[:3]}"
        tensor_counts[model_type] = len(uninterrupted)
    return {"tensors equal": tensor_counts}


class StoppingTrainer(Trainer):
    """A trainer that stops after `stop_update`, as it does at a signal."""

    stop_update: int | None = None

    def _update(self, batch: Batch) -> None:
        super()._update(batch)
        if self.counters.update == self.stop_update:
            self.is_stopping.set()


def train_with_stops(
    run: ModelRun, files: TrainingFiles, state: Path, stop_updates: list[int]
) -> dict[str, Tensor]:
    """Train, with a stop after each of these updates. Return all tensors of the state."""
    for stop_update in [*stop_updates, None]:
        trainer = StoppingTrainer(run, files, state)
        trainer.stop_update = stop_update
        trainer.resume()
        try:
            trainer.run()
        except Interrupted:
            assert stop_update is not None
    return trainer.make_checkpoint().tensors


def make_run(setup: Setup, model_type: ModelTypeName, updates: int) -> ModelRun:
    """Return a run at small sizes; other settings are the defaults of experiments."""
    precision: Precision = "tf32" if setup.on_gpu else "fp32"
    architecture, training = setup.make_settings(model_type, setup.make_small_sizes(), precision)
    training_settings = training.model_dump() | {
        "updates": updates,
        "validate_every": updates // 2,
        "log_every": 10,
        "checkpoint_every": 10**9,
        "patience": None,
        "keep": "last",
        "kernels": "compiled" if setup.on_gpu else "torch",
    }
    run = {
        "model": "check",
        "label": "check",
        "model_type": model_type,
        "max_words": 30,
        "seed": 1,
        "continue_from": None,
        "architecture": architecture.model_dump(),
        "training": training_settings,
    }
    return ModelRun.model_validate(run)


def write_text(folder: Path, setup: Setup) -> TrainingFiles:
    """Write random pairs as training and development text. A target is its source backwards."""
    sizes = replace(setup.make_small_sizes(), batch=40 if setup.is_tiny else 4000)
    word_count = sizes.vocabulary - len(SPECIALS)
    vocabulary = Vocabulary([(f"w{rank}", word_count - rank) for rank in range(word_count)])

    # the ids of `sample_pairs` begin with SPECIAL_COUNT, the words of the vocabulary with w0
    source_ids, _ = sample_pairs(sizes, 0)
    lengths = np.random.default_rng(1).integers(3, sizes.length, sizes.batch)

    source, target = folder / "source.txt", folder / "target.txt"
    with write_lines(source) as source_lines, write_lines(target) as target_lines:
        for row, length in zip(source_ids, lengths, strict=True):
            words = [f"w{word_id - SPECIAL_COUNT}" for word_id in row[:length]]
            source_lines.write(" ".join(words))
            target_lines.write(" ".join(reversed(words)))
    text, vocabulary_file = folder / "text", folder / "vocabulary.tsv"
    binarize({"drawn": [(source, target)]}, vocabulary, vocabulary, text)
    vocabulary.write(vocabulary_file)
    return TrainingFiles(text, text, vocabulary_file, vocabulary_file)


def check_search(setup: Setup) -> Measurements:
    """Compare a beam search with one in 64 bits, and time about 3,000 sentences at beam 10."""
    # 1. compare translations of two model types
    measurements: Measurements = {}
    model_types_to_compare: tuple[ModelTypeName, ...] = ("rnnsearch", "lstm")
    for model_type in model_types_to_compare:
        sizes = setup.make_sizes(16, 8)
        batch = sample_batch(sizes, 5)
        model = setup.make_model(model_type, sizes, setup.make_backend()).eval()
        exact_model = copy.deepcopy(model).cpu().double()
        search = GREEDY_SEARCH.model_copy(update={"beam": 5, "max_length_factor": 1})
        translations = translate_batch(model, batch.to(setup.device), search, extra_words=0)
        exact_translations = translate_batch(exact_model, batch, search, extra_words=0)

        # rounding may swap two hypotheses whose scores are nearly equal
        pairs = zip(translations, exact_translations, strict=True)
        equal_count = sum(translation == exact for translation, exact in pairs)
        summary = f"{equal_count} of {sizes.batch}"
        assert equal_count >= 0.8 * sizes.batch, f"{model_type}: {summary} translations equal"
        measurements[f"{model_type} equal"] = summary

    # 2. measure the time
    sizes = setup.make_sizes(24, 128)
    search = GREEDY_SEARCH.model_copy(update={"beam": 10})
    model = setup.make_model("rnnsearch", sizes, setup.make_backend()).eval()
    batches = [sample_batch(sizes, number) for number in range(2 if setup.is_tiny else 24)]
    start = time.monotonic()
    for batch in batches:
        translate_batch(model, batch.to(setup.device), search, extra_words=3)
    seconds = time.monotonic() - start
    return measurements | {"sentences": len(batches) * sizes.batch, "seconds": seconds}


@torch.no_grad()
def translate_batch(model: Any, batch: Batch, search: SearchSettings, extra_words: int) -> list[list[int]]:
    """Return the ids of each pair's best translation.

    extra_words: the limits of the search are those of sources with this many more words.
    """
    source_words = batch.source_lengths.cpu().numpy() - 1  # without end symbol
    n_best_lists = beam_search.search(
        model=model,
        encoded=model.encode(batch.source, batch.source_lengths),
        source_lengths=source_words + extra_words,
        decoding=search,
        forbid_unknown=True,
    )
    return [n_best[0].ids for n_best in n_best_lists]


def check_speed(setup: Setup) -> Measurements:
    """Measure milliseconds of an update, by model type, length, precision and kernels, and the most memory in GB."""
    backends: tuple[tuple[Precision, Kernels], ...] = (
        ("tf32", "compiled"),
        ("tf32", "torch"),
        ("fp32", "torch"),
        ("bf16", "compiled"),
    )
    measurements: Measurements = {}
    for model_type in MODEL_TYPES:
        for length in (31, 51):
            for precision, kernels in backends:
                is_measured = precision == "tf32" or model_type in ("rnnsearch", "rnnencdec")
                if is_measured and precision in setup.list_precisions():
                    backend = setup.make_backend(precision, kernels)
                    name = f"{model_type} {length} {precision} {kernels}"
                    measurements[name] = measure_update(setup, model_type, setup.make_sizes(length), backend)
    return measurements


def measure_update(setup: Setup, model_type: ModelTypeName, sizes: Sizes, backend: Backend) -> Measurements:
    """Return the time of an update, and on a GPU the most memory."""
    gc.collect()  # frees the memory of the model before this one
    model = setup.make_model(model_type, sizes, backend)
    updater = setup.make_updater(model, model_type, sizes)
    batch = setup.prepare_batch(updater, sample_batch(sizes, 1, min_length=sizes.length - 2))
    start = time.monotonic()
    updater(batch)  # captures or compiles what later updates use again
    measurements = {"first update, s": time.monotonic() - start}
    measurements["ms"] = measure_milliseconds(setup, lambda: updater(batch))
    if setup.on_gpu:
        measurements["GB"] = torch.cuda.max_memory_allocated() / 1e9
        torch.cuda.reset_peak_memory_stats()
    return measurements


def measure_milliseconds(setup: Setup, call: Callable[[], object]) -> float:
    """Return the median time of a call over three rounds of 15, after three calls that do not count."""
    milliseconds = []
    for call_count in (3, 15, 15, 15):
        if setup.on_gpu:
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(call_count):
            call()
        if setup.on_gpu:
            torch.cuda.synchronize()
        milliseconds.append(1e3 * (time.perf_counter() - start) / call_count)
    return float(np.median(milliseconds[1:]))


CHECKS: dict[str, Callable[[Setup], Measurements]] = {
    "gradients": check_gradients,
    "graphs": check_graphs,
    "resume": check_resume,
    "search": check_search,
    "speed": check_speed,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the checks and report them. Return 0, 1 if a check failed, or 2 if there is no GPU."""
    options = parse_options(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        print("no GPU here: nothing was checked")
        return 2

    setup = Setup(torch.device(options.device), options.tiny)
    device_name = torch.cuda.get_device_name() if setup.on_gpu else "processor"
    size_note = ", tiny sizes" if setup.is_tiny else ""
    print(f"{device_name}, PyTorch {torch.__version__}{size_note}", flush=True)
    shared_fields = describe_machine(False) | {"gpu": device_name, "tiny": setup.is_tiny}
    has_failed = False
    for check in options.only:
        start = time.monotonic()
        try:
            measurements = CHECKS[check](setup)
            outcome: Measurements = {"result": "passed", "figures": measurements}
        except Exception as error:
            # a GPU may fail in any way; the other checks are made all the same
            reason = f"{type(error).__name__}: {error}"[:1000]
            measurements = {"": reason}
            outcome = {"result": "failed", "reason": reason}
            has_failed = True
        outcome["took"] = round(time.monotonic() - start, 1)

        print(f"{check}: {outcome['result']} in {outcome['took']} s", flush=True)
        for name, value in measurements.items():
            print(f"    {name}: {value}", flush=True)
        append_measurements(options.output, [{"check": check} | outcome], shared_fields)
    return int(has_failed)


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line, or of these arguments."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu_check", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="a few units instead of the paper's sizes")
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS), metavar="CHECK")
    parser.add_argument("--output", type=Path, default=RESULTS / "gpu_check.jsonl", help="(%(default)s)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(FOLDER / ".compiled"))
    sys.exit(main())
