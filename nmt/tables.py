"""Tables 1 and 2 as CSV for programs, Markdown for the eye and LaTeX for a paper."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from tabulate import tabulate

from nmt.errors import UserError
from nmt.files import atomic_path, read_json
from nmt.reported import Paper
from nmt.settings import Report
from nmt.spread import Row, merged, shown

Runs = Mapping[str, Sequence[Row]]
"""What each run of a model wrote, by model."""

_SCORES = ("bleu_all", "bleu_no_unk")
_LEARNING = ("updates", "epochs", "hours", "train_nll", "dev_nll")

_COMPARED = ("low", "high", "sacrebleu", "chrf")

TABLE1_COLUMNS = [
    "model",
    "bleu_all",
    "bleu_no_unk",
    "reported_all",
    "reported_no_unk",
    "sentences_all",
    "sentences_no_unk",
    "optimizer",
    "hidden_units",
    "embedding_size",
    "updates",
    "signature",
    "id",
    *(f"{name}_std" for name in _SCORES),
    "seeds",
    *(f"{name}_{column}" for column in ("all", "no_unk") for name in _COMPARED),
    *(f"difference_{column}" for column in ("all", "no_unk")),
]
_TRAINING = ["updates", "epochs", "hours", "device", "train_nll", "dev_nll"]
_SIZES = ["optimizer", "hidden_units", "embedding_size", "parameters", "stopped_by", "train_pairs", "seed"]
TABLE2_COLUMNS = [
    "model",
    *_TRAINING,
    *(f"reported_{name}" for name in _TRAINING),
    *_SIZES,
    "id",
    *(f"{name}_std" for name in _LEARNING),
    "seeds",
]

_WORDS = (
    *("Model", "Compared with", "Device", "Reading", "Sentence", "Text"),
    *("Divided by length", "Shortest", "[UNK]"),
)
"""Headers of columns that hold words."""

_REPORTED_NOTE = (
    "Reported: what Bahdanau et al. (2015) give in their Table {table}; not computed by this run."
)


@dataclass(frozen=True)
class Table:
    """A table in its two forms.

    `frame` is the machine's: plain columns, everything known. `cells` is the reader's: headers and cells as
    text, laid out as in the paper, a rule above the rows in `rules`, `notes` below.
    """

    frame: pd.DataFrame
    headers: list[str]
    cells: list[list[str]]
    rules: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_by_model(paths: Iterable[Path], keys: Sequence[str]) -> dict[str, Row]:
    """Read JSON files that name their model, one of each model, in the order given.

    Raises a `UserError` for a file without one of `keys` or a model that comes twice.
    """
    rows: dict[str, Row] = {}
    for path in paths:
        row = _read(path, ("model", *keys))
        if row["model"] in rows:
            raise UserError(f"{path}: model {row['model']!r} is given twice; give one file a model")
        rows[row["model"]] = row
    return rows


def read_runs(paths: Iterable[Path], keys: Sequence[str]) -> dict[str, list[Row]]:
    """Read JSON files that name their model and seed, in the order given, those of a model together.

    Raises a `UserError` for a file without one of `keys` or a run that comes twice.
    """
    runs: dict[str, list[Row]] = {}
    for path in paths:
        row = _read(path, ("model", "seed", *keys))
        others = runs.setdefault(row["model"], [])
        if row["seed"] in [other["seed"] for other in others]:
            text = f"model {row['model']!r} is given twice with seed {row['seed']}"
            raise UserError(f"{path}: {text}; give one file a model and seed")
        others.append(row)
    return runs


def _read(path: Path, keys: Sequence[str]) -> Row:
    row: Row = read_json(path)
    missing = [key for key in keys if key not in row]
    if missing:
        raise UserError(f"{path}: key {missing[0]!r} is missing; make the file again")
    return row


def same_runs(scores: Runs, others: Runs, name: str, option: str) -> dict[str, list[Row]]:
    """What `others` hold of the runs that have a score, in the order of the scores.

    Raises a `UserError` for a score without one.
    """
    found: dict[str, list[Row]] = {}
    for model, rows in scores.items():
        by_seed = {other["seed"]: other for other in others.get(model, [])}
        for seed in (row["seed"] for row in rows):
            if seed not in by_seed:
                at = f" with seed {seed}" if by_seed else ""
                text = f"model {model!r} has a score but no {name}{at}"
                raise UserError(f"{text}; give its {name}.json with {option}")
        found[model] = [by_seed[row["seed"]] for row in rows]
    return found


def table1(
    scores: Runs,
    summaries: Runs,
    settings: Report,
    paper: Paper,
    comparison: Mapping[str, Any] | None = None,
) -> Table:
    """Table 1: BLEU on all sentences and on those without unknown words; rows in the order of `scores`.

    `comparison` is what `nmt compare` found: intervals, today's metrics, and systems whose translations were given.
    """
    trained = same_runs(scores, summaries, "summary", "--summary")
    rows = [_table1_row(scores[model], trained[model], settings, paper) for model in scores]
    families = [runs[0]["family"] for runs in trained.values()]
    rules = [
        index for index in range(1, len(families)) if families[index - 1] != families[index] == families[0]
    ]
    notes = [_score_note(rows, settings), _training_note(rows), *seeds_note(rows)]
    others = [name for name in _compared_systems(comparison) if name not in scores]
    others += ["moses"] if "moses" in paper.table1 and "moses" not in others else []
    if others:
        rules.append(len(rows))
        rows += [_other_row(name, settings, paper) for name in others]
    rows = [_with_difference(_with_comparison(row, comparison)) for row in rows]
    if comparison:
        notes.append(_comparison_note(comparison))
    if paper.table1:
        notes.append(_REPORTED_NOTE.format(table=1))
    headers, columns = _table1_layout(bool(paper.table1), comparison)
    cells = [[row.get(column, "") for column in columns] for row in rows]
    return Table(frame(rows, TABLE1_COLUMNS), headers, cells, rules, notes)


def _table1_layout(reported: bool, comparison: Mapping[str, Any] | None) -> tuple[list[str], list[str]]:
    """Headers and the names of what stands below them."""
    sure = any(system["low"] is not None for system in _compared_systems(comparison).values())
    layout = [("Model", "model")]
    for header, column in (("All", "all"), ("No UNK°", "no_unk")):
        layout.append((header, f"shown_{column}"))
        layout += [("95%", f"interval_{column}")] * sure
    if reported:
        layout += [("All, reported", "reported_all"), ("No UNK°, reported", "reported_no_unk")]
        layout += [("Δ All", "shown_difference_all"), ("Δ No UNK°", "shown_difference_no_unk")]
    if comparison:
        layout += [("13a", "sacrebleu_all"), ("chrF", "chrf_all")]
    return [header for header, _ in layout], [name for _, name in layout]


def _compared_systems(comparison: Mapping[str, Any] | None) -> dict[str, Row]:
    return dict(comparison["all"]["systems"]) if comparison else {}


def _with_comparison(row: Row, comparison: Mapping[str, Any] | None) -> Row:
    """A row with what the comparison says of its system; a system that has no scores of its own takes them from it."""
    added: Row = {}
    for column in ("all", "no_unk") if comparison else ():
        found = comparison[column]["systems"].get(row["id"]) if comparison else None
        if found is None:
            continue
        added |= {f"{name}_{column}": fixed(found[name], 2) for name in _COMPARED}
        if found["low"] is not None:
            added[f"interval_{column}"] = f"{found['low']:.2f} to {found['high']:.2f}"
        if not row.get(f"bleu_{column}"):
            bleu = fixed(found["bleu"], 2)
            added |= {f"bleu_{column}": bleu, f"shown_{column}": bleu}
            added |= {f"sentences_{column}": comparison[column]["sentences"] if comparison else None}
    return {**row, **added}


def _with_difference(row: Row) -> Row:
    """A row with our score less the reported one, where there are both, from the numbers as they are shown."""
    added: Row = {}
    for column in ("all", "no_unk"):
        ours, theirs = row.get(f"bleu_{column}"), row.get(f"reported_{column}")
        if ours and theirs:
            difference = f"{float(ours) - float(theirs):+.2f}"
            added |= {
                f"difference_{column}": difference,
                f"shown_difference_{column}": difference.replace("-", "−"),
            }
    return {**row, **added}


def _comparison_note(comparison: Mapping[str, Any]) -> str:
    signatures = comparison["all"]["signatures"]
    return (
        f"95%: interval by bootstrap over sentences, of the first seed's run ({signatures['bleu']}). 13a "
        f"({signatures['sacrebleu']}) and chrF ({signatures['chrf']}): all sentences, detokenised, against the "
        "reference as it came; for comparison with today's systems, not with the paper."
    )


def _table1_row(scores: Sequence[Row], summaries: Sequence[Row], settings: Report, paper: Paper) -> Row:
    score, summary = merged(scores, _SCORES), _merged_summary(summaries)
    model = score["model"]
    reported = paper.table1.get(model)
    spread = {f"{name}_std": score[f"{name}_std"] for name in _SCORES}
    return {
        **score,
        "id": model,
        "model": settings.label(model),
        **{name: fixed(score[name], 2) for name in (*_SCORES, *spread)},
        "shown_all": shown(score["bleu_all"], score["bleu_all_std"], 2),
        "shown_no_unk": shown(score["bleu_no_unk"], score["bleu_no_unk_std"], 2),
        "reported_all": fixed(reported.bleu_all if reported else None, 2),
        "reported_no_unk": fixed(reported.bleu_no_unk if reported else None, 2),
        **{name: summary.get(name) for name in ("optimizer", "hidden_units", "embedding_size")},
        **{name: summary.get(name) for name in ("updates", "updates_std")},
    }


def _merged_summary(summaries: Sequence[Row]) -> Row:
    summary = merged(summaries, _LEARNING)
    return {**summary, "updates": round(summary["updates"])}


def _other_row(name: str, settings: Report, paper: Paper) -> Row:
    """A system that was not trained here: reported by the paper, or its translations were given."""
    reported = paper.table1.get(name)
    numbers = {"bleu_all": "", "bleu_no_unk": ""}
    if reported:
        numbers["reported_all"] = fixed(reported.bleu_all, 2)
        numbers["reported_no_unk"] = fixed(reported.bleu_no_unk, 2)
    return {"id": name, "model": reported.label if reported else settings.label(name), **numbers}


def _score_note(rows: Sequence[Row], settings: Report) -> str:
    written = "may be written" if settings.unknown == "allowed" else "forbidden here too"
    signatures = " or ".join(sorted({row["signature"] for row in rows if row["signature"]}))
    return (
        f"BLEU on tokens, cased ({signatures}). All: {_range(rows, 'sentences_all')} sentences, [UNK] "
        f"{written}. °: the {_range(rows, 'sentences_no_unk')} sentences without an unknown word in source and "
        "reference, [UNK] forbidden."
    )


def _range(rows: Sequence[Row], name: str) -> str:
    values = {row[name] for row in rows}
    return f"{min(values):,}" if len(values) == 1 else f"{min(values):,} to {max(values):,}"


def _training_note(rows: Sequence[Row]) -> str:
    recipes = (
        "{optimizer}, {hidden_units} hidden units, {updates:,} updates".format(**row)
        + (" on average" if row["updates_std"] else "")
        for row in rows
    )
    return f"Trained with {_grouped(zip(recipes, (row['model'] for row in rows), strict=True))}."


def seeds_note(rows: Sequence[Row]) -> list[str]:
    """What ± means, if a model has several runs; the last part of a table's notes that depends on seeds."""
    if all(row["seeds"] == 1 for row in rows):
        return []
    counts = _grouped((_seeds(row), row["model"]) for row in rows)
    return [
        f"±: standard deviation (n - 1) over runs that differ in the seed of their start values: {counts}."
    ]


