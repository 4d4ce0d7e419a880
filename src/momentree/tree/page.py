"""The report of a fitted tree or model, for its method ``to_html``."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from momentree._validation import check_values
from momentree.exceptions import InvalidDataError

if TYPE_CHECKING:
    from momentree.datasets import Records

__all__ = ["page_of", "records_page"]


def page_of(estimator: Any, path: str | PathLike[str] | None, X: Any, **options: Any) -> str:
    """Return the report as one HTML page; write it to a file too, where one is named."""
    return _written(_report().summarize(estimator, X, **options), path)


def records_page(
    estimator: Any,
    path: str | PathLike[str] | None,
    X: Any,
    *,
    ids: Sequence[str] | None,
    names: Mapping[str, str] | None,
    outcomes: Mapping[str, Any] | None,
    **options: Any,
) -> str:
    """Return the report of groups of records as one HTML page, as :func:`page_of` does.

    Parameters
    ----------
    estimator : ClusterTree or BernoulliMixture
        Fitted on binary data.
    path : str, path-like or None
        Where to write it.
    X : Records, or matrix of shape (n_samples, n_features)
        The data of the fit.
    ids, names, outcomes
        Of the records; each goes before what Records say of it.
    **options
        For ``momentree.report.summarize_records``.
    """
    records = _records(estimator, X)
    more: dict[str, Any] = {}
    if ids is not None:
        more["ids"] = [str(name) for name in ids]
    if names is not None:
        pairs = _dict("names", names, "codes to their names")
        more["names"] = {str(code): str(name) for code, name in pairs.items()}
    if outcomes is not None:
        pairs = _dict("outcomes", outcomes, "names to a value for each record")
        more["outcomes"] = {str(name): np.asarray(values) for name, values in pairs.items()}
        more["outcome_names"] = {}
    records = replace(records, **more)
    return _written(_report().summarize_records(estimator, records, **options), path)


def _report() -> Any:
    # The report is to the right of this room; it is found by name when it is asked for.
    return importlib.import_module("momentree.report")


def _written(summary: dict[str, Any], path: str | PathLike[str] | None) -> str:
    if path is not None:
        _report().write_html(summary, Path(path))
    page: str = _report().render_html(summary)
    return page


def _records(estimator: Any, X: Any) -> Records:
    # Here and not above: reading records takes pandas, which growing a tree does not need.
    from momentree.datasets import RecordCoder, Records

    if X is None:
        msg = (
            "X is None: the report counts the codes of each group, so it needs the data of fit. "
            "Give them, as in to_html('report.html', X)"
        )
        raise InvalidDataError(msg)
    if isinstance(X, Records):
        return X
    ids = [str(name) for name in getattr(X, "index", [])]
    ones, missing, _ = check_values(estimator, X, None, reset=False)
    if missing is not None:
        missing.data[:] = np.nan
        ones = sp.csr_array(ones + missing)
    codes = [str(code) for code in estimator.vocabulary_]
    n = ones.shape[0]
    return Records(
        X=ones,
        codes=np.array(codes, dtype=object),
        names={},
        ids=ids or [str(i) for i in range(n)],
        enough=np.ones(n, dtype=bool),
        coder=RecordCoder(codes, form="wide"),
        name="",
        form="wide",
    )


def _dict(name: str, given: Any, expected: str) -> dict[Any, Any]:
    try:
        return dict(given)
    except (TypeError, ValueError) as error:
        msg = f"{name} is a {type(given).__name__}; expected a mapping from {expected}"
        raise InvalidDataError(msg) from error
