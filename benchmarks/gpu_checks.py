"""The checks of `make gpu-check` (see `gpu_check`).

Each check returns figures, or raises an error that says what is wrong. The report quotes the check's docstring. Each
runs in a process of its own: `python -m benchmarks.gpu_checks CHECK SETUP`, with the setup as JSON.
"""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.findings import ROOT
from benchmarks.training.project import DeepLSTM, GrConv, Project, RNNencdec, RNNsearch, settings
from benchmarks.training.sentences import draw
from benchmarks.training.sizes import Machine, Sizes
from nmt.data.batches import Batch
from nmt.data.bitext import Bitext, binarize
from nmt.data.vocabulary import Vocabulary
from nmt.errors import UserError
from nmt.io.text_files import write_lines
from nmt.model.compiled import set_kernels
from nmt.model.device import memory_errors
from nmt.settings.training import ModelRun
from nmt.training.trainer import Trainer
from nmt.training.validation import sentence_nll

Figures = dict[str, Any]
PRECISIONS = ("fp32", "tf32", "bf16")
FAMILIES: tuple[type[Project], ...] = (RNNsearch, RNNencdec, GrConv, DeepLSTM)


class NotRun(Exception):
    """The check cannot be made here; the message says why."""


@dataclass(frozen=True)
class Setup:
    """Says how the checks are made.

    device: `cuda` or `cpu`. tiny: whether sizes are so small that a processor can replace the GPU. pip_options: options
    for making JoeyNMT's environment.
    """

    device: str = "cuda"
    tiny: bool = False
    pip_options: str = ""

    def sizes(self, length: int) -> Sizes:
        """Return the paper's sizes at a length, or tiny ones."""
        return Sizes(6, 4, 8, 6, 4, 40, 32) if self.tiny else Sizes(length)

    def machine(self, precision: str = "fp32") -> Machine:
        """Return the device with its number of threads and a precision."""
        return Machine(self.device, 1 if self.tiny else 8, precision)

    def need_gpu(self, what: str) -> None:
        """Raise NotRun if the device is a processor."""
        if self.device != "cuda":
            raise NotRun(f"{what} needs a GPU")


def tests(setup: Setup) -> Figures:
    """Check that every test that needs a GPU passes."""
    setup.need_gpu("a test of the GPU")
    files = [
        str(file) for file in (ROOT / "tests").rglob("test_*.py") if "needs a GPU" in file.read_text("utf-8")
    ]
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-k", "gpu or graph or cuda", *files]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = result.stdout.strip().splitlines()[-1]
    assert result.returncode == 0 and "needs a GPU" not in result.stdout, result.stdout[-2000:]
    return {"pytest": last}


def recorded(setup: Setup) -> Figures:
    """Check that updates replayed as CUDA graphs give the same bits as updates called one by one."""
    setup.need_gpu("a CUDA graph")
    compared = 0
    for kind in FAMILIES:
        for precision in PRECISIONS:
            for kernels in ("torch", "compiled"):
                ends = [updated(kind, setup, precision, kernels, graphs) for graphs in (True, False)]
                same = all(torch.equal(*pair) for pair in zip(*ends, strict=True))
                assert same, f"{kind.family}, {precision}, {kernels}: recorded updates differ"
                compared += 1
    return {"compared": compared, "updates_each": 8}


