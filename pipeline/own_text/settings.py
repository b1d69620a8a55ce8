"""The settings of an experiment on the text of a user, with sizes and updates that suit the amount of text."""

import math
import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml

from nmt.data.vocabulary import Vocabulary
from nmt.environment import REPOSITORY
from nmt.errors import UserError, printable
from nmt.io.compression import name_without_compression
from nmt.io.files import write_text
from nmt.settings.base import read_settings, validate_settings
from nmt.settings.model_types import MODEL_TYPES
from nmt.settings.text import LANGUAGES, Languages, describe_unknown_language
from nmt.settings.training import ModelRun
from nmt.store.model_folder import SETTINGS, SOURCE_VOCABULARY, TARGET_VOCABULARY, read_text_settings
from pipeline.own_text.parallel_text import ParallelText
from pipeline.own_text.splits import (
    MIN_FINE_TUNING_PAIRS,
    MIN_TRAINING_PAIRS,
    SPLITS,
    TOKENIZATION,
    Texts,
    TextStatistics,
    write_splits,
)

Block = dict[str, Any]
"""Keys and values of a block of settings."""
Blocks = dict[str, Block]
UNSEGMENTED_LANGUAGES = ("bo", "ja", "km", "lo", "my", "th", "yue", "zh")
"""Languages without spaces between words. Moses' rules would take whole clauses for words."""
PAPER_VOCABULARY_SIZE = 30_000
PAPER_MAX_WORDS = 50
"""The greater of the two limits of sentence length in the paper. The smaller one, 30, is 0.6 of it."""
FINE_TUNING_RATE = 0.0003
"""Learning rate of Adam for a trained model: larger steps would first undo what it has learnt."""
STAR_UPDATES_FACTOR = 2
"""Limit for the updates of RNNsearch-N* as a multiple of those of RNNsearch-N."""
_LANGUAGES_EXAMPLE = '--languages de es; make\'s LANGUAGES="de es"'
"""How users name both languages, for messages."""


@dataclass(frozen=True)
class Preset:
    """Settings for text of up to `max_pairs` training pairs: an existing experiment, and keys with different values.

    Attributes:
        max_pairs: training pairs of the largest text for which they are meant.
        extends: the experiment whose settings are extended.
        batch_size: sentence pairs of a batch.
        epochs: passes over the training text, if they take neither too few nor too many updates.
        min_updates, max_updates: limits for the updates of the first four models.
        updates_per_hour: model type -> updates per hour on one core; empty if the training needs a GPU.
        measured_weights: model type -> number of weights of the model whose rate was measured.
        differences: block -> key -> value, which override the settings of the extended experiment.
    """

    max_pairs: float
    extends: str
    batch_size: int
    epochs: float
    min_updates: int
    max_updates: int
    updates_per_hour: dict[str, int]
    measured_weights: Mapping[str, int]
    differences: Mapping[str, Any]


PRESETS_FILE = Path(__file__).with_name("presets.yaml")
PRESETS = [Preset(**values) for values in yaml.safe_load(PRESETS_FILE.read_text(encoding="utf-8"))]


@dataclass(frozen=True)
class Proposal:
    """The settings that suit a text: numbers of words, updates and subwords.

    Attributes:
        preset: the settings for this amount of text.
        max_words: the smaller and the greater limit of sentence length.
        vocabulary_sizes: words of source and target.
        updates: the updates of each model except RNNsearch-N*, which is trained for longer.
        subwords: subword units of each language; None for words.
    """

    preset: Preset
    max_words: tuple[int, int]
    vocabulary_sizes: Sequence[int]
    updates: int
    subwords: int | None = None

    @classmethod
    def from_statistics(cls, statistics: TextStatistics, subwords: int | None = None) -> Self:
        """Return the settings that suit a text. subwords: units of each language; None: the models read words."""
        pairs = statistics.pairs["train"]
        preset = next(preset for preset in PRESETS if pairs <= preset.max_pairs)

        # 1. limits of length. Sentences have more subword units than words, so for subwords the paper's limits stay
        max_words = PAPER_MAX_WORDS
        if not subwords:
            max_words = min(PAPER_MAX_WORDS, max(10, statistics.usual_max_length))

        # 2. vocabularies, without words that occur only once: they teach nothing
        vocabulary_sizes = []
        for word_counts in statistics.word_counts["train"]:
            repeated_words = sum(count > 1 for count in word_counts.values())
            vocabulary_sizes.append(max(1, min(PAPER_VOCABULARY_SIZE, repeated_words)))

        # 3. the number of updates, in hundreds
        updates = round(preset.epochs * pairs / preset.batch_size, -2)
        return cls(
            preset=preset,
            max_words=(round(0.6 * max_words), max_words),  # in the ratio of the paper's limits, 30 and 50
            vocabulary_sizes=vocabulary_sizes,
            updates=int(min(preset.max_updates, max(preset.min_updates, updates))),
            subwords=subwords,
        )


