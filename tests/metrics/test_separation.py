"""Amari distance: invariances and limits."""

import numpy as np
import pytest

from momentree.exceptions import InvalidDataError
from momentree.metrics import amari_distance
from tests.raising import raises


def test_order_signs_and_scales_do_not_matter():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 4))
    B = np.linalg.pinv(A)
    changed = (B * rng.normal(size=(4, 1)))[rng.permutation(4)]
    assert amari_distance(B, A) == pytest.approx(0, abs=1e-12)
    assert amari_distance(changed, A) == pytest.approx(0, abs=1e-12)
    assert amari_distance([[3.0]], [[2.0]]) == 0


def test_is_the_published_formula():
    rng = np.random.default_rng(1)
    B, A = rng.normal(size=(3, 5)), rng.normal(size=(5, 3))
    P = np.abs(B @ A)
    rows = sum(sum(P[i, j] / max(P[i]) for j in range(3)) - 1 for i in range(3))
    columns = sum(sum(P[i, j] / max(P[:, j]) for i in range(3)) - 1 for j in range(3))
    assert amari_distance(B, A) == pytest.approx((rows + columns) / 12)


def test_refuses_bad_input():
    with raises(InvalidDataError, "wrong_shape", parameter="mixing"):
        amari_distance(np.eye(2), np.eye(3))
    with raises(InvalidDataError, "not_finite", parameter="components"):
        amari_distance([[np.nan]], [[1.0]])
    with raises(InvalidDataError, "sources_not_matched"):
        amari_distance([[1, 0], [0, 0]], np.eye(2))
