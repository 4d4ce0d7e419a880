"""The table of fits with different numbers of groups, for a page and for files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree.exceptions import InvalidDataError
from momentree.report.disclosure import Disclosure
from momentree.report.numbers import NO_VALUE, fixed

if TYPE_CHECKING:
    import pandas as pd

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
    import pandas as pd

    if not summary.get("fits"):
        raise InvalidDataError("no_fits")
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
    if disclosure.hides:
        fits = fits.round(dict.fromkeys(("log_likelihood", "aic", "bic", "adjusted_bic"), 1))
        fits = fits.round({"entropy": 3, "stability": 2})
    values = {str(name): [_plain(value) for value in fits[name].tolist()] for name in fits.columns}
    values["smallest"] = [
        n if sizes_known and not disclosure.is_small(np.array(n)) else None
        for n in values["smallest"]
    ]
    rows = []
    for fit in fits.to_dict("records"):
        k, found = int(fit["n_groups"]), int(fit["found"])
        rows.append(
            [
                str(k) if found == k else f"{k} ({found} found)",
                f"{fit['log_likelihood']:,.1f}",
                f"{fit['n_parameters']:,}",
                *(f"{fit[name]:,.1f}" for name in ("aic", "bic", "adjusted_bic")),
                _short(fit["entropy"], 3),
                _smallest(int(fit["smallest"]), disclosure, sizes_known),
                _short(fit["stability"], 2),
            ]
        )
    lowest = {
        name: int(fits["n_groups"].iloc[int(np.argmin(fits[name]))])
        for name in ("aic", "bic", "adjusted_bic")
    }
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


def _smallest(n: int, disclosure: Disclosure, known: bool) -> str:
    shown = disclosure.count(n)
    return str(shown) if isinstance(shown, str) else f"{shown:,}" if known else NO_VALUE


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _short(value: float, digits: int) -> str:
    return fixed(value, digits) if np.isfinite(value) else NO_VALUE
