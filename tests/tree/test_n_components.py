"""The number of components: known numbers are found, and each criterion matches its definition."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp

import momentree as mt
from momentree.datasets import make_lda, make_single_topic
from momentree.exceptions import EmptyCorpusError, InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.tree.growth import Branch
from momentree.tree.selection import choose_n_components
from momentree.tree.selection.candidates import SingleTopicFits, folds, halves_of_words, partitions
from momentree.tree.selection.criteria import Estimate, combine, estimates, reason
from momentree.tree.selection.curves import Curves, Inner, Spectrum, spectrum

from ..raising import raises

NO_SPECTRUM = Spectrum(*np.empty((3, 0)))


def sample(k, n=400, d=100, seed=0, **options):
    """Documents of 60 words from k topics."""
    return make_single_topic(n, d, k, length=60, random_state=seed, **options).X


def codes(choice):
    return [fact.code for fact in choice.reason.values["facts"]]


@pytest.fixture(scope="module")
def four():
    """A choice for documents of four topics."""
    return choose_n_components(sample(4), candidates=range(1, 7))


# --- the truth is found -------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, pytest.param(5, marks=pytest.mark.long)])
def test_a_known_number_is_found(k):
    choice = choose_n_components(sample(k, seed=1), candidates=range(1, 8))
    assert choice.n_components == k
    assert choice.by_criterion["spectrum"][0] == k
    assert choice.interval[0] <= k <= choice.interval[1]


def test_documents_that_mix_topics():
    X = make_lda(300, 40, 3, alpha=0.5, length=100, random_state=0).X
    choice = choose_n_components(X, model="lda", candidates=[2, 3, 4])
    assert choice.n_components == 3
    assert choice.by_criterion["spectrum"] == (3, 3, 3)


@pytest.mark.long
def test_spectrum_chooses_a_number_between_candidates():
    """The default candidates of "lda" leave out 7."""
    X = make_lda(250, 60, 7, alpha=0.1, length=100, random_state=1).X
    choice = choose_n_components(X, model="lda")
    assert list(choice.by_criterion) == ["spectrum", "completion"]
    assert choice.n_components == 7
    assert 7 not in list(choice.table["n_components"])
    _, low, high = choice.by_criterion["completion"]
    assert low <= 7 <= high


@pytest.mark.long
def test_given_candidates_are_the_only_answers():
    X = make_lda(300, 100, 5, alpha=0.5, length=100, random_state=0).X
    choice = choose_n_components(X, model="lda", candidates=[2, 4, 8])
    assert choice.n_components == 4
    assert set(choice.interval) <= {2, 4, 8}


@pytest.mark.long
def test_completion_decides_where_the_spectrum_goes_on_to_the_last_candidate():
    X = make_lda(400, 100, 6, alpha=0.5, length=100, random_state=0).X
    choice = choose_n_components(X, model="lda", candidates=[1, 2, 3, 4])
    assert list(choice.by_criterion) == ["completion", "spectrum"]
    assert choice.n_components == choice.by_criterion["completion"][0]
    assert "spectrum_supports_all" in codes(choice)


@pytest.mark.long
def test_words_in_bursts_are_no_topics():
    """Words of one document come from a distribution of its own around that of its topic."""
    topics = make_single_topic(1, 100, 3, random_state=0).components
    rng = np.random.default_rng(0)
    p = rng.standard_gamma(100.0 * topics[rng.integers(3, size=400)] + 1e-9)
    X = rng.multinomial(60, p / p.sum(axis=1, keepdims=True))
    assert choose_n_components(X, candidates=range(1, 6)).n_components == 3


# --- the spectrum -------------------------------------------------------------------------------


def found_in(X, n_components, seed):
    n = X.shape[0]
    rng = np.random.RandomState(seed)
    return spectrum(sp.csr_array(X, dtype=float), np.ones(n), np.arange(n), n_components, rng)


def test_spectrum_is_that_of_dense_halves():
    """Frequencies of two halves of the vocabulary, scaled and correlated, dense and literal."""
    X = make_single_topic(60, 12, 3, length=20, random_state=0).X.toarray().astype(float)
    n, rng = len(X), np.random.RandomState(3)
    first = rng.permutation(n) < n // 2
    columns = halves_of_words(sp.csr_array(X), np.ones(n), rng)
    views = [X[:, at] for at in columns]
    lengths = [view.sum(axis=1) for view in views]
    weight = np.sqrt(lengths[0] * lengths[1])
    scaled = []
    for view, length in zip(views, lengths, strict=True):
        frequency = view / np.maximum(length, 1e-300)[:, None]
        mean = weight @ frequency / weight.sum()
        scaled.append(frequency / np.sqrt(mean + 1.0 / np.count_nonzero(mean)))
    expected = []
    for here, there in ((first, ~first), (~first, first)):
        w, (Y, Z) = weight[here], (view[here] for view in scaled)
        U, values, VT = np.linalg.svd((Y * w[:, None]).T @ Z / w.sum())
        w, (Y, Z) = weight[there], (view[there] for view in scaled)
        terms = (Y @ U[:, :5]) * (Z @ VT[:5].T)
        held = w @ terms / w.sum()
        error = np.sqrt((w**2) @ (terms - held) ** 2) / w.sum()
        expected.append([values[:5], held, error])
    values, held, error = np.mean(expected, axis=0)
    found = found_in(X, 5, 3)
    np.testing.assert_allclose(found.eigenvalues, values, rtol=1e-8)
    np.testing.assert_allclose(found.held_out, held, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-8)


def test_first_value_of_independent_words_is_one():
    """With D = diag(mean) alone it is the product of two unit vectors; 1/d halves it here."""
    X = np.random.default_rng(0).multinomial(2000, np.full(10, 0.1), size=400)
    found = found_in(X, 4, 0)
    np.testing.assert_allclose(found.eigenvalues[0], 0.5, atol=0.001)
    assert found.interval[0] == 1


def test_held_out_value_of_noise_has_mean_zero_and_the_stated_error():
    """Directions beyond the topics: z = held out / standard error, over 25 samples."""
    z = []
    for seed in range(25):
        moments = found_in(sample(2, n=200, d=60, seed=seed), 6, seed)
        z.append(moments.held_out[3:] / moments.standard_error[3:])
    z = np.concatenate(z)
    # The value is the mean of two halves, the error that of one: 1 is the most to expect.
    assert abs(z.mean()) < 4 * z.std() / np.sqrt(len(z)) + 0.2
    assert 0.4 < z.std() < 1.2


def one_topic(kind, seed, n=400, d=200):
    """Documents of one topic whose words come in bursts, or whose lengths are spread."""
    rng = np.random.default_rng(seed)
    p = rng.permutation(1.0 / np.arange(1, d + 1))
    p /= p.sum()
    if kind == "dirichlet":
        own = rng.standard_gamma(30 * np.tile(p, (n, 1)) + 1e-9)
        return rng.multinomial(80, own / own.sum(axis=1, keepdims=True))
    if kind == "negative binomial":
        return rng.poisson(rng.gamma(0.5, 2.0, size=(n, d)) * 80 * p)
    lengths = np.maximum(3, 80 * rng.lognormal(0.0, 1.0, n)).astype(int)
    return rng.multinomial(lengths, p)


@pytest.mark.parametrize(
    "kind",
    [
        "dirichlet",
        pytest.param("negative binomial", marks=pytest.mark.long),
        pytest.param("spread lengths", marks=pytest.mark.long),
    ],
)
def test_one_topic_is_one_whatever_its_words_and_lengths(kind):
    """All 3 x 2 answers are right; with whole M2 and random halves of tokens they were 2 to 8."""
    X = one_topic(kind, 0)
    choice = choose_n_components(X)
    assert choice.n_components == 1
    assert choice.by_criterion["spectrum"][0] == 1
    assert choice.interval[0] == 1


def test_topics_that_could_be_divided_give_most_of_the_gain():
    k = np.arange(1, 7)
    scores = np.array([0.0, 5.0, 8.2, 9.3, 10.0, 9.0])
    curves = replace(Curves.unknown(k), completion=scores, completion_error=np.full(6, 0.01))
    for correlation, expected in ((0.0, (5, 5, 5)), (0.5, (4, 3, 5))):
        inner = Inner(correlation)
        found = estimates(curves, NO_SPECTRUM, inner, first="completion", between=True)
        assert found == {"completion": expected}
        facts = coded(combine(found), found, curves)
        assert ("topics_divisible" in facts) == (correlation > 0)


def test_topics_can_be_divided_until_all_are_found():
    """Words are independent given a true topic, but not given two topics joined."""
    X = sample(6, n=600)
    part = next(folds(X, np.ones(600), np.arange(600), np.random.RandomState(0), n_test=3000))
    fits = SingleTopicFits(part, 8)
    for n_components, joined in ((2, True), (6, False)):
        weights, correlations = fits.inner_dependence(n_components)
        assert weights.sum() == len(part.test_weight)
        # 20 documents a topic: a correlation of independent words has a standard error of 0.2.
        assert (weights @ correlations / weights.sum() > 0.4) == joined


def test_interval_is_a_floor_more_or_less():
    found = Spectrum(np.ones(4), np.array([9.0, 3.5, 2.5, 1.0]), np.ones(4))
    assert found.interval == (2, 1, 3)
    np.testing.assert_array_equal(found.floor, 3.0)


def test_half_without_pairs_has_no_spectrum():
    assert len(found_in(np.eye(6), 3, 0).eigenvalues) == 0


# --- folds, nested starts, completion -----------------------------------------------------------


def test_folds_leave_out_every_document_once_and_keep_copies_together():
    X = sample(3, n=50)
    X = sp.vstack([X, X], format="csr")
    groups = np.tile(np.arange(50), 2)
    weight = np.arange(1.0, 101.0)
    parts = list(folds(X, weight, groups, np.random.RandomState(0), n_test=3000))
    assert len(parts) == 5
    assert sorted(np.concatenate([part.test_weight for part in parts])) == list(weight)
    for part in parts:
        assert not {tuple(row) for row in part.X.toarray()} & {
            tuple(row) for row in part.test.toarray()
        }
        assert sorted(np.concatenate(part.halves)) == list(range(X.shape[1]))
        assert len(part.weight) + len(part.test_weight) == 100


def test_folds_stop_at_enough_test_documents():
    rng = np.random.RandomState(0)
    parts = list(folds(sample(1, n=50), np.ones(50), np.arange(50), rng, n_test=21))
    assert len(parts) == 3


def test_partitions_replay_best_first_growth():
    left = Branch(1, gain=2.0, children=[Branch(2), Branch(2)])
    right = Branch(1, gain=5.0, children=[Branch(2), Branch(2)])
    found = partitions(Branch(gain=1.0, children=[left, right]))
    assert [list(leaves) for leaves in found] == [
        [0, 0, 0, 0],
        [0, 0, 1, 1],
        [0, 0, 1, 2],
        [0, 1, 2, 3],
    ]


@pytest.mark.parametrize("k", [2, 4])
def test_fits_from_one_tree_are_those_of_the_model(k):
    """The nested tree gives every k the start, and so the topics, of a fit of its own."""
    X = sample(4, n=200)
    part = next(folds(X, np.ones(200), np.arange(200), np.random.RandomState(0), n_test=0))
    fit = SingleTopicFits(part, 6)(k)
    model = mt.SingleTopicModel(k, log_scaling="log1p").fit(X)
    found = fit.topics[:, np.lexsort(fit.topics[:3])]
    expected = model.components_.T
    np.testing.assert_allclose(found, expected[:, np.lexsort(expected[:3])], atol=1e-6)


def test_completion_is_the_predictive_likelihood():
    X = sample(3, n=100, d=20)
    part = next(folds(X, np.ones(100), np.arange(100), np.random.RandomState(0), n_test=3000))
    fit = SingleTopicFits(part, 3)(3)
    test, expected = part.test.toarray(), 0.0
    sure = np.ones(len(test), dtype=bool)
    for known, hidden in part.directions():
        topics = [fit.topics[at] / fit.topics[at].sum(axis=0) for at in (known, hidden)]
        # Raw counts instead of log-scaled ones: where these leave no doubt, so do those.
        score = test[:, known] @ np.log(topics[0])
        posterior = score - logsumexp(score, axis=1, keepdims=True)
        sure &= posterior.max(axis=1) > np.log(1 - 1e-6)
        hidden_log = test[:, hidden] @ np.log(topics[1])
        expected += hidden_log[np.arange(len(test)), posterior.argmax(axis=1)]
    assert sure.sum() > 3
    np.testing.assert_allclose(fit.completion[sure], expected[sure], rtol=0.02)


def test_one_component_completes_by_the_frequency_of_words():
    X = sample(2, n=100, d=20)
    part = next(folds(X, np.ones(100), np.arange(100), np.random.RandomState(0), n_test=3000))
    frequency = (part.X.sum(axis=0) + 1.0) / (part.X.sum() + 20.0)
    expected = sum(
        part.test[:, at] @ np.log(frequency[at] / frequency[at].sum()) for at in part.halves
    )
    np.testing.assert_allclose(SingleTopicFits(part, 1)(1).completion, expected, rtol=1e-10)


# --- the rules ----------------------------------------------------------------------------------


def test_fewest_within_one_error_of_the_best():
    k = np.array([1, 2, 3, 4, 5])
    scores = np.array([0.0, 8.5, 9.5, 10.0, np.nan])
    errors = np.array([1.0, 1.0, 1.0, 0.0, np.nan])
    curves = replace(Curves.unknown(k), completion=scores, completion_error=errors)
    rest = {"first": "completion", "between": False}
    assert estimates(curves, NO_SPECTRUM, Inner(), **rest) == {"completion": (3, 2, 4)}
    assert estimates(Curves.unknown(k), NO_SPECTRUM, Inner(), **rest) == {}


def test_interval_extends_to_the_other_criterion_if_it_is_near():
    answer = combine({"completion": Estimate(9, 7, 12), "spectrum": Estimate(7, 6, 8)})
    assert answer == Estimate(9, 7, 12)
    answer = combine({"completion": Estimate(9, 7, 12), "spectrum": Estimate(5, 4, 6)})
    assert answer == Estimate(9, 5, 12)
    answer = combine({"completion": Estimate(5, 4, 7), "spectrum": Estimate(9, 8, 10)})
    assert answer == Estimate(5, 4, 7)
    assert combine({"spectrum": Estimate(3, 2, 4)}) == Estimate(3, 2, 4)


def estimate_of(scores, k, *, between):
    k = np.asarray(k)
    errors = np.full(len(k), 0.1)
    curves = replace(Curves.unknown(k), completion=np.array(scores), completion_error=errors)
    found = estimates(curves, NO_SPECTRUM, Inner(), first="completion", between=between)
    return found["completion"]


def test_interval_reaches_to_the_next_number_that_is_ruled_out():
    scores, k = [0.0, 0.9, 1.0, 0.9, 0.5], [1, 4, 8, 16, 32]
    assert estimate_of(scores, k, between=False) == Estimate(4, 4, 16)
    assert estimate_of(scores, k, between=True) == Estimate(4, 2, 31)
    assert estimate_of([0.0, 0.5, 1.0], [1, 2, 3], between=True) == Estimate(3, 3, 3)


def coded(answer, said, curves):
    """The facts after the answer, by code, with their numbers."""
    facts = reason(answer, said, curves).values["facts"]
    return {fact.code: dict(fact.values) for fact in facts[1:]}


def test_reason_names_what_each_criterion_says():
    k = np.arange(1, 6)
    curves = replace(Curves.unknown(k), completion=np.array([0.0, 0.5, 0.95, 1.0, 1.005]))
    said = {"completion": Estimate(4, 3, 5), "spectrum": Estimate(2, 2, 3)}
    answer = combine(said)
    assert answer == Estimate(4, 2, 5)
    assert reason(answer, said, curves).values["facts"][0] == Message(
        "[n_topics_of]", n=4, low=2, high=5
    )
    assert coded(answer, said, curves) == {
        "completion_best": {"n": 5},
        "completion_as_good": {"n": 4, "fraction": 0.9},
        "more_not_tried": {"n": 5},
        "spectrum_supports_about": {"n": 2, "low": 2, "high": 3},
    }


def test_reason_where_the_spectrum_decides():
    k = np.array([1, 2, 4, 8, 16])
    curves = replace(Curves.unknown(k), completion=np.array([0.0, 0.5, 0.9, 1.0, 0.9]))
    said = {"spectrum": Estimate(3, 3, 3), "completion": Estimate(8, 5, 12)}
    answer = combine(said)
    assert answer == Estimate(3, 3, 3)
    found = coded(answer, said, curves)
    assert list(found) == ["spectrum_supports", "completion_best"]
    assert found["completion_best"] == {"n": 8}


def test_reason_names_that_the_spectrum_goes_on():
    k = np.array([1, 2, 3, 5, 6, 9])
    curves = replace(Curves.unknown(k), completion=np.array([0.0, 0.5, 0.7, 1.0, 0.8, 0.7]))
    said = {"completion": Estimate(5, 4, 8), "spectrum": Estimate(9, 9, 9)}
    assert coded(combine(said), said, curves)["spectrum_supports_all"] == {"n": 9}


# --- what comes back ----------------------------------------------------------------------------


def test_table_has_a_row_for_each_candidate(four):
    table = four.table
    assert list(table["n_components"]) == list(range(1, 7))
    held = table.set_index("n_components").loc[[4, 5]]
    assert held["held_out"][4] > held["noise_floor"][4]
    assert held["held_out"][5] < held["noise_floor"][5]
    assert table["completion"].idxmax() + 1 >= four.n_components
    assert table["completion_error"].min() == 0.0
    assert (table["seconds"] >= 0).all()


def test_reason_starts_with_the_answer(four):
    facts = four.reason.values["facts"]
    assert facts[:2] == (Message("[n_topics]", n=4), Message("[completion_best]", n=4))
    assert str(four.reason) == " ".join(map(str, facts))
    assert list(four.by_criterion) == ["completion", "spectrum"]


def test_order_and_empty_documents_do_not_matter(four):
    """Nor do documents without weight."""
    X = sample(4)
    order = np.random.default_rng(1).permutation(X.shape[0])
    more = sp.vstack([X[order], sample(1, n=50, seed=7), sp.csr_array((5, 100))], format="csr")
    weight = np.repeat([1.0, 0.0, 1.0], [400, 50, 5])
    again = choose_n_components(more, candidates=range(1, 7), sample_weight=weight)
    columns = [name for name in four.table if name != "seconds"]
    np.testing.assert_allclose(again.table[columns], four.table[columns], rtol=1e-12)
    assert again.reason == four.reason


def test_copies_of_documents_are_no_more_topics():
    X = sample(3, n=60)
    X = sp.vstack([X] * 4, format="csr")
    assert choose_n_components(X, candidates=range(1, 6)).n_components == 3


def test_progress_is_logged(caplog):
    with caplog.at_level(logging.INFO, logger="momentree.tree"):
        choose_n_components(sample(2, n=60), candidates=[1, 2, 3])
    tried = [record.args[0] for record in caplog.records if "component(s)" in record.msg]
    assert tried == [1, 2, 3, 1, 2, 3]  # leaves of trees first, then fits


def test_verbose_shows_the_log(capsys, caplog):
    with caplog.at_level(logging.INFO, logger="momentree"):
        choose_n_components(sample(2, n=60), candidates=[1, 2], verbose=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert lines == [f"momentree: {message}" for message in caplog.messages]


# --- small and bad input ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "X", [[[1, 0, 2]], [[1, 0], [0, 1]], np.ones((9, 3)), np.eye(6), np.arange(1, 13)[:, None]]
)
def test_one_component_where_samples_are_alike(X):
    choice = choose_n_components(np.asarray(X))
    assert choice.n_components == 1
    assert choice.interval == (1, 1)


def test_one_candidate_is_the_answer():
    choice = choose_n_components(sample(3, n=100), candidates=[5])
    assert choice.n_components == 5
    assert len(choice.table) == 1


def test_candidates_that_no_split_reaches():
    choice = choose_n_components(np.ones((10, 3)), candidates=[2, 3])
    assert choice.n_components == 2
    assert codes(choice) == ["n_topics", "documents_are_alike"]
    assert choice.table["completion"].isna().all()


def test_real_valued_counts():
    X = sample(3, n=100).astype(float) * 1.5
    assert choose_n_components(X, candidates=range(1, 5)).n_components == 3


def test_few_documents_have_few_candidates():
    assert choose_n_components(sample(2, n=12)).table["n_components"].max() == 6


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"candidates": [0, 2]}, "not_candidates"),
        ({"candidates": []}, "not_candidates"),
        ({"candidates": [1.5]}, "not_candidates"),
        ({"candidates": 3}, "not_candidates"),
        ({"model": "hmm"}, "not_a_choice"),
        ({"random_state": "x"}, "not_a_random_state"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(options, code):
    with raises(InvalidParameterError, code):
        choose_n_components(sample(2, n=20), **options)


def test_bad_data_is_refused():
    with raises(InvalidDataError, "too_many_candidates", largest=21, n_rows=20):
        choose_n_components(sample(2, n=20), candidates=[2, 21])
    with raises(InvalidDataError, "negative_count"):
        choose_n_components(np.array([[1, -1]]))
    with raises(EmptyCorpusError, "all_empty"):
        choose_n_components(np.zeros((3, 2)))


def test_exported():
    assert mt.choose_n_components is choose_n_components
