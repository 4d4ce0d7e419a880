"""Table one: every characteristic of the records, in all of them and in each group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._types import Floats
from momentree.exceptions import InvalidDataError
from momentree.report.disclosure import SMALL, Disclosure
from momentree.report.numbers import NO_VALUE, fixed, percent

if TYPE_CHECKING:
    import pandas as pd

HIDDEN_MARK = "*"
"""Replaces a value from which a small count could be derived."""
_MOST_CODES = 20


def table_one(summary: Mapping[str, Any]) -> pd.DataFrame:
    """Return table one: characteristics of the records, in all of them and in each group.

    Parameters
    ----------
    summary : mapping
        From `summarize_records`. Small counts are suppressed there, so the table shows no other
        numbers than the report.

    Returns
    -------
    DataFrame
        Text, ready for ``to_csv`` or `write_table`, with columns "Characteristic", "Value", "All",
        one for each group ("Group 0", ...) and "SMD". Rows: the number of records; the number of
        codes per record; each outcome and covariate, as n (%) of each class among records with a
        known value, or as mean ± SD and median [quartiles] of numbers, and the records with a
        missing value, if there are any; and the most common codes. "<5" replaces a small count, "*"
        a value from which one could be derived, and "≈" marks estimates.

    Raises
    ------
    InvalidDataError
        If the summary is not one of records.

    Notes
    -----
    The standardized mean difference (SMD) is the largest absolute one between two groups, as
    tableone and gtsummary compute it for each pair: for numbers, |m1 - m2| / sqrt((s1² + s2²) / 2);
    for classes with shares p1 and p2, without the first class, and their multinomial covariances S1
    and S2, the Mahalanobis distance sqrt((p1 - p2)' ((S1 + S2) / 2)^(-1) (p1 - p2)) [1]. Values
    above 0.1 are commonly called relevant. Groups were formed to differ in their codes, so large
    differences of codes are no finding.

    References
    ----------
    .. [1] D. Yang, J. E. Dalton. A unified approach to measuring the effect size between two groups
       using SAS. SAS Global Forum, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from momentree import ClusterTree
    >>> from momentree.datasets import RecordCoder, Records
    >>> from momentree.report import summarize_records, table_one
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], [30, 20], axis=0)
    >>> codes, ids = ["401", "428", "650", "V27"], [str(i) for i in range(50)]
    >>> everyone, age = np.ones(50, dtype=bool), np.r_[np.arange(60.0, 90), np.arange(20.0, 40)]
    >>> X, coder = sp.csr_array(X * 1.0), RecordCoder(codes)
    >>> records = Records(X, np.array(codes), {}, ids, everyone, coder, {"age": age})
    >>> table = table_one(summarize_records(ClusterTree(2).fit(X), records))
    >>> table.iloc[4, 1:].tolist()
    ['mean ± SD', '56.5 ± 23.6', '74.5 ± 8.8', '29.5 ± 5.9', '6.00']
    """
    import pandas as pd

    if "table_one" not in summary:
        raise InvalidDataError("no_table_one", kind=str(summary.get("kind")))
    found = summary["table_one"]
    return pd.DataFrame(found["rows"], columns=found["columns"], dtype=object)


def describe_characteristics(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns and rows of table one, from the published numbers of a summary."""
    table = _Table(summary)
    names = {
        node["leaf"]: " · ".join(node["name_parts"])
        for node in summary["nodes"]
        if node["leaf"] is not None
    }
    k = summary["n_leaves"]
    rows = [
        ["Name", "", "All records", *(names[j] for j in range(k)), ""],
        table.records(),
    ]
    if "codes" in summary:
        rows += table.numbers("Codes per record", summary["codes_per_record"])
    for outcome in (*summary["outcomes"], *summary.get("features", ())):
        rows += table.outcome(outcome)
    if "codes" in summary:
        rows += [table.code(j) for j in summary["common"][:_MOST_CODES]]
    columns = ["Characteristic", "Value", "All", *(f"Group {j}" for j in range(k)), "SMD"]
    return {"columns": columns, "rows": rows}


