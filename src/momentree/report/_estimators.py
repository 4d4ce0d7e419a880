"""What the report reads from an estimator; any tree or flat model with these attributes will do.

A flat model is read as a tree of one level, so whatever shows a node shows a topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from momentree._types import Floats, Ints
from momentree.tree.naming import name_by_words
from momentree.tree.node import TreeNode


class _Estimator(Protocol):
    labels_: Ints
    vocabulary_: NDArray[Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""


class FittedTree(_Estimator, Protocol):
    """What the report needs from a fitted tree of topics."""

    tree_: TreeNode


class FittedFlat(_Estimator, Protocol):
    """What the report needs from a fitted flat model of topics."""

    weights_: Floats
    components_: Floats
    diagnostics_: Mapping[str, Any]

    def transform(self, X: Any) -> Floats:
        """Return the topic proportions of each document."""


class FittedGroups(_Estimator, Protocol):
    """What the report needs from groups of records, besides ``tree_`` or ``weights_``."""

    def predict_proba(self, X: Any) -> Floats:
        """Return the posterior probabilities of the groups for each record."""

    def scoring(self) -> dict[str, Any]:
        """Return the rule of assignment as plain arrays."""


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator of topics as a tree; that of a flat model has one level."""

    kind: Literal["tree", "flat"]
    root: TreeNode
    labels: Ints
    vocabulary: NDArray[Any]


def check_fitted(estimator: Any, attribute: str) -> None:
    """Raise NotFittedError if the estimator lacks an attribute that ``fit`` sets."""
    if not hasattr(estimator, attribute):
        msg = f"this {type(estimator).__name__} is not fitted yet; call fit first"
        raise NotFittedError(msg)


def fitted(estimator: FittedTree | FittedFlat, proportions: Floats | None = None) -> Fitted:
    """Return a fitted estimator as a tree.

    The weights of a flat model's topics, which also order them, are the means of `proportions`, or
    its ``weights_`` without them.
    """
    if hasattr(estimator, "components_"):
        model = cast("FittedFlat", estimator)
        root = _one_level(model, proportions)
        return Fitted("flat", root, np.asarray(model.labels_), model.vocabulary_)
    check_fitted(estimator, "tree_")
    tree: FittedTree = estimator
    return Fitted("tree", tree.tree_, np.asarray(tree.labels_), tree.vocabulary_)


def word_probabilities(model: FittedFlat) -> Floats:
    """Return P[word | topic] of shape (k, d), also where components are means of counts."""
    sums = model.components_.sum(axis=1, keepdims=True)
    return np.asarray(model.components_ / np.where(sums > 0, sums, 1.0))


def topic_names(model: FittedFlat) -> list[str]:
    """Return the name of each topic of a flat model, by number: its most relevant words."""
    names = {leaf.leaf_id: leaf.name for leaf in fitted(model).root.leaves()}
    return [names[j] for j in range(len(names))]


def _one_level(model: FittedFlat, proportions: Floats | None) -> TreeNode:
    P = word_probabilities(model)
    # Relevance compares with the words of the model's weights, as `top_words` does.
    root = TreeNode(model.weights_ @ P, 1.0)
    means = model.weights_ if proportions is None else proportions.mean(axis=0)
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
            # Means that differ by rounding errors only keep the order of the model.
            for at, j in enumerate(np.argsort(-np.round(means, 9), kind="stable"), start=1)
        ]
    name_by_words(root, model.vocabulary_)
    return root
