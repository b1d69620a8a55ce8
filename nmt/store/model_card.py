"""The card of a trained model, README.md: what it is, how it was trained, how good it is and how to load it.

It has front matter in the format of model hubs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nmt.errors import errors_as_user_error
from nmt.io.files import read_json, write_text
from nmt.io.system import format_version
from nmt.settings.model_types import MODEL_TYPES
from nmt.store.model_folder import MODEL_CARD, SETTINGS, SUMMARY


@dataclass(frozen=True)
class CorpusInfo:
    """Languages (source, target) and names of the corpora of a model's text, as far as they are known."""

    languages: tuple[str, ...] = ()
    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()


def write_card(folder: Path, corpora: CorpusInfo | None = None, scores: dict[str, Any] | None = None) -> None:
    """Write the card of the model in `folder` from its summary and settings, with scores if they are given.

    Raises a `UserError` if summary.json or settings.json was not written by `nmt train`.
    """
    summary = read_json(folder / SUMMARY)
    settings = read_json(folder / SETTINGS)
    corpora = corpora or CorpusInfo()
    location = f"{folder}: summary.json, settings.json or the scores"
    with errors_as_user_error(
        location, KeyError, TypeError, AttributeError, remedy="expected what this version writes"
    ):
        card = format_card(summary, settings, corpora, scores)
    write_text(folder / MODEL_CARD, card)


def format_card(
    summary: dict[str, Any], settings: dict[str, Any], corpora: CorpusInfo, scores: dict[str, Any] | None
) -> str:
    """Return the card as Markdown. `scores` are the model's scores on the test set, or None."""
    front_matter: dict[str, Any] = {}
    direction = ""
    if corpora.languages:
        front_matter["language"] = list(corpora.languages)
        direction = f" from {' to '.join(corpora.languages)}"
    front_matter |= {
        "library_name": "nmt",
        "pipeline_tag": "translation",
        "tags": ["translation", "recurrent-neural-network", summary["model_type"]],
    }

    return CARD_TEMPLATE.format(
        front_matter=yaml.safe_dump(front_matter, sort_keys=False, allow_unicode=True, width=1000),
        summary=summary,
        direction=direction,
        model_type=MODEL_TYPES[summary["model_type"]],
        scores=format_scores(corpora, scores),
        training=format_training(summary, settings, corpora),
    )


def format_training(summary: dict[str, Any], settings: dict[str, Any], corpora: CorpusInfo) -> str:
    """Return the rows of the card's table about the training. Rows whose value is unknown are left out."""
    table = TRAINING_TEMPLATE.format(
        summary=summary,
        training=settings["training"],
        architecture=settings["architecture"],
        train_text=", ".join(corpora.train),
        dev_text=", ".join(corpora.dev),
        base=summary["continue_from"] or "",
        code_version=format_version(summary["made_with"]["code"]),
    )
    # a row without a value is "| Development text |  |"
    return "\n".join(row for row in table.splitlines() if not row.endswith("|  |"))


def format_scores(corpora: CorpusInfo, scores: dict[str, Any] | None) -> str:
    """Return the card's section on the scores."""
    if scores is None:
        return "None yet: the model's translations have not been evaluated."
    return SCORES_TEMPLATE.format(
        test_set=f" on {', '.join(corpora.test)}" if corpora.test else "",
        scores=scores,
        bleu_all=format_bleu(scores["bleu_all"]),
        bleu_no_unk=format_bleu(scores["bleu_no_unk"]),
    )


def format_bleu(bleu: float | None) -> str:
    """Return a BLEU score with two digits, or "none" for a set without sentences."""
    return "none" if bleu is None else f"{bleu:.2f}"


CARD_TEMPLATE = """---
{front_matter}---

# {summary[label]}

Translates{direction}, one sentence at a time. {model_type.description}; {summary[parameters]:,} parameters. \
As described by {model_type.paper}; trained by a reproduction of the paper, not by its authors.

## Scores

{scores}

## Training

|  |  |
|---|---|
{training}

## Use

    nmt translate --model FOLDER < text > translation

translates raw text, one sentence per line, where FOLDER is the folder of this page. From Python:

    import nmt
    print(nmt.load("FOLDER").translate("..."))

## Files

| file | |
|---|---|
| `model.safetensors` | weights |
| `settings.json` | what the model is made of and was trained with |
| `source.tsv`, `target.tsv` | vocabularies: rank, word, count |
| `text.json` | languages, tokenization, and how to decode unless told otherwise |
| `summary.json` | what came out of the training |
| `history.jsonl` | the learning curve |
"""

TRAINING_TEMPLATE = """| Text | {train_text} |
| Sentence pairs | {summary[train_pairs]:,}; those with more than {summary[max_words]} words on a side are left out |
| Development text | {dev_text} |
| Continues from | {base} |
| Updates | {summary[updates]:,} of {training[batch_size]} pairs ({summary[epochs]:.2f} epochs) |
| Optimizer | {training[optimizer]}, learning rate {training[learning_rate]:g}, \
gradient norm at most {training[clip_norm]:g} |
| Sizes | {architecture[hidden_units]:,} hidden units, embeddings of {architecture[embedding_size]:,} |
| NLL per sentence (nats) | training {summary[train_nll]:.2f}, development {summary[dev_nll]:.2f} |
| Hours | {summary[hours]:.2f} on {summary[device]} |
| Code | nmt {code_version} |"""

SCORES_TEMPLATE = """BLEU{test_set}, on tokens, cased ({scores[signature]}):

| Sentences | BLEU |
|---|---|
| All {scores[sentences_all]:,} sentences | {bleu_all} |
| The {scores[sentences_no_unk]:,} sentences without unknown words | {bleu_no_unk} |"""
