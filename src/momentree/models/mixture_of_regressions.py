"""Mixtures of linear regressions, by moments and EM."""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from momentree import _validation as checks
from momentree._types import Floats
from momentree._validation import rules
from momentree.backends.sources import here
from momentree.core.choices import Refine
from momentree.core.ties import largest, largest_first
from momentree.estimators import base
from momentree.exceptions import ConvergenceWarning, InvalidDataError, MomentreeWarning
from momentree.messages import Message, wording
from momentree.models._gaussian_data import without_extremes
from momentree.models._steps import Decomposer, check_decomposition, decomposer
from momentree.moments import RegressionMoments
from momentree.moments.regressions import coefficients
from momentree.persistence import fields
from momentree.refinement import regressions

Variances = Literal["own", "shared"]

NO_SPREAD = 1e-100
"""Standard deviations whose inverse is too large for products."""


@dataclass(eq=False, repr=False)
class MixtureOfRegressions(RegressorMixin, base.Estimator):  # type: ignore[misc]
    r"""Mixture of linear regressions.

    Each sample belongs to one of k regressions, whatever its inputs:

    .. math:: h \sim w, \quad y = \beta_{0h} + \langle \beta_h, x \rangle + \varepsilon, \quad
              \varepsilon \sim N(0, \sigma_h^2).

    Parameters
    ----------
    n_components : int >= 1, default=2
        Number of regressions k.
    fit_intercept : bool, default=True
        Whether the regressions have intercepts.
    variances : {"own", "shared"}, default="own"
        Whether each regression has its own variance of the noise.
    decomposition : str or callable, default="sidiwo"
        Name of a function in ``momentree.decomposition``, or such a function.
    refine : {"em", None}, default="em"
        None returns the parameters from the moments alone, which requires linearly independent
        slopes and k <= d. "em" starts EM from the moments, if they support k components, and from a
        mixture that grows by splits, and keeps the more likely result.

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
        w, descending.
    coef_ : ndarray of shape (k, d)
        Slopes.
    intercept_ : ndarray of shape (k,)
        Intercepts; 0 if `fit_intercept` is False.
    noise_variances_ : ndarray of shape (k,)
        Variances of the noise, in squared units of y.
    labels_ : ndarray of int of shape (n_samples,)
        Most probable regression of each sample of ``fit``.
    n_iter_ : int
        Number of EM steps.
    converged_ : bool
        Whether EM met its tolerance.
    diagnostics_ : dict
        "start": "moments" or "growth"; "log_likelihoods": of y given x, by start; "reason": why the
        moments do not support k components, or None.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has names.

    Other Parameters
    ----------------
    reg_variance : float > 0, default=1e-6
        Smallest variance of the noise, as a fraction of the variance of y: it keeps the likelihood
        finite if some samples lie exactly on a line.
    max_iter : int >= 1, default=1000
        Maximum number of EM steps.
    tol : float >= 0, default=1e-7
        EM stops when a step raises the mean log-likelihood of a sample by no more than this, in
        nats: that of densities depends on units, so a fraction of its size would mean nothing.
    random_state : int, RandomState or None, default=None
        Seed of decompositions that draw random numbers.

    See Also
    --------
    momentree.moments.RegressionMoments : The moments.

    Notes
    -----
    ``score`` is the coefficient of determination of ``predict``, the mean of the mixture, as for
    all regressors of scikit-learn. It does not show whether there are several regressions: compare
    :meth:`bic` for that.

    Nothing is random: the rows may come in any order. Time O(n k d^2) for each EM step.

    References
    ----------
    .. [1] A. T. Chaganty, P. Liang. Spectral experts for estimating mixtures of linear
       regressions. ICML 2013, 1040-1048.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import MixtureOfRegressions
    >>> rng = np.random.default_rng(0)
    >>> x, h = rng.normal(size=(500, 1)), rng.random(500) < 0.6
    >>> y = np.where(h, 1 + 2 * x[:, 0], -x[:, 0]) + 0.1 * rng.normal(size=500)
    >>> model = MixtureOfRegressions(2).fit(x, y)
    >>> model.coef_.round(1), model.intercept_.round(1) + 0.0
    (array([[ 2.],
           [-1.]]), array([1., 0.]))
    """

    n_components: int = 2
    _: KW_ONLY
    fit_intercept: bool = True
    variances: Variances = "own"
    decomposition: Decomposer = "sidiwo"
    refine: Refine | None = "em"
    reg_variance: float = 1e-6
    max_iter: int = 1000
    tol: float = 1e-7
    random_state: int | np.random.RandomState | None = None

    _assigns_groups: ClassVar[bool] = False
    _rules: ClassVar[rules.Rules] = {
        "n_components": rules.whole(1),
        "fit_intercept": checks.check_flag,
        "variances": get_args(Variances),
        "decomposition": check_decomposition,
        "refine": rules.REFINE,
        "reg_variance": rules.number(above=0),
        "max_iter": rules.whole(1),
        "tol": rules.number(at_least=0),
    }
    _fields: ClassVar[fields.Fields] = {
        **base.Estimator._fields,
        "labels_": fields.LABELS,
        "weights_": fields.simplex("k"),
        "coef_": fields.array("k", "d"),
        "intercept_": fields.array("k"),
        "noise_variances_": fields.array("k", at_least=0.0),
        "diagnostics_": fields.DIAGNOSTICS,
    }

    def fit(self, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the regressions.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Inputs, finite numbers.
        y : array-like of shape (n_samples,)
            Outputs, finite numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; a weight of 2 has the effect of two copies of the sample.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X or y contains values that are not finite numbers, if shapes do not match, if all
            values of y are equal, if there are fewer samples than components, or if `refine` is
            None and the moments do not support k components.
        InvalidParameterError
            If a parameter is out of its range.

        Warns
        -----
        ConvergenceWarning
            If EM did not converge, or a regression has fewer samples than parameters.
        MomentreeWarning
            If a value is a million times farther from the median of its column, or of y, than
            typical values: its sample is left out of the fit and assigned afterwards.
        """
        return self._fit(X, y=y, sample_weight=sample_weight)

    def _gather(self, X: Any) -> tuple[Any, list[Message]]:
        return here(X, type(self).__name__, dense=True)

    def _check_samples(self, X: Any, **given: Any) -> tuple[Any, int]:
        if given["y"] is None:
            raise InvalidDataError(
                "fit requires y to be passed, but the target y is None; pass the outputs as y"
            )
        table = X
        X, target = checks.check_real_features(self, table, reset=True, y=given["y"])
        weight = checks.check_sample_weight(given["sample_weight"], len(X))
        weight, extremes = without_extremes(np.column_stack([X, target]), None, weight)
        used = int(np.count_nonzero(weight))
        if used < self.n_components:
            raise InvalidDataError(
                wording.TOO_FEW_WEIGHTED_SAMPLES, n_rows=used, n_components=self.n_components
            )
        return (table, X, target, weight, extremes), len(X)

    def _learn(self, samples: Any) -> None:
        _, X, target, weight, _ = samples
        order = np.lexsort((weight, target, *X.T[::-1]))
        self._estimate(X[order], target[order], weight[order])

    def _finish(self, samples: Any, result: Any) -> Iterable[Warning]:  # noqa: ARG002
        table, X, target, weight, extremes = samples
        self.labels_ = np.asarray(largest(self.predict_proba(table, target)), np.intp)
        for note in extremes:
            column = note.values["column"]
            name = "y" if column == X.shape[1] else column
            yield MomentreeWarning(note.replace(column=name))
        if not self.converged_:
            yield ConvergenceWarning(
                "[em_not_converged] EM had not converged after {n_iter:~step}; raise "
                "{parameters.max_iter}",
                n_iter=self.n_iter_,
            )
        needed = self.coef_.shape[1] + int(self.fit_intercept) + 1
        small = int(np.count_nonzero(self.weights_ * np.count_nonzero(weight) < needed))
        if small:
            yield ConvergenceWarning(
                "[regression_of_few_samples] {found:~regression} {found:?has/have} fewer than "
                "{needed:~sample}, too few for {found:?its/their} coefficients: lower "
                "{parameters.n_components}, remove features or outliers, or add {samples}",
                found=small,
                needed=needed,
            )

    def predict(self, X: Any) -> Floats:
        """Return the mean of y for each sample.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,)
            Mean over the regressions, by their weights: x does not show which of them applies.
        """
        return np.asarray(self.predict_components(X) @ self.weights_)

    def predict_components(self, X: Any) -> Floats:
        """Return the prediction of each regression.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, k)
            Means of y, in units of y.
        """
        check_is_fitted(self, "coef_")
        X = checks.check_real_features(self, X, reset=False)[0]
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def predict_proba(self, X: Any, y: ArrayLike | None = None) -> Floats:
        """Return the probability of each regression.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,), default=None
            Outputs. Without them, the probabilities are the weights of the regressions.

        Returns
        -------
        ndarray of shape (n_samples, k)
            Rows sum to 1.
        """
        if y is None:
            n = len(self.predict_components(X))
            return np.tile(self.weights_, (n, 1))
        joint = self._log_joint(X, y)
        return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))

    def log_density(self, X: Any, y: ArrayLike) -> Floats:
        """Return the log-likelihood of each output, given the inputs.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Outputs.

        Returns
        -------
        ndarray of shape (n_samples,)
            log p(y | x), in nats.
        """
        return np.asarray(logsumexp(self._log_joint(X, y), axis=1))

    def bic(self, X: Any, y: ArrayLike) -> float:
        """Return the Bayesian information criterion; smaller is better.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Outputs.

        Returns
        -------
        float
            -2 sum log p(y | x) + p log n with p free parameters.
        """
        found = self.log_density(X, y)
        return float(-2.0 * found.sum() + self._n_parameters * np.log(len(found)))

    def aic(self, X: Any, y: ArrayLike) -> float:
        """Return the Akaike information criterion; smaller is better.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Outputs.

        Returns
        -------
        float
            -2 sum log p(y | x) + 2 p with p free parameters.
        """
        return float(-2.0 * self.log_density(X, y).sum() + 2.0 * self._n_parameters)

    @property
    def _n_parameters(self) -> int:
        k = len(self.weights_)
        noise = k if self.variances == "own" else 1
        return int(self.coef_.size + (k if self.fit_intercept else 0) + noise + k - 1)

    def _log_joint(self, X: Any, y: ArrayLike) -> Floats:
        means = self.predict_components(X)
        target = checks.as_floats("y", y)
        checks.check_shape("y", target, (len(means),))
        if not np.isfinite(target).all():
            raise InvalidDataError(wording.NOT_FINITE, parameter="y")
        parameters = regressions.RegressionParameters(
            self.weights_, np.eye(len(self.weights_)), self.noise_variances_
        )
        return parameters.log_joint(means, target)

    def _estimate(self, X: Floats, y: Floats, weight: Floats) -> None:
        v = weight / weight.sum()
        center, unit = _scale(X, v, center=self.fit_intercept)
        middle, size = _scale(y[:, None], v, center=self.fit_intercept)
        if not float(np.ptp(y[weight > 0])) > NO_SPREAD:
            raise InvalidDataError(
                "[constant_target] all values of y are equal, so there is nothing to explain"
            )
        F, target = (X - center) / unit, (y - middle[0]) / size[0]
        ones = np.ones((len(F), int(self.fit_intercept)))
        spread = float(v @ (target - v @ target) ** 2)
        data = regressions.RegressionData(
            np.hstack([ones, F]),
            target,
            weight,
            self.reg_variance * spread,
            self.variances == "shared",
        )
        result = self._best(data, F)
        p = result.parameters
        order = largest_first(p.weights, p.coefs)
        slopes = p.coefs[int(self.fit_intercept) :, order].T / unit * size[0]
        self.weights_, self.coef_ = p.weights[order], slopes
        self.noise_variances_ = p.variances[order] * size[0] ** 2
        self.intercept_ = np.zeros(len(order))
        if self.fit_intercept:
            self.intercept_ = p.coefs[0, order] * size[0] + middle[0] - slopes @ center
        self.n_iter_, self.converged_ = result.n_iter, result.converged

    def _best(self, data: regressions.RegressionData, F: Floats) -> regressions.RefinedRegressions:
        """Return the most likely mixture of all starts."""
        start, reason = self._moments(data, F)
        if self.refine is None:
            if start is None:
                raise InvalidDataError(
                    "[moments_too_few] the moments do not support this number of regressions "
                    "({reason}); use {parameters.refine:'em'}, or lower {parameters.n_components}",
                    reason=reason,
                )
            self.diagnostics_: Mapping[str, Any] = {"start": "moments", "reason": None}
            return regressions.RefinedRegressions(start, data.expect(start)[1], 0, True)
        starts = {"growth": regressions.grown_regressions(data, self.n_components)}
        if start is not None:
            starts["moments"] = start
        found = {
            name: regressions.em_regressions(data, begin, max_iter=self.max_iter, tol=self.tol)
            for name, begin in starts.items()
        }
        best = list(found)[largest([each.log_likelihood for each in found.values()])]
        self.diagnostics_ = {
            "start": best,
            "log_likelihoods": {name: each.log_likelihood for name, each in found.items()},
            "reason": reason,
        }
        return found[best]

    def _moments(
        self, data: regressions.RegressionData, F: Floats
    ) -> tuple[regressions.RegressionParameters | None, Message | None]:
        """Return parameters from moments; None, and the reason, if they support fewer."""
        v = data.weight / data.weight.sum()
        moments = RegressionMoments(F, data.y, data.weight)
        found = decomposer(self.decomposition)(
            moments, self.n_components, random_state=self.random_state
        )
        total = float(found.weights.sum())
        if found.n_components < self.n_components or not total > 0:
            return None, found.diagnostics["reason"] or Message(wording.MOMENTS_SHOW_NO_MORE)
        w, B = found.weights / total, found.centers
        mean, linear = _low_terms(F @ B, data.y**2, v)
        coefs, constants = B, np.zeros(len(w))
        if self.fit_intercept:
            # The linear part of E[y^2 | x] is 2 sum w beta_0 <beta, x>.
            constants = linear / (2.0 * np.maximum(w, 1e-3))
            constants -= w @ constants
            coefs = np.vstack([constants, B])
        noise = max(mean - float(w @ constants**2), data.floor)
        return regressions.RegressionParameters(w, coefs, np.full(len(w), noise)), None


def _low_terms(C: Floats, square: Floats, v: Floats) -> tuple[float, Floats]:
    """Return the constant and linear terms of the regression of y^2 on <beta_j, x>, j = 1 .. k."""
    k = C.shape[1]
    M2 = coefficients(C, square, v, 2)
    rest = square - np.einsum("na,ab,nb->n", C, M2, C, optimize=True)
    root = np.sqrt(v)
    design = np.column_stack([np.ones(len(C)), C])
    found = np.linalg.lstsq(design * root[:, None], rest * root, rcond=None)[0]
    return float(found[0]), np.asarray(found[1 : k + 1])


def _scale(X: Floats, v: Floats, *, center: bool) -> tuple[Floats, Floats]:
    """Return the mean of each column, or zero, and its root mean square around it."""
    mean = v @ X if center else np.zeros(X.shape[1])
    if center:
        mean = mean + v @ (X - mean)
    Y = X - mean
    largest = np.abs(Y).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    spread = unit * np.sqrt(v @ (Y / unit) ** 2)
    return mean, np.where(spread > NO_SPREAD, spread, 1.0)
