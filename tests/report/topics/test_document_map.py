"""The map of documents: near the leaves whose words they use, the same in any order."""

import numpy as np
import scipy.sparse as sp

from momentree.report import summarize
from momentree.report.topics.evidence import MAP_SIZE, Evidence, place_documents


def map_of(root, X):
    return place_documents(Evidence.of(sp.csr_array(X), root.center), root)


def literal_place(scores, places, gap):
    weights = [np.exp(2.0 * s / gap) for s in scores]
    mean = sum(w * p for w, p in zip(weights, places, strict=True)) / sum(weights)
    return np.rint((mean + 1.0) * 500.0)


def test_places_are_the_literal_means(case):
    root = case.estimator.tree_
    at, leaves = map_of(root, case.X)
    evidence = Evidence.of(case.X, root.center)
    scores = np.array([evidence.scores(leaf.center) for leaf in root.leaves()]).T
    gap = np.median([max(s) - sorted(s)[-2] for s in scores])
    places = 2.0 * np.array(leaves) / MAP_SIZE - 1.0
    np.testing.assert_allclose(np.hypot(*places.T), 1.0, atol=2e-3)  # coordinates are rounded
    for i in range(0, 120, 7):
        # The places of the leaves are rounded to one part in a thousand.
        np.testing.assert_allclose(at[i], literal_place(scores[i], places, gap), atol=1.1)


def test_documents_are_closest_to_their_leaf(case):
    at, leaves = map_of(case.estimator.tree_, case.X)
    distance = np.hypot(*(at[:, None, :] - np.array(leaves)[None]).transpose(2, 0, 1))
    assert (distance.argmin(axis=1) == case.estimator.labels_).all()
    assert at.min() >= 0
    assert at.max() <= MAP_SIZE


def test_the_map_does_not_depend_on_the_order_of_rows(case):
    order = np.random.default_rng(3).permutation(120)
    at, leaves = map_of(case.estimator.tree_, case.X)
    again, same = map_of(case.estimator.tree_, case.X[order])
    assert np.array_equal(again, at[order])
    assert same == leaves


def test_a_document_without_words_is_in_the_middle(case):
    X = sp.lil_array(case.X)
    X[5] = 0
    at, leaves = map_of(case.estimator.tree_, X)
    np.testing.assert_allclose(at[5], np.mean(leaves, axis=0), atol=1.0)
    at, _ = map_of(case.estimator.tree_, case.X * 0)
    assert (at == at[0]).all()


def test_few_leaves_have_no_map(make_case):
    case = make_case(12, groups=0)
    assert map_of(case.estimator.tree_, case.X) is None
    documents = summarize(case.estimator, case.X)["documents"]
    assert documents["map"] is None
    assert "at" not in documents["items"][0]


def test_a_page_has_the_map_only_with_the_counts(case):
    documents = summarize(case.estimator, case.X)["documents"]
    assert len(documents["map"]) == 4
    at, _ = map_of(case.estimator.tree_, case.X)
    assert all(item["at"] == at[item["row"]].tolist() for item in documents["items"])
    assert summarize(case.estimator)["documents"]["map"] is None
