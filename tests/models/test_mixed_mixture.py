"""Mixtures of columns of different kinds: recovery, likelihood, rules for input, files."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import bernoulli, norm, poisson
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

import momentree as mt
from momentree.exceptions import InvalidDataError, InvalidParameterError, MomentreeWarning
from momentree.models import DECOMPOSITIONS

from ..raising import raises, warns

AGE, SD = np.array([30.0, 50.0, 75.0]), np.array([6.0, 9.0, 7.0])
SMOKES = np.array([0.6, 0.2, 0.05])
VISITS = np.array([0.3, 4.0, 1.0])
PLAN = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7]])
WEIGHTS = np.array([0.5, 0.3, 0.2])


def drawn(n=900, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(3, size=n, p=WEIGHTS)
    table = pd.DataFrame(
        {
            "age": rng.normal(AGE[y], SD[y]),
            "smokes": rng.random(n) < SMOKES[y],
            "visits": rng.poisson(VISITS[y]),
            "plan": np.array(["basic", "plus", "none"])[
                (rng.random(n)[:, None] > PLAN[y].cumsum(axis=1)).sum(axis=1)
            ],
        }
    )
    return table, y


@pytest.fixture(scope="module")
def sample():
    return drawn()


@pytest.fixture(scope="module")
def model(sample):
    return mt.MixedMixture(3).fit(sample[0])


def test_it_finds_the_components(sample, model):
    """Within five standard errors of the means of known groups, the smallest of 0.2 n rows."""
    n = 0.2 * len(sample[0])
    found = dict(zip(model.mean_names_, model.means_.T, strict=True))
    np.testing.assert_allclose(model.weights_, WEIGHTS, atol=5 * 0.5 / np.sqrt(5 * n))
    np.testing.assert_allclose(found["age"], AGE, atol=5 * SD.max() / np.sqrt(n))
    np.testing.assert_allclose(found["smokes"], SMOKES, atol=5 * 0.5 / np.sqrt(n))
    np.testing.assert_allclose(found["visits"], VISITS, atol=5 * 2.0 / np.sqrt(n))
    np.testing.assert_allclose(found["plan=basic"], PLAN[:, 0], atol=5 * 0.5 / np.sqrt(n))
    np.testing.assert_allclose(np.sqrt(model.variances_[:, 0]), SD, rtol=0.3)
    assert adjusted_rand_score(model.labels_, sample[1]) > 0.75


def test_the_score_is_the_mean_log_density(sample, model):
    table = sample[0].copy()
    table.loc[3, "age"] = np.nan
    table["smokes"] = table["smokes"].astype(object)
    table.loc[5, "smokes"] = None
    table["plan"] = table["plan"].where(table.index != 7)
    means = dict(zip(model.mean_names_, model.means_.T, strict=True))
    joint = np.tile(np.log(model.weights_), (len(table), 1))
    for j in range(3):
        parts = [
            norm.logpdf(table["age"], means["age"][j], np.sqrt(model.variances_[j, 0])),
            bernoulli.logpmf(table["smokes"] == True, means["smokes"][j]),  # noqa: E712
            poisson.logpmf(table["visits"], means["visits"][j]),
            np.log([means[f"plan={p}"][j] if isinstance(p, str) else 1.0 for p in table["plan"]]),
        ]
        parts[1][5] = 0.0
        joint[:, j] += np.nansum(parts, axis=0)
    expected = np.logaddexp.reduce(joint, axis=1)
    np.testing.assert_allclose(model.score_samples(table), expected, rtol=1e-8)
    np.testing.assert_allclose(
        model.predict_proba(table), np.exp(joint - expected[:, None]), atol=1e-8
    )
    assert model.n_parameters_ == 2 + 3 * (2 + 1 + 1 + 2)
    np.testing.assert_allclose(
        model.bic(table), -2 * expected.sum() + model.n_parameters_ * np.log(len(table))
    )


def every_cell():
    """All records of five yes/no columns and a category of three, with their probabilities."""
    rng = np.random.default_rng(3)
    w, p, q = np.array([0.6, 0.4]), rng.uniform(0.1, 0.9, (2, 5)), rng.dirichlet(np.ones(3), 2)
    cells = list(itertools.product([0, 1], [0, 1], [0, 1], [0, 1], [0, 1], "abc"))
    table = pd.DataFrame(cells, columns=list("uvwxyz"))
    B, c = table.iloc[:, :5].to_numpy(float), table["z"].map("abc".index).to_numpy()
    chance = sum(w[j] * np.where(B == 1, p[j], 1 - p[j]).prod(axis=1) * q[j, c] for j in range(2))
    return table, chance, w, np.hstack([p, q])


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_exact_moments_give_the_parameters_back(decomposition):
    """The completion of estimated moments stops at a relative decrease of 1e-9."""
    table, chance, w, mu = every_cell()
    model = mt.MixedMixture(2, refine=None, decomposition=decomposition)
    model.fit(table, sample_weight=chance)
    np.testing.assert_allclose(model.weights_, w, atol=2e-4)
    np.testing.assert_allclose(model.means_, mu, atol=2e-4)


def test_em_is_at_least_as_likely_as_each_start_and_as_random_ones(sample, model):
    for options in ({"start": "moments"}, {"start": "search"}, {"refine": None}):
        assert (
            model.lower_bound_ >= mt.MixedMixture(3, **options).fit(sample[0]).lower_bound_ - 1e-9
        )
    np.testing.assert_allclose(model.lower_bound_, model.score(sample[0]))
    np.testing.assert_array_equal(model.predict(sample[0]), model.labels_)


def test_the_order_of_rows_does_not_matter_and_a_weight_is_copies(sample, model):
    table = sample[0]
    order = np.random.default_rng(0).permutation(len(table))
    again = mt.MixedMixture(3).fit(table.iloc[order])
    np.testing.assert_array_equal(again.means_, model.means_)
    np.testing.assert_array_equal(again.labels_, model.labels_[order])
    v = np.random.default_rng(1).integers(1, 3, size=len(table))
    one = mt.MixedMixture(3).fit(table, sample_weight=v)
    copies = mt.MixedMixture(3).fit(table.loc[np.repeat(table.index, v)])
    np.testing.assert_allclose(one.means_, copies.means_, rtol=1e-4, atol=1e-6)


def test_units_do_not_matter(sample, model):
    table = sample[0].assign(age=sample[0]["age"] * 1000 - 3)
    found = mt.MixedMixture(3).fit(table)
    np.testing.assert_array_equal(found.labels_, model.labels_)
    np.testing.assert_allclose(found.means_[:, 0], model.means_[:, 0] * 1000 - 3, rtol=1e-6)
    np.testing.assert_allclose(found.score(table), model.score(sample[0]) - np.log(1000), rtol=1e-6)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 4))]
)
def test_a_table_of_yes_and_no_is_as_likely_as_for_records(seed):
    rng = np.random.default_rng(seed)
    rates, labels = rng.beta(0.6, 0.9, (7, 16)), rng.choice(7, 101)
    X = (rng.random((101, 16)) < rates[labels]).astype(float)
    options = {"start": "search", "smoothing": 1.0, "tol": 1e-7, "max_iter": 200}
    records = mt.BernoulliMixture(7, **options).fit(X).diagnostics_["log_likelihood"]
    kinds = dict.fromkeys(range(16), "yes_no")
    table = mt.MixedMixture(7, kinds=kinds, **options).fit(X).diagnostics_["log_likelihood"]
    # EM stops once a step gains less than 1e-7 of it: slow steps have a little way to go.
    assert table == pytest.approx(records, abs=0.01)


def test_missing_values_and_other_frames(sample, model):
    import polars as pl
    import pyarrow as pa

    table = sample[0].copy()
    gaps = np.random.default_rng(2).random(table.shape) < 0.1
    holes = table.astype(object).where(~gaps, None)
    found = mt.MixedMixture(3).fit(holes)
    assert found.kinds_ == model.kinds_
    assert adjusted_rand_score(found.labels_, model.labels_) > 0.7
    for frame in (pl.from_pandas(table), pa.Table.from_pandas(table)):
        np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_long_form_and_kinds(model):
    assert model.kinds_ == {
        "age": "number",
        "smokes": "yes_no",
        "visits": "count",
        "plan": "category",
    }
    table = model.parameters_
    assert list(table.columns) == ["column", "kind", "value", "component", "estimate", "variance"]
    assert len(table) == 3 * 6
    one = table[(table["column"] == "plan") & (table["component"] == 1)]
    np.testing.assert_allclose(one["estimate"].sum(), 1.0, rtol=1e-9)


def test_kinds_may_be_given(sample):
    table = sample[0].assign(visits=np.minimum(sample[0]["visits"], 4))
    model = mt.MixedMixture(2, kinds={"visits": "category"}).fit(table)
    assert model.kinds_["visits"] == "category"
    assert "visits=4" in model.mean_names_
    X = sample[0][["smokes", "visits"]].to_numpy(float)
    found = mt.MixedMixture(2, kinds={0: "category"}).fit(X)
    assert found.kinds_ == {"0": "category", "1": "count"}


def test_samples_have_the_distribution_of_the_model(model):
    table, labels = model.sample(4000, random_state=1)
    assert list(table.columns) == ["age", "smokes", "visits", "plan"]
    means = dict(zip(model.mean_names_, model.weights_ @ model.means_, strict=True))
    assert abs(table["age"].mean() - means["age"]) < 5 * table["age"].std() / np.sqrt(4000)
    assert abs((table["plan"] == "plus").mean() - means["plan=plus"]) < 5 * 0.5 / np.sqrt(4000)
    assert np.bincount(labels).argmax() == 0
    assert (model.predict(table) == labels).mean() > 0.7


def test_spikes_are_reported():
    """A quarter of a column has the same value: a component without variance is very likely."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    table.loc[:49, "a"] = 0.0
    with warns(MomentreeWarning, "variances_at_floor") as found:
        model = mt.MixedMixture(2).fit(table)
    assert model.notes_[0].values["columns"] == ["a"]
    assert "lower n_components" in str(found[0].message)


