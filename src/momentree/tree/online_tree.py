"""Trees that learn from batches: sums of their leaves, with branches that remain."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.assignment.nested import Assigner
from momentree.assignment.posteriors import MixtureAssigner
from momentree.assignment.tree_rules import RuleAssigner
from momentree.backends import Rows
from momentree.exceptions import InvalidDataError
from momentree.objects import MixtureParameters, MixtureSums
from momentree.refinement import renewing_em
from momentree.refinement.em import column_sums
from momentree.tree.changes import ModelChanges, compare_models
from momentree.tree.growth import Branch
from momentree.tree.leaves import RefinedLeaves, branch_of
from momentree.tree.naming import nodes_by_number
from momentree.tree.node import TreeNode
from momentree.tree.online import BatchUpdate, FitsBatches


@dataclass(frozen=True)
class TreeBatch:
    """A batch in canonical order."""

    rows: Rows  # statistics of the mixture over the leaves
    rows_of_rules: Rows  # statistics of the splits
    weight: Floats
    smoothing: float  # the one that was asked for, on the scale of `rows`
    smoothing_of_counts: float
    column_scale: Floats | None  # None if new groups are not searched for
    family: type[MixtureParameters]
    sums_of: Callable[[Ints, int], MixtureSums]  # sets labels_, and sums up the leaves
    continued: Callable[[MixtureParameters, float], MixtureParameters] = lambda p, _: p
    stored: Callable[[MixtureParameters], MixtureParameters] = lambda p: p


class OnlineTree(FitsBatches):
    """A tree with ``partial_fit``: later batches change its leaves, but not its branches."""

    _unlike: ClassVar[str] = "batch_unlike_leaves"

    max_iter: int
    tol: float
    tree_: TreeNode
    n_leaves_: int
    labels_: Ints
    n_iter_: int
    converged_: bool

    _assigner: Assigner
    _leaf_sums: MixtureSums | None  # of the samples assigned to each leaf

    if TYPE_CHECKING:  # other bases implement them

        def _set_tree(self, tree: TreeNode) -> None: ...

    @abstractmethod
    def _batch(self, X: Any, missing: Any | None, weight: Floats) -> TreeBatch:
        """Return checked samples in canonical order."""

    @abstractmethod
    def _nodes_of(self, root: Branch, leaves: MixtureSums) -> TreeNode:
        """Return the nodes, given the sums of the leaves."""

    @abstractmethod
    def _describe_batch(self, tree: TreeNode, X: Any, weight: Floats) -> None:
        """Choose words and names from a batch."""

    @staticmethod
    def _sums_of_em(refined: RefinedLeaves, leaves: MixtureSums) -> MixtureSums:
        """Return the sums of EM, or those of the leaves if there was no EM."""
        if refined.statistics is None or refined.sizes is None:
            return leaves
        none = np.empty((0, len(refined.sizes)))
        return replace(leaves, statistics=refined.statistics, sizes=refined.sizes, counts=none)

    def _check_learned(self) -> None:
        if vars(self).get("_leaf_sums") is None:
            kind = getattr(self, "data_", None)
            if kind is not None:
                raise InvalidDataError("no_sums_of_kind", kind=kind)
        super()._check_learned()

    def _update(
        self, X: Any, missing: Any | None, weight: Floats, before: MixtureSums
    ) -> BatchUpdate:
        batch = self._batch(X, missing, weight)
        assigner, leaves = self._assigner, self._leaf_sums
        assert leaves is not None  # noqa: S101 - for the type checker
        leaves = leaves.faded(before.weight / max(self._sums_weight, 1e-300))
        k = self.n_leaves_
        is_mixture = isinstance(assigner, MixtureAssigner)
        n, m = before.weight, float(weight.sum())
        asked = (n * before.smoothing + m * batch.smoothing) / (n + m)
        total = before.statistics.sum() + column_sums(batch.rows, batch.weight).sum()
        smoothing = batch.family.limited_smoothing(asked, float(total), before.statistics.shape)
        if isinstance(assigner, MixtureAssigner):
            start = batch.continued(assigner.parameters, n)
        else:  # rules remain as they are
            start = batch.family.m_step(before.statistics, before.sizes, smoothing)
        found = renewing_em(
            batch.rows if is_mixture else batch.rows_of_rules,
            start,
            before,
            # Leaves that a cut has merged are no component of a mixture.
            column_scale=None if _is_cut(assigner) else batch.column_scale,
            most=start.n_components,
            renew=False,
            sample_weight=batch.weight,
            smoothing=smoothing,
            unit=asked / batch.smoothing_of_counts,
            max_iter=self.max_iter if is_mixture else 1,
            tol=self.tol,
        )
        if isinstance(assigner, MixtureAssigner):
            parameters = batch.stored(found.parameters)
            self._assigner = assigner = MixtureAssigner(parameters, assigner.group)
            self.n_iter_, self.converged_ = found.n_iter, found.converged
        here = batch.sums_of(assigner.labels(batch.rows if is_mixture else batch.rows_of_rules), k)
        added = here
        if is_mixture:
            none = np.empty((0, len(found.sizes)))
            added = replace(here, statistics=found.statistics, sizes=found.sizes, counts=none)
        self._sums = before.plus(added)
        self._leaf_sums = leaves.plus(here)
        tree = self._nodes_of(branch_of(self.tree_), self._leaf_sums)
        self._describe_batch(tree, X, weight)
        self._set_tree(tree)
        shares = here.sizes / here.sizes.sum()
        return BatchUpdate(np.arange(k), shares, m, found.unlike)

    @property
    def _sums_weight(self) -> float:
        return 0.0 if self._sums is None else self._sums.weight

    def _keep_names_of(self, before: Self, changes: ModelChanges) -> None:
        """Keep names and words of nodes whose leaves all stayed, and names given by hand."""
        fresh = {g.new for g in changes if g.status in ("moved", "appeared")}
        given = before.given_names_
        if not fresh:
            self.tree_.name, self.tree_.words = before.tree_.name, before.tree_.words
        new = nodes_by_number(self.tree_)
        for key, old in nodes_by_number(before.tree_).items():
            node = new[key]
            if key in given:
                node.name = given[key]
            elif not {leaf.leaf_id for leaf in node.leaves()} & fresh:
                node.name, node.words = old.name, old.words

    def _relabel(self, before: Self) -> None:
        vars(self).update(vars(self.relabeled(before)))

    def relabeled(self, like: Self) -> Self:
        """Return this tree with the names that its leaves have in another tree.

        Leaves are matched as by :func:`momentree.compare_models`. Their numbers follow the
        branches, from left to right, and remain; ``changes_`` has the old number of each leaf.

        Parameters
        ----------
        like : fitted estimator
            A tree of the same class, whose names are kept.

        Returns
        -------
        estimator
            A new fitted estimator; this one is unchanged. ``changes_`` compares the two.

        Raises
        ------
        InvalidDataError
            If the other tree is of another class, or has no columns in common.

        Examples
        --------
        >>> import numpy as np
        >>> from momentree import TopicTree
        >>> topics = np.kron(np.eye(2), np.ones(3))
        >>> january = TopicTree(2).fit(topics[[0] * 30 + [1] * 20]).rename({0: "Trade"})
        >>> february = TopicTree(2).fit(topics[[0] * 20 + [1] * 30])
        >>> february.relabeled(january).names_[1]
        'Trade'
        """
        check_is_fitted(self, "tree_")
        if not isinstance(like, type(self)):
            raise InvalidDataError(
                "relabeled_like_other", found=type(like).__name__, expected=type(self).__name__
            )
        changes = compare_models(like, self)
        names, given = like.names_, like.given_names_
        root = self._copied_root()
        nodes = nodes_by_number(root)
        same = {g.new: g.old for g in changes if g.old is not None and g.new is not None}
        stayed = {g.new for g in changes if g.status == "stayed"}
        kept = {str(j): names[i] for j, i in same.items() if j in stayed or str(i) in given}
        own = {node.name for key, node in nodes.items() if key not in kept}
        for key, name in kept.items():
            if name not in own:
                nodes[key].name = name
        out = copy.copy(self)
        out._given_names = {str(j): given[str(i)] for j, i in same.items() if str(i) in given}
        out._set_names(root)
        out.changes_ = compare_models(like, out)
        return out

    def _check_sums(self, n_groups: int) -> None:
        assigner = self._assigner
        n_components = n_groups
        if isinstance(assigner, MixtureAssigner):
            n_components = assigner.parameters.n_components
        super()._check_sums(n_components)
        leaves: Any = vars(self).get("_leaf_sums")
        if leaves is not None and not isinstance(leaves, MixtureSums):
            raise InvalidDataError("bad_entry", name="_leaf_sums", value=leaves)
        if leaves is not None:
            check_shape("sizes", leaves.sizes, (n_groups,))


def _is_cut(assigner: Assigner) -> bool:
    """Whether several sides of rules lead to one leaf."""
    if not isinstance(assigner, RuleAssigner):
        return False
    leaves = [side for sides in assigner.children for side in sides if side < 0]
    return len(leaves) > len(set(leaves))
