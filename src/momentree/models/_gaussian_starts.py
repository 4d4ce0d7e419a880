"""Initialize EM of a Gaussian mixture: groupings, moments, a tree, and a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

import momentree.models._groupings as grouping
import momentree.objects as objects
from momentree._types import Floats, Ints
from momentree.backends import LiftedRows, RowBlocks
from momentree.core.choices import CovarianceType
from momentree.messages import Message, wording
from momentree.models._gaussian_data import GaussianData
from momentree.moments import ProductMoments, SphericalGaussianMoments
from momentree.parameters import spherical_gaussian_parameters
from momentree.preprocessing import FeatureMap
from momentree.refinement import MixtureSearch
from momentree.tree.growth import Limits, TreeGrowth
from momentree.tree.splitters import DSidiwoSplitter

Start = Literal["auto", "groups", "search", "tree", "moments"]

FOR_MANY = ("Ward", "tree")
"""Groupings for statistics that are too many to be kept, with which a step of EM is slow."""
FEW = 8
"""Components up to which "auto" decomposes moments: later, other starts find more in less time."""
SAMPLES = 500
"""Samples per component from which "auto" decomposes moments: those of fewer are noisy, and take
longer than ten random starts of EM."""
SEARCH_SMOOTHING = 1.0
"""Average samples added to each component in the search, against components of equal samples."""

Starts = dict[str, objects.MixtureParameters]


def starts_of(
    data: GaussianData,
    rows: RowBlocks,
    family: objects.MixtureParameters,
    n_components: int,
    start: Start,
    smoothing: float,
    decompose: Callable[[objects.Moments], objects.Decomposition],
) -> tuple[Starts, Message | None]:
    """Return initial parameters by the name of their start, and why there are fewer components.

    Parameters
    ----------
    data : GaussianData
        The data.
    rows : RowBlocks of shape (n, p)
        Their statistics.
    family : MixtureParameters
        Family of the components, with its floor.
    n_components : int >= 1
        k.
    start : {"auto", "groups", "search", "tree", "moments"}
        Which starts.
    smoothing : float >= 0
        As in ``m_step``.
    decompose : callable
        Maps moments to their decomposition into k components.

    Returns
    -------
    dict of str to MixtureParameters
        At least one start.
    Message or None
        A reason for starts with fewer components.
    """
    found: Starts = {}
    reason = None
    k, weight = n_components, data.weight

    def grouped(name: str, labels: Ints) -> None:
        n_groups = int(labels.max()) + 1
        sums = rows.group_sums(labels, n_groups, weight)
        sizes = rows.group_sizes(labels, n_groups, weight)
        kept = sizes > 0
        found[name] = family.m_step(sums[:, kept], sizes[kept], smoothing)

    if k == 1:
        grouped("one group", np.zeros(len(weight), dtype=np.intp))
        return found, None
    quick = not isinstance(rows, LiftedRows) or rows.kept
    if start in ("auto", "groups"):
        for name, labels in groupings(data.Z, weight, k, data.covariance_type).items():
            if quick or name in FOR_MANY:
                grouped(name, labels)
    if start == "moments" or (start == "auto" and k <= FEW and quick):
        enough = start == "moments" or np.count_nonzero(weight) >= SAMPLES * k
        starts, reason = moment_starts(
            _samples(data), weight, k, data.covariance_type, decompose if enough else None
        )
        for one in starts:
            reason = reason or one.reason
            if start == "moments" or len(one.weights) == k:
                found[one.name] = _parameters(one, family)
    if start == "tree" or (start == "moments" and not found):
        grouped("tree", tree_groups(data.Z, weight, k))
    if start == "search" or (start == "auto" and data.covariance_type == "tied"):
        search = MixtureSearch(
            rows,
            family,
            weight,
            np.ones(rows.shape[1]),
            k,
            max(smoothing, SEARCH_SMOOTHING),
        )
        found["search"] = search.search(brief=start == "auto")
    return found, reason


def groupings(
    Z: Any, weight: Floats, n_groups: int, covariance_type: CovarianceType
) -> dict[str, Ints]:
    """Return groupings of samples by their distances, as given and after sphering.

    Parameters
    ----------
    Z : ndarray or csr_array of shape (n, d)
        Samples in canonical order.
    weight : ndarray of shape (n,)
        Weights >= 0, not all zero.
    n_groups : int >= 1
        Number of groups.
    covariance_type : {"spherical", "tied", "diag", "full"}
        Spherical and diagonal components depend on distances as given. Shared covariances have many
        optima with small groups far from the others, so they have the most starts. With their own
        covariances, such groups gain likelihood only because they are narrow.

    Returns
    -------
    dict of str to ndarray of int of shape (n,)
        Groups by the name of the method.
    """

    def linked(samples: Any, method: Literal["ward", "average"]) -> Ints:
        return grouping.linked_groups(samples, weight, n_groups, method)

    far = grouping.farthest_first(Z, weight, n_groups)
    found = {"Ward": linked(Z, "ward"), "k-means": grouping.k_means(Z, weight, far)}
    if covariance_type != "tied":
        found["farthest first"] = grouping.nearest(Z, far)
    if covariance_type == "spherical":
        centers = grouping.group_means(Z, weight, found["Ward"])
        found["Ward, then k-means"] = grouping.k_means(Z, weight, centers)
    if sp.issparse(Z):
        return found
    if covariance_type in ("spherical", "tied"):
        found["columns"] = grouping.column_groups(Z, weight, n_groups)
    if covariance_type == "spherical":
        return found
    if covariance_type != "tied":
        found["tree"] = tree_groups(Z, weight, n_groups)
    if covariance_type == "diag":  # sphering turns the features
        return found
    S = grouping.sphered(Z, weight)
    if not S.shape[1] or 2 * S.shape[1] > grouping.n_distinct(
        Z, weight
    ):  # equal distances everywhere
        return found
    found["sphered, Ward"] = linked(S, "ward")
    if covariance_type == "tied":
        found["average linkage"] = linked(Z, "average")
    return found


def tree_groups(Z: Any, weight: Floats, n_groups: int) -> Ints:
    """Return the leaves of a tree by D-SIDIWO.

    Parameters
    ----------
    Z : ndarray or csr_array of shape (n, d)
        Samples in canonical order.
    weight : ndarray of shape (n,)
        Weights >= 0, not all zero.
    n_groups : int >= 1
        Number of leaves, at most.

    Returns
    -------
    ndarray of int of shape (n,)
        The leaf of each sample.
    """
    X = sp.csr_array(Z)
    feature_map = FeatureMap.from_data(X, None, weight, "real", scaled=True)
    rows = feature_map.rows(X, None)
    splitter = DSidiwoSplitter(min_samples_leaf=2, feature_map=feature_map, refine_iter=0)
    growth = TreeGrowth(rows, weight, feature_map.row_scale(rows), splitter)
    grown = growth.grow(Limits(n_groups))
    return np.asarray(grown.labels, dtype=np.intp)


def _samples(data: GaussianData) -> Any:
    """Return samples in the form for moments."""
    if data.covariance_type == "spherical":
        return sp.csr_array(data.Z)
    return data.Z.toarray() if hasattr(data.Z, "toarray") else data.Z


def _parameters(start: MomentStart, family: objects.MixtureParameters) -> objects.MixtureParameters:
    """Return the parameters of a start as members of a family."""
    covariances = start.covariances
    if isinstance(family, objects.GaussianParameters | objects.SharedGaussianParameters):
        return family.member(start.weights, start.means.T, covariances)
    if isinstance(family, objects.DiagonalGaussianParameters):
        d = start.means.shape[1]
        by_feature = covariances if covariances.ndim == 2 else np.tile(covariances[:, None], d)
        return family.member(start.weights, start.means.T, by_feature.T)
    return family.member(start.weights, start.means.T, covariances)


Decompose = Callable[[objects.Moments], objects.Decomposition]

PRODUCT_FEATURES = range(3, 513)
"""Numbers of features for which moments across features are used: three are needed, and the
moments of many take long."""
LEAST = 1e-6
"""Smallest variance of a feature in a component, relative to its variance in all samples."""
MIN_SHARE = 0.01
"""The same for a variance that noise may make negative."""
MIN_WEIGHT = 0.1
"""Smallest weight relative to equal weights, so that EM does not starve a small component."""
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
    decompose: Decompose | None,
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
    decompose : callable or None
        Maps moments to their decomposition into k components; None leaves out the starts that
        need one.

    Returns
    -------
    list of MomentStart
        With k components or fewer.
    Message or None
        Why there is no start, such as k > d.
    """
    d = X.shape[1]
    if decompose is None and covariance_type in ("spherical", "tied"):
        return [], None  # squares differ in components of equal covariances as means do
    if covariance_type == "spherical":
        assert decompose is not None  # noqa: S101 - for the type checker
        if n_components > d:
            return [], Message(wording.NO_EIGENVALUE_IS_NOISE, n_features=d, needed=n_components)
        starts = [
            _spherical(X, weight, n_components, variances, decompose)
            for variances in ("own", "shared")
        ]
        return starts, None
    mean = weight @ X / weight.sum()
    spread = np.sqrt(weight @ np.square(X - mean) / weight.sum())
    scale = np.where(spread > 0, spread, 1.0)
    Z = (X - mean) / scale
    starts = []
    if decompose is not None and d in PRODUCT_FEATURES and n_components < 2 * d:
        found = _diagonal(Z, weight, n_components, decompose)
        if covariance_type == "diag":
            means, variances = mean + scale * found.means, scale**2 * found.covariances
            starts.append(replace(found, means=means, covariances=variances))
        else:
            R = posteriors(Z, found)
            starts.append(_grouped(X, weight, R, covariance_type, found.name, found.reason))
    groups = {"lifted_moments": grouping.groups_by_squares}
    if covariance_type == "full":
        groups["lifted_moments_sphered"] = grouping.groups_by_products
    for name, group in groups.items():
        R = group(Z, weight, n_components)
        starts.append(_grouped(X, weight, R, covariance_type, name, None))
    return starts, None


