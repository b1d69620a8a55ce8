"""Tables of sentences (Table 3, App. C; 2014b, Table 2): source, reference, and the systems' translations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from nmt.data.detokenization import Detokenizer
from nmt.errors import UserError
from nmt.evaluation.translations import TranslationRecord, split_words
from pipeline.config.display import ReportSettings
from pipeline.results.example_sentences import draw, papers_own
from pipeline.results.papers import SentenceGroup, SentenceTable
from pipeline.results.tables.writer import Table

COLUMNS = ["line", "words", "sentence", "text"]
SOURCE_ROW = "Source"
"""The name of the first row of each sentence."""
CALLED = {"dev": "development", "test": "test"}


@dataclass(frozen=True)
class SetTexts:
    """The texts of a set.

    references: its tokenized lines. translations: of all lines or some, by model. others: tokenized translations of all
    lines, by other systems.
    """

    references: Sequence[str]
    translations: Mapping[str, Sequence[TranslationRecord]]
    others: Mapping[str, Sequence[str]]


def sentence_table(table: SentenceTable, sets: Mapping[str, SetTexts], settings: ReportSettings) -> Table:
    """Return the table; a model's row stands before another system's.

    Args:
        table: which sentences.
        sets: those of the table, by name.
        settings: which models in which order, the seed of the draw, languages and tokenization; where the table does
            not say it, how many sentences and how long.

    Raises:
        UserError: no sentence fits.
    """
    models = settings.table3_models
    lines = _joined(table, sets, models)
    groups = [_completed(group, settings) for group in table.groups]
    chosen = [_choose(lines.translations[models[0]], group, settings.table3_seed) for group in groups]
    if not any(chosen):
        raise UserError(
            f"no sentence of {_sets(table)} has {_length(groups[0])}; lower artifacts.table3_words or the paper's file"
        )
    source, target = (
        Detokenizer(language, settings.tokenization)
        for language in (settings.languages.source, settings.languages.target)
    )
    outputs = {
        settings.label(model): {record.line: record.target for record in lines.translations[model]}
        for model in models
    }
    outputs |= {settings.label(system): found for system, found in lines.others.items()}
    rows: list[list[object]] = []
    rules: list[int] = []
    for record in (record for records in chosen for record in records):
        rules.append(len(rows))
        texts = {
            SOURCE_ROW: source(record.source),
            "Reference": target(split_words(lines.references[record.line])),
        }
        texts |= {name: target(found[record.line]) for name, found in outputs.items() if record.line in found}
        rows += [[*lines.places[record.line], len(record.source), name, text] for name, text in texts.items()]
    found = pd.DataFrame(rows, columns=["set", *COLUMNS])
    if len(table.sets) == 1:
        found = found[COLUMNS]
    shown = found[["sentence", "text"]].set_axis(["Sentence", "Text"], axis=1)
    note = _note(groups, chosen, table, settings)
    return Table(found, shown, ("Sentence", "Text"), rules[1:], [note])


@dataclass
class _Joined:
    """Lines of several sets, one set after the other. places: the set of each line, and its number there."""

    references: list[str]
    places: list[tuple[str, int]]
    translations: dict[str, list[TranslationRecord]]
    others: dict[str, dict[int, list[str]]]


def _joined(table: SentenceTable, sets: Mapping[str, SetTexts], models: Sequence[str]) -> _Joined:
    joined = _Joined([], [], {model: [] for model in models}, {})
    for name in table.sets:
        texts, start = sets[name], len(joined.references)
        for model in models:
            shifted = (
                record.model_copy(update={"line": start + record.line})
                for record in texts.translations[model]
            )
            joined.translations[model] += shifted
        for system, lines in texts.others.items():
            joined.others.setdefault(system, {}).update(enumerate(map(split_words, lines), start))
        joined.references += texts.references
        joined.places += [(name, line) for line in range(len(texts.references))]
    return joined


def _completed(group: SentenceGroup, settings: ReportSettings) -> SentenceGroup:
    """Return a group with what the settings say of those that do not say it themselves."""
    if group.sentences is not None:
        return group
    return group.model_copy(update={"sentences": settings.table3_sentences, "least": settings.table3_words})


def _choose(records: Sequence[TranslationRecord], group: SentenceGroup, seed: int) -> list[TranslationRecord]:
    """Return the paper's own sentences, then others drawn from the sentences of the wanted lengths."""
    count = group.sentences or 0
    own = papers_own(records, group.openings)[:count]
    most = group.most or max((len(record.source) for record in records), default=0)
    fitting = [record for record in records if group.least <= len(record.source) <= most]
    return own + draw(fitting, count - len(own), seed, own)


def _sets(table: SentenceTable) -> str:
    return f"the {' and the '.join(CALLED[name] for name in table.sets)} set"


def _length(group: SentenceGroup) -> str:
    if group.most is None:
        return f"{group.least} words or more"
    return f"{group.least} to {group.most} words"


def _note(
    groups: Sequence[SentenceGroup],
    chosen: Sequence[Sequence[TranslationRecord]],
    table: SentenceTable,
    settings: ReportSettings,
) -> str:
    """Return where the sentences come from."""
    parts = []
    for group, records in zip(groups, chosen, strict=True):
        own = len(papers_own(records, group.openings))
        others = len(records) - own
        drawn = f"drawn at random (seed {settings.table3_seed}) from those of {_length(group)}"
        parts += [f"{own} of the paper's own sentences"] * bool(own) + [f"{others} {drawn}"] * bool(others)
    known = " without unknown words" if table.known else ""
    return f"Sentences of {_sets(table)}{known}: {', '.join(parts)}. Text is detokenized; [UNK] is an unknown word."
