"""An attack on disclosure control: enumerate the data that fit everything published.

The attacker knows the algorithm. Data are possible if the same algorithm publishes exactly the same
of them. A suppressed number is disclosed if it is the same in all possible data.
"""

from __future__ import annotations

import json
from itertools import combinations, combinations_with_replacement, product
from math import comb

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.base import BaseEstimator

from momentree.datasets import MeasurementCoder, Measurements, RecordCoder, Records
from momentree.report import summarize_measurements, summarize_records
from momentree.report.disclosure import HIDDEN, SMALL, Disclosure
from momentree.report.groups import Groups
from momentree.report.records import PublishedTable

MOST_ROWS = 3_000
"""Rows that are enumerated; of more, those that differ little."""


def disclosed(table, view, *, secret=None, others=None):
    """Return the suppressed counts of a table (k, c) that follow from ``view(table)``.

    ``view`` returns or yields what is published of a table: marks or counts (k, c), and anything
    else. Known are also the sums of rows. `secret` are columns that are never shown, but can be
    hidden.
    ``others(table, free, row, at)`` yields tables to try.
    """
    published = list(view(table))
    marks = np.asarray(published[0])
    free = marks < 0
    free[:, list(secret or ())] = True

    def fits(other):
        return all(np.array_equal(a, b) for a, b in zip(view(other), published, strict=True))

    found = []
    for row, at in zip(*np.nonzero(marks < 0), strict=True):
        if not any(fits(other) for other in (others or _others)(table, free, row, at)):
            found.append((int(row), int(at)))
    return found


def _others(table, free, row, at):
    """Yield tables in which a cell differs, with the same sums of rows: other rows, or two."""
    for values in _rows(table[row], np.flatnonzero(free[row])):
        if values[at] != table[row, at]:
            other = table.copy()
            other[row] = values
            yield other
    steps = (-1, 1, -2, 2)
    for second, shared in zip(*np.nonzero(free & free[row]), strict=True):
        columns, others = np.flatnonzero(free[row]), np.flatnonzero(free[second])
        for a, b, x, y in product(columns if shared == at else [at], others, steps, steps):
            other = table.copy()
            other[row, shared] += x
            other[row, a] -= x
            other[second, shared] += y
            other[second, b] -= y
            if second != row and (other >= 0).all() and other[row, at] != table[row, at]:
                yield other


def twins(table, view, *, secret=()):
    """Return tables with the same view, of which one differs in each suppressed count."""
    marks = np.asarray(view(table)[0])
    free = marks < 0
    left, found = {*zip(*np.nonzero(free), strict=True)}, []
    free[:, list(secret)] = True
    while left:
        twin = table.copy()
        for row in sorted({row for row, _ in left}):
            at = min(at for first, at in left if first == row)
            twin = next(
                (
                    other
                    for other in _others(twin, free, row, at)
                    if other[row, at] != table[row, at]
                    and all(map(np.array_equal, view(other), view(table)))
                ),
                twin,
            )
        changed = {*zip(*np.nonzero(twin != table), strict=True)}
        assert left & changed, (table, left)
        left -= changed
        found.append(twin)
    return found


def of_same_sums(table, free, row, at):
    """Yield tables with the same sums of rows and of columns in which a cell differs by one."""
    for second, column, step in product(*map(range, table.shape), (-1, 1)):
        if second != row and column != at and free[np.ix_([row, second], [at, column])].all():
            other = table.copy()
            other[[row, second], [at, column]] += step
            other[[row, second], [column, at]] -= step
            if (other >= 0).all():
                yield other


