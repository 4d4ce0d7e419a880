"""The number of components that "auto" finds: one population is one group, and groups are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from momentree import GaussianMixture, MixedMixture, MultiviewMixture
from momentree.exceptions import MomentreeWarning
from tests.raising import warns


def normal_columns(n, d, rng):
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])
    return X.assign(sex=rng.integers(0, 2, n))


def clinical_columns(n, rng):
    return pd.DataFrame(
        {
            "age": np.clip(rng.normal(60, 15, n), 18, 100).round(),
            "sbp": rng.normal(135, 18, n).round(),
            "hr": rng.normal(75, 12, n).round(),
            "bmi": rng.normal(27, 5, n).round(1),
            "sex": rng.integers(0, 2, n),
        }
    )


def test_one_population_of_numbers_is_one_group():
    # Records of their own are very likely: without a least size there are 3 to 13 groups.
    model = MixedMixture("auto").fit(normal_columns(150, 6, np.random.default_rng(0)))
    assert len(model.weights_) == 1
    assert len(model.diagnostics_["bic"]) > 1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_one_population_of_rounded_numbers_is_one_group(seed):
    model = MixedMixture("auto").fit(clinical_columns(300, np.random.default_rng(seed)))
    assert len(model.weights_) == 1


@pytest.mark.long
@pytest.mark.parametrize("seed", [3, 5])
def test_equal_rounded_numbers_are_no_group(seed):
    # Without a floor of variances, five or more equal numbers make two or more further groups.
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(200, 2)).round(1), columns=["a", "b"])
    X = X.assign(yes=rng.random(200) < 0.4)
    assert len(MixedMixture("auto").fit(X).weights_) == 1


def test_zeros_of_rounded_numbers_are_a_group():
    rng = np.random.default_rng(0)
    amount = np.where(rng.random(150) < 0.3, 0.0, rng.lognormal(1, 0.5, 150)).round(1)
    X = pd.DataFrame({"amount": amount, "x": rng.normal(size=150)})
    with warns(MomentreeWarning, "variances_at_floor_of_auto"):
        model = MixedMixture("auto").fit(X)
    # An automatic number is not to be lowered.
    assert model.notes_[0].values["columns"] == ["amount"]
    assert "n_components" not in str(model.notes_[0])
    assert np.isclose(model.means_[:, 0], 0.0, atol=0.05).any()
    assert model.variances_[:, 0].min() == pytest.approx(0.1**2 / 12)


class SmallInFull(MixedMixture):
    """A mixture whose third component has four samples, but only when fitted in full."""

    def _fit_mixture(self, samples, weight, k, *, brief=False):
        found = super()._fit_mixture(samples, weight, k, brief=brief)
        small = k == 3 and not brief
        return replace(found, labels=np.repeat([0, 1, 2], [28, 28, 4])) if small else found


def test_a_full_fit_with_a_small_component_gives_way_to_a_smaller_number():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]], 20, axis=0) + rng.normal(size=(60, 2))
    assert len(MixedMixture("auto").fit(X).weights_) == 3
    model = SmallInFull("auto").fit(X)
    assert len(model.weights_) == 2
    assert np.bincount(model.labels_).min() >= 5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_weights_gaps_and_precision_do_not_change_the_variance_of_rounding(dtype):
    rng = np.random.default_rng(0)
    x = np.where(rng.random(300) < 0.5, 0.0, rng.normal(3, 1, 300)).round(1).astype(dtype)
    x[:2] = np.nan, 0.0314
    X = pd.DataFrame({"x": x, "yes": rng.random(300) < 0.5})
    times = np.append([1, 0], rng.integers(1, 3, 298))
    repeated = X.loc[X.index.repeat(times)[::-1]]
    for table, weight in ((X, times), (repeated, None)):
        with warns(MomentreeWarning, "variances_at_floor"):
            model = MixedMixture(2).fit(table, sample_weight=weight)
        assert model.variances_.min() == pytest.approx(0.1**2 / 12)


def test_a_larger_reg_covar_than_rounding_is_the_smallest_variance():
    rng = np.random.default_rng(0)
    x = np.where(rng.random(300) < 0.5, 0.0, rng.normal(3, 1, 300)).round(1)
    X = pd.DataFrame({"x": x, "yes": rng.random(300) < 0.5})
    with warns(MomentreeWarning, "variances_at_floor") as found:
        model = MixedMixture(2, reg_covar=0.002).fit(X)
    assert model.variances_.min() == pytest.approx(0.002)
    assert "raise reg_covar above 0.002" in str(found[0].message)


@pytest.mark.long
def test_one_population_of_three_views_is_one_group():
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(150, 3)) for _ in range(3)]
    assert len(MultiviewMixture("auto").fit(views).weights_) == 1


def groups_apart(k, n=400):
    rng = np.random.default_rng(k)
    y = rng.integers(0, k, n)
    X = normal_columns(n, 3, rng)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    X[["x0", "x1", "x2"]] += 6 * corners[y]
    return X


def test_groups_apart_are_found_in_columns_of_different_kinds():
    assert len(MixedMixture("auto").fit(groups_apart(3, 120)).weights_) == 3


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:[0-9]+ components? ha(s|ve)")  # of larger numbers
@pytest.mark.parametrize("k", [2, 3, 5])
def test_groups_are_those_of_the_lowest_bic(k):
    X = groups_apart(k)
    auto = MixedMixture("auto").fit(X)
    assert len(auto.weights_) == k
    n_tried = len(auto.diagnostics_["bic"])
    bics = [MixedMixture(j).fit(X).bic(X) for j in range(1, n_tried + 1)]
    assert 1 + np.argmin(bics) == k
    # EM of other numbers of components ends early, at no higher likelihood.
    surplus = np.array(auto.diagnostics_["bic"]) / bics - 1.0
    assert abs(surplus[k - 1]) < 1e-9  # sums are in other orders
    assert (surplus > -1e-9).all()
    assert surplus.max() < 0.01
    assert k < 5 or surplus.max() > 1e-9


def test_weights_of_two_count_as_two_samples_of_a_group():
    X = np.concatenate([np.arange(40.0) / 40, 100 + np.arange(3.0)])[:, None]
    one, two = np.ones(43), np.where(X.ravel() > 50, 2.0, 1.0)
    assert len(GaussianMixture("auto").fit(X, sample_weight=one).weights_) < len(
        GaussianMixture("auto").fit(X, sample_weight=two).weights_
    )


def test_an_extreme_row_does_not_decide_the_number_of_components():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(8, 1, (40, 2))])
    X[0, 0] = 1e12
    with warns(MomentreeWarning, "extreme_rows"):
        assert len(GaussianMixture("auto").fit(X).weights_) == 2
