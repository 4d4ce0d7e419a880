"""States: the same moments for any batches and sites, and errors instead of wrong sums."""

from __future__ import annotations

import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from momentree.decomposition import sidiwo, tensor_power_method
from momentree.exceptions import (
    ConvergenceWarning,
    InvalidDataError,
    InvalidParameterError,
    MomentreeWarning,
    ReadError,
)
from momentree.models import fitted_from, next_round
from momentree.moments import (
    BernoulliMoments,
    LDAMoments,
    MomentState,
    PoissonMoments,
    SingleTopicMoments,
    SphericalGaussianMoments,
    State,
    union,
)
from momentree.parameters import spherical_gaussian_parameters
from momentree.preprocessing import log_scale
from momentree.whitening import whiten

from ..raising import raises

K = 3
N = 360


def data_of(model, d=20, seed=0):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(d, 0.2), K)
    labels = rng.choice(K, size=N, p=[0.5, 0.3, 0.2])
    if model == "gaussian":
        return rng.normal(size=(N, d)) + 8 * topics[labels]
    X = rng.multinomial(25, topics[labels]).astype(float)
    return (X > 0) * 1.0 if model == "bernoulli" else X


POOLED = {
    "single-topic": SingleTopicMoments.from_data,
    "lda": lambda X: LDAMoments.from_data(X, alpha0=1.0),
    "poisson": PoissonMoments.from_data,
    "bernoulli": BernoulliMoments.from_data,
    "gaussian": lambda X: SphericalGaussianMoments.from_data(X, n_components=K),
}


def rounds(state, parts, k=K, **options):
    """Go through all rounds of moments; return the merged state of each."""
    merged = []
    while True:
        merged.append(sum(state.empty().update(part) for part in parts))
        if merged[-1].third:
            return merged
        state = merged[-1].next_round(k, **options)


@pytest.mark.parametrize("model", POOLED)
def test_sites_give_the_decomposition_of_pooled_rows(model):
    X = data_of(model)
    first, last = rounds(MomentState(X.shape[1], model=model), np.array_split(X, 3))
    found, pooled = sidiwo(last.moments(), K), sidiwo(POOLED[model](X), K)
    # The order of additions differs: rounding errors, amplified by the condition of M2.
    np.testing.assert_allclose(found.centers, pooled.centers, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.weights, pooled.weights, rtol=0, atol=1e-10)
    if model != "gaussian":  # its first round does not know the variance yet
        M2 = POOLED[model](X).m2 @ np.eye(X.shape[1])
        np.testing.assert_allclose(first.moments().m2 @ np.eye(len(M2)), M2, rtol=0, atol=1e-10)


@pytest.mark.parametrize("options", [{"weighting": "uniform"}, {"log_scaling": "log1p"}])
def test_weighting_and_log_scaling(options):
    X = data_of("single-topic")
    *_, last = rounds(MomentState(X.shape[1], **options), np.array_split(X, 2))
    rows, one = sp.csr_array(X), 1.0
    if "log_scaling" in options:
        scaled = log_scale(rows, "log1p")
        rows, one = scaled.rows, scaled.count_per_token
        pooled = SingleTopicMoments.from_rows(rows, sample_weight=np.ones(N), count_per_token=one)
    else:
        pooled = SingleTopicMoments.from_data(rows, **options)
    found, expected = sidiwo(last.moments(), K), sidiwo(pooled, K)
    np.testing.assert_allclose(found.centers, expected.centers, rtol=0, atol=1e-9)


def test_many_columns_take_more_rounds():
    X = data_of("single-topic", d=1100)
    merged = rounds(MomentState(1100), np.array_split(X, 3), tol=1e-5)
    assert 3 <= len(merged) <= 8
    accuracies = [state.accuracy(K) for state in merged]
    assert accuracies[0] == np.inf
    assert accuracies[-2] <= 1e-5
    found, pooled = sidiwo(merged[-1].moments(), K), sidiwo(SingleTopicMoments.from_data(X), K)
    # The residual of the subspace bounds the error of the eigenvectors, up to the gap.
    np.testing.assert_allclose(found.centers, pooled.centers, rtol=0, atol=1e-4)