class _Table:
    """Rows of table one; each is a name, a kind of value, and one cell for all and each group."""

    def __init__(self, summary: Mapping[str, Any]) -> None:
        self._summary = summary
        self._disclosure = Disclosure(summary["min_cell"])
        self._k = int(summary["n_leaves"])
        self._sizes: list[int] = summary["groups"]["sizes"]
        self._estimates = np.array(summary["groups"]["estimated"], dtype=np.float64)

    def records(self) -> list[str]:
        n = self._summary["n_records"]
        cells = [_share(n, n), *(self._count(size, n) for size in self._sizes)]
        return ["Records", "n (%)", *cells, ""]

    def numbers(self, name: str, found: Mapping[str, Any]) -> list[list[str]]:
        """Return the rows of a numeric characteristic."""
        entries = [found["all"], *found["groups"]]
        hidden = [False, *found["hidden"]]
        if found["all"] is None and any(found["hidden"]):
            hidden[0] = True

        def cells(text: Any) -> list[str]:
            return [
                HIDDEN_MARK if hide else NO_VALUE if entry is None else text(entry)
                for entry, hide in zip(entries, hidden, strict=True)
            ]

        means = [entry["mean"] if entry else np.nan for entry in found["groups"]]
        spreads = [entry["sd"] if entry else np.nan for entry in found["groups"]]
        smd = _largest(
            _difference_of_means(means[a], spreads[a], means[b], spreads[b])
            for a, b in combinations(range(self._k), 2)
        )
        return [
            [name, "mean ± SD", *cells(_mean), _smd(smd, estimated=any(found["hidden"]))],
            ["", "median [quartiles]", *cells(_median), ""],
        ]

    def outcome(self, outcome: Mapping[str, Any]) -> list[list[str]]:
        """Return the rows of an outcome or covariate."""
        if outcome["numbers"] is not None:
            rows = self.numbers(outcome["name"], outcome["numbers"])
        else:
            rows = self._classes(outcome)
        missing = outcome["missing"]
        if any(missing):
            known = all(n >= 0 for n in missing)
            whole = _share(sum(missing), self._summary["n_records"]) if known else HIDDEN_MARK
            cells = [
                self._count(n, size) if size >= 0 else HIDDEN_MARK
                for n, size in zip(missing, self._sizes, strict=True)
            ]
            rows.append(["", "missing, n (%)", whole, *cells, ""])
        return rows

    def _classes(self, outcome: Mapping[str, Any]) -> list[list[str]]:
        rows, shares, unsure = [], [], False
        every = range(self._k)
        for at, one in enumerate(outcome["classes"]):
            cells = []
            for group in every:
                known, count = self._known(outcome, group), one["counts"][group]
                if known is None and count >= 0 and self._sizes[group] >= 0:
                    # Only the number of missing values is suppressed.
                    rate, _ = self._disclosure.class_rate(outcome, at, [group], self._estimates)
                    cells.append(f"{count:,} (≈ {fixed(100 * rate, 1)})")
                else:
                    cells.append(self._count(count, known or 0))
            found = [
                self._disclosure.class_rate(outcome, at, [group], self._estimates)
                for group in every
            ]
            shares.append([rate for rate, _ in found])
            unsure |= any(estimated for _, estimated in found)
            rate, estimated = self._disclosure.class_rate(outcome, at, every, self._estimates)
            rows.append(
                ["", one["name"] + ", n (%)", self._total(one, rate, estimated), *cells, ""]
            )
        if outcome["binary"]:
            rows[0][1] = "n (%)"
            shares.append([1.0 - share for share in shares[0]])
        P = np.array(shares)
        smd = _largest(_difference_of_shares(P[:, a], P[:, b]) for a, b in combinations(every, 2))
        rows[0][0], rows[0][-1] = outcome["name"], _smd(smd, estimated=unsure)
        return rows

    def _known(self, outcome: Mapping[str, Any], group: int) -> int | None:
        """Return the published number of records with a known value, or None."""
        size, missing = self._sizes[group], outcome["missing"][group]
        return size - missing if size >= 0 and missing >= 0 else None

    def _total(self, one: Mapping[str, Any], rate: float, estimated: bool) -> str:
        if one["total"] == SMALL:
            return self._disclosure.symbol
        if not np.isfinite(rate):
            return NO_VALUE
        if one["total"] < 0 or estimated:
            return f"≈ ({fixed(100 * rate, 1)})"
        return f"{one['total']:,} ({fixed(100 * rate, 1)})"

    def code(self, j: int) -> list[str]:
        """Return the row of a code, whose counts are published."""
        groups, codes = self._summary["groups"], self._summary["codes"]
        missing = groups["missing"]
        cells, shares, unsure = [], [], False
        for group, size in enumerate(self._sizes):
            lacking = 0 if missing is None else missing["counts"][group][j]
            count = groups["counts"][group][j]
            if size < 0 or lacking < 0:
                cells.append(HIDDEN_MARK)
            else:
                cells.append(self._count(count, size - lacking))
            if size < 0 or lacking < 0 or count < 0:
                unsure = True
                shares.append(np.nan)
            else:
                shares.append(count / (size - lacking) if size > lacking else np.nan)
        p = np.array(shares)
        smd = _largest(
            _difference_of_shares(np.array([p[a], 1 - p[a]]), np.array([p[b], 1 - p[b]]))
            for a, b in combinations(range(self._k), 2)
        )
        code, name = codes["code"][j], codes["name"][j]
        share = f"({fixed(100 * codes['rate'][j], 1)})"
        exact = codes["total"][j] >= 0 and not codes["estimated"][j]
        whole = f"{codes['total'][j]:,} {share}" if exact else f"≈ {share}"
        title = code if name == code else f"{code} {name}"
        return [title, "n (%)", whole, *cells, _smd(smd, estimated=unsure)]

    def _count(self, count: int, of: int) -> str:
        if count == SMALL:
            return self._disclosure.symbol
        return HIDDEN_MARK if count < 0 else _share(count, of)


