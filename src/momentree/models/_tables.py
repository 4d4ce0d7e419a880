"""Samples given to an estimator as a table with columns of any type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from momentree._validation import check_feature_names
from momentree.core.sparse import check_structure
from momentree.exceptions import InvalidDataError


def as_table(
    estimator: Any, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
) -> pd.DataFrame:
    """Return samples given to an estimator as a data frame whose columns have string names.

    With `reset`, as in ``fit``, set ``n_features_in_``, ``feature_names_in_`` and ``vocabulary_``;
    otherwise check X against them. Sparse matrices become dense.
    """
    X = pandas_of(X)
    framed = isinstance(X, pd.DataFrame)
    if framed and not X.size:
        raise InvalidDataError("empty_table", n_rows=len(X), n_columns=X.shape[1])
    found: Any = checked_table(estimator, X, reset=reset)
    if sp.issparse(found):
        matrix: Any = found
        # SciPy makes no dense matrix of half precision.
        found = (matrix.astype(np.float32) if matrix.dtype == np.float16 else matrix).toarray()
    try:
        table = found.copy(deep=False) if framed else pd.DataFrame(found)
    except ValueError as error:  # such as arrays of several fields
        raise InvalidDataError("refused_by_sklearn", error=str(error)) from error
    table.columns = pd.Index(table_names(estimator, X, feature_names, reset=reset), dtype=object)
    return table


def pandas_of(X: Any) -> Any:
    """Return a data frame of Polars or PyArrow as one of pandas, and anything else as it is."""
    if hasattr(X, "to_pandas") and not isinstance(X, pd.DataFrame):
        return X.to_pandas()
    return X


def checked_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return a table after the checks of scikit-learn, which set or compare its columns."""
    check_structure(X)
    options: dict[str, Any] = {"skip_check_array": True}
    if not isinstance(X, pd.DataFrame):
        options = {"accept_sparse": True, "dtype": None, "ensure_all_finite": False}
    try:
        return validate_data(estimator, X, reset=reset, **options)
    except InvalidDataError:
        raise
    except ValueError as error:
        raise InvalidDataError("refused_by_sklearn", error=str(error)) from error


def table_names(
    estimator: Any, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
) -> list[str]:
    """Return the names of the columns of a checked table; with `reset`, as ``vocabulary_``."""
    if feature_names is not None:
        names = [str(name) for name in check_feature_names(feature_names, X.shape[1])]
    elif reset:
        columns = getattr(X, "columns", None)
        d = estimator.n_features_in_
        names = list(map(str, range(d) if columns is None else columns))
    else:
        return [str(name) for name in estimator.vocabulary_]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidDataError("column_name_twice", column=twice)
    if reset:
        estimator.vocabulary_ = np.array(names, dtype=object)
    return names
