"""Table 3 (App. C): long source sentences with the reference and what the models make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from nmt.config.schema import Report
from nmt.data.detokenization import Detokenizer
from nmt.errors import UserError
from nmt.evaluation.translations import Record
from nmt.report.example_sentences import draw, papers_own
from nmt.report.tables.writer import Table

COLUMNS = ["line", "words", "sentence", "text"]


def table3(
    translations: Mapping[str, Sequence[Record]],
    references: Sequence[str],
    openings: Sequence[str],
    settings: Report,
) -> Table:
    """The table of sentences of `table3_words` words or more.

    Args:
        translations: of the whole test set, by model, in the order of the rows.
        references: tokenized lines of the test set.
        openings: beginnings of the paper's own sentences, which come first.
        settings: which models, how many sentences, how long, the seed of the draw, languages and tokenization.
    """
    missing = [model for model in settings.table3_models if model not in translations]
    if missing:
        raise UserError(f"artifacts.table3_models names {missing[0]!r}, whose translations are not given")
    chosen = choose(translations[settings.table3_models[0]], openings, settings)
    if not chosen:
        raise UserError(
            f"Table 3: no sentence of the test set has {settings.table3_words} words or more; "
            "lower artifacts.table3_words"
        )
    source, target = (
        Detokenizer(language, settings.tokenization)
        for language in (settings.languages.source, settings.languages.target)
    )
    by_line = {
        model: {record.line: record for record in translations[model]} for model in settings.table3_models
    }
    cells: list[list[str]] = []
    rows: list[list[object]] = []
    rules: list[int] = []
    for record in chosen:
        rules.append(len(cells))
        texts = [("Source", source(record.source))]
        texts += [("Reference", target(references[record.line].split()))]
        texts += [
            (settings.short_label(model), target(by_line[model][record.line].target))
            for model in settings.table3_models
        ]
        cells += [[name, text] for name, text in texts]
        rows += [[record.line, len(record.source), name, text] for name, text in texts]
    own = len(papers_own(chosen, openings))
    return Table(
        pd.DataFrame(rows, columns=COLUMNS),
        pd.DataFrame(cells, columns=["Sentence", "Text"]),
        ("Sentence", "Text"),
        rules[1:],
        notes(own, chosen, settings),
    )


def choose(records: Sequence[Record], openings: Sequence[str], settings: Report) -> list[Record]:
    """The paper's own sentences, then as many others as are wanted, drawn from those that are long enough."""
    own = papers_own(records, openings)[: settings.table3_sentences]
    long = [record for record in records if len(record.source) >= settings.table3_words]
    return own + draw(long, settings.table3_sentences - len(own), settings.table3_seed, own)


def notes(own: int, chosen: Sequence[Record], settings: Report) -> list[str]:
    """Where the sentences come from."""
    others = len(chosen) - own
    drawn = (
        f"drawn at random (seed {settings.table3_seed}) from those of {settings.table3_words} words or more"
    )
    parts = [f"{own} of the paper's own sentences"] * bool(own) + [f"{others} {drawn}"] * bool(others)
    return [f"Sentences of the test set: {', '.join(parts)}. Text is detokenized; [UNK] is an unknown word."]
