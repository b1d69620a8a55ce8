"""A page to play with: trained models translate what one types in the browser, word by word, without a network.

The page computes RNNencdec and RNNsearch itself (model.js, text.js), from weights rounded to 16 or 8 bits.
"""

from __future__ import annotations

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

from nmt.data.tokenization import RawText
from nmt.data.vocabulary import SPECIALS, Vocabulary
from nmt.evaluation.translations import split_words
from nmt.io.files import write_text
from nmt.io.text_files import read_pairs
from nmt.settings.base import read_settings
from nmt.settings.decoding import TextSettings
from nmt.settings.model_types import IN_BROWSER
from nmt.settings.training import ModelRun
from nmt.store import trained_model
from nmt.store.model_folder import SETTINGS, WEIGHTS
from nmt.store.tensors import round_to_float16
from nmt.store.trained_model import TrainedModel, check_compatible
from pipeline.results.html import render_template
from pipeline.results.playground.moses import collect_rules

SCRIPTS = ("text.js", "model.js", "card.js", "curve.js", "playground.js")
CLAUSES = 60
"""Test sentences that the page knows, to begin with and to make sentences longer."""
CLAUSE_WORDS = range(4, 13)
"""Their tokens, without the full stop."""
STOPS = (".", "。", "।")
Bits = Literal[16, 8]
"""Of a weight in the page. Vectors, such as biases, are few and always have 16."""
LARGEST = 127
"""The whole number that stands for the largest magnitude of a matrix in 8 bits."""
AND = {"de": "und", "en": "and", "es": "y", "fr": "et", "it": "e", "nl": "en", "pt": "e"}
"""What joins two clauses behind a comma; in other languages the comma alone does."""


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
    """Write the page, or one that says why these models cannot be in it, which is returned.

    Args:
        folders: of trained models with the same vocabularies.
        text: what the models say of raw text, and how they decode.
        source, reference: the test set, tokenized; of its short sentences the page makes longer ones.
        bits: to which the weights are rounded.
        megabytes: limit of all weights at so many bits.
        title: of the page.
        output: the HTML file.

    Raises:
        UserError: files that are no models or do not belong together.
    """
    refusal = explain_refusal(folders, bits, megabytes)
    data = "" if refusal else _packed(folders, text, source, reference, bits)
    name = folders[0].name  # a folder of this machine is nobody else's concern
    page = render_template(
        "playground/page.html", title=title, refusal=refusal, name=name, data=data, scripts=SCRIPTS
    )
    write_text(output, page)
    return refusal


def _packed(folders: Sequence[Path], text: TextSettings, source: Path, reference: Path, bits: Bits) -> str:
    """The page's data: length of a JSON text (four bytes, little-endian), the text, the weights; zlib in base64."""
    models = [trained_model.load_model(folder, torch.device("cpu")) for folder in folders]
    check_compatible(models)
    raw = RawText(text.languages.source, text.tokenization)
    rounded = [_rounded(model, folder, bits) for model, folder in zip(models, folders, strict=True)]
    values = text.model_dump() | {
        "bits": bits,
        "models": [_description(model, scales) for model, (scales, _) in zip(models, rounded, strict=True)],
        "vocabulary": {side: _words(getattr(models[0], side)) for side in trained_model.SIDES},
        "rules": collect_rules(text.languages.source, text.tokenization.normalization),
        "clauses": list(islice(_clauses(source, reference, models[0], raw), CLAUSES)),
        "example": next(source for source, _ in read_pairs(source, reference)),
        "and": {side: AND.get(getattr(text.languages, side)) for side in trained_model.SIDES},
    }
    written = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    weights = b"".join(weights for _, weights in rounded)
    packed = zlib.compress(struct.pack("<I", len(written)) + written + weights, 9)
    return base64.b64encode(packed).decode("ascii")


def explain_refusal(folders: Sequence[Path], bits: Bits, megabytes: int) -> str | None:
    """Why the page cannot hold these models; None where it can."""
    runs = [
        read_settings(ModelRun, folder / SETTINGS, "expected a model of this version") for folder in folders
    ]
    files = (folder / f"{side}.tsv" for folder in folders for side in trained_model.SIDES)
    if {run.model_type for run in runs} - {*IN_BROWSER} or any(
        Vocabulary.read(file).has_subwords for file in files
    ):
        return f"This page computes {' and '.join(IN_BROWSER)} only, and without subword units."
    sizes = [(folder / WEIGHTS).stat().st_size * bits / 32e6 for folder in folders]
    if sum(sizes) <= megabytes:
        return None
    each = " and ".join(f"{run.label} has {size:,.0f} MB" for run, size in zip(runs, sizes, strict=True))
    return (
        f"The weights are too many for a page: {each} at {bits} bits, and a page takes {megabytes:,} MB "
        f"(playground.megabytes)."
    )


def _words(vocabulary: Vocabulary) -> list[str]:
    """Words by id, without the specials."""
    return vocabulary.words(range(len(SPECIALS), len(vocabulary)))


def _description(model: TrainedModel, scales: dict[str, float]) -> dict[str, Any]:
    run, state = model.run, model.network.state_dict()
    return {
        "label": run.label,
        "model_type": run.model_type,
        "aligns": run.aligns,
        "max_words": run.max_words,
        "architecture": run.architecture.model_dump(),
        "targetWords": len(model.target),
        "tensors": [[name, list(weight.shape), scales.get(name)] for name, weight in state.items()],
    }


def _rounded(model: TrainedModel, folder: Path, bits: Bits) -> tuple[dict[str, float], bytes]:
    """Return the value of the integer 1 for each tensor of whole numbers, and all weights as bytes.

    First come the tensors with 16 bits (IEEE 754 binary16), the lower bytes of all and then the upper ones, which are
    more alike: so the page is compressed to less. The whole numbers of 8 bits follow, a byte each. A matrix has one
    scale; one for each row would be more exact, but the numbers compress to a seventh more.
    """
    halves: dict[str, torch.Tensor] = {}
    wholes, scales = [], {}
    for name, weight in model.network.state_dict().items():
        if bits == 8 and weight.dim() > 1:
            scales[name] = max(float(weight.abs().max()), float(np.finfo(np.float32).tiny)) / LARGEST
            wholes.append(np.rint(weight.numpy() / scales[name]).astype(np.int8).tobytes())
        else:
            halves[name] = weight
    numbers16 = [half.numpy().ravel() for half in round_to_float16(halves, folder / WEIGHTS).values()]
    planes = np.concatenate(numbers16).view(np.uint8).reshape(-1, 2).T.tobytes()
    return scales, b"".join([planes, *wholes])


def _clauses(source: Path, reference: Path, model: TrainedModel, text: RawText) -> Iterator[list[str]]:
    """Short test sentences that end in a full stop and hold known words alone: tokens of both sides.

    Only those whose text gives the same tokens again: the page shows text.
    """
    for line, other in read_pairs(source, reference):
        tokens, target = split_words(line), split_words(other)
        if (
            len(tokens) - 1 in CLAUSE_WORDS
            and tokens[-1] in STOPS
            and target
            and target[-1] in STOPS
            and all(token in model.source for token in tokens)
            and all(token in model.target for token in target)
            and tokens in (text.tokenize(text.detokenize(tokens)), text.tokenize(" ".join(tokens)))
        ):
            yield [" ".join(tokens), " ".join(target)]