@dataclass(frozen=True)
class OwnText:
    """The text of the user: files by split, languages, whether it consists of tokens, and its statistics."""

    texts: Texts
    languages: Languages
    tokenized: bool
    statistics: TextStatistics


def write_experiment(
    folder: Path,
    texts: Texts,
    codes: tuple[str, str] | None,
    tokenized: bool,
    subwords: int | None = None,
    init_from: Path | None = None,
) -> tuple[dict[str, int], list[str]]:
    """Write the text of an experiment, then its settings. Return the number of pairs by split, and lines of advice.

    Args:
        folder: the folder of the experiment, which must not contain an experiment yet.
        texts: split -> text of the user: "train", and "dev" and "test" if they are given.
        codes: the codes of source and target language; None: the extensions of the files' names.
        tokenized: whether the text consists of tokens.
        subwords: subword units of each language; None for words.
        init_from: the folder of a trained model that the text fine-tunes; None: the first weights are random.

    Raises:
        UserError: text or names cannot be used.
    """
    config_file = folder / "config.yaml"
    if config_file.exists():
        raise UserError(
            f"{config_file}: there is an experiment already; name a different folder, or remove this file"
        )

    # 1. the languages: of the trained model, or of the codes or files
    if init_from:
        text_settings = read_text_settings(init_from)
        languages = text_settings.languages
        given_codes = codes or tuple(map(_read_suffix, texts["train"].files))
        are_languages = codes or set(given_codes) <= set(LANGUAGES)  # a file may be called train.txt
        if are_languages and given_codes != (languages.source, languages.target):
            expectation = f"expected {languages.source} {languages.target}, as {init_from} translates"
            raise UserError(f"--languages, or names of files: found {' '.join(given_codes)}, {expectation}")
        if tokenized != text_settings.tokenized:
            kind, remedy = ("raw", "leave out") if tokenized else ("tokenized", "add")
            raise UserError(
                f"{init_from}: was trained on {kind} text: give such text, and {remedy} --tokenized"
            )
    else:
        languages = _choose_languages(texts["train"], codes)

    # 2. the text
    outputs = {}
    for split in SPLITS:
        source, target = _name_files(split, languages)
        outputs[split] = (folder / source, folder / target)
    min_pairs = MIN_FINE_TUNING_PAIRS if init_from else MIN_TRAINING_PAIRS
    statistics = write_splits(texts, languages, outputs, tokenized, min_pairs)

    # 3. the settings
    text = OwnText(texts, languages, tokenized, statistics)
    proposal = Proposal.from_statistics(statistics, subwords)
    write_text(config_file, format_config(folder, text, proposal, init_from))
    return statistics.pairs, _advise(text, None if init_from else proposal)


def _name_files(split: str, languages: Languages) -> tuple[str, str]:
    """Return the files of both sides of a split, as paths in the folder of the experiment."""
    return f"text/{split}.{languages.source}.zst", f"text/{split}.{languages.target}.zst"


