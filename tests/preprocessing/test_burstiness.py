"""How often words repeat within documents, and the choice of log scaling by it."""

import numpy as np
import pytest
import scipy.sparse as sp

import momentree.preprocessing.burstiness as burstiness
from momentree import SingleTopicModel, TopicTree
from momentree.backends import as_rows
from momentree.datasets import make_hierarchical_topics, make_lda, make_single_topic
from momentree.preprocessing import repetition


def together(sample):
    """Return the repetition in all documents."""
    n = sample.X.shape[0]
    return repetition(sample.X, np.zeros(n, dtype=np.intp), 1, np.ones(n))


def bursty_documents(n, topics, concentration, length, seed):
    """Draw documents from Dirichlet-multinomials around topics."""
    rng = np.random.default_rng(seed)
    drawn = topics[rng.integers(len(topics), size=n)]
    of_document = [rng.dirichlet(concentration * topic) for topic in drawn]
    return sp.csr_array(np.stack([rng.multinomial(length, p) for p in of_document]))


def literal(X, labels, weight):
    """Return the repetition, token pairs counted one word after the other."""
    same = apart = 0.0
    for j in np.unique(labels):
        Y, v = X[labels == j].astype(float), weight[labels == j]
        mass, documents = float(v @ Y.sum(axis=1)), v[Y.sum(axis=1) > 1].sum()
        numerator = denominator = 0.0
        for column in Y.T:
            n = float(v @ column)
            if n <= 1:
                continue
            s = sum(
                w * x * (x - 1) / (c - 1)
                for w, x, c in zip(v, column, Y.sum(axis=1), strict=True)
                if x > 1
            )
            numerator += mass * s / (n - 1)
            denominator += n
        B = numerator / denominator
        same += mass * B * (1 - 1 / documents)
        apart += mass * (1 - B / documents)
    return same / apart


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_its_formula(weighted):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, size=(60, 25))
    X[0] = 0
    labels = rng.integers(3, size=60)
    weight = rng.integers(0, 4, size=60).astype(float) if weighted else np.ones(60)
    found = repetition(sp.csr_array(X), labels, 3, weight)
    assert found == pytest.approx(literal(X, labels, weight))


@pytest.mark.parametrize(("length", "d"), [(200, 100), (20, 300), (100, 2_000)])
def test_it_is_one_for_one_topic(length, d):
    # The standard error of one sample is at most 0.046 (20 words of 300), so 0.017 of the mean.
    found = [
        together(make_single_topic(500, d, 1, length=length, random_state=seed))
        for seed in range(7)
    ]
    assert np.mean(found) == pytest.approx(1.0, abs=0.06)


def test_it_does_not_depend_on_the_lengths_of_documents():
    lengths = np.maximum(2, np.random.default_rng(0).lognormal(4.0, 1.0, 2_000).astype(int))
    sample = make_single_topic(2_000, 500, 1, length=lengths, random_state=0)
    assert together(sample) == pytest.approx(1.0, abs=0.03)


def test_it_is_at_most_the_number_of_topics():
    apart = make_single_topic(2_000, 500, 6, length=60, concentration=0.02, random_state=0)
    mixed = make_lda(2_000, 500, 6, alpha=0.3, length=60, concentration=0.02, random_state=0)
    assert 4.0 < together(apart) <= 6.05
    assert 1.5 < together(mixed) <= 6.05
    # Within the topics it is one again.
    one = np.ones(2_000)
    assert repetition(apart.X, apart.labels, 6, one) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("concentration", [10.0, 30.0])
def test_it_is_that_of_a_dirichlet_multinomial(concentration):
    # rho = 1 / (1 + concentration); flat topics have no rare words, whose share is less certain.
    d = 60
    X = bursty_documents(1_000, np.full((1, d), 1 / d), concentration, 80, 0)
    expected = 1 + (d - 1) / (1 + concentration)
    found = repetition(X, np.zeros(1_000, dtype=np.intp), 1, np.ones(1_000))
    assert found == pytest.approx(expected, rel=0.03)


def test_no_repeats_are_no_burstiness():
    X = sp.csr_array(np.eye(5))
    assert repetition(X, np.zeros(5, dtype=int), 1, np.ones(5)) == 0.0


FITS = {"tree": TopicTree(6), "flat": SingleTopicModel(6)}


@pytest.mark.parametrize("kind", FITS)
def test_counts_of_independent_words_are_not_scaled(kind):
    estimator = FITS[kind]
    for sample in (
        make_hierarchical_topics(random_state=0),
        make_single_topic(600, 300, 6, length=60, random_state=0),
    ):
        found = estimator.fit(sample.X)
        assert found.log_scaling_ is None
        labels = found.labels_
        proba = found.predict_proba(sample.X)
        by_hand = estimator.set_params(log_scaling=None).fit(sample.X)
        estimator.set_params(log_scaling="auto")
        np.testing.assert_array_equal(labels, by_hand.labels_)
        np.testing.assert_array_equal(proba, by_hand.predict_proba(sample.X))


