"""What all tree estimators share: checks, assignment of samples, exports, the report, files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from momentree._typing import Floats, Ints
from momentree._validation import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
    check_shape,
)
from momentree.assignment.nested import Assigner
from momentree.backends import RowBlocks
from momentree.objects import MixtureParameters
from momentree.persistence import SavedEstimator
from momentree.tree import exports as export
from momentree.tree.growth import Grown, Growth
from momentree.tree.node import StoredTree, TreeNode
from momentree.tree.notebook import repr_html
from momentree.tree.page import page_of
from momentree.tree.refine import refine_leaves, rule_assigner
from momentree.tree.stopping import Stop

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


class TreeEstimator(SavedEstimator, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the estimators that grow a tree of samples."""

    # Values of the parameters that are choices, besides those of all trees.
    _choices: ClassVar[dict[str, tuple[str | None, ...]]]

    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: float
    growth: Growth
    smoothing: float
    exact: bool
    stop: Stop
    max_iter: int
    tol: float
    verbose: bool | int

    labels_: Ints
    vocabulary_: NDArray[Any]
    _assigner: Assigner

    @abstractmethod
    def fit(
        self,
        X: Any,
        y: object = None,
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> Self:
        """Grow the tree."""

    @abstractmethod
    def _ready(self, X: Any) -> tuple[Assigner, RowBlocks]:
        """Return the assigner for samples, and the checked samples in the form that it reads."""

    def _check_parameters(self) -> None:
        check_integer("max_leaf_nodes", self.max_leaf_nodes, at_least=1, optional=True)
        check_integer("max_depth", self.max_depth, at_least=0, optional=True)
        check_integer("max_iter", self.max_iter, at_least=1)
        check_number("min_samples_leaf", self.min_samples_leaf, above=0)
        check_number("smoothing", self.smoothing, above=0)
        check_number("tol", self.tol, at_least=0)
        check_flag("exact", self.exact)
        choices = {"growth": get_args(Growth), "stop": get_args(Stop), **self._choices}
        for parameter, values in choices.items():
            check_choice(parameter, getattr(self, parameter), values)

    def _assigned(
        self,
        grown: Grown,
        rows: RowBlocks,
        weight: Floats,
        *,
        family: type[MixtureParameters] | None,
        smoothing: float,
    ) -> tuple[Assigner, Ints, int, bool]:
        """Return the assigner, labels, EM steps and convergence; without a family, no EM is run."""
        if family is None:
            return rule_assigner(grown.root), grown.labels, 1, True
        return refine_leaves(
            grown,
            rows,
            weight,
            family=family,
            smoothing=smoothing,
            min_samples_leaf=self.min_samples_leaf,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _set_tree(self, tree: TreeNode) -> None:
        self.tree_ = tree
        self.leaves_: list[TreeNode] = list(tree.leaves())
        self.n_leaves_ = len(self.leaves_)

    def fit_predict(self, X: Any, y: object = None, **fit_params: Any) -> Ints:
        """Grow the tree and return the leaf of each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples.
        y : None
            Not used.
        **fit_params
            Passed on to ``fit``.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            ``labels_``.
        """
        return self.fit(X, y, **fit_params).labels_

    def predict(self, X: Any) -> Ints:
        """Return the leaf of each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples in the columns of ``fit``. One without words or codes goes to the largest leaf.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Numbers of leaves, from left to right. On the samples of ``fit`` this is
            ``labels_``.
        """
        check_is_fitted(self, "tree_")
        assigner, rows = self._ready(X)
        return assigner.labels(rows)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each leaf for each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples in the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_leaves)
            Rows sum to 1. With EM it is the posterior of the mixture over the leaves (S eq. 1) that
            EM fitted, for topics to log-scaled counts unless ``log_scaling=None``. The parameters
            of that mixture are not the weights and centers of the nodes, which are proportions of
            documents and words. Without EM it is the product of the probabilities of the sides at
            each split; ``predict`` then follows the splits, and its leaf need not be the most
            likely one.
        """
        check_is_fitted(self, "tree_")
        assigner, rows = self._ready(X)
        return assigner.proba(rows)

    def apply(self, X: Any) -> Ints:
        """Return the ``node_id`` of the leaf of each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples in the columns of ``fit``.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Numbers of nodes in pre-order.
        """
        leaves = self.predict(X)
        ids = np.array([leaf.node_id for leaf in self.leaves_], dtype=np.intp)
        return np.asarray(ids[leaves])

    def decision_path(self, X: Any) -> Any:
        """Return the nodes on the path of each sample from the root to its leaf.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples in the columns of ``fit``.

        Returns
        -------
        csr_array of bool of shape (n_samples, n_nodes)
            Columns are ``node_id``.
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
        """Return a networkx graph from parents to children; nodes are ``node_id``."""
        check_is_fitted(self, "tree_")
        return export.to_networkx(self.tree_)

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        X: Any = None,
        *,
        ids: Sequence[str] | None = None,
        texts: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        title: str | None = None,
    ) -> str:
        """Return the report of the tree as one HTML page that works offline.

        Parameters
        ----------
        path : str or path-like, default=None
            Also write the page to this file, whole or not at all.
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            The documents of ``fit``, for typical documents and coherence; None omits these.
        ids, texts, labels : sequence of str of shape (n_samples,), default=None
            Names, texts and known classes of the documents.
        title : str, default=None
            Heading of the page.

        Returns
        -------
        str
            The page.
        """
        check_is_fitted(self, "tree_")
        return page_of(self, path, X, ids=ids, texts=texts, labels=labels, title=title)

    def _repr_html_(self) -> str:
        if not hasattr(self, "tree_"):
            return str(super()._repr_html_())
        return repr_html(self)

    def _state(self) -> dict[str, Any]:
        state = super()._state()
        for name in ("leaves_", "n_leaves_"):
            del state[name]
        return {**state, "tree_": StoredTree.of(self.tree_)}

    def _restore(self, state: dict[str, Any]) -> None:
        stored = state.pop("tree_")
        super()._restore(state)
        if not isinstance(stored, StoredTree):
            msg = f"tree_ is {stored!r:.100}"
            raise TypeError(msg)
        self._set_tree(stored.root(self.labels_))

    def _check_restored(self) -> int:
        for node in self.tree_.nodes():
            check_shape("center", node.center, (self.n_features_in_,))
        return self.n_leaves_

    def _check_profiles(self) -> None:
        """Refuse centers below zero, and a node with a word that the root does not have."""
        absent = self.tree_.center == 0
        for node in self.tree_.nodes():
            if (node.center < 0).any() or node.center[absent].any():
                msg = "centers that are not proportions of the words of the root"
                raise ValueError(msg)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
