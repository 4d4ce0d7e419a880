"""Numbers that are computed from counts do not give suppressed ones away.

Each test changes a suppressed number, and nothing else that a reader may know: what is published
must stay the same.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.datasets import RecordCoder, Records
from momentree.exceptions import InvalidDataError
from momentree.metrics import bivariate_residuals, predictive_accuracy
from momentree.models import BernoulliMixture, compare_fits
from momentree.report import summarize_records
from momentree.report.disclosure import SMALL, Disclosure
from momentree.report.statistics import number_statistics

from .disclosure_attack import Grouped, column_of, page_of, plain

FEW = (1, 2, 3, 4)


def first(n, *counts):
    """Return a code of so many records at the beginning of each of the groups of sizes n."""
    return np.concatenate([np.arange(size) < c for size, c in zip(n, counts, strict=True)]) * 1.0


def page(sizes, columns, *, outcomes=None, quality=None, min_cell=5):
    labels, X = np.repeat(np.arange(len(sizes)), sizes), np.column_stack(columns)
    codes, n = [f"c{j}" for j in range(X.shape[1])], len(X)
    ids, enough = [str(i) for i in range(n)], np.ones(n, dtype=bool)
    matrix, coder = sp.csr_array(X), RecordCoder(codes)
    records = Records(matrix, np.array(codes), {}, ids, enough, coder, outcomes=outcomes or {})
    model = Grouped(labels.tolist(), codes)
    summary = summarize_records(model, records, quality=quality, min_cell=min_cell)
    return {**summary, "made": None}


def whole(sizes, group):
    """Return a code that all records of one group have, and no others."""
    return first(sizes, *(n * (j == group) for j, n in enumerate(sizes)))


@pytest.mark.parametrize("numbers", [[1, 2], [2]])
def test_fits_do_not_disclose_the_counts_of_a_code(numbers):
    sizes, pages = (40, 60), set()
    for c in FEW:
        columns = [whole(sizes, j) for j in (0, 0, 0, 1, 1, 1)] + [first(sizes, 20, c)]
        fits = compare_fits(BernoulliMixture(), np.column_stack(columns), numbers)
        summary = page(sizes, columns, quality={"fits": fits})
        assert summary["groups"]["counts"][1][-1] == SMALL
        pages.add(plain(summary["fits"]))
    assert len(pages) == 1


def test_criteria_that_disclose_nothing_are_shown():
    sizes = (40, 60)
    columns = [whole(sizes, j) for j in (0, 0, 1, 1)] + [first(sizes, 20, 10)]
    fits = compare_fits(BernoulliMixture(), np.column_stack(columns), [1, 2])
    shown = page(sizes, columns, quality={"fits": fits})["fits"]["numbers"]
    assert shown["bic"] == pytest.approx(fits["bic"].round(1).tolist())
    assert shown["smallest"] == [100, 40]


def test_fits_do_not_disclose_the_sizes_of_groups():
    pages = set()
    for n in (6, 7, 8):
        sizes = (70, 30 - n, n)
        columns = [whole(sizes, j) for j in (0, 0, 1, 1, 2, 2)]
        fits = compare_fits(BernoulliMixture(), np.column_stack(columns), [1, 2, 3])
        summary = page(sizes, columns, quality={"fits": fits}, min_cell=10)
        assert summary["groups"]["sizes"][2] == SMALL
        pages.add(plain(summary["fits"]["numbers"]["smallest"]))
    assert pages == {plain([None] * 3)}


@pytest.mark.parametrize(("sizes", "other"), [((10, 100), 5), ((16, 40), 8)])
def test_predicting_an_outcome_does_not_disclose_its_count(sizes, other):
    labels, pages = np.repeat([0, 1], sizes), set()
    for c in FEW:
        died = first(sizes, other, c)
        power = {"died": predictive_accuracy(labels, died)}
        summary = page(
            sizes,
            [whole(sizes, 0), whole(sizes, 1)],
            outcomes={"died": died},
            quality={"predictive_power": power},
        )
        pages.add(plain(summary["quality"]))
    assert len(pages) == 1
    assert "AUC about" in pages.pop()


def test_that_an_outcome_is_too_rare_to_be_predicted_is_not_disclosed():
    sizes, pages = (60, 50, 40, 30), set()
    for counts in ((1, 1, 1, 1), (2, 1, 1, 1)):
        died, power = first(sizes, *counts), {}
        try:
            power = predictive_accuracy(np.repeat(range(4), sizes), died)
        except InvalidDataError:
            assert sum(counts) < 5
        columns = [whole(sizes, j) for j in range(4)]
        quality = {"predictive_power": {"died": power}}
        pages.add(plain(page(sizes, columns, outcomes={"died": died}, quality=quality)))
    assert len(pages) == 1


def test_the_number_of_codes_does_not_disclose_the_count_of_one():
    sizes, pages = (20, 60), set()
    for c in FEW:
        columns = [whole(sizes, 0), whole(sizes, 1), first(sizes, 5, 20), first(sizes, c, 30)]
        pages.add(plain(page(sizes, columns)["codes_per_record"]))
    assert len(pages) == 1


@pytest.mark.parametrize("n", [7, 12, 26, 29, 30, 60])
def test_means_are_shown_or_not_whatever_the_number_of_missing_values(n):
    rng, labels = np.random.default_rng(n), np.repeat([0, 1], [100, n])
    values = rng.normal(50.0, 10.0, 100 + n)
    shown = set()
    for lacking in FEW:
        some = values.copy()
        some[-lacking:] = np.nan
        found = number_statistics(some, labels, 2, Disclosure(5), np.array([0, SMALL]))
        shown.add(tuple(entry is None for entry in found["groups"]))
    assert shown == {(n < 30,) * 2}


def test_quarters_of_a_few_numbers_do_not_follow_from_their_mean():
    sizes = (60, 40, 6)
    age = np.random.default_rng(0).permutation(106) + 18.0
    columns = [whole(sizes, j) for j in range(3)]
    (years,) = page(sizes, columns, outcomes={"age": age})["outcomes"]
    assert min(one["counts"][2] for one in years["classes"]) < 0
    assert years["numbers"]["groups"][2] is None


def test_a_group_without_values_does_not_protect_another():
    labels = np.repeat(range(5), [100, 60, 20, 12, 3])
    values = np.full(195, np.nan)
    values[:161] = np.random.default_rng(0).normal(50.0, 10.0, 161)  # one in the third group
    missing = np.array([0, 0, SMALL, SMALL, SMALL])
    found = number_statistics(values, labels, 5, Disclosure(5), missing)
    assert [entry is None for entry in found["groups"]] == [False, True, True, True, True]


def test_the_dependence_of_a_code_on_one_that_contains_it_is_not_measured():
    sizes, proba = (40, 50), np.repeat(np.eye(2), (40, 50), axis=0)
    X = np.column_stack([first(sizes, 15, 4), first(sizes, 20, 10)])
    assert bivariate_residuals(X, proba)[0, 1] > 30
    assert np.isnan(bivariate_residuals(X, proba, min_cell=5)).all()


@pytest.mark.parametrize("other", [10, 20, 30])
def test_residuals_do_not_disclose_the_count_of_a_code(other):
    sizes, pages = (60, 50), set()
    both = [whole(sizes, 0), whole(sizes, 1), first(sizes, 30, 20), first(sizes, other, 20)]
    for c in FEW:
        for shift in range(2):  # among those with another code or not
            rare = np.concatenate([np.roll(first((60,), 20), 25 * shift), first((50,), c)])
            pages.add(plain(page(sizes, [*both, rare])["quality"]["residuals"]))
    assert len(pages) == 1
    assert "c3" in pages.pop()


@pytest.mark.parametrize("shown", [True, False])
def test_residuals_do_not_disclose_numbers_of_small_groups(shown):
    sizes, pages = (60, 50, 10 * shown + 3), set()
    columns = [first(sizes, 30, 20, 0), first(sizes, 10, 40, 0)]
    pages.add(plain(page(sizes, columns)["quality"]["residuals"]))
    assert ("c1" in pages.pop()) is shown


def test_residuals_do_not_disclose_counts_of_classes():
    labels, pages = np.repeat([0, 1], [60, 50]), set()
    known = {
        "a": column_of([[30, 30], [10, 40]], ["no", "yes"]),
        "b": np.roll(column_of([[20, 20, 20], [20, 10, 20]], ["x", "y", "z"]), 7),
    }
    for c in FEW:
        columns = {
            "rare in a group": column_of([[20, 40], [c, 50 - c]], ["no", "yes"]),
            "rare": column_of([[30, 25, c, 5 - c], [20, 20, 5 - c, 5 + c]], ["p", "q", "r", "s"]),
        }
        columns = {name: values.astype(object) for name, values in {**columns, **known}.items()}
        summary = page_of(labels, columns, dict.fromkeys(columns, "category"), {})
        pages.add(plain(summary["quality"]["residuals"]))
    (shown,) = pages
    assert "a" in shown
    assert "rare" not in shown


def test_how_many_have_the_largest_of_three_values_does_not_follow_from_moments():
    labels = np.repeat([0, 1, 2], 80)
    children = column_of([[57, 20, 3], [48, 30, 2], [51, 25, 4]], [0.0, 1.0, 2.0])
    found = number_statistics(children, labels, 3, Disclosure(5), np.zeros(3, dtype=np.int64))
    assert found["groups"] == [None] * 3


def solutions(n, top):
    """All ways to divide n values among the levels from 0 to a top."""
    grids = np.meshgrid(*[np.arange(n + 1)] * top, indexing="ij")
    few = np.stack([grid.ravel() for grid in grids], axis=1)
    few = few[few.sum(axis=1) <= n]
    return np.column_stack([n - few.sum(axis=1), few])


@pytest.mark.parametrize(
    ("n", "top"),
    [(30, 3), *(pytest.param(*case, marks=pytest.mark.long) for case in ((40, 2), (22, 4)))],
)
def test_small_numbers_of_equal_values_do_not_follow_from_moments(n, top):
    rng, every, shown = np.random.default_rng(top), solutions(n, top), 0
    levels = np.arange(top + 1.0)
    sums, squares = every @ levels, every @ levels**2
    for _ in range(100):
        counts = rng.multinomial(n, rng.dirichlet(np.full(top + 1, 1.0)))
        values = np.repeat(levels, counts)
        found = number_statistics(
            values, np.zeros(n, dtype=np.intp), 1, Disclosure(5), np.zeros(1, dtype=np.int64)
        )
        if found["groups"][0] is None or not counts[[0, -1]].all():
            continue
        same = every[(sums == counts @ levels) & (squares == counts @ levels**2)]
        quartiles = [np.quantile(np.repeat(levels, one), [0.25, 0.5, 0.75]) for one in same]
        same = same[(np.array(quartiles) == quartiles[(same == counts).all(1).argmax()]).all(1)]
        for level in np.flatnonzero((counts > 0) & (counts < 5)):
            shown += 1
            assert len(set(same[:, level].tolist())) > 1
    assert shown > 10 or top == 2