@pytest.mark.long
def test_an_automatic_number_of_views_is_not_to_be_lowered():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    table.loc[:49, "a"] = 0.0
    with warns(MomentreeWarning, "variances_at_floor_of_auto"):
        model = mt.MultiviewMixture("auto", views=[["a"], ["b"], ["c"]]).fit(table)
    assert model.notes_[0].values["columns"] == ["a"]
    assert "n_components" not in str(model.notes_[0])


def test_what_is_left_out_and_what_is_new_is_reported(sample):
    table = sample[0].assign(same=1, none=np.nan)
    with pytest.warns(MomentreeWarning) as found:
        model = mt.MixedMixture(2).fit(table)
    assert [w.message.code for w in found] == ["column_constant", "column_empty"]
    assert model.kinds_["same"] == model.kinds_["none"] == ""
    with warns(MomentreeWarning, "unseen_levels"):
        proba = model.predict_proba(table.assign(plan="gold"))
    np.testing.assert_allclose(proba, model.predict_proba(table.assign(plan=None)))


def test_an_outlier_is_treated_as_missing():
    X = load_iris().data[::2].copy()
    base = mt.MixedMixture(3).fit(X)
    X[0, 2] = 1e12
    with warns(MomentreeWarning, "numbers_too_far"):
        found = mt.MixedMixture(3).fit(X)
    assert adjusted_rand_score(found.labels_, base.labels_) > 0.95


