"""Independent component analysis by fourth cumulants, refined by likelihood."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

import momentree.decomposition as decompositions
from momentree import _validation as checks
from momentree._types import Floats, Ints
from momentree._validation import rules
from momentree.backends.sources import by_partition, here
from momentree.core.ties import SAME_ENTRY, largest, largest_first
from momentree.estimators import base
from momentree.exceptions import ConvergenceWarning, InvalidDataError
from momentree.messages import Message, wording
from momentree.models._steps import DecompositionName, decomposer
from momentree.moments import ICAMoments, ica
from momentree.objects import Decomposition
from momentree.persistence import fields
from momentree.refinement import refine_sources

Refine = Literal["likelihood"]
Decomposer = Literal["jade"] | DecompositionName | Callable[..., Decomposition]

METHODS: tuple[str, ...] = ("jade", *get_args(DecompositionName))

GAUSSIAN = (10.0, 2.0)
"""Sources with a statistic below 10 + 2 k look Gaussian. Each is a chi square with one degree of
freedom; after the search for the least Gaussian rotation of 2, 5, 10 and 20 Gaussian
sources (200 to 5,000 samples), the largest values were 7, 13, 28 and 41."""
FEW_SAMPLES = 0.5
"""A source of which one sample makes up more than this part of the variance is an outlier."""


def _check_method(name: str, value: Any) -> None:
    if not callable(value):
        checks.check_choice(name, value, METHODS)


@dataclass(eq=False, repr=False)
class IndependentComponents(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    base.Estimator,
):
    r"""Separate linear mixtures of independent sources.

    The model is :math:`x = m + A s` with independent sources :math:`s` of variance 1, of which at
    most one is Gaussian. JADE diagonalizes the fourth cumulants of whitened data; a few scoring
    steps then maximize the likelihood, with the density of each source estimated from its moments.
    Nothing is random, and the sources may have heavy and light tails at once.

    Parameters
    ----------
    n_components : int from 1 to 64, default=None
        Number of sources k. None: as many as the rank of the data. With fewer, the sources are
        sought in the leading principal components of the standardized features.
    decomposition : str or callable, default="jade"
        "jade", or the name of another function in ``momentree.decomposition``, or such a function,
        for which the cumulants are contracted to :class:`momentree.moments.ICAMoments`. "jade" uses
        all cumulants and is the most accurate.
    refine : {"likelihood", None}, default="likelihood"
        Whether to refine the sources by maximum likelihood. Cumulants alone are inaccurate for
        sources with heavy tails.

    Attributes
    ----------
    components_ : ndarray of shape (k, d)
        Unmixing matrix: sources are ``(X - mean_) @ components_.T``.
    mixing_ : ndarray of shape (d, k)
        A, in units of the features per standard deviation of a source.
    mean_ : ndarray of shape (d,)
        m.
    whitening_ : ndarray of shape (k, d)
        Whitening of the covariance.
    kurtosis_ : ndarray of shape (k,)
        Excess kurtosis of each source: 0 for a Gaussian one, positive for heavy tails. Sources are
        in descending order of its absolute value. The largest entry of each column of ``mixing_``,
        in standard deviations of the features, is positive.
    diagnostics_ : dict
        "information", shape (k,): the Fisher information of each source minus that of a Gaussian,
        0 for a Gaussian source; with n samples, the standard error of the angle between two sources
        is about the inverse root of n times the sum of both. "angle_error": the largest of these
        errors, in radians. "reason": why there are fewer components than requested, or None.
    n_iter_ : int
        Number of sweeps and steps.
    converged_ : bool
        Whether the iterations ended before `max_iter`.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has names.

    Other Parameters
    ----------------
    max_iter : int >= 1, default=200
        Maximum number of Jacobi sweeps, and of scoring steps.
    tol : float >= 0, default=1e-6
        The refinement stops when no source is rotated by more than this, in radians.
    random_state : int, RandomState or None, default=None
        Seed of decompositions that draw random numbers; "jade" draws none.

    See Also
    --------
    momentree.moments.ICAMoments : The cumulants.
    momentree.metrics.amari_distance : The error of a separation.

    Notes
    -----
    ``components_``, ``mixing_``, ``mean_`` and ``whitening_`` are those of scikit-learn's FastICA
    with ``whiten="unit-variance"``. FastICA uses one contrast for all sources and starts at random.
    Unlike FastICA, principal components are those of standardized features, so that units do not
    matter.

    Time O(n k^4 + k^6), memory O(n k + k^4). The rows may come in any order.

    References
    ----------
    .. [1] J.-F. Cardoso, A. Souloumiac. Blind beamforming for non-Gaussian signals. IEE
       Proceedings F 140, 362-370, 1993. doi:10.1049/ip-f-2.1993.0054
    .. [2] D. T. Pham, P. Garat. Blind separation of mixture of independent sources through a
       quasi-maximum likelihood approach. IEEE Transactions on Signal Processing 45, 1997.
       doi:10.1109/78.599941

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import IndependentComponents
    >>> from momentree.metrics import amari_distance
    >>> rng = np.random.default_rng(0)
    >>> sources = np.stack([rng.laplace(size=2000), rng.uniform(size=2000)], axis=1)
    >>> mixing = np.array([[1.0, 2.0], [3.0, 1.0]])
    >>> found = IndependentComponents().fit(sources @ mixing.T)
    >>> amari_distance(found.components_, mixing) < 0.03
    True
    >>> found.kurtosis_.round(1)
    array([ 2.7, -1.2])
    """

    n_components: int | None = None
    _: KW_ONLY
    decomposition: Decomposer = "jade"
    refine: Refine | None = "likelihood"
    max_iter: int = 200
    tol: float = 1e-6
    random_state: int | np.random.RandomState | None = None

    _assigns_groups: ClassVar[bool] = False
    _rules: ClassVar[rules.Rules] = {
        "n_components": rules.whole(1, optional=True),
        "decomposition": _check_method,
        "refine": (*get_args(Refine), None),
        "max_iter": rules.whole(1),
        "tol": rules.number(at_least=0),
    }
    _fields: ClassVar[fields.Fields] = {
        **base.Estimator._fields,
        "components_": fields.array("k", "d"),
        "mixing_": fields.array("d", "k"),
        "whitening_": fields.array("k", "d"),
        "mean_": fields.array("d"),
        "kurtosis_": fields.array("k"),
        "diagnostics_": fields.DIAGNOSTICS,
    }

    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002 - the convention of scikit-learn
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Separate the sources.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Finite numbers.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; a weight of 2 has the effect of two copies of the sample.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X is not a table of finite numbers with at least two rows, if all samples are equal,
            or if weights do not match.
        InvalidParameterError
            If a parameter is out of its range, or there are more than 64 sources.

        Warns
        -----
        ConvergenceWarning
            If there are fewer components than requested, if the iterations did not converge, if
            several sources look Gaussian, so that they cannot be separated, or if a source consists
            mainly of one sample.
        """
        return self._fit(X, sample_weight=sample_weight)

    def _gather(self, X: Any) -> tuple[Any, list[Message]]:
        return here(X, type(self).__name__, dense=True)

    def _check_samples(self, X: Any, **given: Any) -> tuple[Any, int]:
        X = checks.check_real_features(self, X, reset=True)[0]
        return (X, checks.check_sample_weight(given["sample_weight"], len(X))), len(X)

    def _learn(self, samples: Any) -> tuple[Floats, int]:
        X, weight = samples
        order = _canonical_order(X, weight)
        return self._separate(X[order], weight[order])

    def fit_transform(
        self, X: Any, y: object = None, *, sample_weight: ArrayLike | None = None
    ) -> Floats:
        """Fit, and return the sources.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Finite numbers.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0.

        Returns
        -------
        ndarray of shape (n_samples, k)
            ``fit(X).transform(X)``.
        """
        found: Floats = self.fit(X, y, sample_weight=sample_weight).transform(X)
        return found

    @by_partition
    def transform(self, X: Any) -> Floats:
        """Return the sources of samples.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, k)
            Sources, with mean 0 and variance 1 on the samples of ``fit``.
        """
        check_is_fitted(self, "components_")
        X = checks.check_real_features(self, X, reset=False)[0]
        return np.asarray((X - self.mean_) @ self.components_.T)

    def inverse_transform(self, X: ArrayLike) -> Floats:
        """Return samples with given sources.

        Parameters
        ----------
        X : array-like of shape (n_samples, k)
            Sources.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            m + A s. With fewer sources than the rank of the data, an approximation.
        """
        check_is_fitted(self, "components_")
        S = checks.as_floats("X", X)
        checks.check_shape("X", S, ("n_samples", len(self.components_)))
        if not np.isfinite(S).all():
            raise InvalidDataError(wording.NOT_FINITE, parameter="X")
        return np.asarray(S @ self.mixing_.T + self.mean_)

    @property
    def _n_groups(self) -> int:
        return len(self.components_)

    def _separate(self, X: Floats, weight: Floats) -> tuple[Floats, int]:
        mean, W, E = ica.whiten_covariance(X, weight, self.n_components)
        k, d = W.shape
        Z = (X - mean) @ W.T
        moments = ICAMoments(mean, W, E, ica.fourth_cumulants(Z, weight))
        rotation, n_iter, converged, reason = self._rotation(moments)
        steps = self.max_iter if self.refine else 0
        found = refine_sources(Z, weight, rotation, max_iter=steps, tol=self.tol)
        S = Z @ found.rotation.T
        v = weight / weight.sum()
        kurtosis = v @ S**4 - 3.0 * (v @ S**2) ** 2
        order, signs = _canonical(E @ found.rotation.T, np.sqrt(v @ (X - mean) ** 2), kurtosis)
        B, A = (found.rotation @ W)[order], (E @ found.rotation.T)[:, order]
        self.mean_, self.whitening_ = mean, W
        self.components_, self.mixing_ = B * signs[:, None], A * signs
        self.kurtosis_ = kurtosis[order]
        self.n_iter_ = n_iter + found.n_iter
        self.converged_ = bool(converged and (found.converged or not self.refine))
        if reason is None and self.n_components is not None and k < self.n_components:
            reason = Message(
                "[rank_of_data] the rank of the data, with {n_features:~feature}, is {rank}",
                rank=k,
                n_features=d,
            )
        J, n = found.information[order], 1.0 / float(v @ v)
        least = np.sort(J)[:2].sum() if k > 1 else np.inf
        self.diagnostics_: Mapping[str, Any] = {
            "information": J,
            "angle_error": float(min(1.0 / np.sqrt(n * max(least, 1e-300)), np.pi / 2)),
            "reason": reason,
        }
        share = (v[:, None] * S**2).max(axis=0)
        return _evidence(S, v), int(np.count_nonzero(share > FEW_SAMPLES))

    def _rotation(self, moments: ICAMoments) -> tuple[Floats, int, bool, Message | None]:
        """Return the rotation of white data to sources, and how it was found."""
        k = len(moments.W)
        if self.decomposition == "jade":
            return *decompositions.jade(moments, max_iter=self.max_iter), None
        result = decomposer(self.decomposition)(moments, k, random_state=self.random_state)
        directions = moments.W @ result.centers
        size = np.linalg.norm(directions, axis=0)
        # The nearest rotation; directions that were not found complete it.
        padded = np.zeros((k, k))
        padded[:, : len(size)] = directions / np.where(size > 0, size, 1.0)
        U, _, Vt = np.linalg.svd(padded)
        reason: Message | None = result.diagnostics.get("reason")
        return (U @ Vt).T, int(result.diagnostics.get("n_iter", 0)), True, reason

    def _finish(self, samples: Any, result: Any) -> Iterable[Warning]:  # noqa: ARG002
        evidence, outliers = result
        reason = self.diagnostics_["reason"]
        k = self._n_groups
        gaussian = int(np.count_nonzero(evidence < GAUSSIAN[0] + GAUSSIAN[1] * k))
        if reason is not None:
            requested = k if self.n_components is None else int(self.n_components)
            yield ConvergenceWarning(
                wording.FEWER_COMPONENTS, found=k, requested=requested, reason=reason
            )
        if not self.converged_ and gaussian < 2:
            yield ConvergenceWarning(
                "[not_separated] the separation had not converged after {n_iter:~iteration}; raise "
                "{parameters.max_iter}",
                n_iter=self.n_iter_,
            )
        if gaussian > 1:
            yield ConvergenceWarning(
                "[gaussian_sources] {found} of {of:~source} cannot be distinguished from Gaussian "
                "ones, so their directions among each other are arbitrary: use more {samples}, "
                "lower {parameters.n_components}, or interpret only the other sources",
                found=gaussian,
                of=k,
            )
        if outliers:
            yield ConvergenceWarning(
                "[source_of_one_sample] {found:~source} {found:?consists/consist} mainly of a "
                "single extreme sample: check the data for outliers, or transform features with "
                "heavy tails",
                found=outliers,
            )


