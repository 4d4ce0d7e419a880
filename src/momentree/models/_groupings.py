"""Deterministic groupings of real-valued samples, from which EM may start."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import fcluster, linkage

from momentree._types import Floats, Ints

MOST_LINKED = 2000
"""Samples that Ward's method links, at most: its time and memory grow with their square."""
LLOYD_STEPS = 10
"""Most steps of k-means."""


def ward_groups(Z: Any, weight: Floats, n_groups: int) -> Ints:
    """Group samples by Ward's method.

    Parameters
    ----------
    Z : ndarray or csr_array of shape (n, d)
        Samples in canonical order.
    weight : ndarray of shape (n,)
        Weights >= 0, not all zero.
    n_groups : int >= 1
        Number of groups.

    Returns
    -------
    ndarray of int of shape (n,)
        The groups. With more than 2,000 samples, or other weights than 1, a systematic sample of up
        to 2,000 is grouped, and all others join the nearest mean.
    """
    at = representatives(weight)
    some = _dense(Z[at])
    tree = linkage(some, "ward") if len(at) > 1 else None
    labels = (
        np.zeros(1, dtype=np.intp) if tree is None else fcluster(tree, n_groups, "maxclust") - 1
    )
    if len(at) == len(weight):
        out = np.empty(len(at), dtype=np.intp)
        out[at] = labels
        return out
    return nearest(Z, group_means(some, np.ones(len(at)), labels, int(labels.max()) + 1))


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
        one, if these are up to 2,000 in total; otherwise 2,000, evenly spread over the rows.
    """
    positive = weight[weight > 0]
    total = float(positive.sum() / positive.min())
    n = int(min(max(round(total), 1), MOST_LINKED))
    ends = np.cumsum(weight) / weight.sum()
    at = np.searchsorted(ends, (np.arange(n) + 0.5) / n)
    return np.minimum(at, len(weight) - 1).astype(np.intp)


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
    centers = [_dense(Z[[int(distance.argmax())]])[0]]
    distance = np.full(len(weight), np.inf)
    while True:
        to_last = squares - 2.0 * np.asarray(Z @ centers[-1]).ravel() + centers[-1] @ centers[-1]
        distance = np.where(usable, np.minimum(distance, to_last), -np.inf)
        far = int(distance.argmax())
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
        centers = group_means(Z, weight, labels, len(centers), centers)
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
    return np.asarray(((centers**2).sum(axis=1) - 2.0 * products).argmin(axis=1), dtype=np.intp)


def group_means(
    Z: Any, weight: Floats, labels: Ints, n_groups: int, empty: Floats | None = None
) -> Floats:
    """Return the weighted means of groups.

    Parameters
    ----------
    Z : ndarray or csr_array of shape (n, d)
        Samples.
    weight : ndarray of shape (n,)
        Weights >= 0.
    labels : ndarray of int of shape (n,)
        Groups.
    n_groups : int
        k.
    empty : ndarray of shape (k, d), default=None
        Means of groups without weight; None means 0.

    Returns
    -------
    ndarray of shape (k, d)
        The means.
    """
    n = len(labels)
    members = sp.csr_array((weight, (labels, np.arange(n))), shape=(n_groups, n))
    sizes = np.bincount(labels, weights=weight, minlength=n_groups)[:, None]
    sums = members @ Z
    means = _dense(sums) / np.where(sizes > 0, sizes, 1.0)
    return means if empty is None else np.where(sizes > 0, means, empty)


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
    return np.asarray(centered @ (vectors[:, kept] / np.sqrt(values[kept])))


def _squares(Z: Any) -> Floats:
    squared = Z.multiply(Z) if sp.issparse(Z) else Z * Z
    return np.asarray(squared.sum(axis=1)).ravel()


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows)