def _seeds(row: Row) -> str:
    return f"{row['seeds']} seeds" if row["seeds"] > 1 else "1 seed"


def _grouped(pairs: Iterable[tuple[str, str]]) -> str:
    """`a (x, y); b (z)` from pairs of a text and a label."""
    groups: dict[str, list[str]] = {}
    for text, label in pairs:
        groups.setdefault(text, []).append(label)
    return "; ".join(f"{text} ({', '.join(labels)})" for text, labels in groups.items())


def table2(summaries: Runs, settings: Report, paper: Paper) -> Table:
    """Table 2: learning statistics; rows in the order of `summaries`, but a family stays together."""
    models = [_merged_summary(runs) for runs in summaries.values()]
    families = list(dict.fromkeys(summary["family"] for summary in models))
    ordered = sorted(models, key=lambda summary: families.index(summary["family"]))
    rows = [_table2_row(summary, settings, paper) for summary in ordered]
    cells = [line for row in rows for line in _table2_cells(row, bool(paper.table2))]
    headers = ["Model", "Updates (×10⁵)", "Epochs", "Hours", "Device", "Train NLL", "Dev. NLL"]
    notes = [
        "NLL: mean negative log-probability of a sentence, in nats.",
        _training_note(rows),
        f"Stopped by: {_grouped((str(row['stopped_by']), row['model']) for row in rows)}.",
        *seeds_note(rows),
    ]
    if paper.table2:
        notes.append(_REPORTED_NOTE.format(table=2))
    return Table(frame([_table2_plain(row) for row in rows], TABLE2_COLUMNS), headers, cells, [], notes)


