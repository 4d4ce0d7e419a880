"""H Lemma A.1 (T Lemma 5.2.1): the defect of tensors with and without an orthogonal form."""

import itertools

import numpy as np
import pytest

from momentree.decomposition import orthogonal_defect
from momentree.exceptions import InvalidDataError
from momentree.moments import PopulationMoments, SingleTopicMoments
from momentree.whitening import whiten
from tests.raising import raises


def symmetric(k, seed):
    T = np.random.default_rng(seed).normal(size=(k, k, k))
    return sum(T.transpose(at) for at in itertools.permutations(range(3))) / 6


@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_orthogonal_sums_have_none_and_others_have(k):
    rng = np.random.default_rng(k)
    turn = np.linalg.qr(rng.normal(size=(k, k)))[0]
    T = np.einsum("i,ai,bi,ci->abc", rng.normal(size=k), turn, turn, turn)
    assert orthogonal_defect(T) < 1e-14
    assert orthogonal_defect(1e9 * T) < 1e-14
    if k > 1:
        assert orthogonal_defect(symmetric(k, k)) > 0.05


@pytest.mark.parametrize("seed", range(5))
def test_for_two_components_it_is_the_equation_of_the_lemma(seed):
    T = symmetric(2, seed)
    left = T[0, 0, 0] * T[1, 1, 0] + T[1, 0, 0] * T[1, 1, 1]
    defect = left - T[1, 0, 0] ** 2 - T[1, 1, 0] ** 2
    # The commutator of two symmetric 2 x 2 slices has this entry twice, for (a, b) and (b, a).
    assert orthogonal_defect(T) == pytest.approx(2 * abs(defect) / np.sum(T * T))


def test_is_literally_the_commutators():
    T = symmetric(4, 9)
    total = sum(
        np.linalg.norm(T[a] @ T[b] - T[b] @ T[a]) ** 2
        for a, b in itertools.product(range(4), repeat=2)
    )
    assert orthogonal_defect(T) == pytest.approx(np.sqrt(total) / np.sum(T * T))


def test_whitening_with_too_few_directions_shows():
    """H appendix A: the counter-example, and the same components with enough directions."""
    M = np.array([[1.0, 0, 1], [0, 1, 1], [0, 0, 1]])
    moments = PopulationMoments(np.ones(3), M)
    defects = [orthogonal_defect(moments.whitened_tensor(whiten(moments, k).W)) for k in (2, 3)]
    assert defects[0] > 0.05
    assert defects[1] < 1e-12
    proper = SingleTopicMoments.from_parameters([0.6, 0.4], np.eye(5)[:2])
    assert orthogonal_defect(proper.whitened_tensor(whiten(proper, 2).W)) < 1e-12


def test_refuses_bad_input():
    assert orthogonal_defect(np.zeros((2, 2, 2))) == 0
    with raises(InvalidDataError, "not_symmetric", parameter="T"):
        orthogonal_defect(np.arange(8.0).reshape(2, 2, 2))
    with raises(InvalidDataError, "wrong_shape", parameter="T"):
        orthogonal_defect(np.zeros((2, 2)))
    with raises(InvalidDataError, "not_finite", parameter="T"):
        orthogonal_defect(np.full((1, 1, 1), np.inf))
