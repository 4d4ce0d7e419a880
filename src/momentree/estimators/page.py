"""``to_html`` of trees and models, the only call from estimators to the report."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from momentree._files import atomic_write
from momentree._validation import check_values
from momentree.estimators.texts import of_page
from momentree.exceptions import InvalidDataError
from momentree.messages import wording

if TYPE_CHECKING:
    from momentree.readers import Records


def topics_to_html(
    self: Any,
    path: str | PathLike[str] | None = None,
    X: Any = None,
    *,
    ids: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    order: Collection[Any] | None = None,
    title: str | None = None,
    documents: int | Literal["all"] | None = None,
) -> str | Path:
    """Write the report as one HTML page that works offline.

    Parameters
    ----------
    path : str or path-like, default=None
        File to write the page to; None returns the page.
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features), \
sequence or column of str of shape (n_samples,), or Corpus
        The samples of ``fit``, used for typical documents, coherence and, in flat models, topic
        proportions; None omits these. Texts and a corpus also give `texts`, a corpus `ids` and
        `labels`, unless they are given.
    ids, texts, labels : sequence of str of shape (n_samples,), default=None
        Names, texts and known classes of the samples.
    order : sequence of numbers or dates of shape (n_samples,), default=None
        Position of each sample in the chart of topic proportions. With None, flat models use
        the order of X, and trees omit the chart.
    title : str, default=None
        Heading of the page.
    documents : int >= 0, "all" or None, default=None
        Number of documents that the page lists, besides the typical ones of each group. None
        lists as many as a page below 4 MB has room for.

    Returns
    -------
    Path or str
        `path`, or the page as text if it is None.
    """
    check_is_fitted(self, ["tree_", "components_"], all_or_any=any)
    X, found = of_page(self, X)
    given = {"ids": ids, "texts": texts, "labels": labels}
    summary = _report().summarize(
        self,
        X,
        **{**found, **{key: value for key, value in given.items() if value is not None}},
        order=order,
        title=title,
        documents=documents,
    )
    return _written(summary, path)


def records_to_html(
    self: Any,
    path: str | PathLike[str] | None = None,
    X: Records | Any = None,
    *,
    ids: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
    outcomes: Mapping[str, ArrayLike] | None = None,
    title: str | None = None,
    min_cell: int = 5,
    include_records: bool = False,
) -> str | Path:
    """Write the report of the groups of binary records as one HTML page that works offline.

    The page shows the summary of ``momentree.report.summarize_records``.

    Parameters
    ----------
    path : str or path-like, default=None
        File to write the page to; None returns the page.
    X : Records, or {ndarray, sparse matrix or array, data frame} of shape \
(n_samples, n_features)
        The records of ``fit``; the page shows counts of their codes.
    ids : sequence of str of shape (n_samples,), default=None
        Names of the records; None uses those of X, or row numbers. `ids`, `names` and
        `outcomes` override those of Records.
    names : mapping of str to str, default=None
        Names of codes.
    outcomes : mapping of str to array-like of shape (n_samples,), default=None
        Outcomes of the records: yes or no, classes or numbers.
    title : str, default=None
        Heading of the page.
    min_cell : int >= 1, default=5
        Suppress nonzero counts of records below this number.
    include_records : bool, default=False
        Whether the page shows individual records with their names.

    Returns
    -------
    Path or str
        `path`, or the page as text if it is None.

    Raises
    ------
    InvalidDataError
        If X is missing or differs from the data of ``fit``, if ids or outcomes do not match it,
        or if the data of ``fit`` were not binary.
    OSError
        If the file cannot be written; no partial file remains.
    """
    check_is_fitted(self, ["tree_", "components_"], all_or_any=any)
    kind = getattr(self, "data_", "binary")
    if kind != "binary":
        raise InvalidDataError(wording.NOT_FITTED_TO_BINARY, kind=kind)
    records = _records(self, X)
    more: dict[str, Any] = {}
    if ids is not None:
        more["ids"] = [str(name) for name in ids]
    if names is not None:
        pairs = _dict("names", names, "codes to names")
        more["names"] = {str(code): str(name) for code, name in pairs.items()}
    if outcomes is not None:
        pairs = _dict("outcomes", outcomes, "names to one value per record")
        more["outcomes"] = {str(name): np.asarray(values) for name, values in pairs.items()}
        more["outcome_names"] = {}
    # Column names have been checked; the report receives a matrix, which has none.
    unnamed = self._copy()
    unnamed._forget("feature_names_in_")
    summary = _report().summarize_records(
        unnamed,
        replace(records, **more),
        title=title,
        min_cell=min_cell,
        include_records=include_records,
    )
    return _written(summary, path)


def _report() -> Any:
    # The report comes after this room, so it is imported by name when needed.
    return importlib.import_module("momentree.report")


def _written(summary: dict[str, Any], path: str | PathLike[str] | None) -> str | Path:
    page: str = _report().render_html(summary)
    if path is None:
        return page
    with atomic_write(path) as file:
        file.write(page.encode("utf-8"))
    return Path(path)


def _records(estimator: Any, X: Any) -> Records:
    # Imported here, because readers import pandas, which growing a tree does not need.
    from momentree.readers import RecordCoder, Records

    if X is None:
        raise InvalidDataError(
            "[page_needs_data] X is None, but the page counts the codes of each group; pass the "
            "data used in fit, as in to_html('report.html', X)"
        )
    if isinstance(X, Records):
        return X
    index = getattr(X, "index", None)  # of a data frame; a list has a method of this name
    ids = [] if index is None or callable(index) else [str(name) for name in index]
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
        raise InvalidDataError(
            "[page_option_not_a_mapping] {parameter} is a {type}; expected a mapping from {keys}",
            parameter=name,
            type=type(given).__name__,
            keys=expected,
        ) from error
