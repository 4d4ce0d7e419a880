"""GaussianHMM: a hidden Markov model of real-valued observations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils.validation import validate_data

from momentree._types import Floats, Ints
from momentree._validation import check_choice, check_number, check_shape
from momentree.core.choices import CovarianceType, Refine
from momentree.exceptions import InvalidDataError
from momentree.models._decomposers import Decomposer, decomposer
from momentree.models._gaussian_hmm_starts import (
    gaussian_start,
    posteriors_of_clusters,
    posteriors_of_moments,
    posteriors_of_windows,
)
from momentree.models._hidden_markov import HiddenMarkovModel
from momentree.objects.gaussian import covariance_parameters
from momentree.objects.gaussian_emissions import GaussianEmissions
from momentree.objects.hidden_markov import HMMParameters

GaussianHMMStart = Literal["auto", "moments", "windows", "clusters"]

NORMAL_QUARTILES = 1.349
"""Distance between the quartiles of a normal distribution, in standard deviations."""
NEAR = 8.0
"""Starts see values beyond this, in standard deviations, as this: clusters of the observations
would otherwise only separate outliers."""
LARGEST = 1e100
"""Larger values overflow when they are squared."""


class GaussianHMM(HiddenMarkovModel):
    """Learn a hidden Markov model of sequences of real-valued observations.

        h_1 ~ Discrete(pi),   h_(t+1) | h_t = i ~ Discrete(A_i),   x_t | h_t = j ~ N(mu_j, Sigma_j)

    Parameters
    ----------
    n_components : int >= 1, default=8
        Number of states k.
    covariance_type : {"spherical", "diag", "full", "tied"}, default="diag"
        "spherical" has one variance for each state, "diag" one for each state and feature,
        "full" any covariances in each state, and "tied" the same covariances in all states.
    decomposition : str or callable, default="sidiwo"
        "sidiwo", "svtd", "tensor_power_method", "als", "svd_method", "eigendecomposition",
        "jennrich" or "random_projections" from ``momentree.decomposition``, or a function with the
        same signature.
    refine : {"em", None}, default="em"
        "em" refines the start by Baum-Welch. None returns the start.
    start : {"auto", "moments", "windows", "clusters"}, default="auto"
        How Baum-Welch starts. "moments" divides the observations into more clusters than states,
        and decomposes the moments of triples of their numbers; see
        :class:`momentree.moments.HMMMoments`. "windows" clusters means of windows of 8
        observations, which suits states that last, and "clusters" the observations; see
        :class:`momentree.ClusterTree`. "auto" runs Baum-Welch from all three, and continues with
        the most likely one; without Baum-Welch, it is the first of them that applies.
    reg_covar : float > 0, default=1e-6
        Added to each variance, as a fraction of the mean variance of the features (estimated from
        quartiles), so that a state of equal observations has a finite likelihood.
    smoothing : float >= 0, default=0.001
        Number of transitions added to each state, so that no probability is 0.
    max_iter : int >= 1, default=500
        Maximum number of steps of Baum-Welch, from each start.
    tol : float >= 0, default=1e-9
        Baum-Welch stops when a step raises the log-likelihood by at most this fraction of its
        size.
    random_state : int, RandomState or None, default=None
        Seed for random decompositions. None means seed 0.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.models`` always gets it.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
        pi, sum 1, estimated from the first observations of all sequences: it need not be
        stationary.
    transmat_ : ndarray of shape (n_components, n_components)
        A_ij = P[next state j | state i]; rows sum to 1.
    means_ : ndarray of shape (n_components, n_features)
        Mean of each feature in each state.
    covars_ : ndarray of shape (n_components, n_features, n_features)
        Covariances of the features in each state, as full matrices for every `covariance_type`.
    weights_ : ndarray of shape (n_components,)
        Expected share of the observations of ``fit`` in each state, descending, sum 1. States are
        numbered in this order.
    labels_ : ndarray of int of shape (n_samples,)
        State of each observation, in the most likely sequence of states.
    log_likelihood_ : float
        Total log-likelihood of the data of ``fit``, in nats.
    n_iter_ : int
        Number of steps of Baum-Welch.
    converged_ : bool
        Whether Baum-Welch converged.
    diagnostics_ : dict
        "start": the name of the start that was kept.
    n_features_in_ : int
        Number of features d.

    See Also
    --------
    CategoricalHMM : Hidden Markov models of symbols.

    Notes
    -----
    Names and conventions are those of the package hmmlearn: ``fit(X, lengths)``, ``score`` the
    total log-likelihood. Missing values are refused: fill them first.

    Each step of Baum-Welch takes time O(n k^2 + n k d) for "spherical" and "diag", else
    O(n k^2 + n k d^2), and memory O(n (k + d)).

    Examples
    --------
    >>> from momentree import GaussianHMM
    >>> from momentree.datasets import make_hmm
    >>> data = make_hmm(20, 30, 2, n_features=3, random_state=0)
    >>> model = GaussianHMM(2).fit(data.X, data.lengths)
    >>> model.means_.shape, model.covars_.shape
    ((2, 3), (2, 3, 3))
    """

    means_: Floats
    covars_: Floats
    _covariance_type: CovarianceType  # of the fit
    _reg_covar: float  # of the fit

    def __init__(
        self,
        n_components: int = 8,
        *,
        covariance_type: CovarianceType = "diag",
        decomposition: Decomposer = "sidiwo",
        refine: Refine | None = "em",
        start: GaussianHMMStart = "auto",
        reg_covar: float = 1e-6,
        smoothing: float = 1e-3,
        max_iter: int = 500,
        tol: float = 1e-9,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.decomposition = decomposition
        self.refine = refine
        self.start = start
        self.reg_covar = reg_covar
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("covariance_type", self.covariance_type, get_args(CovarianceType))
        check_choice("start", self.start, get_args(GaussianHMMStart))
        check_number("reg_covar", self.reg_covar, above=0)

    def _check_observations(self, X: Any, *, reset: bool) -> Floats:
        try:
            found = validate_data(self, X, reset=reset, dtype=np.float64)
        except ValueError as error:
            raise InvalidDataError("refused_by_sklearn", error=str(error)) from error
        if np.abs(found).max() > LARGEST:
            row, column = (int(i) for i in np.argwhere(np.abs(found) > LARGEST)[0])
            value = float(found[row, column])
            raise InvalidDataError(
                "huge_value", row=row, column=column, value=value, largest=LARGEST
            )
        if reset:
            # Without an offset and a scale, squares would lose digits. Quartiles ignore outliers.
            ordered = np.sort(found, axis=0)  # rounding errors do not depend on the order of X
            low, self._offset, high = np.quantile(ordered, [0.25, 0.5, 0.75], axis=0)
            spread = np.where(high > low, (high - low) / NORMAL_QUARTILES, ordered.std(axis=0))
            scale = float(np.sqrt((spread**2).mean()))
            self._scale = scale if scale > 0 else 1.0
        return np.asarray((found - self._offset) / self._scale)

    def _keys(self, X: Floats, lengths: Ints) -> Floats:
        starts = np.cumsum(lengths) - lengths
        place = np.arange(len(X)) - np.repeat(starts, lengths)
        values = (np.tanh(X) * np.random.RandomState(0).random_sample(X.shape[1])).sum(axis=1)
        return np.add.reduceat(values * np.sqrt(1.0 + place), starts)

    def _starts(self, X: Floats, lengths: Ints) -> Iterator[tuple[str, HMMParameters]]:
        k, d = int(self.n_components), X.shape[1]
        method = decomposer(self.decomposition)
        near = np.clip(X, -NEAR, NEAR)
        methods: dict[str, Callable[[], Floats | None]] = {
            "moments": lambda: posteriors_of_moments(near, lengths, k, method, self.random_state),
            "windows": lambda: posteriors_of_windows(near, lengths, k),
            "clusters": lambda: posteriors_of_clusters(near, k),
        }
        kind, floor = self.covariance_type, float(self.reg_covar)
        form = GaussianEmissions(np.zeros((k, d)), np.zeros((k, d, d)), kind, floor)
        any_found = False
        wanted = list(methods) if self.start == "auto" else [self.start]
        for name in wanted if k > 1 else []:
            G = methods[name]()
            if G is not None:
                any_found = True
                yield name, gaussian_start(G, X, lengths, form)
        if not any_found and self.start != "auto" and k > 1:
            raise InvalidDataError("no_such_start", parameter="start", start=self.start, k=k)
        if not any_found:  # one state, or hardly any different observations
            G = np.eye(k)[np.argsort(np.argsort(X[:, 0], kind="stable")) % k]
            yield "cycle", gaussian_start(G, X, lengths, form)

    @property
    def _emissions(self) -> GaussianEmissions:
        means = (self.means_ - self._offset) / self._scale
        roots = np.asarray(np.linalg.cholesky(self.covars_ / self._scale**2), dtype=np.float64)
        return GaussianEmissions(means, roots, self._covariance_type, self._reg_covar)

    def _set_emissions(self, emissions: GaussianEmissions, X: Floats) -> None:  # noqa: ARG002
        self.means_ = emissions.means * self._scale + self._offset
        self.covars_ = emissions.covariances * self._scale**2
        self._covariance_type, self._reg_covar = emissions.kind, emissions.floor
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_).astype(str))
        self.vocabulary_ = np.asarray(names, dtype=object)

    @property
    def _log_volume(self) -> float:
        """Change of the log density of each observation due to scaling."""
        return -self.n_features_in_ * float(np.log(self._scale))

    @property
    def _needed_observations(self) -> int:
        return self.n_features_in_ + 1 if self.covariance_type == "full" else 2

    @property
    def _n_parameters(self) -> int:
        k, d = self.means_.shape
        of_covariances = covariance_parameters(self._covariance_type, k, d)
        return int(k - 1 + k * (k - 1) + k * d + of_covariances)

    def _draw(self, states: Ints, rng: np.random.RandomState) -> Floats:
        roots = np.linalg.cholesky(self.covars_)
        noise = rng.standard_normal((len(states), self.n_features_in_))
        return np.asarray(self.means_[states] + np.einsum("nvw,nw->nv", roots[states], noise))

    def _check_restored(self) -> int:
        k, d = super()._check_restored(), self.n_features_in_
        check_shape("means_", self.means_, (k, d))
        check_shape("covars_", self.covars_, (k, d, d))
        check_shape("_offset", self._offset, (d,))
        check_number("_scale", self._scale, above=0)
        check_choice("_covariance_type", self._covariance_type, get_args(CovarianceType))
        check_number("_reg_covar", self._reg_covar, above=0)
        return k
