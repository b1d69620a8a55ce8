"""Translates a tokenised test set, and computes the attention between given pairs. Results are JSON lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

import nmt
from nmt.backend.device import device_name
from nmt.data.vocabulary import UNKNOWN, Vocabulary
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.ensemble import search
from nmt.decoding.forced_decoding import ForcedScores, score_batch
from nmt.evaluation.translations import words as split_words
from nmt.io.journal import Journal
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, read_pairs, write_lines
from nmt.settings.decoding import Average, Decoding
from nmt.store.trained_model import TrainedModel

Mode = Literal["all", "no_unk"]
Matrix = list[list[float]]
DIGITS = 5
"""Decimals of alignment weights and of log-probabilities of words."""


@dataclass(frozen=True)
class Sentence:
    """A line of the test set (0-based) with its tokens."""

    line: int
    source: list[str]
    reference: list[str] | None = None


@dataclass(frozen=True)
class Translated:
    """Numbers of translated sentences and of seconds; `resumed`: a killed process has translated some of them."""

    sentences: int
    seconds: float
    resumed: bool


def read_sentences(source: Path, reference: Path | None) -> list[Sentence]:
    """Read all lines of a test set."""
    if reference is None:
        return [Sentence(line, split_words(text)) for line, text in enumerate(read_lines(source))]
    pairs = enumerate(read_pairs(source, reference))
    return [Sentence(line, split_words(text), split_words(other)) for line, (text, other) in pairs]


def without_unknown(sentences: Sequence[Sentence], model: TrainedModel) -> list[Sentence]:
    """Return the sentences without an unknown word in source and reference: the second column of Table 1."""
    return [
        sentence
        for sentence in sentences
        if in_vocabulary(sentence.source, model.source)
        and in_vocabulary(sentence.reference or [], model.target)
    ]


def in_vocabulary(tokens: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Return whether every token is in the vocabulary."""
    return UNKNOWN not in vocabulary.ids(tokens)


def translate_file(
    models: Sequence[TrainedModel],
    source: Path,
    reference: Path | None,
    mode: Mode,
    decoding: Decoding,
    output: Path,
    average: Average = "probability",
) -> Translated:
    """Translate a test set with one model or an ensemble (for `average`, see `ensemble`).

    `all` translates every line; `decoding` says whether the unknown word is allowed. `no_unk` translates only the lines
    without an unknown word in source and reference, and forbids the unknown word (Table 1).

    Finished batches are stored beside `output`. If the process is killed, the same call resumes after them, and its
    output has the same bytes.
    """
    forbid_unknown = mode == "no_unk" or decoding.unknown == "excluded"
    sentences = read_sentences(source, reference)
    if mode == "no_unk":
        sentences = without_unknown(sentences, models[0])
    groups = list(by_length(sentences, decoding.batch_size))
    with (
        Journal(output, made_from(models, sentences, decoding, forbid_unknown, average)) as part,
        Progress(len(sentences), "sentences", f"translate ({mode})") as progress,
    ):
        for number, group in enumerate(groups):
            if number not in part.done:
                part.add(number, translate_group(models, group, decoding, forbid_unknown, average))
            progress.update(len(group))
        found = {record["line"]: record for records in part.done.values() for record in records}
        write_records(output, [found[sentence.line] for sentence in sentences])
        part.remove()
    return Translated(len(sentences), part.seconds, part.resumed)


def made_from(
    models: Sequence[TrainedModel],
    sentences: Sequence[Sentence],
    decoding: Decoding,
    forbid_unknown: bool,
    average: Average = "probability",
) -> str:
    """Return a checksum of everything that determines the translations, including the machine's arithmetic."""
    total = hashlib.sha256(models_checksum(models).encode())
    total.update(json.dumps([forbid_unknown, average]).encode())
    total.update(decoding.model_dump_json().encode())
    total.update(json.dumps([[sentence.line, sentence.source] for sentence in sentences]).encode())
    return total.hexdigest()


