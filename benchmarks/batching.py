"""Whether a run's translations depend on what they were decoded beside: `make EXPERIMENT=FOLDER bench-batching`.

Usage: python -m benchmarks.batching FOLDER [--models NAME [NAME ...]] [--sentences N] [--batches N [N ...]] ...

FOLDER is a run: its models decode the test set again as they are set to, in 32 bits in batches of each size by length
and in batches of the largest size in a drawn order; in 64 bits in the last two. Counted are translations that are not
those of the first arrangement, and those of them whose two scores (what translations are ranked by) are 1e-5 or more
apart: no tie that the last digits decide. Prints the counts and writes benchmarks/results/batching.json.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.findings import publish
from nmt.config.schema import Decoding
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.forced_decoding import make_batch
from nmt.decoding.test_set import ReadSources
from nmt.evaluation.translations import words
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines
from nmt.model import trained_model
from nmt.model.memory import keep_freed_memory
from nmt.model.trained_model import TrainedModel
from nmt.training.trainer import make_deterministic

OUTPUT = Path(__file__).parent / "results" / "batching.json"
NEAR = 1e-5
Words = list[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Decode, compare, print and write; 1 where the run has nothing to decode."""
    options = parse(arguments)
    make_deterministic(options.threads)
    keep_freed_memory()
    names = options.models or sorted(path.name for path in (options.run / "models").glob("*"))
    missing = [path for path in (translations(options.run, name) for name in names) if not path.is_file()]
    if missing or not names:
        what = ", ".join(map(str, missing)) or f"{options.run}/models holds no model"
        print(f"error: not there: {what}; make the run first", file=sys.stderr)
        return 1
    found = {
        "machine": {"machine": platform.machine(), "threads": options.threads, "torch": torch.__version__},
        "run": options.run.name,
        "near": NEAR,
        "models": {name: of_model(options, name) for name in names},
    }
    publish(found, options.output)
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Options."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.batching",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "run", type=Path, metavar="FOLDER", help="a finished run, such as experiments/multi30k"
    )
    parser.add_argument("--models", nargs="+", metavar="NAME", help="(all of the run)")
    parser.add_argument("--sentences", type=int, metavar="N", help="the first of the test set (all)")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 16, 64], metavar="N", help="(1 16 64)")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="(2)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="(%(default)s)")
    return parser.parse_args(arguments)


def translations(run: Path, name: str) -> Path:
    """What a run's model has made of the test set; its records hold the sources."""
    return run / "translations" / f"{name}.all.jsonl"


def of_model(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """The counts of one model."""
    folder = options.run / "models" / name
    model, decoding = (
        trained_model.load(folder, torch.device("cpu")),
        trained_model.text_settings(folder).decoding,
    )
    records = list(map(json.loads, read_lines(translations(options.run, name))))[: options.sentences]
    sources = [words(record["source"]) for record in records]
    orders = arrangements(sources, options.batches)
    single = {label: decoded(model, sources, order, decoding) for label, order in orders.items()}
    model.translator.double()
    twice = list(orders)[-2:]
    double = {label: decoded(model, sources, orders[label], decoding) for label in twice}
    return {
        "sentences": len(sources),
        "beam": decoding.beam,
        "float32": against_first(single, decoding),
        "float64": against_first(double, decoding),
        "float32_against_float64": compared(single[twice[0]], double[twice[0]], decoding),
    }


def arrangements(sources: Sequence[Words], sizes: Sequence[int]) -> dict[str, list[list[int]]]:
    """Batches, as places of sentences: of each size by length, and at last of the largest in a drawn order."""
    by_length = sorted(range(len(sources)), key=lambda place: len(sources[place]))
    drawn = random.Random(1).sample(by_length, len(by_length))
    found = {str(size): cut(by_length, size) for size in sorted(sizes)}
    return found | {f"{max(sizes)}, drawn order": cut(drawn, max(sizes))}


def cut(places: Sequence[int], size: int) -> list[list[int]]:
    """Batches of so many."""
    return [list(places[start : start + size]) for start in range(0, len(places), size)]


@torch.no_grad()
def decoded(
    model: TrainedModel, sources: Sequence[Words], order: Sequence[Sequence[int]], decoding: Decoding
) -> list[Hypothesis]:
    """The best translation of each source, as `nmt decode` finds it, in the model's own precision."""
    found: dict[int, Hypothesis] = {}
    dtype = next(model.translator.parameters()).dtype
    with Progress(len(sources), "sentences", f"{model.run.label}, {dtype}, {len(order)} batches") as progress:
        for places in order:
            group = [sources[place] for place in places]
            batch = make_batch(model, group, [[] for _ in group])
            encoded = model.translator.encode(batch.source, batch.source_mask.to(dtype))
            read = ReadSources(model.translator, encoded, np.array(list(map(len, group))))
            n_best = read.search(decoding, decoding.unknown == "excluded")
            found |= {place: hypotheses[0] for place, hypotheses in zip(places, n_best, strict=True)}
            progress.update(len(group))
    return [found[place] for place in range(len(sources))]


def against_first(found: dict[str, list[Hypothesis]], decoding: Decoding) -> dict[str, dict[str, int]]:
    """Each other arrangement beside the first."""
    (_, first), *others = found.items()
    return {label: compared(first, other, decoding) for label, other in others}


def compared(first: Sequence[Hypothesis], second: Sequence[Hypothesis], decoding: Decoding) -> dict[str, int]:
    """How many translations differ, and how many of these by a score that no rounding explains."""
    normalize = decoding.normalize_by_length
    apart = [
        abs(one.score(normalize) - other.score(normalize))
        for one, other in zip(first, second, strict=True)
        if one.words != other.words
    ]
    return {"differ": len(apart), "apart": sum(distance >= NEAR for distance in apart)}


if __name__ == "__main__":
    sys.exit(main())
