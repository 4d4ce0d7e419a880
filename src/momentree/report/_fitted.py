"""What the report reads of an estimator: any fitted tree or flat model that has it can be reported.

A flat model is read as a tree of one level: all documents, and below them its topics. So all that
shows a node shows a topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from momentree.tree.naming import name_by_words
from momentree.tree.node import TreeNode

__all__ = [
    "Fitted",
    "FittedFlat",
    "FittedTree",
    "fitted",
    "fitted_root",
    "topic_names",
    "word_shares",
]

Floats = NDArray[np.float64]


class FittedTree(Protocol):
    """What the report needs of a fitted tree estimator."""

    tree_: TreeNode
    labels_: NDArray[np.intp]
    vocabulary_: NDArray[np.str_]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        ...


class FittedFlat(Protocol):
    """What the report needs of a fitted flat model."""

    weights_: Floats
    components_: Floats
    labels_: NDArray[np.intp]
    vocabulary_: NDArray[Any]
    diagnostics_: Mapping[str, Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        ...

    def transform(self, X: Any) -> Floats:
        """Return the share of each topic in each document."""
        ...


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator of either kind, as one.

    Parameters
    ----------
    kind : {"tree", "flat"}
        What it is.
    root : TreeNode
        The tree, or of a flat model a tree of one level.
    labels : ndarray of int of shape (n_samples,)
        Leaf or topic of each document.
    vocabulary : ndarray of str of shape (n_features,)
        The words.
    """

    kind: Literal["tree", "flat"]
    root: TreeNode
    labels: NDArray[np.intp]
    vocabulary: NDArray[Any]


def fitted(estimator: FittedTree | FittedFlat, shares: Floats | None = None) -> Fitted:
    """Return what is reported of a fitted estimator.

    Parameters
    ----------
    estimator : FittedTree or FittedFlat
        Any of either kind.
    shares : ndarray of shape (n_samples, k), default=None
        Of a flat model, the shares of topics in documents. The share of a topic is its mean over
        them, and topics come in that order; with None both are those of ``weights_``.

    Returns
    -------
    Fitted
        What it is, as a tree.

    Raises
    ------
    NotFittedError
        If it is not fitted yet.
    """
    if hasattr(estimator, "components_"):
        model = cast("FittedFlat", estimator)
        return Fitted(
            "flat", _one_level(model, shares), np.asarray(model.labels_), model.vocabulary_
        )
    tree = cast("Any", estimator)
    return Fitted("tree", fitted_root(tree), np.asarray(tree.labels_), tree.vocabulary_)


def fitted_root(estimator: FittedTree) -> TreeNode:
    """Return the root of a fitted tree.

    Raises
    ------
    NotFittedError
        If there is none yet.
    """
    if not hasattr(estimator, "tree_"):
        msg = f"this {type(estimator).__name__} is not fitted yet; call fit first"
        raise NotFittedError(msg)
    return estimator.tree_


def word_shares(model: FittedFlat) -> Floats:
    """Return P[word | topic] of shape (k, d), also where components are means of counts."""
    sums = model.components_.sum(axis=1, keepdims=True)
    return np.asarray(model.components_ / np.where(sums > 0, sums, 1.0))


def topic_names(model: FittedFlat) -> list[str]:
    """Return for each topic of a flat model, by number, its name: its most relevant words."""
    leaves = fitted(model).root.leaves()
    names = {leaf.leaf_id: leaf.name for leaf in leaves}
    return [names[j] for j in range(len(names))]


def _one_level(model: FittedFlat, shares: Floats | None) -> TreeNode:
    P = word_shares(model)
    # Words are compared with those of the model's weights, as its own top_words does.
    root = TreeNode(model.weights_ @ P, 1.0)
    means = model.weights_ if shares is None else shares.mean(axis=0)
    samples = [np.flatnonzero(model.labels_ == j) for j in range(len(means))]
    if len(means) == 1:
        root.leaf_id, root._samples = 0, samples[0]
    else:
        root.children = [
            TreeNode(
                P[j],
                float(means[j]),
                depth=1,
                node_id=at,
                leaf_id=int(j),
                parent=root,
                _samples=samples[j],
            )
            # Means that differ by rounding alone keep the order of the model.
            for at, j in enumerate(np.argsort(-np.round(means, 9), kind="stable"), start=1)
        ]
    name_by_words(root, model.vocabulary_)
    return root
