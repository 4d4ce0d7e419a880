"""Table one: every characteristic of the records, in all of them and in each group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from momentree._types import Floats
from momentree.exceptions import InvalidDataError
from momentree.report.disclosure import HIDDEN_MARK, SMALL, Disclosure
from momentree.report.numbers import NO_VALUE, fixed, percent

_MAX_CODES = 20


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
    if "table_one" not in summary:
        raise InvalidDataError("no_table_one", kind=str(summary.get("kind")))
    rows, columns = summary["table_one"]["rows"], summary["table_one"]["columns"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def describe_characteristics(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns and rows of table one, from the published numbers of a summary."""
    table = _Table(summary)
    leaves = {node["leaf"]: node for node in summary["nodes"]}
    numbers, has_codes = range(summary["n_leaves"]), "codes" in summary
    names = [" · ".join(leaves[j]["name_parts"]) for j in numbers]
    rows = [["Name", "", "All records", *names, ""], table.records()]
    if has_codes:
        rows += table.numbers("Codes per record", summary["codes_per_record"])
    for outcome in (*summary["outcomes"], *summary.get("features", ())):
        rows += table.outcome(outcome)
    if has_codes:
        rows += [table.code(j) for j in summary["common"][:_MAX_CODES]]
    columns = ["Characteristic", "Value", "All", *(f"Group {j}" for j in numbers), "SMD"]
    return {"columns": columns, "rows": rows}


class _Table:
    """Rows of table one; each is a name, a kind of value, and one cell for all and each group."""

    def __init__(self, summary: Mapping[str, Any]) -> None:
        self._summary = summary
        self._disclosure = Disclosure(summary["min_cell"])
        self._sizes: list[int] = summary["groups"]["sizes"]
        self._estimates = np.array(summary["groups"]["estimated"], dtype=np.float64)

    def records(self) -> list[str]:
        n = self._summary["n_records"]
        cells = [_share(n, n), *(self._count(size, n) for size in self._sizes)]
        return ["Records", "n (%)", *cells, ""]

    def numbers(self, name: str, published: Mapping[str, Any]) -> list[list[str]]:
        """Return the rows of a numeric characteristic."""
        groups, whole, any_hidden = published["groups"], published["all"], any(published["hidden"])
        entries = [whole, *groups]
        hidden = [whole is None and any_hidden, *published["hidden"]]

        def cells(text: Any) -> list[str]:
            return [
                HIDDEN_MARK if hide else NO_VALUE if entry is None else text(entry)
                for entry, hide in zip(entries, hidden, strict=True)
            ]

        moments = [(entry["mean"], entry["sd"]) for entry in groups if entry]
        smd = _largest(_difference_of_means(*a, *b) for a, b in combinations(moments, 2))
        return [
            [name, "mean ± SD", *cells(_mean), _smd(smd, estimated=any_hidden)],
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
        every = range(len(self._sizes))
        for at, one in enumerate(outcome["classes"]):
            rates, estimated = self._disclosure.group_rates(outcome, at, self._estimates)
            cells = []
            for count, size, missing, rate in zip(
                one["counts"], self._sizes, outcome["missing"], rates, strict=True
            ):
                if missing < 0 <= min(count, size):
                    # Only the number of missing values is suppressed.
                    cells.append(f"{count:,} (≈ {fixed(100 * rate, 1)})")
                else:
                    cells.append(self._count(count, max(size - max(missing, 0), 0)))
            shares.append(rates)
            unsure |= bool(estimated.any())
            whole = self._disclosure.class_rate(outcome, at, every, self._estimates)
            rows.append(
                ["", one["name"] + ", n (%)", self._total(one["total"], *whole), *cells, ""]
            )
        if outcome["binary"]:
            rows[0][1] = "n (%)"
            shares.append(1.0 - shares[0])
        rows[0][0], rows[0][-1] = outcome["name"], _smd(_apart(np.array(shares)), estimated=unsure)
        return rows

    def _total(self, total: int, rate: float, estimated: bool) -> str:
        if total == SMALL:
            return self._disclosure.symbol
        if not np.isfinite(rate):
            return NO_VALUE
        share = f"({fixed(100 * rate, 1)})"
        return f"≈ {share}" if total < 0 or estimated else f"{total:,} {share}"

    def code(self, j: int) -> list[str]:
        """Return the row of a code, whose counts are published."""
        groups, codes = self._summary["groups"], self._summary["codes"]
        counts = [row[j] for row in groups["counts"]]
        missing = groups["missing"] and [row[j] for row in groups["missing"]["counts"]]
        cells, shares = [], []
        for size, count, lacking in zip(
            self._sizes, counts, missing or [0] * len(counts), strict=True
        ):
            known = size - lacking if min(size, lacking) >= 0 else -1
            cells.append(self._count(count, known) if known >= 0 else HIDDEN_MARK)
            shares.append(count / known if known > 0 and count >= 0 else np.nan)
        unsure = min(*self._sizes, *counts, *(missing or [0])) < 0
        p = np.array(shares)
        smd = _smd(_apart(np.array([p, 1.0 - p])), estimated=unsure)
        code, name = codes["code"][j], codes["name"][j]
        share = f"({fixed(100 * codes['rate'][j], 1)})"
        exact = codes["total"][j] >= 0 and not codes["estimated"][j]
        whole = f"{codes['total'][j]:,} {share}" if exact else f"≈ {share}"
        return [code if name == code else f"{code} {name}", "n (%)", whole, *cells, smd]

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


def _apart(P: Floats) -> float:
    """Return the largest distance between two groups with shares P (classes, k)."""
    pairs = combinations(range(P.shape[1]), 2)
    return _largest(_difference_of_shares(P[:, a], P[:, b]) for a, b in pairs)


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
