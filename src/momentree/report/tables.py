"""Tables of text: table one, fits with different numbers of groups, and their files."""

import datetime
import os
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from momentree._files import atomic_write
from momentree._types import Floats
from momentree.exceptions import InvalidDataError
from momentree.report.disclosure import HIDDEN_MARK, SMALL, Disclosure
from momentree.report.text import NO_VALUE, fixed, percent

_MAX_CODES = 20
COLUMNS = (
    "Groups",
    "Log-likelihood",
    "Parameters",
    "AIC",
    "BIC",
    "Adjusted BIC",
    "Entropy",
    "Smallest group",
    "Stability",
)
_CRITERIA = {1: "log_likelihood", 3: "aic", 4: "bic", 5: "adjusted_bic"}
"""Columns of the criteria, and their names among the numbers."""
_CERTAIN = 0.9995
"""Entropy of 1 as it is shown."""
SUFFIXES = (".csv", ".xlsx", ".tex")
# The file must be the same on every run.
_DATE = datetime.datetime(1980, 1, 1, tzinfo=datetime.UTC)
_WIDEST = 350
"""Width of a column, at most, in pixels."""
_IN_LATEX = {"±": r"$\pm$", "≈": r"$\approx$", "<": "$<$", "–": "--", "·": r"\textperiodcentered{}"}


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
        raise InvalidDataError(
            "[no_table_one] the summary is of kind {kind!r}; expected one from summarize_records, "
            "with groups of records",
            kind=str(summary.get("kind")),
        )
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
    """Return the largest distance of Yang and Dalton between two groups with shares P (c, k)."""
    first, second = np.triu_indices(P.shape[1], 1)
    pairs = P[1:, first].T, P[1:, second].T
    known = np.isfinite(pairs[0]).all(axis=1) & np.isfinite(pairs[1]).all(axis=1)
    p1, p2 = pairs[0][known], pairs[1][known]
    S = (_covariances(p1) + _covariances(p2)) / 2.0
    # A class that neither group has adds nothing.
    squared = np.einsum("ni,nij,nj->n", p1 - p2, np.linalg.pinv(S, hermitian=True), p1 - p2)
    return float(np.sqrt(max(squared.max(), 0.0))) if len(squared) else float("nan")


def _covariances(p: Floats) -> Floats:
    return np.asarray(p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None])


def fits_table(summary: Mapping[str, Any]) -> pd.DataFrame:
    """Return the fits with different numbers of groups as a table of text.

    Parameters
    ----------
    summary : mapping
        From `summarize_records`, with ``quality["fits"]`` of `momentree.models.compare_fits`.

    Returns
    -------
    DataFrame
        Text, ready for ``to_csv`` or `write_table`, with one row per number of groups and columns
        "Groups" (with the number found in brackets, if it is smaller), "Log-likelihood",
        "Parameters", "AIC", "BIC", "Adjusted BIC", "Entropy", "Smallest group" ("<5" if small) and
        "Stability".

    Raises
    ------
    InvalidDataError
        If the summary contains no fits.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from momentree.datasets import RecordCoder, Records
    >>> from momentree.models import BernoulliMixture, compare_fits
    >>> from momentree.report import fits_table, summarize_records
    >>> X = sp.csr_array(np.repeat([[1.0, 1, 0, 0], [0, 0, 1, 1]], [60, 40], axis=0))
    >>> codes, ids = ["401", "428", "650", "V27"], [str(i) for i in range(100)]
    >>> records = Records(X, np.array(codes), {}, ids, np.ones(100, dtype=bool), RecordCoder(codes))
    >>> fits = compare_fits(BernoulliMixture(), X, [2])
    >>> summary = summarize_records(BernoulliMixture(2).fit(X), records, quality={"fits": fits})
    >>> fits_table(summary)[["Groups", "Parameters", "Entropy", "Smallest group"]].values.tolist()
    [['2', '9', '1.000', '40']]
    """
    if not summary.get("fits"):
        raise InvalidDataError(
            "[no_fits] the summary contains no fits; pass quality={{'fits': compare_fits(...)}} to "
            "summarize_records"
        )
    return pd.DataFrame(summary["fits"]["rows"], columns=list(COLUMNS), dtype=object)


