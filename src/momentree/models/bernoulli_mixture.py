"""BernoulliMixture: a mixture of independent binary variables, for records of codes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._fit import all_or_nothing
from momentree._logging import console_logging
from momentree._validation import check_ones, check_sample_weight, check_values
from momentree.assignment.posteriors import MixtureAssigner
from momentree.backends import RowBlocks, single_threaded_blas
from momentree.exceptions import ConvergenceWarning, InvalidDataError
from momentree.models._base import log, package_log
from momentree.models._bernoulli_data import BinaryData, Run
from momentree.models._bernoulli_groups import BernoulliGroups
from momentree.models._bernoulli_starts import (
    Found,
    Start,
    start_from_tree,
    start_from_views,
    starts_from_moments,
)
from momentree.objects import BernoulliParameters, Decomposition
from momentree.refinement import Convergence, Refined, em

__all__ = ["BernoulliMixture"]

Floats = NDArray[np.float64]

TOLERANCES: dict[str, float] = {"likelihood": 1e-5, "weights": 1e-2, "centers": 1e-4}


class BernoulliMixture(BernoulliGroups):
    """Learn a mixture of independent binary variables from moments, and EM.

        Y ~ Discrete(omega),   x_w | Y = j ~ Bernoulli(mu_jw), independent     (T section 4.2)

    Parameters
    ----------
    n_components : int >= 1, default=8
        Number of components k.
    decomposition : str or callable, default="sidiwo"
        How moments are taken apart: "sidiwo", "svtd", "tensor_power_method", "als",
        "svd_method", "eigendecomposition", "jennrich" or "random_projections", each the function
        of that name in ``momentree.decomposition``; or a callable of their signature. "svtd" with
        ``start="raw_moments"`` is ASVTD (T Algorithm 2).
    refine : {"em", None}, default="em"
        "em" improves the start by expectation-maximisation, which removes the bias of raw moments.
        None leaves what the start gives.
    start : {"auto", "moments", "raw_moments", "clusters", "tree", "three_view_mom", \
"three_view_tpm"}, default="auto"
        Where EM starts. "raw_moments" decomposes the raw moments, as the thesis does. "moments"
        goes on to take their bias away, as the parameters found predict it, and decomposes what is
        left, three times: see :class:`momentree.moments.CorrectedMoments`. "auto" runs EM from both
        and keeps "moments" where its likelihood is higher by n_components / 2 log n_samples nats;
        without EM it is "moments". "clusters" and "tree" group the records by D-SIDIWO, in one
        split into k or, also where that shows fewer, in a tree of k leaves; see
        :class:`momentree.ClusterTree`. "three_view_mom" and "three_view_tpm" deal the features to
        three views, whose cross moments have no bias but much noise (T section 4.3.1).
    convergence : {"likelihood", "weights", "centers"}, default="likelihood"
        What ends EM: a step that raises the log-likelihood, plus the log prior that `smoothing`
        stands for, by no more than a share `tol` of it, or moves omega (T section 4.5) or the
        centers M (T section 6.4.1) by no more than `tol`, in norm.
    smoothing : float > 0, default=1.0
        Average records that are added to every component, so that no frequency is 0 or 1.
    max_iter : int >= 1, default=200
        Most steps of EM.
    tol : float >= 0 or None, default=None
        See `convergence`; None is 1e-5, 0.01 and 0.0001 for its three values, the last two being
        those of the thesis.
    warm_start : bool, default=False
        Start from the components of the last ``fit`` where it had as many, of as many features.
    random_state : int, RandomState or None, default=None
        Deals features to the three views, and is for decompositions that draw. None is seed 0.
    verbose : bool or int, default=False
        Tell the progress on standard error; the logger ``momentree.models`` always has it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        omega, descending, sum 1. Fewer than asked for, with a warning, where the moments show
        fewer.
    means_ : ndarray of shape (n_components, n_features)
        mu in rows: the frequency of each feature in each component, from 0 to 1.
    components_ : ndarray of shape (n_components, n_features)
        The same array, under the name that all flat models have.
    posterior_ : BernoulliParameters
        What samples are assigned by: ``posterior_.weights`` of shape (n_components,) and
        ``posterior_.centers`` of shape (n_features, n_components) are ``weights_`` and
        ``means_``. Without EM, and with a start from moments, 0.95 ``means_`` + 0.05 times the
        mean of all samples stands for ``means_``.
    labels_ : ndarray of int of shape (n_samples,)
        Component of each sample (T eq. 4.2).
    n_iter_ : int
        Steps of EM; 1 without it.
    converged_ : bool
        Whether EM met its tolerance; True without it.
    diagnostics_ : mapping
        Of the start, with "start" (which it was), "m2_bias_bound" (the largest bias that T Theorem
        4.3.1 allows an entry of raw M2; the moments of a start are no more certain than that; see
        :func:`momentree.moments.bernoulli_bias_bounds` for all bounds), and after EM
        "log_likelihood".
    mean_count_ : float
        Ones of a sample, on average.
    vocabulary_ : ndarray of str of shape (n_features,)
        Names of the columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Only where X is a data frame with names.

    Notes
    -----
    T chapter 4. Missing values (NaN, stored ones in a sparse matrix) are left out of EM, and in
    moments corrected for by inverse rates of observation; both take them to be missing at random.
    Time O(nnz k) a step of EM, O(nnz k^2) for the moments; memory beyond X: 12 bytes a stored
    value up to four million of them, none beyond; O(d k^2 + n k).

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, 2018. Chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import BernoulliMixture
    >>> rng = np.random.default_rng(0)
    >>> means = np.array([[0.9, 0.8, 0.9, 0.1, 0.2, 0.1], [0.1, 0.2, 0.1, 0.9, 0.8, 0.9]])
    >>> truth = rng.choice(2, size=5000, p=[0.7, 0.3])
    >>> model = BernoulliMixture(2).fit(rng.random((5000, 6)) < means[truth])
    >>> bool(np.abs(model.means_ - means).max() < 0.04)
    True
    """

    _choices: ClassVar[dict[str, tuple[Any, ...]]] = {
        "refine": ("em", None),
        "start": get_args(Start),
        "convergence": tuple(TOLERANCES),
    }

    def __init__(
        self,
        n_components: int = 8,
        *,
        decomposition: str | Callable[..., Decomposition] = "sidiwo",
        refine: Literal["em"] | None = "em",
        start: Start = "auto",
        convergence: Convergence = "likelihood",
        smoothing: float = 1.0,
        max_iter: int = 200,
        tol: float | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.decomposition = decomposition
        self.refine = refine
        self.start = start
        self.convergence = convergence
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    # --- fit -------------------------------------------------------------------------------------

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002 - the convention of scikit-learn
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> BernoulliMixture:
        """Fit the model.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1, also False or True, one sample a row; NaN marks a missing value.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0: a weight of 2 is the same as the sample twice.
        feature_names : sequence of str of shape (n_features,), default=None
            The codes, for names and reports.

        Returns
        -------
        BernoulliMixture
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X holds another value than 0, 1 and NaN, weights or names do not fit it, a feature
            is never observed, there are fewer samples than components, or fewer than three
            features where there are to be three views.
        InvalidParameterError
            If a parameter is out of its range.
        """
        self._check_parameters()
        ones, missing, self.vocabulary_ = check_values(self, X, feature_names, reset=True)
        check_ones(ones)
        weight = check_sample_weight(sample_weight, ones.shape[0])
        self._check_enough(ones, weight)
        with console_logging(package_log, bool(self.verbose)), single_threaded_blas():
            data, at = BinaryData.prepared(ones, missing, weight)
            run = self._run(data)
            labels = MixtureAssigner.of(run.parameters).labels(data.rows)
        k = run.parameters.n_components
        if k < self.n_components:
            reason = run.diagnostics.get("reason") or "the moments show no more"
            msg = f"{k} of {self.n_components} components: {reason}"
            warnings.warn(msg, ConvergenceWarning, stacklevel=3)
        self.__dict__.pop("_edited", None)
        self.labels_ = np.empty_like(labels)
        self.labels_[at] = labels
        self.posterior_, self.weights_ = run.parameters, run.parameters.weights
        self.components_ = run.centers.T.copy()
        self.n_iter_, self.converged_ = run.n_iter, run.converged
        self.diagnostics_ = run.diagnostics
        self.mean_count_ = float(data.weight @ RowBlocks(data.ones).row_sums / weight.sum())
        return self

    def _check_parameters(self) -> None:
        # None stands for the tolerance of the rule.
        tol = self.tol
        try:
            self.tol = TOLERANCES.get(str(self.convergence)) if tol is None else tol
            super()._check_parameters()
        finally:
            self.tol = tol

    def _check_enough(self, ones: Any, weight: Floats) -> None:
        usable = int(np.count_nonzero(weight > 0))
        if usable < self.n_components:
            msg = (
                f"n_samples = {usable} of positive weight, n_components = {self.n_components}: ask "
                "for no more components than samples"
            )
            raise InvalidDataError(msg)
        if self.start.startswith("three_view") and ones.shape[1] < 3:
            msg = (
                f"X has {ones.shape[1]} features, start={self.start!r} needs three views of at "
                "least one: use start='auto'"
            )
            raise InvalidDataError(msg)

    def _run(self, data: BinaryData) -> Run:
        found, refined = self._best_run(data)
        diagnostics = {**found.diagnostics, "m2_bias_bound": data.bias_bound}
        if refined is None:
            fitted = type(found.parameters)(found.weights, found.parameters.centers)
            centers, n_iter, converged = found.centers, 1, True
        else:
            fitted, centers = refined.parameters, refined.parameters.centers
            n_iter, converged = refined.n_iter, refined.converged
            diagnostics["log_likelihood"] = refined.log_likelihood
        order = np.argsort(-fitted.weights, kind="stable")
        return Run(fitted.reordered(order), centers[:, order], diagnostics, n_iter, converged)

    def _best_run(self, data: BinaryData) -> tuple[Found, Refined[BernoulliParameters] | None]:
        """Return a start and what EM makes of it, if there is to be EM."""
        starts = self._starts(data)
        if not self.refine:
            return starts[-1], None
        runs = []
        for found in starts:
            log.info("refining %d components", found.parameters.n_components)
            refined = em(
                data.rows,
                found.parameters,
                sample_weight=data.weight,
                smoothing=self.smoothing,
                max_iter=self.max_iter,
                tol=TOLERANCES[self.convergence] if self.tol is None else self.tol,
                convergence=self.convergence,
            )
            runs.append((found, refined))
        best, *others = runs
        # Less than what a parameter of each component costs by the BIC is no reason to leave the
        # moments that assume least.
        margin = 0.5 * self.n_components * np.log(max(data.weight.sum(), 2.0))
        for run in others:
            if run[1].log_likelihood > best[1].log_likelihood + margin:
                best = run
        return best

    def _starts(self, data: BinaryData) -> list[Found]:
        before = getattr(self, "posterior_", None) if self.warm_start and self.refine else None
        if before is not None and before.centers.shape == (data.ones.shape[1], self.n_components):
            log.info("starting from the last fit")
            same = data.space.family(before.weights, before.centers)
            assert isinstance(same, BernoulliParameters)  # noqa: S101 - the family of binary data
            return [Found(same, same.centers, same.weights, self.diagnostics_)]
        k, start = self.n_components, self.start
        log.info("starting from %s", start)
        if start in ("auto", "moments", "raw_moments"):
            starts = starts_from_moments(data, self._decompose)
            return starts if start == "auto" else starts[:1] if "raw" in start else starts[-1:]
        if start in ("three_view_mom", "three_view_tpm"):
            found = start_from_views(data, k, start, self.random_state)
        else:
            found = start_from_tree(data, k, flat=start == "clusters", refine=bool(self.refine))
        return [found]
