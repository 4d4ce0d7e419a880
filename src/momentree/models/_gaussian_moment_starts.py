"""Initialize EM of a Gaussian mixture by moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree.messages import Message
from momentree.moments import SphericalGaussianMoments
from momentree.objects import Decomposition, GaussianParameters, Moments
from momentree.parameters import spherical_gaussian_parameters

CovarianceType = Literal["spherical", "tied", "diag", "full"]
Decompose = Callable[[Moments], Decomposition]

LEAST = 1e-6
"""Smallest variance of a feature in a component, relative to its variance in all samples."""
TINY = 1e-300


@dataclass(frozen=True)
class MomentStart:
    """Parameters of a Gaussian mixture, as estimated from moments.

    Attributes
    ----------
    name : str
        The moments.
    weights : ndarray of shape (k,)
        omega > 0, sum 1.
    means : ndarray of shape (k, d)
        mu in rows.
    covariances : ndarray
        Of shape (k,) for "spherical", (d, d) for "tied", (k, d) for "diag" and (k, d, d) for
        "full", positive definite.
    reason : Message or None
        Why there are fewer components than requested.
    """

    name: str
    weights: Floats
    means: Floats
    covariances: Floats
    reason: Message | None


def moment_starts(
    X: Any,
    weight: Floats,
    n_components: int,
    covariance_type: CovarianceType,
    decompose: Decompose,
) -> tuple[list[MomentStart], Message | None]:
    """Return the starts that moments give, and the reason if they give none.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Finite numbers; sparse for "spherical" only.
    weight : ndarray of shape (n,)
        Sample weights >= 0, not all zero.
    n_components : int >= 1
        k.
    covariance_type : {"spherical", "tied", "diag", "full"}
        Of the components.
    decompose : callable
        Maps moments to their decomposition into k components.

    Returns
    -------
    list of MomentStart
        With k components or fewer.
    Message or None
        Why there is no start, such as k > d.
    """
    d = X.shape[1]
    if n_components > d:
        return [], Message("no_eigenvalue_is_noise", n_features=d, needed=n_components)
    if covariance_type == "spherical":
        starts = [
            _spherical(X, weight, n_components, variances, decompose)
            for variances in ("shared", "own")
        ]
        return starts, None
    mean = weight @ X / weight.sum()
    spread = np.sqrt(weight @ np.square(X - mean) / weight.sum())
    Z = (X - mean) / np.where(spread > 0, spread, 1.0)
    one = _spherical(Z, weight, n_components, "own", decompose)
    R = posteriors(Z, one)
    return [_grouped(X, weight, R, covariance_type, "moments", one.reason)], None


def _spherical(
    X: Any,
    weight: Floats,
    n_components: int,
    variances: Literal["shared", "own"],
    decompose: Decompose,
) -> MomentStart:
    moments = SphericalGaussianMoments.from_data(
        X, n_components=n_components, variances=variances, centered=True, sample_weight=weight
    )
    found = decompose(moments)
    p = spherical_gaussian_parameters(moments, found)
    least = LEAST * max(_total_variance(moments), TINY)
    name = f"moments, {variances} variances"
    return MomentStart(
        name, p.weights, p.centers.T, np.maximum(p.variances, least), found.diagnostics["reason"]
    )


def _total_variance(moments: SphericalGaussianMoments) -> float:
    return moments.variance + (moments.constant or 0.0) ** 2


def posteriors(X: Any, start: MomentStart) -> Floats:
    """Return P[component j | x] under spherical components, shape (n, k)."""
    p = GaussianParameters(start.weights, start.means.T, start.covariances)
    joint = p.statistics(sp.csr_array(X)) @ p.coefficients + p.offsets
    joint = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _grouped(
    X: Floats,
    weight: Floats,
    R: Floats,
    covariance_type: CovarianceType,
    name: str,
    reason: Message | None,
) -> MomentStart:
    """Return weights, means and covariances for given responsibilities."""
    R = R[:, (weight @ R) > 0]
    sizes = weight @ R
    d = X.shape[1]
    total = weight.sum()
    mean = weight @ X / total
    overall = np.maximum(weight @ np.square(X - mean) / total, TINY)
    means = (R * weight[:, None]).T @ X / sizes[:, None]
    scatters = np.stack(
        [(X - m).T @ ((r * weight)[:, None] * (X - m)) for r, m in zip(R.T, means, strict=True)]
    )
    pooled = scatters.sum(axis=0) / total + LEAST * np.diag(overall)
    if covariance_type == "tied":
        return MomentStart(name, sizes / total, means, pooled, reason)
    # The prior of d + 1 samples of the pooled covariance keeps those of small groups regular.
    covariances = (scatters + (d + 1) * pooled) / (sizes + d + 1)[:, None, None]
    if covariance_type == "diag":
        covariances = np.einsum("jaa->ja", covariances)
    elif covariance_type == "spherical":
        covariances = np.einsum("jaa->j", covariances) / d
    return MomentStart(name, sizes / total, means, covariances, reason)
