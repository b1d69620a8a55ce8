"""Translates a tokenized test set, and measures its given translations: attention and perplexity."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch

import nmt
from nmt.backend.device import device_name
from nmt.data.batches import batches_by_length
from nmt.data.tokenization import TokenText
from nmt.data.vocabulary import UNKNOWN, Vocabulary
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.forced_decoding import score_translations
from nmt.decoding.formats import details, rounded
from nmt.decoding.translator import Translator, translation
from nmt.evaluation.translations import split_words
from nmt.io.journal import Journal
from nmt.io.progress import Progress
from nmt.io.system import cpu_model
from nmt.io.text_files import read_lines, read_pairs, write_lines
from nmt.settings.decoding import Average, Decoding
from nmt.store.trained_model import TrainedModel

Mode = Literal["all", "no_unk"]


class Sentence(NamedTuple):
    """A line of the test set (0-based) with its tokens."""

    line: int
    source: list[str]
    reference: list[str]


class Translated(NamedTuple):
    """Numbers of translated sentences and of seconds; `resumed`: a killed process has translated some of them."""

    sentences: int
    seconds: float
    resumed: bool


def read_sentences(source: Path, reference: Path | None) -> list[Sentence]:
    """Read all lines of a test set. Without a reference, those of the sentences are empty."""
    pairs = read_pairs(source, reference) if reference else ((line, "") for line in read_lines(source))
    return [Sentence(line, split_words(one), split_words(other)) for line, (one, other) in enumerate(pairs)]


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
    first = models[0]
    sentences = read_sentences(source, reference)
    if mode == "no_unk":
        sentences = [
            sentence
            for sentence in sentences
            if in_vocabulary(sentence.source, first.source)
            and in_vocabulary(sentence.reference, first.target)
        ]
    forbid_unknown = mode == "no_unk" or decoding.unknown == "excluded"
    translator = Translator(models, decoding, forbid_unknown, average=average)
    records: dict[int, dict[str, Any]] = {}
    with (
        Journal(output, checksum(translator, sentences)) as journal,
        Progress(len(sentences), "sentences", f"translate ({mode})") as progress,
    ):
        lengths = [len(sentence.source) for sentence in sentences]
        for number, places in enumerate(batches_by_length(lengths, decoding.batch_size)):
            group = [sentences[place] for place in places]
            if number not in journal.done:
                n_best = translator.batch([sentence.source for sentence in group])
                pairs = zip(group, n_best, strict=True)
                journal.add(number, [record(first, sentence, hypotheses) for sentence, hypotheses in pairs])
            records |= zip(places, journal.done[number], strict=True)
            progress.update(len(group))
        write_records(output, (records[place] for place in range(len(sentences))))
        journal.remove()
    return Translated(len(sentences), journal.seconds, journal.resumed)


def checksum(translator: Translator, sentences: Sequence[Sentence]) -> str:
    """Return a checksum of everything that determines the translations, including the machine's arithmetic."""
    facts = [models_checksum(translator.models), translator.forbid_unknown, translator.average]
    facts += [translator.decoding.model_dump(mode="json"), [sentence[:2] for sentence in sentences]]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def models_checksum(models: Sequence[TrainedModel]) -> str:
    """Return a checksum of the weights, the code and the machine."""
    total = hashlib.sha256()
    for model in models:
        total.update(model.run.architecture.model_dump_json().encode())
        total.update(f"{model.source.sha256} {model.target.sha256}".encode())
        for weight in model.network.state_dict().values():
            total.update(weight.cpu().contiguous().numpy())
    device = device_name(models[0].device)
    total.update(json.dumps([nmt.__version__, device, cpu_model(), torch.__version__]).encode())
    return total.hexdigest()


def record(model: TrainedModel, sentence: Sentence, hypotheses: Sequence[Hypothesis]) -> dict[str, Any]:
    """Return one line of a file of translations. Its alignment has a row and a column for the end symbols."""
    source = " ".join(sentence.source)
    n_best = [
        translation(model, source, [sentence.source], [hypothesis], text=TokenText(), with_ends=True)
        for hypothesis in hypotheses
    ]
    best = details(n_best[0])
    del best["text"]  # of tokens nobody knows the language here
    alignment = best.pop("alignment")
    return {
        "line": sentence.line,
        "source_tokens": sentence.source,
        **best,
        "source_unknown": model.source.ids(sentence.source).count(UNKNOWN),
        "n_best": [{"tokens": one.tokens, "log_probability": one.score} for one in n_best],
        "alignment": alignment,
    }


def align_file(model: TrainedModel, source: Path, target: Path, batch_size: int, output: Path) -> None:
    """Write the attention of the model while it is fed given translations (teacher forcing).

    It is alpha_ij of each pair: rows are target words and the end symbol, columns source words and the end symbol. It
    is null for a model without attention.
    """
    sentences = read_sentences(source, target)
    scored = score_translations([model], [(one, other) for _, one, other in sentences], batch_size)
    records = (
        {
            "line": sentence.line,
            "source_tokens": sentence.source,
            "tokens": sentence.reference,
            "alignment": None if forced.attention is None else rounded(forced.attention),
        }
        for sentence, forced in zip(sentences, scored, strict=True)
    )
    write_records(output, records)


def write_records(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object per line."""
    with write_lines(path) as writer:
        for entry in records:
            writer.write(json.dumps(entry, ensure_ascii=False))


# --- perplexity -------------------------------------------------------------------------------------------------------

_DIGITS = 6


def measure_perplexity(
    models: Sequence[TrainedModel],
    source: Path,
    reference: Path,
    batch_size: int,
    average: Average = "probability",
) -> dict[str, Any]:
    """Return sentences, words (with end symbols), log-probability in nats, and perplexity (None for an empty text).

    Perplexity is exp of the mean NLL of a word (Sutskever et al., 2014, Sec. 3.3). All words of the reference and the
    end symbol of each line count; those that are not in the vocabulary count as the unknown word.
    """
    pairs = [(one, other) for _, one, other in read_sentences(source, reference)]
    scored = score_translations(models, pairs, batch_size, attention=False, average=average)
    count = sum(len(forced.word_log_probabilities) for forced in scored)
    total = math.fsum(forced.log_probability for forced in scored)
    return {
        "sentences": len(scored),
        "words": count,
        "log_probability": round(total, _DIGITS),
        "perplexity": round(math.exp(-total / count), _DIGITS) if count else None,
    }
