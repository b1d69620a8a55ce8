"""The settings of an experiment on a user's text, with sizes and updates for its amount."""

from __future__ import annotations

import math
import os
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nmt.environment import REPOSITORY
from nmt.errors import UserError, printable
from nmt.io.compression import name_without_compression
from nmt.io.files import write_text
from nmt.settings.base import validate_settings
from nmt.settings.text import LANGUAGES, Languages
from pipeline.own_text.text import PARTS, TOKENIZATION, Given, Statistics, write_parts

UNSEGMENTED = ("bo", "ja", "km", "lo", "my", "th", "yue", "zh")
"""Languages that write no spaces between words, so that Moses' rules find whole clauses."""
MANY_UNKNOWN = 0.05
"""Share of unknown words in the development text from which on subword units are advised."""
LONGEST, SHORTEST = 50, 10
"""Range of the greater length limit. The paper's limit is its upper end."""
SHORTER = 0.6
"""The smaller length limit as a share of the greater one: 30 of 50 in the paper."""
LARGEST_VOCABULARY = 30_000
"""The size of the paper's vocabularies."""
PAIRS_OF_SHARD, MOST_SHARDS = 1_000_000, 500
STAR = 2
"""Limit for the updates of RNNsearch-N* as a multiple of those of RNNsearch-N."""


@dataclass(frozen=True)
class Sizes:
    """Settings for text of up to so many training pairs: those of an experiment, with differences.

    batch_size, epochs, updates: of the training, with limits for the updates. rates: updates per hour by model type, on
    one core with sentences of `length` tokens; none if they need a GPU.
    """

    pairs: float
    extends: str
    batch_size: int
    epochs: float
    updates: tuple[int, int]
    rates: Mapping[str, int]
    length: float
    differences: Mapping[str, Any]


SIZES = (
    Sizes(200_000, "multi30k", 64, 6, (1000, 15_000), {"rnnencdec": 50_000, "rnnsearch": 18_000}, 13, {}),
    Sizes(
        3_000_000,
        "multi30k",
        80,
        3,
        (10_000, 40_000),
        {"rnnencdec": 2700, "rnnsearch": 1500},  # those of overnight, with bf16, divided by 2.6
        25,
        {  # those of overnight
            "architecture": {
                "hidden_units": 500,
                "embedding_size": 300,
                "maxout_units": 250,
                "alignment_units": 500,
                "init_std": 0.05,
                "alignment_init_std": 0.01,
            },
            "training": {"learning_rate": 0.0015, "batch_size": 80},
            "resources": {"train_memory_gb": 5, "translate_hours": 4, "data_memory_gb": 8},
        },
    ),
    Sizes(
        math.inf,
        "europarl",
        160,
        3,
        (24_000, 150_000),
        {},
        25,
        {
            "training": {"device": "auto", "train_sample": 1000},
            "resources": {"train_hours": 120, "translate_hours": 4, "data_memory_gb": 8},
        },
    ),
)


@dataclass(frozen=True)
class Proposal:
    """The numbers of the settings. updates: of the first four models. units: of subwords in each language, or None."""

    sizes: Sizes
    limits: tuple[int, int]
    vocabulary: tuple[int, int]
    updates: int
    rates: Mapping[str, int]
    units: int | None = None

    @classmethod
    def of(cls, text: Statistics, units: int | None = None) -> Proposal:
        """Return what suits a text. A sentence has more subword units than words, so their limit is the paper's."""
        pairs = text.pairs["train"]
        sizes = next(sizes for sizes in SIZES if pairs <= sizes.pairs)
        longest = LONGEST if units else min(LONGEST, max(SHORTEST, text.longest))
        wanted = round(sizes.epochs * pairs / sizes.batch_size, -2)
        fewest, most = sizes.updates
        slower = sizes.length / max(1.0, text.mean_length)
        source, target = (max(1, min(LARGEST_VOCABULARY, words)) for words in text.repeated_words)
        return cls(
            sizes=sizes,
            limits=(round(SHORTER * longest), longest),
            vocabulary=(source, target),
            updates=int(min(most, max(fewest, wanted))),
            rates={
                model_type: int(float(f"{rate * slower:.1e}")) for model_type, rate in sizes.rates.items()
            },
            units=units,
        )

    @property
    def hours(self) -> float | None:
        """Return hours of training on two cores, if two cores can do it."""
        if not self.rates:
            return None
        return self.updates * (2 / self.rates["rnnencdec"] + (1 + STAR) / self.rates["rnnsearch"]) / 2