@pytest.mark.filterwarnings("ignore::momentree.exceptions.MomentreeWarning")
def test_odd_tables():
    X = load_iris().data
    assert len(mt.MixedMixture(2).fit(np.repeat(X[:2], 20, axis=0)).weights_) == 2
    collinear = np.hstack([X, X[:, :2] * 2 + 1])
    assert np.isfinite(mt.MixedMixture(3).fit(collinear).score(collinear))
    assert mt.MixedMixture(2).fit(X[:, :1]).predict(X[:, :1]).max() == 1
    with raises(InvalidDataError, "one_row"):
        mt.MixedMixture(1).fit(X[:1])


@pytest.mark.parametrize(
    ("options", "data", "kind", "code"),
    [
        ({"kinds": "numbers"}, None, InvalidParameterError, "not_kinds"),
        ({"kinds": {"age": "integer"}}, None, InvalidParameterError, "not_a_kind"),
        ({"kinds": {"agee": "number"}}, None, InvalidDataError, "kind_of_no_column"),
        ({"n_components": 2000}, None, InvalidDataError, "too_few_weighted_samples"),
        ({}, lambda t: t.iloc[:0], InvalidDataError, "empty_table"),
        (
            {},
            lambda t: t.assign(name=[f"id {i}" for i in range(len(t))]),
            InvalidDataError,
            "column_of_identifiers",
        ),
        ({"refine": None}, lambda t: t[["age", "smokes"]], InvalidParameterError, "no_moments"),
    ],
)
def test_bad_input_is_refused(sample, options, data, kind, code):
    table = sample[0] if data is None else data(sample[0])
    with raises(kind, code):
        mt.MixedMixture(**{"n_components": 2, **options}).fit(table)


def test_two_columns_of_one_name_are_refused(sample):
    X = sample[0][["age", "visits"]].to_numpy()
    with raises(InvalidDataError, "column_name_twice", column="a"):
        mt.MixedMixture(2).fit(X, feature_names=["a", "a"])


@pytest.mark.filterwarnings("ignore")
def test_scales_that_no_matrix_can_hold_are_refused():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 6)) * 10.0 ** rng.uniform(-120, 98, 6)
    with raises(InvalidDataError, "no_convergence"):
        mt.MixedMixture(3).fit(X)


def test_sparse_numbers_of_half_precision():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(60, 4)) + 1.0)
    X.data = X.data.astype(np.float16)
    dense = mt.MixedMixture(1).fit(X.astype(np.float32).toarray())
    np.testing.assert_allclose(mt.MixedMixture(1).fit(X).means_, dense.means_)


def test_kinds_that_were_changed_to_none_are_not_saved(tmp_path):
    model = mt.MixedMixture(2).fit(np.random.default_rng(0).normal(size=(60, 3)))
    model.set_params(kinds=None)
    with raises(InvalidParameterError, "not_kinds"):
        model.save(tmp_path / "m.mt")
    assert not any(tmp_path.iterdir())
