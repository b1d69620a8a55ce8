"""Files of the trees that a model makes of a text: one line of JSON per sentence, with one byte per gate."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nmt.errors import UserError
from nmt.io.text_files import read_lines

STEPS = 255
"""Number of steps for a stored gate from 0 to 1; the error is at most 0.002."""


@dataclass(frozen=True)
class TreeRecord:
    """A sentence's tree: its number of leaves, and [w_c, w_l, w_r] of each node, level by level above the words."""

    leaves: int
    gates: bytes


def as_line(gates: Sequence[Sequence[Sequence[float]]]) -> str:
    """Return the line for a tree with gates `[t][j]` for node j of level t + 1."""
    values = np.array([gate for level in gates for node in level for gate in node], dtype=np.float64)
    steps = np.rint(values * STEPS).clip(0, STEPS).astype(np.uint8).tobytes()
    return json.dumps({"leaves": len(gates) + 1, "gates": base64.b64encode(steps).decode("ascii")})


def read_trees(path: Path) -> Iterator[TreeRecord]:
    """Yield the trees of a text, sentence by sentence. A `UserError` names a malformed line."""
    for number, line in enumerate(read_lines(path), start=1):
        try:
            values = json.loads(line)
            record = TreeRecord(values["leaves"], base64.b64decode(values["gates"], validate=True))
            whole = type(record.leaves) is int and 2 * len(record.gates) == 3 * record.leaves * (
                record.leaves - 1
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            whole = False
        if not whole:
            raise UserError(f"{path}, line {number}: no tree; expected what `nmt test-set trees` writes")
        yield record
