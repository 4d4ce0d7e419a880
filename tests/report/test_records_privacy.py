"""What a page of records may tell: no small count, not by itself and not as a rest."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.exceptions import InvalidDataError
from momentree.report.records_privacy import (
    HIDDEN,
    SMALL,
    estimated,
    hide_parts,
    hide_sizes,
    hide_small,
)

M = 3


def tables(rows, columns, largest):
    cells = st.lists(st.integers(0, largest), min_size=rows * columns, max_size=rows * columns)
    return cells.map(lambda values: np.array(values).reshape(rows, columns))


def worlds(shown, totals, sums, largest):
    """Return all tables that a reader cannot tell apart from the published one, literally."""
    rows = []
    for i, row in enumerate(shown.tolist()):
        choices = [
            range(1, M) if cell == SMALL else range(largest + 1) if cell == HIDDEN else [cell]
            for cell in row
        ]
        rows.append([r for r in product(*choices) if sums is None or sum(r) == sums[i]])
    for chosen in product(*rows):
        table = np.array(chosen)
        columns = table.sum(axis=0)
        known = totals >= 0
        few = totals == SMALL
        if (columns[known] == totals[known]).all() and (
            (columns[few] > 0) & (columns[few] < M)
        ).all():
            yield table


@settings(max_examples=100, deadline=None)
@given(tables(3, 1, 5))
def test_a_small_count_cannot_be_told_from_the_others_and_the_total(counts):
    published = hide_small(counts, M)
    small = (counts > 0) & (counts < M)
    assert (published.counts[~small] == counts[~small]).all()
    assert (published.counts[small] == SMALL).all()
    if published.totals[0] == SMALL:
        return  # of a total that is small nothing but that is known
    possible = list(worlds(published.counts, published.totals, None, 5))
    for cell in zip(*np.nonzero(small), strict=True):
        assert {int(table[cell]) for table in possible} == set(range(1, M))


@settings(max_examples=60, deadline=None)
@given(tables(2, 3, 4))
def test_a_small_class_cannot_be_told_from_the_size_of_its_group(counts):
    published = hide_parts(counts, M)
    small = (counts > 0) & (counts < M)
    assert (published.counts[small] < 0).all()
    # A group that is small itself shows no size.
    sums = counts.sum(axis=1)
    sums[sums < M] = 0
    if (sums == 0).any():
        return
    possible = list(worlds(published.counts, published.totals, sums, 8))
    assert any((table == counts).all() for table in possible)
    for cell in zip(*np.nonzero(small), strict=True):
        if published.totals[cell[1]] != SMALL:
            assert len({int(table[cell]) for table in possible}) > 1


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=2, max_size=6), st.integers(1, 8))
def test_a_small_group_hides_behind_the_smallest_other(sizes, min_cell):
    sizes = np.array(sizes)
    small = (sizes > 0) & (sizes < min_cell)
    if small.any() and not (sizes >= min_cell).any():
        with pytest.raises(InvalidDataError, match="fewer groups"):
            hide_sizes(sizes, min_cell)
        return
    shown, about = hide_sizes(sizes, min_cell)
    assert about.sum() == pytest.approx(sizes.sum())
    assert (shown[small] == SMALL).all()
    assert (shown == HIDDEN).sum() == small.any()
    seen = shown >= 0
    assert (shown[seen] == sizes[seen]).all()
    assert (about[seen] == sizes[seen]).all()
    if small.any():
        assert sizes[shown == HIDDEN] == sizes[sizes >= min_cell].min()


@settings(max_examples=100, deadline=None)
@given(tables(4, 3, 12), st.integers(1, 6))
def test_estimates_use_what_is_published_and_lie_where_the_truth_may(counts, min_cell):
    published = hide_small(counts, min_cell)
    values = estimated(published, min_cell)
    seen = published.counts >= 0
    assert (values[seen] == counts[seen]).all()
    assert (values[~seen] > 0).all()
    assert (values[~seen] < min_cell).all()
    told = published.totals >= 0
    assert values.sum(axis=0)[told] == pytest.approx(published.totals[told])


def test_nothing_is_hidden_where_nothing_is_confidential():
    counts = np.array([[1, 2], [3, 0]])
    for hide in (hide_small, hide_parts):
        published = hide(counts, 1)
        assert (published.counts == counts).all()
        assert published.totals.tolist() == [4, 2]


def test_two_equal_classes_of_a_tiny_group_are_not_given_away():
    # Both are 2 or 1 and 3: were one marked as small and one not, 2 + 2 would be certain.
    published = hide_parts(np.array([[2, 2], [9, 9]]), 3)
    assert published.counts.tolist() == [[HIDDEN, HIDDEN], [9, 9]]
    assert published.totals.tolist() == [HIDDEN, HIDDEN]
