"""Disclosure control: no small count is shown, and none can be derived."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree import readers
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.report.disclosure import COUNTS, HIDDEN, MISSING, SMALL, TOTAL, Disclosure
from tests.wording import message

M = 3
RULES = Disclosure(M)


def tables(rows, columns, largest):
    cells = st.lists(st.integers(0, largest), min_size=rows * columns, max_size=rows * columns)
    return cells.map(lambda values: np.array(values).reshape(rows, columns))


def worlds(shown, totals, sums, largest):
    """Return all tables that a reader cannot distinguish from the published one, literally."""
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
def test_a_small_count_cannot_be_derived_from_the_others_and_the_total(counts):
    published = RULES.suppress(counts)
    small = (counts > 0) & (counts < M)
    assert (published.counts[~small] == counts[~small]).all()
    assert (published.counts[small] == SMALL).all()
    if published.totals[0] == SMALL:
        return  # a small total is known to be small, and no more
    possible = list(worlds(published.counts, published.totals, None, 5))
    for cell in zip(*np.nonzero(small), strict=True):
        assert {int(table[cell]) for table in possible} == set(range(1, M))


@settings(max_examples=60, deadline=None)
@given(tables(2, 3, 4))
def test_a_small_class_cannot_be_derived_from_the_size_of_its_group(counts):
    published = RULES.suppress_classes(counts)
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
def test_a_small_group_is_hidden_with_others(sizes, min_cell):
    sizes = np.array(sizes)
    small = (sizes > 0) & (sizes < min_cell)
    try:
        shown, estimates = Disclosure(min_cell).suppress_sizes(sizes)
    except InvalidDataError:
        assert small.any()
        assert sizes.sum() <= min_cell * len(sizes)
        return
    assert (sizes >= min_cell).any() or not small.any() or small.sum() > 2
    assert estimates.sum() == pytest.approx(sizes.sum())
    assert (shown[small] == SMALL).all()
    assert small.any() or not (shown == HIDDEN).any()
    assert (shown == HIDDEN).any() or small.sum() != 1
    seen = shown >= 0
    assert (shown[seen] == sizes[seen]).all()
    assert (estimates[seen] == sizes[seen]).all()


@settings(max_examples=100, deadline=None)
@given(tables(4, 3, 12), st.integers(1, 6))
def test_estimates_use_what_is_published_and_lie_where_the_truth_may(counts, min_cell):
    rules = Disclosure(min_cell)
    published = rules.suppress(counts)
    values = rules.estimate(published)
    seen = published.counts >= 0
    assert (values[seen] == counts[seen]).all()
    assert (values[~seen] > 0).all()
    assert (values[~seen] < min_cell).all()
    known = published.totals >= 0
    assert values.sum(axis=0)[known] == pytest.approx(published.totals[known])


def test_nothing_is_hidden_where_nothing_is_confidential():
    counts = np.array([[1, 2], [3, 0]])
    rules = Disclosure(1)
    for suppress in (rules.suppress, rules.suppress_classes):
        published = suppress(counts)
        assert (published.counts == counts).all()
        assert published.totals.tolist() == [4, 2]


def test_two_equal_classes_of_a_tiny_group_are_not_disclosed():
    # Both are 2 or 1 and 3: were one marked as small and one not, 2 + 2 would be certain.
    published = RULES.suppress_classes(np.array([[2, 2], [9, 9]]))
    assert published.counts.tolist() == [[HIDDEN, HIDDEN], [9, 9]]
    assert published.totals.tolist() == [HIDDEN, HIDDEN]


@pytest.mark.parametrize("min_cell", [4, 5])
def test_how_yes_is_hidden_discloses_no_small_count(min_cell):
    # All groups of a known size that a reader who knows the rules cannot distinguish.
    rules, worlds = Disclosure(min_cell), defaultdict(list)
    for row in product(range(16), repeat=3):
        if min_cell <= sum(row) <= 15:
            found = rules.suppress_classes(np.array([row]))  # "no" is not shown
            worlds[sum(row), *found.counts[0, 1:].tolist(), *found.totals[1:].tolist()].append(row)
    for rows in worlds.values():
        table = np.array(rows)
        same = (table == table[0]).all(axis=0)
        assert not (same & (table[0] > 0) & (table[0] < min_cell)).any(), rows


def test_a_total_is_hidden_that_discloses_few_without_an_outcome():
    # One group of two has all records with "no".
    found = Disclosure(5).suppress_classes(np.array([[3, 0, 0], [0, 50, 0], [0, 47, 0]]))
    assert found.counts[:, 1].tolist() == [HIDDEN, 50, HIDDEN]
    assert found.totals[1:].tolist() == [HIDDEN, 0]


def test_an_accuracy_is_exact_if_nothing_is_suppressed():
    def permits(counts, missing, values):
        classes = [{"counts": counts, "total": sum(counts)}]
        outcome = {"missing": missing, "classes": classes, "binary": True}
        return Disclosure(5).permits_accuracy([outcome], values)

    assert permits([9, 6], [0, 0], ["a"] * 9 + ["b"] * 6 + [""])
    assert not permits([9, SMALL], [0, 0], ["a"] * 9 + ["b"] * 6)
    assert not permits([9, 6], [0, SMALL], ["a"] * 9 + ["b"] * 6)
    assert not permits([9, 6], [0, 0], ["a"] * 11 + ["b"] * 4)
    assert not permits([9, 6], [0, 0], ["a"] * 5 + ["b"] * 5 + ["c"] * 5)  # two were merged
    assert Disclosure(1).permits_accuracy([], ["a", "b"])


def codes(notes):
    return [note.code for note in notes]


def test_notes_of_few_records_are_rounded():
    few = [
        Message("[a]", n_records=4),
        Message("[b]", n_rows=1),
        Message("[c]", n_patients=2, n_codes=9),
        Message("[d]", reason=Message("[inner]", n_records=3)),
        Message("[e]", n_records={"401": 7, "402": 1}),
        Message("[e]", n_records=896, n_all=900),
        Message("[i]", n_rows=903, n_records=900),
    ]
    kept = [
        Message("[f]", n_records=5, n_all=900),
        Message("[g]", n_records=0),
        Message("[h]", n_codes=3, encoding="UTF-8", n_repaired=2.5, strict=True),
    ]
    found = Disclosure(5).notes([*few, *kept], [900])
    assert codes(found) == [*codes(few), *codes(kept), "notes_rounded"]
    assert found[7:-1] == kept
    assert found[-1].values["n_notes"] == len(few)
    for note, before in zip(found, few, strict=False):
        exact = [note.values[name] for name in before.values if name.startswith("n_r")]
        assert not [value for value in exact if isinstance(value, int)]
    assert Disclosure(1).notes([*few, *kept], [900]) == [*few, *kept]


@pytest.mark.parametrize("n_left_out", [0, 3, 5])
def test_notes_of_the_total_are_rounded_if_few_records_were_left_out(n_left_out):
    notes = [
        Message("[joined]", n_rows=1834, n_records=900),
        Message("[of]", part=Message("[total]", total=900)),
        Message("[read]"),
    ]
    found = Disclosure(5).notes(notes, [900 - n_left_out])
    few = n_left_out == 3
    assert codes(found) == ["joined", "of", "read"] + ["notes_rounded"] * few
    assert (found[:3] == notes) != few
    if few:
        assert {**found[0].values} == {"n_rows": "about 1,800", "n_records": "about 900"}
        assert found[1].values["part"].values["total"] == "about 900"


def test_what_a_rounded_note_says():
    seen = message("shared_patients", n_records=96921, n_patients=68188, column="nr", parameter="x")
    one = message("records_without_codes", n_records=1, n_all=96921)
    cell = {"column": "hb", "value": "Eve", "origin": message("at_row", row=7)}
    text = message("cells_not_numbers", n_missing=1, **cell)
    found = list(map(str, Disclosure(5).notes([seen, one, text], [96920])))
    assert "about 97,000 records belong to about 68,000 patients" in found[0]
    assert "x='nr'" in found[0]
    assert found[1].startswith("<5 of about 97,000 records have none of the codes")
    assert "'hb'" in found[2]
    assert not {"Eve", "7"} & set(re.findall(r"\w+", found[2]))


@pytest.mark.parametrize("n", range(880, 921))
def test_a_rounded_count_does_not_tell_a_small_difference(n):
    """All totals from which the number of records differs by 1 to 4 are the same in the note."""
    for difference in (-4, -1, 1, 2, 3, 4):
        note = Message("[joined]", n_rows=5000, n_records=n + difference)
        expected = Message("[joined]", n_rows=5000, n_records=n + 1)
        assert Disclosure(5).notes([note], [n]) == Disclosure(5).notes([expected], [n])


def test_a_note_is_rounded_if_another_count_differs_little_from_its_own():
    empty, few = Message("[a]", n_records=40, n_all=900), Message("[b]", n_records=43, n_all=900)
    assert codes(Disclosure(5).notes([empty, few], [900])) == ["a", "b", "notes_rounded"]
    assert codes(Disclosure(3).notes([empty, few], [900])) == ["a", "b"]
    # 58 records of the page have no outcome; 3 of those left out have none either.
    missing = Message("[c]", n_records=61, n_all=900)
    assert codes(Disclosure(5).notes([missing], [850, 50, 58])) == ["c", "notes_rounded"]
    assert codes(Disclosure(5).notes([missing], [850, 50, 61])) == ["c"]
    # Entries and codes are no records.
    entries = Message("[d]", n_entries=42, n_codes=41)
    assert codes(Disclosure(5).notes([empty, entries], [900])) == ["a", "d"]


def test_numbers_of_missing_values_are_left_out():
    """They are sums over groups, in which they may be suppressed."""
    rules, found = Disclosure(5), set()
    for n in range(1, 15):
        (note, _) = rules.notes([Message("[lacks]", outcome="age", n_missing=n, n_all=900)], [900])
        found.add(tuple(map(str, note.values.values())))
    assert found == {("age", "some", "900")}
    gaps = Message("[gaps]", n_missing=8, n_columns=2, column="age", n_missing_first=123)
    assert {**rules.notes([gaps], [900])[0].values} == {
        "n_missing": "some",
        "n_columns": 2,
        "column": "age",
        "n_missing_first": "*",
    }
    assert rules.notes([Message("[lacks]", n_missing=0)], [900]) == [
        Message("[lacks]", n_missing=0)
    ]
    assert Disclosure(1).notes([gaps], [900]) == [gaps]


# Values that count no records, but columns, codes and sheets.
HARMLESS = {"n_codes", "n_columns", "n_kept", "n_sheets"}


def test_every_number_in_the_notes_of_a_reader_is_a_count_or_harmless():
    found = set()
    room = Path(readers.__file__).parent
    for path in (*room.glob("records/*.py"), *room.glob("tables/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Message":
                found |= {str(keyword.arg) for keyword in node.keywords}
    numbers = {name for name in found if name.startswith("n_")}
    assert numbers - HARMLESS - {*COUNTS, *MISSING, TOTAL} == set()