def _table2_row(summary: Row, settings: Report, paper: Paper) -> Row:
    model = summary["model"]
    reported = paper.table2.get(model)
    return {
        **{name: summary.get(name) for name in (*_TRAINING, *_SIZES, "seeds")},
        **{f"{name}_std": summary[f"{name}_std"] for name in _LEARNING},
        **{f"reported_{name}": getattr(reported, name) if reported else None for name in _TRAINING},
        "id": model,
        "model": settings.short_label(model),
    }


def _table2_plain(row: Row) -> Row:
    """The CSV's form: own numbers with four decimals, reported ones as the paper gives them."""
    decimals = {"epochs": 1, "hours": 0, "train_nll": 1, "dev_nll": 1}
    reported = {f"reported_{name}": fixed(row[f"reported_{name}"], count) for name, count in decimals.items()}
    own = {name: fixed(row[name], 4) for name in (*decimals, *(f"{name}_std" for name in _LEARNING))}
    return {**row, **own, **reported}


def _table2_cells(row: Row, with_reported: bool) -> list[list[str]]:
    lines = [_training_cells(row["model"], row, "")]
    if with_reported:
        lines.append(_training_cells(f"{row['model']}, reported", row, "reported_"))
    return lines


def _training_cells(label: str, row: Row, prefix: str) -> list[str]:
    def cell(name: str, decimals: int, unit: float = 1) -> str:
        value, std = row[f"{prefix}{name}"], row.get(f"{prefix}{name}_std")
        if value is None:
            return ""
        return shown(value / unit, std / unit if std else None, enough(value / unit, decimals))

    return [
        label,
        cell("updates", 2, unit=1e5),
        cell("epochs", 1),
        cell("hours", 0),
        row[f"{prefix}device"] or "",
        cell("train_nll", 1),
        cell("dev_nll", 1),
    ]


