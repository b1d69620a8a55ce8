"""The plane of two principal components, against the eigenvectors of the covariance; and its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.evaluation.principal_components import Projection, read_projections, write_projections


@given(seed=st.integers(0, 1000), sentences=st.integers(1, 8), size=st.integers(1, 9))
def test_points_are_projections_on_the_eigenvectors_of_the_covariance(
    seed: int, sentences: int, size: int
) -> None:
    vectors = np.random.default_rng(seed).normal(size=(sentences, size)).astype(np.float32)
    panel = Projection.from_vectors([str(row) for row in range(sentences)], vectors)
    centered = vectors - vectors.mean(axis=0, dtype=np.float64)
    values, axes = np.linalg.eigh(centered.T @ centered)
    expected = np.zeros((sentences, 2))
    for axis in range(min(2, size)):
        expected[:, axis] = centered @ axes[:, -1 - axis]
    assert np.abs(panel.points) == pytest.approx(np.abs(expected), abs=1e-4)
    assert (panel.points.max(axis=0) >= -panel.points.min(axis=0) - 1e-9).all(), "no axis is mirrored"
    if sentences > 1:
        shares = [values[-1 - axis] / values.sum() if axis < size else 0 for axis in range(2)]
        assert panel.variance_fractions == pytest.approx(shares, abs=1e-5)


def test_equal_sentences_are_one_point() -> None:
    panel = Projection.from_vectors(["a", "a", "a"], np.ones((3, 4), np.float32))
    assert not panel.points.any() and panel.variance_fractions == (0, 0)


def test_the_file_holds_the_panels(tmp_path: Path) -> None:
    vectors = np.random.default_rng(1).normal(size=(5, 6)).astype(np.float32)
    panels = [
        Projection.from_vectors(["a b", "b a"], vectors[:2]),
        Projection.from_vectors(["c", "d", "e"], vectors[2:]),
    ]
    write_projections(tmp_path / "plane.tsv", panels)
    found = read_projections(tmp_path / "plane.tsv")
    assert [panel.sentences for panel in found] == [["a b", "b a"], ["c", "d", "e"]]
    for one, other in zip(panels, found, strict=True):
        assert other.points == pytest.approx(one.points, abs=1e-5)
        assert other.variance_fractions == pytest.approx(one.variance_fractions, abs=1e-4)
