"""Translates a tokenized test set, and measures its given translations: attention and perplexity."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from nmt.data.batches import map_in_batches
from nmt.data.vocabulary import UNKNOWN, Vocabulary
from nmt.decoding.beam_search import Hypothesis
from nmt.decoding.forced_decoding import score_translations
from nmt.decoding.formats import DIGITS, round_attention
from nmt.decoding.translator import SentenceTranslator, score_hypothesis
from nmt.evaluation.translations import TranslationRecord, split_words
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, read_pairs, write_lines
from nmt.settings.decoding import Average, Decoding
from nmt.store.trained_model import TrainedModel


def read_sentences(source: Path, reference: Path | None) -> list[TranslationRecord]:
    """Return all sentences of a test set. Their target is the reference, or empty if there is none."""
    pairs = read_pairs(source, reference) if reference else ((line, "") for line in read_lines(source))
    return [
        TranslationRecord(line=number, source=split_words(source_line), target=split_words(reference_line))
        for number, (source_line, reference_line) in enumerate(pairs)
    ]


# --- translations -----------------------------------------------------------------------------------------------------


def translate_file(
    models: Sequence[TrainedModel],
    source: Path,
    reference: Path | None,
    mode: Literal["all", "no_unk"],
    decoding: Decoding,
    output: Path,
    average: Average = "probability",
) -> dict[str, Any]:
    """Translate a test set with one model or an ensemble. Return its numbers of `sentences` and of `seconds`.

    Args:
        models: models that share their vocabularies.
        source: the tokenized test set.
        reference: the reference of the test set, which `no_unk` needs.
        mode: `all` translates every line; `decoding` says whether the unknown word is allowed. `no_unk` translates only
            the lines without an unknown word in source and reference, and forbids the unknown word (Table 1).
        output: file for the translations, one JSON line per sentence.
        average: whether an ensemble averages probabilities or their logarithms, see `ensemble`.
    """
    # 1. choose the sentences for this mode
    model = models[0]
    sentences = read_sentences(source, reference)
    if mode == "no_unk":
        sentences = [
            sentence
            for sentence in sentences
            if is_in_vocabulary(sentence.source, model.source_vocabulary)
            and is_in_vocabulary(sentence.target, model.target_vocabulary)
        ]
    forbid_unknown = mode == "no_unk" or decoding.unknown == "excluded"
    translator = SentenceTranslator(models, decoding, forbid_unknown, average=average)

    # 2. translate them, and write the file in the order of the test set
    start_time = time.monotonic()
    entries = translate_sentences(translator, sentences, label=f"translate ({mode})")
    _write_json_lines(output, entries)
    return {"sentences": len(sentences), "seconds": round(time.monotonic() - start_time, 3)}


def translate_sentences(
    translator: SentenceTranslator, sentences: Sequence[TranslationRecord], label: str
) -> list[dict[str, Any]]:
    """Return the JSON object of each sentence (`describe_sentence`). Sentences of similar length are one batch."""
    with Progress(len(sentences), "sentences", label) as progress:

        def translate_batch(batch: list[TranslationRecord]) -> list[dict[str, Any]]:
            n_best_lists = translator.search_batch([sentence.source for sentence in batch])
            progress.update(len(batch))
            return [
                describe_sentence(translator.models[0], sentence, hypotheses)
                for sentence, hypotheses in zip(batch, n_best_lists, strict=True)
            ]

        lengths = [len(sentence.source) for sentence in sentences]
        return map_in_batches(translate_batch, sentences, lengths, translator.decoding.batch_size)


def is_in_vocabulary(tokens: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Return whether every token is in the vocabulary."""
    return UNKNOWN not in vocabulary.ids(tokens)


def describe_sentence(
    model: TrainedModel, sentence: TranslationRecord, hypotheses: Sequence[Hypothesis]
) -> dict[str, Any]:
    """Return the JSON object of a sentence. Its alignment has a row and a column for the end symbols."""
    best_hypothesis = hypotheses[0]
    tokens, scores = score_hypothesis(model, sentence.source, best_hypothesis)
    return {
        "line": sentence.line,
        "source_tokens": sentence.source,
        "tokens": tokens,
        "log_probability": best_hypothesis.log_probability,
        "word_log_probabilities": [round(value, DIGITS) for value in scores.word_log_probabilities.tolist()],
        "finished": best_hypothesis.finished,
        "source_unknown": model.source_vocabulary.ids(sentence.source).count(UNKNOWN),
        "n_best": [
            {
                "tokens": model.target_vocabulary.words(hypothesis.ids),
                "log_probability": hypothesis.log_probability,
            }
            for hypothesis in hypotheses
        ],
        "alignment": None if scores.attention is None else round_attention(scores.attention),
    }


def _write_json_lines(path: Path, entries: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object per line."""
    with write_lines(path) as writer:
        for entry in entries:
            writer.write(json.dumps(entry, ensure_ascii=False))


# --- given translations -----------------------------------------------------------------------------------------------

_DIGITS = 6


def align_file(model: TrainedModel, source: Path, target: Path, batch_size: int, output: Path) -> None:
    """Write the attention of the model while it is fed given translations (teacher forcing).

    Each line has the matrix alpha_ij of a pair: rows are target words and the end symbol, columns source words and the
    end symbol. The matrix is null for a model without attention.
    """
    sentences = read_sentences(source, target)
    pairs = [(sentence.source, sentence.target) for sentence in sentences]
    word_scores = score_translations([model], pairs, batch_size)
    # a generator, so that only one matrix at a time is converted to Python's numbers, which take much memory
    entries = (
        {
            "line": sentence.line,
            "source_tokens": sentence.source,
            "tokens": sentence.target,
            "alignment": None if scores.attention is None else round_attention(scores.attention),
        }
        for sentence, scores in zip(sentences, word_scores, strict=True)
    )
    _write_json_lines(output, entries)


def measure_perplexity(
    models: Sequence[TrainedModel],
    source: Path,
    reference: Path,
    batch_size: int,
    average: Average,
) -> dict[str, Any]:
    """Return the numbers of sentences and of words, log-probability in nats, and perplexity (None for an empty text).

    Perplexity is exp of the mean NLL of a word (Sutskever et al., 2014, Sec. 3.3). All words of the reference and the
    end symbol of each line count. Words that are not in the vocabulary count as the unknown word.
    """
    pairs = [(sentence.source, sentence.target) for sentence in read_sentences(source, reference)]
    scores = score_translations(models, pairs, batch_size, keep_attention=False, average=average)
    word_count = sum(len(sentence_scores.word_log_probabilities) for sentence_scores in scores)
    log_probability = math.fsum(sentence_scores.log_probability for sentence_scores in scores)
    return {
        "sentences": len(scores),
        "words": word_count,
        "log_probability": round(log_probability, _DIGITS),
        "perplexity": round(math.exp(-log_probability / word_count), _DIGITS) if word_count else None,
    }
