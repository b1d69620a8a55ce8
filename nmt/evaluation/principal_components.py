"""Sentence vectors in the plane in which they differ most, in panels, and their file format.

Figure 2 of Sutskever et al. (2014): "a 2-dimensional PCA projection of the LSTM hidden states".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.errors import UserError
from nmt.io.text_files import read_lines, write_lines

Vectors = NDArray[np.float32]
COLUMNS = ("panel", "x", "y", "share_x", "share_y", "sentence")


@dataclass(frozen=True)
class Projection:
    """The sentences of a panel in the plane of their first two principal components.

    Attributes:
        sentences: n sentences.
        points: their coordinates, (n, 2).
        variance_fractions: the fraction of the total variance that each axis explains, from 0 to 1.
    """

    sentences: list[str]
    points: NDArray[np.float64]
    variance_fractions: tuple[float, float]

    @classmethod
    def from_vectors(cls, sentences: Sequence[str], vectors: Sequence[Vectors] | Vectors) -> Projection:
        """Return the projection of n sentences from their vectors (n, size)."""
        vectors = np.asarray(vectors)
        centered = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
        left_vectors, singular_values, _ = np.linalg.svd(centered, full_matrices=False)  # (n, axes), (axes,)

        # A single sentence, or vectors of size 1, have one axis. Then the padding makes the other coordinate 0.
        points = np.pad(left_vectors * singular_values, [(0, 0), (0, 1)])[:, :2]  # (n, 2)
        squares = np.pad(singular_values, (0, 1))[:2] ** 2

        # The signs of singular vectors are arbitrary. So the furthest point of each axis gets a positive coordinate.
        furthest_rows = np.abs(points).argmax(axis=0)  # (2,), the row of the furthest point on each axis
        furthest_values = points[furthest_rows, [0, 1]]  # (2,)
        points *= np.where(furthest_values < 0, -1.0, 1.0)

        square_sum = float((singular_values**2).sum())  # 0 for equal vectors
        fraction_x, fraction_y = squares / max(square_sum, np.finfo(float).tiny)
        return cls(list(sentences), points, (float(fraction_x), float(fraction_y)))


def write_projections(path: Path, projections: Sequence[Projection]) -> None:
    """Write the points of all panels as TSV, one line per sentence. Panels are numbered from 1."""
    with write_lines(path) as writer:
        writer.write("\t".join(COLUMNS))
        for number, projection in enumerate(projections, start=1):
            fraction_x, fraction_y = projection.variance_fractions
            for sentence, (x, y) in zip(projection.sentences, projection.points.tolist(), strict=True):
                writer.write(f"{number}\t{x:.5f}\t{y:.5f}\t{fraction_x:.4f}\t{fraction_y:.4f}\t{sentence}")


def read_projections(path: Path) -> list[Projection]:
    """Return the projections of a file that `write_projections` wrote, one for each panel."""
    projections = []
    rows = [line.split("\t", len(COLUMNS) - 1) for line in read_lines(path)]
    try:
        for _, panel_rows in groupby(rows[1:], key=itemgetter(0)):  # without the header
            _, x, y, variance_fractions_x, variance_fractions_y, sentences = zip(*panel_rows, strict=True)
            numbers = np.array([x, y, variance_fractions_x, variance_fractions_y], dtype=np.float64)  # (4, n)
            if not np.isfinite(numbers).all():
                raise ValueError
            # each line repeats the variance fractions of its panel
            projections.append(Projection(list(sentences), numbers[:2].T, tuple(numbers[2:, 0])))
        if not projections:
            raise ValueError
    except ValueError:
        raise UserError(f"{path}: expected lines of {', '.join(COLUMNS)}, made by `nmt vectors`") from None
    return projections
