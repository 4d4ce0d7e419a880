"""MultiviewMixture: a mixture of views, groups of columns that are independent of each other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._fit import warn_caller
from momentree._types import Floats, Ints
from momentree._validation import check_missing
from momentree.core import choices, sparse
from momentree.exceptions import InvalidDataError, InvalidParameterError, MomentreeWarning
from momentree.messages import wording
from momentree.models._product_mixture import ProductMixture, Unencoded
from momentree.models._product_starts import ProductData, ProductStart
from momentree.models._steps import Decomposer
from momentree.models._tables import (
    ViewColumns,
    as_table,
    checked_table,
    columns_of_views,
    is_list_of_tables,
    pandas_of,
    table_names,
)
from momentree.persistence import fields
from momentree.preprocessing.mixed_columns import Encoded

ViewKind = Literal["auto", "number", "yes_no", "count", "category", "words"]


@dataclass(eq=False, repr=False)
class MultiviewMixture(ProductMixture):
    """Cluster samples that are described by three or more views.

        Y ~ Discrete(omega),   view_v | Y = j  independent,  E[view_v | Y = j] = mu_vj

    Views are measured separately, such as laboratory values, codes and words of a report. They may
    have different sizes and kinds.

    Parameters
    ----------
    n_components : int >= 1 or "auto", default=8
        Number of components k. "auto" fits 1, 2, ... components, up to 30, until BIC has not fallen
        three times in a row, and keeps the fit of lowest BIC without a component of fewer than five
        samples, which may be outliers.
    views : mapping, sequence or None, default=None
        Columns of each view of one table: names, positions or a slice, by the name of the view or
        in a list. Other columns are not used. None makes each column a view. It has no effect if
        X is a list of matrices.
    kinds : "auto", mapping or sequence, default="auto"
        "number", "yes_no", "count", "category", "words" or "auto" for each view, by its name or in
        a list. "words" are counts whose total is given, as in topic models. "auto" guesses: columns
        of a data frame each have their own kind, as in :class:`MixedMixture`; a matrix is "yes_no"
        if it contains only 0 and 1, "count" if its values may be counts, as those of a column
        ("words" from 20 columns on), else "number".
    decomposition : str or callable, default="sidiwo"
        Decomposes the moments, as in :class:`MixedMixture`.
    refine : {"em", None}, default="em"
        "em" refines by expectation-maximization, with columns that are independent within a
        component. None returns the conditional means from moments, which assume only that the
        views are independent.
    start : {"auto", "search", "moments"}, default="auto"
        As in :class:`MixedMixture`; moments are those between views, see
        :class:`momentree.moments.ProductMoments`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        omega, descending, sum 1.
    means_ : list of ndarray of shape (n_components, d_v)
        Conditional means of each view: of numbers in their own units, probabilities, means of
        counts; a category of a data frame has a column per level.
    view_names_ : ndarray of str
        Names of the views.
    mean_names_ : list of list of str
        Names of the columns of ``means_``.
    parameters_ : DataFrame
        All parameters in long form.
    labels_ : ndarray of int of shape (n_samples,)
        Component of each sample.
    n_iter_, converged_ : int, bool
        Number of EM steps, and whether they reached `tol`; 1 and True without EM.
    lower_bound_ : float
        Mean log-likelihood of the samples.
    n_parameters_ : int
        Number of free parameters.
    notes_ : list of Message
        What was repaired or is doubtful; ``fit`` also issues these as warnings.
    diagnostics_ : mapping
        "start", and "log_likelihood" of the samples; "bic", with ``n_components="auto"``: the BIC
        of 1, 2, ... components, of all but the chosen number after at most 30 EM steps.
    vocabulary_ : ndarray of str of shape (n_features,)
        Names of all columns; those of a list of matrices begin with the number of the view.
    n_features_in_ : int
        Number of columns of the table, or of all matrices.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Column names, if X was a data frame.

    Other Parameters
    ----------------
    reg_covar : float > 0, default=1e-6
        Smallest variance of a number in a component, as in :class:`MixedMixture`.
    smoothing : float > 0, default=1e-6
        Strength of the prior, in samples: the number of average samples added to every component,
        so that no probability is 0. Numbers are not smoothed.
    max_iter : int >= 1, default=1000
        Maximum number of EM steps.
    tol : float >= 0, default=1e-8
        EM stops when a step raises the log-likelihood, plus the log prior of `smoothing`, by no
        more than this fraction of its size.
    random_state : int, RandomState or None, default=None
        Seed for random decompositions. None means seed 0.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.models`` always gets it.

    See Also
    --------
    MixedMixture : Each column is a view.
    momentree.moments.MultiviewMoments : Cross moments of exactly three views.

    Notes
    -----
    Two views do not determine a mixture: the matrix of their cross moments has many factorizations.
    Divide one of them in two, if its columns are independent within a component.

    All pairs and triples of views enter the moments symmetrically, for any number of views, and no
    view is the reference of the others. The number of columns outside any one view must be at least
    k. The number of columns of a single view may be smaller, which three-view methods do not allow.

    References
    ----------
    .. [1] A. Anandkumar, R. Ge, D. Hsu, S. Kakade, M. Telgarsky. Tensor decompositions for
       learning latent variable models. Journal of Machine Learning Research 15, 2014. Theorem 3.6.
    .. [2] Y. Zhang, J. Kileel. Moment estimation for nonparametric mixture models through implicit
       tensor decomposition. SIAM Journal on Mathematics of Data Science 5, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import MultiviewMixture
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(2, size=2000, p=[0.7, 0.3])
    >>> lab = rng.normal(y[:, None] * [2.0, -1.0], 1.0)
    >>> codes = rng.random((2000, 3)) < np.array([[0.1, 0.2, 0.5], [0.6, 0.1, 0.1]])[y]
    >>> visits = rng.poisson(np.array([[1.0, 3.0], [4.0, 0.5]])[y])
    >>> model = MultiviewMixture(2).fit([lab, codes, visits])
    >>> [means.shape for means in model.means_]
    [(2, 2), (2, 3), (2, 2)]
    >>> bool(np.abs(model.means_[0] - [[0, 0], [2, -1]]).max() < 0.2)
    True
    """

    n_components: int | Literal["auto"] = 8
    _: KW_ONLY
    views: Mapping[str, Any] | Sequence[Any] | None = None
    kinds: str | Mapping[str, Any] | Sequence[Any] = "auto"
    decomposition: Decomposer = "sidiwo"
    refine: choices.Refine | None = "em"
    start: ProductStart = "auto"
    reg_covar: float = 1e-6
    smoothing: float = 1e-6
    max_iter: int = 1000
    tol: float = 1e-8
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    _fields: ClassVar[fields.Fields] = {
        **ProductMixture._fields,
        "views_": fields.of_type(ViewColumns),
        "view_names_": fields.strings("n_views"),
        "_positions": fields.list_of(np.ndarray, "n_views"),  # of the columns of each view
    }

    # --- data -------------------------------------------------------------------------------------

    def _checked(
        self, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
    ) -> tuple[Unencoded | Encoded, int]:
        parts = self._parts(X, feature_names, reset=reset)
        rows = [int(part.shape[0]) for part in parts]
        if len(set(rows)) > 1:
            raise InvalidDataError(wording.VIEWS_OF_DIFFERENT_SAMPLES, n_rows=rows)
        if reset:
            one = not is_list_of_tables(X)
            columns = [self.vocabulary_[at] for at in self._positions] if one else None
            return Unencoded((parts, columns)), rows[0]
        encoded = self.views_.encode(parts)
        for note in encoded.notes:
            warn_caller(MomentreeWarning(note))
        return encoded, rows[0]

    def _learned(self, parts: tuple[list[Any], list[Any] | None], weight: Floats) -> Encoded:
        tables, columns = parts
        self.views_, notes = ViewColumns.from_parts(tables, self._kinds(), weight, columns)
        encoded = self.views_.encode(tables)
        return replace(encoded, notes=notes + encoded.notes)

    def _parts(
        self, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
    ) -> list[Any]:
        """Return the views as data frames or matrices; with `reset`, name their columns."""
        if is_list_of_tables(X):
            parts = [_framed(part) for part in X]
            if reset:
                ends = np.cumsum([part.shape[1] for part in parts])
                self._positions = [
                    np.arange(end - part.shape[1], end, dtype=np.intp)
                    for part, end in zip(parts, ends, strict=True)
                ]
                self.n_features_in_ = int(ends[-1])
                self._forget("feature_names_in_")
                self.view_names_ = np.arange(len(parts)).astype(str).astype(object)
                names = [
                    f"{i}.{name}"
                    for i, part in enumerate(parts)
                    for name in getattr(part, "columns", range(part.shape[1]))
                ]
                self.vocabulary_ = np.array(names, dtype=object)
            if [part.shape[1] for part in parts] != [len(at) for at in self._positions]:
                raise InvalidDataError(
                    "[other_views] the views have {found:and} columns; expected {expected:and}, as "
                    "in fit",
                    found=[int(part.shape[1]) for part in parts],
                    expected=[len(at) for at in self._positions],
                )
        else:
            X = pandas_of(X)
            framed = isinstance(X, pd.DataFrame)
            if framed:
                table: Any = as_table(self, X, feature_names, reset=reset)
            else:
                table = checked_table(self, X, reset=reset)
                table = sparse.as_csr(table) if sp.issparse(table) else table
                table_names(self, table, feature_names, reset=reset)
                check_missing(table)  # names a wrong cell by its column in the table
            if reset:
                self._positions, labels = columns_of_views(self.views, list(self.vocabulary_))
                self.view_names_ = np.array(labels, dtype=object)
            parts = [table.iloc[:, at] if framed else table[:, at] for at in self._positions]
        if reset and len(parts) < 3:
            code = (
                (
                    "[two_views] two views do not determine a mixture, because their cross moments "
                    "can be divided among components in many ways; divide one of them in two, or "
                    "use MixedMixture if all columns are independent within a component"
                )
                if len(parts) == 2
                else (
                    "[too_few_views_given] expected three views or more, but found {found}, from "
                    "{n_features} feature(s); give {parameters.views} or a list of matrices"
                )
            )
            raise InvalidDataError(code, found=len(parts), n_features=self.n_features_in_)
        return parts

    def _kinds(self) -> list[Any]:
        """Return the kind of each view."""
        names = [str(name) for name in self.view_names_]
        kinds = self.kinds
        if isinstance(kinds, str) or not isinstance(kinds, Iterable):
            found = [kinds] * len(names)
        elif isinstance(kinds, Mapping):
            given = {str(name): kind for name, kind in kinds.items()}
            if unknown := [name for name in given if name not in names]:
                raise InvalidParameterError(
                    "[kind_of_no_view] {parameters.kinds} names view {view!r}, but the views are "
                    "{views:all}",
                    view=unknown[0],
                    views=names,
                )
            found = [given.get(name, "auto") for name in names]
        else:
            found = list(kinds)
            if len(found) != len(names):
                raise InvalidParameterError(
                    "[kinds_of_other_views] {parameters.kinds} has {found:~entry/entries} for "
                    "{expected:~view}; give one for each",
                    found=len(found),
                    expected=len(names),
                )
        for name, kind in zip(names, found, strict=True):
            if kind not in get_args(ViewKind):
                raise InvalidParameterError(
                    "[not_a_kind_of_view] the kind of view {view!r} is {value!r}; expected "
                    "{choices:quoted or}",
                    view=name,
                    value=str(kind),
                    choices=get_args(ViewKind),
                )
        return found

    @property
    def _coder(self) -> ViewColumns:
        return self.views_

    @property
    def _groups(self) -> Ints:
        return self.views_.view_of[self.views_.order]

    def _for_moments(self, data: ProductData) -> Any:
        X = data.rows.matrix
        return self.views_.proportions(X[:, : data.columns.n_features], data.columns)

    def _draw(self, labels: Ints, rng: np.random.RandomState) -> list[Any]:
        parts = self.views_.of_views(self._drawn(labels, rng))
        return [coder.decode(part) for coder, part in zip(self.views_.coders, parts, strict=True)]

    def _sizes(self) -> dict[str, int]:
        self.views_.check([len(at) for at in self._positions])
        every = np.concatenate(self._positions)
        if every.dtype.kind != "i" or ((every < 0) | (every >= self.n_features_in_)).any():
            raise InvalidDataError(wording.BAD_ENTRY, name="_positions", value=len(every))
        return {**super()._sizes(), "n_views": len(self._positions)}

    def _saved_params(self) -> dict[str, Any]:
        params = super()._saved_params()
        if self.views is not None:
            places, _ = columns_of_views(self.views, list(self.vocabulary_))
            groups = [
                _plain(group, at) for group, at in zip(_groups(self.views), places, strict=True)
            ]
            named = isinstance(self.views, Mapping)
            params["views"] = (
                dict(zip(map(str, self.views), groups, strict=True)) if named else groups
            )
        self._kinds()  # refuses what no longer is one
        if isinstance(self.kinds, Mapping):
            params["kinds"] = {str(name): kind for name, kind in self.kinds.items()}
        elif not isinstance(self.kinds, str):
            params["kinds"] = list(self.kinds)
        return params

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def means_(self) -> list[Floats]:
        """Conditional means of each view."""
        return self.views_.of_views(self._all_means)

    @property
    def mean_names_(self) -> list[list[str]]:  # type: ignore[override]
        """Names of the columns of ``means_``."""
        names = [
            f"{name}={level}" if name and level else name or level
            for coder in self.views_.coders
            for name, _, level in coder.labels
        ]
        ends = np.cumsum([len(coder.labels) for coder in self.views_.coders])
        return [names[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]

    @property
    def _totals(self) -> Sequence[int]:
        return self.views_.totals

    @property
    def _profile_names(self) -> list[str]:
        found = [
            (view, name)
            for view, names in zip(self.view_names_, self.mean_names_, strict=True)
            for name in names
        ]
        once = len({name for _, name in found}) == len(found)
        names = [name if once else f"{view}.{name}" for view, name in found]
        return [names[i] for i in self.views_.order]


def _groups(views: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
    return list(views.values() if isinstance(views, Mapping) else views)


def _plain(group: Any, at: Ints) -> list[Any]:
    """Return the columns of a view, as given or else as positions, in a form for files."""
    given = [group] if isinstance(group, str | int) else group
    if isinstance(given, list | tuple) and all(isinstance(one, str | int) for one in given):
        return list(given)
    return [int(i) for i in at]


def _framed(part: Any) -> Any:
    """Return a view as a data frame of pandas with string names, or as a matrix."""
    part = pandas_of(part)
    if isinstance(part, pd.DataFrame):
        return part.set_axis(list(map(str, part.columns)), axis=1)
    return part if sp.issparse(part) else np.asarray(part)
