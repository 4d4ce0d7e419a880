"""Tables for mixtures of columns of several kinds, and views of several columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from momentree._types import Floats, Ints
from momentree._validation import check_feature_names, check_missing
from momentree.core.sparse import as_csr, check_structure
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message, wording
from momentree.objects import ProductColumns
from momentree.persistence import storable
from momentree.preprocessing.matrix_columns import MatrixColumns
from momentree.preprocessing.mixed_columns import Encoded, MixedColumns, numbers_of


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
        raise InvalidDataError(
            "[empty_table] the table has {n_rows:~row} and {n_columns:~column}; expected at least "
            "1 sample and a minimum of 1 column",
            n_rows=len(X),
            n_columns=X.shape[1],
        )
    found: Any = checked_table(estimator, X, reset=reset)
    if sp.issparse(found):
        matrix: Any = found
        # SciPy makes no dense matrix of half precision.
        found = (matrix.astype(np.float32) if matrix.dtype == np.float16 else matrix).toarray()
    try:
        table = found.copy(deep=False) if framed else pd.DataFrame(found)
    except ValueError as error:  # such as arrays of several fields
        raise InvalidDataError(wording.REFUSED_BY_SKLEARN, error=str(error)) from error
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
        raise InvalidDataError(wording.REFUSED_BY_SKLEARN, error=str(error)) from error


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
        raise InvalidDataError(
            "[column_name_twice] two columns have the name {column!r}; rename one", column=twice
        )
    if reset:
        estimator.vocabulary_ = np.array(names, dtype=object)
    return names


BLOCKS = ("number", "yes_no", "count")
"""Order of the kinds of encoded columns; levels of categories and words come last."""


@storable
@dataclass(frozen=True)
class ViewColumns:
    """The columns of all views, encoded view by view and ordered by kind.

    Attributes
    ----------
    coders : tuple of MixedColumns or MatrixColumns
        How the columns of each view become numbers.
    """

    coders: tuple[MixedColumns | MatrixColumns, ...]

    @classmethod
    def from_parts(
        cls,
        parts: Sequence[Any],
        kinds: Sequence[Any],
        weight: Floats,
        columns: Sequence[Any] | None,
    ) -> tuple[ViewColumns, list[Message]]:
        """Return the columns of the views of a fit, and notes; `columns` are names in an array."""
        coders: list[MixedColumns | MatrixColumns] = []
        notes: list[Message] = []
        for i, (part, kind) in enumerate(zip(parts, kinds, strict=True)):
            found: tuple[MixedColumns | MatrixColumns, list[Message]]
            if isinstance(part, pd.DataFrame) and kind != "words":
                given = kind if isinstance(kind, Mapping) else dict.fromkeys(part.columns, kind)
                found = MixedColumns.from_table(part, given, weight)
            else:
                X, missing, names = _matrix(part)
                names = names if columns is None else columns[i]
                found = MatrixColumns.from_matrix(X, missing, names, str(kind), weight)
            coders.append(found[0])
            notes += found[1]
        return cls(tuple(coders)), notes

    @property
    def view_of(self) -> Ints:
        """View of each encoded column, view by view."""
        sizes = [len(coder.labels) for coder in self.coders]
        return np.repeat(np.arange(len(sizes)), sizes).astype(np.intp)

    @property
    def order(self) -> Ints:
        """Encoded columns ordered by kind, as positions among those ordered view by view."""
        kinds = [kind for coder in self.coders for _, kind, _ in coder.labels]
        rank = [BLOCKS.index(kind) if kind in BLOCKS else len(BLOCKS) for kind in kinds]
        return np.argsort(rank, kind="stable").astype(np.intp)

    @property
    def labels(self) -> list[tuple[str, str, str]]:
        """Column, kind and level of each encoded column, ordered by kind."""
        found = [label for coder in self.coders for label in coder.labels]
        return [found[i] for i in self.order]

    @property
    def units(self) -> tuple[Floats, Floats]:
        """Shift and scale of the numbers."""
        parts = [coder.units for coder in self.coders]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    @property
    def category_of(self) -> Ints:
        """Category of each level or word; the words of a view are one category."""
        parts, first = [np.empty(0, dtype=np.intp)], 0
        for coder in self.coders:
            own = coder.category_of
            parts.append(own + first)
            first += int(own.max(initial=-1)) + 1
        return np.concatenate(parts)

    @property
    def totals(self) -> list[int]:
        """Sum of each category in a new sample: the mean number of words of a view, else 1."""
        found: list[int] = []
        for coder in self.coders:
            if isinstance(coder, MatrixColumns) and coder.kind == "words":
                found.append(max(1, round(coder.total)))
            else:
                found += [1] * (int(coder.category_of.max(initial=-1)) + 1)
        return found

    def check(self, sizes: Sequence[int]) -> None:
        """Raise an error unless the parts describe views of these sizes, as files may not."""
        if len(self.coders) != len(sizes):
            raise InvalidDataError(wording.BAD_ENTRY, name="views_", value=len(self.coders))
        for coder, size in zip(self.coders, sizes, strict=True):
            coder.check(size)

    def encode(self, parts: Sequence[Any]) -> Encoded:
        """Return encoded samples, columns ordered by kind."""
        found = [
            coder.encode(_table(part, coder))
            if isinstance(coder, MixedColumns)
            else coder.encode(*_matrix(part)[:2])
            for coder, part in zip(self.coders, parts, strict=True)
        ]
        order = self.order
        X = sp.csr_array(sp.hstack([one.X for one in found], format="csr"))[:, order]
        n, missing = X.shape[0], None
        if any(one.missing is not None for one in found):
            gaps = []
            for coder, one in zip(self.coders, found, strict=True):
                wide = len(coder.labels)
                gap = sp.csr_array((n, wide)) if one.missing is None else one.missing
                gaps.append(sp.hstack([gap, sp.csr_array((n, wide - gap.shape[1]))]))
            missing = sp.csr_array(sp.hstack(gaps, format="csr"))[:, order]
        base = np.sum([one.log_base for one in found], axis=0)
        notes = [note for one in found for note in one.notes]
        return Encoded(X, missing, base, notes)

    def of_views(self, values: Floats) -> list[Floats]:
        """Return columns (k, d) ordered by kind as one array per view, in the order of the view."""
        back = np.empty(values.shape[1], dtype=np.intp)
        back[self.order] = np.arange(values.shape[1])
        ends = np.cumsum([len(coder.labels) for coder in self.coders])[:-1]
        return [part.copy() for part in np.split(values[:, back], ends, axis=1)]

    def proportions(self, X: Any, columns: ProductColumns) -> Any:
        """Return X with the words of each view divided by their number in each row."""
        levels = columns.parts[3]
        if not any(getattr(coder, "kind", "") == "words" for coder in self.coders):
            return X
        right = X[:, levels]
        g = sp.csr_array(np.eye(columns.n_categories)[columns.category_of])
        totals = (right @ g).toarray()
        inverse = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(right.indptr))
        scaled = right.data * inverse[rows, columns.category_of[right.indices]]
        part = sp.csr_array((scaled, right.indices, right.indptr), right.shape)
        return sp.csr_array(sp.hstack([X[:, : levels.start], part], format="csr"))


def is_list_of_tables(X: Any) -> bool:
    """Return whether X is a sequence of tables rather than one table of rows."""
    if not isinstance(X, list | tuple) or not X:
        return False
    first = X[0]
    if hasattr(first, "shape"):
        return len(first.shape) == 2
    return isinstance(first, list | tuple) and bool(first) and isinstance(first[0], list | tuple)


def columns_of_views(views: Any, names: Sequence[str]) -> tuple[list[Ints], list[str]]:
    """Return the columns and the name of each view of a table.

    Parameters
    ----------
    views : None, mapping or sequence
        The parameter `views`; None is one view per column.
    names : sequence of str
        Names of the columns.
    """
    if views is None:
        return [np.array([i], dtype=np.intp) for i in range(len(names))], list(names)
    if isinstance(views, Mapping):
        labels, groups = [str(label) for label in views], list(views.values())
    elif isinstance(views, list | tuple):
        labels, groups = [str(i) for i in range(len(views))], list(views)
    else:
        raise InvalidParameterError(
            "[not_views] {parameters.views:=value}; expected a mapping of names of views to their "
            "columns, a list of lists of columns, or None",
            value=views,
        )
    found = [_positions(group, names, label) for group, label in zip(groups, labels, strict=True)]
    every = np.concatenate([np.empty(0, dtype=np.intp), *found])
    if len(np.unique(every)) < len(every):
        values, times = np.unique(every, return_counts=True)
        raise InvalidParameterError(
            "[column_in_two_views] column {column!r} is in two views; give each column to one view",
            column=names[int(values[times > 1][0])],
        )
    return found, labels


def _positions(group: Any, names: Sequence[str], label: str) -> Ints:
    if isinstance(group, slice):
        at = np.arange(len(names))[group]
    else:
        known = {name: i for i, name in enumerate(names)}
        entries = [group] if isinstance(group, str | int | np.integer) else list(group)
        at = np.empty(len(entries), dtype=np.intp)
        for i, entry in enumerate(entries):
            place = known.get(str(entry), -1)
            if place < 0 and isinstance(entry, int | np.integer):
                place = int(entry) if 0 <= int(entry) < len(names) else -1
            if place < 0:
                raise InvalidParameterError(
                    "[no_column_of_view] view {view!r} has column {column!r}, but the columns are "
                    "{columns:all}",
                    view=label,
                    column=str(entry),
                    columns=list(names),
                )
            at[i] = place
    if not len(at):
        raise InvalidParameterError(
            "[empty_view] view {view!r} has no columns; give it columns or remove it", view=label
        )
    return np.asarray(at, dtype=np.intp)


def _matrix(part: Any) -> tuple[Any, Any | None, Any]:
    """Return a view as a CSR array, its missing cells, and names of its columns."""
    if isinstance(part, pd.DataFrame):
        columns = [numbers_of(part.iloc[:, i], str(part.columns[i])) for i in range(part.shape[1])]
        return *check_missing(np.stack(columns, axis=1)), np.array(part.columns)
    X, missing = check_missing(part)
    return X, missing, np.arange(X.shape[1]).astype(str)


def _table(part: Any, coder: MixedColumns) -> pd.DataFrame:
    """Return a view whose columns may have several kinds as a data frame."""
    if isinstance(part, pd.DataFrame):
        return part
    dense: Any = as_csr(part).toarray() if sp.issparse(part) else part
    return pd.DataFrame(dense, columns=coder.names)
