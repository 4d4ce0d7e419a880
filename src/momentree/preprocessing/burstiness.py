"""Burstiness: how much more often words repeat within documents than independent words would."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from momentree._choices import AutoLogScaling, LogScaling
from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, Rows, as_rows

T = TypeVar("T")

log = logging.getLogger("momentree.preprocessing")

BURSTY = 1.5
"""Repetition from which counts are bursty. Independent words have 1, mixed topics up to 1.25, and
nearly all text 1.6 and more. See ``docs/choices.md``."""
OUTSIZED = 0.1
"""Share of all tokens from which one document, ten times as long as the average, would decide the
topics of raw counts."""


def repetition(X: Any, labels: RowArray, n_groups: int, sample_weight: RowArray) -> float:
    """Return how often words repeat within documents, relative to independent words.

    Draw a token of a group of documents, and another token of the same word in the group. How often
    are both in the same document rather than in different ones, compared with any two tokens of the
    group? With C_j tokens in the n_j documents of group j, N_wj of them of word w, and c_i in
    document i,

        B_j = C_j sum_w s_wj / (N_wj - 1)  /  sum_w N_wj   over the words with N_wj > 1,
        s_wj = sum_{i in j} v_i x_iw (x_iw - 1) / (c_i - 1),

    which lies between 0 and n_j, and the odds ratio of all groups is

        B = sum_j C_j B_j (1 - 1 / n_j)  /  sum_j C_j (1 - B_j / n_j).

    Parameters
    ----------
    X : {csr_array, Rows} of shape (n, d)
        Counts >= 0.
    labels : row array of int of shape (n,)
        Group of each document.
    n_groups : int
        Number of groups.
    sample_weight : row array of shape (n,)
        Weights v >= 0.

    Returns
    -------
    float
        B >= 0, about 1 if each group is one multinomial; 0 if no word occurs twice in a group, and
        infinite if the words of each document occur in no other.

    Notes
    -----
    Topics make words repeat too, but only so much: if many documents mix k topics in any
    proportions, B of all documents is at most k, apart from sampling error. The normalized second
    moment

        D^-1/2 E[c theta theta^T] D^-1/2 / E[c],   D = diag(p),

    of the word distributions theta of documents with mean p has rank k and eigenvalues of at most
    1, and B estimates its trace. If words of a topic repeat with a probability of rho, in the
    manner of a Dirichlet-multinomial, B is 1 + rho (d - 1) for one topic of d words. Time O(nnz k).
    """
    rows = as_rows(X)
    N = rows.group_sums(labels, n_groups, sample_weight)
    sums = rows.sum(_RepeatSums(n_groups), rows.row_sums, labels, sample_weight)
    s = sums[..., 0].T
    several = N > 1.0
    tokens = np.where(several, N, 0.0).sum(axis=0)
    within = np.divide(s, N - 1.0, out=np.zeros_like(s), where=several).sum(axis=0)
    n = rows.sum(_LongDocuments(n_groups), rows.row_sums, labels, sample_weight)
    kept = (tokens > 0) & (n > 1.0)
    if not kept.any():
        return 0.0
    C, n = N.sum(axis=0)[kept], n[kept]
    B = np.minimum(C * within[kept] / tokens[kept], n)
    same, apart = float(C @ (B * (1.0 - 1.0 / n))), float(C @ (1.0 - B / n))
    return same / apart if apart > 0 else np.inf


@dataclass(frozen=True)
class _RepeatSums:
    """s_wj of all groups, shape (n_groups, d, 1)."""

    n_groups: int

    def __call__(self, B: Block, c: Floats, labels: Ints, v: Floats) -> Floats:
        data = B.csr[0]
        repeats = data * np.maximum(data - 1.0, 0.0)
        own = (v / np.maximum(c - 1.0, 1.0))[:, None]
        return B.with_data(repeats).own_tdot(own, labels, self.n_groups, out=B.total)


@dataclass(frozen=True)
class _LongDocuments:
    """The weight of the documents of two tokens or more in each group, shape (n_groups,)."""

    n_groups: int

    def __call__(self, B: Block, c: Floats, labels: Ints, v: Floats) -> Floats:  # noqa: ARG002
        found = np.bincount(labels, weights=v * (c > 1.0), minlength=self.n_groups)
        return found.astype(np.float64, copy=False)


@dataclass(frozen=True)
class _Outsized:
    """The number of documents of more than so many tokens."""

    tokens: float

    def __call__(self, B: Block, c: Floats) -> Floats:  # noqa: ARG002
        return np.array(float(np.count_nonzero(c > self.tokens)))


@dataclass(frozen=True)
class _Fractions:
    """The number of stored values that are not whole numbers."""

    def __call__(self, B: Block) -> Floats:
        data = B.csr[0]
        return np.array(float(np.count_nonzero(data != np.floor(data))))


def with_scaling(
    log_scaling: AutoLogScaling | None,
    attempt: Callable[[LogScaling | None], tuple[T, RowArray, int]],
    X: Any,
    sample_weight: RowArray,
) -> tuple[LogScaling | None, T]:
    """Return the scaling of counts, chosen by their burstiness if "auto", and what it leads to.

    Parameters
    ----------
    log_scaling : {"auto", "log1p", None}
        The scaling; "auto" is "log1p" for bursty counts. They are bursty if their
        :func:`repetition` is at least 1.5, both in all documents and within the groups that
        "log1p" leads to. It is also "log1p" if some counts are not whole numbers, which have no
        repeats to count, and if one document has a tenth of all tokens and ten times the average.
    attempt : callable
        Returns a result for counts scaled in this way, the group of each document, and the
        number of groups.
    X : {csr_array, Rows} of shape (n, d)
        Counts >= 0.
    sample_weight : row array of shape (n,)
        Weights >= 0.

    Returns
    -------
    log_scaling : {"log1p", None}
        The scaling.
    result : object
        The result of the attempt with this scaling. There are at most two attempts.
    """
    if log_scaling != "auto":
        return log_scaling, attempt(log_scaling)[0]

    rows = as_rows(X)

    def bursty(labels: RowArray, n_groups: int) -> bool:
        return repetition(rows, labels, n_groups, sample_weight) >= BURSTY

    always = float(rows.sum(_Fractions())) > 0 or _one_outweighs(rows)
    # Topics only add to the repeats, so without repeats in all documents there are none in groups.
    if always or bursty(np.broadcast_to(np.intp(0), rows.shape[:1]), 1):
        result, labels, n_groups = attempt("log1p")
        if always or bursty(labels, n_groups):
            return "log1p", result
        log.info("words are not bursty: starting again from raw counts")
    return None, attempt(None)[0]


def _one_outweighs(rows: Rows) -> bool:
    c = rows.row_sums
    total = float(rows.total(c))
    tokens = max(OUTSIZED * total, 10.0 * total / max(rows.shape[0], 1))
    return float(rows.sum(_Outsized(tokens), c)) > 0