@pytest.mark.parametrize("kind", FITS)
def test_bursty_counts_are_scaled(kind, tmp_path):
    estimator = FITS[kind]
    topics = make_single_topic(6, 300, 6, random_state=0).components
    X = bursty_documents(600, topics, 20.0, 60, 0)
    found = estimator.fit(X)
    assert found.log_scaling_ == "log1p"
    labels, proba = found.labels_, found.predict_proba(X)
    found.save(tmp_path / "model.mt")
    loaded = type(found).load(tmp_path / "model.mt")
    assert loaded.log_scaling_ == "log1p"
    np.testing.assert_array_equal(loaded.predict_proba(X), proba)
    by_hand = estimator.set_params(log_scaling="log1p").fit(X)
    estimator.set_params(log_scaling="auto")
    np.testing.assert_array_equal(labels, by_hand.labels_)


@pytest.mark.parametrize("kind", FITS)
def test_values_that_are_not_counts_are_scaled(kind):
    X = make_hierarchical_topics(random_state=0).X * 0.75
    assert FITS[kind].fit(X).log_scaling_ == "log1p"


@pytest.mark.parametrize("model", [TopicTree, SingleTopicModel])
@pytest.mark.parametrize(("concentration", "scaling"), [(30, "log1p"), (None, None)])
def test_a_sample_of_the_documents_decides(model, concentration, scaling, monkeypatch):
    monkeypatch.setattr(burstiness, "DECISIVE_VALUES", 0)
    monkeypatch.setattr(burstiness, "DECISIVE_WORDS", 60)
    n = 2_500
    sample = make_single_topic(n, 80, 3, length=40, concentration=0.2, random_state=0)
    X = sample.X
    if concentration:
        X = bursty_documents(n, sample.components, concentration, 40, seed=1)
    decided = []

    def noted(X, *args):
        decided.append(X.shape)
        return repetition(X, *args)

    monkeypatch.setattr(burstiness, "repetition", noted)
    assert model(3).fit(X).log_scaling_ == scaling
    assert set(decided) == {(1_000, 80)}


def test_poor_groups_do_not_make_independent_words_bursty():
    sample = make_single_topic(600, 300, 6, length=60, concentration=0.3, random_state=0)
    mixed = sample.labels // 3  # repeats in two groups of three topics are those of topics
    assert repetition(sample.X, mixed, 2, np.ones(600)) >= burstiness.BURSTY

    def attempt(scaling, counts, weight):
        labels = mixed if scaling else sample.labels
        return None, lambda: labels, labels.max() + 1

    counts = as_rows(sample.X)
    assert burstiness.with_scaling("auto", attempt, counts, np.ones(600), 6)[0] is None


def test_more_repeats_than_so_many_topics_explain_need_no_groups():
    topics = make_single_topic(6, 300, 6, random_state=0).components
    counts, weight = as_rows(bursty_documents(600, topics, 5.0, 60, 0)), np.ones(600)
    of_all = repetition(counts, np.zeros(600, dtype=np.intp), 1, weight)
    tried = []

    def attempt(scaling, counts, weight):
        tried.append(scaling)
        return "found", lambda: np.zeros(600, dtype=np.intp), 1

    few, many = int(of_all / burstiness.CLEARLY), int(of_all / burstiness.CLEARLY) + 1
    for n_groups in (few, many, np.inf):
        assert burstiness.with_scaling("auto", attempt, counts, weight, n_groups) == (
            "log1p",
            "found",
        )
    assert tried == ["log1p"] * 3  # of all documents: what is tried to find groups is the result


def test_groups_are_not_sought_if_a_sample_repeats_more(monkeypatch):
    monkeypatch.setattr(burstiness, "DECISIVE_VALUES", 0)
    topics = make_single_topic(6, 300, 6, random_state=0).components
    counts, weight = as_rows(bursty_documents(4_500, topics, 5.0, 60, 0)), np.ones(4_500)
    sizes = []

    def attempt(scaling, counts, weight):
        sizes.append(counts.shape[0])
        return None, lambda: np.zeros(counts.shape[0], dtype=np.intp), 1

    for n_groups, expected in ((10, [4_500]), (20, [2_000, 4_500])):
        burstiness.with_scaling("auto", attempt, counts, weight, n_groups)
        assert sizes == expected
        sizes.clear()