def _diagonal(Z: Floats, weight: Floats, n_components: int, decompose: Decompose) -> MomentStart:
    """Return means and variances of independent features, from moments across features.

    The means of z and of z^2 in the components are means of a product mixture, whose groups of
    columns are the features: only moments of different features are used, so no variance needs to
    be known. They differ in the components even if the means of z are all the same.
    """
    n, d = Z.shape
    T = np.hstack([Z, (np.square(Z) - 1.0) / np.sqrt(2.0)])
    # The constant is in the subspace of the means only if its eigenvalue is among the largest.
    constant = float(np.sqrt(np.linalg.eigvalsh((T.T * weight) @ T / weight.sum())[-1]))
    T = np.hstack([np.full((n, 1), constant), T])
    groups = np.concatenate([[-1], np.arange(d), np.arange(d)])
    found = decompose(ProductMoments(RowBlocks(sp.csr_array(T)), groups, weight, n_components))
    # A center whose constant is far from this one is mostly noise: scaling would blow it up.
    scale = found.centers[0] / constant
    scale = np.where(scale > 0.5, scale, 1.0)
    C = (found.centers / scale).T
    means = C[:, 1 : d + 1]
    variances = np.sqrt(2.0) * C[:, d + 1 :] + 1.0 - np.square(means)
    w = np.maximum(found.weights * scale, MIN_WEIGHT / max(found.n_components, 1))
    return MomentStart(
        "product_moments",
        w / w.sum(),
        means,
        np.maximum(variances, MIN_SHARE),
        found.diagnostics["reason"],
    )


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
    name = f"moments_{variances}"
    return MomentStart(
        name, p.weights, p.centers.T, np.maximum(p.variances, least), found.diagnostics["reason"]
    )


