"""Exchanges between components of a mixture: one is split, and two others are merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.core.ties import largest_first, ranks
from momentree.refinement.moves import classification_log_likelihood

NEAREST = 4
"""Partners of each component whose merges are computed; further ones lose more."""


@dataclass(frozen=True)
class Sides:
    """The samples of a component on two sides."""

    samples: Ints
    second: NDArray[np.bool_]  # whether each of them is on the second side
    sums: Floats  # of the counts of each side, (d, 2)
    sizes: Floats  # total sample weight of each side


@dataclass(frozen=True)
class Exchange:
    """Component `j` is merged into `i`, and `j` becomes the second side of `split`."""

    split: int
    i: int
    j: int


def exchanges(
    sums: Floats,
    sizes: Floats,
    halves: Mapping[int, Sides],
    *,
    smoothing: float,
    min_size: float,
) -> list[Exchange]:
    """Return exchanges that raise the likelihood, no two with a component in common.

    Each is the split of largest gain, with the merge of least loss among other components.

    Parameters
    ----------
    sums, sizes : ndarray of shape (d, k) and (k,)
        Sums of the counts, and total sample weight, of each component.
    halves : mapping from int to Sides
        The sides of each component that can be split.
    smoothing : float > 0
        Pseudo-count of every word.
    min_size : float
        Components of a smaller total weight are merged first, whatever they lose.

    Returns
    -------
    list of Exchange
        Largest gain of the split first.

    Notes
    -----
    The split and merge steps of N. Ueda, R. Nakano, Z. Ghahramani and G. E. Hinton, SMEM algorithm
    for mixture models, Neural Computation 12, 2000; here they are chosen by the likelihood of
    samples and components. Time O(d k^2), but only O(d k) logarithms.
    """
    own = classification_log_likelihood(sums, sizes, smoothing)
    merges = _merges(sums, sizes, own, smoothing)
    small = sizes < min_size
    merges = [(-np.inf if small[i] or small[j] else loss, i, j) for loss, i, j in merges]
    merges = [merges[at] for at in largest_first([-loss for loss, _, _ in merges])]
    gains = {
        s: float(classification_log_likelihood(two.sums, two.sizes, smoothing).sum() - own[s])
        for s, two in halves.items()
    }
    found: list[Exchange] = []
    used: set[int] = set()
    by_gain = largest_first(list(gains.values()))
    for s in np.array([*gains], dtype=np.intp)[by_gain].tolist():
        if s in used:
            continue
        free = (merge for merge in merges if not {s, *used} & set(merge[1:]))
        loss, i, j = next(free, (np.inf, 0, 0))
        if gains[s] <= loss:
            break
        used |= {s, i, j}
        found.append(Exchange(s, i, j))
    return found


def after_exchanges(labels: Ints, halves: Mapping[int, Sides], chosen: Sequence[Exchange]) -> Ints:
    """Return the component of each sample after exchanges, shape (n,)."""
    new = labels.copy()
    for e in chosen:
        new[labels == e.j] = e.i
        new[halves[e.split].samples[halves[e.split].second]] = e.j
    return new


def _merges(
    sums: Floats, sizes: Floats, own: Floats, smoothing: float
) -> list[tuple[float, int, int]]:
    """Return the loss of merging components with their nearest ones, least first."""
    k = len(sizes)
    C = sums + smoothing
    total = C.sum(axis=0)
    # The loss is about proportional to the squared Hellinger distance times the harmonic mean of
    # the sizes, which needs no logarithms for each pair.
    roots = np.sqrt(C / total)
    near = (1.0 - roots.T @ roots) * (total[:, None] * total / (total[:, None] + total))
    np.fill_diagonal(near, np.inf)
    partners = np.argsort(ranks(-near), axis=1, kind="stable")[:, : min(NEAREST, k - 1)]
    pairs = sorted({(min(i, j), max(i, j)) for i in range(k) for j in partners[i].tolist()})
    found = []
    for i, j in pairs:
        S, N = sums[:, i] + sums[:, j], sizes[i] + sizes[j]
        merged = classification_log_likelihood(S, N, smoothing)
        found.append((float(own[i] + own[j] - merged), i, j))
    return found
