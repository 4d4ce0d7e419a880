"""EM for mixtures of linear regressions, and a deterministic start that grows components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from momentree._types import Floats
from momentree.core.ties import largest, signed

SHORT = 15
"""EM steps to compare candidate splits."""


@dataclass(frozen=True)
class RefinedRegressions:
    """The result of EM.

    Attributes
    ----------
    parameters : RegressionParameters
        The parameters.
    log_likelihood : float
        Weighted sum of the log-likelihoods of y given x.
    n_iter : int
        Number of EM steps.
    converged : bool
        Whether the likelihood increased by less than the tolerance in the last step.
    """

    parameters: RegressionParameters
    log_likelihood: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class RegressionData:
    """Data of a mixture of regressions, with the assumptions about its noise.

    Attributes
    ----------
    design : ndarray of shape (n, p)
        Inputs, with a column of ones if there is an intercept.
    y : ndarray of shape (n,)
        Outputs.
    weight : ndarray of shape (n,)
        Weights >= 0.
    floor : float
        Smallest variance of the noise.
    shared : bool
        Whether all components have the same variance.
    """

    design: Floats
    y: Floats
    weight: Floats
    floor: float
    shared: bool

    def maximize(self, R: Floats) -> RegressionParameters:
        """Return the parameters of highest expected likelihood for responsibilities (n, k)."""
        R = R * self.weight[:, None]
        sizes = R.sum(axis=0)
        X, y = self.design, self.y
        coefs = np.zeros((X.shape[1], R.shape[1]))
        for j, r in enumerate(R.T):
            G = (X * r[:, None]).T @ X
            # A ridge at rounding error, so that collinear columns share their slope.
            ridge = 1e-10 * max(float(np.trace(G)), 1e-300)
            G[np.diag_indices_from(G)] += ridge
            for _ in range(2):  # the second solution refines the first, with few samples by digits
                rest = X.T @ (r * (y - X @ coefs[:, j])) - ridge * coefs[:, j]
                coefs[:, j] += np.linalg.solve(G, rest)
        squares = (R * (y[:, None] - X @ coefs) ** 2).sum(axis=0)
        if self.shared:
            variances = np.full(len(sizes), squares.sum() / sizes.sum())
        else:
            variances = squares / np.maximum(sizes, 1e-300)
        return RegressionParameters(sizes / sizes.sum(), coefs, np.maximum(variances, self.floor))

    def expect(self, parameters: RegressionParameters) -> tuple[Floats, float]:
        """Return the responsibilities (n, k), and the log-likelihood."""
        joint = parameters.log_joint(self.design, self.y)
        log_density = logsumexp(joint, axis=1)
        return np.exp(joint - log_density[:, None]), float(self.weight @ log_density)


def em_regressions(
    data: RegressionData, start: RegressionParameters, *, max_iter: int, tol: float
) -> RefinedRegressions:
    """Maximize the likelihood of a mixture of regressions by EM.

    Stops when a step increases the mean log-likelihood by less than `tol`.
    """
    parameters = start
    R, value = data.expect(parameters)
    total = float(data.weight.sum())
    n_iter, converged = 0, False
    while n_iter < max_iter and not converged:
        parameters = data.maximize(R)
        before = value
        R, value = data.expect(parameters)
        n_iter += 1
        converged = value - before < tol * total
    return RefinedRegressions(parameters, value, n_iter, converged)


def grown_regressions(data: RegressionData, n_components: int) -> RegressionParameters:
    """Grow a mixture from one regression, by the split that raises the likelihood most.

    A component is split in two directions: along the coefficients u in which its squared residuals
    grow most with the square of <x, u>, as they do if two slopes are mixed, and along the
    intercept. Short runs of EM compare all splits.
    """
    n = len(data.y)
    found = em_regressions(data, data.maximize(np.ones((n, 1))), max_iter=1, tol=0.0)
    while len(found.parameters.weights) < n_components:
        p = found.parameters
        R = data.expect(p)[0]
        candidates = [
            em_regressions(data, _split(p, j, step), max_iter=SHORT, tol=0.0)
            for j in range(len(p.weights))
            for step in _directions(data, p, R[:, j], j)
        ]
        found = candidates[largest([one.log_likelihood for one in candidates])]
    return found.parameters


def _split(p: RegressionParameters, j: int, step: Floats) -> RegressionParameters:
    weights = np.append(p.weights, 0.5 * p.weights[j])
    weights[j] *= 0.5
    coefs = np.column_stack([p.coefs, p.coefs[:, j] - step])
    coefs[:, j] += step
    return RegressionParameters(weights, coefs, np.append(p.variances, p.variances[j]))


def _directions(data: RegressionData, p: RegressionParameters, r: Floats, j: int) -> list[Floats]:
    """Return changes of the coefficients of component j along which to split it."""
    X, v = data.design, r * data.weight
    size = max(float(v.sum()), 1e-300)
    residual = data.y - X @ p.coefs[:, j]
    G = (X * v[:, None]).T @ X / size
    values, U = np.linalg.eigh(G)
    keep = values > 1e-10 * max(values[-1], 1e-300)
    root = U[:, keep] / np.sqrt(values[keep])
    F = X @ root
    growth = (F * (v * residual**2)[:, None]).T @ F
    tops = [np.linalg.eigh(growth)[1][:, -1]]
    constant = np.ptp(X, axis=0) == 0
    if constant.any():
        flat = (F * v[:, None]).sum(axis=0)
        tops.append(flat / max(float(np.linalg.norm(flat)), 1e-300))
    steps = []
    for u in tops:
        along = F @ u
        amount = float(v @ (np.abs(residual) * np.abs(along))) / max(float(v @ along**2), 1e-300)
        step = root @ u * amount
        # The larger of two equal halves must not depend on the sign of an eigenvector.
        steps.append(signed(step[:, None])[:, 0])
    return steps


@dataclass(frozen=True)
class RegressionParameters:
    """Weights, coefficients and noise of a mixture of linear regressions.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        w >= 0, sum 1.
    coefs : ndarray of shape (p, k)
        Coefficients of the columns of the design, in columns.
    variances : ndarray of shape (k,)
        Variances of the noise, > 0.
    """

    weights: Floats
    coefs: Floats
    variances: Floats

    def log_joint(self, design: Floats, y: Floats) -> Floats:
        """Return log w_j + log N(y; <x, beta_j>, variance_j), shape (n, k)."""
        residuals = y[:, None] - design @ self.coefs
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        return np.asarray(
            log_weights
            - 0.5 * np.log(2.0 * np.pi * self.variances)
            - 0.5 * residuals**2 / self.variances
        )
