"""MixedMixture: mixtures of numbers, yes/no, counts and categories, a kind for each column."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._fit import warn_caller
from momentree._types import Floats, Ints
from momentree._validation import rules
from momentree.core.choices import Refine
from momentree.exceptions import MomentreeWarning
from momentree.models._product_mixture import ProductMixture, Unencoded
from momentree.models._product_starts import ProductStart
from momentree.models._steps import Decomposer
from momentree.models._tables import as_table
from momentree.persistence import fields
from momentree.preprocessing import MixedColumns, column_kinds, mixed_columns


@dataclass(eq=False, repr=False)
class MixedMixture(ProductMixture):
    """Cluster tables with columns of different kinds by a mixture of independent columns.

        Y ~ Discrete(omega),   x_w | Y = j ~ P_w(theta_wj), independent

    P_w is normal for a number, Bernoulli for yes/no, Poisson for a count, and discrete for a
    category.

    Parameters
    ----------
    n_components : int >= 1 or "auto", default=8
        Number of components k. "auto" fits 1, 2, ... components, up to 30, until BIC has not fallen
        three times in a row, and keeps the fit of lowest BIC without a component of fewer than five
        samples, which may be outliers.
    kinds : "auto" or mapping of column to kind, default="auto"
        "number", "yes_no", "count", "category" or "auto" by name of column; columns of an array
        have the names 0, 1, ... The kind of other columns is guessed, see
        :func:`momentree.preprocessing.guess_kind`, and reported in ``kinds_``.
    decomposition : str or callable, default="sidiwo"
        "sidiwo", "svtd", "tensor_power_method", "als", "svd_method", "eigendecomposition",
        "jennrich" or "random_projections" from ``momentree.decomposition``, or a function with the
        same signature; decomposes the moments.
    refine : {"em", None}, default="em"
        "em" refines starts by expectation-maximization. None returns the estimates from moments.
    start : {"auto", "search", "moments"}, default="auto"
        "moments" decomposes the moments between columns, which have no bias; see
        :class:`momentree.moments.ProductMoments`. "search" searches for the most likely mixture:
        it divides components, merges similar ones and runs EM; see
        :class:`momentree.refinement.MixtureSearch`. "auto" tries both, on several scales of the
        columns, and keeps the most likely mixture; without EM it is "moments".

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        omega, descending, sum 1.
    means_ : ndarray of shape (n_components, n_means)
        Mean of each number in its own unit, probability of each yes/no, mean of each count and
        probability of each level of a category; ``mean_names_`` has the names of its columns.
    variances_ : ndarray of shape (n_components, n_numbers)
        Variances of the numbers, in the order of ``means_``.
    parameters_ : DataFrame
        The same in long form: column, kind, value, component, estimate, variance.
    mean_names_ : list of str
        Names of the columns of ``means_``; "column=value" for a level.
    kinds_ : dict of str to str
        Kind of each column; "" for one that is left out, because it has no two different values.
    columns_ : MixedColumns
        How columns become numbers.
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
        Column names; "0", "1", ... if there are none.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Column names, if X was a data frame.

    Other Parameters
    ----------------
    reg_covar : float > 0, default=1e-6
        Smallest variance of a number in a component, in squared units of the column, and at most
        this fraction of the variance of the column. It is no less than the variance of rounding,
        step² / 12, if all differences of values are multiples of the smallest, the step. Of a step
        above the standard deviation of the column, that deviation counts.
    smoothing : float > 0, default=1e-6
        Strength of the prior, in samples: the number of average samples added to every component,
        so that no probability is 0. Numbers are not smoothed. The default maximizes the
        likelihood; for rare values in new samples, 1 is better.
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
    GaussianMixture : Numbers that depend on each other within a component.
    BernoulliMixture : Yes/no only, with editing and reports.

    Notes
    -----
    Missing values do not affect the likelihood, which assumes that they are missing at random. At
    prediction, values of a category that did not occur in ``fit`` count as missing, with a warning.
    So do numbers more than a million interquartile ranges from the median.

    Poisson counts have a variance equal to their mean within a component. Counts that vary more
    need more components; for very uneven ones use the kind "category" or, after taking logarithms,
    "number".

    A number that has the same value in many rows attracts components with almost no variance,
    whose likelihood is high; ``fit`` warns about them. Use the kind "category" for such a column,
    or raise `reg_covar`.

    Time O(nnz k) per EM step; memory O(n (d + k)) with d the number of columns including levels.

    References
    ----------
    .. [1] Y. Zhang, J. Kileel. Moment estimation for nonparametric mixture models through implicit
       tensor decomposition. SIAM Journal on Mathematics of Data Science 5, 2023.
    .. [2] P. Jain, S. Oh. Learning mixtures of discrete product distributions using spectral
       decompositions. COLT 2014.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from momentree import MixedMixture
    >>> rng = np.random.default_rng(0)
    >>> old = rng.random(600) < 0.4
    >>> table = pd.DataFrame({
    ...     "age": np.where(old, rng.normal(70, 5, 600), rng.normal(30, 5, 600)),
    ...     "smokes": rng.random(600) < np.where(old, 0.1, 0.5),
    ...     "visits": rng.poisson(np.where(old, 3.0, 0.2)),
    ...     "plan": np.where(rng.random(600) < np.where(old, 0.9, 0.2), "basic", "plus"),
    ... })
    >>> model = MixedMixture(2).fit(table)
    >>> model.kinds_
    {'age': 'number', 'smokes': 'yes_no', 'visits': 'count', 'plan': 'category'}
    >>> model.mean_names_
    ['age', 'smokes', 'visits', 'plan=basic', 'plan=plus']
    >>> bool(np.abs(model.means_[:, 0] - [30, 70]).max() < 1)
    True
    """

    n_components: int | Literal["auto"] = 8
    _: KW_ONLY
    kinds: Literal["auto"] | Mapping[Any, str] = "auto"
    decomposition: Decomposer = "sidiwo"
    refine: Refine | None = "em"
    start: ProductStart = "auto"
    reg_covar: float = 1e-6
    smoothing: float = 1e-6
    max_iter: int = 1000
    tol: float = 1e-8
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    _rules: ClassVar[rules.Rules] = {
        **ProductMixture._rules,
        "kinds": lambda _, value: column_kinds.check_kinds(value),
    }
    _fields: ClassVar[fields.Fields] = {
        **ProductMixture._fields,
        "columns_": fields.of_type(MixedColumns),
    }

    @property
    def kinds_(self) -> dict[str, str]:
        """Kind of each column; "" for one that is left out."""
        return dict(zip(map(str, self.columns_.names), self.columns_.kinds, strict=True))

    def _checked(
        self, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
    ) -> tuple[Unencoded | mixed_columns.Encoded, int]:
        table = as_table(self, X, feature_names, reset=reset)
        if reset:
            return Unencoded(table), len(table)
        encoded = self.columns_.encode(table)
        for note in encoded.notes:
            warn_caller(MomentreeWarning(note))
        return encoded, len(table)

    def _learned(self, parts: pd.DataFrame, weight: Floats) -> mixed_columns.Encoded:
        kinds = {} if isinstance(self.kinds, str) else self.kinds
        given = {str(name): kind for name, kind in kinds.items()}
        self.columns_, notes = MixedColumns.from_table(parts, given, weight)
        encoded = self.columns_.encode(parts)
        return replace(encoded, notes=notes + encoded.notes)

    @property
    def _coder(self) -> MixedColumns:
        return self.columns_

    @property
    def _groups(self) -> Ints:
        n = len(self.columns_.single)
        return np.concatenate([np.arange(n), n + self.columns_.category_of]).astype(np.intp)

    @property
    def means_(self) -> Floats:
        """Means and probabilities of the components."""
        return self._all_means

    def _draw(self, labels: Ints, rng: np.random.RandomState) -> pd.DataFrame:
        return self.columns_.decode(self._drawn(labels, rng))

    def _saved_params(self) -> dict[str, Any]:
        params = super()._saved_params()
        column_kinds.check_kinds(self.kinds)
        if not isinstance(self.kinds, str):
            params["kinds"] = {str(name): kind for name, kind in self.kinds.items()}
        return params

    def _sizes(self) -> dict[str, int]:
        self.columns_.check(self.n_features_in_)
        return super()._sizes()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags
