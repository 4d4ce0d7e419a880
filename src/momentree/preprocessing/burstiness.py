"""Burstiness: how much more often words repeat within documents than independent words would."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np

from momentree import backends
from momentree._types import Floats, Ints
from momentree.backends.kernels import kernel
from momentree.core.choices import AutoLogScaling, LogScaling

T = TypeVar("T")
Attempt: TypeAlias = Callable[
    [LogScaling | None, backends.Rows, backends.RowArray],
    tuple[T, Callable[[], backends.RowArray], int],
]

log = logging.getLogger("momentree.preprocessing")

BURSTY = 1.5
"""Repetition from which counts are bursty. Independent words have 1, mixed topics up to 1.25, and
nearly all text 1.6 and more. See ``docs/choices.md``."""
CLEARLY = 3.0
"""Repetition within groups that is too high to be explained by poor groups. If it is lower, the
groups of raw counts are looked at too. If repetition in all documents is so high for each group,
counts are bursty whatever the groups are."""
DECISIVE, DECISIVE_OF_GROUP, DECISIVE_VALUES = 1_000, 100, 1 << 16
"""Documents, documents for each group and stored values that decide, at least. On twelve corpora
and ten samples of models, the choice is that of all documents; with 25 documents for each group,
independent words of 20 topics would be log-scaled."""
DECISIVE_WORDS = 4_096
"""Words by which these documents are grouped, at most: the most frequent ones."""
OUTSIZED = 0.1
"""Share of all tokens from which one document, ten times as long as the average, would decide the
topics of raw counts."""


def repetition(
    X: Any, labels: backends.RowArray, n_groups: int, sample_weight: backends.RowArray
) -> float:
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
    manner of a Dirichlet-multinomial, B is 1 + rho (d - 1) for one topic of d words. Time O(nnz).
    """
    rows = backends.as_rows(X)
    N, _ = rows.group_sums(labels, n_groups, sample_weight)
    s = rows.sum(partial(repeat_sums, n_groups=n_groups), rows.row_sums, labels, sample_weight)[
        ..., 0
    ].T
    several = N > 1.0
    tokens = np.where(several, N, 0.0).sum(axis=0)
    within = np.divide(s, N - 1.0, out=np.zeros_like(s), where=several).sum(axis=0)
    n = rows.sum(partial(long_documents, n_groups=n_groups), rows.row_sums, labels, sample_weight)
    kept = (tokens > 0) & (n > 1.0)
    if not kept.any():
        return 0.0
    C, n = N.sum(axis=0)[kept], n[kept]
    B = np.minimum(C * within[kept] / tokens[kept], n)
    same, apart = float(C @ (B * (1.0 - 1.0 / n))), float(C @ (1.0 - B / n))
    return same / apart if apart > 0 else np.inf


@kernel
def repeat_sums(B: backends.Block, c: Floats, labels: Ints, v: Floats, *, n_groups: int) -> Floats:
    """Return s_wj of all groups, shape (n_groups, d, 1)."""
    data = B.csr[0]
    repeats = data - 1.0
    np.maximum(repeats, 0.0, out=repeats)
    repeats *= data
    own = (v / np.maximum(c - 1.0, 1.0))[:, None]
    return B.with_data(repeats).own_tdot(own, labels, n_groups, out=B.total)


@kernel
def long_documents(
    _: backends.Block, c: Floats, labels: Ints, v: Floats, *, n_groups: int
) -> Floats:
    """Return the weight of the documents of two tokens or more in each group, (n_groups,)."""
    weights = np.bincount(labels, weights=v * (c > 1.0), minlength=n_groups)
    return weights.astype(np.float64, copy=False)


@kernel
def outsized(_: backends.Block, c: Floats, *, tokens: float) -> Floats:
    """Return the number of documents of more than so many tokens."""
    return np.array(float(np.count_nonzero(c > tokens)))