def _rows(row, hidden):
    """Yield rows with the same sum that differ where it is hidden, all of them if not too many."""
    left = int(row[hidden].sum())
    if len(hidden) and comb(left + len(hidden) - 1, len(hidden) - 1) <= MOST_ROWS:
        found = []
        for values in rows_of(left, len(hidden)):
            other = row.copy()
            other[hidden] = values
            found.append(other)
        yield from sorted(found, key=lambda other: np.abs(other - row).sum())
        return
    steps = (-4, -3, -2, -1, 1, 2, 3, 4)
    for a, b, c in product(hidden, repeat=3):
        for x, y in product(steps, repeat=2) if len({a, b, c}) == 3 else ():
            other = row.copy()
            other[[a, b, c]] += [x, y, -x - y]
            if (other >= 0).all():
                yield other
    for a, b in product(hidden, repeat=2):
        for x in steps if a != b else ():
            other = row.copy()
            other[[a, b]] += [x, -x]
            if (other >= 0).all():
                yield other


def rows_of(n, c):
    """Yield all rows of c counts with a sum."""
    for bars in combinations(range(n + c - 1), c - 1):
        yield np.diff([-1, *bars, n + c - 1]) - 1


def rows_up_to(most, c):
    """Yield all rows of c counts with a sum of at most `most`."""
    for row in rows_of(most, c + 1):
        yield tuple(row[:c].tolist())


def descending(most, k):
    """Yield all rows of k counts up to `most` that do not increase."""
    for row in combinations_with_replacement(range(most, -1, -1), k):
        if sum(row) <= most:
            yield row


def smallest_other(counts, m):
    """Hide the smallest other count beside a small one: a rule that discloses some of them."""
    small = (counts > 0) & (counts < m)
    marks = np.where(small, SMALL, counts)
    for row, values, few in zip(marks, counts, small, strict=True):
        if few.any():
            large = np.flatnonzero(values >= m)
            row[large[np.argmin(values[large])]] = HIDDEN
    return marks


class Grouped(BaseEstimator):
    """A flat model with given groups, of codes or of measurements."""

    def __init__(self, labels=None, vocabulary=()):
        self.labels = labels
        self.vocabulary = vocabulary

    @property
    def vocabulary_(self):
        return self.vocabulary

    @property
    def labels_(self):
        return np.asarray(self.labels)

    @property
    def weights_(self):
        return np.bincount(self.labels_) / len(self.labels_)

    def predict_proba(self, X):
        return np.eye(len(self.weights_))[self.labels_]


def page_of(labels, columns, kinds, outcomes, min_cell=5):
    """Return the whole summary of a page of measurements."""
    n = len(labels)
    categories = {
        name: sorted({*columns[name].tolist()} - {""})
        for name, kind in kinds.items()
        if kind == "category"
    }
    coder = MeasurementCoder(kinds, categories)
    words = {name: ("no", "yes") for name, kind in kinds.items() if kind == "yes_no"}
    ids, enough = [str(i) for i in range(n)], np.ones(n, dtype=bool)
    table = Measurements(columns, coder, ids, enough, words=words, outcomes=outcomes)
    model = Grouped(list(map(int, labels)))
    proba = model.predict_proba(None)
    summary = summarize_measurements(model, table, proba=proba, min_cell=min_cell)
    return {**summary, "made": None}


def page_of_codes(labels, X, codes, min_cell=5):
    """Return the whole summary of a page of records with codes."""
    ids, enough = [str(i) for i in range(len(X))], np.ones(len(X), dtype=bool)
    matrix, coder = sp.csr_array(X.astype(np.float64)), RecordCoder(codes)
    records = Records(matrix, np.array(codes), {}, ids, enough, coder)
    summary = summarize_records(Grouped(labels, codes), records, min_cell=min_cell)
    return {**summary, "made": None}


def published_codes(labels, X, min_cell=5):
    """Return the published counts of codes in groups, from which a page is made."""
    groups = Groups.of(Grouped(labels.tolist()), np.eye(2)[labels], Disclosure(min_cell))
    return PublishedTable.of(X, groups)


def column_of(table, values):
    """Return a column whose records, in the order of groups, have the given counts of values."""
    return np.concatenate([np.repeat(values, row) for row in table])


