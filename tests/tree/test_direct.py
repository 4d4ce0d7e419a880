"""Splits without a model: the identities of T Theorem 6.2.1, and T Algorithm 5 literally."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from momentree import ClusterTree
from momentree.assignment.rules import LinearRule, ScoreRule
from momentree.backends import RowBlocks
from momentree.decomposition import discriminators
from momentree.decomposition.sidiwo import common_rotation
from momentree.inference import log_joint, log_posterior
from momentree.messages import Message
from momentree.moments import AugmentedRawMoments
from momentree.objects import BernoulliParameters, GaussianParameters
from momentree.preprocessing import FeatureMap
from momentree.tree.split import SampleGroups
from momentree.tree.splitters import DSidiwoSplitter
from momentree.whitening import whiten

from .cluster_data import records
from .splitting import split_one


def splitter(d, **options):
    seen = FeatureMap(
        options.pop("kind", "binary"),
        np.zeros(d),
        np.ones(d),
        options.pop("view", np.ones(d)),
        options.pop("constant", 0.0),
        scaled=False,
    )
    return DSidiwoSplitter(**{"min_samples_leaf": 1, "refine_iter": 0, **options}, feature_map=seen)


CASES = {
    "as they are": (False, False, False, 0.0),
    "weighted": (True, False, False, 0.0),
    "scaled rows": (False, True, False, 0.0),
    "scaled columns": (False, False, True, 0.0),
    "a constant": (False, False, False, 1.5),
    "all of it": (True, True, True, 0.7),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("d", [12, 80])  # dense eigenvectors, and those of the iteration
@pytest.mark.parametrize("k", [2, 3])
def test_scores_have_mean_square_one_and_are_uncorrelated(case, d, k):
    """T Theorem 6.2.1: sum <d_j, x>^2 / n = 1, and sum <d_1, x> <d_2, x> = 0."""
    weighted, scaled, viewed, constant = CASES[case]
    rng = np.random.default_rng(d)
    X, n = records(n=150, d=d)[0], 150
    weight = rng.uniform(0.0, 2.0, n) if weighted else np.ones(n)
    factor = rng.uniform(0.5, 1.5, n) if scaled else np.ones(n)
    view = rng.uniform(0.5, 2.0, d) if viewed else np.ones(d)
    group = SampleGroups.one(RowBlocks(sp.csr_array(X)), weight, factor)
    rule = splitter(d, view=view, constant=constant).discriminate(group, weight, k)
    assert isinstance(rule, ScoreRule)
    seen = factor[:, None] * (X @ rule.coef + rule.constant)
    gram = (seen * weight[:, None]).T @ seen / weight.sum()
    np.testing.assert_allclose(gram, np.eye(k), atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_the_objective_is_the_supremum_over_correlations(case):
    """T Lemma 6.2.2: n |t| is the largest sum_h v_h <d_1, x_h> <d_2, x_h> with v = X alpha."""
    weighted, scaled, viewed, constant = CASES[case]
    rng = np.random.default_rng(4)
    X, _ = records(n=100, d=12, seed=2)
    n, d = X.shape
    weight = rng.uniform(0.0, 2.0, n) if weighted else np.ones(n)
    factor = rng.uniform(0.5, 1.5, n) if scaled else np.ones(n)
    view = rng.uniform(0.5, 2.0, d) if viewed else np.ones(d)
    rows = RowBlocks(sp.csr_array(X))
    moments = AugmentedRawMoments(rows, weight, factor, view, constant)
    white = whiten(moments, 2)
    rotation, numbers = common_rotation(moments.whitened_slices(white.W))
    D = rotation.T @ white.W
    augmented = np.column_stack([X * view, np.full(n, constant)])
    Y, v = factor[:, None] * augmented, weight / weight.sum()
    product = v * (Y @ D[0]) * (Y @ D[1])
    t = Y.T @ product
    # H eq. 5 counts both entries off the diagonal, each of the norm |t|.
    assert numbers["objective"] == pytest.approx(2 * np.linalg.norm(t), rel=1e-9)
    best = t / np.linalg.norm(t)
    assert (Y @ best) @ product == pytest.approx(np.linalg.norm(t), rel=1e-9)
    others = rng.standard_normal((500, d + 1))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert ((others @ Y.T) @ product <= np.linalg.norm(t) + 1e-12).all()
    # And no feasible D has a smaller one.
    for a in np.linspace(-1.0, 1.0, 401):
        R = turned(a) @ white.W
        other = Y.T @ (v * (Y @ R[0]) * (Y @ R[1]))
        assert np.linalg.norm(other) >= np.linalg.norm(t) - 1e-12
    np.testing.assert_allclose(np.abs(D), np.abs(discriminators(moments, white)), atol=1e-9)


def turned(a):
    c = np.sqrt(1.0 - a**2)
    return np.array([[c, a], [-a, c]])


def algorithm_5(X, steps=4001):
    """T Algorithm 5, line by line; (6.7) by a grid over a, as H Theorem 3.3 has it."""
    n, d = X.shape
    M2, M3 = np.zeros((d, d)), np.zeros((d, d, d))
    for x in X:  # line 1
        M2 += np.multiply.outer(x, x) / n
        M3 += np.multiply.outer(np.multiply.outer(x, x), x) / n
    U, S, _ = np.linalg.svd(M2)  # line 2
    E = U[:, :2] * np.sqrt(S[:2])  # line 3
    best, cost = None, np.inf
    for a in np.linspace(-1.0, 1.0, steps):  # line 4
        D = np.linalg.pinv(E @ turned(a))
        value = np.linalg.norm(np.einsum("a,abr,b->r", D[0], M3, D[1]))
        if value < cost:
            best, cost = D, value
    scores = np.abs(X @ best.T)  # line 5 to 7
    return scores.argmax(axis=1), scores


@pytest.mark.parametrize("seed", range(2))
def test_a_split_is_that_of_algorithm_5(seed):
    X, _ = records(n=40, d=8, seed=seed)
    X = X[X.any(axis=1)]
    expected, scores = algorithm_5(X)
    tree = ClusterTree(2, scaling=None, refine=None, min_samples_leaf=1e-9).fit(X)
    # The grid ends within 5e-4 of the angle: records nearer to the border may fall either way.
    clear = np.abs(scores[:, 0] - scores[:, 1]) > 2e-3 * scores.max(axis=1)
    assert clear.mean() > 0.9
    same = tree.labels_[clear] == expected[clear]
    assert same.all() or not same.any()
    assert len(set(tree.labels_)) == 2


def test_a_split_of_numbers_is_that_of_algorithm_5():
    rng = np.random.default_rng(0)
    X = records(n=40, d=8)[0] * rng.uniform(0.2, 3.0, (40, 8))
    X = X[X.any(axis=1)]
    expected, scores = algorithm_5(X)
    tree = ClusterTree(2, scaling=None, refine=None, min_samples_leaf=1e-9).fit(X)
    assert tree.data_ in ("non_negative", "real")  # by how many are zero
    clear = np.abs(scores[:, 0] - scores[:, 1]) > 2e-3 * scores.max(axis=1)
    same = tree.labels_[clear] == expected[clear]
    assert same.all() or not same.any()


small = st.tuples(st.integers(3, 12), st.integers(2, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 1))
)


@given(small)
def test_the_side_of_a_record_is_its_larger_score(X):
    n, d = X.shape
    found = split_one(
        splitter(d, min_samples_leaf=1e-9),
        RowBlocks(sp.csr_array(X.astype(float))),
        np.ones(n),
        np.ones(n),
    )
    if isinstance(found, Message):
        return
    scores = np.abs(X @ found.rule.coef)
    taken = scores[np.arange(n), found.side]
    assert (taken >= scores.max(axis=1) - 1e-12).all()
    sizes = np.bincount(found.side, minlength=2)
    assert sizes.min() > 0
    # The gain is the likelihood of two groups over one, by its formula.
    gain = literal(X[found.side == 0]) + literal(X[found.side == 1]) - literal(X)
    assert found.gain == pytest.approx(gain, abs=1e-9)


def literal(X):
    total = 0.0
    for column in X.T:
        ones, n = column.sum(), len(column)
        for count in (ones, n - ones):
            total += count * np.log(count / n) if count else 0.0
    return total


def test_disjoint_groups_have_disjoint_discriminators():
    """Where two groups share no code, each discriminator is zero on the other."""
    X = np.array([[1, 1, 0, 0]] * 5 + [[1, 0, 0, 0]] * 2 + [[0, 0, 1, 1]] * 3 + [[0, 0, 0, 1]])
    n = len(X)
    found = split_one(splitter(4), RowBlocks(sp.csr_array(X.astype(float))), np.ones(n), np.ones(n))
    assert found.side.tolist() == [0] * 7 + [1] * 4
    cross = X.astype(float) @ found.rule.coef
    np.testing.assert_allclose(cross[:7, 1], 0.0, atol=1e-9)
    np.testing.assert_allclose(cross[7:, 0], 0.0, atol=1e-9)


def test_em_after_a_split_raises_its_likelihood():
    for seed in range(5):
        X, _ = records(n=120, d=12, seed=seed, noise=0.15)
        rows, one = RowBlocks(sp.csr_array(X)), np.ones(120)
        plain, refined = (split_one(splitter(12, refine_iter=m), rows, one, one) for m in (0, 15))
        assert isinstance(refined.rule, LinearRule)
        # Its gain is that of a mixture; of the sides before EM it is this.
        groups = np.eye(2)[plain.side]
        p = BernoulliParameters.m_step(X.T @ groups, groups.sum(axis=0), 1.0)
        mixture = log_posterior(log_joint(rows, p))[1].sum()
        whole = BernoulliParameters.maximized_log_likelihood(X.sum(axis=0), np.float64(120))
        assert refined.gain >= mixture - whole - 1e-9


def test_groups_too_small_or_of_one_direction_are_not_split():
    X, one = np.eye(4)[[0, 1, 2, 3, 0, 1]], np.ones(6)
    rows = RowBlocks(sp.csr_array(X))
    found = split_one(splitter(4, min_samples_leaf=4), rows, one, one)
    assert found == Message("[too_few_to_split]", needed=8)
    alike = RowBlocks(sp.csr_array(np.ones((6, 4))))
    assert split_one(splitter(4), alike, one, one).values["rank"] == 1
    nothing = RowBlocks(sp.csr_array((6, 4)))
    assert split_one(splitter(4), nothing, one, one).values["rank"] == 0
    lonely = np.array([[1.0, 0]] * 9 + [[0.0, 1]])
    found = split_one(
        splitter(2, min_samples_leaf=2), RowBlocks(sp.csr_array(lonely)), np.ones(10), np.ones(10)
    )
    assert found == Message("[small_side]", least=2)


def test_what_the_view_hides_moves_no_side():
    """Statistics of EM that the moments do not see have no part in the discriminators."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((60, 5))) + np.repeat(
        [[3.0, 0, 0, 0, 0], [0, 3, 0, 0, 0]], 30, 0
    )
    rows = RowBlocks(GaussianParameters.statistics(sp.csr_array(X)))
    view = np.append(np.ones(5), 0.0)
    found = split_one(splitter(6, view=view, kind="real"), rows, np.ones(60), np.ones(60))
    plain = split_one(splitter(5), RowBlocks(sp.csr_array(X)), np.ones(60), np.ones(60))
    np.testing.assert_allclose(found.rule.coef[:5], plain.rule.coef, atol=1e-9)
    assert not found.rule.coef[5:].any()
