"""Initialize EM of a Gaussian mixture: groupings, moments, a tree, and a search."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

import momentree.models._groupings as grouping
import momentree.objects as objects
from momentree._types import Floats, Ints
from momentree.backends import LiftedRows, RowBlocks
from momentree.core.choices import CovarianceType
from momentree.inference.posteriors import responsibilities
from momentree.messages import Message, wording
from momentree.models._gaussian_data import GaussianData
from momentree.moments import ProductMoments, SphericalGaussianMoments
from momentree.parameters import spherical_gaussian_parameters
from momentree.preprocessing import FeatureMap
from momentree.refinement import MixtureSearch
from momentree.refinement.em import soft_sums
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
        sums, sizes = rows.group_sums(labels, n_groups, weight)
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
        starts, reason = moment_starts(data, rows, family, k, decompose if enough else None)
        for name, one in starts.items():
            if start == "moments" or one.n_components == k:
                found[name] = one
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

Decompose = Callable[[objects.Moments], objects.Decomposition]


def moment_starts(
    data: GaussianData,
    rows: RowBlocks,
    family: objects.MixtureParameters,
    n_components: int,
    decompose: Decompose | None,
) -> tuple[Starts, Message | None]:
    """Return the starts that moments give by name, and why there are fewer components.

    Parameters
    ----------
    data : GaussianData
        The data.
    rows : RowBlocks of shape (n, p)
        Their statistics.
    family : MixtureParameters
        Family of the components.
    n_components : int >= 2
        k.
    decompose : callable or None
        Maps moments to their decomposition into k components; None uses only groups by squares and
        products.

    Returns
    -------
    dict of str to MixtureParameters
        The starts. "spherical": moments of spherical Gaussians. "diag": moments across features,
        for three features or more. "full" and "tied": the groups of that mixture. "diag" and
        "full": groups by squares; "full": groups by squares and products.
    Message or None
        The first reason.
    """
    kind, weight, d = data.covariance_type, data.weight, data.Z.shape[1]
    starts: Starts = {}
    if kind in ("spherical", "tied") and decompose is None:
        return starts, None  # squares differ in components of equal covariances as means do
    if kind == "spherical":
        assert decompose is not None  # noqa: S101 - for the type checker
        if n_components > d:
            return starts, Message(
                wording.NO_EIGENVALUE_IS_NOISE, n_features=d, needed=n_components
            )
        return _spherical(data, family, n_components, decompose)
    X = data.Z.toarray() if hasattr(data.Z, "toarray") else data.Z
    mean = weight @ X / weight.sum()
    spread = np.sqrt(weight @ np.square(X - mean) / weight.sum())
    scale = np.where(spread > 0, spread, 1.0)
    Z = (X - mean) / scale

    def grouped(R: Floats) -> objects.MixtureParameters:
        # The prior of d + 1 samples of the pooled covariance keeps those of small groups regular.
        sums, sizes = soft_sums(rows, R[:, (weight @ R) > 0], weight)
        return family.m_step(sums, sizes, d + 1.0)

    reason = None
    if decompose is not None and d in PRODUCT_FEATURES and n_components < 2 * d:
        weights, means, variances, reason = _diagonal(Z, weight, n_components, decompose)
        centers, variances = (mean + scale * means).T, (scale**2 * variances).T
        if kind == "diag":
            starts["product_moments"] = family.member(weights, centers, variances)
        else:
            diagonal = objects.DiagonalGaussianParameters(weights, centers, variances)
            simple = replace(data, covariance_type="diag", missing=None).rows()
            starts["product_moments"] = grouped(np.asarray(responsibilities(simple, diagonal)))
    starts["lifted_moments"] = grouped(grouping.groups_by_squares(Z, weight, n_components))
    if kind == "full":
        groups = grouping.groups_by_products(Z, weight, n_components)
        starts["lifted_moments_sphered"] = grouped(groups)
    return starts, reason


def _diagonal(
    Z: Floats, weight: Floats, n_components: int, decompose: Decompose
) -> tuple[Floats, Floats, Floats, Message | None]:
    """Return weights, means and variances of independent features, from moments across features.

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
    return w / w.sum(), means, np.maximum(variances, MIN_SHARE), found.diagnostics["reason"]


def _spherical(
    data: GaussianData, family: objects.MixtureParameters, n_components: int, decompose: Decompose
) -> tuple[Starts, Message | None]:
    """Return the starts from moments of spherical Gaussians with their own or shared variances."""
    starts: Starts = {}
    reason: Message | None = None
    kinds: tuple[Literal["own", "shared"], ...] = ("own", "shared")
    for variances in kinds:
        moments = SphericalGaussianMoments.from_data(
            sp.csr_array(data.Z),
            n_components=n_components,
            variances=variances,
            centered=True,
            sample_weight=data.weight,
        )
        found = decompose(moments)
        p = spherical_gaussian_parameters(moments, found)
        total = moments.variance + (moments.constant or 0.0) ** 2
        v = np.maximum(p.variances, LEAST * max(total, TINY))
        starts[f"moments_{variances}"] = family.member(p.weights, p.centers, v)
        reason = reason or found.diagnostics["reason"]
    return starts, reason
