"""Corpus statistics as a page to read: tables of `nmt.report.corpora` in Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from nmt.data.statistics import SIDES
from nmt.report.corpora import TOTAL, Corpus, Report, ratio, reported_words
from nmt.report.tables.writer import pipe_table, write_text

_STAGES = {
    "raw": "Raw",
    "clean": "Cleaned",
    "tokens": "Tokenized",
    "kept": "Without overlap",
    "selected": "Selected",
}
_REASONS = {
    "no_token": "nothing left by the tokenizer",
    "not_selected": "not selected",
    "empty": "empty side",
    "too_long": "too long",
    "too_short": "too short",
    "ratio": "too unequal",
    "invalid_utf8": "invalid UTF-8",
    "byte_order_mark": "byte-order mark",
}
_PARTS = {"train": "training", "dev": "development", "test": "test", "in-domain": "in-domain"}

_ARCHIVE_COLUMNS = {
    "archive": "Archive",
    "bytes": "Bytes",
    "md5": "MD5",
    "sha256": "SHA-256",
    "checked": "Checked",
}

Cell = str
Line = list[Cell]

_WAYS = {"same": "tokens", "alike": "letters"}
_SHARED = ("source", "target", "both")


def write_markdown(report: Report, path: Path, figure: str) -> None:
    """Write the page; `figure` is the picture's name as seen from it."""
    sections = (
        _head,
        _volumes,
        _beside_paper,
        _removed,
        _others,
        _vocabulary,
        _types,
        _lengths,
        _overlap,
        _archives,
    )
    blocks = [block for section in sections for block in section(report)]
    blocks.append(f"See also the figure {figure}.")
    write_text(path, "\n\n".join(blocks) + "\n")


def _table(headers: Sequence[str], lines: Sequence[Line], left: int = 1) -> str:
    """A pipe table; the first `left` columns hold words, the others numbers."""
    return pipe_table(pd.DataFrame(lines, columns=list(headers)), headers[:left])


def _text(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), 100, break_on_hyphens=False)


def _number(value: int | None) -> Cell:
    return "" if value is None else f"{value:,}"


def _percent(share: float | None, decimals: int = 1) -> Cell:
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


def _stage(name: str) -> str:
    return _STAGES.get(name, name.replace("_", " ").capitalize())


def _head(report: Report) -> list[str]:
    source, target = report.languages
    return [
        "# Data",
        _text(
            f"Corpus statistics of this run, {source} to {target}. Words are separated by white space before",
            "tokenization (Raw, Cleaned) and are tokens from then on; the two are not comparable.",
            "A pair counts when both sides have words; Raw counts every line of the archives.",
        ),
    ]


def _volumes(report: Report) -> list[str]:
    """Pairs and words of the training text at every stage."""
    source, target = report.languages
    corpora = report.with_total("train")
    blocks = ["## Training text"]
    blocks += ["Pairs:", _volume_table(corpora, report, None)]
    blocks += [f"Words, {source}:", _volume_table(corpora, report, 0)]
    blocks += [f"Words, {target}:", _volume_table(corpora, report, 1)]
    limits = " or ".join(map(str, report.limits))
    note = f"≤: pairs with at most so many words on either side, which is what models with a limit of {limits} read."
    return [*blocks, _text(note)] if limits else blocks


def _volume_table(corpora: Sequence[Corpus], report: Report, side: int | None) -> str:
    """Pairs, or words of a side, of corpora at every stage and within the models' limits."""
    stages = [_stage(volume.stage) for volume in corpora[0].volumes]
    limits = [f"≤ {limit}" for limit in report.limits]
    lines = []
    for corpus in corpora:
        volumes = [*corpus.volumes, *(corpus.within(limit) for limit in report.limits)]
        values = [volume.pairs if side is None else volume.words[side] for volume in volumes]
        lines.append([corpus.name, *map(_number, values)])
    return _table(["Corpus", *stages, *limits], lines)


