"""BernoulliMixture: groups that are found from every start, and the attributes of a fit."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp, softmax

from momentree import BernoulliMixture
from momentree.datasets import make_bernoulli_mixture
from momentree.decomposition import sidiwo, svtd
from momentree.exceptions import InvalidParameterError
from momentree.models import DECOMPOSITIONS
from momentree.moments import BernoulliMoments, bernoulli_bias_bounds

from ..oracle import assert_near_oracle
from ..raising import raises

MOMENTS = ("auto", "moments", "raw_moments")
OTHERS = ("search", "clusters", "tree", "three_view_mom", "three_view_tpm")
SEED = 1
"""The SVD method and Jennrich's stand or fall with the directions drawn: most draws serve."""


@pytest.fixture(scope="module")
def clear():
    """Three groups that the true parameters separate without an error."""
    return make_bernoulli_mixture(
        3000, 30, 3, weights=[0.5, 0.3, 0.2], scaled_by="feature", random_state=0
    )


@pytest.fixture(scope="module")
def mixed():
    """Three overlapping groups: a third of their records are doubtful."""
    means = np.array([[0.7] * 4 + [0.3] * 8, [0.3] * 4 + [0.7] * 4 + [0.3] * 4, [0.4] * 12])
    return make_bernoulli_mixture(
        12_000, 12, 3, weights=[0.5, 0.3, 0.2], means=means, random_state=1
    )


def rates_of_the_known_groups(truth):
    X = truth.X.toarray()
    return np.stack([X[truth.labels == j].mean(axis=0) for j in range(len(truth.weights))])


@pytest.mark.parametrize(
    ("decomposition", "start"),
    [*((name, "auto") for name in DECOMPOSITIONS), ("svtd", "raw_moments")],
)
def test_em_from_any_decomposition_is_as_good_as_known_groups(clear, decomposition, start):
    model = BernoulliMixture(3, decomposition=decomposition, start=start, random_state=SEED)
    model.fit(clear.X)
    # No record is doubtful; the difference is one average record of smoothing in 600 or more.
    np.testing.assert_array_equal(model.labels_, clear.labels)
    np.testing.assert_allclose(model.means_, rates_of_the_known_groups(clear), atol=1 / 600)
    np.testing.assert_allclose(model.weights_, np.bincount(clear.labels) / 3000, atol=1e-4)
    assert model.converged_
    assert model.diagnostics_["start"] in {
        "search" if decomposition == "sidiwo" else start,
        "raw_moments",
        "moments",
    }


@pytest.mark.parametrize("start", OTHERS)
def test_em_from_any_other_start_is_as_good(clear, start):
    model = BernoulliMixture(3, start=start).fit(clear.X)
    np.testing.assert_array_equal(model.labels_, clear.labels)
    np.testing.assert_allclose(model.means_, rates_of_the_known_groups(clear), atol=1 / 600)
    assert model.diagnostics_["start"] == start


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_corrected_moments_alone_are_near_the_truth(clear, decomposition):
    model = BernoulliMixture(3, decomposition=decomposition, refine=None, random_state=SEED)
    model.fit(clear.X)
    assert model.diagnostics_["start"] == "moments"
    # Five standard errors of the rates of the smallest group.
    assert np.abs(model.means_ - clear.means).max() < 5 * np.sqrt(0.25 / 600)
    assert np.abs(model.weights_ - clear.weights).max() < 5 * np.sqrt(0.25 / 3000)
    np.testing.assert_array_equal(model.labels_, clear.labels)
    assert (model.n_iter_, model.converged_) == (1, True)


@pytest.mark.parametrize("start", OTHERS)
def test_other_starts_alone_are_near_the_truth(clear, start):
    model = BernoulliMixture(3, start=start, refine=None).fit(clear.X)
    assert np.abs(model.means_ - clear.means).max() < 5 * np.sqrt(0.25 / 600)
    np.testing.assert_array_equal(model.labels_, clear.labels)


def mean_error(truth, **options):
    model = BernoulliMixture(3, **options).fit(truth.X)
    order = [np.abs(model.means_ - row).sum(axis=1).argmin() for row in truth.means]
    return np.abs(model.means_[order] - truth.means).mean()


def test_em_and_correction_remove_the_bias_of_raw_moments(clear, mixed):
    raw = {"start": "raw_moments", "refine": None}
    assert mean_error(clear, refine=None) < 0.75 * mean_error(clear, **raw)
    assert mean_error(mixed) < 0.75 * mean_error(mixed, **raw)