def _evidence(S: Floats, v: Floats) -> Floats:
    """Return how much each source (n, k) of variance 1 differs from a Gaussian, as chi squares.

    The statistics are those of the robust approximations of negentropy, an even and an odd one.
    """
    n = 1.0 / float(v @ v)
    bell = np.exp(-0.5 * S**2)
    even = n * (v @ bell - np.sqrt(0.5)) ** 2 / (1.0 / np.sqrt(3.0) - 0.5 - 1.0 / 16.0)
    odd = n * (v @ (S * bell)) ** 2 / (1.0 / np.sqrt(27.0) - 1.0 / 8.0)
    return np.asarray(np.maximum(even, odd))


def _canonical(A: Floats, spread: Floats, kurtosis: Floats) -> tuple[Ints, Floats]:
    """Return the order of the sources, and their signs in this order."""
    standardized = A / np.where(spread > 0, spread, 1.0)[:, None]
    # Sources that are equal but for rounding are ordered by the features they appear in.
    at = largest(np.abs(standardized).T, SAME_ENTRY)
    order = largest_first(np.abs(kurtosis), -at)
    peaks = standardized[at, np.arange(len(at))][order]
    return order, np.where(peaks < 0, -1.0, 1.0)


def _canonical_order(X: Floats, weight: Floats) -> Ints:
    """Return an order of rows that does not depend on their order in X."""
    return np.lexsort((weight, *X.T[::-1]))
