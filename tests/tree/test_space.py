"""What a cluster tree takes its data for, and what it makes of them."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.exceptions import InvalidDataError
from momentree.objects import (
    BernoulliParameters,
    GaussianParameters,
    IncompleteBernoulliParameters,
    PoissonParameters,
)
from momentree.preprocessing.feature_map import FeatureMap

from .cluster_data import KINDS, of_kind


def space_of(X, kind="auto", weight=None, scaled=True):
    X = np.asarray(X, dtype=np.float64)
    gone = np.isnan(X)
    values = sp.csr_array(np.where(gone, 0.0, X))
    missing = sp.csr_array(gone.astype(float)) if gone.any() else None
    weight = np.ones(len(X)) if weight is None else weight
    space = FeatureMap.of(values, missing, weight, kind, scaled=scaled)
    return space, space.rows(values, missing)


@pytest.mark.parametrize(
    ("X", "kind", "family"),
    [
        ([[0, 1], [1, 1]], "binary", BernoulliParameters),
        ([[0, np.nan], [1, 1]], "binary", IncompleteBernoulliParameters),
        ([[0, 2], [1, 1]], "counts", PoissonParameters),
        ([[0, 0.5], [1, 0]], "non_negative", GaussianParameters),
        ([[0, 0.5], [1, 1]], "real", GaussianParameters),
        ([[0, -1], [1, 1]], "real", GaussianParameters),
        ([[-0.0, 1], [1, 0]], "binary", BernoulliParameters),
        ([[0, 0], [0, 0]], "binary", BernoulliParameters),
    ],
)
def test_data_are_taken_for_the_first_kind_that_fits(X, kind, family):
    space, rows = space_of(X)
    assert space.kind == kind
    assert space.family is family
    assert family.n_features(rows.shape[1]) == 2
    assert len(space.view) == rows.shape[1]


@pytest.mark.parametrize("kind", ["binary", "counts", "non_negative", "real"])
def test_data_may_be_taken_for_a_wider_kind(kind):
    order = ["binary", "counts", "non_negative", "real"]
    X, _ = of_kind(kind)
    for asked in order:
        if order.index(asked) >= order.index(kind):
            assert space_of(X, asked)[0].kind == asked
        else:
            with pytest.raises(
                InvalidDataError, match=rf"data='{asked}', but row \d+, column \d+ "
            ):
                space_of(X, asked)


def test_the_first_value_of_another_kind_is_named():
    X = np.zeros((4, 3))
    X[2, 1] = 2.5
    with pytest.raises(InvalidDataError, match=r"row 2, column 1 holds 2\.5; expected 0 or 1"):
        space_of(X, "binary")
    with pytest.raises(InvalidDataError, match=r"row 2, column 1 holds 2\.5; expected whole numb"):
        space_of(X, "counts")
    X[1, 2] = -1
    with pytest.raises(
        InvalidDataError, match=r"row 1, column 2 holds -1\.0; expected numbers of z"
    ):
        space_of(X, "non_negative")


@pytest.mark.parametrize("kind", ["counts", "non_negative", "real"])
def test_missing_values_are_taken_in_binary_data_only(kind):
    X, _ = of_kind(kind)
    X = X.astype(float)
    X[3, 5] = np.nan
    with pytest.raises(InvalidDataError, match=r"NaN: row 3, column 5 .*these are .*: fill them"):
        space_of(X)


def test_a_column_that_is_never_seen_is_told():
    with pytest.raises(InvalidDataError, match="column 1 is missing in every row"):
        space_of([[0, np.nan], [1, np.nan]])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "real"])
def test_the_moments_see_records_of_unit_length(kind):
    X, _ = of_kind(kind)
    X[0] = 0.0
    space, rows = space_of(X)
    lifted = np.column_stack([rows.matrix.toarray() * space.view, np.full(len(X), space.constant)])
    lengths = np.linalg.norm(space.factors(rows)[:, None] * lifted, axis=1)
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-12)
    plain, rows = space_of(X, scaled=False)
    np.testing.assert_array_equal(plain.factors(rows), np.ones(len(X)))


@pytest.mark.parametrize("weighted", [False, True])
def test_real_columns_get_mean_0_and_variance_1(weighted):
    X, _ = of_kind("real")
    X = X * 10.0 ** np.arange(24) - 5.0
    X[:, 3] = 1e9 + 1 / 3  # constant
    weight = np.random.default_rng(0).uniform(0, 2, len(X)) if weighted else np.ones(len(X))
    space, rows = space_of(X, weight=weight)
    Z = rows.matrix.toarray()[:, :24]
    v = weight / weight.sum()
    np.testing.assert_allclose(v @ Z, 0.0, atol=1e-8)
    np.testing.assert_allclose(np.delete(v @ Z**2, 3), 1.0, rtol=1e-6)
    assert not Z[:, 3].any()
    back = Z[:, :3] * space.scale[:3] + space.shift[:3]
    np.testing.assert_allclose(back, X[:, :3], rtol=1e-9)


def test_missing_values_weigh_by_how_often_a_column_is_seen():
    """The mean of what the moments see is that of the values, where gaps are at random."""
    rng = np.random.default_rng(0)
    n, p, share = 40_000, np.array([0.2, 0.5, 0.8]), np.array([1.0, 0.7, 0.4])
    X = (rng.random((n, 3)) < p).astype(float)
    X[rng.random((n, 3)) > share] = np.nan
    space, rows = space_of(X, scaled=False)
    seen = (rows.matrix.toarray() * space.view)[:, :3]
    error = np.sqrt(p / share / n)  # a bound of the standard error of each mean
    assert (np.abs(seen.mean(axis=0) - p) < 4 * error).all()
    pairs = seen.T @ seen / n
    for i, j in ((0, 1), (0, 2), (1, 2)):
        bound = np.sqrt(p[i] * p[j] / (share[i] * share[j]) / n)
        assert abs(pairs[i, j] - p[i] * p[j]) < 4 * bound


@pytest.mark.parametrize("kind", KINDS)
def test_a_space_is_the_same_from_its_numbers(kind):
    X, _ = of_kind(kind)
    space, rows = space_of(X)
    again = FeatureMap.again(
        space.kind, space.shift, space.scale, space.view, constant=space.constant, scaled=True
    )
    assert (again.kind, again.family, again.unit_length, again.incomplete) == (
        (space.kind, space.family, space.unit_length, space.incomplete)
    )
    np.testing.assert_array_equal(again.factors(rows), space.factors(rows))


def test_new_samples_are_held_to_the_kind_of_the_fit():
    space, _ = space_of([[0, 1], [1, 0]])
    with pytest.raises(InvalidDataError, match=r"row 0, column 1 holds 3\.0; expected 0 or 1"):
        space.check(sp.csr_array([[0.0, 3.0]]), None)
    space.check(sp.csr_array([[0.0, 1.0]]), sp.csr_array([[1.0, 0.0]]))
    wide, _ = space_of([[0.0, -1.5], [1, 0]])
    wide.check(sp.csr_array([[0.0, 3.0]]), None)
    with pytest.raises(InvalidDataError, match="Missing values are taken in binary data only"):
        wide.check(sp.csr_array([[0.0, 1.0]]), sp.csr_array([[1.0, 0.0]]))


@pytest.mark.parametrize("value", [1e101, -1e300])
def test_values_beyond_double_precision_are_told(value):
    with pytest.raises(
        InvalidDataError, match=r"too large in data: row 1, column 0 holds .*1e\+100 o"
    ):
        space_of([[0.5, 1.0], [value, 1.0]])
    space, _ = space_of([[0.5, -1.0], [1e100, 1.0]])
    with pytest.raises(InvalidDataError, match="row 0, column 1"):
        space.check(sp.csr_array([[0.0, value]]), None)
