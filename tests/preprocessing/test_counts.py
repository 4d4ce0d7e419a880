"""Tf-idf against scikit-learn, and log scaling against its formula."""

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from momentree.exceptions import InvalidParameterError
from momentree.preprocessing import log_scale, tfidf
from tests.raising import raises


def test_tfidf_is_that_of_scikit_learn_and_weights_repeat_documents():
    X = sp.csr_array(np.random.default_rng(6).poisson(1.5, size=(20, 9)))
    found = tfidf(X, np.ones(20)).toarray()
    expected = TfidfTransformer().fit_transform(sp.csr_matrix(X)).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(tfidf(X * 1e25, np.ones(20)).toarray(), expected, atol=1e-6)
    v = np.arange(20) % 3 + 1
    repeated = tfidf(sp.csr_array(np.repeat(X.toarray(), v, axis=0)), np.ones(v.sum())).toarray()
    np.testing.assert_allclose(np.repeat(tfidf(X, v).toarray(), v, axis=0), repeated, atol=1e-6)


def test_log_scaling_is_its_formula():
    X = np.array([[0, 2**20 - 1, 2**12 - 1, 7], [2, 0, 0, 0], [0, 0, 0, 0]])
    scaled = log_scale(sp.csr_array(X), "log1p")
    y = np.log2(1 + X)
    expected = y * np.array([[np.sqrt(24 / 35)], [1.0], [1.0]])  # short documents stay as they are
    np.testing.assert_allclose(scaled.X.toarray(), expected, rtol=1e-6)
    np.testing.assert_allclose(scaled.count_per_token, [np.sqrt(24 / 35), 1.0, 1.0])
    untouched = log_scale(sp.csr_array(X), None)
    np.testing.assert_array_equal(untouched.X.toarray(), X)
    np.testing.assert_array_equal(untouched.count_per_token, 1.0)
    with raises(InvalidParameterError, "not_a_choice", parameter="log_scaling"):
        log_scale(sp.csr_array(X), "sqrt")
