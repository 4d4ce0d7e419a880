"""CategoricalHMM and GaussianHMM: recovery, conventions, invariance, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.stats import multivariate_normal

from momentree import CategoricalHMM, GaussianHMM
from momentree.backends.sequences import sequence_blocks
from momentree.datasets import make_hmm
from momentree.exceptions import ConvergenceWarning, InvalidDataError, InvalidParameterError
from momentree.objects.hidden_markov import CategoricalEmissions, HMMParameters
from momentree.refinement.hidden_markov import BaumWelch

from ..raising import raises, warns


@pytest.fixture(scope="module")
def symbols():
    data = make_hmm(150, 20, 3, n_symbols=8, random_state=0)
    return data, CategoricalHMM(3).fit(data.X, data.lengths)


@pytest.fixture(scope="module")
def numbers():
    data = make_hmm(40, 20, 3, n_features=2, separation=3.0, random_state=3)
    return data, GaussianHMM(3).fit(data.X, data.lengths)


def matched(found, true):
    """Order of the found rows that fits the true ones best."""
    cost = np.abs(found[:, None] - true).sum(axis=2)
    return linear_sum_assignment(cost.T)[1]


def errors(transmat, emissionprob, data):
    at = matched(emissionprob, data.emissionprob)
    return (
        np.abs(transmat[np.ix_(at, at)] - data.transmat).sum(),
        np.abs(emissionprob[at] - data.emissionprob).sum(),
    )


def test_as_good_as_a_start_at_the_truth(symbols):
    data, model = symbols
    blocks = sequence_blocks(data.lengths.astype(np.intp), np.zeros(150), 3)
    start = HMMParameters(data.startprob, data.transmat, CategoricalEmissions(data.emissionprob))
    best = BaumWelch(blocks, data.X[:, 0]).run(start, tol=1e-9)
    assert model.log_likelihood_ > best.log_likelihood - 0.1
    ours = errors(model.transmat_, model.emissionprob_, data)
    theirs = errors(best.parameters.transmat, best.parameters.emissions.probabilities, data)
    assert (np.array(ours) < 1.2 * np.array(theirs)).all()


def test_attributes_and_scores_agree(symbols):
    data, model = symbols
    X, n = data.X, data.lengths
    assert model.score(X, n) == pytest.approx(model.log_likelihood_, rel=1e-12)
    assert model.score_sequences(X, n).sum() == model.score(X, n)
    np.testing.assert_array_equal(model.predict(X, n), model.labels_)
    log_joint, states = model.decode(X, n)
    np.testing.assert_array_equal(states, model.labels_)
    assert log_joint < model.score(X, n)
    P = model.predict_proba(X, n)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(P.mean(axis=0), model.weights_, atol=1e-10)
    assert (np.diff(model.weights_) <= 0).all()
    for rows in (model.startprob_[None], model.transmat_, model.emissionprob_):
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    p = 2 + 3 * 2 + 3 * 7
    assert model.bic(X, n) == pytest.approx(-2 * model.score(X, n) + p * np.log(len(X)))
    assert model.aic(X, n) == pytest.approx(-2 * model.score(X, n) + 2 * p)
    stationary = model.get_stationary_distribution()
    np.testing.assert_allclose(stationary @ model.transmat_, stationary, atol=1e-12)
    # Most states are found, as the emissions overlap.
    assert (
        model.labels_ == matched(model.emissionprob_, data.emissionprob)[data.states]
    ).mean() > 0.7


def test_each_sequence_is_scored_on_its_own(symbols):
    data, model = symbols
    n = np.array([3, 7, 1, 7, 2])
    X = data.X[: n.sum()]
    alone = [model.score(x) for x in np.split(X, np.cumsum(n)[:-1])]
    np.testing.assert_allclose(model.score_sequences(X, n), alone, rtol=1e-12)


def test_the_order_of_sequences_has_no_effect(symbols):
    data, model = symbols
    order = np.random.default_rng(0).permutation(150)
    X = data.X.reshape(150, 20)[order].reshape(-1, 1)
    other = CategoricalHMM(3).fit(X, data.lengths)
    np.testing.assert_array_equal(other.transmat_, model.transmat_)
    np.testing.assert_array_equal(
        other.labels_.reshape(150, 20), model.labels_.reshape(150, 20)[order]
    )


@pytest.mark.parametrize("start", ["moments", "windows", "contexts"])
def test_every_start_without_and_with_em(symbols, start):
    data, model = symbols
    if start == "contexts":  # eight symbols are too few to be grouped reliably
        data = make_hmm(100, 20, 3, n_symbols=20, random_state=0)
        model = CategoricalHMM(3).fit(data.X, data.lengths)
    rough = CategoricalHMM(3, start=start, refine=None).fit(data.X, data.lengths)
    assert rough.n_iter_ == 0
    assert rough.diagnostics_["start"] == start
    few = CategoricalHMM(3, start=start, max_iter=10).fit(data.X, data.lengths)
    assert rough.log_likelihood_ < few.log_likelihood_ <= model.log_likelihood_ + 0.1


def test_more_states_than_symbols():
    A = [[0.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    E = [[0.95, 0.05], [0.95, 0.05], [0.05, 0.95], [0.05, 0.95]]
    data = make_hmm(
        60, 20, 4, n_symbols=2, transmat=A, emissionprob=E, startprob=[0.25] * 4, random_state=0
    )
    model = CategoricalHMM(4, max_iter=100).fit(data.X, data.lengths)
    two = CategoricalHMM(2, max_iter=50).fit(data.X, data.lengths)
    assert model.diagnostics_["start"] != "moments"
    assert model.bic(data.X, data.lengths) < two.bic(data.X, data.lengths) - 50
    with raises(InvalidDataError, "no_such_start", start="moments"):
        CategoricalHMM(4, start="moments").fit(data.X, data.lengths)


def test_absorbing_states_are_found():
    A = [[0.9, 0.1, 0], [0, 0.9, 0.1], [0, 0, 1]]
    data = make_hmm(100, 20, 3, n_symbols=9, startprob=[1, 0, 0], transmat=A, random_state=2)
    model = CategoricalHMM(3, max_iter=60).fit(data.X, data.lengths)
    at = matched(model.emissionprob_, data.emissionprob)
    np.testing.assert_allclose(model.transmat_[np.ix_(at, at)], A, atol=0.05)
    assert model.startprob_[at][0] > 0.95


def test_many_symbols_take_little_memory():
    rng = np.random.default_rng(0)
    X = rng.zipf(1.4, size=400) % 20_000
    model = CategoricalHMM(3, n_features=20_000, max_iter=3).fit(X, np.full(20, 20))
    assert model.emissionprob_.shape == (3, 20_000)


def test_symbols_never_seen_say_nothing(symbols):
    data, _ = symbols
    X = data.X[:200]
    model = CategoricalHMM(2, n_features=10, max_iter=20).fit(X)
    np.testing.assert_allclose(model.predict_proba([9])[0], model.startprob_, atol=1e-12)
    assert np.isfinite(model.score([0, 9, 1]))
    with raises(InvalidDataError, "symbol_too_large", row=1, value=10, n=10):
        model.predict([0, 10])


def test_samples_have_the_frequencies_of_the_model(symbols):
    _, model = symbols
    X, states = model.sample(4000, random_state=0)
    assert X.shape == (4000, 1)
    stationary = model.get_stationary_distribution()
    # Samples are correlated: ten standard errors of independent ones.
    np.testing.assert_allclose(np.bincount(states) / 4000, stationary, atol=5 / np.sqrt(4000))
    again = model.sample(4000)[0]
    np.testing.assert_array_equal(X, again)


def test_data_frames_and_series(symbols):
    data, _ = symbols
    few = CategoricalHMM(2, max_iter=3)
    x = data.X[:300, 0]
    expected = few.fit(x).transmat_
    for same in (pd.DataFrame({"code": x}), pd.Series(x, dtype="Int64"), list(x), x.astype(float)):
        np.testing.assert_array_equal(few.fit(same).transmat_, expected)


@pytest.mark.parametrize(
    "kind",
    ["diag", "full", *(pytest.param(k, marks=pytest.mark.long) for k in ("spherical", "tied"))],
)
def test_gaussian_states(numbers, kind):
    data, diagonal = numbers
    X, n = data.X, data.lengths
    model = diagonal if kind == "diag" else GaussianHMM(3, covariance_type=kind).fit(X, n)
    at = matched(model.means_, data.means)
    # Five standard errors of a mean of a fifth of the observations.
    np.testing.assert_allclose(model.means_[at], data.means, atol=5 / np.sqrt(len(X) / 5))
    np.testing.assert_allclose(model.covars_, np.tile(np.eye(2), (3, 1, 1)), atol=0.3)
    if kind in ("spherical", "diag"):
        assert (model.covars_[:, 0, 1] == 0).all()
    if kind == "tied":
        np.testing.assert_array_equal(model.covars_[0], model.covars_[1])
    # One sequence, literally.
    x = X[:20]
    B = np.array(
        [multivariate_normal(m, S).pdf(x) for m, S in zip(model.means_, model.covars_, strict=True)]
    )
    alpha = model.startprob_ * B[:, 0]
    for t in range(1, 20):
        alpha = (alpha @ model.transmat_) * B[:, t]
    assert model.score(x) == pytest.approx(np.log(alpha.sum()), rel=1e-8)


def test_units_change_nothing_but_the_density(numbers):
    data, model = numbers
    other = GaussianHMM(3).fit(1e6 * data.X + 1e9, data.lengths)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_allclose(other.transmat_, model.transmat_, atol=1e-4)
    shift = len(data.X) * 2 * np.log(1e6)
    assert other.log_likelihood_ == pytest.approx(model.log_likelihood_ - shift, rel=1e-6)


def test_an_outlier_gets_a_state_of_its_own(numbers):
    data, _ = numbers
    X = np.vstack([data.X, [[1e12, 1e12]]])
    with warns(ConvergenceWarning, "states_of_few_observations"):
        model = GaussianHMM(4, max_iter=20).fit(X, [*data.lengths, 1])
    assert (model.labels_ == model.labels_[-1]).sum() == 1
    others = model.means_[:3]
    np.testing.assert_allclose(others[matched(others, data.means)], data.means, atol=0.4)


def test_gaussian_samples_and_parameters(numbers):
    _, model = numbers
    X, states = model.sample(200, random_state=1)
    assert X.shape == (200, 2)
    assert (model.predict(X) == states).mean() > 0.9
    p = {"spherical": 3, "diag": 6, "full": 9, "tied": 3}
    for kind, covariances in p.items():
        few = GaussianHMM(3, covariance_type=kind, start="clusters", refine=None).fit(X)
        used = few.aic(X) / 2 + few.score(X)
        assert used == pytest.approx(2 + 6 + 6 + covariances)


@pytest.mark.parametrize("Model", [CategoricalHMM, GaussianHMM])
def test_lengths(Model):
    X = np.arange(12).reshape(-1, 1) % 5
    for lengths in ([12, 0], [11.5, 0.5], "abc", 12, [[1], [2, 3]], [-1, 13]):
        with raises(InvalidDataError, "not_sequence_lengths", n_rows=12):
            Model(2).fit(X, lengths)
    with raises(InvalidDataError, "lengths_do_not_match", total=11, n_rows=12):
        Model(2).fit(X, [5, 6])
    with raises(InvalidDataError, "only_single_observations"):
        Model(2).fit(X, [1] * 12)
    with raises(InvalidDataError, "too_few_observations"):
        Model(13).fit(X)
    with warns(ConvergenceWarning, "states_not_determined"):
        Model(2).fit(X, [2] * 6)
    with warns(ConvergenceWarning, "states_not_determined"):
        Model(2).fit(np.ones((9, 1)))
    one = Model(1).fit(X, [1] * 12)  # one state has no transitions to learn
    assert one.transmat_ == 1


def test_bad_symbols():
    for X, code in (
        ([0, -1], "not_a_symbol"),
        ([0, np.nan], "not_a_symbol"),
        ([0, 0.5], "not_a_symbol"),
        ([0, 10**9], "not_a_symbol"),
        (["a", "b"], "symbols_not_numbers"),
        ([[0, 1], [1, 0]], "not_one_column"),
        ([], "no_symbols"),
    ):
        with raises(InvalidDataError, code):
            CategoricalHMM(1).fit(X)


def test_bad_numbers():
    with raises(InvalidParameterError, "not_a_choice"):
        GaussianHMM(2, start="contexts").fit([[0.0], [1.0]])
    with raises(InvalidDataError, "huge_value", row=1, column=0):
        GaussianHMM(1).fit([[0.0], [1e200]])


@pytest.mark.long
@pytest.mark.parametrize(
    ("k", "d", "n", "length", "seed"), [(4, 15, 300, 6, 0), (5, 40, 200, 8, 1)]
)
def test_short_sequences_reach_ten_random_starts(k, d, n, length, seed):
    data = make_hmm(n, length, k, n_symbols=d, random_state=seed)
    lengths = data.lengths.astype(np.intp)
    learner = BaumWelch(sequence_blocks(lengths, np.zeros(n), k), data.X[:, 0], 1e-3)
    likelihoods = []
    for start in range(10):
        rng = np.random.default_rng(start)
        emissions = CategoricalEmissions(rng.dirichlet(np.ones(d), k))
        p = HMMParameters(rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), k), emissions)
        likelihoods.append(learner.run(p, tol=1e-9).log_likelihood)
    model = CategoricalHMM(k, n_features=d).fit(data.X, data.lengths)
    # Without windows of three, 7 and 14 nats are missing; 1 is the error of stopping early.
    assert model.log_likelihood_ > max(likelihoods) - 1.0
