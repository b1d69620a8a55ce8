"""Table 1: BLEU of each model on all sentences and on those without unknown words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nmt.config.schema import Report
from nmt.evaluation.seeds import Row, merged, merged_summary, with_deviation
from nmt.report.paper_numbers import Paper
from nmt.report.run_results import Runs, same_runs
from nmt.report.tables.notes import reported_note, seeds_note, training_note
from nmt.report.tables.writer import Table, fixed, frame, signed

_SCORES = ("bleu_all", "bleu_no_unk")
_TODAYS = ("sacrebleu", "chrf")
_COMPARED = ("low", "high", *_TODAYS)
COLUMNS = [
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
    rows = [_row(scores[model], trained[model], settings, paper) for model in scores]
    families = [runs[0]["family"] for runs in trained.values()]
    rules = [
        index for index in range(1, len(families)) if families[index - 1] != families[index] == families[0]
    ]
    notes = [_score_note(rows, settings), training_note(rows), *seeds_note(rows)]
    others = [name for name in _compared_systems(comparison) if name not in scores]
    others += ["moses"] if "moses" in paper.table1 and "moses" not in others else []
    if others:
        rules.append(len(rows))
        rows += [_other_row(name, settings, paper) for name in others]
    rows = [_with_difference(_with_comparison(row, comparison)) for row in rows]
    if comparison:
        notes.append(_comparison_note(comparison, settings))
    if paper.table1:
        notes.append(reported_note(1))
    headers, columns = _layout(bool(paper.table1), comparison)
    layout = frame(rows, columns).fillna("").set_axis(headers, axis=1)
    return Table(frame(rows, COLUMNS), layout, rules=rules, notes=notes)


def _layout(reported: bool, comparison: Mapping[str, Any] | None) -> tuple[list[str], list[str]]:
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
        layout += [("13a", "shown_sacrebleu_all"), ("chrF", "shown_chrf_all")]
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
        added |= {f"shown_{n}_{column}": with_deviation(found[n], found.get(f"{n}_std"), 2) for n in _TODAYS}
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
            difference = float(ours) - float(theirs)
            added |= {
                f"difference_{column}": f"{difference:+.2f}",
                f"shown_difference_{column}": signed(difference, 2),
            }
    return {**row, **added}


def _comparison_note(comparison: Mapping[str, Any], settings: Report) -> str:
    signatures = comparison["all"]["signatures"]
    samples, seed = settings.bootstrap_samples, settings.bootstrap_seed
    interval = (
        f"95%: bootstrap interval ({samples:,} samples, seed {seed}) of the first run. " if samples else ""
    )
    return (
        f"{interval}13a ({signatures['sacrebleu']}) and chrF ({signatures['chrf']}): all sentences, detokenized, "
        "against the reference as it came; for comparison with today's systems, not with the paper."
    )


def _row(scores: Sequence[Row], summaries: Sequence[Row], settings: Report, paper: Paper) -> Row:
    score, summary = merged(scores, _SCORES), merged_summary(summaries)
    model = score["model"]
    reported = paper.table1.get(model)
    spread = {f"{name}_std": score[f"{name}_std"] for name in _SCORES}
    return {
        **score,
        "id": model,
        "model": settings.label(model),
        **{name: fixed(score[name], 2) for name in (*_SCORES, *spread)},
        "shown_all": with_deviation(score["bleu_all"], score["bleu_all_std"], 2),
        "shown_no_unk": with_deviation(score["bleu_no_unk"], score["bleu_no_unk_std"], 2),
        "reported_all": fixed(reported.bleu_all if reported else None, 2),
        "reported_no_unk": fixed(reported.bleu_no_unk if reported else None, 2),
        **{name: summary.get(name) for name in ("optimizer", "hidden_units", "embedding_size")},
        **{name: summary.get(name) for name in ("updates", "updates_std")},
    }


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
    once_more = " unless no translation ended without it" if settings.unfinished == "retry" else ""
    signatures = " or ".join(sorted({row["signature"] for row in rows if row["signature"]}))
    return (
        f"BLEU on tokens, cased ({signatures}). All: {_range(rows, 'sentences_all')} sentences, [UNK] "
        f"{written}. °: the {_range(rows, 'sentences_no_unk')} sentences without an unknown word in source and "
        f"reference, [UNK] forbidden{once_more}."
    )


def _range(rows: Sequence[Row], name: str) -> str:
    values = {row[name] for row in rows}
    return f"{min(values):,}" if len(values) == 1 else f"{min(values):,} to {max(values):,}"