def test_many_components_have_a_tensor():
    k = 21
    X = np.random.default_rng(0).multinomial(30, np.eye(k) * 0.9 + 0.1 / k, size=(40, k))
    X = X.reshape(-1, k)
    *_, last = rounds(MomentState(k), [X[::2], X[1::2]], k)
    found = tensor_power_method(last.moments(), k)
    pooled = tensor_power_method(SingleTopicMoments.from_data(X), k)
    np.testing.assert_allclose(found.weights, pooled.weights, rtol=0, atol=1e-8)
    assert sidiwo(last.moments(), k).n_components == k
    with raises(InvalidDataError, "tensor_alone"):
        last.moments().whitened_slices(whiten(last.moments(), k).W)


def test_whole_counts_are_the_same_bit_by_bit_for_any_batches():
    X = data_of("single-topic")
    whole = MomentState(X.shape[1]).update(X)
    order = np.random.default_rng(1).permutation(N)
    for cuts in ([1], [7, 8, 300], [100, 200]):
        batches = MomentState(X.shape[1])
        for part in np.split(X[order], cuts):
            batches.update(part)
        assert batches.to_bytes() == whole.to_bytes()
        merged = sum(MomentState(X.shape[1]).update(part) for part in np.split(X, cuts))
        np.testing.assert_array_equal(merged.m1, whole.m1)
        same = merged.moments().m2 @ np.eye(20) == whole.moments().m2 @ np.eye(20)
        assert same.all()


@pytest.mark.parametrize("model", POOLED)
def test_forgetting_a_batch(model):
    X = data_of(model)
    first, last = rounds(MomentState(X.shape[1], model=model), [X])
    for state in (first, last):
        rest = state - state.empty().update(X[-60:])
        kept = state.empty().update(X[:-60])
        assert rest.n_rows == kept.n_rows
        np.testing.assert_allclose(rest.m1, kept.m1, rtol=1e-8)
    rest = last - last.empty().update(X[-60:])
    np.testing.assert_allclose(
        sidiwo(rest.moments(), K).centers,
        sidiwo(last.empty().update(X[:-60]).moments(), K).centers,
        rtol=0,
        atol=1e-8,
    )


def test_a_difference_of_two_states_is_the_record():
    # This is what the documentation warns of.
    X = data_of("bernoulli")
    one = MomentState(20, model="bernoulli")
    yesterday = one.empty().update(X[:-1])
    difference = one.empty().update(X) - yesterday
    np.testing.assert_array_equal(difference.m1, X[-1])


def test_weights_are_copies():
    X = data_of("single-topic")
    v = np.random.default_rng(0).integers(0, 3, size=N)
    weighted = MomentState(20).update(X, sample_weight=v)
    np.testing.assert_allclose(weighted.m1, MomentState(20).update(np.repeat(X, v, axis=0)).m1)


def test_subtracting_what_was_not_added():
    X = data_of("single-topic")
    with raises(InvalidDataError, "never_added"):
        MomentState(20).update(X[:100]) - MomentState(20).update(X[100:])


def test_other_states_say_what_differs():
    X = data_of("single-topic")
    state = MomentState([f"w{i}" for i in range(20)]).update(X)
    others = {
        "uniform": MomentState(state.columns, weighting="uniform"),
        "poisson": MomentState(state.columns, model="poisson"),
        "'w0'": MomentState(20),
        "another order": MomentState(state.columns[::-1]),
        "the last round": state.next_round(2),
    }
    for word, other in others.items():
        assert other.fingerprint != state.fingerprint
        with pytest.raises(InvalidDataError, match=word) as caught:
            state + other
        assert caught.value.code == "states_differ"
        with raises(InvalidDataError, "states_differ"):
            state - other
    with pytest.raises(InvalidDataError, match="of different rounds or files"):
        state.next_round(2) + state.next_round(3)


