"""Base of the tree estimators: fit, assignment of samples, exports, report and files."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

import momentree.tree.exports as export
from momentree._fit import FitPredict, all_or_nothing, warn_caller
from momentree._types import Floats, Ints
from momentree._validation import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
    check_sample_weight,
    check_shape,
    check_something,
)
from momentree.assignment.nested import Assigner
from momentree.assignment.posteriors import MixtureAssigner
from momentree.backends import RowArray, Rows, counted_passes, single_threaded_blas
from momentree.backends.contents import checked_rows, filled_labels, row_weights
from momentree.backends.sources import by_partition, in_reach
from momentree.core.choices import Growth
from momentree.core.progress import console_logging
from momentree.exceptions import ConvergenceWarning, InvalidDataError
from momentree.messages import Message
from momentree.objects import MixtureParameters, MixtureSums
from momentree.persistence import SavedEstimator
from momentree.tree.cuts import Merges
from momentree.tree.growth import Grown, log
from momentree.tree.names import NamedGroups
from momentree.tree.node import StoredTree, TreeNode, why_no_more
from momentree.tree.notebook import repr_html
from momentree.tree.online_tree import OnlineTree
from momentree.tree.page import TopicsPage
from momentree.tree.refine import RefinedLeaves, refine_leaves, rule_assigner
from momentree.tree.stopping import Stop, TopicStop

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def _has_likelihood(tree: Any) -> bool:
    return hasattr(tree, "score_samples")


class TreeEstimator(
    OnlineTree,
    SavedEstimator,
    NamedGroups,
    TopicsPage,
    FitPredict,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    ABC,
):
    """Base of the estimators that grow a tree of samples."""

    # Allowed values of the parameters that only this estimator has.
    _choices: ClassVar[dict[str, tuple[str | None, ...]]]
    # Whether samples without values are in no leaf.
    _leaves_out_empty: ClassVar[bool] = False

    max_leaf_nodes: int | Literal["auto"] | None
    max_depth: int | None
    min_samples_leaf: float
    growth: Growth
    smoothing: float
    exact: bool
    stop: Stop | TopicStop
    max_iter: int
    tol: float
    verbose: bool | int

    labels_: Ints
    vocabulary_: NDArray[Any]
    _assigner: Assigner
    _merges: Merges
    notes_: list[Message]

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002 - the convention of scikit-learn
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame, Rows} of shape (n_samples, n_features)
            One sample per row: word counts >= 0 for :class:`TopicTree`; for :class:`ClusterTree`,
            numbers of the kind `data`, with NaN for missing values of binary and real data.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; a weight of 2 has the effect of two copies of the sample.
        feature_names : sequence of str of shape (n_features,), default=None
            Words, codes or other names of the columns, used in node names and reports. None uses
            the column names of a data frame.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X contains other values or counts above 1e30, or weights or names do not match it.
        EmptyCorpusError
            If no sample of positive weight has a nonzero value.
        InvalidParameterError
            If a parameter is invalid.

        Warns
        -----
        ConvergenceWarning
            If there are fewer leaves than `max_leaf_nodes`, or than were chosen; the message says
            why.
        """
        self._check_parameters()
        X, notes = in_reach(X, type(self).__name__, self._for_sums_alone)
        missing = None
        if isinstance(X, Rows):
            weight = row_weights(X, sample_weight)
            _, self.vocabulary_ = checked_rows(self, X, weight, feature_names)
        else:
            X, missing, self.vocabulary_ = self._check_samples(X, feature_names)
            weight = check_sample_weight(sample_weight, X.shape[0])
            check_something(X, weight)
        self._forget_names()
        self._forget_batches()
        with (
            console_logging(log, bool(self.verbose)),
            single_threaded_blas(),
            counted_passes() as read,
        ):
            tree = self._fit_tree(X, missing, weight)
        self.n_passes_ = read.n_rows / X.shape[0]
        self._set_tree(tree)
        self._warn_of_fewer_leaves()
        self.__dict__.pop("notes_", None)
        if notes:
            self.notes_ = notes
        return self

    def _warn_of_fewer_leaves(self) -> None:
        choice = getattr(self, "choice_", None)
        requested = self.max_leaf_nodes if choice is None else choice.n_components
        if not isinstance(requested, Integral) or self.growth == "depth":
            return
        requested = int(requested)
        if self.max_depth is not None:
            requested = min(requested, 2 ** int(self.max_depth))
        if self.n_leaves_ < requested and not getattr(self, "n_components", None):
            reason = why_no_more(self) or Message("leaves_too_small")
            facts = {"found": self.n_leaves_, "requested": requested}
            warn_caller(ConvergenceWarning("fewer_leaves_found", reason=reason, **facts))

    def _for_sums_alone(self, rows: Rows) -> Mapping[str, Any] | None:  # noqa: ARG002
        """Return parameters with which sums over rows suffice, or None if they never do."""
        return None

    @abstractmethod
    def _check_samples(self, X: Any, feature_names: Any) -> tuple[Any, Any | None, NDArray[Any]]:
        """Return the checked samples of ``fit``, their missing values, and column names."""

    @abstractmethod
    def _fit_tree(self, X: Any, missing: Any | None, weight: RowArray) -> TreeNode:
        """Grow the tree, and set all fitted attributes except those of the tree."""

    @abstractmethod
    def _ready(self, X: Any) -> tuple[Assigner, Rows]:
        """Return the assigner, and the checked samples in the form that it expects."""

    def _check_parameters(self) -> None:
        check_integer("max_leaf_nodes", self.max_leaf_nodes, at_least=1, optional=True, auto=True)
        check_integer("max_depth", self.max_depth, at_least=0, optional=True)
        check_integer("max_iter", self.max_iter, at_least=1)
        check_number("min_samples_leaf", self.min_samples_leaf, above=0)
        check_number("smoothing", self.smoothing, above=0)
        check_number("tol", self.tol, at_least=0)
        check_number("half_life", self.half_life, above=0, optional=True)
        check_flag("exact", self.exact)
        choices = {"growth": get_args(Growth), "stop": get_args(Stop), **self._choices}
        for parameter, values in choices.items():
            check_choice(parameter, getattr(self, parameter), values)

    def _assigned(
        self,
        grown: Grown,
        rows: Rows,
        weight: RowArray,
        *,
        family: type[MixtureParameters] | None,
        smoothing: float,
        splits: tuple[Rows, type[MixtureParameters]] | None = None,
    ) -> RefinedLeaves:
        """Return the assigner, labels, EM steps and convergence; without `family`, skip EM.

        `splits` are the statistics and the family of the splits, if they differ from those of EM.
        """
        if family is None:
            return RefinedLeaves(rule_assigner(grown.root), grown.labels, 1, converged=True)
        return refine_leaves(
            grown,
            rows,
            weight,
            family=family,
            smoothing=smoothing,
            min_samples_leaf=self.min_samples_leaf,
            max_iter=self.max_iter,
            tol=self.tol,
            chains=(splits or (rows, family)) if self.growth == "best_first" else None,
        )

    def cut(self, n_leaves: int) -> Self:
        """Return the tree with fewer leaves: merge leaves where that loses least log-likelihood.

        The cuts are nested: a cut to k leaves divides the leaves of a cut to k - 1. No samples are
        needed, and none moves to another branch. A topic tree that searched for k leaves describes
        the samples better than a cut to k, because the search moves samples.

        Parameters
        ----------
        n_leaves : int
            Number of leaves, from 1 to ``n_leaves_``.

        Returns
        -------
        estimator
            A new fitted estimator with this `max_leaf_nodes` (or `n_components`); this one is
            unchanged. Nodes that remain keep their names, and leaves are numbered anew, the larger
            child first.

        Raises
        ------
        InvalidParameterError
            If the tree does not have as many leaves.

        Examples
        --------
        >>> import numpy as np
        >>> from momentree import TopicTree
        >>> X = np.repeat(np.kron(np.eye(3), np.ones(4)), [30, 20, 10], axis=0)
        >>> tree = TopicTree(3).fit(X)
        >>> [np.bincount(tree.cut(k).labels_).tolist() for k in (1, 2, 3)]
        [[60], [30, 30], [30, 20, 10]]
        """
        check_is_fitted(self, "tree_")
        check_integer("n_leaves", n_leaves, at_least=1, at_most=self.n_leaves_)
        out = self._cut(self._copied_root(), int(n_leaves))
        flat = getattr(self, "n_components", None) is not None
        out.set_params(**{"n_components" if flat else "max_leaf_nodes": int(n_leaves)})
        return out

    def _cut(self, root: TreeNode, n_leaves: int) -> Self:
        to, merges = self._merges.cut(root, n_leaves)
        out = self._with_merged(to)
        out._merges = merges
        out._set_tree(root)
        if any(not node.name for node in root.nodes()):
            out._name_new(root)
        out._keep_names(self)
        return out

    def _with_merged(self, to: Ints) -> Self:
        """Return a copy that assigns samples of leaf i to leaf `to[i]`."""
        out = copy.copy(self)  # shared attributes are never changed in place
        out.labels_ = np.append(to, -1)[self.labels_]  # -1 stays -1
        if (sums := vars(self).get("_leaf_sums")) is not None:
            out._leaf_sums = sums.regrouped(to, int(to.max()) + 1)
            if not isinstance(self._assigner, MixtureAssigner):
                out._sums = out._leaf_sums
        out._assigner = self._assigner.renumbered(to)
        return out

    def _count_rows(self) -> None:
        """Let weights of nodes be fractions of their samples, whatever the sample weights."""
        root = self._copied_root()
        for node in reversed(list(root.nodes())):
            node.weight = node.n_samples / root.n_samples
            node.children.sort(key=lambda child: -child.weight)
        self.__dict__.update(self._cut(root, self.n_leaves_).__dict__)

    def _name_new(self, root: TreeNode) -> None:
        """Name the nodes without a name."""
        new = [node for node in root.nodes() if not node.name]
        named = self._copied_root()
        self._name(named)
        names = [node.name for node in named.nodes()]
        for node in new:
            node.name = names[node.node_id]
        if len({node.name for node in root.nodes()}) < len(names):
            for node, name in zip(root.nodes(), names, strict=True):
                node.name = name

    @abstractmethod
    def _name(self, root: TreeNode) -> None:
        """Name the nodes of a tree by words or codes."""

    def _set_tree(self, tree: TreeNode) -> None:
        self.tree_ = tree
        self.leaves_: list[TreeNode] = list(tree.leaves())
        self.n_leaves_ = len(self.leaves_)
        if not len(self.labels_):
            self._count_elsewhere()

    def _count_elsewhere(self) -> None:
        """Count samples at several sites, all of the same weight: their labels stay there."""
        sums = vars(self).get("_leaf_sums")
        if not isinstance(sums, MixtureSums) or not sums.weight > 0:
            return
        counts = sums.sizes * (sums.n_samples / sums.weight)
        if len(counts) == self.n_leaves_ and np.isfinite(counts).all():
            for leaf, n in zip(self.leaves_, counts, strict=True):
                leaf._n_elsewhere = round(float(n))

    def _copied_root(self) -> TreeNode:
        return StoredTree.of(self.tree_).root(self.labels_)

    def _set_names(self, root: TreeNode) -> None:
        self._set_tree(root)

    @by_partition
    def predict(self, X: Any) -> Ints:
        """Return the leaf of each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Leaf numbers, from left to right; equal to ``labels_`` for the samples of ``fit``. In a
            tree of topics, documents without words have the number -1; in other trees, samples
            without codes go to the largest leaf.
        """
        check_is_fitted(self, "tree_")
        assigner, rows = self._ready(X)
        labels = assigner.labels(rows)
        return np.asarray(filled_labels(rows, labels) if self._leaves_out_empty else labels)

    @by_partition
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each leaf for each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.

        Returns
        -------
        ndarray of shape (n_samples, n_leaves)
            Rows sum to 1. With EM these are the posteriors of a mixture with one component per leaf
            (S eq. 1), for log-scaled counts unless ``log_scaling=None``. Its parameters differ from
            the weights and centers of the nodes, which are proportions of documents and words.
            Without EM each is the product of the side probabilities on the path to the leaf;
            ``predict`` then follows the splits, and its leaf is not always the most likely one.
        """
        check_is_fitted(self, "tree_")
        assigner, rows = self._ready(X)
        return np.asarray(assigner.proba(rows))

    @property
    def _n_features_out(self) -> int:
        return self.n_leaves_

    @by_partition
    def transform(self, X: Any) -> Floats:
        """Return :meth:`predict_proba`, so that the tree can be used as a transformer.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.

        Returns
        -------
        ndarray of shape (n_samples, n_leaves)
            Rows sum to 1.
        """
        return self.predict_proba(X)

    @available_if(_has_likelihood)  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002 - scikit-learn's convention
        """Return the mean log-likelihood of samples.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.
        y : None
            Ignored.

        Returns
        -------
        float
            Mean of ``score_samples``, in nats; larger is better. Only trees of counts of words and
            of binary data have this method. Trees of texts can be compared only if they count the
            same words: fewer words give a larger value.
        """
        return float(self.score_samples(X).mean())

    @by_partition
    def apply(self, X: Any) -> Ints:
        """Return the ``node_id`` of the leaf of each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Node numbers in pre-order; -1 for documents without words.
        """
        leaves = self.predict(X)
        ids = np.array([*(leaf.node_id for leaf in self.leaves_), -1], dtype=np.intp)
        return np.asarray(ids[leaves])

    def decision_path(self, X: Any) -> Any:
        """Return the nodes on the path of each sample from the root to its leaf.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.

        Returns
        -------
        csr_array of bool of shape (n_samples, n_nodes)
            Column j is the node with ``node_id`` j. Documents without words are on no path.
        """
        leaves = self.predict(X)
        return export.decision_path(self.tree_, leaves)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dictionaries of plain values, ready for JSON."""
        check_is_fitted(self, "tree_")
        return export.to_dict(self.tree_, self.vocabulary_)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per node, in pre-order."""
        check_is_fitted(self, "tree_")
        return export.to_frame(self.tree_)

    def to_newick(self) -> str:
        """Return the tree in Newick format; all branches have length 1."""
        check_is_fitted(self, "tree_")
        return export.to_newick(self.tree_)

    def to_networkx(self) -> nx.DiGraph:
        """Return a networkx graph with edges from parents to children; nodes are ``node_id``."""
        check_is_fitted(self, "tree_")
        return export.to_networkx(self.tree_)

    def _repr_html_(self) -> str:
        if not hasattr(self, "tree_"):
            return str(super()._repr_html_())
        return repr_html(self)

    def _state(self) -> dict[str, Any]:
        state = super()._state()
        for name in ("leaves_", "n_leaves_"):
            del state[name]
        if "choice_" in state:
            state["choice_"] = None  # a table, of no use for new samples
        state.pop("changes_", None)
        return {**state, "tree_": StoredTree.of(self.tree_)}

    def _restore(self, state: dict[str, Any]) -> None:
        stored = state.pop("tree_")
        super()._restore(state)
        if not isinstance(stored, StoredTree):
            raise InvalidDataError("bad_entry", name="tree_", value=stored)
        self._set_tree(stored.root(self.labels_))

    def _check_restored(self) -> int:
        for node in self.tree_.nodes():
            check_shape("center", node.center, (self._n_names,))
        if not isinstance(self._merges, Merges):
            raise InvalidDataError("bad_entry", name="_merges", value=self._merges)
        check_shape("centers", self._merges.centers, ("n_groups", self._n_names))
        self._merges.cut(StoredTree.of(self.tree_).root(self.labels_[:0]), 1)
        self._check_names()
        self._check_sums(self.n_leaves_)
        return self.n_leaves_

    def _check_profiles(self) -> None:
        """Raise ValueError for negative centers, or for words in a node but not in the root."""
        absent = self.tree_.center == 0
        for node in self.tree_.nodes():
            if (node.center < 0).any() or node.center[absent].any():
                raise InvalidDataError("centers_not_of_root")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
