"""The page of corpus statistics: the rows of `data.csv` as tables in Markdown, under their names there."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from nmt.io.files import write_text
from pipeline.results.corpora import COLUMNS, Report, rows
from pipeline.results.statistics import PARTS, SIDES
from pipeline.results.tables.writer import pipe_table

_HEAD = (
    "Words are separated by white space in raw and clean text, and are tokens from then on; the two are not comparable."
    " A pair counts when both sides have words; raw counts every line of the archives."
)
_REPORTED = (
    "Reported: Bahdanau et al. (2015), Sec. 4.1, not computed by this run; the paper does not say whether it counts"
    " before or after tokenization. How much of each corpus was selected it does not say either: that follows from the"
    " names of the authors' texts, which hold the share of the words."
)
_UNKNOWN = (
    "Unknown words are those that the vocabularies lack: the most frequent words, or the subword units, of the training"
    " text that models read. Training text is counted after the selection, if there is one, and of any length. Types"
    " are different words, each counted once however often it occurs."
)
_VOCABULARY = ("unknown", "unknown_rate", "without_unknown", "types", "unknown_types", "types_covered")


def write_markdown(report: Report, path: Path, figure: str) -> None:
    """Write the page. `figure` is the picture's name as seen from it."""
    facts = _facts(report)
    sections = (_volumes, _reported, _removed, _vocabularies, _lengths, _overlap, _archives)
    blocks = [block for section in sections for block in section(facts)]
    blocks = ["# Data", f"{_HEAD} See also the figure {figure}.", *blocks]
    shown = (
        block if block[0] in "#|" else textwrap.fill(block, 100, break_on_hyphens=False) for block in blocks
    )
    write_text(path, "\n\n".join(shown) + "\n")


def _facts(report: Report) -> pd.DataFrame:
    """Return the rows of the CSV by part, with languages for sides, and without the sum of a part of one corpus."""
    facts = pd.DataFrame(rows(report), columns=COLUMNS, dtype=object)
    facts["side"] = facts["side"].replace(dict(zip(SIDES, report.languages, strict=True)))
    shown = {(one.part, one.name) for part in PARTS for one in report.with_total(part)}
    facts = facts[
        [not part or (part, corpus) in shown for part, corpus in facts[["part", "corpus"]].to_numpy()]
    ]
    order = {part: place for place, part in enumerate(PARTS)}
    return facts.sort_values("part", key=lambda parts: parts.map(order), kind="stable")


def _table(facts: pd.DataFrame, index: Sequence[str], columns: Sequence[str]) -> str:
    """Return a row for each value of `index`, and a column for each of `columns`, in the order of the facts."""
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for fact in facts.to_dict("records"):
        header = ", ".join(_name(fact[name]) for name in columns if fact[name])
        lines.setdefault(tuple(fact[name] for name in index), {})[header] = _cell(fact["value"], fact["unit"])
    cells = [dict(zip(index, key, strict=True)) | line for key, line in lines.items()]
    return pipe_table(pd.DataFrame(cells).fillna(""), index)


def _name(identifier: str) -> str:
    return identifier.removeprefix("length_").replace("within_", "≤ ").replace("_", " ")


def _cell(value: object, unit: str) -> str:
    if isinstance(value, float):
        return f"{value:.2%}" if unit == "share" else f"{value:.1f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _volumes(facts: pd.DataFrame) -> list[str]:
    """Return pairs and words at every stage, and within the limits of the models."""
    pairs, words = (facts[facts["measure"] == measure] for measure in ("pairs", "words"))
    blocks = ["## Pairs and words", "Pairs:", _table(pairs, ("part", "corpus"), ("stage",))]
    for language, counted in words.groupby("side", sort=False):
        blocks += [f"Words, {language}:", _table(counted, ("part", "corpus"), ("stage",))]
    limited = facts["stage"].str.startswith("within_").any()
    return blocks + ["≤: pairs with at most so many words on either side, as models read them."] * bool(
        limited
    )


def _reported(facts: pd.DataFrame) -> list[str]:
    """Return words of the target language beside those that the paper reports."""
    ours = facts[facts["reported"].notna()]
    if ours.empty:
        return []
    theirs = ours.assign(value=ours["reported"], measure="reported")
    both = pd.concat([ours, theirs]).sort_index(kind="stable")
    return ["## Beside the paper", _table(both, ("corpus",), ("stage", "measure", "side")), _REPORTED]


def _removed(facts: pd.DataFrame) -> list[str]:
    """Return why pairs were removed, and what was malformed: the reasons that occur."""
    blocks = ["## Removed pairs"]
    for stage, text in (
        ("removed", "Each removed pair is counted once."),
        ("repaired", "Lines with malformed characters, repaired or not:"),
    ):
        counted = facts[facts["stage"] == stage]
        seen = counted.groupby(["measure", "side"])["value"].transform("sum") > 0
        blocks.append(f"{text} {_absent(counted[~seen], counted[seen])}".strip())
        if seen.any():
            blocks.append(_table(counted[seen], ("part", "corpus"), ("measure", "side")))
    return blocks


def _absent(unseen: pd.DataFrame, seen: pd.DataFrame) -> str:
    names = [_name(name) for name in dict.fromkeys(unseen["measure"]) if name not in set(seen["measure"])]
    return f"None for: {', '.join(names)}." if names else ""


def _vocabularies(facts: pd.DataFrame) -> list[str]:
    """Return how much of the text the vocabularies cover."""
    counted = facts[facts["measure"].isin(_VOCABULARY)]
    return ["## Vocabularies", _table(counted, ("part", "corpus"), ("measure", "side")), _UNKNOWN]


def _lengths(facts: pd.DataFrame) -> list[str]:
    """Return how long sentences are."""
    counted = facts[facts["measure"].str.startswith("length_")]
    note = "In tokens. Median, 95 and 99: so many per cent of the sentences are no longer (the median: 50)."
    return ["## Lengths", _table(counted, ("part", "corpus", "side"), ("measure",)), note]


def _overlap(facts: pd.DataFrame) -> list[str]:
    """Return pairs of the training text that share a sentence with the development or test sets."""
    names = facts["measure"].str.extract(r"^(?P<set>.+)_(?P<way>same|alike)_(?P<on>source|target|both)$")
    counted = facts.join(names)[(facts["stage"] == "overlap") & names["set"].notna()]
    if counted.empty:
        return []
    note = (
        "Pairs of the training text with a sentence of such a set on one side or both. Same: as tokens; alike: by"
        " letters and digits alone, whatever their case."
    )
    title = "## Training pairs with a sentence of the development or test text"
    return [title, _table(counted, ("corpus", "set"), ("way", "on")), note]


def _archives(facts: pd.DataFrame) -> list[str]:
    """Return the files that the text came out of."""
    blocks = []
    if not (archives := facts[facts["stage"] == "archive"].rename(columns={"corpus": "archive"})).empty:
        note = "Sizes and checksums as downloaded; checked: those that were known before."
        blocks += [_table(archives, ("archive",), ("measure",)), note]
    if not (members := facts[(facts["stage"] == "raw") & (facts["measure"] == "md5")]).empty:
        blocks += ["MD5 of the text of each side:", _table(members, ("corpus",), ("side",))]
    return ["## Archives", *blocks] if blocks else []
