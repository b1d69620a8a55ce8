"""The playground: a page in which trained models translate typed text word by word, in the browser.

The page needs no network. It computes RNNencdec and RNNsearch (model.js, text.js) from weights rounded to 16 or 8 bits.
"""

import base64
import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from nmt.data.tokenization import TextCodec
from nmt.data.vocabulary import SPECIALS, Vocabulary
from nmt.decoding.translator import choose_text_codecs
from nmt.evaluation.translations import split_words
from nmt.io.files import write_text
from nmt.io.text_files import read_pairs
from nmt.settings.base import read_settings
from nmt.settings.decoding import TextSettings
from nmt.settings.model_types import MODEL_TYPES_IN_BROWSER
from nmt.settings.training import ModelRun
from nmt.store.model_folder import SETTINGS, WEIGHTS
from nmt.store.tensors import round_to_float16
from nmt.store.trained_model import TrainedModel, load_models
from pipeline.results.html import render_template
from pipeline.results.playground.text_rules import collect_rules

SCRIPTS = ("text.js", "model.js", "card.js", "curve.js", "playground.js")
MAX_CLAUSES = 60
"""Maximum number of short test sentences in the page, which joins them to longer ones."""
CLAUSE_WORDS = range(4, 13)
"""Number of tokens of a short sentence, without the full stop."""
FULL_STOPS = (".", "。", "।")
Bits = Literal[16, 8]
"""Bits of a weight in the page. Vectors, such as biases, are few and always have 16 bits."""
MAX_INTEGER = 127
"""The integer that stands for the largest magnitude of a matrix in 8 bits."""
WORD_FOR_AND = {"de": "und", "en": "and", "es": "y", "fr": "et", "it": "e", "nl": "en", "pt": "e"}
"""The word between two clauses, after a comma. Other languages have only the comma."""


def write_playground(
    folders: Sequence[Path],
    text: TextSettings,
    source: Path,
    reference: Path,
    bits: Bits,
    megabytes: int,
    title: str,
    output: Path,
) -> str | None:
    """Write the page of the playground. If it cannot contain the models, it says why, and the reason is returned.

    Args:
        folders: a folder for each trained model; the models have the same vocabularies.
        text: languages, tokenization and decoding of the models.
        source, reference: the test set, tokenized. The page joins its short sentences to longer ones.
        bits: bits of a rounded weight.
        megabytes: the limit for the rounded weights of all models together.
        title: the title of the page.
        output: the HTML file.

    Raises:
        UserError: a folder has no model, or the vocabularies differ.
    """
    refusal = explain_refusal(folders, bits, megabytes)
    page = render_template(
        "playground/page.html",
        title=title,
        refusal=refusal,
        name=folders[0].name,  # without the path, since other machines do not have it
        data="" if refusal else _pack_data(folders, text, test_set=(source, reference), bits=bits),
        scripts=SCRIPTS,
    )
    write_text(output, page)
    return refusal


def explain_refusal(folders: Sequence[Path], bits: Bits, megabytes: int) -> str | None:
    """Return why the page cannot contain these models, or None if it can."""
    total_megabytes = 0.0
    for folder in folders:
        run = read_settings(ModelRun, folder / SETTINGS, "expected a model of this version")
        has_subwords = any(
            Vocabulary.read(folder / f"{side}.tsv").has_subwords for side in ("source", "target")
        )
        if run.model_type not in MODEL_TYPES_IN_BROWSER or has_subwords:
            return (
                f"This page computes {' and '.join(MODEL_TYPES_IN_BROWSER)} only, and without subword units."
            )
        # the file has 32 bits for each weight
        total_megabytes += (folder / WEIGHTS).stat().st_size * bits / 32 / 1e6
    if total_megabytes <= megabytes:
        return None
    return (
        f"The weights are too many for a page: {total_megabytes:,.0f} MB at {bits} bits, and a page takes "
        f"{megabytes:,} MB (playground.megabytes)."
    )