def _share(count: int, of: int) -> str:
    return f"{count:,} ({percent(count / of).removesuffix('%')})" if of > 0 else NO_VALUE


def _mean(entry: Mapping[str, Any]) -> str:
    digits, mark = entry["digits"], "≈ " if entry["estimated"] else ""
    return f"{mark}{entry['mean']:,.{digits}f} ± {entry['sd']:,.{digits}f}"


def _median(entry: Mapping[str, Any]) -> str:
    low, median, high = (f"{entry[key]:,.10g}" for key in ("low", "median", "high"))
    return f"{median} [{low}, {high}]"


def _smd(value: float, *, estimated: bool) -> str:
    if not np.isfinite(value):
        return ""
    return f"{'≈ ' if estimated else ''}{fixed(value, 2)}"


def _largest(values: Iterable[float]) -> float:
    """Return the largest number, without NaN; NaN if there is none."""
    return max((float(value) for value in values if not np.isnan(value)), default=float("nan"))


def _difference_of_means(m1: float, s1: float, m2: float, s2: float) -> float:
    spread = float(np.sqrt((s1**2 + s2**2) / 2.0))
    return abs(m1 - m2) / spread if spread > 0 else float("nan")


def _difference_of_shares(p1: Floats, p2: Floats) -> float:
    """Return the distance of Yang and Dalton between the shares of classes."""
    p1, p2 = p1[1:], p2[1:]
    if not (np.isfinite(p1).all() and np.isfinite(p2).all()):
        return float("nan")
    S = (_covariance(p1) + _covariance(p2)) / 2.0
    difference = p1 - p2
    # A class that neither group has adds nothing.
    squared = float(difference @ np.linalg.pinv(S, hermitian=True) @ difference)
    return float(np.sqrt(max(squared, 0.0)))


def _covariance(p: Floats) -> Floats:
    return np.asarray(np.diag(p) - np.outer(p, p))
