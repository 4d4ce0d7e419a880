"""Where EM of a mixture of binary variables starts: moments of the model, or groups of samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from momentree.backends import RowBlocks
from momentree.decomposition import three_view_mom, three_view_tpm
from momentree.models._bernoulli_data import BinaryData
from momentree.moments import CorrectedMoments, MultiviewMoments, split_views
from momentree.objects import BernoulliParameters, Decomposition
from momentree.tree.dsidiwo_split import DSidiwoSplitter
from momentree.tree.growth import Limits, grow
from momentree.tree.split import SPLIT_ITER

__all__ = [
    "Found",
    "Start",
    "start_from_tree",
    "start_from_views",
    "starts_from_moments",
]

Floats = NDArray[np.float64]
Start = Literal[
    "auto", "moments", "raw_moments", "clusters", "tree", "three_view_mom", "three_view_tpm"
]
Decompose = Callable[..., Decomposition]

ROUNDS = 3
"""Rounds of correction: on samples of known mixtures more of them changed no mean agreement."""
POSSIBLE = 0.05
"""Share of the average sample in every component of a start: what moments say is never certain."""


@dataclass(frozen=True)
class Found:
    """Parameters to start from.

    Attributes
    ----------
    parameters : BernoulliParameters
        Valid probabilities, none of them certain.
    centers : ndarray of shape (d, k)
        As they were found, in [0, 1].
    weights : ndarray of shape (k,)
        As they were found.
    diagnostics : mapping
        How it went, with "start".
    """

    parameters: BernoulliParameters
    centers: Floats
    weights: Floats
    diagnostics: Mapping[str, Any]


def starts_from_moments(data: BinaryData, decompose: Decompose) -> list[Found]:
    """Decompose the raw moments, with SVTD as ASVTD does (T Algorithm 2), and corrected ones.

    Corrected moments are those without the bias that the parameters found predict; what they give
    predicts it better, and so on.

    Parameters
    ----------
    data : BinaryData
        The data.
    decompose : callable
        Of moments, and of whether to warn where there are fewer components, which ``fit`` does
        itself: by which method, and into how many components, is settled.

    Returns
    -------
    list of Found
        From raw moments, then from corrected ones if these show as many components. Fewer than
        asked for where the moments show fewer.
    """
    moments = data.moments
    raw = found = decompose(moments, warn=False)
    for _ in range(ROUNDS):
        if not found.weights.sum() > 0:
            break
        centers = np.clip(found.centers, 0.0, 1.0)
        less = CorrectedMoments(moments, found.weights / found.weights.sum(), centers)
        better = decompose(less, warn=False)
        # Where bias is most of what there is, nothing may be left of a component.
        if better.n_components < raw.n_components:
            break
        found = better
    names = {"raw_moments": raw} if found is raw else {"raw_moments": raw, "moments": found}
    return [_found(one, moments.m1, name, data) for name, one in names.items()]


def start_from_views(
    data: BinaryData,
    n_components: int,
    name: Literal["three_view_mom", "three_view_tpm"],
    random_state: int | np.random.RandomState | None,
) -> Found:
    """Decompose the moments of three views, to which features are dealt (T section 4.3.1).

    Parameters
    ----------
    data : BinaryData
        The data, of three features or more.
    n_components : int >= 1
        Number of components.
    name : {"three_view_mom", "three_view_tpm"}
        The estimator.
    random_state : int, RandomState or None
        Deals the features.

    Returns
    -------
    Found
        Fewer components where the moments show fewer.
    """
    split = split_views(data.ones.shape[1], random_state)
    observed = data.observed
    shares = None if observed is None else [observed[part] for part in split]
    views = [RowBlocks(data.ones[:, part]) for part in split]
    moments = MultiviewMoments(views, data.weight / data.weight.sum(), n_components, shares)
    method = three_view_mom if name == "three_view_mom" else three_view_tpm
    found = method(moments, n_components, random_state=random_state)
    back = np.argsort(np.concatenate(split))
    in_order = Decomposition(found.centers[back], found.weights, found.diagnostics)
    return _found(in_order, data.moments.m1, name, data)


def start_from_tree(data: BinaryData, n_components: int, *, flat: bool, refine: bool) -> Found:
    """Group the samples by D-SIDIWO: by one split into k, or by the leaves of a tree.

    A split into more groups than the moments show is none at all; it is a tree then.

    Parameters
    ----------
    data : BinaryData
        The data.
    n_components : int >= 1
        Number of groups.
    flat : bool
        One split into all groups instead of a tree.
    refine : bool
        EM after each split of a tree.

    Returns
    -------
    Found
        Fewer components where no group can be split further.
    """
    splitter = DSidiwoSplitter(
        min_samples_leaf=1,
        feature_map=data.space,
        n_sides=max(n_components, 2) if flat else 2,
        refine_iter=SPLIT_ITER if refine else 0,
    )
    factors = data.space.row_scale(data.rows)
    limits = Limits(n_components, 1 if flat else np.inf)
    grown = grow(data.rows, data.weight, factors, splitter, limits)
    labels, leaves = grown.labels, grown.root.leaves()
    k = len(leaves)
    if flat and k < n_components > 2:
        return start_from_tree(data, n_components, flat=False, refine=refine)
    groups = (labels[:, None] == np.arange(k)) * data.weight[:, None]
    sums = data.rows.sum(lambda B: B.tdot(groups[B.at]))
    parameters = data.space.family.m_step(sums, groups.sum(axis=0), 1.0)
    assert isinstance(parameters, BernoulliParameters)  # noqa: S101 - the family of binary data
    reason = ""
    if k < n_components:
        reason = f"no group of samples can be split further: {leaves[0].reason}"
    diagnostics = {
        "rank": k,
        "reason": reason,
        "advice": [],
        "start": "clusters" if flat else "tree",
    }
    return Found(parameters, parameters.centers, parameters.weights, diagnostics)


def _found(found: Decomposition, mean: Floats, name: str, data: BinaryData) -> Found:
    family = data.space.family
    diagnostics = {**found.diagnostics, "start": name}
    if found.n_components < 2 or not found.weights.sum() > 0:
        # M1 alone tells what one component is, and has no bias.
        centers, weights = np.clip(mean, 0.0, 1.0)[:, None], np.ones(1)
    else:
        centers, weights = np.clip(found.centers, 0.0, 1.0), found.weights / found.weights.sum()
    # A small component of the moments is not to be starved before EM has seen it.
    k = len(weights)
    likely = (1.0 - POSSIBLE) * centers + POSSIBLE * np.clip(mean, 0.0, 1.0)[:, None]
    parameters = family(np.full(k, 1.0 / k), likely)
    assert isinstance(parameters, BernoulliParameters)  # noqa: S101 - the family of binary data
    return Found(parameters, centers, weights, diagnostics)