def others_without(labels, values, group, distance):
    """Yield values with one missing value more or fewer in a group, and the same statistics.

    Other values change at random as long as the `distance` from the statistics does not grow.
    """
    inside, rng = labels == group, np.random.default_rng(0)
    known = np.flatnonzero(inside & np.isfinite(values))
    near = known[np.argsort(np.abs(values[known] - values[known].mean()), kind="stable")]
    lacking = np.flatnonzero(inside & ~np.isfinite(values))[0]
    for first in near[:10]:
        more, fewer = values.copy(), values.copy()
        more[lacking], fewer[first] = values[first], np.nan
        for other in (more, fewer):
            left = distance(other)
            for _ in range(300):
                if not left:
                    yield other.copy()
                i = rng.choice(known)
                change = rng.choice([-2.0, -1.0, 1.0, 2.0])
                other[i] += change
                if (now := distance(other)) <= left:
                    left = now
                else:
                    other[i] -= change


def numbers_of_values(mean, sd, step_mean, step_sd, numbers):
    """Return which numbers of values fit a rounded mean and standard deviation of whole numbers."""
    found = []
    for n in numbers:
        sums = np.arange(np.ceil(n * (mean - step_mean / 2)), n * (mean + step_mean / 2) + 1e-9)
        for total in sums:
            low, high = (
                (n - 1) * max(sd + s * step_sd / 2, 0.0) ** 2 + total**2 / n for s in (-1, 1)
            )
            squares = np.arange(np.ceil(low - 1e-9), high + 1e-9)
            # A sum of squares has the parity of the sum.
            if ((squares - total) % 2 == 0).any():
                found.append(n)
                break
    return found


class Attack:
    """What the JSON file and table one tell of the counts of an outcome, as linear equations."""

    def __init__(self, outcome, rows, sizes, n_records, min_cell=5):
        self.classes, self.most = outcome["classes"], min_cell - 1
        # The records with "no" are a class that is not published.
        self.width = len(self.classes) + (2 if len(self.classes) == 1 else 1)
        self.shape = (len(sizes), self.width)
        self.low, self.high = np.zeros(self.shape), np.full(self.shape, float(n_records))
        self.sums, self.totals = [], []
        for group, size in enumerate(sizes):
            known = [one["n_records"][group] for one in self.classes] + [outcome["missing"][group]]
            for at, count in enumerate(known):
                if count is not None:
                    self.low[group, at] = self.high[group, at] = count
                elif at < len(self.classes) and rows[at][3 + group].startswith("<"):
                    self.low[group, at], self.high[group, at] = 1, self.most
            if size is not None:
                self.add(np.s_[group, :], size)
        for at, one in enumerate(self.classes):
            if one["n_all"] is not None:
                self.add(np.s_[:, at], one["n_all"])
        self.add(np.s_[:, :], n_records)

    def add(self, cells, total):
        row = np.zeros(self.shape)
        row[cells] = 1
        self.sums.append(row.ravel())
        self.totals.append(total)

    def bounds(self, group, at):
        """Return the smallest and the largest value that a cell can have."""
        cost = np.zeros(self.shape)
        cost[group, at] = 1
        found = []
        for sign in (1, -1):
            result = milp(
                sign * cost.ravel(),
                constraints=LinearConstraint(np.array(self.sums), self.totals, self.totals),
                bounds=Bounds(self.low.ravel(), self.high.ravel()),
                integrality=np.ones(cost.size),
            )
            assert result.success
            found.append(round(sign * result.fun))
        return tuple(found)


def attacks(content):
    """Yield each outcome of a JSON file with its attack."""
    leaves = [node for node in content["nodes"] if node["group"] is not None]
    sizes = [leaf["n_records"] for leaf in sorted(leaves, key=lambda leaf: leaf["group"])]
    rows = content["table_one"]["rows"]
    for outcome in content["outcomes"]:
        (first,) = (at for at, row in enumerate(rows) if row[0] == outcome["name"])
        yield outcome, Attack(outcome, rows[first:], sizes, content["n_records"])


def plain(summary):
    """Return a summary as text."""
    return json.dumps(summary, sort_keys=True, default=str)
