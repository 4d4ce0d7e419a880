"""Move single samples between the groups of a mixture of multinomials (Hartigan's method)."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.special import xlogy

from momentree._types import Floats, Ints
from momentree.backends import Block, RowBlocks
from momentree.core.ties import exceeds, largest, largest_first
from momentree.objects import TopicParameters

STEPS = 10
"""Most steps; each is a pass over the data. Later steps move few samples."""
PART_NNZ = 1 << 15
"""Stored values whose gains are computed at once: they need nine arrays of this length."""
ROUNDING = 1e-12
"""Gains below this fraction of the log-likelihood may be rounding errors."""
TOL = 1e-6
"""Smallest fraction by which a further step must raise the log-likelihood."""


def classification_log_likelihood(sums: Floats, sizes: Floats, smoothing: float) -> Floats:
    """Return the log-likelihood of groups of samples with known group, and the log prior.

        L_j = max_mu sum_w (S_wj + a) log mu_w + N_j log N_j

    Parameters
    ----------
    sums, sizes : ndarray of shape (d, ...) and (...)
        S and N: sums of the counts, and total sample weight, of each group.
    smoothing : float > 0
        a, the pseudo-count of every word.

    Returns
    -------
    ndarray of shape (...)
        In nats, up to a constant that depends only on all samples. The sum over groups is the
        log-likelihood of samples and groups, plus the log prior of smoothing.
    """
    parts = TopicParameters.maximized_log_likelihood(sums + smoothing, sizes)
    return np.asarray(parts + xlogy(sizes, sizes))


def move_samples(
    rows: RowBlocks,
    labels: Ints,
    n_groups: int,
    *,
    sample_weight: Floats,
    smoothing: float = 1.0,
    min_size: float = 1.0,
    max_iter: int = STEPS,
) -> Ints:
    """Move samples to other groups while this raises the likelihood.

    A sample x of weight v moves from group j to group l if this raises the log-likelihood of
    samples and groups, with the parameters of both groups adapted:

        L(S_l + v x) - L(S_l)  >  L(S_j) - L(S_j - v x)

    The E-step of EM compares a sample with parameters that include it in its own group only.
    If documents are long, and few in each group, EM therefore never moves them.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        The (log-scaled) counts.
    labels : ndarray of int of shape (n,)
        Group of each sample.
    n_groups : int >= 1
        Number of groups.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float > 0, default=1.0
        Pseudo-count of every word in every group.
    min_size : float, default=1.0
        No group becomes smaller than this total weight.
    max_iter : int >= 0, default=10
        Maximum number of steps.

    Returns
    -------
    ndarray of int of shape (n,)
        The new groups.

    Notes
    -----
    J. A. Hartigan, Clustering Algorithms, 1975; for k-means see M. Telgarsky and A. Vattani,
    Hartigan's method: k-means clustering without Voronoi, AISTATS 2010. Each step computes the gain
    of moving each sample to the best of the other groups, and then moves many samples together:
    all with a gain, or half of them, a quarter, and so on, largest gains first, until the
    likelihood rises. Time O(nnz k) per step; deterministic.
    """
    if n_groups < 2:
        return labels
    k, v = n_groups, sample_weight
    S, N = rows.group_sums(labels, k, v)
    last = float(classification_log_likelihood(S, N, smoothing).sum())
    labels = labels.copy()
    near, part = np.arange(len(labels), dtype=np.intp), rows
    for _ in range(max_iter):
        target, gain = _gains(part, labels[near], v[near], S + smoothing, N)
        order = largest_first(gain)
        order = order[: np.count_nonzero(gain > ROUNDING * abs(last))]
        able, to = near[order], target[order]
        new = -np.inf
        while len(able):
            sums, sizes = _after_moves(rows, labels, v, able, to, S, N)
            closed = (sizes < min_size) & (sizes < N)
            if closed.any():  # nothing leaves a group that would become too small
                stay = closed[labels[able]]
                able, to = able[~stay], to[~stay]
                continue
            new = float(classification_log_likelihood(sums, sizes, smoothing).sum())
            if exceeds(new, last):
                break
            half = len(able) // 2
            able, to = able[:half], to[:half]
        if not len(able):
            break
        labels[able] = to
        S, N = sums, sizes
        rise, last = new - last, new
        if rise <= TOL * abs(last):
            break
        # Samples that lose more than any gains are far from the border between groups.
        keep = gain > -gain.max()
        near = near[keep]
        part = rows.take(near)
    return labels


def _after_moves(
    rows: RowBlocks, labels: Ints, v: Floats, moved: Ints, to: Ints, S: Floats, N: Floats
) -> tuple[Floats, Floats]:
    """Return the sums and sizes of groups after some samples have moved."""
    some = np.argsort(moved)
    moved, to = moved[some], to[some]
    k, w, before = len(N), v[moved], labels[moved]
    part = rows.take(moved)
    (into, n_into), (out, n_out) = part.group_sums(to, k, w), part.group_sums(before, k, w)
    # Rounding may leave less than nothing.
    return np.maximum(S + into - out, 0.0), np.maximum(N + n_into - n_out, 0.0)


def _gains(rows: RowBlocks, labels: Ints, v: Floats, C: Floats, N: Floats) -> tuple[Ints, Floats]:
    """Return the best other group of each sample, and the gain of moving it there.

    C contains the smoothed sums. The best other group is the most likely one under its current
    parameters, which do not include the sample.
    """
    total = C.sum(axis=0)
    least = float(C.min())
    terms = C * np.log(C)
    theta = np.log(C / total)
    with np.errstate(divide="ignore"):
        offsets = np.log(N)

    k, flat, flat_terms = C.shape[1], C.ravel(), terms.ravel()

    def kernel(B: Block) -> Floats:
        data, indices, indptr = B.csr
        own, w = labels[B.at], v[B.at]
        scores = B.dot(theta) + offsets
        scores[np.arange(len(own)), own] = -np.inf
        found = np.empty((len(own), 2))
        found[:, 0] = largest(scores)
        for rows in _parts(indptr):
            at = slice(indptr[rows.start], indptr[rows.stop])
            lengths = np.diff(indptr[rows.start : rows.stop + 1])
            to, part = found[rows, 0].astype(np.intp), (data[at], indices[at], lengths, w[rows])
            found[rows, 1] = gain(to, 1.0, *part) + gain(own[rows], -1.0, *part)
        return found

    def gain(
        group: Ints, sign: float, data: Floats, indices: Ints, lengths: Ints, w: Floats
    ) -> Floats:
        """Return the change in the log-likelihood of a group with or without the sample."""
        of_value = np.repeat(np.arange(len(w)), lengths)
        y = data * w[of_value]
        mass = np.bincount(of_value, weights=y, minlength=len(w))
        at = indices * k + group[of_value]
        after = np.maximum(flat[at] + sign * y, least)  # rounding may leave less than nothing
        change = after * np.log(after) - flat_terms[at]
        words = np.bincount(of_value, weights=change, minlength=len(w))
        a, b = total[group], N[group]
        a_new, b_new = a + sign * mass, np.maximum(b + sign * w, 0.0)
        sizes = xlogy(b_new, b_new) - xlogy(b, b)
        return np.asarray(words - (xlogy(a_new, a_new) - xlogy(a, a)) + sizes)

    found = rows.map(kernel)
    return found[:, 0].astype(np.intp), found[:, 1]


def _parts(indptr: Ints) -> Iterator[slice]:
    """Yield parts of the rows of a block whose values are held several times."""
    cuts = np.searchsorted(indptr, np.arange(PART_NNZ, int(indptr[-1]), PART_NNZ))
    ends = np.unique([0, *cuts, len(indptr) - 1])
    for a, b in pairwise(ends):
        yield slice(int(a), int(b))