def test_a_first_round_and_the_next_are_never_added():
    X = data_of("single-topic", d=1100)
    first = MomentState(1100).update(X)
    second = first.next_round(2).update(X)
    assert not second.third  # the settings are equal; only one of them has a subspace
    for one, other in ((first, second), (second, first)):
        with pytest.raises(InvalidDataError, match="subspace: they are of different rounds"):
            one + other
        with raises(InvalidDataError, "states_differ"):
            one - other


def test_differences_show_numbers_as_numbers():
    one, other = (MomentState(3, model="lda", alpha0=a) for a in (1.0, 2.0))
    with pytest.raises(InvalidDataError, match=r"alpha0: 1\.0 and 2\.0"):
        one + other


def test_the_same_site_twice():
    a, b = (MomentState(20).update(part) for part in np.split(data_of("single-topic"), 2))
    for twice in (lambda: a + a, lambda: (a + b) + b):
        with pytest.warns(MomentreeWarning) as caught:
            twice()
        assert caught[0].message.code == "same_part_twice"
    again = (a + b) - b
    again + b  # no warning


def test_other_rows_than_in_the_round_before(tmp_path):
    X = data_of("single-topic")
    question = MomentState(20).update(X).next_round(2)
    question.save(tmp_path / "question.mom")
    question = State.load(tmp_path / "question.mom")
    next_round(question.empty().update(X[:200]) + question.empty().update(X[200:]))
    fewer = question.update(X[:200])
    for continue_with in (next_round, fitted_from):
        with pytest.warns(MomentreeWarning, match="200 rows, and the one before had 360"):
            continue_with(fewer)


def test_fewer_components_than_requested():
    state = MomentState(3, model="bernoulli").update([[1, 0, 1], [1, 0, 0]])
    with pytest.warns(ConvergenceWarning, match="support 2 components, not 3"):
        assert state.next_round(3).n_directions == 2


def test_columns_are_a_number_or_names():
    for columns in (2.5, "abc", None, True):
        with raises(InvalidParameterError, "not_a_number"):
            MomentState(columns)


def test_names_of_columns_that_are_numbers():
    X = data_of("single-topic")
    state = MomentState(20).update(pd.DataFrame(X))
    assert state.to_bytes() == MomentState(20).update(X).to_bytes()
    with pytest.raises(InvalidDataError, match="in another order"):
        state.update(pd.DataFrame(X)[range(19, -1, -1)])


def test_states_without_rows():
    empty, state = MomentState(20), MomentState(20).update(data_of("single-topic"))
    assert (empty + state).to_bytes() == state.to_bytes()
    assert state.update(np.empty((0, 20))) is state
    assert empty.n_rows == 0
    for call in (empty.moments, lambda: empty.m1, lambda: empty.next_round(2)):
        with raises(InvalidDataError, "empty_state"):
            call()
    short = MomentState(20).update(np.eye(20))  # documents of one word
    with raises(InvalidDataError, "state_too_short"):
        short.moments()


def test_bad_rows_leave_a_state_unchanged():
    X = data_of("single-topic")
    state = MomentState(20).update(X)
    before = state.to_bytes()
    bad = {
        "negative_count": -X,
        "missing_count": np.where(X == 0, np.nan, X),
        "n_columns_not_of_state": X[:, 1:],
        "columns_not_of_state": pd.DataFrame(X, columns=[f"c{i}" for i in range(20)]),
    }
    for code, rows in bad.items():
        with raises(InvalidDataError, code):
            state.update(rows)
        assert state.to_bytes() == before
    with raises(InvalidDataError, "not_binary"):
        MomentState(20, model="bernoulli").update(X)
    with raises(InvalidDataError, "missing_in_moments"):
        MomentState(20, model="bernoulli").update(np.where(X > 0, np.nan, 0))
    with raises(InvalidDataError, "word_repeated"):
        MomentState(["a", "a"])
    with raises(InvalidDataError, "gaussian_state_too_wide"):
        MomentState(2000, model="gaussian")


