"""Deterministic groupings of real-valued samples, from which EM may start."""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import fcluster, linkage

from momentree._types import Floats, Ints
from momentree.backends import RowBlocks
from momentree.core.ties import SAME, fixed_vectors, largest
from momentree.decomposition import discriminators
from momentree.moments import AugmentedRawMoments
from momentree.whitening import whiten

MAX_LINKED, SAMPLED = 2000, 1000
"""Time and memory of hierarchical clustering grow with the square of the number of samples: more
than the first number are represented by the second."""
EQUAL = 1e-12
"""Products of equal samples differ by less, relative to the largest."""
LLOYD_STEPS = 10
"""Most steps of k-means."""


def linked_groups(
    Z: Any, weight: Floats, n_groups: int, method: Literal["ward", "average"]
) -> Ints:
    """Group samples by hierarchical clustering.

    Parameters
    ----------
    Z : ndarray or csr_array of shape (n, d)
        Samples in canonical order.
    weight : ndarray of shape (n,)
        Weights >= 0, not all zero.
    n_groups : int >= 1
        Number of groups.
    method : {"ward", "average"}
        The distance of groups. Ward's method gives groups of similar spread; average linkage
        separates outliers.

    Returns
    -------
    ndarray of int of shape (n,)
        The groups. More than 2,000 samples are represented by a systematic sample of 1,000, and
        samples of unequal weights by copies; all others join the nearest mean.
    """
    at = representatives(weight)
    some = _dense(Z[at])
    tree = linkage(some, method) if len(at) > 1 else None
    labels: Ints = np.zeros(1, dtype=np.intp)
    if tree is not None:
        labels = np.asarray(fcluster(tree, n_groups, "maxclust") - 1, dtype=np.intp)
    out = np.empty(len(weight), dtype=np.intp)
    if len(np.unique(at)) < len(weight):
        out = nearest(Z, group_means(some, np.ones(len(at)), labels))
    out[at] = labels
    return out


def representatives(weight: Floats) -> Ints:
    """Return a systematic sample of rows, in proportion to their weights.

    Parameters
    ----------
    weight : ndarray of shape (n,)
        Weights >= 0, not all zero.

    Returns
    -------
    ndarray of intp
        Row numbers in ascending order: each row as often as its weight, relative to the smallest
        one, if these are up to 2,000 in total; otherwise 1,000, evenly spread over the rows.
    """
    positive = weight[weight > 0]
    total = float(positive.sum() / positive.min())
    n = max(round(total), 1) if total <= MAX_LINKED else SAMPLED
    ends = np.cumsum(weight) / weight.sum()
    at = np.searchsorted(ends, (np.arange(n) + 0.5) / n)
    return np.minimum(at, len(weight) - 1).astype(np.intp)


def column_groups(Z: Floats, weight: Floats, n_groups: int) -> Ints:
    """Group samples by cuts of single columns.

    Each cut divides one group at a value of one column. It is the cut that reduces the sum of
    squares within groups of its column by the largest fraction of what is left in all groups.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Samples in canonical order.
    weight : ndarray of shape (n,)
        Weights >= 0, not all zero.
    n_groups : int >= 1
        Number of groups.

    Returns
    -------
    ndarray of int of shape (n,)
        The groups, fewer if samples are equal. Time O(n d log n) per cut.
    """
    labels = np.zeros(len(weight), dtype=np.intp)
    v = weight / weight.sum()
    within = v @ (Z - v @ Z) ** 2
    cuts = [_best_cuts(Z, v)]
    for new in range(1, n_groups):
        share = np.stack([gain for gain, _ in cuts]) / np.maximum(within, 1e-300)
        share[:, within <= 1e-12] = 0.0
        group, column = np.unravel_index(int(largest(share.ravel())), share.shape)
        gain, at = cuts[group]
        if not share[group, column] > 1e-9:
            break
        within[column] -= gain[column]
        inside = np.flatnonzero(labels == group)
        above = inside[Z[inside, column] > at[column]]
        labels[above] = new
        for other in (group, new):
            part = np.flatnonzero(labels == other)
            found = _best_cuts(Z[part], v[part])
            if other == new:
                cuts.append(found)
            else:
                cuts[group] = found
    return labels