def fixed(value: float | None, decimals: int) -> str:
    """A number with so many decimals; nothing for a missing one."""
    return "" if value is None else f"{value:.{decimals}f}"


def enough(value: float, decimals: int) -> int:
    """The paper's decimals, or more where fewer than two digits would be left (0.034 hours)."""
    return max(decimals, 1 - math.floor(math.log10(abs(value)))) if value else decimals


def frame(rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
    """The machine's form: these columns of the rows."""
    # as objects: a column of whole numbers with a gap would otherwise turn into floats
    return pd.DataFrame(
        [[row.get(column) for column in columns] for row in rows], columns=columns, dtype=object
    )


def write_table(table: Table, csv: Path, markdown: Path, tex: Path) -> None:
    """Write the three forms, each whole or not at all."""
    _write(csv, table.frame.to_csv(index=False, lineterminator="\n"))
    _write(markdown, as_markdown(table))
    _write(tex, as_tex(table))


def _write(path: Path, text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _alignments(table: Table) -> list[str]:
    """Words to the left, numbers to the right."""
    return ["left" if header in _WORDS else "right" for header in table.headers]


def as_markdown(table: Table) -> str:
    """A pipe table with aligned columns, notes below."""
    cells = [list(map(_markdown_cell, table.headers, row)) for row in table.cells]
    body = tabulate(cells, table.headers, tablefmt="pipe", colalign=_alignments(table), disable_numparse=True)
    notes = [textwrap.fill(note, 100, break_on_hyphens=False) for note in table.notes]
    return "\n\n".join([body, *notes]) + "\n"


def _markdown_cell(header: str, cell: str) -> str:
    """Running text may hold what Markdown takes for its own; other cells hold none of it."""
    return re.sub(r"([\\`*_<>|])", r"\\\1", cell) if header == "Text" else cell


_TEX_SPECIALS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "°": r"$^{\circ}$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "−": r"$-$",
    "Δ": r"$\Delta$",
    "⁵": r"$^{5}$",
}


def tex_escape(text: str) -> str:
    """Text in which LaTeX sees no commands."""
    return "".join(_TEX_SPECIALS.get(character, character) for character in text)


_TEX_HEAD = r"""\documentclass[border=4pt]{standalone}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{array}
\usepackage{booktabs}
\newsavebox{\tablebody}
\newlength{\notewidth}
\begin{document}
"""
# notes as wide as the table, or wide enough to read below a narrow one
_TEX_NOTES = r"""\setlength{\notewidth}{\wd\tablebody}
\ifdim\notewidth<12cm \setlength{\notewidth}{12cm}\fi
\begin{tabular}{@{}l@{}}
\usebox{\tablebody} \\ \noalign{\vskip 6pt}
\parbox{\notewidth}{\footnotesize\raggedright
%s}
\end{tabular}
\end{document}
"""


def as_tex(table: Table) -> str:
    """A LaTeX document of its own: the table with booktabs' rules, notes below."""
    columns = "".join(map(_tex_column, table.headers, _alignments(table)))
    lines = [rf"\sbox{{\tablebody}}{{\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [_tex_row(table.headers), r"\midrule"]
    for index, cells in enumerate(table.cells):
        lines += [r"\midrule"] * (index in table.rules) + [_tex_row(cells)]
    lines += [r"\bottomrule", r"\end{tabular}}", ""]
    notes = "\n".join(tex_escape(note) + r"\par" for note in table.notes)
    return _TEX_HEAD + "\n".join(lines) + _TEX_NOTES % notes


def _tex_column(header: str, side: str) -> str:
    """A column's letter; running text breaks into lines."""
    return r">{\raggedright\arraybackslash}p{12cm}" if header == "Text" else side[0]


def _tex_row(cells: Sequence[str]) -> str:
    # a row that began with [ would be read as the optional argument of the \\ before it
    return (
        " & ".join(f"{{{tex_escape(cell)}}}" if cell.startswith("[") else tex_escape(cell) for cell in cells)
        + r" \\"
    )


def show(paths: Iterable[str | Path]) -> None:
    """Print a run's results on a terminal: Markdown tables as they are, error rates, other files' paths."""
    for path in map(Path, paths):
        if path.suffix == ".md":
            print(f"\n{path}\n\n{path.read_text(encoding='utf-8')}", end="")
        elif path.suffix == ".json":
            print(f"\n{path}\n\n{error_rate_line(read_json(path))}")
        else:
            print(f"\n{path}")


def error_rate_line(result: Row) -> str:
    """One line that says what `alignment-error-rate` found."""
    names = {"diagonal": "a plain diagonal", "same_position": "the same position"}
    baselines = ", ".join(
        f"{names[name]} {100 * values['alignment_error_rate']:.1f}%"
        for name, values in result["baselines"].items()
    )
    own = f"{100 * result['alignment_error_rate']:.1f}% on {result['sentences']:,} sentences"
    return f"Alignment error rate of {result['model']}: {own} ({baselines})."
