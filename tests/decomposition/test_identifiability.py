"""S Remark 5: when moments determine their components."""

import numpy as np
import pytest

from momentree.decomposition import identifiability
from momentree.exceptions import InvalidDataError
from tests.raising import raises


def test_independent_components_are_unique():
    rng = np.random.default_rng(0)
    found = identifiability(rng.normal(size=(8, 5)))
    assert found.unique
    assert found.kruskal_rank == 5
    assert found.reason.code == "components_independent"
    assert identifiability([[2.0]]).unique


@pytest.mark.parametrize(("d", "k"), [(3, 4), (4, 5), (5, 6), (6, 8)])
def test_kruskal_covers_more_components_than_features(d, k):
    """In general position r = d, and 3 d >= 2 k + 2."""
    M = np.random.default_rng(1).normal(size=(d, k))
    found = identifiability(M)
    assert (found.unique, found.kruskal_rank) == ((True, d) if 3 * d >= 2 * k + 2 else (None, d))


def test_three_of_a_plane_lower_the_kruskal_rank():
    M = np.eye(6)[:, :5]
    M = np.column_stack([M, M[:, 0] + M[:, 1]])
    found = identifiability(M)
    assert found.kruskal_rank == 2
    assert found.unique is None
    assert found.reason.code == "kruskal_fails"


def test_what_is_not_identifiable_has_another_solution():
    """Two parallel components: other ones have the same three moments."""
    mu = np.array([1.0, 2.0])
    found = identifiability(np.column_stack([mu, 2 * mu]), [0.5, 0.5])
    assert found.unique is False
    assert found.reason.values == {"first": 0, "second": 1}
    # On the line, weights w and scales c solve sum w c^m = s_m, m = 1, 2, 3: one equation short.
    moments = [0.5 * (1 + 2.0**m) for m in (1, 2, 3)]
    c0 = 0.9
    # The other atom solves the two-point moment problem for measures w c at c0 and c1.
    c1 = (moments[2] - c0 * moments[1]) / (moments[1] - c0 * moments[0])
    w1 = (moments[1] - c0 * moments[0]) / (c1 * (c1 - c0))
    w0 = (moments[0] - w1 * c1) / c0
    assert w0 > 0
    assert w1 > 0
    for m, expected in zip((1, 2, 3), moments, strict=True):
        assert w0 * c0**m + w1 * c1**m == pytest.approx(expected)
    assert c1 != pytest.approx(2.0, abs=1e-3)


def test_nothing_identifies_what_has_no_weight():
    assert identifiability(np.eye(2), [1.0, 0.0]).reason.code == "component_without_moments"
    assert identifiability([[0.0, 1.0]]).unique is False


def test_opposite_and_nearly_parallel_components():
    assert identifiability([[1.0, -1.0], [2.0, -2.0]]).unique is False
    near = identifiability([[1.0, 1.0], [0.0, 1e-6]])
    assert near.unique
    assert near.smallest_singular_value == pytest.approx(1e-6 / np.sqrt(2), rel=1e-3)


def test_too_many_subsets_are_not_examined():
    M = np.random.default_rng(2).normal(size=(20, 60))
    found = identifiability(M)
    assert found.unique is None
    assert found.reason.code == "too_many_subsets"
    assert found.kruskal_rank == 2  # a lower limit


def test_refuses_bad_input():
    with raises(InvalidDataError, "no_components"):
        identifiability(np.empty((3, 0)))
    with raises(InvalidDataError, "not_finite", parameter="centers"):
        identifiability([[np.nan]])
    with raises(InvalidDataError, "wrong_shape", parameter="weights"):
        identifiability(np.eye(2), [1.0])
