"""Base of the tree estimators: fit, batches, cuts, assignment of samples and exports."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

import momentree.tree.exports as export
import momentree.tree.online_tree as online
from momentree import _validation as checks
from momentree._types import Floats, Ints
from momentree._validation import rules
from momentree.assignment.posteriors import MixtureAssigner
from momentree.assignment.rules import Assigner
from momentree.backends import RowArray, Rows, contents, sources
from momentree.core.choices import Growth
from momentree.estimators import base, batches, changes, groups, names
from momentree.estimators.node import StoredTree, TreeNode, why_no_more
from momentree.exceptions import ConvergenceWarning, InvalidDataError, InvalidParameterError
from momentree.messages import Message, wording
from momentree.objects import MixtureSums
from momentree.persistence import fields
from momentree.tree import exports, hierarchy
from momentree.tree.selection import ComponentChoice

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


BY_MOMENTS_ALONE: dict[str, Any] = {
    "max_leaf_nodes": None,
    "growth": "depth",
    "min_samples_leaf": 1,
    "refine": None,
    "exact": True,
}
"""Parameters of a tree that splits every leaf by moments alone, as the papers do."""


def _has_likelihood(tree: Any) -> bool:
    return hasattr(tree, "score_samples")


def _has_words(tree: Any) -> bool:
    """Whether centers are frequencies of words or codes."""
    return tree._described or getattr(tree, "data_", "counts") in ("binary", "counts")


class TreeEstimator(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    base.Estimator,
):
    """Base of the estimators that grow a tree of samples."""

    _published: ClassVar[Mapping[str, Mapping[str, Any]]]
    """Parameters of the algorithm of each paper."""

    _leaves_out_empty: ClassVar[bool] = False
    """Whether samples without values are in no leaf."""

    _unlike: ClassVar[str] = (
        "[batch_unlike_leaves] {fraction:.0%} of the {samples} of this batch are unlike all "
        "{n_groups:~leaf/leaves}, and the branches of a tree remain; fit() a new tree"
    )
    _log: ClassVar[logging.Logger] = logging.getLogger("momentree.tree")

    _rules: ClassVar[rules.Rules] = {
        "max_leaf_nodes": rules.whole(1, optional=True, words=("auto",)),
        "max_depth": rules.whole(0, optional=True),
        "max_iter": rules.whole(1),
        "min_samples_leaf": rules.number(above=0),
        "smoothing": rules.number(above=0),
        "tol": rules.number(at_least=0),
        "half_life": rules.number(above=0, optional=True),
        "exact": checks.check_flag,
        "growth": get_args(Growth),
    }
    _fields: ClassVar[fields.Fields] = {
        **base.Estimator._fields,
        **base.GROUPS,
        **names.FIELDS,
        **batches.FIELDS,
        "tree_": fields.of_type(TreeNode),  # saved as a StoredTree
        "leaves_": fields.DERIVED.kept,
        "n_leaves_": fields.DERIVED.kept,
        "choice_": fields.choice(None).optional,  # saved as None, of no use for new samples
        "_assigner": fields.of_type(*get_args(Assigner)),
        "_merges": fields.of_type(hierarchy.Merges),
        "_leaf_sums": batches.sums_of("k").optional,  # of the samples of each leaf
    }

    max_leaf_nodes: int | Literal["auto", "bic", "aic3"] | None
    max_depth: int | None
    growth: Growth

    tree_: TreeNode
    leaves_: list[TreeNode]
    n_leaves_: int
    choice_: ComponentChoice | None
    changes_: changes.ModelChanges
    _described: bool | None = None  # whether words name the nodes of clusters
    _words_of_fit: Any = None  # only during such a fit
    _assigner: Assigner
    _merges: hierarchy.Merges
    _sums: MixtureSums | None
    _leaf_sums: MixtureSums | None
    _given_names: dict[str, str] | None

    fit = groups.fit
    fit_predict = groups.fit_predict
    transform = groups.transform
    score = available_if(_has_likelihood)(groups.score)
    partial_fit = batches.partial_fit
    relabeled = batches.relabeled
    n_samples_seen_ = batches.n_samples_seen_
    names_, given_names_, rename = names.names_, names.given_names_, names.rename
    top_words = available_if(_has_words)(names.top_words)
    _relabel, _keep_names_of = online.relabel, online.keep_names_of
    _update = online.update_tree

    @classmethod
    def as_published(cls, paper: str = "thesis", **parameters: Any) -> Self:
        """Return a tree that is grown by a published algorithm and nothing else.

        For topics these are H Algorithm 2 ("sidiwo") and T Algorithm 4 ("thesis"), which are the
        same; for clusters it is T Algorithm 5 ("thesis"). All leaves of a level are split by the
        moments of the raw data, without EM, scaling or early stops, and no group is too small.

        Parameters
        ----------
        paper : {"thesis", "sidiwo"}, default="thesis"
            The papers T and H of ``docs/theory.md``; H is about topics only.
        **parameters
            Parameters that the papers leave open, such as `max_depth`, or to be changed. Without
            `max_depth` and `max_leaf_nodes`, the tree has the eight leaves of the experiments
            (T 5.4): ``max_depth=3``.

        Returns
        -------
        estimator
            The tree, not fitted.

        Raises
        ------
        InvalidParameterError
            If `paper` is another name.

        Notes
        -----
        The papers do not say what a word of probability zero means; `smoothing` adds one token of
        each word to each pseudo-center.

        Examples
        --------
        >>> from momentree import TopicTree
        >>> TopicTree.as_published("thesis", max_depth=4)
        TopicTree(exact=True, growth='depth', log_scaling=None, max_depth=4,
                  max_leaf_nodes=None, min_samples_leaf=1, refine=None, search='none')
        """
        rules.check_choice("paper", paper, list(cls._published))
        limits = {} if {"max_depth", "max_leaf_nodes"} & set(parameters) else {"max_depth": 3}
        return cls(**{**cls._published[paper], **limits, **parameters})

    # --- what a subclass implements ---------------------------------------------------------------

    @abstractmethod
    def _check_table(self, X: Any, feature_names: Any, *, reset: bool) -> tuple[Any, Any, Any]:
        """Return checked samples, their missing values, and column names."""

    @abstractmethod
    def _learn(self, samples: tuple[Any, Any | None, RowArray]) -> TreeNode:
        """Grow the tree, and set all fitted attributes except those of the tree."""

    @abstractmethod
    def _ready(self, X: Any) -> tuple[Assigner, Rows]:
        """Return the assigner, and the checked samples in the form that it expects."""

    @abstractmethod
    def _batch(self, X: Any, missing: Any | None, weight: Floats) -> online.TreeBatch:
        """Return a batch in the form of the fit."""

    @abstractmethod
    def _nodes_of(self, root: Any, leaves: MixtureSums) -> TreeNode:
        """Return the nodes of a tree of splits, given the sums over its leaves."""

    @abstractmethod
    def _describe_batch(self, tree: TreeNode, X: Any, weight: Floats) -> None:
        """Name the nodes of a tree by the samples of a batch."""

    @abstractmethod
    def _name(self, root: TreeNode) -> None:
        """Name the nodes of a tree by words or codes."""

    # --- fit --------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.max_leaf_nodes is None and self.max_depth is None:
            raise InvalidParameterError(
                "[unlimited_tree] {parameters.max_leaf_nodes:=number} and "
                "{parameters.max_depth:=number} leave the tree without a limit; give one of them, "
                "or {parameters.max_leaf_nodes:=auto}, which chooses the number of leaves",
                number=None,
                auto="auto",
            )

    def _check_samples(self, X: Any, **given: Any) -> tuple[Any, int]:
        self.choice_ = None
        columns, missing = given["feature_names"], None
        if isinstance(X, Rows):
            weight = contents.row_weights(X, given["sample_weight"])
            _, self.vocabulary_ = contents.checked_rows(self, X, weight, columns)
        else:
            X, missing, self.vocabulary_ = self._check_table(X, columns, reset=True)
            weight = checks.check_sample_weight(given["sample_weight"], X.shape[0])
            checks.check_something(X, weight)
        return (X, missing, weight), X.shape[0]

    def _finish(self, samples: Any, result: Any) -> Iterable[Warning]:  # noqa: ARG002
        self._set_tree(result)
        requested = self.max_leaf_nodes if self.choice_ is None else self.choice_.n_components
        if not isinstance(requested, Integral) or self.growth == "depth":
            return
        requested = int(requested)
        if self.max_depth is not None:
            requested = min(requested, 2 ** int(self.max_depth))
        if self.n_leaves_ < requested:
            reason = why_no_more(self) or Message(
                "[leaves_too_small] EM left fewer samples than {parameters.min_samples_leaf} in "
                "the others"
            )
            facts = {"found": self.n_leaves_, "requested": requested}
            yield ConvergenceWarning(
                "[fewer_leaves_found] {found:~leaf/leaves} of {requested} found: {reason}",
                reason=reason,
                **facts,
            )

    def _check_online(self) -> None:
        """Raise InvalidParameterError if parameters do not allow ``partial_fit``."""

    def _check_batch(self, X: Any, feature_names: Any, *, reset: bool) -> tuple[Any, Any, Any]:
        """Return checked samples, missing values, and column names."""
        return self._check_table(X, feature_names, reset=reset)

    @property
    def _zeros_are_values(self) -> bool:
        """Whether there is something to learn from a batch that contains only zeros."""
        return False

    # --- cuts -------------------------------------------------------------------------------------

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
            A new fitted estimator with this `max_leaf_nodes`; this one is unchanged. Nodes that
            remain keep their names, and leaves are numbered anew, the larger child first.

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
        checks.check_integer("n_leaves", n_leaves, at_least=1, at_most=self.n_leaves_)
        out = self._copy()
        out._cut_to(self._copied_root(), int(n_leaves))
        out.set_params(max_leaf_nodes=int(n_leaves))
        return out

    def _cut_to(self, root: TreeNode, n_leaves: int) -> None:
        """Merge leaves of this tree, of which `root` is a copy, until there are as many."""
        before = self._copy()
        to, merges = self._merges.cut(root, n_leaves)
        self._merge_leaves(to)
        self._merges = merges
        self._set_tree(root)
        if any(not node.name for node in root.nodes()):
            self._name_new(root)
        names.keep_names(self, before)

    def _merge_leaves(self, to: Ints) -> None:
        """Assign samples of leaf i to leaf `to[i]`."""
        self.labels_ = np.append(to, -1)[self.labels_]  # -1 stays -1
        if self._leaf_sums is not None:
            self._leaf_sums = self._leaf_sums.regrouped(to, int(to.max()) + 1)
            if not isinstance(self._assigner, MixtureAssigner):
                self._sums = self._leaf_sums
        self._assigner = self._assigner.renumbered(to)

    def _count_copies(self) -> None:
        """Let weights of nodes be fractions of their samples, whatever the sample weights."""
        if not len(self.labels_):
            return
        root = self._copied_root()
        for node in reversed(list(root.nodes())):
            node.weight = node.n_samples / root.n_samples
            node.children.sort(key=lambda child: -child.weight)
        self._cut_to(root, self.n_leaves_)

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

    def _set_tree(self, tree: TreeNode) -> None:
        self.tree_ = tree
        self.leaves_ = list(tree.leaves())
        self.n_leaves_ = len(self.leaves_)
        sums = self._leaf_sums
        # Count samples at several sites, all of the same weight: their labels stay there.
        if len(self.labels_) or not isinstance(sums, MixtureSums) or not sums.weight > 0:
            return
        counts = sums.sizes * (sums.n_samples / sums.weight)
        if len(counts) == self.n_leaves_ and np.isfinite(counts).all():
            for leaf, n in zip(self.leaves_, counts, strict=True):
                leaf._n_elsewhere = round(float(n))

    def _copied_root(self) -> TreeNode:
        return StoredTree.of(self.tree_).root(self.labels_)

    def _unnamed_root(self) -> TreeNode:
        return self.tree_

    def _set_names(self, root: TreeNode) -> None:
        self._set_tree(root)

    # --- results ----------------------------------------------------------------------------------

    @property
    def weights_(self) -> Floats:  # type: ignore[override]
        """Weights of the leaves, as of the components of a flat model."""
        return np.array([leaf.weight for leaf in self._fitted_leaves])

    @property
    def components_(self) -> Floats:
        """Centers of the leaves in rows, as of the components of a flat model."""
        return np.array([leaf.center for leaf in self._fitted_leaves])

    @property
    def _fitted_leaves(self) -> list[TreeNode]:
        if "leaves_" not in vars(self):
            raise AttributeError("leaves_")
        return self.leaves_

    @property
    def _n_groups(self) -> int:
        return self.n_leaves_

    @sources.by_partition
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
        return np.asarray(
            contents.filled_labels(rows, labels) if self._leaves_out_empty else labels
        )

    @sources.by_partition
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

    @sources.by_partition
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
        return exports.repr_html(self)

    # --- files ------------------------------------------------------------------------------------

    def _pack(self, state: dict[str, Any]) -> dict[str, Any]:
        return {**state, "tree_": StoredTree.of(self.tree_), "choice_": None}

    def _unpack(self) -> None:
        stored: Any = self.tree_
        if not isinstance(stored, StoredTree):
            raise InvalidDataError(wording.BAD_ENTRY, name="tree_", value=stored)
        self._set_tree(stored.root(self.labels_))

    def _sizes(self) -> dict[str, int]:
        sizes, assigner = super()._sizes(), self._assigner
        if isinstance(assigner, MixtureAssigner):
            sizes["components"] = assigner.parameters.n_components
        return sizes

    def _check_consistent(self) -> None:
        for node in self.tree_.nodes():
            checks.check_shape("center", node.center, (self._n_names,))
        checks.check_shape("centers", self._merges.centers, ("n_groups", self._n_names))
        self._merges.cut(StoredTree.of(self.tree_).root(self.labels_[:0]), 1)
        names.check_given_names(self)

    def _check_profiles(self) -> None:
        """Raise ValueError for negative centers, or for words in a node but not in the root."""
        absent = self.tree_.center == 0
        for node in self.tree_.nodes():
            if (node.center < 0).any() or node.center[absent].any():
                raise InvalidDataError("the centers are not proportions of the words of the root")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
