"""Split a group of documents into two: H Algorithm 2, with EM after it when asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.assignment.rules import LinearRule, Rule
from momentree.backends import Block, RowBlocks
from momentree.decomposition import sidiwo
from momentree.moments import SingleTopicMoments, Weighting
from momentree.objects import (
    Decomposition,
    MixtureParameters,
    Moments,
    TopicParameters,
    Whitening,
)
from momentree.parameters import topic_parameters
from momentree.refinement import em
from momentree.whitening import whiten

__all__ = ["EARLY", "EXACT", "NoSplit", "Split", "Splitter", "Whiten", "settled", "sides_of"]

Floats = NDArray[np.float64]
Whiten = Callable[[Moments, int], Whitening]

SPLIT_ITER = 15
"""EM steps after each split; more change nothing that the EM over all leaves does not."""
EARLY: Whiten = partial(whiten, tol=1e-2, max_iter=8)
"""A split needs no more: sampling error moves the eigenvectors further than these limits do. Over
four labelled corpora more products and digits changed the agreement with labels by 0.001 (NMI),
fewer than 8 products cost 0.007."""
EXACT: Whiten = partial(whiten, tol=1e-12)
"""To rounding error, as the papers' algorithms assume."""

ALGORITHM_1 = partial(sidiwo, centers="rotation")
"""H Algorithm 1 as published."""


@dataclass(frozen=True)
class Split:
    """A split that a group of documents admits.

    Attributes
    ----------
    rule : Rule
        Decides the side of a sample.
    side : ndarray of int of shape (n,)
        The side of each sample of the group, from 0; the largest side comes first.
    gain : float
        Log-likelihood, in nats, that the sides, each with parameters of its own, gain over the
        group as one.
    sums : ndarray of shape (p, s)
        Weighted sums of the statistics over each side.
    sizes : ndarray of shape (s,)
        Total sample weight of each side.
    """

    rule: Rule
    side: NDArray[np.signedinteger[Any]]
    gain: float
    sums: Floats
    sizes: Floats


@dataclass(frozen=True)
class NoSplit:
    """Why a group of documents admits no split."""

    reason: str


@dataclass(frozen=True)
class Splitter:
    """Split groups of documents in two by moments.

    Attributes
    ----------
    min_samples_leaf : float
        Least total sample weight on each side.
    refine_iter : int
        EM steps after the split by moments; 0 for none, which is H Algorithm 2.
    weighting : {"length", "uniform", "three_words"}
        How documents are weighted in the moments.
    smoothing : float
        Pseudo-count of every word in both topics.
    random_state : int, RandomState or None
        Draws the words of "three_words", and what the decomposition draws.
    decompose : callable
        Of the signature of ``momentree.decomposition``; by default H Algorithm 1 as published.
    whiten : callable
        Whitens moments for a number of components; by default no further than a split needs.
    """

    min_samples_leaf: float
    refine_iter: int
    weighting: Weighting
    smoothing: float
    random_state: int | np.random.RandomState | None = None
    decompose: Callable[..., Decomposition] = ALGORITHM_1
    whiten: Whiten = EARLY

    def __call__(self, rows: RowBlocks, sample_weight: Floats, unit: Floats) -> Split | NoSplit:
        """Split the documents `rows`, in each of which one word counts `unit`."""
        if sample_weight.sum() < 2 * self.min_samples_leaf:
            return NoSplit(
                f"fewer than 2 x min_samples_leaf = {2 * self.min_samples_leaf:g} documents"
            )
        moments = SingleTopicMoments.from_rows(
            rows,
            sample_weight=sample_weight,
            weighting=self.weighting,
            count_per_token=unit,
            random_state=self.random_state,
        )
        if not moments.has_triples:
            scaled = bool((unit != 1).any())
            why = " after log scaling, which counts a repeated word as less" if scaled else ""
            return NoSplit(f"no document has three words or more{why}")
        white = self.whiten(moments, 2)
        found = self.decompose(moments, 2, random_state=self.random_state, whitening=white)
        if found.n_components < 2 or not found.weights.sum() > 0:
            return NoSplit(found.diagnostics["reason"] or "its moments show no two components")
        start = self._smoothed(topic_parameters(found), rows, sample_weight)
        if self.refine_iter:
            # Balanced weights at the start: a small component of the moments is not to be starved.
            start = TopicParameters(np.array([0.5, 0.5]), start.centers)
            start = em(
                rows,
                start,
                sample_weight=sample_weight,
                smoothing=self.smoothing,
                max_iter=self.refine_iter,
            ).parameters
        rule = LinearRule.between(start, prior=self.refine_iter > 0)
        return settled(
            rule,
            rows,
            sample_weight,
            min_samples_leaf=self.min_samples_leaf,
            family=TopicParameters,
        )

    def _smoothed(
        self, found: TopicParameters, rows: RowBlocks, sample_weight: Floats
    ) -> TopicParameters:
        # The projection to the simplex leaves zeros, which no document with that word survives:
        # the centers are taken as the counts that they predict, plus the pseudo-count.
        total = float(sample_weight @ rows.row_sums)
        return TopicParameters.m_step(
            found.centers * (found.weights * total), found.weights, self.smoothing
        )


