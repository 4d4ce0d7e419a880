"""Rounds: a fit is repeated with the answers of sites so far, and is that of the pooled rows."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

import momentree as mt
from momentree import Site, State, next_round
from momentree.backends import Rounds, RowBlocks
from momentree.backends.sites import DESCRIBE
from momentree.decomposition import sidiwo
from momentree.exceptions import InvalidDataError, MomentreeWarning, ReadError
from momentree.moments import SingleTopicMoments, SphericalGaussianMoments
from momentree.objects import BernoulliParameters
from momentree.refinement.em import column_sums, expected_statistics

from ..raising import raises, warns

K, D, N = 3, 15, 300


def rows_of(model):
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(D, 0.2), K)
    X = rng.multinomial(20, topics[rng.choice(K, size=N, p=[0.5, 0.3, 0.2])]).astype(float)
    return (X > 0) * 1.0 if model in ("bernoulli", "clusters") else X


MODELS = {
    "single-topic": lambda refine: mt.SingleTopicModel(K, start="moments", refine=refine),
    "poisson": lambda refine: mt.PoissonMixture(K, start="moments", refine=refine),
    "bernoulli": lambda refine: mt.BernoulliMixture(K, start="raw_moments", refine=refine),
    "lda": lambda refine: mt.LatentDirichletAllocation(K, alpha0=1.0, refine=refine),
    "clusters": lambda refine: mt.ClusterTree(K, refine=refine),
    "topics": lambda refine: mt.TopicTree(K, search="none", refine=refine),
}


def fit_in_rounds(model, parts, answer=lambda question, X: State(question).update(X)):
    """Fit a model; no site sees the rows of another, nor keeps anything between rounds."""
    answers = []
    while question := next_round(model, answers):
        answers.append(sum(answer(question, part) for part in parts))
    return answers


def centers_of(model):
    trees = hasattr(model, "leaves_")
    return np.stack([x.center for x in model.leaves_]) if trees else model.components_


@pytest.mark.parametrize(
    ("model", "em"),
    [
        *((name, False) for name in MODELS),
        ("single-topic", True),
        *(pytest.param(name, True, marks=pytest.mark.long) for name in MODELS if name != "lda"),
    ],
)
def test_three_hospitals_fit_the_model_of_pooled_rows(model, em, tmp_path):
    X = rows_of(model)
    found, pooled = MODELS[model]("em" if em else None), MODELS[model]("em" if em else None)
    fit_in_rounds(found, np.split(X, [50, 170]))
    pooled.fit(X)
    np.testing.assert_allclose(centers_of(found), centers_of(pooled), rtol=0, atol=1e-8)
    np.testing.assert_array_equal(found.predict(X), pooled.labels_)
    assert len(found.labels_) == 0
    found.save(tmp_path / "model.mt")
    again = type(found).load(tmp_path / "model.mt")
    np.testing.assert_array_equal(again.predict(X), pooled.labels_)
    if hasattr(found, "weights_"):
        np.testing.assert_allclose(found.weights_, pooled.weights_, rtol=0, atol=1e-8)
        np.testing.assert_allclose(found.score_samples(X), pooled.score_samples(X), rtol=1e-7)
        assert (found.n_iter_, found.converged_) == (pooled.n_iter_, pooled.converged_)


def test_moments_take_few_rounds_with_few_columns():
    X = rows_of("poisson")
    answers = fit_in_rounds(mt.PoissonMixture(K, start="moments", refine=None), [X])
    assert len(answers) < 15
    wide = np.hstack([X, np.zeros((N, 1100))])
    assert len(fit_in_rounds(mt.PoissonMixture(K, start="moments", refine=None), [wide])) > 15


MOMENTS = {
    "words": lambda rows: SingleTopicMoments.from_rows(rows, sample_weight=rows.ones()),
    "numbers": lambda rows: SphericalGaussianMoments(rows, rows.ones(), n_components=K),
    "own variances": lambda rows: SphericalGaussianMoments(rows, rows.ones(), variances="own"),
}


@pytest.mark.parametrize("moments", MOMENTS.values(), ids=MOMENTS)
def test_a_decomposition_of_the_moments_of_all_sites(moments):
    """Any algorithm on rows goes through rounds."""
    X = rows_of("single-topic")

    class Decomposition:
        def fit(self, rows):
            self.found = sidiwo(moments(rows), K)

    model = Decomposition()
    fit_in_rounds(model, np.split(X, 3))
    expected = sidiwo(moments(RowBlocks(X)), K)
    np.testing.assert_allclose(model.found.centers, expected.centers, rtol=0, atol=1e-9)


def test_sites_with_other_columns_and_columns_in_another_order():
    X = rows_of("poisson")
    X[:100, 3] = 0
    names = np.array([f"w{i:02}" for i in range(D)])
    frames = [
        pd.DataFrame(X[:100], columns=names).drop(columns="w03"),
        pd.DataFrame(X[100:], columns=names)[names[::-1]],
    ]
    model = mt.PoissonMixture(K, start="moments")
    answers = fit_in_rounds(model, frames)
    assert answers[0].columns == names.tolist()
    pooled = mt.PoissonMixture(K, start="moments").fit(pd.DataFrame(X, columns=names))
    np.testing.assert_allclose(model.components_, pooled.components_, rtol=0, atol=1e-9)
    assert model.feature_names_in_.tolist() == names.tolist()
    question = next_round(mt.PoissonMixture(K), answers[:1])
    with raises(InvalidDataError, "no_column_in_common"):
        State(question).update(pd.DataFrame(X, columns=names + "x"))
    with raises(InvalidDataError, "n_columns_not_of_state"):
        State(question).update(X[:, 1:])


def states():
    """Return the state of each round for all rows, and a function that answers each question."""
    X = rows_of("poisson")
    questions, model, answers = [], mt.PoissonMixture(K, start="moments"), []
    while question := next_round(model, answers):
        questions.append(question)
        answers.append(State(question).update(X))
    return X, questions, answers


def test_batches_in_any_order_give_the_same_sums():
    X, questions, answers = states()
    order = np.random.default_rng(1).permutation(N)
    for question, whole in zip(questions, answers, strict=True):
        batches = State(question)
        for part in np.array_split(X[order], 7):
            batches.update(part)
        assert batches.n_rows == N
        if whole.total is not None:
            np.testing.assert_allclose(batches.total, whole.total, rtol=1e-10, atol=1e-10)
        assert batches.update(np.empty((0, D))).n_rows == N


def test_forgetting_a_batch():
    X, questions, answers = states()
    for question, whole in zip(questions[1:], answers[1:], strict=True):
        rest = whole - State(question).update(X[-60:])
        kept = State(question).update(X[:-60])
        assert rest.n_rows == kept.n_rows
        np.testing.assert_allclose(rest.total, kept.total, rtol=1e-8, atol=1e-8)
    with raises(InvalidDataError, "never_added"):
        State(questions[1]).update(X[:100]) - answers[1]


def test_a_difference_of_two_states_is_the_record():
    # This is what the documentation warns of.
    X, questions, _ = states()
    yesterday, today = (State(questions[4]).update(part) for part in (X[:-1], X))
    record = (today - yesterday).total[:, 0]
    np.testing.assert_allclose(record / record.sum(), X[-1] / X[-1].sum(), atol=1e-12)


def test_answers_to_other_questions_are_never_added():
    _, _, answers = states()
    other = State(DESCRIBE)
    assert other.fingerprint != answers[1].fingerprint
    for call in (answers[1].merge, answers[1].__add__, answers[1].__sub__):
        with raises(InvalidDataError, "states_differ"):
            call(other)
    assert sum([answers[1]]) is answers[1]


def test_the_same_site_twice():
    X, questions, _ = states()
    a, b = (State(questions[1]).update(part) for part in np.split(X, 2))
    for twice in (lambda: a + a, lambda: (a + b) + b):
        with warns(MomentreeWarning, "same_part_twice"):
            twice()
    (a + b - b) + b  # no warning


def test_answers_that_do_not_belong_to_the_fit():
    X, questions, answers = states()
    with raises(InvalidDataError, "answers_of_another_fit"):
        next_round(mt.PoissonMixture(2), answers)
    with raises(InvalidDataError, "round_missing"):
        next_round(mt.PoissonMixture(K), answers[1:])
    with warns(MomentreeWarning, "other_rows"):
        next_round(mt.PoissonMixture(K), [answers[0], State(questions[1]).update(X[:200])])


def test_rows_stay():
    _, _, answers = states()
    rows = Rounds(answers)
    with raises(InvalidDataError, "rows_stay"):
        np.asarray(rows.ones())
    with raises(InvalidDataError, "rows_needed_here"):
        next_round(mt.ClusterTree("auto"), answers)


def test_bad_rows_leave_a_state_unchanged():
    X, questions, _ = states()
    state = State(questions[2]).update(X)
    before = state.to_bytes()
    with raises(InvalidDataError, "n_columns_not_of_state"):
        state.update(X[:, 1:])
    with raises(InvalidDataError, "missing_in_moments"):
        state.update(np.where(X > 0, np.nan, 0))
    assert state.to_bytes() == before
    with raises(InvalidDataError, "state_without_question"):
        State.from_bytes(before).update(X)


def test_files(tmp_path):
    _, _, answers = states()
    path = tmp_path / "site.mom"
    for state in answers:
        state.save(path)
        for found in (State.load(path), State.from_bytes(state.to_bytes())):
            assert found.to_bytes() == state.to_bytes() == path.read_bytes()
            assert found.fingerprint == state.fingerprint
    with zipfile.ZipFile(path) as archive:
        assert all(name.endswith((".npy", ".json")) for name in archive.namelist())


def test_damaged_files(tmp_path):
    _, questions, answers = states()
    path, good = tmp_path / "site.mom", tmp_path / "good.mom"
    answers[4].save(good)
    content = good.read_bytes()
    for damaged in (b"", content[:10], content[: len(content) // 2], content[:-10], questions[4]):
        path.write_bytes(damaged)
        with raises(ReadError, "damaged_state"):
            State.load(path)
    with raises(ReadError, "no_such_file"):
        State.load(tmp_path / "none.mom")
    changes = [
        {"of": 3},
        {"round": "2"},
        {"rows": -1},
        {"suppressed": [0, 1]},
        {"parts": [1]},
        {"about": "["},
        {"about": "[1]"},
        {"columns": ["a"]},
        {"sum": None},
        {"sum": {"dict": {}}},
    ]
    with zipfile.ZipFile(good) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    for change in changes:
        given = {**manifest, "content": {"dict": {**manifest["content"]["dict"], **change}}}
        with zipfile.ZipFile(path, "w") as archive:
            for name, value in members.items():
                text = json.dumps(given).encode() if name == "manifest.json" else value
                archive.writestr(name, text)
        with raises(ReadError, "damaged_state"):
            State.load(path)


def test_pairs_of_columns_that_few_rows_share_are_suppressed():
    X = rows_of("bernoulli")
    X[:, 0] = 0
    X[:3, 0] = 1
    X[:, 1] = X[:, 2] = 0
    X[:200, 1], X[198:300, 2] = 1, 1  # two rows with both
    model = mt.BernoulliMixture(K, start="raw_moments", refine=None)
    answers = []
    with warns(MomentreeWarning, "sites_suppress"):
        while question := next_round(model, answers):
            answers.append(Site(X).state(question))
    (pairs,) = [x.total for x in answers if np.shape(x.total) == (D * (D + 1) // 2,)]
    M2 = np.zeros((D, D))
    M2[np.triu_indices(D)] = N * pairs
    exact = np.triu(X.T @ X)
    few = (exact > 0) & (exact < 5)
    few[0] = few[:, 0] = True  # a column of three rows
    assert few[1, 2]
    assert (M2[few] == 0).all()
    np.testing.assert_allclose(M2[~few], exact[~few])
    assert answers[0].suppressed["columns"] >= 1
    assert sum(x.suppressed["sums"] for x in answers) == np.count_nonzero(
        few[1:, 1:] & (exact[1:, 1:] > 0)
    )


@pytest.mark.parametrize("small", [0, 1, 2])
def test_components_of_few_expected_rows_are_added_to_the_largest(small):
    """The sums of all components, which the coordinator knows, stay those of all rows."""
    X = np.repeat([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [70, 60, 3], axis=0)
    order = np.roll([0, 1, 2], small + 1)  # the component of three rows is at this place
    centers = np.array([[0.999, 0.001, 0.999], [0.001, 0.999, 0.999]])[:, order]
    start = BernoulliParameters(np.full(3, 1 / 3), centers)

    def expected(min_count):
        sites, ones = mt.Sites([Site(X, min_count=min_count)]), np.ones(len(X))
        sums, sizes, _ = expected_statistics(sites, start, ones, column_sums(sites, ones))
        return sums, sizes, sites.suppressed_["sums"]

    sums, sizes, n_suppressed = expected(2)
    assert n_suppressed == 0
    assert 2 < sizes[small] < 5
    with warns(MomentreeWarning, "sites_suppress"):
        merged, merged_sizes, n_suppressed = expected(5)
    assert (n_suppressed, merged_sizes[small]) == (1, 0)
    np.testing.assert_allclose(merged[:, small], 0, atol=1e-9)
    for found, values in ((merged, sums), (merged_sizes, sizes)):
        np.testing.assert_allclose(found.sum(axis=-1), values.sum(axis=-1))
        both = values[..., sizes.argmax()] + values[..., small]
        np.testing.assert_allclose(found[..., sizes.argmax()], both)
