"""Tables of sentences (Table 3, App. C; 2014b, Table 2): source, reference, and what the systems make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from nmt.config.artifacts import Report
from nmt.data.detokenization import Detokenizer
from nmt.errors import UserError
from nmt.evaluation.translations import Record, words
from nmt.report.example_sentences import draw, papers_own
from nmt.report.papers import SentenceGroup, SentenceTable
from nmt.report.tables.writer import Table

COLUMNS = ["line", "words", "sentence", "text"]


def sentence_table(
    table: SentenceTable,
    translations: Mapping[str, Sequence[Record]],
    given: Mapping[str, Sequence[str]],
    references: Sequence[str],
    settings: Report,
) -> Table:
    """The table.

    Args:
        table: which sentences.
        translations: of the test set or some of its lines, by model.
        given: other systems' translations of all lines, tokenized; these rows follow the models'.
        references: tokenized lines of the test set.
        settings: which models in which order, the seed of the draw, languages and tokenization; where the table does
            not say it, how many sentences and how long.
    """
    models = settings.table3_models
    missing = [model for model in models if model not in translations]
    if missing:
        raise UserError(f"artifacts.table3_models names {missing[0]!r}, whose translations are not given")
    groups = [_completed(group, settings) for group in table.groups]
    chosen = [_choose(translations[models[0]], group, settings.table3_seed) for group in groups]
    if not any(chosen):
        raise UserError(
            f"no sentence of the test set has {_length(groups[0])}; lower artifacts.table3_words or the paper's file"
        )
    source, target = (
        Detokenizer(language, settings.tokenization)
        for language in (settings.languages.source, settings.languages.target)
    )
    outputs = {
        settings.short_label(model): {record.line: record.target for record in translations[model]}
        for model in models
    }
    outputs |= {settings.label(name): dict(enumerate(map(words, lines))) for name, lines in given.items()}
    rows: list[list[object]] = []
    rules: list[int] = []
    for record in (record for records in chosen for record in records):
        rules.append(len(rows))
        texts = [("Source", source(record.source)), ("Reference", target(words(references[record.line])))]
        texts += [
            (label, target(lines[record.line])) for label, lines in outputs.items() if record.line in lines
        ]
        rows += [[record.line, len(record.source), name, text] for name, text in texts]
    found = pd.DataFrame(rows, columns=COLUMNS)
    shown = found[["sentence", "text"]].set_axis(["Sentence", "Text"], axis=1)
    note = _note(groups, chosen, table, settings)
    return Table(found, shown, ("Sentence", "Text"), rules[1:], [note])


def _completed(group: SentenceGroup, settings: Report) -> SentenceGroup:
    """A group with what the settings say of those that do not say it themselves."""
    if group.sentences is not None:
        return group
    return group.model_copy(update={"sentences": settings.table3_sentences, "least": settings.table3_words})


def _choose(records: Sequence[Record], group: SentenceGroup, seed: int) -> list[Record]:
    """The paper's own sentences, then as many others as are wanted, drawn from those that are long or short enough."""
    count = group.sentences or 0
    own = papers_own(records, group.openings)[:count]
    most = group.most or max((len(record.source) for record in records), default=0)
    fitting = [record for record in records if group.least <= len(record.source) <= most]
    return own + draw(fitting, count - len(own), seed, own)


def _length(group: SentenceGroup) -> str:
    if group.most is None:
        return f"{group.least} words or more"
    return f"{group.least} to {group.most} words"


def _note(
    groups: Sequence[SentenceGroup],
    chosen: Sequence[Sequence[Record]],
    table: SentenceTable,
    settings: Report,
) -> str:
    """Where the sentences come from."""
    parts = []
    for group, records in zip(groups, chosen, strict=True):
        own = len(papers_own(records, group.openings))
        others = len(records) - own
        drawn = f"drawn at random (seed {settings.table3_seed}) from those of {_length(group)}"
        parts += [f"{own} of the paper's own sentences"] * bool(own) + [f"{others} {drawn}"] * bool(others)
    known = " without unknown words" if table.known else ""
    return f"Sentences of the test set{known}: {', '.join(parts)}. Text is detokenized; [UNK] is an unknown word."