def settled(
    rule: Rule,
    rows: RowBlocks,
    sample_weight: Floats,
    *,
    min_samples_leaf: float,
    family: type[MixtureParameters],
) -> Split | NoSplit:
    """Return the split that a rule makes of a group, the largest side first.

    Parameters
    ----------
    rule : Rule
        Decides the side of a sample.
    rows : RowBlocks of shape (n, p)
        Statistics of the samples.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    min_samples_leaf : float
        Least total sample weight on each side.
    family : type of MixtureParameters
        What the gain is the likelihood of.

    Returns
    -------
    Split or NoSplit
        NoSplit where a side would be too small.
    """
    side, sums, sizes, clear, ties = sides_of(rule, rows, sample_weight)
    order = np.argsort(-clear, kind="stable")
    rule, moved = rule.reordered(order), bool((order[1:] < order[:-1]).any())
    if ties and moved:
        # A document without words, say, is as likely on both sides. It joins the larger one, which
        # was found without it: the answer does not depend on which side a rule knows as first.
        side, sums, sizes, _, _ = sides_of(rule, rows, sample_weight)
    elif moved:
        sums, sizes = sums[:, order], sizes[order]
        side = np.argsort(order).astype(side.dtype)[side]
    if sizes.min() < max(min_samples_leaf, np.finfo(float).tiny):
        return NoSplit(f"one side would hold fewer than min_samples_leaf = {min_samples_leaf:g}")
    parts = family.maximized_log_likelihood(sums, sizes).sum()
    whole = family.maximized_log_likelihood(sums.sum(axis=1), sizes.sum())
    return Split(rule, side, float(parts - whole), sums, sizes)


def sides_of(
    rule: Rule, rows: RowBlocks, sample_weight: Floats
) -> tuple[NDArray[np.signedinteger[Any]], Floats, Floats, Floats, int]:
    """Return sides, and of each side sums, size, and size of those that take it for certain.

    The last number is that of samples that fit several sides alike. One pass over the data.
    """
    n, p = rows.shape
    # A byte does for all but very flat splits: a side is kept for every sample and candidate.
    side = np.empty(n, dtype=np.min_scalar_type(-rule.n_sides))

    def kernel(B: Block) -> Floats:
        v = sample_weight[B.at]
        scores = rule.of_block(B).T  # a row a side: what follows goes over whole rows
        top = reduce(np.maximum, scores)
        best = [score == top for score in scores]
        several = reduce(np.add, [one.view(np.int8) for one in best]) > 1
        here = side[B.at]  # each block has rows of its own
        here[:] = len(best) - 1
        for i in reversed(range(len(best) - 1)):
            np.copyto(here, i, where=best[i])
        groups = np.empty((len(v), len(best)))
        for i, column in enumerate(groups.T):
            np.multiply(v, here == i, out=column)
        out = np.zeros((p + 3, len(best)))
        out[:p] = B.tdot(groups)
        out[p] = out[p + 1] = groups.sum(axis=0)
        out[p + 2] = np.count_nonzero(several)
        if out[p + 2, 0]:
            out[p + 1] = groups[~several].sum(axis=0)
        return out

    total = rows.sum(kernel)
    return side, total[:p], total[p], total[p + 1], int(total[p + 2, 0])
