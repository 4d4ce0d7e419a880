"""Mixtures of Gaussians with four kinds of covariances, without a random start."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_shape, check_values, first_cell, rules
from momentree.core import choices, ties
from momentree.estimators.names import name_by_difference
from momentree.estimators.node import TreeNode
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.inference import log_posterior
from momentree.messages import Message, wording
from momentree.models._density import DensityFit, DensityModel, log
from momentree.models._gaussian_data import GaussianComponents, GaussianData
from momentree.models._gaussian_fit import GaussianSearch
from momentree.models._gaussian_starts import Start
from momentree.models._steps import Decomposer, decomposed
from momentree.models.selection import FEW_SAMPLES
from momentree.persistence import fields
from momentree.preprocessing.kinds import MAX_SIZE

MAX_COVARIANCES = 1 << 27
"""Entries of all covariances, at most (1 GB)."""


@dataclass(eq=False, repr=False)
class GaussianMixture(DensityModel):
    """Fit a mixture of Gaussians; nothing is random.

        P[x] = sum_j omega_j N(x; mu_j, Sigma_j)

    EM starts from several groupings of the samples and from moments, and the most likely result
    counts. The same data give the same components on every run, in any order of rows.

    Parameters
    ----------
    n_components : int >= 1 or "auto", default=8
        Number of components k, which may exceed the number of features. "auto" fits 1, 2, ...
        components, up to 30, until BIC has not fallen three times in a row, and keeps the fit of
        lowest BIC without a component of fewer than five samples, which may be outliers.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        "full": each component has its own covariances. "tied": all components share them. "diag":
        features are independent within a component. "spherical": and have one variance, in the
        units of X, so bring the columns to comparable units first.
    decomposition : str or callable, default="sidiwo"
        How the moments are decomposed, for the starts from moments: the name of a function in
        :mod:`momentree.decomposition`, or such a function.
    refine : {"em", None}, default="em"
        None returns the components of the start, without EM.
    start : {"auto", "groups", "search", "tree", "moments"}, default="auto"
        "groups": groupings by Ward's method, by centers that are far from each other, by k-means
        from these, by Ward's method after sphering, and by a tree; for "tied" also by average
        linkage and by cuts of single columns. "moments": moments of spherical Gaussians
        [1]_, which need ``n_components <= n_features``; otherwise a tree. "tree": the leaves of a
        tree by D-SIDIWO. "search": divisions, merges and exchanges of components while these raise
        the likelihood, which takes longer and often finds more. "auto": groups; up to 8 components
        groups by squares and products and, with 500 samples per component, moments; for "tied" a
        brief search. After EM from "groups" or "auto", pairs of components are merged and others
        divided while this raises the likelihood, for a short time; not with "full" covariances,
        whose many statistics make it slow.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        omega, in descending order, sum 1.
    means_ : ndarray of shape (n_components, n_features)
        mu in rows; also as ``components_``.
    covariances_ : ndarray
        Of shape (n_components,) for "spherical", (n_features, n_features) for "tied",
        (n_components, n_features) for "diag" and (n_components, n_features, n_features) for "full";
        `reg_covar` included.
    labels_ : ndarray of int of shape (n_samples,)
        Most probable component of each sample.
    n_parameters_ : int
        Number of free parameters.
    n_iter_ : int
        Number of EM steps from the chosen start, or after exchanges.
    n_passes_ : float
        Passes over the data: how often a row was read, on average.
    converged_ : bool
        Whether EM reached `tol`.
    lower_bound_ : float
        Mean log-likelihood of the samples of ``fit``, in nats.
    notes_ : list of Message
        What was left out of the fit, and components that describe too few samples. ``fit`` warns of
        them too.
    diagnostics_ : dict
        "start": name of the chosen start, with ", exchanges" if exchanges raised the likelihood;
        "bic", with ``n_components="auto"``: the BIC of 1, 2, ...
        components.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Column names, if X was a data frame.
    vocabulary_ : ndarray of str of shape (n_features,)
        Column names; "0", "1", ... if there are none.

    Other Parameters
    ----------------
    reg_covar : float >= 0, default=1e-6
        Added to all variances, in squared units of X, as in scikit-learn. It keeps the likelihood
        finite.
    smoothing : float >= 0, default=0.0
        Strength of the prior, in samples: the number of samples of the average covariance within
        components that are added to every component; at least 1 for ``n_components="auto"``. The
        most likely mixture may contain components of a few almost equal samples; with a smoothing
        of 1, such components gain little, and BIC does not choose them. "tied" needs none.
    max_iter : int >= 1, default=200
        Maximum number of EM steps.
    tol : float >= 0, default=1e-4
        EM stops when a step raises the mean log-likelihood of a sample by no more than this, in
        nats: that of densities depends on units, so a fraction of its size would mean nothing.
    random_state : int, RandomState or None, default=None
        For a `decomposition` that draws random numbers; no other part does.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.models`` always gets it.

    Notes
    -----
    Columns are standardized internally, but for "spherical" by one factor; results are in the units
    of X. Apart from `reg_covar`, "tied", "diag" and "full" therefore do not depend on units, and
    "tied" and "full" hardly on linear maps. EM takes the expectation over missing values (NaN),
    which must be missing at random. A row whose value is a million times farther from the median
    than typical values is left out of the fit, assigned afterwards, and noted.

    All log-densities are linear in statistics of the samples: (x, |x|^2), (x, x * x), x or
    (x, x x'). EM is one matrix product with them in each direction. Time per step O(n d k), for
    "full" O(n d^2 k); a fit takes 100 to 300 steps for all starts. Memory: 128 MB for statistics,
    at most, and the samples; sparse samples of more than 33 million values stay sparse for
    "spherical" and "diag".

    References
    ----------
    .. [1] D. Hsu and S. M. Kakade. Learning mixtures of spherical Gaussians: moment methods and
       spectral decompositions. ITCS 2013.
    .. [2] A. P. Dempster, N. M. Laird and D. B. Rubin. Maximum likelihood from incomplete data via
       the EM algorithm. Journal of the Royal Statistical Society B 39, 1977.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from momentree import GaussianMixture
    >>> X, species = load_iris(return_X_y=True)
    >>> model = GaussianMixture(3).fit(X)
    >>> model.means_.shape, model.covariances_.shape
    ((3, 4), (3, 4, 4))
    >>> int((model.labels_ == model.labels_[0]).sum())
    50
    """

    n_components: int | Literal["auto"] = 8
    _: KW_ONLY
    covariance_type: choices.CovarianceType = "full"
    decomposition: Decomposer = "sidiwo"
    refine: choices.Refine | None = "em"
    start: Start = "auto"
    reg_covar: float = 1e-6
    smoothing: float = 0.0
    max_iter: int = 200
    tol: float = 1e-4
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    _rules: ClassVar[rules.Rules] = {
        **DensityModel._rules,
        "covariance_type": get_args(choices.CovarianceType),
        "refine": rules.REFINE,
        "start": get_args(Start),
        "reg_covar": rules.number(at_least=0),
        "smoothing": rules.number(at_least=0),
    }
    _fields: ClassVar[fields.Fields] = {
        **DensityModel._fields,
        "means_": fields.array("k", "d"),
        "covariances_": fields.ANYTHING,  # checked with the other parameters
        "_covariance_type": fields.choice(*get_args(choices.CovarianceType)),  # of the fit
    }

    def _checked(
        self, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
    ) -> tuple[tuple[Any, Any | None], int]:
        values, missing, names = check_values(self, X, feature_names, reset=reset)
        if len(values.data) and float(np.abs(values.data).max()) > MAX_SIZE:
            cell = first_cell(values, np.abs(values.data) > MAX_SIZE)
            raise InvalidDataError(wording.HUGE_VALUE, largest=MAX_SIZE, **cell)
        if reset:
            self.vocabulary_ = names
        return (values, missing), int(values.shape[0])

    def _fit_mixture(
        self, samples: Any, weight: Floats, n_components: int, *, brief: bool = False
    ) -> DensityFit:
        del brief  # most of the time is that of the starts
        X, missing = samples
        d = X.shape[1]
        entries = {"full": n_components * d * d, "tied": d * d}.get(self.covariance_type, 0)
        if entries > MAX_COVARIANCES:
            raise InvalidParameterError(
                "[too_many_covariances] the covariances of {n_features:~feature} would take "
                "{gigabytes:.1f} GB with {parameters.covariance_type:{covariance_type}}; use "
                "{parameters.covariance_type:=instead} or fewer features",
                covariance_type=self.covariance_type,
                instead="diag",
                n_features=d,
                gigabytes=entries * 8 / 1e9,
            )
        # Without a prior, BIC prefers components of repeated values, however few.
        smoothing = max(self.smoothing, 1.0) if self.n_components == "auto" else self.smoothing
        data = GaussianData.prepared(X, missing, weight, self.covariance_type, self.reg_covar)
        search = GaussianSearch(
            n_components,
            start=self.start,
            refine=self.refine is not None,
            smoothing=smoothing,
            max_iter=self.max_iter,
            tol=self.tol,
            decompose=lambda moments: decomposed(
                moments, n_components, self.decomposition, self.random_state
            ),
        )
        result = search.fit(data)
        log.info("most likely start: %s", result.start)
        components = result.components
        joint = components.log_joint(X, missing)
        labels = np.asarray(ties.largest(joint), dtype=np.intp)
        likelihoods = log_posterior(joint)[1]
        weighted = weight > 0  # an extreme row counts too, but not one of weight zero
        notes = [*data.notes, *self._doubts(components, labels, weight)]
        # Extreme rows are the least likely ones.
        n_out = sum(note.values["n_rows"] for note in notes if note.code == "extreme_rows")
        usual = np.argsort(np.where(weighted, likelihoods, np.inf), kind="stable")[n_out:]
        usual = usual[weighted[usual]]
        return DensityFit(
            {
                "weights_": components.weights,
                "means_": components.means,
                "covariances_": components.covariances,
                "_covariance_type": self.covariance_type,
            },
            labels,
            float(weight[weighted] @ likelihoods[weighted]),
            components.n_parameters,
            result.n_iter,
            result.converged,
            {"start": result.start, "reason": result.reason, "notes": notes},
            (float(weight[usual] @ likelihoods[usual]), float(weight[usual].sum())),
        )

    def _doubts(
        self, components: GaussianComponents, labels: Ints, weight: Floats
    ) -> list[Message]:
        """Return a note if components have too few samples to be a group."""
        k, d = components.means.shape
        needed = {"full": d + 1, "tied": FEW_SAMPLES}.get(self.covariance_type, 2)
        sizes = np.bincount(labels, weights=weight > 0, minlength=k)
        few = [int(j) for j in np.flatnonzero(sizes < needed)]
        if k == 1 or not few or (self.smoothing > 0 and self.covariance_type != "tied"):
            return []
        if self.covariance_type == "tied":
            return [
                Message(
                    "[components_set_apart] {n_few:~component} {n_few:?has/have} fewer than "
                    "{needed} {samples} (number {components:and}): shared covariances have the "
                    "highest likelihood if outliers are set apart from the others; if these are no "
                    "groups, remove them from the data or use {parameters.covariance_type:'full'}",
                    n_few=len(few),
                    components=few,
                    needed=needed,
                )
            ]
        return [
            Message(
                "[components_of_few_samples] {n_few:~component} {n_few:?has/have} fewer than "
                "{needed} {samples} (number {components:and}), too few for covariances of "
                "{n_features:~feature}: a narrow component has a high likelihood, but may be no "
                "group; use {parameters.smoothing:1}, fewer components or "
                "{parameters.covariance_type:'tied'}",
                n_few=len(few),
                components=few,
                needed=needed,
                n_features=d,
            )
        ]

    # --- results ----------------------------------------------------------------------------------

    @property
    def _components(self) -> GaussianComponents:
        return GaussianComponents(
            self.weights_, self.means_, self.covariances_, self._covariance_type
        )

    @property
    def components_(self) -> Floats:
        """The same as ``means_``, under the name that all models of this package have."""
        return np.asarray(self.means_)

    @property
    def precisions_(self) -> Floats:
        """Inverses of ``covariances_``, of the same shape."""
        if self._covariance_type in ("spherical", "diag"):
            return np.asarray(1.0 / self.covariances_)
        return np.asarray(np.linalg.inv(self.covariances_))

    def _log_joint(self, samples: Any) -> Floats:
        return self._components.log_joint(*samples)

    def _draw(self, labels: Ints, rng: np.random.RandomState) -> Floats:
        return self._components.draw(labels, rng)

    @property
    def _profiles(self) -> Floats:
        return np.asarray(self.means_)

    @property
    def _within(self) -> Floats:
        """Standard deviation of each column within components."""
        return np.asarray(np.sqrt(self.weights_ @ self._components.variances()))

    def _name(self, root: TreeNode) -> None:
        mean = self.weights_ @ self.means_
        spread = np.sqrt(self._within**2 + self.weights_ @ (self.means_ - mean) ** 2)
        name_by_difference(root, self.vocabulary_, np.where(spread > 0, spread, np.inf))

    # --- files ------------------------------------------------------------------------------------

    def _check_consistent(self) -> None:
        check_shape("covariances_", self.covariances_, _shape(self._components))
        try:
            np.linalg.cholesky(self._components.full())
        except np.linalg.LinAlgError as error:
            raise InvalidDataError(wording.BAD_ENTRY, name="covariances_", value=None) from error
        super()._check_consistent()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _shape(components: GaussianComponents) -> tuple[int, ...]:
    """Return the expected shape of the covariances."""
    k, d = components.means.shape
    shapes: dict[str, tuple[int, ...]] = {"spherical": (k,), "tied": (d, d), "diag": (k, d)}
    return shapes.get(components.covariance_type, (k, d, d))