def _pack_data(folders: Sequence[Path], text: TextSettings, test_set: tuple[Path, Path], bits: Bits) -> str:
    """Return the data of the page, compressed by zlib, in base64: the length of a JSON text, the text, the weights.

    The length has four bytes, little-endian. `unpack` in playground.js reads the data.
    """
    models = load_models(folders, "cpu", threads=1, announce=False)
    descriptions = []
    weight_bytes = b""
    for model, folder in zip(models, folders, strict=True):
        rounded_weights, scales = _round_weights(model, folder / WEIGHTS, bits)
        descriptions.append(_describe_model(model, scales))
        weight_bytes += rounded_weights

    # the words of each side by id, without the specials
    words = {}
    vocabularies = {"source": models[0].source_vocabulary, "target": models[0].target_vocabulary}
    for side, vocabulary in vocabularies.items():
        words[side] = vocabulary.words(range(len(SPECIALS), len(vocabulary)))

    # what the scripts read
    source_codec, _ = choose_text_codecs(text, tokenized=False)
    values = {
        "languages": text.languages.model_dump(),
        "tokenization": dict(text.tokenization),
        "tokenized": text.tokenized,
        "decoding": text.decoding.model_dump(),
        "bits": bits,
        "models": descriptions,
        "vocabulary": words,
        "rules": collect_rules(text.languages.source, text.tokenization.normalization),
        # the page joins these to sentences of any length: clause, "and", clause, ...
        "clauses": list(islice(_find_clauses(test_set, models[0], source_codec), MAX_CLAUSES)),
        "example": next(sentence for sentence, _ in read_pairs(*test_set)),
        "and": {side: WORD_FOR_AND.get(language) for side, language in text.languages},
    }

    json_bytes = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    data = struct.pack("<I", len(json_bytes)) + json_bytes + weight_bytes
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _describe_model(model: TrainedModel, scales: dict[str, float]) -> dict[str, Any]:
    """Return the description of a model that `Network` in model.js needs.

    scales: the scale of each tensor with 8 bits (`_round_weights`).
    """
    run, state = model.run, model.network.state_dict()
    return {
        "label": run.label,
        "model_type": run.model_type,
        "aligns": run.has_attention,
        "max_words": run.max_words,
        "architecture": run.architecture.model_dump(),
        "targetWords": len(model.target_vocabulary),
        "tensors": [[name, list(weight.shape), scales.get(name)] for name, weight in state.items()],
    }


def _round_weights(model: TrainedModel, weights_file: Path, bits: Bits) -> tuple[bytes, dict[str, float]]:
    """Round matrices to `bits` bits, and vectors to 16.

    Returns:
        The bytes: first the tensors with 16 bits (IEEE 754 binary16), then the tensors of integers with 8 bits. And the
        scale of each tensor of integers, by which they are multiplied. One scale for each row would be more exact, but
        the compressed page would be a seventh larger.
    """
    float_tensors: dict[str, torch.Tensor] = {}
    integers, scales = [], {}
    for name, weight in model.network.state_dict().items():
        if bits == 8 and weight.dim() > 1:
            magnitude = max(float(weight.abs().max()), float(np.finfo(np.float32).tiny))
            scales[name] = magnitude / MAX_INTEGER
            integers.append(np.rint(weight.numpy() / scales[name]).astype(np.int8).tobytes())
        else:
            float_tensors[name] = weight

    # first the lower bytes of all numbers, then the upper bytes, which resemble each other and so compress better
    rounded_tensors = round_to_float16(float_tensors, weights_file).values()
    numbers = np.concatenate([tensor.numpy().ravel() for tensor in rounded_tensors])
    byte_planes = numbers.view(np.uint8).reshape(-1, 2).T  # (2, numbers): lower and upper bytes
    return b"".join([byte_planes.tobytes(), *integers]), scales


def _find_clauses(test_set: tuple[Path, Path], model: TrainedModel, codec: TextCodec) -> Iterator[list[str]]:
    """Yield short test sentences, source and reference, that can be typed and joined.

    They end in a full stop and have no unknown words. The page shows their text, and tokenizes it again, so the text
    must give the same tokens.
    """
    for source_line, target_line in read_pairs(*test_set):
        tokens, target_tokens = split_words(source_line), split_words(target_line)

        # sentences of the right length that end in a full stop on both sides
        if len(tokens) - 1 not in CLAUSE_WORDS or tokens[-1] not in FULL_STOPS:
            continue
        if not target_tokens or target_tokens[-1] not in FULL_STOPS:
            continue

        # known words, and a text that gives the same tokens
        is_known = all(token in model.source_vocabulary for token in tokens)
        is_known_target = all(token in model.target_vocabulary for token in target_tokens)
        texts = (codec.detokenize(tokens), " ".join(tokens))
        if is_known and is_known_target and any(codec.tokenize(text) == tokens for text in texts):
            yield [" ".join(tokens), " ".join(target_tokens)]
