"""Search for the most likely topics: from several starts, by EM, exchanges and moves."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats, Ints
from momentree.backends import RowArray, RowBlocks, collected
from momentree.core.ties import largest, pivots
from momentree.inference import log_joint, log_posterior
from momentree.moments import RawMoments
from momentree.moments._base import symmetric
from momentree.objects import TopicParameters
from momentree.preprocessing.log_scaling import tfidf_scales
from momentree.refinement import moves, proposals
from momentree.refinement.em import Samples
from momentree.tree import growth, hierarchy, splitters
from momentree.tree.split import SampleGroups, Split
from momentree.whitening import whiten

SHORT_ITER = 10
"""Most EM steps between changes; the EM after the search runs to convergence."""
HALF_ITER = 5
"""EM steps of a split: the EM over all components that follows moves documents anyway."""
CYCLES = 2
"""Most further rounds of exchanges and moves from the most likely answer."""
TRIES = 3
"""Attempts at a round of exchanges, each with fewer of them."""
MANY = 32
"""With more components, the search starts from the tree alone, without further cycles and with half
the steps of EM: their time grows with k, but that of the tree with log k."""
LIMIT = "max_leaf_nodes_reached"
TOL = 1e-5
"""Smallest fraction by which a change must raise the objective to be kept."""


@dataclass(frozen=True)
class Answer:
    """Topics, the most likely one of each document, and how likely they are."""

    start: str
    parameters: TopicParameters
    labels: Ints
    small: frozenset[int]  # components that are too small
    objective: float  # log-likelihood plus the log prior of smoothing, in nats


@dataclass(frozen=True)
class TopicSearch:
    """Search for the k most likely topics of documents, without random numbers.

    Every start is a group of each document. After EM it is improved by exchanges (split one
    component, merge two others; see :mod:`momentree.refinement.proposals`) and by moves of single
    documents (see :mod:`momentree.refinement.moves`), each followed by EM and kept only if it
    raises the likelihood. The most likely answer is improved further, and returned.
    """

    samples: Samples
    count_per_token: RowArray
    splitter: splitters.TopicSplitter
    _halves: dict[bytes, proposals.Sides | None] = field(default_factory=dict)

    def from_tree(self, grown: growth.Grown, counts: Any) -> Answer:
        """Return the most likely answer with as many topics as a tree has leaves.

        `counts` are the counts without log scaling, which make another start.
        """
        k = len(grown.root.leaves())
        starts = {"tree": grown.labels}
        groups = tfidf_groups(counts, self.samples.weight, k) if 1 < k <= MANY else None
        if groups is not None:
            starts["tfidf"] = groups
        return self.best(starts, k)

    def best(self, starts: Mapping[str, Ints], n_components: int) -> Answer:
        """Return the most likely answer from several starts, given as groups of the documents."""
        answers = []
        for name, labels in starts.items():
            growth.log.info("searching from %s", name)
            answer = self._refined(name, labels, n_components)
            answers.append(self._moved(self._exchanged(answer) or answer))
        fewest = min(len(answer.small) for answer in answers)
        answers = [answer for answer in answers if len(answer.small) == fewest]
        best: Answer = answers[largest([answer.objective for answer in answers])]
        for _ in range(CYCLES if n_components <= MANY else 0):
            better = self._exchanged(best)
            if better is None:
                break
            best = self._moved(better)
        return best

    def _exchanged(self, old: Answer) -> Answer | None:
        """Return the answer after exchanges; None if they do not make it more likely."""
        k = old.parameters.n_components
        if k < 3:  # an exchange needs three components
            return None
        sums, sizes = self.samples.group_sums(old.labels, k)
        halves = self._all_halves(old.labels, k)
        least, smoothing = self.splitter.min_samples_leaf, self.samples.smoothing
        found = proposals.exchanges(sums, sizes, halves, smoothing=smoothing, min_size=least)
        for _ in range(TRIES):
            if not found:
                return None
            labels = proposals.after_exchanges(old.labels, halves, found)
            new = self._refined(old.start, labels, k)
            if self._is_better(new, old):
                return new
            # Without the components that EM made too small; or the first exchange alone.
            lasting = [e for e in found if not {e.split, e.i, e.j} & new.small]
            found = lasting if len(lasting) < len(found) else found[: len(found) > 1]
        return None

    def _moved(self, old: Answer) -> Answer:
        """Return the answer after moves, or the old one if they do not make it more likely."""
        labels = moves.move_samples(
            collected(self.samples.rows),
            old.labels,
            old.parameters.n_components,
            sample_weight=self.samples.weight,
            smoothing=self.samples.smoothing,
            min_size=self.splitter.min_samples_leaf,
        )
        if (labels == old.labels).all():
            return old
        new = self._refined(old.start, labels, old.parameters.n_components)
        return new if self._is_better(new, old) else old

    def _is_better(self, new: Answer, old: Answer) -> bool:
        if len(new.small) != len(old.small):
            return len(new.small) < len(old.small)
        return new.objective - old.objective > TOL * abs(old.objective)

    def _refined(self, start: str, labels: Ints, k: int) -> Answer:
        """Run a short EM from groups."""
        start_of_em = self.samples.m_step(TopicParameters, labels, k)
        max_iter = SHORT_ITER if k <= MANY else SHORT_ITER // 2
        topics = self.samples.em(start_of_em, max_iter).parameters
        rows, weight = self.samples.rows, self.samples.weight
        joint = log_joint(rows, topics)
        labels = np.asarray(largest(joint))
        sizes = rows.group_sizes(labels, k, weight)
        # The prior favors empty components, so those that are too small get the average.
        large = sizes >= self.splitter.min_samples_leaf
        prior = self.samples.smoothing * topics.coefficients[
            :, large if large.any() else ~large
        ].sum(axis=0)
        objective = float(weight @ log_posterior(joint)[1] + k * prior.mean())
        small = frozenset(np.flatnonzero(~large).tolist())
        return Answer(start, topics, labels, small, objective)

    def _all_halves(self, labels: Ints, k: int) -> dict[int, proposals.Sides]:
        """Return the sides of all components that can be split; unchanged ones are remembered."""
        order = np.argsort(labels, kind="stable")
        ends = np.searchsorted(labels[order], np.arange(k + 1))
        members = [order[ends[j] : ends[j + 1]] for j in range(k)]
        keys = [here.tobytes() for here in members]
        known = {key: self._halves[key] for key in keys if key in self._halves}
        new = [j for j, key in enumerate(keys) if key not in known]
        known |= zip([keys[j] for j in new], self._halved(labels, new, members), strict=True)
        self._halves.clear()
        self._halves.update(known)
        return {j: two for j, key in enumerate(keys) if (two := known[key]) is not None}

    def _halved(
        self, labels: Ints, new: list[int], members: list[Ints]
    ) -> list[proposals.Sides | None]:
        """Return the sides of some components, all split in the same passes over the data."""
        if not new:
            return []
        place = np.full(len(members), -1)
        place[new] = np.arange(len(new))
        splitter = replace(self.splitter, refine_iter=HALF_ITER)
        groups = SampleGroups(
            self.samples.rows, self.samples.weight, self.count_per_token, place[labels], len(new)
        )
        splits = splitter(groups)
        second = np.asarray(splits.side) == 1
        return [
            proposals.Sides(members[j], second[members[j]], split.sums, split.sizes)
            if isinstance(split, Split)
            else None
            for j, split in zip(new, splits.found, strict=True)
        ]


def tree_over(answer: Answer, grown: growth.Grown, samples: Samples) -> growth.Grown:
    """Return a tree whose leaves are the topics of an answer.

    Its leaves have the reason for which growth of the tree `grown` ended.
    """
    reasons = [leaf.reason for leaf in grown.root.leaves() if leaf.reason]
    counts = Counter(reason.code for reason in reasons)
    counts[LIMIT] *= len(reasons)  # otherwise growth could have gone on
    code, _ = counts.most_common(1)[0]
    reason = next(reason for reason in reasons if reason.code == code)
    topics = answer.parameters
    return hierarchy.tree_of_groups(samples, answer.labels, TopicParameters, reason, topics)


WHITENING_TOL = 1e-3
"""The groups are only a start, so digits beyond these do not matter."""


def tfidf_groups(X: Any, sample_weight: Floats, n_groups: int) -> Ints | None:
    """Group documents by their tf-idf rows, without random numbers.

    The rows, whitened by their second moment M2 = sum v x x^T, are n points in k dimensions. If
    words differ between groups, they lie near k orthogonal axes. A QR decomposition with pivoting
    finds k rows near the axes, and the polar factor of these rows is the rotation onto them. Each
    row belongs to the axis of its largest absolute coordinate.

    Parameters
    ----------
    X : {csr_array, RowBlocks} of shape (n, d)
        Counts >= 0.
    sample_weight : ndarray of shape (n,)
        Weights >= 0, not all zero.
    n_groups : int >= 1
        Number of groups k.

    Returns
    -------
    ndarray of intp of shape (n,) or None
        The groups; None if there are fewer than k.

    Notes
    -----
    A. Damle, V. Minden and L. Ying, Simple, direct and efficient multi-way spectral clustering,
    Information and Inference 8, 2019. Unlike a joint diagonalization of third moments, it needs
    no k (k + 1) / 2 slices. Time O(nnz k + n k^2).
    """
    k, v = n_groups, sample_weight
    if k > min(X.shape):
        return None
    counts = X if isinstance(X, RowBlocks) else RowBlocks(X)
    idf, lengths = tfidf_scales(counts, v)
    rows = counts.scaled(1.0 / lengths)
    white = whiten(_TfidfMoments(rows, v, idf), k, tol=WHITENING_TOL, max_iter=2 * k + 10)
    if white.rank < k:
        return None
    W = np.ascontiguousarray(idf[:, None] * white.W.T)
    scores = rows.map(lambda B: B.dot(W))
    # A weight of two acts like two copies, so it must not make a row more likely to be a pivot.
    present = scores * (v > 0)[:, None]
    left, _, right = np.linalg.svd(scores[pivots(present, k)].T)
    groups = largest(np.abs(scores @ (left @ right)))
    found = np.bincount(groups, weights=v, minlength=k)
    return groups.astype(np.intp) if (found > 0).all() else None


class _TfidfMoments(RawMoments):
    """Raw moments of rows whose columns are multiplied by idf, without a copy of the rows."""

    def __init__(self, rows: RowBlocks, sample_weight: Floats, idf: Floats) -> None:
        super().__init__(rows, sample_weight)
        self._idf = idf

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return self._idf * super().m1

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (d, d)."""
        idf, of_rows = self._idf, super().m2

        def times(V: Floats) -> Floats:
            scale = idf if V.ndim == 1 else idf[:, None]
            return np.asarray(scale * (of_rows @ (scale * V)))

        return symmetric(len(idf), times)