def test_one_record():
    state = MomentState(3, model="bernoulli").update([[1, 0, 1]])
    assert state.next_round(1).update([[1, 0, 1]]).moments().m1.tolist() == [1, 0, 1]


def test_the_union_of_columns():
    X = data_of("single-topic")
    X[: N // 2, 3] = 0
    names = np.array([f"w{i:02}" for i in range(20)])
    kept = np.delete(np.arange(20), 3)
    a = MomentState(names[kept]).update(X[: N // 2][:, kept])
    b = MomentState(names[::-1]).update(X[N // 2 :][:, ::-1])
    a, b = union([a, b])
    pooled = MomentState(names).update(X)
    assert (a + b).columns.tolist() == names.tolist()
    np.testing.assert_array_equal((a + b).m1, pooled.m1)
    np.testing.assert_array_equal(
        (a + b).moments().m2 @ np.eye(20), pooled.moments().m2 @ np.eye(20)
    )
    with raises(InvalidDataError, "columns_dropped"):
        pooled.on_columns(names[:5])
    with raises(InvalidDataError, "columns_are_fixed"):
        pooled.next_round(2).on_columns(names)


def test_sketches_of_other_columns_add_up():
    X = data_of("single-topic", d=1200)
    used = np.flatnonzero(X[:180].any(axis=0) | (np.arange(1200) < 1100))
    names = np.array([f"w{i:04}" for i in range(1200)])
    a = MomentState(names[used]).update(X[:180][:, used])
    b = MomentState(names).update(X[180:])
    pooled = MomentState(names).update(X)
    merged = sum(union([a, b]))
    # A column that is zero in all rows of a site adds nothing to the products with directions.
    assert merged.next_round(2).fingerprint == pooled.next_round(2).fingerprint


def test_released_states_have_no_small_counts():
    X = data_of("bernoulli")
    X[:, 0] = 0
    X[:3, 0] = 1
    X[:, 1] = X[:, 2] = 0
    X[:200, 1], X[198:300, 2] = 1, 1  # two rows with both
    state = MomentState(20, model="bernoulli").update(X)
    sent = state.release(5)
    columns, others = sent.suppressed
    assert (columns, sent.released, sent.n_rows) == (1, True, N)
    M2 = N * (sent.moments().m2 @ np.eye(20))
    exact = X.T @ X
    assert (M2[0] == 0).all()
    assert sent.m1[0] == 0
    assert M2[1, 2] == 0
    assert exact[1, 2] == 2
    small = (exact > 0) & (exact < 5)
    assert others == np.count_nonzero(np.triu(small)[1:])
    np.testing.assert_allclose(M2[1:, 1:][~small[1:, 1:]], exact[1:, 1:][~small[1:, 1:]])
    with raises(InvalidDataError, "released_state"):
        sent.update(X)
    assert state.release(1).suppressed == (0, 0)
    with raises(InvalidDataError, "too_few_rows_to_release"):
        state.empty().update(X[:4]).release(5)
    both = sent + sent.empty().update(X[:100]).release(5)
    assert both.suppressed[0] >= 1
    assert state.release(5, left_out=2).suppressed[0] == 3
    with pytest.warns(MomentreeWarning, match="the same 1 part"):
        sent + state.release(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sent + state  # no digest of what was suppressed is kept
    last = state.next_round(2).update(X).release(5)
    assert (last.moments().slices[0] == 0).all()
    assert b"occurrences" not in last.to_bytes()


def test_files(tmp_path):
    X = data_of("lda")
    path = tmp_path / "site.mom"
    for state in rounds(MomentState(20, model="lda", alpha0=0.5), [X]):
        state.save(path)
        for found in (State.load(path), MomentState.load(path), State.from_bytes(state.to_bytes())):
            assert found.to_bytes() == state.to_bytes() == path.read_bytes()
            assert found.fingerprint == state.fingerprint
        sent = state.release(3)
        assert MomentState.from_bytes(sent.to_bytes()).released
    with zipfile.ZipFile(path) as archive:
        assert all(name.endswith((".npy", ".json")) for name in archive.namelist())


def test_damaged_files(tmp_path):
    path = tmp_path / "site.mom"
    state = MomentState(20).update(data_of("single-topic")).next_round(2)
    state.update(data_of("single-topic")).save(path)
    content = path.read_bytes()
    for n in (0, 10, len(content) // 2, len(content) - 10):
        path.write_bytes(content[:n])
        with raises(ReadError, "damaged_state"):
            State.load(path)
        with raises(ReadError, "damaged_state"):
            State.from_bytes(content[:n])
    with raises(ReadError, "no_such_file"):
        State.load(tmp_path / "none.mom")

    def changed(change):
        with zipfile.ZipFile(tmp_path / "good.mom") as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(members["manifest.json"])
        change(manifest, members)
        with zipfile.ZipFile(path, "w") as archive:
            members["manifest.json"] = json.dumps(manifest).encode()
            for name, value in members.items():
                archive.writestr(name, value)

    (tmp_path / "good.mom").write_bytes(content)
    changes = {
        "not_a_state": lambda m, _: m.update(format="momentree"),
        "state_of_other_version": lambda m, _: m.update(format_version=2),
        "other_state": lambda m, _: m.update(kind="Unknown"),
        "damaged_state": lambda m, _: m["settings"].update(model="poisson"),
    }
    for code, change in changes.items():
        changed(change)
        with raises(ReadError, code):
            State.load(path)
    for change in (
        lambda m, _: m["columns"].reverse(),
        lambda m, _: m["sums"].pop(),
        lambda _, x: x.update({"sum_first.npy": x["sum_rows.npy"]}),
        lambda _, x: x.update({"subspace.npy": x["sum_rows.npy"]}),
        lambda m, _: m.update(reader=3),
    ):
        changed(change)
        with raises(ReadError, "damaged_state"):
            State.load(path)


def test_third_moments_only_in_the_subspace():
    X = data_of("single-topic")
    first, last = rounds(MomentState(20), [X], k=2)
    with raises(InvalidDataError, "second_moments_alone"):
        sidiwo(first.moments(), 2)
    with raises(InvalidDataError, "outside_subspace"):
        last.moments().whitened_slices(np.eye(20)[:2])
    with raises(InvalidDataError, "last_round"):
        last.next_round(2)
    wide = MomentState(1100).update(data_of("single-topic", d=1100))
    with raises(InvalidDataError, "products_alone"):
        wide.moments()


def test_parameters_of_gaussians():
    X = data_of("gaussian")
    *_, last = rounds(MomentState(20, model="gaussian"), np.array_split(X, 3))
    moments, pooled = last.moments(), POOLED["gaussian"](X)
    found = spherical_gaussian_parameters(moments, sidiwo(moments, K))
    expected = spherical_gaussian_parameters(pooled, sidiwo(pooled, K))
    np.testing.assert_allclose(found.centers, expected.centers, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.variances, expected.variances, rtol=1e-9)


@pytest.mark.parametrize("model", ["single-topic", "lda", "poisson", "bernoulli"])
def test_sums_that_contradict_the_totals_are_refused(model):
    X = data_of(model)
    first = MomentState(20, model=model).update(X)
    last = first.next_round(K).update(X)
    factors = {"first": 1e200, "slices": -1.0}
    factors |= {} if model == "poisson" else {"pairs": 1e6, "products": 1e6, "slices": 1e6}
    for state in (first, last):
        State.from_bytes(state.to_bytes())
        State.from_bytes(state.release(5).to_bytes())
        for name in factors.keys() & state._sums.keys():
            damaged = State.from_bytes(state.to_bytes())
            damaged._sums[name] = damaged._sums[name] * factors[name]
            with raises(ReadError, "damaged_state"):
                State.from_bytes(damaged.to_bytes())
    negated = State.from_bytes(last.to_bytes())
    negated._sums["slices"] *= -1
    with raises(ReadError, "damaged_state"):
        State.from_bytes(negated.to_bytes())


def damaged(state, name, change):
    """Return the bytes of a state in which one of the sums was changed."""
    copy = State.from_bytes(state.to_bytes())
    copy._sums[name] = change(copy._sums[name])
    return copy.to_bytes()


@pytest.mark.parametrize("n", [20, 600])
@pytest.mark.parametrize("model", ["single-topic", "lda", "poisson", "bernoulli"])
def test_sums_that_no_rows_have_are_refused(model, n):
    X = data_of(model)[:n]
    first = MomentState(20, model=model).update(X)
    last = first.next_round(K).empty().update(X)
    for state, names in ((first, ("first", "pairs")), (last, ("first", "slices"))):
        for name in names:
            for factor in (-1.0, -1e6, 1e50):
                with raises(ReadError, "damaged_state"):
                    State.from_bytes(damaged(state, name, lambda sums, by=factor: by * sums))
    for name, change in (
        ("first", np.zeros_like),
        ("rows", lambda rows: rows * 1e100),
        ("occurrences", lambda found: found + n),
        ("pair_rows", lambda found: found + n),
    ):
        with raises(ReadError, "damaged_state"):
            State.from_bytes(damaged(first, name, change))


def test_a_negated_tensor_is_refused():
    X = data_of("poisson", d=60)
    last = MomentState(60, model="poisson").update(X).next_round(25).empty().update(X)
    assert "tensor" in last._sums
    with raises(ReadError, "damaged_state"):
        State.from_bytes(damaged(last, "tensor", np.negative))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("first", lambda sums: 100 * sums),  # means beyond the root of the second moments
        ("pairs", np.negative),
        ("pairs", lambda sums: np.where(sums == sums.max(), sums, 10 * sums.max())),
        ("products", np.negative),
        ("slices", lambda sums: 1e50 * sums),
    ],
)
def test_sums_that_no_numbers_have_are_refused(name, change):
    X = data_of("gaussian")
    first = MomentState(20, model="gaussian").update(X)
    last = first.next_round(K).empty().update(X)
    for state in (first, last):
        State.from_bytes(state.to_bytes())
        if name in state._sums:
            with raises(ReadError, "damaged_state"):
                State.from_bytes(damaged(state, name, change))


def test_fractions_may_have_negative_third_moments():
    X = data_of("poisson") * 0.05
    last = MomentState(20, model="poisson").update(X).next_round(1).empty().update(X)
    assert last._sums["slices"].sum() < 0
    State.from_bytes(last.to_bytes())


def test_expected_sums_beyond_the_totals_are_refused():
    X = data_of("bernoulli")
    last = MomentState(20, model="bernoulli").update(X).next_round(K).update(X)
    state = next_round(last).update(X)
    State.from_bytes(state.to_bytes())
    for name in ("expected", "sizes"):
        damaged = State.from_bytes(state.to_bytes())
        damaged._sums[name] = damaged._sums[name] * 2
        with raises(ReadError, "damaged_state"):
            State.from_bytes(damaged.to_bytes())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sums_without_a_decomposition_are_refused():
    last = MomentState(20).update(data_of("single-topic")).next_round(K)
    last.update(data_of("single-topic"))
    last._sums["slices"] = last._sums["slices"] * 1e200
    with raises(InvalidDataError, "no_convergence"):
        fitted_from(last)
