"""Translating a tokenised test set, and the attention between given pairs; results as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from nmt.batches import Batch, pad_pairs
from nmt.beam_search import Hypothesis, translate
from nmt.model_folder import TrainedModel
from nmt.progress import Progress
from nmt.records import words as split_words
from nmt.settings import Decoding
from nmt.text import read_lines, read_pairs, write_lines
from nmt.vocabulary import UNKNOWN, Vocabulary

Mode = Literal["all", "no_unk"]
Matrix = list[list[float]]
DIGITS = 5
"""Decimals of the alignment weights kept."""


@dataclass(frozen=True)
class Sentence:
    """A line of the test set (0-based) with its tokens."""

    line: int
    source: list[str]
    reference: list[str] | None = None


def read_sentences(source: Path, reference: Path | None) -> list[Sentence]:
    """All lines of a test set."""
    if reference is None:
        return [Sentence(line, split_words(text)) for line, text in enumerate(read_lines(source))]
    pairs = enumerate(read_pairs(source, reference))
    return [Sentence(line, split_words(text), split_words(other)) for line, (text, other) in pairs]


def without_unknown(sentences: Sequence[Sentence], model: TrainedModel) -> list[Sentence]:
    """The sentences without an unknown word in source and reference: Table 1's second column."""
    return [
        sentence
        for sentence in sentences
        if known(sentence.source, model.source) and known(sentence.reference or [], model.target)
    ]


def known(tokens: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Whether every token has an id of its own."""
    return UNKNOWN not in vocabulary.ids(tokens)


def translate_file(
    model: TrainedModel, source: Path, reference: Path | None, mode: Mode, decoding: Decoding, output: Path
) -> int:
    """Translate a test set; returns how many sentences were translated.

    `all` translates every line, the unknown word allowed or not as `decoding` says; `no_unk` only the lines without an
    unknown word in source and reference, and forbids it (Table 1).
    """
    forbid_unknown = mode == "no_unk" or decoding.unknown == "excluded"
    sentences = read_sentences(source, reference)
    if mode == "no_unk":
        sentences = without_unknown(sentences, model)
    found: dict[int, dict[str, Any]] = {}
    with Progress(len(sentences), "sentences", f"translate ({mode})") as progress:
        for group in by_length(sentences, decoding.batch_size):
            for record in translate_group(model, group, decoding, forbid_unknown):
                found[record["line"]] = record
            progress.update(len(group))
    write_records(output, [found[sentence.line] for sentence in sentences])
    return len(sentences)


def by_length(sentences: Sequence[Sentence], size: int) -> Iterator[list[Sentence]]:
    """Groups of sentences of like length."""
    ordered = sorted(sentences, key=lambda sentence: len(sentence.source))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


@torch.no_grad()
def translate_group(
    model: TrainedModel, group: Sequence[Sentence], decoding: Decoding, forbid_unknown: bool
) -> list[dict[str, Any]]:
    """Records of one batch of sentences."""
    device = next(model.translator.parameters()).device
    batch = make_batch(model, [s.source for s in group], [[] for _ in group]).to(device)
    encoded = model.translator.encode(batch.source, batch.source_mask)
    lengths = np.array([len(sentence.source) for sentence in group])
    n_best = translate(model.translator, encoded, lengths, decoding, forbid_unknown)
    chosen = [model.target.words(hypotheses[0].words) for hypotheses in n_best]
    matrices = attention(model, [s.source for s in group], chosen)
    return [
        record(model, sentence, hypotheses, matrix)
        for sentence, hypotheses, matrix in zip(group, n_best, matrices, strict=True)
    ]


def record(
    model: TrainedModel, sentence: Sentence, n_best: Sequence[Hypothesis], matrix: Matrix | None
) -> dict[str, Any]:
    """One line of a translations file."""
    hypothesis = n_best[0]
    tokens = model.target.words(hypothesis.words)
    if matrix is not None and not hypothesis.finished:
        matrix = matrix[:-1]
    return {
        "line": sentence.line,
        "source": " ".join(sentence.source),
        "text": " ".join(tokens),
        "tokens": tokens,
        "log_probability": hypothesis.log_probability,
        "finished": hypothesis.finished,
        "source_unknown": model.source.ids(sentence.source).count(UNKNOWN),
        "n_best": [
            {"text": " ".join(model.target.words(h.words)), "log_probability": h.log_probability}
            for h in n_best
        ],
        "alignment": matrix,
    }


def align_file(model: TrainedModel, source: Path, target: Path, batch_size: int, output: Path) -> None:
    """Write the attention of the model while it reads given translations (teacher forcing)."""
    sentences = read_sentences(source, target)
    found: dict[int, dict[str, Any]] = {}
    for group in by_length(sentences, batch_size):
        targets = [sentence.reference or [] for sentence in group]
        matrices = attention(model, [sentence.source for sentence in group], targets)
        for sentence, target_words, matrix in zip(group, targets, matrices, strict=True):
            found[sentence.line] = {
                "line": sentence.line,
                "source": " ".join(sentence.source),
                "target": " ".join(target_words),
                "alignment": matrix,
            }
    write_records(output, [found[sentence.line] for sentence in sentences])


@torch.no_grad()
def attention(
    model: TrainedModel, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]
) -> list[Matrix | None]:
    """alpha_ij of each pair: a row for each target word and the end symbol, a column for each source word and the end.

    None for models that do not align.
    """
    device = next(model.translator.parameters()).device
    batch = make_batch(model, sources, targets).to(device)
    _, weights = model.translator(batch.source, batch.source_mask, batch.target, batch.positions)
    if weights is None:
        return [None for _ in sources]
    end = model.run.architecture.source_end
    columns = weights.cpu().double().numpy().round(DIGITS).transpose(1, 0, 2)
    return [
        matrix[: len(target) + 1, : len(source) + end].tolist()
        for matrix, source, target in zip(columns, sources, targets, strict=True)
    ]


def make_batch(
    model: TrainedModel, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]
) -> Batch:
    """Tokens as a padded batch of ids."""
    return pad_pairs(
        [np.array(model.source.ids(tokens), dtype=np.uint16) for tokens in sources],
        [np.array(model.target.ids(tokens), dtype=np.uint16) for tokens in targets],
        model.run.architecture.source_end,
    )


def write_records(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """One JSON object a line."""
    with write_lines(path) as writer:
        for entry in records:
            writer.write(json.dumps(entry, ensure_ascii=False))