def _beside_paper(report: Report) -> list[str]:
    """What each corpus gave to the selection and what it has left, and what the paper reports."""
    corpora = report.with_total("train")
    selected = len(report.of("train")[0].counts["stages"]) > 1
    reported = report.paper.total is not None
    if not selected and not reported:
        return []
    columns = [column for column in _COLUMNS if column.shown(selected, reported)]
    lines = [[corpus.name, *(column.cell(corpus, report) for column in columns)] for corpus in corpora]
    title = "Selection" if selected else "Beside the paper"
    blocks = [f"## {title}, in words of {report.languages[1]}"]
    blocks.append(_table(["Corpus", *(column.header for column in columns)], lines))
    notes = []
    if selected:
        notes.append("Kept: share of the corpus' pairs and tokens. Mix: share of all training text's tokens.")
    if reported:
        notes.append(
            "Reported: Bahdanau et al. (2015), Sec. 4.1, not computed by this run; the paper does not say whether"
            " it counts before or after tokenization. How much of each corpus was selected it does not say either:"
            " that follows from the names of the authors' texts, which hold the share of the words."
        )
    return [*blocks, _text(*notes)]


class _Column:
    """A column of the table beside the paper: when it is shown, and what it says of a corpus."""

    def __init__(
        self,
        header: str,
        cell: Callable[[Corpus, Report], Cell],
        selected: bool = False,
        reported: bool = False,
    ) -> None:
        self.header = header
        self.cell = cell
        self._needs = selected, reported

    def shown(self, selected: bool, reported: bool) -> bool:
        """Whether there is something to show."""
        return all(there or not need for need, there in zip(self._needs, (selected, reported), strict=True))


def _target_words(corpus: Corpus, stage: int) -> int:
    words: int = corpus.counts["stages"][stage]["target"]["words"]
    return words


def _share_of_all(stage: int) -> Callable[[Corpus, Report], Cell]:
    def cell(corpus: Corpus, report: Report) -> Cell:
        return _percent(ratio(_target_words(corpus, stage), _target_words(report.total("train"), stage)))

    return cell


def _reported(stage: str) -> Callable[[Corpus, Report], Cell]:
    return lambda corpus, report: _number(reported_words(corpus, stage, report.paper))


def _reported_share(stage: str) -> Callable[[Corpus, Report], Cell]:
    def cell(corpus: Corpus, report: Report) -> Cell:
        part, whole = (reported_words(some, stage, report.paper) for some in (corpus, report.total("train")))
        return _percent(None if part is None or whole is None else ratio(part, whole))

    return cell


def _kept_pairs(corpus: Corpus, report: Report) -> Cell:
    first, last = (corpus.counts["stages"][stage]["pairs"] for stage in (0, -1))
    return _percent(ratio(last, first))


_COLUMNS = (
    _Column("Tokenized", lambda corpus, report: _number(_target_words(corpus, 0))),
    _Column("Reported, all", _reported("tokens"), reported=True),
    _Column("Selected", lambda corpus, report: _number(_target_words(corpus, -1)), selected=True),
    _Column("Reported, selected", _reported("selected"), selected=True, reported=True),
    _Column("Kept, pairs", _kept_pairs, selected=True),
    _Column(
        "Kept, words",
        lambda corpus, report: _percent(ratio(_target_words(corpus, -1), _target_words(corpus, 0))),
        selected=True,
    ),
    _Column("Mix before", _share_of_all(0), selected=True),
    _Column("Reported, before", _reported_share("tokens"), selected=True, reported=True),
    _Column("Mix after", _share_of_all(-1), selected=True),
    _Column("Reported, after", _reported_share("selected"), selected=True, reported=True),
)


def _removed(report: Report) -> list[str]:
    """Why pairs were removed, and repaired lines."""
    corpora = [*report.corpora, *(total for total in report.totals if len(report.of(total.part)) > 1)]
    reasons = _named(corpora, lambda corpus: corpus.removed)
    seen = [reason for reason in reasons if any(corpus.removed.get(reason) for corpus in corpora)]
    headers = ["Corpus", "Raw pairs", *(_reason(reason) for reason in seen), "Left"]
    lines = [
        [
            _full_name(corpus),
            _number(corpus.volumes[0].pairs),
            *(_number(corpus.removed.get(reason)) for reason in seen),
            _number(corpus.volumes[-1].pairs),
        ]
        for corpus in corpora
    ]
    blocks = ["## Removed pairs", _table(headers, lines)]
    unseen = [_reason(reason) for reason in reasons if reason not in seen]
    notes = ["Each removed pair is counted once."]
    notes += [f"None for: {', '.join(unseen)}."] if unseen else []
    return [*blocks, _text(*notes), *_repaired(report, corpora)]


