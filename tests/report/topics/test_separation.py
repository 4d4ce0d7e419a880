"""How well splits separate: planted topics, noise, and what must not change the answer."""

import numpy as np
import pytest
import scipy.sparse as sp

import momentree as mt
from momentree.metrics import npmi_coherence
from momentree.report import summarize
from momentree.report.topics.nodes import coherence_words, separations


def of_root(case, X=None, labels=None):
    root = case.estimator.tree_
    found = separations(
        root, case.X if X is None else X, case.estimator.labels_ if labels is None else labels
    )
    assert [entry is None for entry in found] == [node.is_leaf for node in root.nodes()]
    return found[0]


def noise(n=400, d=300, seed=0):
    """Documents without topics: all of one multinomial."""
    rng = np.random.default_rng(seed)
    p = 1.0 / (5.0 + np.arange(d))
    return sp.csr_array(rng.multinomial(60, p / p.sum(), size=n))


def test_planted_topics_are_strongly_separated(case):
    found = of_root(case)
    assert found == {"same_side": 1.0, "agreement": 1.0, "words": "strong"}


@pytest.mark.parametrize("seed", range(3))
def test_an_optimized_split_of_noise_is_weak(seed):
    """Its own documents fit such a split well; without them, halves of words barely agree."""
    X = noise(seed=seed)
    tree = mt.TopicTree(growth="depth", max_depth=1).fit(X)
    (found,) = [entry for entry in separations(tree.tree_, X, tree.labels_) if entry]
    assert found["words"] == "weak"


def test_a_random_split_agrees_by_chance(case):
    X = noise(2000)
    labels = np.random.default_rng(1).integers(0, 4, 2000)
    found = of_root(case, X, labels)
    # The standard error of kappa by chance is 1 / sqrt(n); 4 of them.
    assert abs(found["agreement"]) < 4 / np.sqrt(2000)


def test_the_order_of_documents_does_not_matter(case):
    order = np.random.default_rng(2).permutation(case.X.shape[0])
    assert of_root(case, case.X[order], case.estimator.labels_[order]) == of_root(case)


def test_a_split_with_one_empty_side_has_no_separation(case):
    rows = np.flatnonzero(case.estimator.labels_ < 2)
    assert separations(case.estimator.tree_, case.X[rows], case.estimator.labels_[rows])[0] is None


def test_documents_without_words_do_no_harm(case):
    X = case.X.copy()
    X.data[:] = 0
    X.eliminate_zeros()
    assert of_root(case, X)["words"] == "weak"


def test_random_words_occur_together_seldom(case):
    X = noise()
    words = np.random.default_rng(3).permuted(np.tile(np.arange(100), (20, 1)), axis=1)[:, :10]
    assert {coherence_words(value) for value in npmi_coherence(words, X)} == {"seldom"}
    assert [coherence_words(value) for value in (0.0, 0.05, 0.149, 0.15)] == [
        "seldom",
        "sometimes",
        "sometimes",
        "often",
    ]


def test_the_summary_has_both_for_trees_with_counts(case):
    nodes = summarize(case.estimator, case.X)["nodes"]
    assert nodes[0]["separation"]["words"] == "strong"
    assert nodes[-1]["separation"] is None
    assert nodes[-1]["coherence"]["words"] == coherence_words(nodes[-1]["coherence"]["npmi"])
    assert summarize(case.estimator)["nodes"][0]["separation"] is None