def _advise(text: OwnText, proposal: Proposal | None) -> list[str]:
    """Return lines of advice about files, sides that are out of step, languages, and unknown words.

    proposal: the settings of new models; None if a trained model decides how text is treated.
    """
    lines = []

    # 1. files of spreadsheets
    for parallel_text in text.texts.values():
        for file in parallel_text.spreadsheets:
            line = (
                f"{file}: looks like an export of a spreadsheet, so the quotes around its cells were removed"
            )
            if len(parallel_text.spreadsheets) < len(parallel_text.files):
                line += "; those of the other side were kept"
            lines.append(line)

    # 2. pairs that are left out, and sides that are out of step
    statistics = text.statistics
    if statistics.one_sided_pairs:
        lines.append(f"{statistics.one_sided_pairs:,} pairs have an empty side: no model is trained on them")
    if statistics.left_out_pairs:
        lines.append(
            f"{statistics.left_out_pairs:,} training pairs were left out: they share a sentence with dev or test"
        )
    for split, line_number in statistics.shifted_lines.items():
        lines.append(
            f"{text.texts[split]}: the sides look shifted from about line {line_number:,} on: a line is missing or"
            " extra there; check the files before you train"
        )

    # 3. languages for which Moses has no rules, and unknown words
    if proposal is None:
        return lines
    raw_languages = [] if text.tokenized else [text.languages.source, text.languages.target]
    for code in raw_languages:
        if code in UNSEGMENTED_LANGUAGES and proposal.subwords:
            lines.append(
                f"{code} has no spaces between words: BLEU counts letters, and attention is between clauses"
            )
        elif code in UNSEGMENTED_LANGUAGES:
            lines.append(
                f"{code} has no spaces between words, and Moses' rules cannot tokenize it: use subword units"
                " (--subwords 8000; with make, UNITS=8000), or tokenize it with a different tool (--tokenized)"
            )
        elif code not in LANGUAGES and not proposal.subwords:
            lines.append(describe_unknown_language(code))
    if not proposal.subwords:
        lines.append(_describe_unknown_words(text, proposal.vocabulary_sizes))
    return lines


def _describe_unknown_words(text: OwnText, vocabulary_sizes: Sequence[int]) -> str:
    """Return a line with the rate of unknown words of each split and language, with advice if one is above 5%."""
    languages = text.languages
    descriptions = []
    max_rate = 0.0
    for split in SPLITS:
        source_rate, target_rate = text.statistics.unknown_rates(split, vocabulary_sizes)
        descriptions.append(
            f"{split} {source_rate:.1%} {languages.source}, {target_rate:.1%} {languages.target}"
        )
        max_rate = max(max_rate, source_rate, target_rate)
    line = f"unknown words: {'; '.join(descriptions)}"
    if max_rate > 0.05:
        line += (
            ". With subword units, hardly any word would be unknown (--subwords 8000; with make, UNITS=8000)"
        )
    return line


def _choose_languages(train: ParallelText, codes: tuple[str, str] | None) -> Languages:
    """Return the languages with these codes or, without codes, with the extensions of the files."""
    if codes:
        source, target = codes
    else:
        source = _read_language(train.source)
        if not train.target:
            raise UserError(
                f"{train.source}: name the file of the other language, too; if each line has both sides, name both "
                f"languages, source first ({_LANGUAGES_EXAMPLE})"
            )
        target = _read_language(train.target)
    return validate_settings(
        Languages, {"source": source, "target": target}, "--languages (make's LANGUAGES)"
    )


def _read_suffix(file: Path) -> str:
    """Return the end of a file's name: europarl.de.gz -> "de"."""
    return Path(name_without_compression(file)).suffix[1:]


def _read_language(file: Path) -> str:
    """Return the language in which the name of a file ends: europarl.de.gz -> "de"."""
    suffix = _read_suffix(file)
    if suffix not in LANGUAGES and not re.fullmatch("[a-z]{2}", suffix):
        raise UserError(
            f"{file}: its name does not end in a language, such as .de: name both languages, source first "
            f"({_LANGUAGES_EXAMPLE})"
        )
    return suffix


