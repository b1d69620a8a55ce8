"""The table of a sweep over decoding settings: each combination with its best beam, beside what was configured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from nmt.errors import UserError
from nmt.evaluation.seeds import Row
from nmt.io.files import read_json
from nmt.settings.decoding import Decoding
from pipeline.config.artifacts import Report
from pipeline.report.tables.writer import Table, fixed, frame

OPEN = ("normalize_by_length", "min_length", "unknown")
"""The settings beside the beam that a sweep tries."""
COLUMNS = [
    "model",
    "beam",
    *OPEN,
    "configured",
    "bleu",
    "mean_length",
    "length_ratio",
    "unfinished",
    "log_probability",
    "seconds",
    "sentences",
    "device",
    "signature",
    "id",
]
_CSV_DECIMALS = {"bleu": 2, "mean_length": 2, "length_ratio": 4, "log_probability": 4, "seconds": 1}
_KEYS = ("scores", "sentences", "signature", "device")
_NOTE = (
    "BLEU on tokens, cased ({signatures}), of all {sentences} sentences. Best beam: the width with the highest BLEU, "
    "the smaller of equals. It is chosen on the test set itself, and so shows how much the choice can be worth, not "
    "what a model would score. Length: words of the translations to those of the references; unfinished: translations "
    "that never reached the end symbol; both with the best beam."
)
_CONFIGURED_NOTE = "°: the settings of decoding with which the other tables and figures are made."
_ABSENT_NOTE = (
    "The settings of decoding with which the other tables and figures are made ({said}) were not tried."
)


@dataclass(frozen=True)
class Curve:
    """What one model scores under one combination of settings: a row for each beam, from narrow to wide."""

    combination: tuple[bool, str, str]
    """Values of the settings in `OPEN`."""
    rows: list[Row]

    @property
    def best(self) -> Row:
        """The row with the highest BLEU, of equals the narrowest beam."""
        return max(self.rows, key=lambda row: row["bleu"])

    def at(self, beam: int) -> Row | None:
        """The row of a beam, if it was tried."""
        return next((row for row in self.rows if row["beam"] == beam), None)


Sweeps = Mapping[str, Mapping[str, Any]]
"""Ids of models to what `nmt sweep` wrote."""


def read_sweeps(files: Sequence[tuple[str, Path]]) -> dict[str, dict[str, Any]]:
    """Read what `nmt sweep` wrote for some models, by their ids.

    Raises:
        UserError: a model comes twice, or a file is no sweep.
    """
    found: dict[str, dict[str, Any]] = {}
    for model, path in files:
        if model in found:
            raise UserError(f"{path}: model {model!r} is given twice; give one sweep per model")
        sweep = read_json(path)
        missing = [key for key in _KEYS if key not in sweep]
        if missing:
            raise UserError(f"{path}: key {missing[0]!r} is missing; make the file again with `nmt sweep`")
        found[model] = sweep
    return found


def curves(sweep: Mapping[str, Any]) -> list[Curve]:
    """The curves of one model, in the order in which they were tried."""
    found: dict[tuple[bool, str, str], list[Row]] = {}
    for row in sweep["scores"]:
        found.setdefault(combination_of(row), []).append(row)
    return [
        Curve(combination, sorted(rows, key=lambda row: row["beam"])) for combination, rows in found.items()
    ]


def combination_of(values: Mapping[str, Any]) -> tuple[bool, str, str]:
    """A combination's values of the settings in `OPEN`."""
    return values["normalize_by_length"], values["min_length"], values["unknown"]


def sweep_table(sweeps: Sweeps, configured: Decoding, settings: Report) -> Table:
    """A row for each model and combination; what `decoding` says is marked where it was tried.

    The machine's form has a row for each beam too.
    """
    blocks = {model: curves(sweep) for model, sweep in sweeps.items()}
    plain = [row for model in sweeps for row in _plain(model, sweeps[model], configured, settings)]
    cells = [
        _cells(settings.label(model), curve, configured) for model, found in blocks.items() for curve in found
    ]
    starts = [sum(len(found) for found in list(blocks.values())[:place]) for place in range(1, len(blocks))]
    tried = any(row["configured"] for row in plain)
    words = ["Model", "Divided by length", "Shortest", "[UNK]"]
    numbers = ["Best beam", "BLEU", "Length", "Unfinished", f"BLEU, beam {configured.beam}"]
    return Table(
        frame(plain, COLUMNS),
        pd.DataFrame(cells, columns=[*words, *numbers]),
        words,
        starts,
        [_note(sweeps), _configured_note(configured, tried)],
    )


def is_configured(row: Mapping[str, Any], configured: Decoding) -> bool:
    """Whether a row was decoded as the settings of `decoding` have it."""
    return row["beam"] == configured.beam and combination_of(row) == combination_of(configured.model_dump())


def _plain(model: str, sweep: Mapping[str, Any], configured: Decoding, settings: Report) -> Iterator[Row]:
    shared = {"model": settings.label(model), "id": model, **{key: sweep[key] for key in _KEYS[1:]}}
    for row in sweep["scores"]:
        numbers = {name: fixed(row[name], decimals) for name, decimals in _CSV_DECIMALS.items()}
        yield {**row, **shared, **numbers, "configured": is_configured(row, configured)}


def _cells(label: str, curve: Curve, configured: Decoding) -> list[str]:
    normalize, min_length, unknown = curve.combination
    best, at = curve.best, curve.at(configured.beam)
    mark = "°" if at and is_configured(at, configured) else ""
    return [
        label,
        "yes" if normalize else "no",
        min_length,
        unknown,
        str(best["beam"]),
        fixed(best["bleu"], 2),
        fixed(best["length_ratio"], 3),
        str(best["unfinished"]),
        fixed(at["bleu"], 2) + mark if at else "",
    ]


def _note(sweeps: Sweeps) -> str:
    signatures = " or ".join(sorted({sweep["signature"] for sweep in sweeps.values()}))
    sentences = " or ".join(f"{count:,}" for count in sorted({s["sentences"] for s in sweeps.values()}))
    return _NOTE.format(signatures=signatures, sentences=sentences)


def _configured_note(configured: Decoding, tried: bool) -> str:
    if tried:
        return _CONFIGURED_NOTE
    divided = "divided by length" if configured.normalize_by_length else "not divided by length"
    said = f"beam {configured.beam}, {divided}, {configured.min_length}, [UNK] {configured.unknown}"
    return _ABSENT_NOTE.format(said=said)