def with_scaling(
    log_scaling: AutoLogScaling | None,
    attempt: Attempt[T],
    rows: backends.Rows,
    sample_weight: backends.RowArray,
    n_groups: float,
) -> tuple[LogScaling | None, T]:
    """Return the scaling of counts, chosen by their burstiness if "auto", and what it leads to.

    Parameters
    ----------
    log_scaling : {"auto", "log1p", None}
        The scaling; "auto" is "log1p" for bursty counts. They are bursty if their
        :func:`repetition` is at least 1.5, both in all documents and within the groups that
        "log1p" leads to; if it is below 3 in these, also within those of raw counts. They are also
        bursty if it is at least three times the number of groups in all documents. It is also
        "log1p" if some counts are not whole numbers, which have no repeats to count, and if one
        document has a tenth of all tokens and ten times the average.
    attempt : callable
        Returns a result for counts scaled in this way, a function that returns the group of each
        document, and the number of groups.
    rows : Rows of shape (n, d)
        Counts >= 0.
    sample_weight : row array of shape (n,)
        Weights >= 0.
    n_groups : float
        The number of groups, possibly infinite.

    Returns
    -------
    log_scaling : {"log1p", None}
        The scaling.
    result : object
        The result of the attempt with this scaling. Of many documents, a systematic sample is
        decisive: at least 1,000, 100 for each group, and 65,536 stored counts. There is one attempt
        with it, and one with all documents. Of few, and of rows that stay where they are, all are
        decisive. Repetition between 1.5 and 3 takes one attempt more.
    """
    if log_scaling == "auto":
        log_scaling = "log1p"
        if rows.whole:
            part, weight = _decisive(rows, sample_weight, n_groups)
            # Topics only add to the repeats, so without repeats in all documents there are none in
            # groups. Independent words of n_groups topics repeat n_groups times at most.
            everything = np.broadcast_to(np.intp(0), part.shape[:1])
            outweighs = _one_outweighs(rows)  # drawing a sample has computed the row sums
            in_all = 0.0 if outweighs else repetition(part, everything, 1, weight)
            if BURSTY <= in_all < CLEARLY * n_groups:
                grouped = part if part is rows else with_frequent_words(part, DECISIVE_WORDS)
                result, labels, n_found = attempt("log1p", grouped, weight)
                within = repetition(part, labels(), n_found, weight)
                if BURSTY <= within < CLEARLY:  # groups may be poor because words are independent
                    _, labels, n_found = attempt(None, grouped, weight)
                    within = min(within, repetition(part, labels(), n_found, weight))
                if within >= BURSTY and part is rows:
                    return "log1p", result
                if within < BURSTY:
                    log.info("words are not bursty: using raw counts")
                    log_scaling = None
            elif not outweighs and in_all < BURSTY:
                log_scaling = None
    return log_scaling, attempt(log_scaling, rows, sample_weight)[0]


def _decisive(
    rows: backends.Rows, weight: backends.RowArray, n_groups: float
) -> tuple[backends.Rows, backends.RowArray]:
    """Return the documents that decide, and their weights."""
    n = rows.shape[0]
    each = DECISIVE_OF_GROUP * min(n_groups, n)
    size = int(max(DECISIVE, each, DECISIVE_VALUES * n // max(rows.nnz, 1)))
    if 2 * size >= n or not rows.gives_rows:
        return rows, weight
    at, drawn = backends.RowSampler(rows, np.asarray(weight)).draw(size)
    return backends.taken(rows, at), drawn


def with_frequent_words(rows: backends.Rows, most: int) -> backends.Rows:
    """Return counts of the words that occur in most documents, in their order.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Counts without stored zeros.
    most : int >= 1
        Number of words to keep.

    Returns
    -------
    Rows of shape (n, min(d, most))
        The counts, in memory.
    """
    X = backends.collected(rows).matrix
    if X.shape[1] <= most:
        return rows
    found = np.bincount(X.indices, minlength=X.shape[1])
    return backends.RowBlocks(X[:, np.sort(np.argsort(-found, kind="stable")[:most])])


def _one_outweighs(rows: backends.Rows) -> bool:
    c = rows.row_sums
    total = float(rows.total(c))
    tokens = max(OUTSIZED * total, 10.0 * total / max(rows.shape[0], 1))
    return float(rows.sum(partial(outsized, tokens=tokens), c)) > 0
