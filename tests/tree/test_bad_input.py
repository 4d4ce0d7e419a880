"""Bad input gives an error with a code, or a small tree with a reason; no warning and no NaN."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from momentree import TopicTree
from momentree.exceptions import EmptyCorpusError, InvalidDataError, InvalidParameterError

from ..raising import raises

GOOD = np.random.default_rng(0).poisson(2.0, size=(40, 6))

CONFIGURATIONS = [
    {},
    {"refine": None, "log_scaling": None, "growth": "depth"},
    {"log_scaling": None, "weighting": "uniform", "max_leaf_nodes": "bic"},
    {"refine": None, "min_samples_leaf": 1},
]


def with_value(value):
    X = GOOD.astype(float)
    X[3, 2] = value
    return X


REFUSED = "refused_by_sklearn"
BAD_DATA = {
    "negative": (with_value(-1.0), "negative_count"),
    "nan": (with_value(np.nan), "missing_count"),
    "infinity": (with_value(np.inf), "missing_count"),
    "minus infinity": (with_value(-np.inf), "negative_count"),
    "too large": (with_value(1e31), "huge_count"),
    "missing in a frame": (pd.DataFrame({"a": [1, None], "b": [1, 2]}), "missing_count"),
    "text": (np.array([["a", "b"], ["c", "d"]]), REFUSED),
    "objects": (np.array([["a", 1], [2, 3]], dtype=object), REFUSED),
    "complex": (GOOD.astype(complex), REFUSED),
    "one dimension": (GOOD[0], REFUSED),
    "three dimensions": (GOOD[None], REFUSED),
    "a number": (3.0, REFUSED),
    "nothing": (None, REFUSED),
    "no rows": (GOOD[:0], REFUSED),
    "no columns": (GOOD[:, :0], REFUSED),
    "a text": ("the sea", "one_string"),
    "an object that holds the table": (SimpleNamespace(X=GOOD), "holds_the_table"),
    "ragged": ([[1, 2], [3]], REFUSED),
}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array])
@pytest.mark.parametrize("name", ["negative", "nan", "infinity", "minus infinity"])
def test_bad_values_are_named_with_their_place(name, form):
    X, code = BAD_DATA[name]
    with raises(InvalidDataError, code, row=3, column=2):
        TopicTree().fit(form(X))
    with raises(InvalidDataError, code, row=3, column=2):
        TopicTree(2).fit(GOOD).predict(form(X))


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data(name):
    X, code = BAD_DATA[name]
    with raises(InvalidDataError, code):
        TopicTree().fit(X)


@pytest.mark.parametrize("X", [np.zeros((5, 3)), sp.csr_array((5, 3)), np.zeros((1, 1))])
def test_documents_without_any_word(X):
    with raises(EmptyCorpusError, "all_empty", n_rows=X.shape[0]):
        TopicTree().fit(X)


BAD_FIT = {
    "weights too few": ({"sample_weight": np.ones(39)}, "wrong_shape"),
    "weights of two dimensions": ({"sample_weight": np.ones((40, 1))}, "wrong_shape"),
    "negative weight": ({"sample_weight": np.r_[-1.0, np.ones(39)]}, "bad_sample_weight"),
    "weight nan": ({"sample_weight": np.r_[np.nan, np.ones(39)]}, "bad_sample_weight"),
    "weight too large": ({"sample_weight": np.r_[1e300, np.ones(39)]}, "bad_sample_weight"),
    "weights zero": ({"sample_weight": np.zeros(40)}, "no_sample_weight"),
    "weights as text": ({"sample_weight": ["a"] * 40}, "not_numbers"),
    "names too few": ({"feature_names": list("abcde")}, "wrong_number_of_names"),
    "names too many": ({"feature_names": list("abcdefg")}, "wrong_number_of_names"),
    "names of two dimensions": ({"feature_names": [list("abcdef")]}, "wrong_number_of_names"),
}


@pytest.mark.parametrize("name", BAD_FIT)
def test_bad_weights_and_names(name):
    options, code = BAD_FIT[name]
    with raises(InvalidDataError, code):
        TopicTree(2).fit(GOOD, **options)


def test_weight_on_empty_documents_alone_is_refused():
    X = GOOD.copy()
    X[:10] = 0
    weight = np.zeros(40)
    weight[:10] = 1.0
    with raises(EmptyCorpusError, "all_weighted_empty"):
        TopicTree(2).fit(X, sample_weight=weight)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply", "decision_path"])
def test_other_columns_than_those_of_fit(method):
    tree = TopicTree(2).fit(GOOD)
    for X in (GOOD[:, :5], sp.csr_array((3, 7))):
        with raises(InvalidDataError, REFUSED):
            getattr(tree, method)(X)


def test_three_words_are_not_of_scaled_counts():
    with raises(InvalidParameterError, "three_words_after_log_scaling"):
        TopicTree(weighting="three_words", log_scaling="log1p").fit(GOOD)
    assert TopicTree(weighting="three_words").fit(GOOD).log_scaling_ is None


POOR = {
    "one row": [[3, 1, 0, 2]],
    "one column": [[3]] * 20,
    "one value": [[5]],
    "one row and one word": [[0, 9, 0]],
    "all rows the same": [[3, 1, 0, 2]] * 30,
    "two rows, each often": [[3, 1, 0, 2]] * 15 + [[0, 4, 2, 1]] * 15,
    "two rows of no common word": [[5, 5, 0, 0]] * 15 + [[0, 0, 5, 5]] * 15,
    "fewer rows than leaves": GOOD[:4].tolist(),
    "one word a document": np.eye(30, 5, dtype=int).tolist(),
    "two words a document": (2 * np.eye(30, 5, dtype=int)).tolist(),
    "one document has three words": [[1, 0, 0]] * 20 + [[1, 1, 1]],
    "most documents empty": [[0, 0, 0]] * 50 + [[4, 1, 1], [1, 1, 4]],
    "a word in one document": [[1, 2, 3, 0]] * 20 + [[0, 0, 0, 9]],
    "tiny fractions": (1e-9 * GOOD).tolist(),
    "fractions": (GOOD / 7).tolist(),
    "1e9": (10**9 * GOOD).tolist(),
    "1e18": (GOOD * 1e18).tolist(),
    "1e29": (GOOD * 1e29).tolist(),
    "smallest numbers": (GOOD * 1e-30).tolist(),
    "one huge among small": np.where(np.arange(240).reshape(40, 6) == 7, 1e12, GOOD).tolist(),
    "one enormous among small": np.where(np.arange(240).reshape(40, 6) == 7, 1e30, GOOD).tolist(),
}


@pytest.mark.parametrize("name", POOR)
def test_poor_data_give_a_sensible_tree(name):
    X = np.array(POOR[name])
    for options in CONFIGURATIONS:
        assert_sensible(TopicTree(**options).fit(X), X)


def assert_sensible(tree, X):
    n = len(X)
    assert tree.labels_.shape == (n,)
    found = sorted(np.concatenate([leaf.samples for leaf in tree.leaves_]))
    assert found == np.flatnonzero(X.any(axis=1)).tolist()
    for node in tree.tree_.nodes():
        assert np.isfinite(node.center).all()
        assert node.center.sum() == pytest.approx(1.0)
        assert np.isfinite([node.gain, node.weight]).all()
        assert bool(node.reason) == node.is_leaf
    P = tree.predict_proba(X)
    assert np.isfinite(P).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(tree.predict(X), tree.labels_)


@pytest.mark.parametrize("name", ["one row", "all rows the same", "one column", "one value"])
def test_what_cannot_be_split_is_one_leaf(name):
    tree = TopicTree(min_samples_leaf=1).fit(np.array(POOR[name]))
    assert tree.n_leaves_ == 1
    assert tree.leaves_[0].reason


@pytest.mark.parametrize("options", CONFIGURATIONS, ids=str)
@pytest.mark.parametrize("name", ["two rows, each often", "two rows of no common word"])
def test_two_kinds_of_rows_are_two_leaves(name, options):
    tree = TopicTree(**options).fit(np.array(POOR[name]))
    assert sorted(leaf.samples.tolist() for leaf in tree.leaves_) == [
        list(range(15)),
        list(range(15, 30)),
    ]


def test_three_words_need_whole_counts():
    options = {"weighting": "three_words", "log_scaling": None}
    with raises(InvalidDataError, "three_words_need_whole_counts"):
        TopicTree(**options).fit(GOOD + 0.5)


@pytest.mark.parametrize("names", [["a"] * 6, [1, 2, 3, 4, 5, 6], [None] * 6, [""] * 6])
def test_unusual_names_are_kept(names):
    tree = TopicTree(2).fit(GOOD, feature_names=names)
    assert tree.vocabulary_.tolist() == names
    tree.to_newick()
    tree.to_dict()
