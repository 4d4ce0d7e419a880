"""No suppressed number follows from all that is published, for a reader who knows the rules."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations, product

import numpy as np
import pytest

from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.metrics.outcomes import OTHER
from momentree.report.disclosure import HIDDEN, SMALL, Disclosure
from momentree.report.statistics import number_statistics

from .disclosure_attack import (
    column_of,
    descending,
    disclosed,
    numbers_of_values,
    of_same_sums,
    others_without,
    page_of,
    page_of_codes,
    plain,
    published_codes,
    rows_of,
    rows_up_to,
    smallest_other,
)


def seeds(few, all_of_them):
    """The first seeds, and those for which there is time only with the long tests."""
    return [
        *range(few),
        *(pytest.param(s, marks=pytest.mark.long) for s in range(few, all_of_them)),
    ]


NEAR_TIES = np.array([[48, 48, 4, 0], [19, 25, 6, 1], [60, 30, 4, 4], [30, 40, 20, 0]])


def classes(min_cell):
    def view(table):
        published = Disclosure(min_cell).suppress_classes(table)
        return published.counts, published.totals

    return view


def joined(table, min_cell):
    names = [*"ABCDEFG"[: table.shape[1] - 1]]
    return Disclosure(min_cell).join_rare(table, names, OTHER)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ([48, 48, 4], [(0, 0), (0, 2)]),  # the hidden one is at most 48
        ([19, 25, 26, 22, 5, 1], [(0, 4), (0, 5)]),  # the hidden one is at least 5
        ([60, 30, 4], []),
    ],
)
def test_the_attack_breaks_the_rule_that_hides_the_smallest_other(row, found):
    table = np.array([row])
    assert disclosed(table, lambda table: (smallest_other(table, 5),)) == found
    assert disclosed(table, classes(5)) == []


@pytest.mark.parametrize("seed", seeds(1, 6))
def test_no_count_of_classes_is_disclosed(seed):
    rng, tested = np.random.default_rng(seed), 0
    for _ in range(60):
        k, c = rng.integers(1, 5), rng.integers(2, 6)
        min_cell = int(rng.integers(3, 7))
        table = rng.poisson(rng.gamma(0.5, 20.0, (k, c)))
        table = table[table.sum(axis=1) >= min_cell]
        if not len(table):
            continue
        table, _ = joined(table, min_cell)

        def view(table, min_cell=min_cell):  # all classes that are shown may be named
            yield from classes(min_cell)(table)
            yield len(joined(table, min_cell)[1])

        tested += int((next(view(table)) < 0).sum())
        assert disclosed(table, view) == [], (min_cell, table)
    assert tested > 100


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_no_count_of_quarters_of_numbers_is_disclosed(seed):
    """If no number occurs twice, a reader knows how many records are in each quarter."""

    def view(table):
        published = Disclosure(5).suppress_classes(table).hide_classes()
        return published.counts, published.totals

    rng, tested = np.random.default_rng(seed), 0
    for _ in range(30):
        k, n = rng.integers(2, 5), 4 * rng.integers(10, 30)
        quarters = rng.permuted(np.repeat(np.arange(4), n // 4))
        groups = np.minimum(rng.integers(0, k, n), rng.integers(0, k, n))
        table = np.zeros((k, 5), dtype=int)
        np.add.at(table, (groups, quarters), 1)
        if (table.sum(axis=1) >= 5).all():
            tested += int((view(table)[0] < 0).sum())
            assert disclosed(table, view, others=of_same_sums) == [], table
    assert tested > 100


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_no_rate_of_yes_or_no_is_disclosed(seed):
    def view(table):  # "no", the first column, is never shown
        counts, totals = classes(5)(table)
        marks = counts.copy()
        marks[:, 0] = 0
        return marks, totals[1:]

    rng = np.random.default_rng(seed)
    for _ in range(60):
        table = rng.poisson(rng.gamma(0.5, 20.0, (rng.integers(1, 5), 3)))
        table = table[table.sum(axis=1) >= 5]
        assert not len(table) or disclosed(table, view, secret=[0]) == [], table


@pytest.mark.parametrize(
    ("min_cell", "c", "most"), [(3, 3, 13), (4, 3, 16), (5, 2, 30), (3, 4, 11)]
)
def test_a_count_marked_as_small_can_have_any_small_value(min_cell, c, most):
    worlds = defaultdict(list)
    for row in product(range(most + 1), repeat=c):
        if min_cell <= sum(row) <= most:
            counts, totals = classes(min_cell)(np.array([row, [50] * c]))
            worlds[sum(row), *counts[0], *totals].append(row)
    for view, rows in worlds.items():
        for mark, values in zip(view[1:], zip(*rows, strict=True), strict=False):
            if mark == SMALL:
                assert set(values) == set(range(1, min_cell)), (view, rows)
            if mark == HIDDEN:
                assert len(set(values)) > 1, (view, rows)


@pytest.mark.parametrize(
    ("min_cell", "most", "others"),
    [
        (5, 14, [[0, 20, 0]]),  # 6 of two classes, one of them only there: 5 and 1
        (5, 14, [[0, 0, 20]]),
        (5, 14, [[20, 20, 0]]),
        pytest.param(
            *(3, 8, [[0, 0, 0, 0, 30, 0, 0], [0, 0, 0, 0, 0, 4, 0]]), marks=pytest.mark.long
        ),
        (3, 8, [[0, 0, 0, 0, 0, 30]]),
    ],
)
def test_no_name_of_a_class_discloses_a_count(min_cell, most, others):
    """A reader knows which classes are named, but not which were merged."""
    worlds, tested = defaultdict(list), 0
    for n in range(min_cell, most + 1):
        for row in rows_of(n, len(others[0])):
            table, names = joined(np.array([row, *others]), min_cell)
            if names:
                marks, totals = classes(min_cell)(table)
                view = (n, *names), tuple(marks.ravel()), tuple(totals[:-1])
                worlds[view].append(table[0])
    for (names, marks, _), rows in worlds.items():
        for mark, values in zip(marks, np.transpose(rows), strict=False):
            tested += mark < 0
            assert mark >= 0 or len(set(values)) > 1, (names, marks, rows)
    assert tested > 15


@pytest.mark.parametrize("min_cell", [3, 4, 5])
def test_no_count_of_codes_is_disclosed(min_cell):
    worlds, rules = defaultdict(list), Disclosure(min_cell)
    for column in product(range(min_cell + 2), repeat=4):
        published = rules.suppress(np.array(column)[:, None])
        worlds[*published.counts[:, 0], *published.totals].append(column)
    for view, columns in worlds.items():
        if view[-1] == SMALL:
            continue  # codes of few records are not named
        for mark, values in zip(view, zip(*columns, strict=True), strict=False):
            assert mark >= 0 or len(set(values)) > 1, (view, columns)


@pytest.mark.parametrize(
    ("min_cell", "k", "most", "descend"),
    [(3, 3, 24, False), (5, 3, 24, False), (3, 3, 24, True), (3, 5, 12, True), (5, 4, 22, True)],
)
def test_no_size_of_a_group_is_disclosed(min_cell, k, most, descend):
    """Groups may be numbered by size, the largest first."""
    worlds = defaultdict(list)
    for sizes in rows_up_to(most, k) if not descend else descending(most, k):
        try:
            shown, _ = Disclosure(min_cell).suppress_sizes(np.array(sizes))
        except InvalidDataError:
            continue
        worlds[sum(sizes), *shown].append(sizes)
    for (total, *marks), groups in worlds.items():
        for mark, values in zip(marks, zip(*groups, strict=True), strict=True):
            assert mark >= 0 or len(set(values)) > 1, (total, marks, groups)


@pytest.mark.parametrize("other", [0, pytest.param(9, marks=pytest.mark.long)])
def test_no_count_of_codes_with_missing_values_is_disclosed(other):
    """Records with a code, and those of which it is not known, are at most the whole group."""
    worlds = defaultdict(list)
    for size in (5, 6, 9):
        labels = np.repeat([0, 1], [size, 60])
        for row in rows_of(size, 3):
            X = np.column_stack([labels == 0, labels == 1, np.zeros(len(labels))])
            X[:, 2] = column_of(np.array([row, [60 - 30 - other, 30, other]]), [0, 1, np.nan])
            published = published_codes(labels, X)
            lacking = published.missing.counts[0, 2] if published.missing else 0
            worlds[size, int(published.counts.counts[0, 2]), int(lacking)].append(row[1:])
    for (_, *marks), cells in worlds.items():
        for mark, values in zip(marks, zip(*cells, strict=True), strict=True):
            assert mark >= 0 or len(set(values)) > 1, (marks, cells)


@pytest.mark.parametrize(("min_cell", "k"), [(3, 2), (3, 5), (5, 2), (5, 4)])
def test_no_number_of_missing_values_follows_from_a_note(min_cell, k):
    worlds, rules = defaultdict(list), Disclosure(min_cell)
    for row in descending(k * (min_cell + 1), k):
        if row[0] <= min_cell + 1:
            table = np.column_stack([np.full(k, 60), row])
            note = Message("[outcome_missing]", outcome="age", n_missing=sum(row), n_all=1_000)
            published = rules.suppress_classes(table)
            said = tuple(map(str, rules.notes([note], [60 * k])))
            marks, total = published.counts[:, 1], int(published.totals[1])
            worlds[said, total, *marks].extend(set(permutations(row)))
    for (_, _, *marks), rows in worlds.items():
        kept = [row for row in rows if ((np.array(marks) < 0) | (np.array(marks) == row)).all()]
        for mark, values in zip(marks, zip(*kept, strict=True), strict=True):
            assert mark >= 0 or len(set(values)) > 1, (marks, kept)


def test_counts_of_a_group_do_not_disclose_its_hidden_size():
    rules = Disclosure(5)
    for small, large in product(range(1, 5), range(15, 40)):
        sizes, estimates = rules.suppress_sizes(np.array([large, small]))
        everyone = rules.round_counts(np.array([[large], [small]]), sizes, estimates)
        total = large + small
        others = [
            rules.round_counts(np.array([[total - n], [n]]), sizes, estimates)[0, 0]
            for n in range(1, 5)
        ]
        assert set(others) == {everyone[0, 0]}


@pytest.mark.parametrize("n", [12, 40, 200])
@pytest.mark.parametrize("common", [0, 1])
def test_numbers_of_codes_do_not_disclose_a_count(n, common):
    """Records differ in their number of codes by one rare code alone, in one group."""
    labels, pages = np.repeat([0, 1], [n, 60]), set()
    for few in range(1, 5):
        X = np.column_stack([labels == 0, labels == 1, np.zeros(n + 60)])
        X[:few, 2] = 1
        X[n : n + 30, 2] = common
        X[n : n + 8, 2] = 1
        pages.add(plain(page_of_codes(labels.tolist(), X, ["A", "B", "C"])))
    assert len(pages) == 1


def whole_numbers(n_missing):
    """Return whole numbers in four groups of 100, and labels."""
    rng = np.random.default_rng(7)
    labels = np.repeat(np.arange(4), 100)
    values = np.rint(rng.normal(np.array([40, 59, 69, 51])[labels], 12.0))
    for group, n in enumerate(n_missing):
        values[100 * group : 100 * group + n] = np.nan
    return labels, values


def test_the_attack_breaks_means_with_many_digits():
    labels, values = whole_numbers([2, 1, 3, 4])
    exact = []
    for group in range(4):
        inside = values[(labels == group) & np.isfinite(values)]
        mean, sd = round(inside.mean(), 3), round(inside.std(ddof=1), 3)
        exact.append(numbers_of_values(mean, sd, 1e-3, 1e-3, range(96, 100)))
    assert exact == [[98], [99], [97], [96, 98]]


@pytest.mark.parametrize(
    ("n", "spread"),
    [
        (25, 0.8),
        (100, 20.0),
        *(
            pytest.param(n, spread, marks=pytest.mark.long)
            for n in (12, 100, 1_000)
            for spread in (0.8, 3.0, 20.0)
            if (n, spread) != (100, 20.0)
        ),
        pytest.param(25, 3.0, marks=pytest.mark.long),
        pytest.param(25, 20.0, marks=pytest.mark.long),
    ],
)
def test_means_do_not_disclose_how_many_values_are_missing(n, spread):
    rng = np.random.default_rng(n)
    for _ in range(5):
        labels = np.repeat([0, 1], n)
        values = np.rint(rng.normal(50.0, spread, 2 * n))
        values[: rng.integers(1, 5)] = np.nan
        found = number_statistics(values, labels, 2, Disclosure(5), np.array([SMALL, 0]))
        entry = found["groups"][0]
        if entry is None:
            continue
        step = 10.0 ** -entry["digits"]
        fits = numbers_of_values(entry["mean"], entry["sd"], step, step, range(n - 4, n))
        assert fits == [*range(n - 4, n)]
        # The values of all records are computed from those of the groups.
        assert found["all"]["estimated"]
        assert found["all"]["mean"] == pytest.approx(np.nanmean(values), abs=1.0 + spread / 2)


@pytest.mark.long
def test_no_missing_number_follows_from_the_page():
    """For each suppressed number, other data have exactly the same page."""
    labels, age = whole_numbers([2, 1, 3, 4])
    weight = np.random.default_rng(1).normal(70.0, 9.0, 400).round(1)

    def page(values):
        columns = {"age": values, "weight": weight}
        kinds = dict.fromkeys(columns, "number")
        return page_of(labels, columns, kinds, {"years": values})

    published = page(age)
    shown = plain(published)

    (shown_age,) = (one for one in published["features"] if one["name"] == "age")
    near = shown_age["numbers"]["groups"]
    assert shown_age["missing"] == [SMALL] * 4

    def distance(values, group):  # of the numbers of the group, faster than of the page
        inside = values[(labels == group) & np.isfinite(values)]
        mean, sd = np.round([inside.mean(), inside.std(ddof=1)], near[group]["digits"])
        tail = 5 / len(inside)  # five records lie beyond the whiskers
        ranks = [0.25, 0.5, 0.75, tail, 1.0 - tail]
        found = [mean, sd, *np.quantile(inside, ranks, method="inverted_cdf")]
        wanted = [near[group][key] for key in ("mean", "sd", "low", "median", "high")]
        wanted += near[group]["tails"]
        return round(sum(abs(a - b) for a, b in zip(found, wanted, strict=True)), 6)

    for group in range(4):
        others = others_without(labels, age, group, lambda v, group=group: distance(v, group))
        assert any(plain(page(other)) == shown for other in others), group


def tables_of_sex(seed):
    """Return a table of F, M, X and missing in each group, of which each may be named."""
    rng = np.random.default_rng(seed)
    while True:
        table = rng.poisson(rng.gamma(0.7, 18.0, (rng.integers(2, 5), 4)))
        named = len(joined(table, 5)[1]) == 3
        if named and (table.sum(axis=1) >= 5).all() and (classes(5)(table)[0] < 0).sum() > 4:
            return table


@pytest.mark.parametrize(
    "table",
    [
        NEAR_TIES,
        *(pytest.param(tables_of_sex(seed), marks=pytest.mark.long) for seed in (0, 1, 3)),
    ],
    ids=range(4),
)
def test_no_category_follows_from_the_page(table):
    labels = np.repeat(np.arange(len(table)), table.sum(axis=1))
    rng = np.random.default_rng(2)
    age = rng.normal(np.array([40, 59, 69, 51])[labels], 12.0).round()

    def view(table):
        sex = column_of(table, ["F", "M", "X", ""])
        columns = {"age": age, "sex": sex, "weight": np.abs(age - 30.0)}
        kinds = {"age": "number", "sex": "category", "weight": "number"}
        summary = page_of(labels, columns, kinds, {"gender": sex})
        (one,) = summary["outcomes"]
        marks = [*(entry["counts"] for entry in one["classes"]), one["missing"]]
        yield np.array(marks).T
        yield plain(summary)

    assert (next(view(table)) < 0).sum() > 4
    assert disclosed(table, view) == []