def format_config(folder: Path, text: OwnText, proposal: Proposal, init_from: Path | None = None) -> str:
    """Return the text of config.yaml for the experiment in a folder: comments, and settings."""
    # 1. the experiment that is extended, and the text
    base = str(REPOSITORY / "experiments" / proposal.preset.extends)
    if folder.resolve().is_relative_to(REPOSITORY):
        base = os.path.relpath(base, folder.resolve())
    settings: Block = {
        "extends": base,
        "languages": text.languages.model_dump(),
        "use": {split: [f"own-{split}"] for split in SPLITS},
        "corpora": {f"own-{split}": _make_corpus_settings(text, split) for split in SPLITS},
    }
    if init_from:
        settings |= _read_text_settings_of_model(folder, init_from)
        model_settings = _make_fine_tuning_settings(proposal, init_from, settings["vocabulary"])
    else:
        settings |= _make_text_settings(proposal, text.tokenized)
        model_settings = _make_model_settings(proposal)

    # 2. models, training and figures
    for blocks in (proposal.preset.differences, model_settings):
        for block, keys in blocks.items():
            settings[block] = settings.get(block, {}) | keys
    yaml_text = yaml.safe_dump(
        settings, sort_keys=False, allow_unicode=True, default_flow_style=None, width=118
    )
    return f"{_format_comments(text, init_from)}\n\n{yaml_text}"


