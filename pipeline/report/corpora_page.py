"""Corpus statistics as a page to read: the rows of `data.csv` as tables in Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from pipeline.report.corpora import TOTAL, Corpus, Report, ratio, reported_words, rows
from pipeline.report.statistics import SIDES
from pipeline.report.tables.writer import pipe_table, write_text

_NAMES = {
    "raw": "Raw",
    "clean": "Cleaned",
    "tokens": "Tokenized",
    "kept": "Without overlap",
    "selected": "Selected",
    "no_token": "nothing left by the tokenizer",
    "empty": "empty side",
    "ratio": "too unequal",
    "invalid_utf8": "invalid UTF-8",
    "byte_order_mark": "byte-order mark",
    "train": "training",
    "dev": "development",
    "archive": "Archive",
    "bytes": "Bytes",
    "md5": "MD5",
    "sha256": "SHA-256",
    "checked": "Checked",
}
"""Stages, reasons, parts and columns of archives whose names differ from their ids."""
_LENGTHS = {
    "Median": "length_median",
    "95%": "length_95",
    "99%": "length_99",
    "Longest": "length_longest",
}

Columns = Mapping[str, Callable[[Corpus], str]]
"""Headers, and what stands below them for a corpus."""


def write_markdown(report: Report, path: Path, figure: str) -> None:
    """Write the page; `figure` is the picture's name as seen from it."""
    write_text(path, "\n\n".join([*_Page(report).blocks(), f"See also the figure {figure}."]) + "\n")


def _name(identifier: str) -> str:
    return _NAMES.get(identifier, identifier.replace("_", " "))


def _title(stage: str) -> str:
    return _name(stage).removeprefix("within ").capitalize()


def _number(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _percent(share: float | None, decimals: int = 1) -> str:
    """A share in per cent; what would be shown as 0 or 100 and is not says so."""
    if share is None:
        return ""
    shown = f"{100 * share:.{decimals}f}"
    least = 10**-decimals
    if float(shown) == 0 and share > 0:
        return f"<{least:.{decimals}f}%"
    if float(shown) == 100 and share < 1:
        return f">{100 - least:.{decimals}f}%"
    return f"{shown}%"


def _text(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), 100, break_on_hyphens=False)


def _table(corpora: Sequence[Corpus], columns: Columns, words: Sequence[str] = ("Corpus", "Part")) -> str:
    """One row per corpus."""
    cells = [[cell(corpus) for cell in columns.values()] for corpus in corpora]
    return pipe_table(pd.DataFrame(cells, columns=list(columns)), words)


_CORPUS: Columns = {"Corpus": lambda corpus: corpus.name}
_CORPUS_AND_PART: Columns = {**_CORPUS, "Part": lambda corpus: _name(corpus.part)}
_FULL_NAME: Columns = {
    "Corpus": lambda corpus: f"{TOTAL}, {_name(corpus.part)}" if corpus.name == TOTAL else corpus.name
}