def describe_fits(
    fits: pd.DataFrame, disclosure: Disclosure, *, sizes_known: bool = True
) -> dict[str, Any]:
    """Return the fits as text in ``rows``, and as ``numbers`` by column, with None for no value.

    ``lowest`` contains the number of groups with the lowest value of each criterion, and ``open``
    is whether BIC is lowest at the largest number, so that a larger one may be better.

    To protect small counts, numbers have the digits of the text, and no size of a smallest group is
    shown unless all sizes on the page are: a hidden size could follow from it.
    """
    criteria = [name for name in _CRITERIA.values() if name != "log_likelihood"]
    if disclosure.hides:
        digits = dict.fromkeys(_CRITERIA.values(), 1) | {"entropy": 3, "stability": 2}
        fits = fits.round(digits)
    values = {str(name): [_plain(value) for value in fits[name].tolist()] for name in fits.columns}
    values["smallest"] = [
        n if sizes_known and not disclosure.is_small(np.array(n)) else None
        for n in values["smallest"]
    ]
    rows = []
    for fit in fits.to_dict("records"):
        k, n_found = int(fit["n_groups"]), int(fit["found"])
        smallest = disclosure.count(int(fit["smallest"]))
        if not isinstance(smallest, str):
            smallest = f"{smallest:,}" if sizes_known else NO_VALUE
        rows.append(
            [
                str(k) if n_found == k else f"{k} ({n_found} found)",
                f"{fit['log_likelihood']:,.1f}",
                f"{fit['n_parameters']:,}",
                *(f"{fit[name]:,.1f}" for name in criteria),
                _short(fit["entropy"], 3),
                smallest,
                _short(fit["stability"], 2),
            ]
        )
    lowest = {name: int(fits["n_groups"].iloc[int(np.argmin(fits[name]))]) for name in criteria}
    return {
        "columns": list(COLUMNS),
        "rows": rows,
        "numbers": values,
        "lowest": lowest,
        "open": lowest["bic"] == int(fits["n_groups"].max()),
    }


def hide_certain(fits: dict[str, Any], *, totals: bool, counts: bool) -> None:
    """Remove the criteria from `describe_fits` that follow from suppressed `totals` or `counts`.

    Those of one group follow from all totals, and if each record is certain of its group, from the
    counts of groups. Other criteria depend on what occurs together, too.
    """
    numbers = fits["numbers"]
    for at, (k, entropy) in enumerate(zip(numbers["n_groups"], numbers["entropy"], strict=True)):
        if (totals and k == 1) or (counts and (entropy or 0.0) >= _CERTAIN):
            for column, name in _CRITERIA.items():
                fits["rows"][at][column], numbers[name][at] = NO_VALUE, None


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _short(value: float, digits: int) -> str:
    return fixed(value, digits) if np.isfinite(value) else NO_VALUE


def write_table(table: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    r"""Write a table, such as table one, in the format that the name of the file ends in.

    Parameters
    ----------
    table : DataFrame
        Columns of text; the index is not written.
    path : str or path-like
        File to write: .csv; .xlsx, one sheet; or .tex, a ``tabular`` for the package booktabs. An
        existing file is replaced.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    InvalidDataError
        If the name ends in none of these.
    OSError
        If the folder is missing or not writable, or the disk is full.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from momentree.report import write_table
    >>> table = pd.DataFrame({"Characteristic": ["death"], "All": ["31 (3.1)"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(table, f"{folder}/one.csv").read_text()
    'Characteristic,All\ndeath,31 (3.1)\n'
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidDataError(
            "[not_a_table_file] {path}: the name of the file must end in {suffixes:or}",
            path=str(path),
            suffixes=list(SUFFIXES),
        )
    with atomic_write(path) as file:
        if suffix == ".xlsx":
            _write_excel(table, file)
        else:
            text = _latex(table) if suffix == ".tex" else table.to_csv(index=False)
            file.write(text.encode("utf-8", errors="backslashreplace"))
    return path


def _write_excel(table: pd.DataFrame, file: Any) -> None:
    # Text that looks like a formula or a link stays text.
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    kwargs = {"options": options}
    with pd.ExcelWriter(file, engine="xlsxwriter", engine_kwargs=kwargs) as writer:
        table.to_excel(writer, sheet_name="Table", index=False, freeze_panes=(1, 1))
        writer.book.set_properties({"created": _DATE})
        writer.sheets["Table"].autofit(_WIDEST)


def _latex(table: pd.DataFrame) -> str:
    text = str(table.map(_one_line).to_latex(index=False, escape=True))
    for character, command in _IN_LATEX.items():
        text = text.replace(character, command)
    return text


def _one_line(cell: object) -> str:
    return " ".join(str(cell).split())
