"""Initialize EM of a Bernoulli mixture: by splits, moments (T chapter 4), three views, a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from momentree.backends import RowBlocks, collected
from momentree.decomposition import three_view_mom, three_view_tpm
from momentree.messages import Message
from momentree.models._bernoulli_data import BinaryData
from momentree.models._fit_result import Initialization, from_leaves
from momentree.models._product_starts import searched
from momentree.moments import CorrectedMoments, MultiviewMoments, split_views
from momentree.objects import BernoulliParameters, Decomposition, Moments
from momentree.objects.products import POSSIBLE
from momentree.refinement.growing import MANY
from momentree.tree.dsidiwo_split import DSidiwoSplitter
from momentree.tree.growth import Limits, grow
from momentree.tree.split import SPLIT_ITER

Start = Initialization[BernoulliParameters]

ROUNDS = 3
"""Rounds of bias correction; more did not improve the agreement with known mixtures."""
VALUES = 1_000
"""Stored values times k^-2 from which decomposing moments takes a few EM steps at most."""
FEW = 1_000
"""Samples up to which a second search often finds more: they have the most optima."""
ROUNDING = 1e-12
"""A variance below this is a rounding error."""


def starts_from_moments(
    data: BinaryData, decompose: Callable[[Moments], Decomposition]
) -> list[Start]:
    """Decompose the raw moments (with SVTD this is ASVTD, T Algorithm 2) and corrected moments.

    Corrected moments are raw moments minus the bias that the current parameters predict; their
    parameters predict the bias better, so the correction is repeated three times.
    """
    moments = data.moments
    raw = found = decompose(moments)
    for _ in range(ROUNDS):
        if not found.weights.sum() > 0:
            break
        centers = np.clip(found.centers, 0.0, 1.0)
        corrected = CorrectedMoments(moments, found.weights / found.weights.sum(), centers)
        better = decompose(corrected)
        if better.n_components < raw.n_components:  # a component was mostly bias
            break
        found = better
    names = {"raw_moments": raw} if found is raw else {"raw_moments": raw, "moments": found}
    return [_smoothed(one, name, data) for name, one in names.items()]


def start_from_views(
    data: BinaryData,
    n_components: int,
    name: Literal["three_view_mom", "three_view_tpm"],
    random_state: int | np.random.RandomState | None,
) -> Start:
    """Decompose the cross moments of three random views of the features (T section 4.3.1)."""
    views = split_views(data.ones.shape[1], random_state)
    rates = data.observation_rates
    moments = MultiviewMoments(
        [RowBlocks(data.ones[:, view]) for view in views],
        data.weight / data.weight.sum(),
        n_components,
        None if rates is None else [rates[view] for view in views],
    )
    method = three_view_mom if name == "three_view_mom" else three_view_tpm
    found = method(moments, n_components, random_state=random_state)
    order = np.argsort(np.concatenate(views))
    in_order = Decomposition(found.centers[order], found.weights, found.diagnostics)
    return _smoothed(in_order, name, data)


def starts_from_splits(
    data: BinaryData,
    n_components: int,
    smoothing: float,
    decompose: Callable[[Moments], Decomposition],
    *,
    brief: bool,
) -> list[Start]:
    """Search for the most likely mixture by dividing, merging and exchanging components.

    The components of raw moments are another start if decomposing them takes little time. If not,
    a few samples are searched once more, with all features of the same deviation, unless `brief`.
    """
    scales, others = [data.feature_map.moment_scale], []
    if data.rows.nnz >= VALUES * n_components**2:
        moments = _smoothed(decompose(data.moments), "raw_moments", data).parameters
        others = [moments] if moments.n_components == n_components else []
    elif not brief and n_components < MANY and data.rows.total(data.weight) <= FEW:
        variances = data.moments.m1 * (1.0 - data.moments.m1)
        deviations = np.sqrt(np.where(variances > ROUNDING, variances, 1.0))
        scale = scales[0].copy()
        scale[: len(deviations)] /= deviations
        scales.append(scale)
    rows = collected(data.rows)
    starts = searched(rows, data.family, data.weight, scales, n_components, smoothing, others)
    k = starts[0].n_components
    reason = Message("only_equal_samples") if k < n_components else None
    return [
        Initialization.of(found, {"rank": k, "reason": reason, "warnings": [], "start": "splits"})
        for found in starts
    ]


def start_from_tree(data: BinaryData, n_components: int, *, flat: bool, refine: bool) -> Start:
    """Group the samples by D-SIDIWO, in one split into k or by the leaves of a tree.

    If the moments support fewer than k groups, grow a tree instead of splitting into k.
    """
    splitter = DSidiwoSplitter(
        min_samples_leaf=1,
        feature_map=data.feature_map,
        n_sides=max(n_components, 2) if flat else 2,
        refine_iter=SPLIT_ITER if refine else 0,
    )
    scale = data.feature_map.row_scale(data.rows)
    limits = Limits(n_components, 1 if flat else np.inf)
    grown = grow(data.rows, data.weight, scale, splitter, limits)
    if flat and len(grown.root.leaves()) < n_components > 2:
        return start_from_tree(data, n_components, flat=False, refine=refine)
    found = from_leaves(grown, n_components, data.family, data.rows, data.weight, 1.0)
    diagnostics = {**found.diagnostics, "start": "clusters" if flat else "tree"}
    return Initialization.of(found.parameters, diagnostics)


def _smoothed(found: Decomposition, name: str, data: BinaryData) -> Start:
    mean = np.clip(data.moments.m1, 0.0, 1.0)[:, None]
    if found.n_components < 2 or not found.weights.sum() > 0:
        centers, weights = mean, np.ones(1)  # M1 alone gives one component without bias
    else:
        centers, weights = np.clip(found.centers, 0.0, 1.0), found.weights / found.weights.sum()
    # Equal weights, so that EM does not starve a small component.
    equal = np.full(len(weights), 1.0 / len(weights))
    parameters = data.family(equal, (1.0 - POSSIBLE) * centers + POSSIBLE * mean)
    return Initialization(parameters, weights, centers, {**found.diagnostics, "start": name})