def _best_cuts(Z: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Return the sum of squares that the best cut of each column takes away, and its value."""
    order = np.argsort(Z, axis=0, kind="stable")
    values = np.take_along_axis(Z, order, axis=0)
    mass = np.cumsum(v[order], axis=0)
    sums = np.cumsum(v[order] * values, axis=0)
    total, mean = mass[-1], sums[-1] / np.maximum(mass[-1], 1e-300)
    left = mass[:-1]
    between = (sums[:-1] - left * mean) ** 2 * total
    scale = left * (total - left)
    proper = (np.diff(values, axis=0) > 0) & (scale > 0)
    gain = np.where(proper, between / np.where(proper, scale, 1.0), 0.0)
    if not len(gain):
        return np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    at = largest(gain.T)
    columns = np.arange(Z.shape[1])
    return gain[at, columns], values[at, columns]


def farthest_first(Z: Any, weight: Floats, n_groups: int) -> Floats:
    """Return centers that are far from each other, outliers first.

    Parameters
    ----------
    Z : ndarray or csr_array of shape (n, d)
        Samples in canonical order.
    weight : ndarray of shape (n,)
        Weights >= 0; samples of weight zero are no centers.
    n_groups : int >= 1
        Number of centers.

    Returns
    -------
    ndarray of shape (n_groups, d)
        The sample farthest from the mean, then always the one farthest from the centers so far.
        Fewer if samples are equal.

    Notes
    -----
    T. F. Gonzalez, Clustering to minimize the maximum intercluster distance, 1985.
    """
    squares, usable = _squares(Z), weight > 0
    mean = np.asarray(Z.T @ weight).ravel() / weight.sum()
    distance = np.where(usable, squares - 2.0 * np.asarray(Z @ mean).ravel(), -np.inf)
    centers = [_dense(Z[[int(largest(distance))]])[0]]
    distance = np.full(len(weight), np.inf)
    while True:
        to_last = squares - 2.0 * np.asarray(Z @ centers[-1]).ravel() + centers[-1] @ centers[-1]
        distance = np.where(usable, np.minimum(distance, to_last), -np.inf)
        far = int(largest(distance))
        if len(centers) == n_groups or not distance[far] > 1e-12 * (1.0 + squares[far]):
            return np.stack(centers)
        centers.append(_dense(Z[[far]])[0])


def k_means(Z: Any, weight: Floats, centers: Floats) -> Ints:
    """Return the groups after a few steps of k-means (Lloyd's algorithm).

    Parameters
    ----------
    Z : ndarray or csr_array of shape (n, d)
        Samples.
    weight : ndarray of shape (n,)
        Weights >= 0.
    centers : ndarray of shape (k, d)
        Initial centers.

    Returns
    -------
    ndarray of int of shape (n,)
        The nearest center of each sample, numbered without gaps.
    """
    labels = nearest(Z, centers)
    for _ in range(LLOYD_STEPS):
        centers = group_means(Z, weight, labels, centers)
        before, labels = labels, nearest(Z, centers)
        if np.array_equal(before, labels):
            break
    return np.unique(labels, return_inverse=True)[1].reshape(-1)


def nearest(Z: Any, centers: Floats) -> Ints:
    """Return the nearest center of each sample.

    Parameters
    ----------
    Z : ndarray or csr_array of shape (n, d)
        Samples.
    centers : ndarray of shape (k, d)
        Centers.

    Returns
    -------
    ndarray of int of shape (n,)
        Numbers of centers; of equally near ones the first.
    """
    products = np.asarray(Z @ centers.T)
    return np.asarray(largest(2.0 * products - (centers**2).sum(axis=1)), dtype=np.intp)


def group_means(Z: Any, weight: Floats, labels: Ints, empty: Floats | None = None) -> Floats:
    """Return the weighted means of groups.

    Parameters
    ----------
    Z : ndarray or csr_array of shape (n, d)
        Samples.
    weight : ndarray of shape (n,)
        Weights >= 0.
    labels : ndarray of int of shape (n,)
        Groups.
    empty : ndarray of shape (k, d), default=None
        Means of groups without weight; None means that there are none.

    Returns
    -------
    ndarray of shape (k, d)
        The means.
    """
    k = int(labels.max()) + 1 if empty is None else len(empty)
    members = np.where(labels[:, None] == np.arange(k), weight[:, None], 0.0)
    sizes = members.sum(axis=0)[:, None]
    means = np.asarray(Z.T @ members).T / np.where(sizes > 0, sizes, 1.0)
    return means if empty is None else np.where(sizes > 0, means, empty)


def n_distinct(Z: Any, weight: Floats) -> int:
    """Return the number of different samples of positive weight.

    Parameters
    ----------
    Z : ndarray or csr_array of shape (n, d)
        Samples.
    weight : ndarray of shape (n,)
        Weights >= 0, not all zero.

    Returns
    -------
    int
        Samples whose products with a fixed random vector differ by less than rounding are equal.
    """
    # RandomState draws the same numbers with every version of NumPy.
    v = np.random.RandomState(0).random_sample(Z.shape[1])
    products = np.sort(np.asarray(Z @ v).ravel()[weight > 0])
    return 1 + int(np.count_nonzero(np.diff(products) > EQUAL * np.abs(products).max(initial=1.0)))


def sphered(Z: Floats, weight: Floats) -> Floats:
    """Return samples with a linear map applied that makes their covariances the identity.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Samples.
    weight : ndarray of shape (n,)
        Weights >= 0.

    Returns
    -------
    ndarray of shape (n, r)
        Without directions in which samples hardly vary.
    """
    v = weight / weight.sum()
    centered = Z - v @ Z
    values, vectors = np.linalg.eigh(centered.T @ (v[:, None] * centered))
    kept = values > 1e-9 * max(float(values[-1]), 1e-300)
    vectors = fixed_vectors(values, vectors)
    # Equal distances stay equal, so that linkage joins the same samples on every processor.
    return np.asarray((centered @ (vectors[:, kept] / np.sqrt(values[kept]))).round(9))


def _squares(Z: Any) -> Floats:
    squared = Z.multiply(Z) if hasattr(Z, "multiply") else Z * Z
    return np.asarray(squared.sum(axis=1)).ravel()


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


PRODUCTS_OF = 16
"""Most directions whose products are used: those of the largest variance."""
MAX_VALUES = 1 << 24
"""Lifted values from which directions are found on a part of the samples: 128 MB."""
AT_ONCE = 4096
"""Samples that are lifted at once to be assigned."""
RANK_TOLERANCE = 1e-8
"""Standard deviations below this, relative to the largest, are rounding error."""


def groups_by_squares(Z: Floats, weight: Floats, n_groups: int) -> Floats:
    """Return groups of samples from the moments of z and z^2, as 0 and 1, shape (n, k).

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Samples, standardized.
    weight : ndarray of shape (n,)
        Weights >= 0.
    n_groups : int >= 1
        Number of groups, at most.

    Returns
    -------
    ndarray of shape (n, k)
        One 1 in each row.
    """
    return _groups(Z, weight, n_groups, products=False)


def groups_by_products(Z: Floats, weight: Floats, n_groups: int) -> Floats:
    """Return groups of samples from the moments of z and z z^T after sphering.

    Sphering removes what the covariances of all components have in common, so the products of
    coordinates show in what they differ. Parameters and result are those of
    :func:`groups_by_squares`.
    """
    S = (Z.T * weight) @ Z / weight.sum()
    values, U = np.linalg.eigh(S)
    U = fixed_vectors(values[::-1], U[:, ::-1])[:, :PRODUCTS_OF]
    values = values[::-1][:PRODUCTS_OF]
    kept = values > RANK_TOLERANCE**2 * max(float(values[0]), 0.0)
    if not kept.any():
        return np.ones((len(Z), 1))
    return _groups(Z @ (U[:, kept] / np.sqrt(values[kept])), weight, n_groups, products=True)


def _groups(Z: Floats, weight: Floats, n_groups: int, *, products: bool) -> Floats:
    """Split samples into k groups at once by D-SIDIWO of (t(z), 1)."""
    n = len(Z)
    p = _lifted(Z[:1], products=products).shape[1]
    # In canonical order, every m-th sample is a fair part of them.
    some = slice(None, None, 1 + n * p // MAX_VALUES)
    part, v = _lifted(Z[some], products=products), weight[some]
    if not v.any():
        part, v = _lifted(Z, products=products), weight
    moments = AugmentedRawMoments(
        RowBlocks(sp.csr_array(part)), v, np.ones(len(part)), np.ones(p), 1.0
    )
    D = discriminators(moments, whiten(moments, n_groups))
    cubes = (part @ D[:, :-1].T + D[:, -1]) ** 3
    D *= np.where(v @ cubes < -SAME * (v @ np.abs(cubes)), -1.0, 1.0)[:, None]
    labels = np.concatenate(
        [
            largest(_lifted(Z[a : a + AT_ONCE], products=products) @ D[:, :-1].T + D[:, -1])
            for a in range(0, n, AT_ONCE)
        ]
    )
    return np.asarray(np.eye(len(D))[labels])


def _lifted(Z: Floats, *, products: bool) -> Floats:
    """Return z, (z^2 - 1) / sqrt 2 and, if wanted, products of different coordinates.

    Under a standard normal distribution, all of them are uncorrelated and have variance 1.
    """
    parts = [Z, (np.square(Z) - 1.0) / np.sqrt(2.0)]
    if products:
        a, b = np.triu_indices(Z.shape[1], 1)
        parts.append(Z[:, a] * Z[:, b])
    return np.hstack(parts)