def test_em_on_doubtful_groups_is_within_its_standard_error(mixed):
    """The errors by the Fisher information of the truth, estimated from the scores of records."""
    X, w, mu = mixed.X.toarray(), mixed.weights, mixed.means
    model = BernoulliMixture(3, start="moments", tol=1e-8, max_iter=2000, smoothing=1e-3).fit(X)
    joint = np.log(w) + X @ np.log(mu.T) + (1 - X) @ np.log1p(-mu.T)
    R = np.exp(joint - joint.max(axis=1, keepdims=True))
    R /= R.sum(axis=1, keepdims=True)
    of_means = R[:, :, None] * (X[:, None] - mu) / (mu * (1 - mu))
    of_weights = R[:, :2] / w[:2] - R[:, 2:] / w[2]
    scores = np.hstack([of_weights, of_means.reshape(len(X), -1)])
    error = np.sqrt(np.diag(np.linalg.inv(scores.T @ scores)))
    found = np.concatenate([model.weights_[:2] - w[:2], (model.means_ - mu).ravel()])
    z = found / error
    assert np.abs(z).max() < 4.5
    assert 0.5 < np.mean(z**2) < 1.8


# --- ASVTD, T Algorithm 2 ------------------------------------------------------------------------


@pytest.mark.parametrize("method", [svtd, sidiwo])
def test_raw_moments_alone_are_the_decomposition_of_them(clear, method):
    model = BernoulliMixture(3, decomposition=method.__name__, start="raw_moments", refine=None)
    model.fit(clear.X)
    found = method(BernoulliMoments.from_data(clear.X), 3)
    order = np.argsort(-found.weights, kind="stable")
    np.testing.assert_allclose(model.weights_, found.weights[order] / found.weights.sum(), 1e-4)
    expected = np.clip(found.centers.T[order], 0, 1)
    # The estimator whitens estimated moments by fewer steps than the function does.
    np.testing.assert_allclose(model.components_, expected, atol=1e-4)
    assert model.components_ is model.means_


def test_a_callable_decomposes_as_its_name_does(clear):
    one = BernoulliMixture(3, decomposition=svtd, refine=None).fit(clear.X)
    other = BernoulliMixture(3, decomposition="svtd", refine=None).fit(clear.X)
    np.testing.assert_array_equal(one.components_, other.components_)


def test_the_diagnostic_bounds_the_bias(clear):
    model = BernoulliMixture(3).fit(clear.X)
    bound = bernoulli_bias_bounds(BernoulliMoments.from_data(clear.X))
    assert model.diagnostics_["m2_bias_bound"] == pytest.approx(bound.m2_worst)


# --- likelihood and inference --------------------------------------------------------------------


def literal_joint(model, X):
    """log P[x, j], value by value; missing values are left out."""
    out = np.zeros((len(X), len(model.weights_)))
    for i, x in enumerate(X):
        for j, (w, mu) in enumerate(zip(model.weights_, model.components_, strict=True)):
            out[i, j] = np.log(w)
            for value, p in zip(x, mu, strict=True):
                if not np.isnan(value):
                    out[i, j] += np.log(p if value else 1 - p)
    return out


