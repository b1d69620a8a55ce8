"""How much text the selection keeps where a held-out text decides: as much as makes its perplexity lowest, as in XenC.

For each share of a grid the best pairs up to this share of all target words are taken, a language model of each side is
trained on them, and the held-out text's cross-entropies are summed over both sides. Unknown words count: models are
padded to one size of vocabulary, so that what they leave for unknown words can be compared (KenLM's --vocab_pad).
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.data.selection import language_models
from nmt.data.selection.cross_entropy import ScoredShard, apply, choose_threshold
from nmt.errors import UserError
from nmt.io.files import read_json, write_json
from nmt.io.text_files import read_lines

VOCABULARY = 10_000_000
"""Words to which every candidate's model is padded: more than any text here has."""

Sides = tuple[Path, Path]


@dataclass(frozen=True)
class CandidateShard:
    """A shard of training text: its scores and its tokens."""

    scored: ScoredShard
    sides: Sides


@dataclass(frozen=True)
class Training:
    """How language models are trained."""

    order: int
    discount_fallback: bool
    memory_mb: int
    programs: Path | None


def candidate(
    shards: Sequence[CandidateShard],
    share: float,
    held_out: Sequence[Sides],
    training: Training,
    output: Path,
) -> dict[str, Any]:
    """Write what a model of the best `share` of all target words makes of the held-out text.

    The selected text and what lmplz sorts lie on the disk for as long as this takes. Memory does not grow with the
    corpus, nor do the models: of each only what the held-out text needs is kept.
    """
    if not 0 < share <= 1:
        raise UserError(f"cut-candidate: share is {share}, expected more than 0 and at most 1")
    budget = round(share * sum(_words(shard.scored) for shard in shards))
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}.") as folder:
        work = Path(folder)
        threshold = choose_threshold([shard.scored for shard in shards], budget, work / "threshold.json")
        parts: dict[str, list[Sides]] = {}
        for place, (shard, number) in enumerate(_numbered(shards)):
            taken = _take(shard, number, place, threshold, work)
            parts.setdefault(shard.scored.corpus, []).append(taken)
        entropies = [
            _cross_entropy(
                {corpus: [sides[side] for sides in taken] for corpus, taken in parts.items()},
                [pair[side] for pair in held_out],
                training,
                work,
            )
            for side in (0, 1)
        ]
    found = {
        "share": share,
        "target_words": threshold.target_words,
        "pairs": threshold.pairs,
        "perplexity": [math.exp(entropy) for entropy in entropies],
        "cross_entropy": sum(entropies),
    }
    write_json(output, found)
    return found


def _words(shard: ScoredShard) -> int:
    """Target words of a shard that can be taken."""
    return sum(words for _, words in read_json(shard.histogram)["scores"].values())


def _numbered(shards: Sequence[CandidateShard]) -> Iterable[tuple[CandidateShard, int]]:
    """Each shard with its number within its corpus."""
    seen: dict[str, int] = {}
    for shard in shards:
        number = seen.get(shard.scored.corpus, 0)
        seen[shard.scored.corpus] = number + 1
        yield shard, number


def _take(shard: CandidateShard, number: int, place: int, threshold: Any, folder: Path) -> Sides:
    """Write what is taken of a shard."""
    outputs = (folder / f"{place}.source.zst", folder / f"{place}.target.zst")
    apply(threshold, shard.scored.corpus, number, shard.scored.scores, shard.sides, outputs)
    return outputs


def _cross_entropy(
    text: language_models.Corpora, held_out: Sequence[Path], training: Training, folder: Path
) -> float:
    """Nats a word, end symbols and unknown words included, of a held-out side under a model of `text`."""
    lines = [line for file in held_out for line in read_lines(file) if line]
    if not lines:
        raise UserError(f"cut-candidate: no words in {', '.join(map(str, held_out))}; give held-out text")
    path = folder / "model.arpa"
    language_models.train_for(
        lines,
        text,
        training.order,
        path,
        training.discount_fallback,
        training.memory_mb,
        training.programs,
        padded_vocabulary=VOCABULARY,
    )
    model = language_models.load(path)
    words = sum(len(line.split()) + 1 for line in lines)
    return -math.log(10) * math.fsum(float(model.score(line)) for line in lines) / words


def choose(candidates: Sequence[Path], output: Path) -> dict[str, Any]:
    """Write the candidate with the lowest cross-entropy, the smaller of equals, and all of them beside it."""
    found = sorted((read_json(path) for path in candidates), key=lambda value: float(value["share"]))
    if not found:
        raise UserError("cut-choose: no candidates given")
    best: dict[str, Any] = min(found, key=lambda value: float(value["cross_entropy"]))
    write_json(output, {"chosen": best, "candidates": found})
    return best