def _make_model_settings(proposal: Proposal) -> Blocks:
    """Return the blocks of settings for the five models of the paper. The first four have equal numbers of updates."""
    short_limit, long_limit = proposal.max_words

    # 1. RNNencdec and RNNsearch with both limits, and RNNsearch*, which continues
    models: Blocks = {}
    for max_words in (short_limit, long_limit):
        for model_type, label in (("rnnencdec", "RNNencdec"), ("rnnsearch", "RNNsearch")):
            models[f"{model_type}-{max_words}"] = {
                "label": f"{label}-{max_words}",
                "model_type": model_type,
                "max_words": max_words,
                "training": {"updates": proposal.updates},
            }
    rnnencdec, rnnsearch = f"rnnencdec-{long_limit}", f"rnnsearch-{long_limit}"
    models[f"{rnnsearch}-star"] = {
        **models[rnnsearch],
        "label": f"RNNsearch-{long_limit}*",
        "continue_from": rnnsearch,
        "training": {"updates": STAR_UPDATES_FACTOR * proposal.updates, "patience": 3},
    }

    # 2. about ten validations, or one each 100 updates
    return _make_experiment_settings(
        proposal,
        models,
        validate_every=max(100, proposal.updates // 1000 * 100),
        updates_per_hour=proposal.preset.updates_per_hour,
        displayed_models={
            "figure2_models": [rnnsearch, f"rnnsearch-{short_limit}", rnnencdec, f"rnnencdec-{short_limit}"],
            "figure3_model": rnnsearch,
            "table3_models": [rnnencdec, rnnsearch],
        },
    )


def _make_experiment_settings(
    proposal: Proposal,
    models: Blocks,
    validate_every: int,
    updates_per_hour: dict[str, int],
    displayed_models: Block,
) -> Blocks:
    """Return the blocks of settings of an experiment with these models.

    Args:
        proposal: the settings that suit the text.
        models: the block `models`; all of them are used.
        validate_every: updates from one validation, and checkpoint, to the next.
        updates_per_hour: model type -> rate; empty if it is unknown.
        displayed_models: the keys of the block `artifacts` that name models.
    """
    # the paper's limits of length are 30 and 50, and the axis of its Figure 2 ends at 60
    short_limit, long_limit = proposal.max_words
    return {
        "training": {"keep": "best", "validate_every": validate_every, "checkpoint_every": validate_every},
        "models": models,
        "use": {"models": list(models)},
        "decoding": {"n_best": 1, "widening_budget": 3},
        "artifacts": {
            **displayed_models,
            "figure2_max_words": math.ceil(long_limit * 1.2 / 5) * 5,
            "figure2_window": max(2, long_limit // 6),
            "figure3_words": [long_limit // 4, max(short_limit, long_limit // 4 + 1)],
            "table3_words": short_limit,
        },
        "resources": {"updates_per_hour": updates_per_hour} if updates_per_hour else {},
    }


def _read_text_settings_of_model(folder: Path, init_from: Path) -> Block:
    """Return the path of a model, and the settings of text that it was trained on."""
    source_vocabulary = Vocabulary.read(init_from / SOURCE_VOCABULARY)
    return {
        "init_from": os.path.relpath(init_from.resolve(), folder.resolve()),
        "vocabulary": {
            "words": len(source_vocabulary),
            "target_words": len(Vocabulary.read(init_from / TARGET_VOCABULARY)),
            "specials_included": True,
            "subwords": source_vocabulary.has_subwords,
        },
        "tokenization": read_text_settings(init_from).tokenization.model_dump(),
    }


def _make_fine_tuning_settings(proposal: Proposal, init_from: Path, vocabulary: Block) -> Blocks:
    """Return the blocks of settings that compare a model before and after it was trained on the text.

    vocabulary: the block with the numbers of the words that the model knows.
    """
    # 1. two models: the given one, which is not trained further, and the fine-tuned one
    run = read_settings(ModelRun, init_from / SETTINGS)
    before, after = run.model, f"{run.model}-tuned"
    labels = {before: run.label, after: f"{run.label}, fine-tuned"}
    trainings = {before: {"updates": 0}, after: {"updates": proposal.updates, "patience": 3}}
    models = {}
    for name, label in labels.items():
        models[name] = {
            "label": label,
            "model_type": run.model_type,
            "max_words": run.max_words,
            "continue_from": None,  # in the experiment that is extended, a model of this name may continue another one
            "architecture": run.architecture.model_dump(),
            "training": trainings[name],
        }

    # 2. the rate of updates, which falls with the number of weights
    updates_per_hour: dict[str, int] = {}
    rate = proposal.preset.updates_per_hour.get(run.model_type)
    if rate:
        vocabulary_sizes = (vocabulary["words"], vocabulary["target_words"])
        weights = MODEL_TYPES[run.model_type].estimate_weights(run.architecture, vocabulary_sizes)
        relative_speed = proposal.preset.measured_weights[run.model_type] / weights
        updates_per_hour[run.model_type] = max(1, round(rate * relative_speed))

    # 3. about twenty validations
    blocks = _make_experiment_settings(
        proposal,
        models,
        validate_every=max(50, proposal.updates // 20),
        updates_per_hour=updates_per_hour,
        displayed_models={
            "figure2_models": [after, before],
            "figure3_model": after if run.has_attention else None,
            "table3_models": [before, after],
        },
    )
    blocks["training"]["learning_rate"] = FINE_TUNING_RATE
    return blocks


def _make_text_settings(proposal: Proposal, tokenized: bool) -> Block:
    """Return the block `vocabulary` and, if it has keys, the block `tokenization`."""
    blocks: Block = {}
    tokenization: Block = {}
    if proposal.subwords:
        blocks["vocabulary"] = {"words": proposal.subwords, "subwords": True}
        tokenization["escape"] = False  # an escaped character, such as &apos;, would take three units
    else:
        source_size, target_size = proposal.vocabulary_sizes
        blocks["vocabulary"] = {"words": source_size, "target_words": target_size}
    if not tokenized:
        tokenization["normalization"] = TOKENIZATION.normalization
    if tokenization:
        blocks["tokenization"] = tokenization
    return blocks


def _make_corpus_settings(text: OwnText, split: str) -> Block:
    """Return the entry of a split in `corpora`. Training text is prepared in shards of about a million pairs."""
    source, target = _name_files(split, text.languages)
    entry: Block = {"source": {"file": source}, "target": {"file": target}}
    shards = min(500, math.ceil(text.statistics.pairs[split] / 1_000_000))
    if split == "train" and shards > 1:
        entry["shards"] = shards
    if text.tokenized:
        entry["tokenized"] = True
    return entry


def _format_comments(text: OwnText, init_from: Path | None) -> str:
    """Return the comments at the top of config.yaml: where the text is from, and what explains the settings."""
    languages = text.languages
    pairs = ", ".join(f"{split} {count:,}" for split, count in text.statistics.pairs.items())
    file_list = printable("; ".join(f"{split}: {files}" for split, files in text.texts.items()))
    origin = f"{languages.source} to {languages.target}, sentence pairs: {pairs}. Made by `nmt new` of {file_list}."
    section = "fine-tuning" if init_from else "sizes-and-updates"
    explanation = (
        f"docs/own-text.md#{section} in the repository explains these settings, and docs/settings.md all keys:"
        " change what you like before the first run."
    )
    lines = textwrap.wrap(origin, 118) + textwrap.wrap(explanation, 118)
    return "\n".join(f"# {line}" for line in lines)
