"""Sentence vectors in the plane in which they differ most, in panels, and their file format.

Figure 2 of Sutskever et al. (2014): "a 2-dimensional PCA projection of the LSTM hidden states".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.errors import UserError
from nmt.io.text_files import read_lines, write_lines

Vectors = NDArray[np.float32]
COLUMNS = ("panel", "x", "y", "share_x", "share_y", "sentence")


@dataclass(frozen=True)
class Projection:
    """Sentences in the plane of their first two principal components: points (n, 2), share of variance per axis."""

    sentences: list[str]
    points: NDArray[np.float64]
    variance_fractions: tuple[float, float]

    @classmethod
    def from_vectors(cls, sentences: Sequence[str], vectors: Sequence[Vectors] | Vectors) -> Projection:
        """Project vectors (n, D). Each axis points to the side with the largest distance from the mean."""
        vectors = np.asarray(vectors)
        centered = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
        left, lengths, _ = np.linalg.svd(centered, full_matrices=False)
        points = np.zeros((len(vectors), 2))
        axes = min(2, len(lengths))
        points[:, :axes] = left[:, :axes] * lengths[:axes]
        furthest = np.abs(points).argmax(axis=0)
        points *= np.where(points[furthest, [0, 1]] < 0, -1.0, 1.0)
        squares = np.zeros(2)
        squares[:axes] = lengths[:axes] ** 2
        first, second = squares / max(float((lengths**2).sum()), np.finfo(float).tiny)
        return cls(list(sentences), points, (float(first), float(second)))


def write_projections(path: Path, panels: Sequence[Projection]) -> None:
    """Write the points as TSV, one line per sentence."""
    with write_lines(path) as writer:
        writer.write("\t".join(COLUMNS))
        for number, panel in enumerate(panels, start=1):
            shares = [f"{share:.4f}" for share in panel.variance_fractions]
            for sentence, point in zip(panel.sentences, panel.points.tolist(), strict=True):
                writer.write(
                    "\t".join([str(number), *(f"{value:.5f}" for value in point), *shares, sentence])
                )


def read_projections(path: Path) -> list[Projection]:
    """Read a file of `write_projections`."""
    rows: dict[str, list[tuple[str, list[float]]]] = {}
    try:
        for number, line in enumerate(read_lines(path)):
            panel, x, y, share_x, share_y, sentence = line.split("\t", len(COLUMNS) - 1)
            if number:
                values = [float(value) for value in (x, y, share_x, share_y)]
                rows.setdefault(panel, []).append((sentence, values))
        panels = {panel: np.array([values for _, values in own]) for panel, own in rows.items()}
        if not panels or not all(np.isfinite(values).all() for values in panels.values()):
            raise ValueError
    except ValueError:
        raise UserError(f"{path}: expected lines of {', '.join(COLUMNS)}, as of `nmt vectors`") from None
    return [
        Projection([sentence for sentence, _ in rows[panel]], values[:, :2], (values[0, 2], values[0, 3]))
        for panel, values in panels.items()
    ]
