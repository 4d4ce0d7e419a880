"""Rank the features that set a node apart, and choose different names for all nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.core.ties import ranks

NAME_TERMS = 3
"""Maximum number of words, phrases or codes in a name."""


def rank_terms(
    center: Floats,
    base: Floats,
    above: Floats,
    lam: float,
    names: Sequence[str] | NDArray[Any],
    limit: int,
) -> tuple[Ints, int]:
    """Rank the features of a node by how well they describe it and set it apart.

        r(w) = log p(w) - (1 - lam)/2 (log p_all(w) + log p_above(w))

    This is the relevance of a word, with the mean of its logarithms in the corpus and in the parent
    in place of the corpus alone. Features that are rarer in the node than in its parent, and so
    describe a sibling, come last.

    Parameters
    ----------
    center, base, above : ndarray of shape (n_features,)
        Profiles, >= 0, of the node, of all samples and of the parent node.
    lam : float in [0, 1]
        1 ranks by frequency, 0 by lift.
    names : sequence of str of shape (n_features,)
        Names, which break ties.
    limit : int
        Maximum number of features to return.

    Returns
    -------
    order : ndarray of int
        Columns, best first, of features with positive frequencies.
    n_leading : int
        Number of these that are at least as frequent as in the parent, or, if there are none,
        of all.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.naming import rank_terms
    >>> center, base = np.array([0.1, 0.5, 0.4]), np.array([0.4, 0.4, 0.2])
    >>> rank_terms(center, base, base, 0.6, ["law", "said", "sea"], 10)
    (array([2, 1, 0]), 2)
    """
    present = np.flatnonzero((center > 0) & (base > 0) & (above > 0))
    p = center[present]
    value = np.log(p) - (1.0 - lam) / 2 * (np.log(base[present]) + np.log(above[present]))
    rank_of = ranks(value)
    tier = _tiers(p, base[present], above[present])
    if len(present) > limit:  # strings are slow to sort
        rank = np.lexsort((rank_of, tier))
        last = rank[limit - 1]
        kept = np.flatnonzero(
            (tier < tier[last]) | ((tier == tier[last]) & (rank_of <= rank_of[last]))
        )
    else:
        kept = np.arange(len(present))
    by_name = np.array([str(names[j]) for j in present[kept]], dtype=str)
    rank = kept[np.lexsort((by_name, rank_of[kept], tier[kept]))][:limit]
    n_leading = int(np.count_nonzero(tier[rank] < 2))
    return present[rank], n_leading or len(rank)


def common_last(
    order: Sequence[int], center: Floats, base: Floats, above: Floats
) -> tuple[list[int], int]:
    """Put features last that are rarer in a node than in its parent, or than in all samples.

    Parameters
    ----------
    order : sequence of int
        Columns, best first.
    center, base, above : ndarray of shape (n_features,)
        Profiles, >= 0, of the node, of all samples and of the parent node.

    Returns
    -------
    order : list of int
        The columns, otherwise in the same order.
    n_leading : int
        Number of these that are at least as frequent as in the parent, or, if there are none,
        of all.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.naming import common_last
    >>> center, base = np.array([0.1, 0.5, 0.4]), np.array([0.4, 0.4, 0.2])
    >>> common_last([0, 1, 2], center, base, base)
    ([1, 2, 0], 2)
    """
    columns = np.asarray(order, dtype=np.intp)
    tier = _tiers(center[columns], base[columns], above[columns])
    n_leading = int(np.count_nonzero(tier < 2))
    return columns[np.argsort(tier, kind="stable")].tolist(), n_leading or len(columns)


def _tiers(center: Floats, base: Floats, above: Floats) -> Ints:
    """Return 0 for features that describe a node, 1 for its parent, 2 for a sibling."""
    # A frequency is compared without its rounding error, which depends on the order of sums.
    apart = center >= above * (1.0 - 1e-9)
    known = apart & (center >= base * (1.0 - 1e-9))
    return np.where(known, 0, np.where(apart, 1, 2))


def choose_distinct(
    ranked: Sequence[Sequence[str]], n_leading: Sequence[int], n_terms: int = NAME_TERMS
) -> list[list[str]]:
    """Choose the terms of all nodes such that no two nodes have the same ones.

    A node gets its first `n_terms` leading terms. If an earlier node has the same ones, in any
    order, then the last one is replaced by the next leading one, or else other terms are added,
    or else fewer are taken, or else any of the first ``2 * n_terms``. The first node, the root,
    comes last: pages call it "All documents".

    Parameters
    ----------
    ranked : sequence of sequence of str
        Terms of each node, best first; the root first, and parents before their children.
    n_leading : sequence of int
        Number of leading terms of each node.
    n_terms : int, default=3
        Maximum number of terms in a name.

    Returns
    -------
    list of list of str
        The terms of each node. Two nodes have the same ones only if all of these attempts fail.

    Examples
    --------
    >>> from momentree.naming import choose_distinct
    >>> choose_distinct([["a"], ["war", "tax", "law"], ["tax", "war", "law", "oil"]], [1, 3, 4])
    [['a'], ['war', 'tax', 'law'], ['tax', 'war', 'oil']]
    """
    used: set[frozenset[str]] = set()
    names: list[list[str]] = [[] for _ in ranked]
    for i in (*range(1, len(ranked)), 0):
        terms, leading = ranked[i], n_leading[i]
        n = min(n_terms, leading)
        choices = _choices(terms, leading, n, n_terms)
        chosen = next((c for c in choices if c and frozenset(c) not in used), list(terms[:n]))
        used.add(frozenset(chosen))
        names[i] = chosen
    return names


def _choices(terms: Sequence[str], leading: int, n: int, most: int) -> Iterator[list[str]]:
    yield list(terms[:n])
    for last in terms[n:leading]:
        yield [*terms[: n - 1], last]
    for k in range(n + 1, most + 1):
        yield list(terms[:k])
    for k in range(n - 1, 0, -1):
        yield list(terms[:k])
    for last in terms[n:]:
        yield [*terms[: n - 1], last]
    for k in range(most, 0, -1):
        yield from map(list, combinations(terms[: 2 * most], k))