def _total_variance(moments: SphericalGaussianMoments) -> float:
    return moments.variance + (moments.constant or 0.0) ** 2


def posteriors(Z: Floats, start: MomentStart) -> Floats:
    """Return P[component j | z] for diagonal covariances (k, d), shape (n, k)."""
    v = start.covariances
    joint = -0.5 * (np.square(Z) @ (1.0 / v).T - 2.0 * (Z @ (start.means / v).T))
    joint += np.log(start.weights) - 0.5 * (np.square(start.means) / v + np.log(v)).sum(axis=1)
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

    def scatter(r: Floats, m: Floats) -> Floats:
        v, Z = r * weight, X - m
        if covariance_type in ("diag", "spherical"):
            return np.asarray(v @ np.square(Z))
        return np.asarray(Z.T @ (v[:, None] * Z))

    scatters = np.stack([scatter(r, m) for r, m in zip(R.T, means, strict=True)])
    floor = LEAST * (overall if scatters.ndim == 2 else np.diag(overall))
    pooled = scatters.sum(axis=0) / total + floor
    if covariance_type == "tied":
        return MomentStart(name, sizes / total, means, pooled, reason)
    # The prior of d + 1 samples of the pooled covariance keeps those of small groups regular.
    covariances = ((scatters + (d + 1) * pooled).T / (sizes + d + 1)).T
    if covariance_type == "spherical":
        covariances = covariances.mean(axis=1)
    return MomentStart(name, sizes / total, means, covariances, reason)
