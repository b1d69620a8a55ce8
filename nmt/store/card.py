"""Writes the README.md of a trained model: what it is, how it was trained, how good it is, how to load it.

It has front matter in the format of model hubs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nmt.errors import UserError, naming
from nmt.io.files import atomic_path, read_json
from nmt.settings.families import FAMILIES
from nmt.store.model_folder import CARD


@dataclass(frozen=True)
class Text:
    """The text of a model, as far as it is known: languages (source, target), names of corpora."""

    languages: tuple[str, ...] = ()
    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()


def write(folder: Path, text: Text | None = None, scores: dict[str, Any] | None = None) -> None:
    """Write the card of the model in `folder` from its summary and settings, with scores if they are given.

    Raises a `UserError` for scores of another run, and for a summary or settings that no training wrote.
    """
    summary, settings = read_json(folder / "summary.json"), read_json(folder / "settings.json")
    with naming(f"{folder}: summary.json, settings.json or the scores", "expected those of this version"):
        _refuse_other(summary, scores, folder)
        data = card(summary, settings, text or Text(), scores).encode()
    with atomic_path(folder / CARD) as temporary:
        temporary.write_bytes(data)


def _refuse_other(summary: dict[str, Any], scores: dict[str, Any] | None, folder: Path) -> None:
    if scores is not None and any(scores.get(key) != summary[key] for key in ("model", "seed")):
        found = f"model {scores.get('model')!r} with seed {scores.get('seed')}"
        text_ = f"the scores are of {found}, the model is {summary['model']!r} with seed {summary['seed']}"
        raise UserError(f"{folder}: {text_}; give its own")


def card(summary: dict[str, Any], settings: dict[str, Any], text: Text, scores: dict[str, Any] | None) -> str:
    """Return the card as Markdown."""
    parts = [
        _front_matter(summary, text),
        f"# {summary['label']}",
        _what(summary, text),
        "## Scores",
        _scores(text, scores),
        "## Training",
        _table(_training(summary, settings, text)),
        "## Use",
        _USE,
        "## Files",
        _FILES,
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(summary: dict[str, Any], text: Text) -> str:
    values: dict[str, Any] = {
        **({"language": list(text.languages)} if text.languages else {}),
        "license": "mit",
        "library_name": "nmt",
        "pipeline_tag": "translation",
        "tags": ["translation", "recurrent-neural-network", summary["family"]],
    }
    return f"---\n{yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=1000)}---"


def _what(summary: dict[str, Any], text: Text) -> str:
    languages = f" from {text.languages[0]} to {text.languages[1]}" if len(text.languages) == 2 else ""
    family = FAMILIES[summary["family"]]
    return (
        f"Translates{languages}, one sentence at a time. {family.description}; {summary['parameters']:,} parameters. "
        f"As described by {family.paper}; trained by a reproduction of the paper, not by its authors."
    )


def _scores(text: Text, scores: dict[str, Any] | None) -> str:
    if scores is None:
        return "None yet: the model's translations have not been evaluated."
    rows = {
        f"All {scores['sentences_all']:,} sentences": scores["bleu_all"],
        f"The {scores['sentences_no_unk']:,} sentences without unknown words": scores["bleu_no_unk"],
    }
    shown = {name: "none" if value is None else f"{value:.2f}" for name, value in rows.items()}
    on = f" on {', '.join(text.test)}" if text.test else ""
    return f"BLEU{on}, on tokens, cased ({scores['signature']}):\n\n{_table(shown, ('Sentences', 'BLEU'))}"


def _training(summary: dict[str, Any], settings: dict[str, Any], text: Text) -> dict[str, str]:
    """Return the entries of the card about the training, by their names. Others are in summary and settings."""
    training, sizes, code = settings["training"], settings["architecture"], summary["made_with"]["code"]
    rows = {
        "Text": ", ".join(text.train),
        "Sentence pairs": f"{summary['train_pairs']:,}; those with more than {summary['max_words']} words on a side "
        "are left out",
        "Development text": ", ".join(text.dev),
        "Continues from": summary["continue_from"] or "",
        "Updates": f"{summary['updates']:,} of {training['batch_size']} pairs ({summary['epochs']:.2f} epochs)",
        "Optimizer": f"{training['optimizer']}, learning rate {training['learning_rate']:g}, "
        f"gradient norm at most {training['clip_norm']:g}",
        "Sizes": f"{sizes['hidden_units']:,} hidden units, embeddings of {sizes['embedding_size']:,}",
        "NLL per sentence (nats)": f"training {summary['train_nll']:.2f}, development {summary['dev_nll']:.2f}",
        "Hours": f"{summary['hours']:.2f} on {summary['device']}",
        "Code": f"nmt {code['version']}, commit {code.get('commit') or 'unknown'}"
        f"{', with changes' if code.get('dirty') else ''}",
    }
    return {name: value for name, value in rows.items() if value}


def _table(rows: dict[str, str], headers: tuple[str, str] = ("", "")) -> str:
    lines = [f"| {headers[0]} | {headers[1]} |", "|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {value} |" for name, value in rows.items())])


_USE = """    nmt translate --model FOLDER < text > translation

translates raw text, one sentence per line, where FOLDER is the folder of this page. From Python:

    import nmt
    print(nmt.load("FOLDER").translate("..."))"""

_FILES = """| file | |
|---|---|
| `model.safetensors` | weights |
| `settings.json` | what the model is made of and was trained with |
| `source.tsv`, `target.tsv` | vocabularies: rank, word, count |
| `text.json` | languages, tokenization, and how to decode unless told otherwise |
| `summary.json` | what came out of the training |
| `history.jsonl` | the learning curve |"""
