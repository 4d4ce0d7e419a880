"""Assigners without an estimator: nested assigners against their definition, renumbering, edits."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.assignment.posteriors import MixtureAssigner
from momentree.assignment.rules import (
    Division,
    LinearRule,
    NestedAssigner,
    RuleAssigner,
    ScoreRule,
    check_assigner,
)
from momentree.backends import RowBlocks
from momentree.estimators.editing import Groups, merge_numbers
from momentree.exceptions import InvalidDataError
from momentree.objects import BernoulliParameters, PoissonParameters

from ..raising import raises

D = 6


def mixture(seed, k):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(k, 5.0))
    return MixtureAssigner.of(BernoulliParameters(weights, rng.uniform(0.1, 0.9, (D, k))))


def rules(seed):
    """Two rules: of scores at the root, and a linear one below its first side."""
    rng = np.random.default_rng(seed)
    scores = ScoreRule(rng.normal(size=(D, 2)), rng.normal(size=2))
    linear = LinearRule(rng.normal(size=D), 0.1)
    return RuleAssigner((scores, linear), ((1, -1), (-2, -3)))


@pytest.fixture(scope="module")
def sample():
    X = np.random.default_rng(9).random((80, D)) < 0.5
    return RowBlocks(sp.csr_array(X.astype(float)))


def test_rules_are_followed_from_the_root_down(sample):
    found = rules(3)
    X = sample.matrix.toarray()
    (scores, linear), labels, proba = found.rules, [], []
    for x in X:
        square = (x @ scores.coef + scores.constant) ** 2
        margin = x @ linear.coef + linear.intercept
        first = square[0] / square.sum()
        p = 1.0 / (1.0 + np.exp(-margin))
        proba.append([1 - first, first * p, first * (1 - p)])
        labels.append((1 if margin >= 0 else 2) if square[0] >= square[1] else 0)
    assert found.labels(sample).tolist() == labels
    np.testing.assert_allclose(found.proba(sample), proba, rtol=1e-9)


def test_a_nested_assignment_is_its_definition(sample):
    base, inner = mixture(0, 4), mixture(1, 3)
    found = NestedAssigner(base, (2, Division(inner, (0, 3, 0)), 1, 2))
    p, q = base.proba(sample), inner.proba(sample)
    expected = np.stack(
        [p[:, 1] * (q[:, 0] + q[:, 2]), p[:, 2], p[:, 0] + p[:, 3], p[:, 1] * q[:, 1]], axis=1
    )
    np.testing.assert_allclose(found.proba(sample), expected, rtol=1e-12)
    first, second = base.labels(sample), inner.labels(sample)
    literal = [
        (0, 3, 0)[second[i]] if first[i] == 1 else {0: 2, 2: 1, 3: 2}[first[i]] for i in range(80)
    ]
    assert found.labels(sample).tolist() == literal
    assert found.n_groups == 4


def test_new_numbers_move_labels_and_probabilities_alike(sample):
    nested = NestedAssigner.of(mixture(0, 2), 1, mixture(1, 2))
    twice = NestedAssigner.of(mixture(5, 2), 0, NestedAssigner.of(mixture(0, 1), 0, mixture(1, 2)))
    for assigner in (mixture(2, 3), rules(1), nested, twice):
        assert assigner.n_groups == 3
        for to in ([2, 0, 1], [0, 1, 0], [0, 0, 0]):
            to = np.array(to)
            other = assigner.renumbered(to)
            assert other.n_groups == to.max() + 1
            np.testing.assert_array_equal(other.labels(sample), to[assigner.labels(sample)])
            expected = assigner.proba(sample) @ np.eye(3)[to][:, : to.max() + 1]
            np.testing.assert_allclose(other.proba(sample), expected, rtol=1e-12, atol=1e-15)


def test_groups_are_split_merged_and_reordered(sample):
    base = mixture(0, 3)
    groups = Groups(base, base.labels(sample))
    part = sample.take(np.flatnonzero(groups.labels == 1))
    inner = mixture(1, 2)
    divided = groups.split(1, Groups(inner, inner.labels(part)))
    np.testing.assert_array_equal(divided.assigner.labels(sample), divided.labels)
    np.testing.assert_array_equal(divided.labels == 3, groups.labels == 2)
    sizes = np.bincount(divided.labels).astype(float)
    place, to = merge_numbers([0, 3], sizes)
    assert place == (0 if sizes[0] >= sizes[3] else 3)
    merged = divided.renumbered(to)
    np.testing.assert_array_equal(merged.assigner.labels(sample), merged.labels)
    assert set(merged.labels[np.isin(divided.labels, [0, 3])]) == {to[place]}
    assert merged.assigner.n_groups == 3
    ordered = merged.reordered(np.argsort(-np.bincount(merged.labels), kind="stable"))
    np.testing.assert_array_equal(ordered.assigner.labels(sample), ordered.labels)
    assert (np.diff(np.bincount(ordered.labels)) <= 0).all()


def test_no_rows_are_assigned(sample):
    nested = NestedAssigner.of(mixture(0, 2), 1, mixture(1, 2))
    none = sample.take(np.empty(0, dtype=np.intp))
    assert nested.labels(none).shape == (0,)


def test_an_assigner_that_does_not_fit_a_model_is_refused():
    nested = NestedAssigner.of(mixture(0, 2), 1, rules(0))
    check_assigner(nested, BernoulliParameters, D, 4)
    for family, n_statistics, n_groups in (
        (BernoulliParameters, D + 1, 4),
        (BernoulliParameters, D, 5),
        (PoissonParameters, D, 4),
    ):
        with pytest.raises(ValueError):
            check_assigner(nested, family, n_statistics, n_groups)


def test_rules_that_form_no_tree_are_refused():
    first, second = rules(0).rules
    for children in (
        ((1, -1), (-2,)),
        ((0, -1), (-2, -3)),
        ((-1, -2), (-2, -3)),
        ((2, -1), (-1, 1)),
    ):
        with raises(InvalidDataError, "rules_not_a_tree"):
            RuleAssigner((first, second), children)
