"""Checks of tables of samples by features: counts, binary records, numbers, texts."""

from collections.abc import Iterator, Mapping, MappingView, Sequence, Set
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from momentree._types import Floats
from momentree._validation.arrays import MAX_COUNT, MIN_COUNT, as_floats
from momentree.core.pages import in_parts
from momentree.core.sparse import (
    Checked,
    NamedColumns,
    as_csr,
    check_numbers,
    check_structure,
    extent,
    is_canonical,
)
from momentree.exceptions import EmptyCorpusError, InvalidDataError
from momentree.messages import Message, wording

_MISSING_COUNT = (
    "[missing_count] Input X contains NaN or infinity: row {row}, column {column} contains "
    "{value}; remove or fill missing values"
)
_ONE_STRING = (
    "[one_string] the texts are a single string; expected a list or column of strings: put it in a "
    "list"
)


def check_counts(X: Any) -> Any:
    """Return X as a CSR array of finite, nonnegative numbers, without a copy if possible.

    The error codes are ``negative_count``, ``tiny_count`` (below 1e-30), ``huge_count``
    (above 1e30) and ``missing_count``, with the first bad row and column, and those of
    :func:`check_table`.
    """
    return finite_counts(check_canonical(X))


def check_features(
    estimator: Any, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
) -> tuple[Any, NDArray[Any]]:
    """Return counts given to an estimator, checked by :func:`check_counts`, and column names.

    With `reset`, as in ``fit``, set ``n_features_in_`` and ``feature_names_in_``; otherwise check
    X against them. `feature_names` take precedence over the names of a data frame or of
    :class:`NamedColumns`.
    """
    X, names = _named(estimator, X, feature_names, reset=reset)
    return finite_counts(X), names


def check_values(
    estimator: Any, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
) -> tuple[Any, Any | None, NDArray[Any]]:
    """Return real-valued samples given to an estimator, missing cells, and column names.

    Like :func:`check_features`, with the values and missing cells of :func:`check_missing`.
    """
    X, names = _named(estimator, X, feature_names, reset=reset)
    return *_without_missing(X), names


def check_real(X: Any) -> Floats:
    """Return X as a dense array of finite numbers (n, d), with absolute values up to 1e30.

    The error codes are ``sparse_not_supported``, ``missing_count`` and ``huge_value``, with the
    first bad row and column, and those of :func:`check_table`.
    """
    values, _ = _real(X)
    return values


def check_real_features(
    estimator: Any, X: Any, *, reset: bool, y: Any = None
) -> tuple[Floats, Floats]:
    """Return X as from :func:`check_real`, and y (n,), given to an estimator.

    With `reset`, as in ``fit``, set ``n_features_in_`` and ``feature_names_in_``; otherwise check
    X against them. y is checked like X; None gives an empty array.
    """
    checks = {"ensure_min_samples": 2} if reset else {}
    if y is not None:
        checks |= {"y": y, "y_numeric": True}
    X, y = _real(X, estimator, reset=reset, **checks)
    target = as_floats("y", y)
    huge = ~(np.abs(target) <= MAX_COUNT)
    if huge.any():
        at = int(np.argmax(huge))
        raise InvalidDataError(
            "y[{row}] is {value:g}; expected a number from -{largest:g} to {largest:g}: rescale y",
            row=at,
            value=float(target[at]),
            largest=MAX_COUNT,
        )
    return X, target


def _real(X: Any, estimator: Any = None, **checks: Any) -> tuple[Floats, Any]:
    """Return X as a dense array of finite numbers, and y if it is given."""
    sparse: bool = sp.issparse(X)
    if sparse:
        raise InvalidDataError(
            "[sparse_not_supported] X is a sparse matrix, which is not accepted here; pass "
            "X.toarray()"
        )
    table = check_table(X, estimator, **checks)
    X, y = table if "y" in checks else (table, [])
    values = as_floats("X", X)
    with np.errstate(invalid="ignore"):
        good = np.abs(values) <= MAX_COUNT
    if not good.all():
        row, column = (int(at) for at in np.argwhere(~good)[0])
        value = float(values[row, column])
        cell = {"row": row, "column": column, "value": value}
        if np.isfinite(value):
            raise InvalidDataError(wording.HUGE_VALUE, largest=MAX_COUNT, **cell)
        raise InvalidDataError(_MISSING_COUNT, **cell)
    return values, y