def _repaired(report: Report, corpora: Sequence[Corpus]) -> list[str]:
    faults = _named(corpora, lambda corpus: corpus.repaired)
    seen = [fault for fault in faults if any(corpus.repaired.get(fault) for corpus in corpora)]
    if not faults:
        return []
    if not seen:
        return [_text("No line had invalid UTF-8 or other unusual characters.")]
    names = dict(zip(SIDES, report.languages, strict=True))
    headers = ["Corpus", *(_fault(fault, names) for fault in seen)]
    lines = [
        [_full_name(corpus), *(_number(corpus.repaired.get(fault)) for fault in seen)] for corpus in corpora
    ]
    return ["Lines with unusual characters, kept or removed:", _table(headers, lines)]


def _named(corpora: Sequence[Corpus], counts: Callable[[Corpus], dict[str, int]]) -> list[str]:
    return list(dict.fromkeys(name for corpus in corpora for name in counts(corpus)))


def _reason(reason: str) -> str:
    return _REASONS.get(reason, reason.replace("_", " "))


def _fault(fault: str, languages: dict[str, str]) -> str:
    side, _, kind = fault.partition("_")
    return f"{kind.replace('_', ' ')}, {languages[side]}".replace("utf8", "UTF-8")


def _full_name(corpus: Corpus) -> str:
    return f"{TOTAL}, {_PARTS[corpus.part]}" if corpus.name == TOTAL else corpus.name


def _others(report: Report) -> list[str]:
    """Pairs and words of development, test and in-domain text."""
    parts = [total.part for total in report.totals if total.part != "train"]
    corpora = [corpus for part in parts for corpus in report.with_total(part)]
    if not corpora:
        return []
    stages = [_stage(volume.stage) for volume in corpora[0].volumes]
    units = ["pairs", *report.languages]
    headers = ["Corpus", "Part", *(f"{stage}, {unit}" for unit in units for stage in stages)]
    lines = []
    for corpus in corpora:
        volumes = corpus.volumes
        pairs = [volume.pairs for volume in volumes]
        source, target = ([volume.words[side] for volume in volumes] for side in (0, 1))
        lines.append([corpus.name, _PARTS[corpus.part], *map(_number, (*pairs, *source, *target))])
    title = "## " + " and ".join(_PARTS[part] for part in parts).capitalize() + " text"
    return [title, _table(headers, lines, left=2)]


def _vocabulary(report: Report) -> list[str]:
    """How much of the text the vocabularies cover."""
    sizes = [max(report.corpora[0].coverage(side), default=0) for side in SIDES]
    headers = ["Corpus", "Part"]
    for language in report.languages:
        headers += [
            f"Words, {language}",
            f"Unknown, {language}",
            f"UNK rate, {language}",
            f"Covered, {language}",
        ]
    headers += ["Pairs without unknown word", "Share"]
    lines = [_vocabulary_line(corpus) for total in report.totals for corpus in report.with_total(total.part)]
    source, target = (f"{size:,} words of {name}" for size, name in zip(sizes, report.languages, strict=True))
    return [
        "## Vocabularies",
        _table(headers, lines, left=2),
        _text(
            f"Vocabularies of {source} and {target}, the most frequent ones of the training text that models read;",
            "everything else is unknown to them. Training text: after selection, if there is one, and of any length.",
        ),
    ]


def _vocabulary_line(corpus: Corpus) -> Line:
    line = [corpus.name, _PARTS[corpus.part]]
    for side in SIDES:
        rate = corpus.unknown_rate(side)
        line += [_number(corpus.last[side]["words"]), _number(corpus.last[side]["unknown"])]
        line += [_percent(rate, 2), _percent(None if rate is None else 1 - rate, 2)]
    known, pairs = corpus.last["known_pairs"], corpus.last["pairs"]
    return [*line, _number(known), _percent(ratio(known, pairs))]


