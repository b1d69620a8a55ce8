"""A page to play with: trained models translate what one types in the browser, word by word, without a network.

The page computes RNNencdec and RNNsearch itself (model.js, text.js), from weights rounded to 16 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nmt.data.text_processor import RawText
from nmt.data.vocabulary import SPECIALS, Vocabulary
from nmt.errors import UserError
from nmt.evaluation.translations import words
from nmt.io.text_files import read_pairs
from nmt.model import trained_model
from nmt.model.model_folder import SETTINGS, WEIGHTS
from nmt.model.trained_model import TrainedModel, refuse_unlike
from nmt.settings.decoding import TextSettings
from nmt.settings.families import FAMILIES
from nmt.settings.json_settings import read
from nmt.settings.training import ModelRun
from pipeline.report.one_file import pack, write
from pipeline.report.playground.moses import rules

CLAUSES = 60
"""Test sentences that the page knows, to begin with and to make sentences longer."""
CLAUSE_WORDS = range(4, 13)
"""Their tokens, without the full stop."""
AND = {"de": "und", "en": "and", "es": "y", "fr": "et", "it": "e", "nl": "en", "pt": "e"}
"""What joins two clauses behind a comma; in other languages the comma alone does."""


@dataclass(frozen=True)
class Written:
    """Sentences that the page knows, and why it holds no models, if so."""

    sentences: int
    refusal: str | None


def write_playground(
    folders: Sequence[Path],
    text: TextSettings,
    source: Path,
    reference: Path,
    megabytes: int,
    title: str,
    output: Path,
) -> Written:
    """Write the page, or one that says why these models cannot be in it.

    Args:
        folders: of trained models with the same vocabularies.
        text: what the models say of raw text, and how they decode.
        source, reference: the test set, tokenized; of its short sentences the page makes longer ones.
        megabytes: limit of all weights at 16 bits.
        title: of the page.
        output: the HTML file.

    Raises:
        UserError: files that are no models or do not belong together.
    """
    values: dict[str, Any] = {"title": title, "folders": [str(folder) for folder in folders]}
    if refusal := refused(folders, megabytes):
        write(output, __package__, SCRIPTS, title, pack(values | {"refusal": refusal}, b""))
        return Written(0, refusal)
    models = [trained_model.load(folder, torch.device("cpu")) for folder in folders]
    refuse_unlike(models)
    clauses = list(_clauses(source, reference, models[0], RawText(text.languages.source, text.tokenization)))
    values |= text.model_dump() | {
        "refusal": None,
        "models": [_description(model) for model in models],
        "vocabulary": {side: _words(getattr(models[0], side)) for side in trained_model.SIDES},
        "rules": rules(text.languages.source),
        "clauses": clauses,
        "and": {side: AND.get(getattr(text.languages, side)) for side in trained_model.SIDES},
    }
    weights = b"".join(_rounded(model, folder) for model, folder in zip(models, folders, strict=True))
    write(output, __package__, SCRIPTS, title, pack(values, weights))
    return Written(len(clauses), None)


SCRIPTS = ("text.js", "model.js", "card.js", "curve.js", "playground.js")


def refused(folders: Sequence[Path], megabytes: int) -> str | None:
    """Why the page cannot hold these models; None where it can."""
    runs = [read(ModelRun, folder / SETTINGS, "expected a model of this version") for folder in folders]
    for run in runs:
        if not FAMILIES[run.family].in_browser:
            computed = " and ".join(name for name, family in FAMILIES.items() if family.in_browser)
            return f"{run.label} is of the family {run.family}; this page computes {computed} only."
    if any(
        Vocabulary.read(folder / name).subwords for folder in folders for name in ("source.tsv", "target.tsv")
    ):
        return "The models read subword units; this page does not cut words into any."
    sizes = [(folder / WEIGHTS).stat().st_size / 2e6 for folder in folders]
    if sum(sizes) <= megabytes:
        return None
    each = " and ".join(f"{run.label} has {size:,.0f} MB" for run, size in zip(runs, sizes, strict=True))
    return (
        f"The weights are too many for a page: {each} at 16 bits, and a page takes {megabytes:,} MB "
        f"(playground.megabytes)."
    )


def _words(vocabulary: Vocabulary) -> list[str]:
    """Words by id, without the specials."""
    return vocabulary.words(range(len(SPECIALS), len(vocabulary)))


def _description(model: TrainedModel) -> dict[str, Any]:
    run, state = model.run, model.network.state_dict()
    return {
        "label": run.label,
        "family": run.family,
        "aligns": run.aligns,
        "max_words": run.max_words,
        "architecture": run.architecture.model_dump(),
        "targetWords": len(model.target),
        "weights": sum(weight.numel() for weight in state.values()),
        "tensors": [[name, list(weight.shape)] for name, weight in state.items()],
    }


def _rounded(model: TrainedModel, folder: Path) -> bytes:
    """All weights at 16 bits (IEEE 754 binary16) in the order of the description.

    First the lower bytes of all, then the upper ones, which are more alike: so the page is compressed to less.
    """
    with np.errstate(over="ignore"):
        arrays = [weight.numpy().astype("<f2") for weight in model.network.state_dict().values()]
    if not all(np.isfinite(array).all() for array in arrays):
        raise UserError(f"{folder / WEIGHTS}: a weight exceeds 65,504, the largest number of 16 bits")
    return np.concatenate([array.ravel() for array in arrays]).view(np.uint8).reshape(-1, 2).T.tobytes()


def _clauses(source: Path, reference: Path, model: TrainedModel, text: RawText) -> Iterator[list[str]]:
    """The first short test sentences that end in a full stop and hold known words alone: tokens of both sides.

    Only those whose text gives the same tokens again: the page shows text.
    """
    number = 0
    for line, other in read_pairs(source, reference):
        tokens, target = words(line), words(other)
        if (
            len(tokens) - 1 in CLAUSE_WORDS
            and tokens[-1:] == target[-1:] == ["."]
            and all(token in model.source for token in tokens)
            and all(token in model.target for token in target)
            and text.tokens(text.text(tokens)) == tokens
        ):
            yield [" ".join(tokens), " ".join(target)]
            number += 1
        if number == CLAUSES:
            return