def _named(
    estimator: Any, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
) -> tuple[Any, NDArray[Any]]:
    named = X.feature_names if isinstance(X, NamedColumns) else None
    is_frame = isinstance(X, NamedColumns) and X.is_frame
    X = _canonical(check_table(X, estimator, reset=reset))
    if is_frame and reset:
        estimator.feature_names_in_ = np.asarray(named, dtype=object)
    d = X.shape[1]
    if feature_names is not None:
        return X, check_feature_names(feature_names, d)
    default = getattr(estimator, "feature_names_in_", np.arange(d).astype(str))
    return X, np.asarray(default if named is None else named, dtype=object)


def check_feature_names(feature_names: Sequence[str] | NDArray[Any], d: int) -> NDArray[Any]:
    """Return the names of d columns as an array of objects."""
    names = np.asarray(feature_names, dtype=object)
    if names.shape != (d,):
        raise InvalidDataError(wording.WRONG_NUMBER_OF_NAMES, found=names.size, needed=d)
    return names


def check_table(X: Any, estimator: Any = None, **checks: Any) -> Any:
    """Return X as a dense or CSR array of numbers, which may be NaN or infinite.

    Reject tables that are not two-dimensional and numeric, empty tables and damaged sparse
    matrices. `checks` are more of scikit-learn's: of ``validate_data`` for an estimator, whose
    attributes these set or read, else of ``check_array``.
    """
    _check_received(X)
    # Infinite and missing values are checked together with the sign, in one pass.
    checks |= {"accept_sparse": "csr", "dtype": "numeric", "ensure_all_finite": False}
    try:
        X = check_array(X, **checks) if estimator is None else validate_data(estimator, X, **checks)
    except ValueError as error:
        raise InvalidDataError(wording.REFUSED_BY_SKLEARN, error=str(error)) from error
    check_numbers(X[0] if "y" in checks else X)
    return X


def check_canonical(X: Any) -> Any:
    """Return X, as from :func:`check_table`, as a CSR array without zeros or repeated cells."""
    return _canonical(check_table(X))


def _check_received(X: Any) -> None:
    """Reject texts, dates, damaged matrices, and objects that hold or stand for a table."""
    if hasattr(X, "gives_rows"):  # of momentree.backends, which needs these checks itself
        raise InvalidDataError(
            "[rows_are_for_fit] X is a {type}, which only fit() accepts; here, give a table, where "
            "the rows are: a model can be saved, and loaded there",
            type=type(X).__name__,
        )
    try:
        texts = bool(texts_of(X))
    except InvalidDataError as error:
        if error.code == "not_listed":
            raise
        texts = True
    if texts:
        raise InvalidDataError(
            "[texts_not_counts] X contains texts; expected a table of numbers: topic models such "
            "as TopicTree accept texts, vectorize(texts).X are their word counts"
        )
    if hasattr(X, "X") and not hasattr(X, "shape"):
        raise InvalidDataError(
            "[holds_the_table] X is a {type}; expected a table of numbers: pass its attribute X, "
            "as in corpus.X",
            type=type(X).__name__,
        )
    check_structure(X)
    columns, dtypes = getattr(X, "columns", None), getattr(X, "dtypes", None)
    if columns is None or dtypes is None:
        return
    for place, (name, dtype) in enumerate(zip(columns, dtypes, strict=True)):
        kind = getattr(dtype, "kind", "")
        if kind in ("M", "m") or str(dtype) == "category":
            raise InvalidDataError(wording.COLUMN_NOT_NUMERIC, column=str(name), type=str(dtype))
        if kind == "O" and hasattr(X, "iloc") and isinstance(X.iloc[:1, place].squeeze(), str):
            raise InvalidDataError(
                "[column_of_texts] column {column!r} of X contains texts; expected numbers: remove "
                "it, or pass it alone to a topic model, as in TopicTree().fit(X[{column!r}])",
                column=str(name),
            )


def check_missing(X: Any) -> tuple[Any, Any | None]:
    """Return X as a CSR array of finite numbers, and its missing cells (NaN).

    Missing values are not stored in the first array. The second contains 1 where a value is
    missing, or is None if no value is. Infinite values are rejected (code ``infinite_value``).
    """
    return _without_missing(check_canonical(X))