def _types(report: Report) -> list[str]:
    """How many of the different words the vocabularies have, where these were listed."""
    corpora = [corpus for total in report.totals for corpus in report.with_total(total.part)]
    listed = [corpus for corpus in corpora if corpus.types(SIDES[0])]
    if not listed:
        return []
    headers = ["Corpus", "Part"]
    for language in report.languages:
        headers += [f"Types, {language}", f"Unknown types, {language}", f"Types covered, {language}"]
    lines = []
    for corpus in listed:
        line = [corpus.name, _PARTS[corpus.part]]
        for types in filter(None, map(corpus.types, SIDES)):
            line += [_number(types.all), _number(types.unknown), _percent(types.covered, 2)]
        lines.append(line)
    note = "Types: different words, each counted once however often it occurs."
    return ["The same by types:", _table(headers, lines, left=2), _text(note)]


def _lengths(report: Report) -> list[str]:
    """How long sentences are."""
    limits = [f"≤ {limit}" for limit in report.limits]
    headers = ["Text", "Side", "Sentences", "Mean", "Median", "95%", "99%", "Longest", *limits]
    lines = []
    for corpus in report.totals:
        for side, language in zip(SIDES, report.languages, strict=True):
            lengths = corpus.lengths(side)
            mean = "" if lengths.mean is None else f"{lengths.mean:.1f}"
            quantiles = [_number(lengths.quantile(share)) for share in (0.5, 0.95, 0.99, 1)]
            shares = [_percent(lengths.within(limit)) for limit in report.limits]
            name = _PARTS[corpus.part]
            lines.append([name, language, _number(lengths.sentences), mean, *quantiles, *shares])
    note = "In tokens. Median, 95% and 99%: so many of the sentences are no longer."
    note += " ≤: share of sentences." if limits else ""
    return ["## Lengths", _table(headers, lines, left=2), _text(note)]


def _overlap(report: Report) -> list[str]:
    """What was found of the development and test sets in the training text: pairs that share a sentence with one."""
    corpora = [corpus for corpus in report.with_total("train") if corpus.counts["overlap"]]
    if not corpora:
        return []
    sets = [
        name.removesuffix("_same_both")
        for name in corpora[0].counts["overlap"]
        if name.endswith("_same_both")
    ]
    headers = ["Corpus", "Shares with", *(f"{side}, {way}" for way in _WAYS.values() for side in _SHARED)]
    lines = [
        [
            corpus.name,
            name,
            *(_number(corpus.counts["overlap"][f"{name}_{way}_{side}"]) for way in _WAYS for side in _SHARED),
        ]
        for corpus in corpora
        for name in sets
    ]
    dropped = _number(corpora[-1].counts["overlap"]["dropped"])
    note = "Pairs of the training text with a sentence of such a set on one side or on both: as tokens, and by letters"
    note += f" and digits alone, whatever their case. Dropped were {dropped} pairs (`overlap.drop`)."
    return [
        "## Training pairs with a sentence of the development or test text",
        _table(headers, lines, left=2),
        _text(note),
    ]


def _archives(report: Report) -> list[str]:
    """The files that the text came out of."""
    blocks = []
    known = [name for name in _ARCHIVE_COLUMNS if any(name in archive for archive in report.archives)]
    if report.archives:
        lines = [[_archive_cell(archive.get(name)) for name in known] for archive in report.archives]
        names = [_ARCHIVE_COLUMNS[name] for name in known]
        note = "Sizes and checksums as downloaded; checked: those that were known before."
        blocks += [_table(names, lines, left=len(names)), _text(note)]
    members = [corpus for corpus in report.corpora if corpus.members]
    if members:
        headers = ["Corpus", *(f"MD5 of its text, {language}" for language in report.languages)]
        lines = [[corpus.name, *(corpus.members.get(side, "") for side in SIDES)] for corpus in members]
        blocks.append(_table(headers, lines, left=3))
    return ["## Archives", *blocks] if blocks else []


def _archive_cell(value: object) -> Cell:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    return _number(value) if isinstance(value, int) else str(value or "")
