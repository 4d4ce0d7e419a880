"""Starts of EM for mixtures of independent columns: searches, moments (T chapter 4), a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
import scipy.sparse as sp

import momentree.objects as objects
from momentree._types import Floats, Ints
from momentree.backends import RowBlocks, collected, in_canonical_order
from momentree.core.ties import SAME_OF_EM, largest
from momentree.decomposition import three_view_mom, three_view_tpm
from momentree.messages import Message, wording
from momentree.models._binary_data import BinaryData
from momentree.models._steps import Initialization, from_leaves
from momentree.moments import CorrectedMoments, MultiviewMoments, ProductMoments, split_views
from momentree.objects import Decomposition, ProductParameters, products
from momentree.refinement import MixtureSearch, Refined, search
from momentree.tree import growth, split, splitters

P = TypeVar("P", bound=objects.MixtureParameters)

ProductStart = Literal["auto", "search", "moments"]

FAIR = 0.5
"""Standard deviation of the toss of a coin."""
SCALES = ((1.0, 0.0, 1.0), (1.0, 1.0, 0.0), (0.5, 0.0, 0.5))
"""Scales of the searches: a factor of probabilities and rates, the power of its deviation that each
probability keeps, and a factor of squares."""
SEARCHED = 1.0
"""Least smoothing in the searches: EM never leaves a probability of almost zero."""
KEPT = (0.02, 0.1)
"""Fractions of their differences from the average that components keep in further starts."""
MAX_FEATURES = 2_000
"""Of more statistics, moments take longer than all searches."""


@dataclass(frozen=True)
class ProductData:
    """Statistics of the samples of a fit in canonical order.

    Attributes
    ----------
    columns : ProductColumns
        The family.
    rows : RowBlocks of shape (n, p)
        Statistics of the samples.
    weight : ndarray of shape (n,)
        Weights of the samples.
    """

    columns: objects.ProductColumns
    rows: RowBlocks
    weight: Floats

    @classmethod
    def prepared(
        cls, columns: objects.ProductColumns, X: Any, missing: Any | None, weight: Floats
    ) -> tuple[ProductData, Ints]:
        """Return the data in canonical order, and the position of each of their rows in X."""
        rows, at = in_canonical_order(RowBlocks(columns.statistics(X, missing)), weight)
        return cls(columns, rows, weight[at]), at

    @cached_property
    def whole(self) -> ProductParameters:
        """The parameters of one component."""
        sums = self.rows.sum(lambda B: B.tdot(self.weight[B.at, None]))
        c, N = self.columns, np.array([self.weight.sum()])
        blank = ProductParameters(
            np.ones(1), np.zeros((c.n_features, 1)), np.ones((c.n_numbers, 1)), c
        )
        return blank.m_step(sums, N, 1e-12)

    @cached_property
    def deviations(self) -> Floats:
        """Standard deviation of every statistic over observed values, shape (p,); never 0."""
        v = self.weight / self.weight.sum()
        mean = self.rows.sum(lambda B: B.tdot(v[B.at]))
        square = self.rows.sum(lambda B: B.with_data(B.csr[0] ** 2).tdot(v[B.at]))
        rates = self.rates
        variance = square / rates - (mean / rates) ** 2
        rounding = 1e-12 * np.maximum(square / rates, 1e-300)
        return np.sqrt(np.where(variance > rounding, variance, 1.0))

    @cached_property
    def rates(self) -> Floats:
        """Observation rate of every statistic, shape (p,)."""
        c, v = self.columns, self.weight / self.weight.sum()
        sums = self.rows.sum(lambda B: B.tdot(v[B.at]))
        rates = np.ones(len(sums))
        d, a = c.n_features, c.n_numbers
        rates[c.gaps] -= sums[d + a :]
        rates[d : d + a] = rates[:a]
        rates[c.n_single : d] = c.of_categories(sums[c.n_single : d])[c.category_of]
        return np.clip(rates, 1e-300, 1.0)  # a row may have several words


def searched(
    rows: RowBlocks,
    family: objects.Family[P],
    weight: Floats,
    scales: Sequence[Floats],
    k: int,
    smoothing: float,
    others: Sequence[P] = (),
) -> list[P]:
    """Search for the most likely mixture by divisions, merges and exchanges, on several scales.

    The scale of columns decides along which of them components are divided. No scale is best for
    all tables.
    """
    least, known = max(smoothing, SEARCHED), list[Floats]()
    for scale in scales:
        if not any(np.allclose(scale / scale.max(), one / one.max()) for one in known):
            known.append(scale)
    return [MixtureSearch(rows, family, weight, scale, k, least).search(others) for scale in known]


def from_splits(data: ProductData, k: int, smoothing: float) -> list[ProductParameters]:
    """Search on up to three scales, each of which divides components along other columns."""
    c, scales = data.columns, []
    for others, power, squares in SCALES:
        scale = 1.0 / data.deviations
        scale[c.n_numbers : c.n_features] *= others
        for part in (c.parts[1], c.parts[3]):
            scale[part] *= (data.deviations[part] / FAIR) ** power
        scale[c.n_features :][: c.n_numbers] *= squares
        scale[c.n_features + c.n_numbers :] = 0.0
        scales.append(scale)
    return searched(data.rows, data.whole, data.weight, scales, k, smoothing)


def from_moments(
    data: ProductData,
    X: Any,
    groups: Ints,
    k: int,
    decompose: Callable[[objects.Moments], Decomposition],
) -> tuple[ProductParameters, Decomposition] | None:
    """Decompose the moments of X between groups of columns; None if there are fewer than three.

    Numbers enter with their squares, so that variances, too, are conditional means. A constant
    column adds the first moments.
    """
    c = data.columns
    d, a = c.n_features, c.n_numbers
    if len(np.unique(groups)) < 3:
        return None
    groups = np.concatenate([groups, groups[:a], [-1]]).astype(np.intp)
    others = data.rows.matrix[:, d:]
    as_given = replace(data, rows=RowBlocks(sp.csr_array(sp.hstack([X, others], format="csr"))))
    deviations = np.append(as_given.deviations[: d + a], 1.0)
    ones = sp.csr_array(np.ones((data.rows.shape[0], 1)))
    Y = sp.csr_array(sp.hstack([X, others[:, :a], ones], format="csr"))
    scale = 1.0 / (deviations * np.append(as_given.rates[: d + a], 1.0))
    moments = ProductMoments(RowBlocks(Y), groups, data.weight, k, column_scale=scale)
    found = decompose(moments)
    if found.n_components < 1 or not found.weights.sum() > 0:
        return None
    means = (found.centers * deviations[:, None])[:-1]
    return as_parameters(data, found.weights, means[:d], means[d:]), found


def as_parameters(
    data: ProductData, weights: Floats, centers: Floats, squares: Floats
) -> ProductParameters:
    """Return valid parameters near estimated means, and means of squares of numbers."""
    c, whole = data.columns, data.whole
    numbers, yes_no, counts, levels = c.parts
    centers = centers.copy()
    centers[yes_no] = np.clip(centers[yes_no], 0.0, 1.0)
    centers[counts] = np.maximum(centers[counts], 0.0)
    positive = np.maximum(centers[levels], 0.0) + 1e-12 * whole.centers[levels]
    centers[levels] = positive / c.of_categories(positive)[c.category_of]
    variances = squares - centers[numbers] ** 2
    least = np.maximum(products.POSSIBLE * whole.variances, c.least_variance[:, None])
    return ProductParameters(weights / weights.sum(), centers, np.maximum(variances, least), c)


def smoothed(parameters: ProductParameters, whole: ProductParameters) -> ProductParameters:
    """Return a start for EM: equal weights, and a little of the average sample in each."""
    c = parameters.columns
    centers = (1.0 - products.POSSIBLE) * parameters.centers + products.POSSIBLE * whole.centers
    centers[: c.n_numbers] = parameters.centers[: c.n_numbers]
    # Equal weights, so that EM does not starve a small component.
    equal = np.full_like(parameters.weights, 1.0 / parameters.n_components)
    return replace(parameters, weights=equal, centers=centers)


def most_likely(
    starts: list[P],
    whole: P,
    run: Callable[[P], Refined[P]],
    smoothing: float,
    *,
    brief: bool = False,
) -> tuple[Refined[P], int]:
    """Run EM from each start, and again from near the average in the direction of each result.

    EM moves away from the average along the largest differences first, and divides on. It ends at
    other optima than from components that differ as much as those found. Results of equal posterior
    are one optimum: the first of them is kept, and EM goes on from there only once. If `brief`, or
    of many components, one run from each start is enough.

    Return the result of highest posterior and the position of its start.
    """
    runs = [run(start) for start in starts]

    def posteriors() -> Floats:
        priors = [one.parameters.log_prior(one.sums, one.sizes, smoothing) for one in runs]
        return np.array([one.log_likelihood for one in runs]) + priors

    at = list(range(len(starts)))
    if 1 < starts[0].n_components < search.MANY and not brief:
        found = posteriors()
        same = np.abs(found[:, None] - found) <= SAME_OF_EM * np.abs(found)
        first = [int(j) for j in np.unique(same.argmax(axis=1))]
        again = [runs[j].parameters.shrunk(whole, kept) for kept in KEPT for j in first]
        runs += [run(start) for start in again]
        at += first * len(KEPT)
    best = int(largest(posteriors(), SAME_OF_EM))
    return runs[best], at[best]


BernoulliStart = Initialization[objects.BernoulliParameters]

ROUNDS = 3
"""Rounds of bias correction; more did not improve the agreement with known mixtures."""
VALUES = 1_000
"""Stored values times k^-2 from which decomposing moments takes a few EM steps at most."""
FEW = 1_000
"""Samples up to which a second search often finds more: they have the most optima."""
ROUNDING = 1e-12
"""A variance below this is a rounding error."""


def starts_from_moments(
    data: BinaryData, decompose: Callable[[objects.Moments], Decomposition]
) -> list[BernoulliStart]:
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
    return [_smooth(one, name, data) for name, one in names.items()]


def start_from_views(
    data: BinaryData,
    n_components: int,
    name: Literal["three_view_mom", "three_view_tpm"],
    random_state: int | np.random.RandomState | None,
) -> BernoulliStart:
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
    return _smooth(in_order, name, data)


def starts_from_splits(
    data: BinaryData,
    n_components: int,
    smoothing: float,
    decompose: Callable[[objects.Moments], Decomposition],
    *,
    brief: bool,
) -> list[BernoulliStart]:
    """Search for the most likely mixture by dividing, merging and exchanging components.

    The components of raw moments are another start if decomposing them takes little time. If not,
    a few samples are searched once more, with all features of the same deviation, unless `brief`.
    """
    scales, others = [data.feature_map.moment_scale], []
    if data.rows.nnz >= VALUES * n_components**2:
        moments = _smooth(decompose(data.moments), "raw_moments", data).parameters
        others = [moments] if moments.n_components == n_components else []
    elif not brief and n_components < search.MANY and data.rows.total(data.weight) <= FEW:
        variances = data.moments.m1 * (1.0 - data.moments.m1)
        deviations = np.sqrt(np.where(variances > ROUNDING, variances, 1.0))
        scale = scales[0].copy()
        scale[: len(deviations)] /= deviations
        scales.append(scale)
    rows = collected(data.rows)
    starts = searched(rows, data.family, data.weight, scales, n_components, smoothing, others)
    k = starts[0].n_components
    reason = Message(wording.ONLY_EQUAL_SAMPLES) if k < n_components else None
    return [
        Initialization.of(found, {"rank": k, "reason": reason, "warnings": [], "start": "search"})
        for found in starts
    ]


def start_from_tree(
    data: BinaryData, n_components: int, *, flat: bool, refine: bool
) -> BernoulliStart:
    """Group the samples by D-SIDIWO, in one split into k or by the leaves of a tree.

    If the moments support fewer than k > 2 groups, grow a tree instead of splitting into k.
    """
    splitter = splitters.DSidiwoSplitter(
        min_samples_leaf=1,
        feature_map=data.feature_map,
        refine_iter=split.SPLIT_ITER if refine else 0,
    )
    scale = data.feature_map.row_scale(data.rows)
    if flat and n_components > 2:
        group = split.SampleGroups.one(data.rows, data.weight, scale)
        rule = splitter.discriminate(group, data.weight, n_components)
        if not isinstance(rule, Message) and rule.n_sides == n_components:
            sides = split.sides_of([rule], group)
            sums, sizes = sides.sums[0], sides.sizes[0]
            if split.small_side(sizes, splitter.min_samples_leaf) is None:
                means = data.family.m_step(sums, sizes, 1.0)
                known: dict[str, Any] = {
                    "rank": n_components,
                    "reason": None,
                    "warnings": [],
                    "start": "clusters",
                }
                return Initialization.of(means, known)
    grown = growth.TreeGrowth(data.rows, data.weight, scale, splitter).grow(
        growth.Limits(n_components)
    )
    found = from_leaves(grown, n_components, data.family, data.rows, data.weight, 1.0)
    start = "clusters" if flat and n_components <= 2 else "tree"
    return Initialization.of(found.parameters, {**found.diagnostics, "start": start})


def _smooth(found: Decomposition, name: str, data: BinaryData) -> BernoulliStart:
    mean = np.clip(data.moments.m1, 0.0, 1.0)[:, None]
    if found.n_components < 2 or not found.weights.sum() > 0:
        centers, weights = mean, np.ones(1)  # M1 alone gives one component without bias
    else:
        centers, weights = np.clip(found.centers, 0.0, 1.0), found.weights / found.weights.sum()
    # Equal weights, so that EM does not starve a small component.
    equal = np.full(len(weights), 1.0 / len(weights))
    parameters = data.family(equal, (1.0 - products.POSSIBLE) * centers + products.POSSIBLE * mean)
    return Initialization(parameters, weights, centers, {**found.diagnostics, "start": name})
