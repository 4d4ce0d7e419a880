"""New documents: leaves, probabilities, paths; against literal formulas."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from momentree import TopicTree
from momentree.datasets import make_single_topic
from momentree.exceptions import InvalidDataError

from ..raising import raises

both = pytest.mark.parametrize("refine", ["em", None])


@pytest.fixture(scope="module")
def sample():
    return make_single_topic(400, 60, 5, length=25, exponent=0.3, random_state=1)


@pytest.fixture(scope="module", params=["em", None])
def tree(request, sample):
    return TopicTree(5, refine=request.param).fit(sample.X[:300])


def literal_log_scaled(x):
    y = np.log2(1.0 + x)
    return (y * min(1.0, np.sqrt(24.0 / y.sum()))).astype(np.float32).astype(float)


def test_probabilities_are_the_posterior_of_the_mixture(sample):
    # S eq. 1: P[Y = j | x] = omega_j prod_w mu_wj^x_w / sum_i omega_i prod_w mu_wi^x_w.
    X = sample.X.toarray()
    for log_scaling in ("log1p", None):
        tree = TopicTree(4, log_scaling=log_scaling).fit(X[:300])
        mixture = tree._assigner.parameters
        found = tree.predict_proba(X[300:])
        for x, row in zip(X[300:], found, strict=True):
            y = literal_log_scaled(x) if log_scaling else x
            joint = [
                omega * np.prod([p**count for p, count in zip(mu, y, strict=True)])
                for omega, mu in zip(mixture.weights, mixture.centers.T, strict=True)
            ]
            # Single precision of the log-scaled counts, times the 25 logarithms that they multiply.
            np.testing.assert_allclose(row, np.array(joint) / sum(joint), rtol=1e-4, atol=1e-12)


def test_the_mixture_is_the_m_step_of_its_own_posterior(sample):
    # At a fixed point of EM: omega_j is the mean posterior of the documents of fit.
    tree = TopicTree(4, tol=0.0, max_iter=2000, log_scaling=None, smoothing=0.5).fit(sample.X)
    R = tree.predict_proba(sample.X)
    mixture = tree._assigner.parameters
    np.testing.assert_allclose(mixture.weights, R.mean(axis=0), rtol=1e-6)
    S = sample.X.T @ R + 0.5
    np.testing.assert_allclose(mixture.centers, S / S.sum(axis=0), rtol=1e-6)


def test_without_em_probabilities_are_products_over_splits(sample):
    tree = TopicTree(5, refine=None, log_scaling="log1p").fit(sample.X[:300])
    rules = iter(tree._assigner.rules)
    rule = {node.node_id: next(rules) for node in tree.tree_.nodes() if node.children}
    found = tree.predict_proba(sample.X[300:320])
    for x, row in zip(sample.X[300:320].toarray(), found, strict=True):
        y, expected = literal_log_scaled(x), []
        for leaf in tree.leaves_:
            p, node = 1.0, leaf
            while node.parent is not None:
                side = rule[node.parent.node_id]
                margin = y @ side.coef + side.intercept
                margin = margin if node is node.parent.children[0] else -margin
                p *= 1.0 / (1.0 + np.exp(-margin))
                node = node.parent
            expected.append(p)
        np.testing.assert_allclose(row, expected, rtol=1e-4, atol=1e-12)


def test_without_em_documents_follow_the_likelier_side(sample):
    tree = TopicTree(5, refine=None, log_scaling="log1p").fit(sample.X[:300])
    rules = iter(tree._assigner.rules)
    rule = {node.node_id: next(rules) for node in tree.tree_.nodes() if node.children}
    found = tree.predict(sample.X[300:])
    for x, label in zip(sample.X[300:].toarray(), found, strict=True):
        node, y = tree.tree_, literal_log_scaled(x)
        while node.children:
            node = node.children[0 if y @ rule[node.node_id].coef >= 0 else 1]
        assert node.leaf_id == label


def test_probabilities_are_distributions(tree, sample):
    P = tree.predict_proba(sample.X)
    assert P.shape == (400, 5)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)


def test_with_em_the_leaf_is_the_likeliest(sample):
    tree = TopicTree(5).fit(sample.X[:300])
    np.testing.assert_array_equal(
        tree.predict(sample.X), tree.predict_proba(sample.X).argmax(axis=1)
    )


def test_a_document_alone_is_predicted_as_among_others(tree, sample):
    together = tree.predict(sample.X)
    P = tree.predict_proba(sample.X)
    for i in range(0, 400, 13):
        assert tree.predict(sample.X[[i]]) == together[i]
        np.testing.assert_array_equal(tree.predict_proba(sample.X[[i]])[0], P[i])


def test_paths_lead_from_the_root_to_the_leaf_of_apply(tree, sample):
    X = sample.X[300:]
    ids, labels = tree.apply(X), tree.predict(X)
    paths = tree.decision_path(X)
    nodes = list(tree.tree_.nodes())
    assert paths.shape == (100, len(nodes))
    assert paths.dtype == bool
    for i in range(100):
        node = nodes[ids[i]]
        assert node.leaf_id == labels[i]
        expected = []
        while node is not None:
            expected.append(node.node_id)
            node = node.parent
        at = slice(paths.indptr[i], paths.indptr[i + 1])
        assert paths.indices[at].tolist() == expected[::-1]
    inside = tree.decision_path(sample.X[:300]).toarray()
    for node in nodes:
        np.testing.assert_array_equal(np.flatnonzero(inside[:, node.node_id]), node.samples)


def test_documents_without_words_are_in_no_leaf(tree):
    empty = sp.csr_array((3, 60), dtype=int)
    P = tree.predict_proba(empty)
    np.testing.assert_array_equal(tree.predict(empty), [-1] * 3)
    np.testing.assert_array_equal(tree.apply(empty), [-1] * 3)
    assert tree.decision_path(empty).nnz == 0
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    if tree.refine == "em":
        np.testing.assert_allclose(P, np.tile(tree._assigner.parameters.weights, (3, 1)))


def test_no_documents_are_an_error(tree):
    with raises(InvalidDataError, "refused_by_sklearn"):
        tree.predict(sp.csr_array((0, 60), dtype=int))


def test_longer_documents_of_the_same_words_stay_where_they_are(tree, sample):
    # Nine times every count is the same document more surely so.
    X = sample.X[300:]
    sure = tree.predict_proba(X).max(axis=1) > 0.99
    assert sure.sum() > 60
    np.testing.assert_array_equal(tree.predict(9 * X)[sure], tree.predict(X)[sure])


def test_huge_and_tiny_counts_are_finite(tree, sample):
    for scale in (1e-6, 1e6, 1e12):
        P = tree.predict_proba(scale * sample.X[300:].astype(float))
        assert np.isfinite(P).all()
        np.testing.assert_allclose(P.sum(axis=1), 1.0)


@both
def test_a_tree_of_one_leaf(sample, refine):
    tree = TopicTree(1, refine=refine).fit(sample.X)
    assert tree.n_leaves_ == 1
    assert not tree.labels_.any()
    assert not tree.predict(sample.X).any()
    np.testing.assert_array_equal(tree.predict_proba(sample.X), np.ones((400, 1)))
    np.testing.assert_array_equal(tree.apply(sample.X), np.zeros(400))
    assert tree.decision_path(sample.X).toarray().all()
    np.testing.assert_allclose(tree.tree_.center, sample.X.sum(axis=0) / sample.X.sum())


@both
def test_held_out_documents_find_their_topic(sample, refine):
    # 100 held-out documents, 5 topics; chance is right for a share of 0.2 with a standard error
    # of 0.04. Each leaf stands for the topic of most of its documents of fit.
    tree = TopicTree(5, refine=refine).fit(sample.X[:300])
    topic = [np.bincount(sample.labels[leaf.samples]).argmax() for leaf in tree.leaves_]
    found = np.array(topic)[tree.predict(sample.X[300:])]
    assert np.mean(found == sample.labels[300:]) > 0.2 + 10 * 0.04


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "apply", "decision_path", "to_dict", "to_newick"]
)
def test_nothing_is_available_before_fit(method):
    arguments = (np.eye(3),) if not method.startswith("to_") else ()
    with pytest.raises(NotFittedError):
        getattr(TopicTree(), method)(*arguments)
