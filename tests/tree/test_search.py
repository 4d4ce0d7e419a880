"""The search for the most likely topics, in trees and flat models."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from momentree import SingleTopicModel, TopicTree
from momentree.backends import RowBlocks
from momentree.datasets import make_hierarchical_topics
from momentree.inference import log_joint, log_posterior
from momentree.preprocessing import log_scale
from momentree.tree.topic_search import tfidf_groups


def uneven(seed, n=400):
    """Documents of the topics of Table 5.1 with uneven weights."""
    rng = np.random.default_rng(seed)
    weights = rng.random(8)
    sample = make_hierarchical_topics(8 * n, random_state=seed)
    share = (weights / weights.max())[sample.labels]
    some = np.flatnonzero(rng.random(8 * n) < share)[:n]
    return sample.X[some], sample.labels[some]


def log_likelihood(tree, X):
    X = sp.csr_array(X)
    scaled = log_scale(X, tree.log_scaling_).rows
    return float(log_posterior(log_joint(scaled, tree._assigner.parameters))[1].sum())


@pytest.mark.parametrize(
    ("searched", "plain", "seeds"),  # in these, every topic occurs
    [
        (TopicTree(8), TopicTree(8, search="none"), [1]),
        *(
            pytest.param(*models, [1, 3], marks=pytest.mark.long)
            for models in (
                (TopicTree(8), TopicTree(8, search="none")),
                (SingleTopicModel(8), SingleTopicModel(8, start="tree")),
            )
        ),
    ],
)
def test_uneven_topics_are_found_better(searched, plain, seeds):
    scores = {searched: [], plain: []}
    for seed in seeds:
        X, labels = uneven(seed)
        for model, found in scores.items():
            found.append(adjusted_rand_score(labels, model.fit(X).labels_))
    assert np.mean(scores[searched]) >= np.mean(scores[plain])
    assert np.min(scores[searched]) > 0.95


def test_the_answer_is_at_least_as_likely():
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(300, 0.05), 9)
    X = np.array([rng.multinomial(300, t) for t in topics[rng.choice(9, 60)]])
    without, found = (TopicTree(9, search=s, min_samples_leaf=2).fit(X) for s in ("none", "starts"))
    assert found.n_leaves_ == 9
    assert log_likelihood(found, X) >= log_likelihood(without, X)


@pytest.fixture(scope="module")
def searched():
    X, _ = uneven(2)
    return X, TopicTree(8).fit(X)


def test_any_order_of_rows(searched):
    X, tree = searched
    order = np.random.default_rng(0).permutation(X.shape[0])
    other = TopicTree(8).fit(X[order])
    np.testing.assert_array_equal(tree.labels_[order], other.labels_)
    assert tree.to_newick() == other.to_newick()


def test_trees_over_the_leaves_are_consistent(searched):
    X, tree = searched
    np.testing.assert_array_equal(tree.predict(X), tree.labels_)
    for node in tree.tree_.nodes():
        assert node.reason is None or not node.children
        weights = [child.weight for child in node.children]
        assert weights == sorted(weights, reverse=True)
        assert all(child.depth == node.depth + 1 for child in node.children)
    assert all(leaf.reason.code == "max_leaf_nodes_reached" for leaf in tree.leaves_)


@pytest.mark.parametrize(
    "options",
    [
        {"max_depth": 3},
        {"growth": "depth"},
        {"refine": None},
        pytest.param({"max_leaf_nodes": "bic"}, marks=pytest.mark.long),
        {"max_leaf_nodes": 1},
    ],
)
def test_where_the_search_does_not_apply(options):
    X, _ = uneven(0, n=120)
    options = {"max_leaf_nodes": 8, **options}
    a, b = (TopicTree(**options, search=search).fit(X) for search in ("starts", "none"))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert [n.depth for n in a.tree_.nodes()] == [n.depth for n in b.tree_.nodes()]


def test_the_flat_model_names_its_start():
    X, _ = uneven(0)
    assert SingleTopicModel(8).fit(X).diagnostics_["start"] in {"tree", "tfidf"}
    assert SingleTopicModel(8, start="tree").fit(X).diagnostics_["start"] == "tree"


def test_tfidf_groups_follow_unrelated_words():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(5), [40, 30, 20, 10, 5])
    topics = np.kron(np.eye(5), np.ones(12)) + 0.01
    X = np.array([rng.multinomial(50, t / t.sum()) for t in topics[truth]])
    X = RowBlocks(X.astype(float)).matrix
    assert adjusted_rand_score(truth, tfidf_groups(X, np.ones(105), 5)) == 1


def test_tfidf_groups_need_as_many_directions():
    X = RowBlocks(np.kron(np.eye(2), np.ones((4, 3)))).matrix
    assert tfidf_groups(X, np.ones(8), 3) is None
    assert tfidf_groups(X, np.ones(8), 20) is None


@pytest.mark.parametrize("copies", [1, 30])
def test_documents_that_cannot_be_told_apart(copies):
    X = np.repeat(np.array([[3, 1, 0], [0, 1, 4]]), copies, axis=0)
    tree = TopicTree(2, min_samples_leaf=1).fit(X)
    assert tree.n_leaves_ == (2 if copies > 1 else tree.n_leaves_)
    np.testing.assert_array_equal(tree.predict(X), tree.labels_)
