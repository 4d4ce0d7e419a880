"""Bad input: a clear error, or a tree that makes sense with a reason; never a warning or NaN."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from momentree import TopicTree
from momentree.exceptions import EmptyCorpusError, InvalidDataError, InvalidParameterError

GOOD = np.random.default_rng(0).poisson(2.0, size=(40, 6))

CONFIGURATIONS = [
    {},
    {"log_scaling": None},
    {"refine": None},
    {"refine": None, "log_scaling": None, "growth": "depth"},
    {"weighting": "uniform"},
    {"max_leaf_nodes": None},
    {"min_samples_leaf": 1},
]


def with_value(value):
    X = GOOD.astype(float)
    X[3, 2] = value
    return X


BAD_DATA = {
    "negative": (with_value(-1.0), "Negative values in data: row 3, column 2 holds -1"),
    "nan": (with_value(np.nan), "contains NaN or infinity: row 3, column 2 holds nan"),
    "infinity": (with_value(np.inf), "contains NaN or infinity: row 3, column 2 holds inf"),
    "minus infinity": (with_value(-np.inf), "row 3, column 2 holds -inf"),
    "text": (np.array([["a", "b"], ["c", "d"]]), "not compatible with arrays of bytes/strings"),
    "objects": (np.array([["a", 1], [2, 3]], dtype=object), "could not convert string"),
    "too large": (with_value(1e31), "too large in data: row 3, column 2 holds 1e.31"),
    "complex": (GOOD.astype(complex), "Complex data not supported"),
    "one dimension": (GOOD[0], "Expected 2D array, got 1D array"),
    "three dimensions": (GOOD[None], "dim 3"),
    "a number": (3.0, "Expected 2D array, got scalar"),
    "nothing": (None, "Expected 2D array|None"),
    "no rows": (GOOD[:0], "0 sample"),
    "no columns": (GOOD[:, :0], "0 feature"),
    "ragged": ([[1, 2], [3]], "inhomogeneous"),
    "frame of text": (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), "could not convert string"),
    "missing in a frame": (pd.DataFrame({"a": [1, None], "b": [1, 2]}), "row 1, column 0"),
}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("name", ["negative", "nan", "infinity", "minus infinity"])
def test_bad_values_are_named_with_their_place(name, form):
    X, message = BAD_DATA[name]
    with pytest.raises(InvalidDataError, match=message):
        TopicTree().fit(form(X))
    with pytest.raises(InvalidDataError, match=message):
        TopicTree(2).fit(GOOD).predict(form(X))


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data_is_told(name):
    X, message = BAD_DATA[name]
    with pytest.raises(InvalidDataError, match=message):
        TopicTree().fit(X)


@pytest.mark.parametrize("X", [np.zeros((5, 3)), sp.csr_array((5, 3)), np.zeros((1, 1))])
def test_documents_without_any_word_are_told(X):
    with pytest.raises(EmptyCorpusError, match="documents are empty"):
        TopicTree().fit(X)


BAD_FIT = {
    "weights too few": ({"sample_weight": np.ones(39)}, r"shape \(39,\), X needs \(40,\)"),
    "weights of two dimensions": ({"sample_weight": np.ones((40, 1))}, r"shape \(40, 1\)"),
    "negative weight": ({"sample_weight": np.r_[-1.0, np.ones(39)]}, "negative or non-finite"),
    "weight nan": ({"sample_weight": np.r_[np.nan, np.ones(39)]}, "negative or non-finite"),
    "weight too large": ({"sample_weight": np.r_[1e300, np.ones(39)]}, "weights are 1e"),
    "weights zero": ({"sample_weight": np.zeros(40)}, "all sample weights are zero"),
    "weights as text": ({"sample_weight": ["a"] * 40}, "sample_weight"),
    "names too few": ({"feature_names": list("abcde")}, "shape .5,., X has 6 columns"),
    "names too many": ({"feature_names": list("abcdefg")}, "shape .7,., X has 6 columns"),
    "names of two dimensions": ({"feature_names": [list("abcdef")]}, "X has 6 columns"),
}


@pytest.mark.parametrize("name", BAD_FIT)
def test_bad_weights_and_names_are_told(name):
    options, message = BAD_FIT[name]
    with pytest.raises(InvalidDataError, match=message):
        TopicTree(2).fit(GOOD, **options)


def test_weight_on_empty_documents_alone_is_told():
    X = GOOD.copy()
    X[:10] = 0
    weight = np.zeros(40)
    weight[:10] = 1.0
    with pytest.raises(EmptyCorpusError, match="weight"):
        TopicTree(2).fit(X, sample_weight=weight)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply", "decision_path"])
def test_other_columns_than_those_of_fit_are_told(method):
    tree = TopicTree(2).fit(GOOD)
    for X in (GOOD[:, :5], sp.csr_array((3, 7))):
        with pytest.raises(InvalidDataError, match=f"{X.shape[1]} features, but TopicTree is exp"):
            getattr(tree, method)(X)


BAD_PARAMETERS = [
    *[("max_leaf_nodes", value) for value in (0, -1, 2.5, "8", True, np.nan, [8])],
    *[("max_depth", value) for value in (-1, 1.5, "2", False)],
    *[("min_samples_leaf", value) for value in (0, -1, np.nan, np.inf, "5", None, True)],
    *[("smoothing", value) for value in (0, -0.5, np.nan, np.inf, "x", None)],
    *[("tol", value) for value in (-1e-9, np.nan, np.inf, "x", None)],
    *[("max_iter", value) for value in (0, -1, 1.5, None, True)],
    *[("growth", value) for value in ("best", None, 1)],
    *[("refine", value) for value in ("EM", "svm", True, 0)],
    *[("log_scaling", value) for value in ("log", True, 0)],
    *[("weighting", value) for value in ("len", None, "three_words")],
    *[("stop", value) for value in ("aic", None)],
]


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS)
def test_parameters_out_of_range_are_named(name, value):
    with pytest.raises(InvalidParameterError, match=f"^{name}=.*expected"):
        TopicTree(**{name: value}).fit(GOOD)


def test_an_array_for_a_choice_is_told():
    with pytest.raises(InvalidParameterError, match=r"^growth="):
        TopicTree(growth=np.array(["depth", "best_first"])).fit(GOOD)


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


@pytest.mark.parametrize("options", CONFIGURATIONS, ids=str)
@pytest.mark.parametrize("name", POOR)
def test_poor_data_gives_a_sensible_tree(name, options):
    X = np.array(POOR[name])
    tree = TopicTree(**options).fit(X)
    n = len(X)
    assert tree.labels_.shape == (n,)
    assert sorted(np.concatenate([leaf.samples for leaf in tree.leaves_])) == list(range(n))
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
    with pytest.raises(InvalidDataError, match="whole-number counts"):
        TopicTree(**options).fit(GOOD + 0.5)


@pytest.mark.parametrize("names", [["a"] * 6, [1, 2, 3, 4, 5, 6], [None] * 6, [""] * 6])
def test_odd_names_are_taken_as_they_are(names):
    tree = TopicTree(2).fit(GOOD, feature_names=names)
    assert tree.vocabulary_.tolist() == names
    tree.to_newick()
    tree.to_dict()