def new_experiment(
    folder: Path,
    given: Mapping[str, Given],
    codes: tuple[str, str] | None,
    tokenized: bool,
    units: int | None = None,
) -> tuple[Statistics, Proposal, list[str]]:
    """Write an experiment's text and, when that is done, its settings. Return what was found, proposed and is advised.

    Args:
        folder: of the experiment; there must be none in it yet.
        given: the training text, and of dev and test what there is.
        codes: of source and target language; None: as the files' names end.
        tokenized: whether the text is tokens already.
        units: subword units of each language; None: words.

    Raises:
        UserError: text or names that cannot be used.
    """
    config = folder / "config.yaml"
    if config.exists():
        raise UserError(f"{config}: there is an experiment already; name another folder, or remove this file")
    languages = _languages(given["train"], codes)
    sides = (languages.source, languages.target)
    files = {part: (f"text/{part}.{sides[0]}.zst", f"text/{part}.{sides[1]}.zst") for part in PARTS}
    outputs = {part: (folder / source, folder / target) for part, (source, target) in files.items()}
    found = write_parts(given, languages, outputs, tokenized)
    proposal = Proposal.of(found, units)
    write_text(config, settings(folder, given, languages, files, found, proposal, tokenized))
    return found, proposal, _advice(given, languages, found, proposal, tokenized)


def _advice(
    given: Mapping[str, Given], languages: Languages, text: Statistics, proposal: Proposal, tokenized: bool
) -> list[str]:
    """Return lines about files, sides that are off, languages that Moses' rules do not suit, and unknown words."""
    spreadsheets = {file: None for part in PARTS if part in given for file in given[part].spreadsheets}
    lines = [
        f"{file}: as a spreadsheet writes it: quotes around cells were taken off" for file in spreadsheets
    ]
    for part, shift in text.shifts.items():
        by = f"{abs(shift.offset)} line{'s' * (abs(shift.offset) > 1)} {'later' if shift.offset > 0 else 'earlier'}"
        lines.append(
            f"{given[part]}: from about line {shift.line:,} on, lengths agree with those of the target {by}"
            f" ({shift.pairs:,} lines or so): a line is missing or too many there; look before you train"
        )
    for _, code in languages if not tokenized and not proposal.units else ():
        if code in UNSEGMENTED:
            lines.append(
                f"{code} has no spaces between words, and Moses' rules do not cut it: take subword units"
                " (--subwords 8000, make's UNITS=8000), or cut it with another tool (--tokenized)"
            )
        elif code not in LANGUAGES:
            lines.append(f"{code} is none of Moses' languages: its general rules, those of English, cut it")
    if not proposal.units:
        shares = {part: text.unknown_share(part, proposal.vocabulary) for part in PARTS}
        each = "; ".join(
            f"{part} {', '.join(f'{share:.1%} {code}' for share, (_, code) in zip(sides, languages, strict=True))}"
            for part, sides in shares.items()
        )
        many = max(map(max, shares.values())) > MANY_UNKNOWN
        units = ". With subword units hardly any (--subwords 8000, make's UNITS=8000)"
        lines.append(f"unknown words: {each}{units * many}")
    return lines


def _languages(train: Given, codes: tuple[str, str] | None) -> Languages:
    """Return the codes that are given, or those that the files' names end in."""
    source, target = codes or (_ending(train.source), _ending(train.target or train.source))
    return validate_settings(
        Languages, {"source": source, "target": target}, "--languages (make's LANGUAGES)"
    )


def _ending(file: Path) -> str:
    """Return the language that a file's name ends in: europarl.de.gz."""
    suffix = Path(name_without_compression(file)).suffix[1:]
    if suffix not in LANGUAGES and not re.fullmatch("[a-z]{2}", suffix):
        raise UserError(
            f"{file}: its name ends in no language such as .de: say both, source first (--languages de es; make's"
            ' LANGUAGES="de es")'
        )
    return suffix