def test_likelihoods_and_posteriors_are_their_definition(mixed):
    model = BernoulliMixture(3).fit(mixed.X)
    X = mixed.X[:40].toarray().astype(float)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    X[3] = np.nan
    for rows in (X, np.nan_to_num(X)):
        joint = literal_joint(model, rows)
        total = np.log(np.exp(joint).sum(axis=1))
        np.testing.assert_allclose(model.score_samples(rows), total, rtol=1e-10, atol=1e-10)
        proportions = np.exp(joint - total[:, None])
        np.testing.assert_allclose(model.predict_proba(rows), proportions, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(model.transform(rows), model.predict_proba(rows))
        np.testing.assert_array_equal(model.predict(rows), proportions.argmax(axis=1))
        assert model.score(rows) == pytest.approx(total.mean())
    np.testing.assert_allclose(model.predict_proba(X[3:4])[0], model.weights_, rtol=1e-9)


@pytest.mark.parametrize("start", [*MOMENTS, *OTHERS])
def test_without_em_they_are_those_of_the_posterior(mixed, start):
    model = BernoulliMixture(3, start=start, refine=None).fit(mixed.X)
    X = mixed.X[:40].toarray()
    omega, mu = model.posterior_.weights, model.posterior_.centers
    np.testing.assert_array_equal(omega, model.weights_)
    if start in ("search", "clusters", "tree"):
        np.testing.assert_array_equal(mu, model.means_.T)
    else:
        mean = mixed.X.mean(axis=0)
        np.testing.assert_allclose(mu.T, 0.95 * model.means_ + 0.05 * mean)
    joint = np.log(omega) + X @ np.log(mu) + (1 - X) @ np.log(1 - mu)
    np.testing.assert_allclose(model.score_samples(X), logsumexp(joint, axis=1))
    np.testing.assert_allclose(model.predict_proba(X), softmax(joint, axis=1), atol=1e-12)


@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
def test_the_bic_counts_means_and_weights(clear):
    model = BernoulliMixture(3).fit(clear.X)
    total = model.score_samples(clear.X).sum()
    expected = -2 * total + (3 * 30 + 2) * np.log(3000)
    assert model.bic(clear.X) == pytest.approx(expected)
    # Of the numbers of components the true one is best.
    values = [BernoulliMixture(k).fit(clear.X).bic(clear.X) for k in (2, 3, 4)]
    assert np.argmin(values) == 1


def test_the_likelihood_of_em_is_that_of_the_scores(clear):
    model = BernoulliMixture(3, tol=1e-12).fit(clear.X)
    total = model.score_samples(clear.X).sum()
    assert model.diagnostics_["log_likelihood"] == pytest.approx(total, rel=1e-6)


def test_assignment_without_em_survives_frequencies_of_zero_and_one():
    X = np.repeat([[1.0, 1, 0, 0], [0, 0, 1, 1]], [30, 20], axis=0)
    model = BernoulliMixture(2, refine=None, start="clusters", smoothing=1e-12).fit(X)
    np.testing.assert_allclose(model.components_, [[1, 1, 0, 0], [0, 0, 1, 1]], atol=0.05)
    assert np.isfinite(model.score_samples([[1, 0, 1, 0]])).all()
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], [30, 20]))


@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("options", [{}, {"refine": None}, {"start": "tree"}])
def test_labels_are_predictions_of_the_data_of_fit(mixed, options):
    X = mixed.X[:2000]
    model = BernoulliMixture(3, **options)
    labels = model.fit_predict(X)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(labels, model.predict(X))
    assert (np.diff(model.weights_) <= 0).all()
    assert model.weights_.sum() == pytest.approx(1.0)
    assert model.components_.min() >= 0
    assert model.components_.max() <= 1


def test_top_words_are_those_of_equation_4_12(clear):
    model = BernoulliMixture(3).fit(clear.X, feature_names=[f"code {i}" for i in range(30)])
    mu, omega = model.components_, model.weights_
    for lam in (0.0, 0.7, 1.0):
        r = np.zeros((3, 30))
        for j in range(3):
            for i in range(30):
                average = sum(mu[h, i] * omega[h] for h in range(3))
                r[j, i] = lam * np.log(mu[j, i]) + (1 - lam) * np.log(mu[j, i] / average)
        expected = [[f"code {i}" for i in np.argsort(-row)[:5]] for row in r]
        assert model.top_words(5, lam=lam) == expected
    assert model.top_words(0) == [[], [], []]
    with raises(InvalidParameterError, "not_a_number", parameter="lam"):
        model.top_words(lam=2)
    with raises(InvalidParameterError, "not_a_number", parameter="n_words"):
        model.top_words(-1)


def test_samples_have_the_rates_of_the_model(clear):
    model = BernoulliMixture(3).fit(clear.X)
    X, labels = model.sample(8000, random_state=5)
    assert sp.issparse(X)
    assert X.shape == (8000, 30)
    proportions = np.bincount(labels) / 8000
    w, mu = model.weights_, model.components_
    assert (np.abs(proportions - w) < 5 * np.sqrt(w * (1 - w) / 8000)).all()
    for j in range(3):
        rates = X.toarray()[labels == j].mean(axis=0)
        error = np.sqrt(mu[j] * (1 - mu[j]) / (labels == j).sum())
        assert (np.abs(rates - mu[j]) < 5 * error).all()
    again, _ = model.sample(8000, random_state=5)
    assert (again != X).nnz == 0
    assert (model.sample(50)[0] != model.sample(50, random_state=0)[0]).nnz == 0
    assert (model.sample(50, random_state=6)[0] != model.sample(50)[0]).nnz
    # Fitted again to its own samples, it is the same model.
    found = BernoulliMixture(3).fit(X)
    assert_near_oracle(labels, model.predict(X), found.labels_)
    with raises(InvalidParameterError, "not_a_number", parameter="n_samples"):
        model.sample(-1)
