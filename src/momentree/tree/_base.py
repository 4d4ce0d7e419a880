"""What all tree estimators share: assignment of samples, exports, the report, files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from momentree.assignment.assigners import Assigner
from momentree.backends import RowBlocks
from momentree.tree import exports as export
from momentree.tree import persistence
from momentree.tree.node import TreeNode
from momentree.tree.notebook import repr_html
from momentree.tree.page import page_of

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

__all__ = ["TreeEstimator"]

Floats = NDArray[np.float64]


class TreeEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the estimators that grow a tree of samples.

    Attributes
    ----------
    tree_ : TreeNode
        The root.
    leaves_ : list of TreeNode
        From left to right.
    n_leaves_ : int
        Number of leaves.
    labels_ : ndarray of int of shape (n_samples,)
        Leaf of each sample.
    vocabulary_ : ndarray of str of shape (n_features,)
        Names of the columns.
    """

    labels_: NDArray[np.intp]
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
    def _check_parameters(self) -> None:
        """Refuse parameters that are out of their range."""

    @abstractmethod
    def _ready(self, X: Any) -> tuple[Assigner, RowBlocks]:
        """Return what assigns samples, and checked samples in the form that it reads."""

    def _set_tree(self, tree: TreeNode) -> None:
        self.tree_ = tree
        self.leaves_: list[TreeNode] = list(self.tree_.leaves())
        self.n_leaves_ = len(self.leaves_)

    def fit_predict(self, X: Any, y: object = None, **fit_params: Any) -> NDArray[np.intp]:
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

    def predict(self, X: Any) -> NDArray[np.intp]:
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
            Rows sum to 1. With EM the posterior of the mixture over the leaves (S eq. 1) that EM
            fitted to what it sees: for topics log-scaled counts, unless ``log_scaling=None``. Its
            parameters are not the weights and centers of the nodes, which are plain shares of
            documents and words. Without EM it is the product of the posteriors of the sides taken
            at each split; ``predict`` then follows the splits and need not name the largest.
        """
        check_is_fitted(self, "tree_")
        assigner, rows = self._ready(X)
        return assigner.proba(rows)

    def apply(self, X: Any) -> NDArray[np.intp]:
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
        """Return which nodes each sample passes.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples in the columns of ``fit``.

        Returns
        -------
        csr_array of bool of shape (n_samples, n_nodes)
            Columns are ``node_id``: the root, the nodes below it and the leaf.
        """
        leaves = self.predict(X)
        return export.decision_path(self.tree_, leaves)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dictionaries of plain values, ready for JSON."""
        check_is_fitted(self, "tree_")
        return export.to_dict(self.tree_, self.vocabulary_)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row a node, in pre-order."""
        check_is_fitted(self, "tree_")
        return export.to_frame(self.tree_)

    def to_newick(self) -> str:
        """Return the tree in Newick format; branch lengths are differences of depth."""
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
        """Return the report of the tree as one HTML page that needs no network.

        Parameters
        ----------
        path : str or path-like, default=None
            Also write the page to this file, whole or not at all.
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            The documents of ``fit``, for typical documents and coherence; left out when None.
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

    def save(
        self, path: str | PathLike[str], *, vectorizer_config: dict[str, Any] | None = None
    ) -> None:
        """Write the fitted tree to a file, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            The file; customary suffix ".mt". A zip of JSON and .npy arrays, with the version of
            the format; no pickle.
        vectorizer_config : dict, default=None
            Plain values that tell how text becomes counts, kept beside the tree: what
            ``TextVectorizer.to_dict()`` returns.

        Raises
        ------
        OSError
            If the file cannot be written; nothing is left behind.
        """
        check_is_fitted(self, "tree_")
        persistence.save(self, path, vectorizer_config)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a fitted tree from a file of :meth:`save`.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        tree
            Of the class it was called on. Predicts as it did when it was saved. Its
            ``vectorizer_config_`` is what was saved with it, or None.

        Raises
        ------
        ReadError
            If the file is missing, damaged, of another kind or of a newer format.
        """
        tree = cls()
        tree._set_tree(persistence.restore(tree, path))
        return tree

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
