"""Find the words of a node that some setting of the relevance slider shows."""

from __future__ import annotations

import heapq

import numpy as np

from momentree._types import Floats, Ints


def words_for_every_lambda(center: Floats, base: Floats, n_words: int) -> Ints:
    r"""Return the words that are among the `n_words` most relevant for at least one lambda.

    The relevance lam·log p(w|node) + (1-lam)·log(p(w|node)/p(w)) of a word is a line in lam over
    [0, 1]. A word that lies below `n_words` others at both ends lies below them everywhere and is
    never shown. The function returns all other words (the `n_words`-skyband of the end points), so
    that the slider is exact at every setting.

    Returns columns by descending p(w|node) = `center`, without words with p(w|node) = 0 or
    p(w) = `base` = 0, in time O(d log d) for d features.
    """
    present = np.flatnonzero((center > 0) & (base > 0))
    at_one = np.log(center[present])
    at_zero = at_one - np.log(base[present])
    kept: list[int] = []
    best: list[float] = []  # heap of the n_words largest at_zero among the words so far
    for i in np.lexsort((present, -at_zero, -at_one)):
        value = float(at_zero[i])
        if len(best) < n_words:
            heapq.heappush(best, value)
        elif value > best[0]:
            heapq.heapreplace(best, value)
        else:
            continue
        kept.append(int(present[i]))
    return np.array(kept, dtype=np.intp)
