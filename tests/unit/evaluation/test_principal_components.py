"""The plane of two principal components, against the eigenvectors of the covariance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.evaluation.principal_components import Projection


@given(seed=st.integers(0, 1000), sentences=st.integers(1, 8), size=st.integers(1, 9))
def test_projection_matches_eigenvectors(seed, sentences, size):
    vectors = np.random.default_rng(seed).normal(size=(sentences, size)).astype(np.float32)
    projection = Projection.from_vectors([str(row) for row in range(sentences)], vectors)
    points = projection.points
    centered = vectors - vectors.mean(axis=0, dtype=np.float64)
    variances, axes = np.linalg.eigh(centered.T @ centered)  # the largest variance comes last
    expected, fractions = np.zeros((sentences, 2)), np.zeros(2)
    for axis in range(min(2, size)):
        expected[:, axis] = centered @ axes[:, -1 - axis]
        fractions[axis] = variances[-1 - axis] / max(variances.sum(), 1e-300)
    assert np.abs(points) == pytest.approx(np.abs(expected), abs=1e-4)
    assert (points.max(axis=0) >= -points.min(axis=0) - 1e-9).all(), "no axis is mirrored"
    if sentences > 1:
        assert projection.variance_fractions == pytest.approx(fractions, abs=1e-5)


def test_equal_sentences_are_one_point():
    projection = Projection.from_vectors(["a", "a", "a"], np.ones((3, 4), np.float32))
    assert not projection.points.any() and projection.variance_fractions == (0, 0)