def models_checksum(models: Sequence[TrainedModel]) -> str:
    """Return a checksum of the weights, the code and the machine."""
    total = hashlib.sha256()
    for model in models:
        total.update(model.run.architecture.model_dump_json().encode())
        total.update(f"{model.source.sha256} {model.target.sha256}".encode())
        for weight in model.network.state_dict().values():
            total.update(weight.cpu().contiguous().numpy())
    device = device_name(models[0].device)
    total.update(json.dumps([nmt.__version__, device, torch.__version__]).encode())
    return total.hexdigest()


def by_length(sentences: Sequence[Sentence], size: int) -> Iterator[list[Sentence]]:
    """Return groups of sentences of similar length."""
    ordered = sorted(sentences, key=lambda sentence: len(sentence.source))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


@torch.no_grad()
def translate_group(
    models: Sequence[TrainedModel],
    group: Sequence[Sentence],
    decoding: Decoding,
    forbid_unknown: bool,
    average: Average = "probability",
) -> list[dict[str, Any]]:
    """Translate one batch of sentences, and return the records."""
    sources = [sentence.source for sentence in group]
    n_best = search(models, sources, decoding, forbid_unknown, average)
    chosen = [models[0].target.words(hypotheses[0].words) for hypotheses in n_best]
    scored = score_batch(models, sources, chosen, average=average)
    return [
        record(models[0], sentence, hypotheses, forced)
        for sentence, hypotheses, forced in zip(group, n_best, scored, strict=True)
    ]


def record(
    model: TrainedModel, sentence: Sentence, n_best: Sequence[Hypothesis], forced: ForcedScores
) -> dict[str, Any]:
    """Return one line of a file of translations. `forced` has the scores of the best hypothesis and an end symbol."""
    hypothesis = n_best[0]
    tokens = model.target.words(hypothesis.words)
    read_words = len(tokens) + hypothesis.finished
    weights = forced.attention
    return {
        "line": sentence.line,
        "source": " ".join(sentence.source),
        "text": " ".join(tokens),
        "tokens": tokens,
        "log_probability": hypothesis.log_probability,
        "word_log_probabilities": forced.word_log_probabilities[:read_words].round(DIGITS).tolist(),
        "finished": hypothesis.finished,
        "source_unknown": model.source.ids(sentence.source).count(UNKNOWN),
        "n_best": [
            {"text": " ".join(model.target.words(h.words)), "log_probability": h.log_probability}
            for h in n_best
        ],
        "alignment": None if weights is None else rounded(weights[:read_words]),
    }


def rounded(weights: NDArray[np.float32]) -> Matrix:
    """Return the attention rounded for the file."""
    matrix: Matrix = weights.astype(np.float64).round(DIGITS).tolist()
    return matrix


def align_file(model: TrainedModel, source: Path, target: Path, batch_size: int, output: Path) -> None:
    """Write the attention of the model while it is fed given translations (teacher forcing).

    It is alpha_ij of each pair: rows are target words and the end symbol, columns source words and the end symbol. It
    is null for a model without attention.
    """
    sentences = read_sentences(source, target)
    found: dict[int, dict[str, Any]] = {}
    for group in by_length(sentences, batch_size):
        targets = [sentence.reference or [] for sentence in group]
        scored = score_batch([model], [sentence.source for sentence in group], targets)
        for sentence, target_words, forced in zip(group, targets, scored, strict=True):
            found[sentence.line] = {
                "line": sentence.line,
                "source": " ".join(sentence.source),
                "target": " ".join(target_words),
                "alignment": None if forced.attention is None else rounded(forced.attention),
            }
    write_records(output, [found[sentence.line] for sentence in sentences])


def write_records(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Write one JSON object per line."""
    with write_lines(path) as writer:
        for entry in records:
            writer.write(json.dumps(entry, ensure_ascii=False))