def _without_missing(X: Any) -> tuple[Any, Any | None]:
    with np.errstate(all="ignore"):
        # A finite sum shows that all values are finite, which is the usual case.
        if np.isfinite(X.data.sum(dtype=np.float64)):
            return X, None
    nan = np.isnan(X.data)
    infinite = ~np.isfinite(X.data) & ~nan
    if infinite.any():
        raise InvalidDataError(
            "[infinite_value] row {row}, column {column} contains {value}; expected a finite "
            "number, or NaN for a missing value",
            **first_cell(X, infinite),
        )
    if not nan.any():
        return X, None
    missing = _stored(X, nan)
    missing.data = np.ones(missing.nnz)
    return _stored(X, ~nan), missing


def check_ones(X: Any) -> None:
    """Check that a CSR array of finite numbers contains only zeros and ones."""
    bad = (X.data != 0) & (X.data != 1)
    if bad.any():
        cell = first_cell(X, bad)
        if cell["value"] < 0:
            raise InvalidDataError(wording.NEGATIVE_NOT_BINARY, **cell)
        raise InvalidDataError(wording.NOT_BINARY, **cell)


def first_cell(X: Any, bad: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the row, column and value of the first bad stored value, for a message."""
    at = int(np.argmax(bad))
    row = int(np.searchsorted(X.indptr, at, side="right")) - 1
    return {"row": row, "column": int(X.indices[at]), "value": X.data[at].item()}


def _stored(X: Any, keep: NDArray[np.bool_]) -> Any:
    """Return X with only some of its stored values."""
    ends = np.concatenate(([0], np.cumsum(keep)))[X.indptr]
    return sp.csr_array((X.data[keep], X.indices[keep], ends.astype(X.indptr.dtype)), X.shape)


def _canonical(X: Any) -> Any:
    """Return a CSR array that stores no cell twice and no zeros."""
    X = as_csr(X)
    if isinstance(X, Checked) and X.ends is not None:
        return X
    low, high = extent(X.data)
    no_zeros = low > 0 or high < 0 or all(part.all() for part in in_parts(X.data))
    if not (no_zeros and is_canonical(X)):
        X = X.copy()  # leave the caller's matrix unchanged
        X.sum_duplicates()
        X.eliminate_zeros()
        low, high = extent(X.data)
    return Checked.of(X, (low, high))


def finite_counts(X: Any) -> Any:
    """Return a canonical table, after checking that it contains counts."""
    low, high = X.ends
    sound = low >= 0 and high <= MAX_COUNT
    if sound and X.data.dtype.kind == "f":
        sound = not any(((x < MIN_COUNT) & (x != 0)).any() for x in in_parts(X.data))
    if not sound:
        bad = ~(((X.data >= MIN_COUNT) & (X.data <= MAX_COUNT)) | (X.data == 0))
        refuse_count(first_cell(X, bad))
    return X


def refuse_count(cell: dict[str, Any]) -> None:
    """Raise the error of a value that is no count, given its row, column and value."""
    value = cell["value"]
    if value < 0:
        raise InvalidDataError(
            "[negative_count] Negative values in data: row {row}, column {column} contains "
            "{value}; counts must be zero or more",
            **cell,
        )
    if value < MIN_COUNT:
        raise InvalidDataError(
            "[tiny_count] row {row}, column {column} contains {value}; counts must be zero, or "
            "{smallest:g} or more: multiply X by a constant, or set such values to zero",
            smallest=MIN_COUNT,
            **cell,
        )
    if np.isfinite(value):
        raise InvalidDataError(
            "[huge_count] row {row}, column {column} contains {value}; counts must be {largest:g} "
            "or less",
            largest=MAX_COUNT,
            **cell,
        )
    raise InvalidDataError(_MISSING_COUNT, **cell)


def check_something(X: Any, sample_weight: Floats) -> None:
    """Check that at least one sample with positive weight has a nonzero value."""
    if not X.nnz:  # zeros are not stored
        raise EmptyCorpusError(wording.ALL_EMPTY, n_rows=X.shape[0])
    weighted = sample_weight > 0
    if not weighted.all() and not X.data[np.repeat(weighted, np.diff(X.indptr))].any():
        raise EmptyCorpusError(wording.ALL_WEIGHTED_EMPTY, n_rows=int(np.count_nonzero(weighted)))


_NUMERIC = "biufcmM"
_AS_LIST = ("tolist", "to_list", "to_pylist")
"""Methods of columns in NumPy and pandas, Polars and PyArrow."""


def texts_of(X: Any) -> list[str] | None:
    """Return texts as a list of strings; None if X is anything else, such as a table of counts.

    Texts are a list, a tuple, a one-dimensional array, a column or a data frame of one column, with
    at least one string, or ``Documents``; those without an entry give an empty list. The code is
    ``text_not_a_string`` if another entry is no string, ``lists_of_words`` for texts that are
    already split, ``one_string`` for a single string, ``not_listed`` for collections without a
    fixed order or length and ``texts_in_dask`` for a column of strings in Dask.
    """
    if isinstance(X, str | bytes):
        raise InvalidDataError(_ONE_STRING)
    if isinstance(X, Iterator | Mapping | MappingView | Set):
        raise InvalidDataError(
            "[not_listed] X is a {type}; expected a table of counts, or texts in a list or column, "
            "such as list(texts) or table['text']",
            type=type(X).__name__,
        )
    entries = _entries(X)
    if entries is None:
        return None
    if not len(entries):
        return []
    if not any(isinstance(entry, str | bytes) or entry is None for entry in entries):
        first = entries[0]
        if isinstance(first, list | tuple) and any(isinstance(word, str) for word in first):
            raise InvalidDataError(
                "[lists_of_words] X contains lists of words; expected texts: join the words, as in "
                "[' '.join(words) for words in X]"
            )
        return None
    return _strings(entries)


def check_texts(texts: Any) -> list[str]:
    """Return texts as a list of strings, after checking that there is at least one."""
    if isinstance(texts, str | bytes):
        raise InvalidDataError(_ONE_STRING)
    entries = None if isinstance(texts, Mapping) else _entries(texts)
    if entries is None:
        raise InvalidDataError(
            "[texts_not_a_column] the texts are a {type}; expected a list or a column of strings, "
            "such as table['text']",
            type=type(texts).__name__,
        )
    if not len(entries):
        raise EmptyCorpusError(wording.NO_DOCUMENTS)
    return _strings(entries)


def _entries(X: Any) -> Sequence[Any] | None:
    """Return the entries of a list or column, or of a table with one; None for anything else."""
    if isinstance(X, list | tuple):
        return X
    if hasattr(X, "__dask_graph__"):
        if _is_column_of_strings(X):
            raise InvalidDataError(
                "[texts_in_dask] the texts are in a Dask collection, and their words are counted "
                "only on this machine; write them to Parquet files and give "
                "read_corpus('texts/*.parquet'), which counts words on the workers, or bring them "
                "here with X.compute()"
            )
        return None
    if hasattr(X, "texts") and hasattr(X, "ids") and not hasattr(X, "vocabulary"):
        return list(X.texts)  # Documents
    if hasattr(X, "columns"):
        names = list(getattr(X, "column_names", X.columns))  # PyArrow and others
        return _entries(X[names[0]]) if len(names) == 1 else None
    if isinstance(X, np.ndarray):
        X = X[:, 0] if X.ndim == 2 and X.shape[1] == 1 else X
        return X.tolist() if X.ndim == 1 and X.dtype.kind not in _NUMERIC else None
    if getattr(getattr(X, "dtype", None), "kind", "O") in _NUMERIC:
        return None
    for method in _AS_LIST:
        if hasattr(X, method):
            found = getattr(X, method)()
            return found if isinstance(found, list) else None
    return list(X) if isinstance(X, Sequence) else None


def _is_column_of_strings(X: Any) -> bool:
    """Whether a Dask collection, which is not computed, has one column, and not of numbers."""
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or (len(shape) == 2 and shape[1] != 1):
        return False
    dtype = X.dtypes.iloc[0] if hasattr(X, "columns") and len(shape) == 2 else X.dtype
    return getattr(dtype, "kind", "O") not in _NUMERIC


def _strings(entries: Sequence[Any]) -> list[str]:
    for place, entry in enumerate(entries):
        if not isinstance(entry, str):
            raise InvalidDataError(
                "[text_not_a_string] text {place} is of type {type}; expected a string: {remedy}",
                place=place,
                type=type(entry).__name__,
                remedy=Message(_remedy(entry)),
            )
    return list(entries)


def _remedy(entry: Any) -> str:
    if isinstance(entry, bytes):
        return "[decode_text] decode it first, as in text.decode('utf-8')"
    if isinstance(entry, list | tuple | np.ndarray):
        return "[join_words] join its words, as in ' '.join(words)"
    missing = entry is None or type(entry).__name__ in ("NAType", "NaTType")
    missing = missing or (isinstance(entry, float | np.floating) and bool(np.isnan(entry)))
    return (
        "[fill_text] leave out missing texts, or replace them with '', as in column.fillna('')"
        if missing
        else "[make_string] convert it with str, or leave it out"
    )