def settings(
    folder: Path,
    given: Mapping[str, Given],
    languages: Languages,
    files: Mapping[str, tuple[str, str]],
    text: Statistics,
    proposal: Proposal,
    tokenized: bool,
) -> str:
    """Return the `config.yaml` of the experiment in a folder."""
    base = REPOSITORY / "experiments" / proposal.sizes.extends
    inside = folder.resolve().is_relative_to(REPOSITORY)
    values: dict[str, Any] = {
        "extends": os.path.relpath(base, folder.resolve()) if inside else str(base),
        "languages": languages.model_dump(),
        "use": {part: [f"own-{part}"] for part in PARTS},
        "corpora": {
            f"own-{part}": _corpus(part, *sides, text.pairs[part], tokenized) for part, sides in files.items()
        },
        **_vocabulary(proposal, tokenized),
    }
    for block, keys in (*proposal.sizes.differences.items(), *_of_models(proposal).items()):
        values[block] = values.get(block, {}) | keys
    lines = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, default_flow_style=None, width=118)
    return f"{_description(given, languages, text, proposal)}\n\n{lines}"


def _of_models(proposal: Proposal) -> dict[str, dict[str, Any]]:
    """Return the models, equal updates for the first four, and what follows from their names and limits."""
    (short, long), updates = proposal.limits, proposal.updates
    models = {
        f"{model_type}-{limit}": {
            "label": f"{label}-{limit}",
            "model_type": model_type,
            "max_words": limit,
            "training": {"updates": updates},
        }
        for limit in (short, long)
        for model_type, label in (("rnnencdec", "RNNencdec"), ("rnnsearch", "RNNsearch"))
    }
    plain, search = f"rnnencdec-{long}", f"rnnsearch-{long}"
    models[f"{search}-star"] = {
        **models[search],
        "label": f"RNNsearch-{long}*",
        "continue_from": search,
        "training": {"updates": STAR * updates, "patience": 3},
    }
    every = max(100, updates // 1000 * 100)
    hours = proposal.hours
    return {
        "training": {"keep": "best", "validate_every": every, "checkpoint_every": every},
        "models": models,
        "use": {"models": list(models)},
        "decoding": {"n_best": 1, "widening_budget": 3},
        "artifacts": {
            "figure2_models": [search, f"rnnsearch-{short}", plain, f"rnnencdec-{short}"],
            "figure2_max_words": math.ceil(long * 1.2 / 5) * 5,
            "figure2_window": max(2, long // 6),
            "figure3_model": search,
            "figure3_words": [long // 4, max(short, long // 4 + 1)],
            "table3_models": [plain, search],
            "table3_words": short,
        },
        "resources": {"updates_per_hour": proposal.rates, "train_hours": max(2, math.ceil(hours))}
        if hours
        else {},
    }


def _vocabulary(proposal: Proposal, tokenized: bool) -> dict[str, Any]:
    """Return the settings of vocabulary and tokenization. Of subword units nothing is escaped, since &apos; would take
    three."""
    normalized = {} if tokenized else {"normalization": TOKENIZATION.normalization}
    if proposal.units:
        vocabulary = {"words": proposal.units, "subwords": True}
        return {"vocabulary": vocabulary, "tokenization": {"escape": False, **normalized}}
    source, target = proposal.vocabulary
    vocabulary = {"words": source, "target_words": target}
    return {"vocabulary": vocabulary} | ({"tokenization": normalized} if normalized else {})


def _corpus(part: str, source: str, target: str, pairs: int, tokenized: bool) -> dict[str, Any]:
    """Return the entry of the catalogue; training text is prepared in shards of about a million pairs."""
    shards = min(MOST_SHARDS, math.ceil(pairs / PAIRS_OF_SHARD)) if part == "train" else 1
    entry = {"source": {"file": source}, "target": {"file": target}}
    return entry | ({"shards": shards} if shards > 1 else {}) | ({"tokenized": True} if tokenized else {})


def _description(
    given: Mapping[str, Given], languages: Languages, text: Statistics, proposal: Proposal
) -> str:
    """Return what the experiment is, as comments."""
    pairs = ", ".join(f"{part} {count:,}" for part, count in text.pairs.items())
    files = printable("; ".join(f"{part}: {files}" for part, files in given.items()))
    passes = proposal.updates * proposal.sizes.batch_size / text.pairs["train"]
    left_out = f" Left out of train, since they share a sentence with a drawn set: {text.left_out:,} pairs."
    paragraphs = (
        f"{languages.source} to {languages.target}, sentence pairs: {pairs}. Made by `nmt new` of {files}."
        f"{left_out if text.left_out else ''}",
        f"Sizes, vocabularies, limits and updates ({passes:.1f} passes over the text) were chosen from the amount of"
        " text: change what you like before the first run. docs/settings.md in the repository explains all keys.",
    )
    return "\n".join(f"# {line}" for paragraph in paragraphs for line in textwrap.wrap(paragraph, 118))