class _Page:
    """The sections of the page; a section without anything to show has no blocks."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.languages = dict(zip(SIDES, report.languages, strict=True))
        self.facts = {row[:5]: row[6] for row in rows(report)}
        self.train = report.with_total("train")
        self.every = [corpus for total in report.totals for corpus in report.with_total(total.part)]

    def blocks(self) -> list[str]:
        """All paragraphs and tables."""
        sections: list[Callable[[], list[str]]] = [self.head, self.volumes, self.selection, self.removed]
        sections += [self.repaired, self.others, self.vocabulary, self.types, self.lengths, self.overlap]
        return [block for section in [*sections, self.archives] for block in section()]

    def value(self, corpus: Corpus, stage: str, measure: str, side: str = "") -> object:
        """A number of `data.csv`, None where it was not counted."""
        return self.facts.get((corpus.part, corpus.name, stage, measure, side))

    def number(self, stage: str, measure: str, side: str = "") -> Callable[[Corpus], str]:
        """What shows a number of `data.csv`."""
        return lambda corpus: _number(self.value(corpus, stage, measure, side))

    def of_last(self, measure: str, side: str = "") -> Callable[[Corpus], str]:
        """The same of the stage that models read."""
        return lambda corpus: _number(self.value(corpus, corpus.last["name"], measure, side))

    def measures(self, stage: str) -> list[tuple[str, str]]:
        """Measures and sides that a stage has in any corpus, in order."""
        return list(dict.fromkeys((key[3], key[4]) for key in self.facts if key[2] == stage))

    def counted(self, stage: str) -> dict[tuple[str, str], bool]:
        """Measures and sides of a stage, with whether any corpus has more than 0 of them."""
        return {
            (measure, side): any(self.value(corpus, stage, measure, side) for corpus in self.report.corpora)
            for measure, side in self.measures(stage)
        }

    def head(self) -> list[str]:
        source, target = self.report.languages
        text = (
            f"Corpus statistics of this run, {source} to {target}. Words are separated by white space before",
            "tokenization (Raw, Cleaned) and are tokens from then on; the two are not comparable.",
            "A pair counts when both sides have words; Raw counts every line of the archives.",
        )
        return ["# Data", _text(*text)]

    def volumes(self) -> list[str]:
        """Pairs and words of the training text at every stage and within the models' limits."""
        stages = {_title(volume.stage): volume.stage for volume in self.train[0].volumes}
        stages |= {f"≤ {limit}": f"within_{limit}" for limit in self.report.limits}
        blocks = ["## Training text"]
        for title, measure, side in (
            ("Pairs:", "pairs", ""),
            *((f"Words, {language}:", "words", side) for side, language in self.languages.items()),
        ):
            columns = {header: self.number(stage, measure, side) for header, stage in stages.items()}
            blocks += [title, _table(self.train, {**_CORPUS, **columns})]
        limits = " or ".join(map(str, self.report.limits))
        note = f"≤: pairs with at most so many words on either side, as models with a limit of {limits} read them."
        return [*blocks, _text(note)] if limits else blocks

    def selection(self) -> list[str]:
        """What each corpus gave to the selection and what it has left, and what the paper reports."""
        selected = len(self.train[0].counts["stages"]) > 1
        reported = self.report.paper.total is not None
        if not selected and not reported:
            return []
        columns = {
            "Tokenized": lambda corpus: _number(_target_words(corpus, 0)),
            "Reported, all": self.reported("tokens"),
            "Selected": lambda corpus: _number(_target_words(corpus, -1)),
            "Reported, selected": self.reported("selected"),
            "Kept, pairs": lambda corpus: _percent(
                ratio(*(corpus.counts["stages"][n]["pairs"] for n in (-1, 0)))
            ),
            "Kept, words": lambda corpus: _percent(
                ratio(_target_words(corpus, -1), _target_words(corpus, 0))
            ),
            "Mix before": self.share_of_all(0),
            "Reported, before": self.reported_share("tokens"),
            "Mix after": self.share_of_all(-1),
            "Reported, after": self.reported_share("selected"),
        }
        only_all = ("Tokenized", "Reported, all")
        shown = {
            header: cell
            for header, cell in columns.items()
            if (selected or header in only_all) and (reported or not header.startswith("Reported"))
        }
        title = "Selection" if selected else "Beside the paper"
        blocks = [
            f"## {title}, in words of {self.languages['target']}",
            _table(self.train, {**_CORPUS, **shown}),
        ]
        notes = []
        if selected:
            notes.append(
                "Kept: share of the corpus' pairs and tokens. Mix: share of all training text's tokens."
            )
        if reported:
            notes.append(
                "Reported: Bahdanau et al. (2015), Sec. 4.1, not computed by this run; the paper does not say whether"
                " it counts before or after tokenization. How much of each corpus was selected it does not say either:"
                " that follows from the names of the authors' texts, which hold the share of the words."
            )
        return [*blocks, _text(*notes)]

    def share_of_all(self, stage: int) -> Callable[[Corpus], str]:
        whole = _target_words(self.report.total("train"), stage)
        return lambda corpus: _percent(ratio(_target_words(corpus, stage), whole))

    def reported(self, stage: str) -> Callable[[Corpus], str]:
        return lambda corpus: _number(reported_words(corpus, stage, self.report.paper))

    def reported_share(self, stage: str) -> Callable[[Corpus], str]:
        whole = reported_words(self.report.total("train"), stage, self.report.paper)

        def cell(corpus: Corpus) -> str:
            part = reported_words(corpus, stage, self.report.paper)
            return _percent(None if part is None or whole is None else ratio(part, whole))

        return cell

    def with_totals(self) -> list[Corpus]:
        totals = (total for total in self.report.totals if len(self.report.of(total.part)) > 1)
        return [*self.report.corpora, *totals]

    def removed(self) -> list[str]:
        """Why pairs were removed."""
        reasons = {reason: seen for (reason, _), seen in self.counted("removed").items()}
        columns = {
            "Raw pairs": lambda corpus: _number(corpus.volumes[0].pairs),
            **{_name(reason): self.number("removed", reason) for reason, seen in reasons.items() if seen},
            "Left": lambda corpus: _number(corpus.volumes[-1].pairs),
        }
        notes = ["Each removed pair is counted once."]
        unseen = [_name(reason) for reason, seen in reasons.items() if not seen]
        notes += [f"None for: {', '.join(unseen)}."] if unseen else []
        return ["## Removed pairs", _table(self.with_totals(), {**_FULL_NAME, **columns}), _text(*notes)]

    def repaired(self) -> list[str]:
        """Lines with malformed characters."""
        faults = self.counted("repaired")
        if not faults:
            return []
        columns = {
            f"{_name(kind)}, {self.languages[side]}": self.number("repaired", kind, side)
            for (kind, side), seen in faults.items()
            if seen
        }
        if not columns:
            return ["No line had invalid UTF-8 or other malformed characters."]
        title = "Lines with malformed characters, repaired or not:"
        return [title, _table(self.with_totals(), {**_FULL_NAME, **columns})]

    def others(self) -> list[str]:
        """Pairs and words of development, test and in-domain text."""
        corpora = [corpus for corpus in self.every if corpus.part != "train"]
        if not corpora:
            return []
        stages = [volume.stage for volume in corpora[0].volumes]
        units = [("pairs", "pairs", ""), *((name, "words", side) for side, name in self.languages.items())]
        columns = {
            f"{_title(stage)}, {unit}": self.number(stage, measure, side)
            for unit, measure, side in units
            for stage in stages
        }
        parts = dict.fromkeys(_name(corpus.part) for corpus in corpora)
        title = "## " + " and ".join(parts).capitalize() + " text"
        return [title, _table(corpora, {**_CORPUS_AND_PART, **columns})]

    def vocabulary(self) -> list[str]:
        """How much of the text the vocabularies cover."""
        columns: dict[str, Callable[[Corpus], str]] = {}
        for side, language in self.languages.items():
            columns[f"Words, {language}"] = self.of_last("words", side)
            columns[f"Unknown, {language}"] = self.of_last("unknown", side)
            columns[f"UNK rate, {language}"] = _share(Corpus.unknown_rate, side)
        columns["Pairs without unknown word"] = self.of_last("without_unknown")
        columns["Share"] = lambda corpus: _percent(ratio(corpus.last["known_pairs"], corpus.last["pairs"]))
        sizes = [max(self.report.corpora[0].coverage(side), default=0) for side in SIDES]
        named = (f"{size:,} words of {name}" for size, name in zip(sizes, self.report.languages, strict=True))
        text = (
            f"Vocabularies of {' and '.join(named)}, the most frequent ones of the training text that models read;",
            "everything else is unknown to them. Training text: after selection, if there is one, and of any length.",
        )
        of_units = (
            "The vocabularies are subword units: unknown are words with a character that is none of them."
        )
        note = _text(*text) if any(sizes) else _text(of_units)
        return ["## Vocabularies", _table(self.every, {**_CORPUS_AND_PART, **columns}), note]

    def types(self) -> list[str]:
        """How many of the different words the vocabularies have, where these were listed."""
        listed = [corpus for corpus in self.every if corpus.types(SIDES[0])]
        if not listed:
            return []
        columns: dict[str, Callable[[Corpus], str]] = {}
        for side, language in self.languages.items():
            columns[f"Types, {language}"] = self.of_last("types", side)
            columns[f"Unknown types, {language}"] = self.of_last("unknown_types", side)
            columns[f"Types covered, {language}"] = _share(_covered, side)
        note = "Types: different words, each counted once however often it occurs."
        return ["The same by types:", _table(listed, {**_CORPUS_AND_PART, **columns}), _text(note)]

    def lengths(self) -> list[str]:
        """How long sentences are."""
        lines = []
        for corpus in self.report.totals:
            for side, language in self.languages.items():
                found = corpus.lengths(side)
                line = {"Text": _name(corpus.part), "Side": language, "Sentences": _number(found.sentences)}
                line["Mean"] = "" if found.mean is None else f"{found.mean:.1f}"
                line |= {header: self.of_last(name, side)(corpus) for header, name in _LENGTHS.items()}
                line |= {f"≤ {limit}": _percent(found.within(limit)) for limit in self.report.limits}
                lines.append(line)
        note = "In tokens. Median, 95% and 99%: so many of the sentences are no longer."
        note += " ≤: share of sentences." if self.report.limits else ""
        return ["## Lengths", pipe_table(pd.DataFrame(lines), ("Text", "Side")), _text(note)]

    def overlap(self) -> list[str]:
        """Pairs of the training text that share a sentence with the development or test sets."""
        corpora = [corpus for corpus in self.train if corpus.counts["overlap"]]
        if not corpora:
            return []
        ends = {"same": "tokens", "alike": "letters"}
        lines = [
            {"Corpus": corpus.name, "Shares with": name.removesuffix("_same_both")}
            | {
                f"{side}, {way}": _number(
                    self.value(corpus, "overlap", f"{name.removesuffix('_same_both')}_{end}_{side}")
                )
                for end, way in ends.items()
                for side in (*SIDES, "both")
            }
            for corpus in corpora
            for name in corpora[0].counts["overlap"]
            if name.endswith("_same_both")
        ]
        note = "Pairs of the training text with a sentence of such a set on one side or both: as tokens, and by letters"
        dropped = self.number("overlap", "dropped")(corpora[-1])
        note += f" and digits alone, whatever their case. Dropped were {dropped} pairs (`overlap.drop`)."
        title = "## Training pairs with a sentence of the development or test text"
        return [title, pipe_table(pd.DataFrame(lines), ("Corpus", "Shares with")), _text(note)]

    def archives(self) -> list[str]:
        """The files that the text came out of."""
        blocks = []
        names = ("archive", "bytes", "md5", "sha256", "checked")
        known = [name for name in names if any(name in archive for archive in self.report.archives)]
        if known:
            lines = [[_archive_cell(archive.get(name)) for name in known] for archive in self.report.archives]
            headers = list(map(_name, known))
            note = "Sizes and checksums as downloaded; checked: those that were known before."
            blocks += [pipe_table(pd.DataFrame(lines, columns=headers), headers), _text(note)]
        if members := [corpus for corpus in self.report.corpora if corpus.members]:
            columns = {
                f"MD5 of its text, {language}": self.number("raw", "md5", side)
                for side, language in self.languages.items()
            }
            blocks.append(_table(members, {**_CORPUS, **columns}, ("Corpus", *columns)))
        return ["## Archives", *blocks] if blocks else []


def _target_words(corpus: Corpus, stage: int) -> int:
    words: int = corpus.counts["stages"][stage]["target"]["words"]
    return words


def _share(function: Callable[[Corpus, str], float | None], side: str) -> Callable[[Corpus], str]:
    return lambda corpus: _percent(function(corpus, side), 2)


def _covered(corpus: Corpus, side: str) -> float | None:
    types = corpus.types(side)
    return types.covered if types else None


def _archive_cell(value: object) -> str:
    return ", ".join(map(str, value)) or "nothing" if isinstance(value, list) else _number(value)
