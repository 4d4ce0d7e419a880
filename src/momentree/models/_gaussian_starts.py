"""Initialize EM of a Gaussian mixture: groupings, moments, a tree, and a search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.backends import LiftedRows, RowBlocks
from momentree.core.choices import CovarianceType
from momentree.messages import Message
from momentree.models._gaussian_data import GaussianData
from momentree.models._gaussian_moment_starts import MomentStart, moment_starts
from momentree.models._groupings import (
    column_groups,
    farthest_first,
    group_means,
    k_means,
    linked_groups,
    n_distinct,
    nearest,
    sphered,
)
from momentree.objects import (
    Decomposition,
    DiagonalGaussianParameters,
    GaussianParameters,
    MixtureParameters,
    Moments,
    SharedGaussianParameters,
)
from momentree.preprocessing import FeatureMap
from momentree.refinement import Growing
from momentree.tree.dsidiwo_split import DSidiwoSplitter
from momentree.tree.growth import Limits, grow

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

Starts = dict[str, MixtureParameters]


def starts_of(
    data: GaussianData,
    rows: RowBlocks,
    family: type[MixtureParameters],
    n_components: int,
    start: Start,
    smoothing: float,
    decompose: Callable[[Moments], Decomposition],
) -> tuple[Starts, Message | None]:
    """Return initial parameters by the name of their start, and why there are fewer components.

    Parameters
    ----------
    data : GaussianData
        The data.
    rows : RowBlocks of shape (n, p)
        Their statistics.
    family : type of MixtureParameters
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
        search = Growing(
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
        return linked_groups(samples, weight, n_groups, method)

    far = farthest_first(Z, weight, n_groups)
    found = {"Ward": linked(Z, "ward"), "k-means": k_means(Z, weight, far)}
    if covariance_type != "tied":
        found["farthest first"] = nearest(Z, far)
    if covariance_type == "spherical":
        centers = group_means(Z, weight, found["Ward"])
        found["Ward, then k-means"] = k_means(Z, weight, centers)
    if sp.issparse(Z):
        return found
    if covariance_type in ("spherical", "tied"):
        found["columns"] = column_groups(Z, weight, n_groups)
    if covariance_type == "spherical":
        return found
    if covariance_type != "tied":
        found["tree"] = tree_groups(Z, weight, n_groups)
    if covariance_type == "diag":  # sphering turns the features
        return found
    S = sphered(Z, weight)
    if not S.shape[1] or 2 * S.shape[1] > n_distinct(Z, weight):  # equal distances everywhere
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
    splitter = DSidiwoSplitter(
        min_samples_leaf=2, feature_map=feature_map, n_sides=2, refine_iter=0
    )
    grown = grow(rows, weight, feature_map.row_scale(rows), splitter, Limits(n_groups))
    return np.asarray(grown.labels, dtype=np.intp)


def _samples(data: GaussianData) -> Any:
    """Return samples in the form for moments."""
    if data.covariance_type == "spherical":
        return sp.csr_array(data.Z)
    return data.Z.toarray() if hasattr(data.Z, "toarray") else data.Z


def _parameters(start: MomentStart, family: type[MixtureParameters]) -> MixtureParameters:
    """Return the parameters of a start as members of a family."""
    make: Callable[[Floats, Floats, Floats], MixtureParameters] = family
    covariances = start.covariances
    if issubclass(family, GaussianParameters | SharedGaussianParameters):
        return make(start.weights, start.means.T, covariances)
    if issubclass(family, DiagonalGaussianParameters):
        d = start.means.shape[1]
        by_feature = covariances if covariances.ndim == 2 else np.tile(covariances[:, None], d)
        return make(start.weights, start.means.T, by_feature.T)
    return make(start.weights, start.means.T, covariances)
