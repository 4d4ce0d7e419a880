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


def describe_fits(fits: pd.DataFrame, disclosure: Disclosure) -> dict[str, Any]:
    """Return the fits as text in ``rows``, and as ``numbers`` by column, with None for no value.

    ``lowest`` contains the number of groups with the lowest value of each criterion, and ``open``
    is whether BIC is lowest at the largest number, so that a larger one may be better.
    """
    values = {str(name): [_plain(value) for value in fits[name].tolist()] for name in fits.columns}
    values["smallest"] = [
        None if disclosure.is_small(np.array(n)) else n for n in values["smallest"]
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
                f"{count:,}"
                if isinstance(count := disclosure.count(int(fit["smallest"])), int)
                else count,
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


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _short(value: float, digits: int) -> str:
    return fixed(value, digits) if np.isfinite(value) else NO_VALUE
