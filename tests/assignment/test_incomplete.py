"""The rule for incomplete records against its formula, and what it must never do."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.assignment.posteriors import IncompleteAssigner
from momentree.exceptions import InvalidDataError

from ..incomplete import group_of, probabilities
from ..raising import raises


def assigner(seed=0, k=4, d=12, gaps=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(6, 60, k).astype(float)
    known = sizes[:, None] - rng.integers(0, gaps + 1, (k, d))
    return IncompleteAssigner(np.floor(known * rng.random((k, d)) ** 4), known, sizes)


def records(seed, n=200, d=12):
    return (np.random.default_rng(seed).random((n, d)) < 0.2).astype(float)


@pytest.mark.parametrize("gaps", [0, 5])
def test_probabilities_and_groups_are_those_of_the_formula(gaps):
    for seed in range(3):
        found, X = assigner(seed, gaps=gaps), records(seed)
        missing = None
        if gaps:
            X[np.random.default_rng(9).random(X.shape) < 0.1] = np.nan
            missing = sp.csr_array(np.isnan(X).astype(float))
        ones = sp.csr_array((X == 1).astype(float))
        P, scoring = found.proba(ones, missing), found.to_dict()
        np.testing.assert_allclose(P, probabilities(scoring, X), rtol=1e-9, atol=1e-14)
        labels = found.labels(ones, P)
        assert labels.tolist() == [group_of(scoring, x) for x in X]
        assert -1 in labels


def test_plain_values_give_the_same_assigner():
    for gaps in (0, 3):
        found = assigner(gaps=gaps)
        again = IncompleteAssigner.from_dict(found.to_dict())
        for name in ("counts", "observed", "sizes"):
            np.testing.assert_array_equal(getattr(again, name), getattr(found, name))


def test_a_group_without_a_code_is_never_named_if_another_has_it():
    found, X = assigner(), sp.csr_array(records(5, 2000))
    labels = found.labels(X, found.proba(X))
    named = np.flatnonzero(labels >= 0)
    held = X.toarray()[named] == 1
    absent = (found.counts == 0)[labels[named]] & (found.counts > 0).any(axis=0)
    assert absent.any()
    assert not (held & absent).any()


def test_one_more_typical_code_speaks_for_a_group():
    """A code twice as common in a group as in any other raises its probability."""
    found = assigner()
    mu = found.counts / found.sizes[:, None]
    for group, code in enumerate(mu.argmax(axis=1)):
        if mu[group, code] < 2 * np.delete(mu[:, code], group).max():
            continue
        X = records(group)
        X[:, code] = 0
        before = found.proba(sp.csr_array(X))[:, group]
        X[:, code] = 1
        assert (found.proba(sp.csr_array(X))[:, group] >= before - 1e-12).all()


def test_a_record_without_codes_is_not_assigned():
    found = IncompleteAssigner(np.full((1, 2), 9.0), np.full((1, 2), 10.0), np.array([10.0]))
    X = sp.csr_array(np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert found.labels(X, found.proba(X)).tolist() == [-1, 0]


def test_an_empty_group_has_no_probability():
    counts = np.array([[5.0, 0.0], [0.0, 0.0], [1.0, 7.0]])
    sizes = np.array([6.0, 0.0, 9.0])
    found = IncompleteAssigner(counts, np.repeat(sizes[:, None], 2, axis=1), sizes)
    P = found.proba(sp.csr_array(records(0, 20, 2)))
    assert (P[:, 1] == 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "damage",
    [{"sizes": None}, {"counts": [[1], [2, 3]]}, {"counts": [["a"]]}, {"sizes": [np.inf] * 4}],
    ids=str,
)
def test_damaged_values_are_refused(damage):
    with raises(InvalidDataError, "bad_entry"):
        IncompleteAssigner.from_dict({**assigner().to_dict(), **damage})


def test_wrong_shapes_and_negative_counts_are_refused():
    good = assigner().to_dict()
    for damage in ({"sizes": [1.0]}, {"observed": [[1.0]]}, {"sizes": [-1.0] * 4}):
        with pytest.raises(InvalidDataError):
            IncompleteAssigner.from_dict({**good, **damage})
    with raises(InvalidDataError, "bad_entry"):
        IncompleteAssigner.from_dict(3)