def updated(
    kind: type[Project], setup: Setup, precision: str, kernels: Any, graphs: bool
) -> list[torch.Tensor]:
    """Return the weights after eight updates of two shapes.

    The deep LSTM's learning rate falls after five updates, so its updates are recorded a second time.
    """
    set_kernels(kernels, torch.device(setup.device))
    made = kind(setup.sizes(26), setup.machine(precision))
    if not graphs:
        made.updater.graphs = None
    for number in range(8):
        batch = made.batch(*draw(setup.sizes(26 if number % 2 else 51), number))
        made.updater(batch if graphs else batch.to(made.device), epoch=number // 5)
    return [weight.detach().cpu() for weight in made.model.parameters()]


def compiled(setup: Setup) -> Figures:
    """Check that compiled steps give PyTorch's gradients up to rounding, and time an update with both."""
    setup.need_gpu("the time of a compiled step")
    found: Figures = {}
    for kind in FAMILIES:
        sizes, both, seconds = setup.sizes(26), {}, {}
        for kernels in ("torch", "compiled"):
            set_kernels(kernels, torch.device(setup.device))
            made = kind(sizes, setup.machine())
            batch = made.batch(*draw(sizes, 0))
            made.model.total_nll(*batch.to(made.device).inputs()).backward()  # type: ignore[no-untyped-call]
            both[kernels] = torch.cat(
                [w.grad.flatten() for w in made.model.parameters() if w.grad is not None]
            )
            seconds[kernels] = seconds_of_an_update(made, batch)
        apart = float((both["torch"] - both["compiled"]).norm() / both["torch"].norm())
        assert apart < 1e-4, f"{kind.family}: gradients differ by {apart:.1e} of their norm"
        found[kind.family] = {"gradients_apart": apart, "ms": {k: 1e3 * v for k, v in seconds.items()}}
    return found


def seconds_of_an_update(made: Project, batch: Any, updates: int = 20) -> float:
    """Return the mean seconds of an update on a GPU, after three updates that do not count."""
    for number in range(3 + updates):
        if number == 3:
            torch.cuda.synchronize()
            begin = time.perf_counter()
        made.updater(batch)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / updates


def resume(setup: Setup) -> Figures:
    """Check that a training that is killed and resumed ends with the same bits as one that is not killed."""
    return {kind.family: resumed(kind, setup) for kind in FAMILIES}


def resumed(kind: type[Project], setup: Setup) -> Figures:
    """Make the check `resume` for one family."""
    with tempfile.TemporaryDirectory() as folder:
        text, kills = write_text(Path(folder), 40 if setup.tiny else 4000, setup), 1 if setup.tiny else 2
        run = model_run(setup, kind, updates=12 if setup.tiny else 60)
        unbroken = trained(run, text, setup, Path(folder) / "unbroken")
        (Path(folder) / "run.json").write_text(run.model_dump_json(), encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks.gpu_checks", "train", json.dumps(asdict(setup)), folder]
        for _ in range(kills):
            process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
            before = checkpoints(Path(folder))
            while process.poll() is None and checkpoints(Path(folder)) <= before:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
            ended = f"the training ended by itself, with code {process.returncode}"
            assert process.returncode == -signal.SIGKILL, ended
        broken = trained(run, text, setup, Path(folder) / "broken")
        different = [name for name, value in unbroken.items() if not torch.equal(value, broken[name])]
        assert not different, f"different after {kills} kills: {different[0]}"
        return {"kills": kills, "updates": run.training.updates}


def checkpoints(folder: Path) -> int:
    """Return the number of updates before the last checkpoint; 0 without a checkpoint."""
    names = [int(path.stem.partition("-")[2]) for path in (folder / "broken").glob("checkpoint-*.json")]
    return max(names, default=0)


def trained(run: ModelRun, text: Bitext, setup: Setup, state: Path) -> dict[str, torch.Tensor]:
    """Run or resume a training in the folder `state`. Return all tensors of its state at the end."""
    words = setup.sizes(26).vocabulary
    made = Trainer(run, text, text, (words, words), state)
    made.resume(None)
    made.run()
    return {name: value.cpu() for name, value in made.state_tensors().items()}


def model_run(
    setup: Setup, kind: type[Project] = RNNsearch, precision: str = "fp32", **changes: Any
) -> ModelRun:
    """Return a run on pairs of up to 30 words. It is saved often; other settings are those of `config.yaml`."""
    architecture, training = settings(kind.family, kind.units, setup.sizes(26), setup.machine(precision))
    every = {"validate_every": 10**9, "log_every": 10, "checkpoint_every": 3 if setup.tiny else 10}
    values = training.model_dump() | every | {"patience": None, "keep": "last"} | changes
    return ModelRun.model_validate(
        {"model": "check", "label": "check", "family": kind.family, "max_words": 30, "seed": 1, "continue_from": None,
         "architecture": architecture.model_dump(), "training": values}
    )  # fmt: skip


def write_text(folder: Path, pairs: int, setup: Setup) -> Bitext:
    """Write drawn pairs, and return them as ids. A target is its source backwards, with another word for each word."""
    words = setup.sizes(26).vocabulary - 2
    vocabulary = Vocabulary([(f"w{number}", words - number) for number in range(words)])
    drawn, generator = draw(Sizes(30, pairs, vocabulary=words + 2), 0)[0], np.random.default_rng(1)
    lengths = generator.integers(3, 8 if setup.tiny else 29, pairs)
    for side in ("source", "target"):
        with write_lines(folder / f"{side}.txt") as writer:
            for row, length in zip(drawn, lengths, strict=True):
                ids = [(int(word) - 4) % words for word in row[:length]]
                ids = [(7 * word + 3) % words for word in reversed(ids)] if side == "target" else ids
                writer.write(" ".join(f"w{number}" for number in ids))
    sides = {"drawn": [(folder / "source.txt", folder / "target.txt")]}
    return binarize(sides, vocabulary, vocabulary, folder / "text")


def memory(setup: Setup) -> Figures:
    """Measure the most GB that updates take at 26 positions and at each paper's most, and a validation at 100."""
    setup.need_gpu("a figure of a GPU's memory")
    return {kind.family: most_memory(kind, setup) for kind in FAMILIES}


def most_memory(kind: type[Project], setup: Setup) -> Figures:
    """Measure `memory` for one family. The deep LSTM has its paper's batches of 128 pairs of up to 201 positions."""
    gc.collect()
    torch.cuda.empty_cache()
    longest = {RNNsearch: 51, RNNencdec: 51, GrConv: 31, DeepLSTM: 201}[kind]
    # as many weights as with 160,000 source and 80,000 target words
    changes = {"batch": 128, "embedding": 1000, "vocabulary": 106_667} if kind is DeepLSTM else {}
    made = kind(replace(setup.sizes(longest), **changes), setup.machine())
    found: Figures = {}

    def peak(name: str, work: Callable[[], object]) -> None:
        torch.cuda.reset_peak_memory_stats()
        work()
        torch.cuda.synchronize()
        found[name] = {
            "allocated": torch.cuda.max_memory_allocated() / 1e9,
            "reserved": torch.cuda.max_memory_reserved() / 1e9,
        }

    def batch(length: int, number: int) -> Batch:
        return made.batch(*draw(replace(setup.sizes(length), **changes), number))

    def updates(length: int) -> None:
        for number in range(4):
            made.updater(batch(length, number))

    for length in (26, longest):
        peak(f"updates at {length}", partial(updates, length))
    with torch.no_grad():
        peak("validation at 100", lambda: sentence_nll(made.model, batch(100, 0).to(made.device)))
    return found


def out_of_memory(setup: Setup) -> Figures:
    """Check that a batch that does not fit into memory ends with one line for the user."""
    setup.need_gpu("running out of a GPU's memory")
    torch.cuda.set_per_process_memory_fraction(1.3e9 / torch.cuda.get_device_properties(0).total_memory)
    with tempfile.TemporaryDirectory() as folder:
        text = write_text(Path(folder), 4000, setup)
        try:
            with memory_errors("a training update"):
                trained(model_run(setup, updates=60), text, setup, Path(folder) / "state")
        except UserError as error:
            assert "\n" not in str(error) and "out of memory" in str(error), error
            return {"said": str(error)}
    raise AssertionError("1.3 GB were enough")


def speed(setup: Setup) -> Figures:
    """Measure an update of RNNsearch, RNNencdec and JoeyNMT, in turns, in milliseconds, by precision and length."""
    found: Figures = {}
    for precision in PRECISIONS:
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "training.json"
            options = ["--contenders", "rnnsearch", "rnnencdec"] + ([] if setup.tiny else ["joeynmt"])
            options += [
                "--rounds",
                "1" if setup.tiny else "3",
                "--lengths",
                *(["6"] if setup.tiny else ["26", "51"]),
            ]
            run_benchmark("training", setup, output, ["--precision", precision, *options])
            for length, figures in json.loads(output.read_text("utf-8"))["lengths"].items():
                for name, values in figures["contenders"].items():
                    found[f"{name} {length} {precision}"] = {
                        "ms": 1e3 * values["seconds"],
                        "peak_gpu_bytes": values["peak_gpu_bytes"],
                    }
    return found


def decoding(setup: Setup) -> Figures:
    """Measure the seconds of beam search and of JoeyNMT's, at beam 10, for as many sentences as news-test-2014 has."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "decoding.json"
        sentences = "6" if setup.tiny else "3003"
        run_benchmark("decoding", setup, output, ["--drawn", "--sentences", sentences, "--beams", "10"])
        found: Figures = json.loads(output.read_text("utf-8"))["beams"]["10"]
        return found


def run_benchmark(name: str, setup: Setup, output: Path, options: list[str]) -> None:
    """Run `benchmarks.NAME` on the device of the setup, and at its sizes if it is tiny."""
    sizes = setup.sizes(26)
    options = [*options, "--device", setup.device, "--output", str(output)]
    if setup.tiny:
        tiny = {
            name: getattr(sizes, name) for name in ("batch", "hidden", "embedding", "maxout", "vocabulary")
        }
        options += [f"--{name}={value}" for name, value in tiny.items()]
        options += ["--threads=1", "--environments=/dev/null"]
        options += ["--square=32"] if name == "training" else []
    command = [sys.executable, "-m", f"benchmarks.{name}", *options, f"--pip-options={setup.pip_options}"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]


def precisions(setup: Setup) -> Figures:
    """Check that the training NLL of the last 100 updates in TF32 and bf16 is within 0.5% of that in fp32."""
    updates = 20 if setup.tiny else 2000
    found: Figures = {"updates": updates}
    with tempfile.TemporaryDirectory() as folder:
        text = write_text(Path(folder), 400 if setup.tiny else 40_000, setup)
        for precision in PRECISIONS:
            state = Path(folder) / precision
            trained(
                model_run(setup, precision=precision, updates=updates, checkpoint_every=10**9),
                text,
                setup,
                state,
            )
            lines = [json.loads(line) for line in (state / "history.jsonl").read_text("utf-8").splitlines()]
            nlls = [line["train_nll"] for line in lines if "train_nll" in line]
            found[precision] = sum(nlls[-10:]) / len(nlls[-10:])
    for precision in PRECISIONS[1:]:
        apart = abs(found[precision] / found["fp32"] - 1)
        assert apart < 0.005, f"{precision}: {apart:.2%} from fp32: {found}"
    return found


CHECKS: dict[str, Callable[[Setup], Figures]] = {
    check.__name__.replace("_", "-"): check
    for check in (tests, recorded, compiled, resume, out_of_memory, memory, speed, decoding, precisions)
}


def main() -> None:
    """Make one check, and print its result as a line of JSON. With `train`, run the training that `resumed` kills."""
    setup = Setup(**json.loads(sys.argv[2]))
    if sys.argv[1] == "train":
        folder = Path(sys.argv[3])
        text = Bitext.open(folder / "text")
        run = ModelRun.model_validate_json((folder / "run.json").read_text("utf-8"))
        trained(run, text, setup, folder / "broken")
        return
    found: Figures
    try:
        found = {"result": "passed", "figures": CHECKS[sys.argv[1]](setup)}
    except NotRun as error:
        found = {"result": "not run", "reason": str(error)}
    except Exception as error:
        lines = re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")
        found = {"result": "failed", "reason": lines[-1000:]}
    print(json.dumps(found))


if __name__ == "__main__":
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    main()
