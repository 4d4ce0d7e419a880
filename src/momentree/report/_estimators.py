"""Read estimators for the report; any tree or flat model with these attributes can be used.

A flat model is treated as a tree with one level, so whatever shows a node also shows a topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from momentree._types import Floats, Ints
from momentree.core.pages import counted
from momentree.estimators.names import name_by_words
from momentree.estimators.node import TreeNode, one_level
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.metrics.words import word_probabilities

_OF_SEQUENCES = Message("use_summarize_sequences")
_OF_MEASUREMENTS = Message("use_summarize_measurements")
_OTHERS: Mapping[str, Message | str] = {
    "emissionprob_": _OF_SEQUENCES,
    "transmat_": "",
    "views_": "",
    "columns_": _OF_MEASUREMENTS,
    "covariances_": _OF_MEASUREMENTS,
    "mixing_": "",
    "coef_": "",
}
"""What to do with an estimator that has one of these attributes, and has no topics or codes."""


class _Estimator(Protocol):
    labels_: Ints
    vocabulary_: NDArray[Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""


class FittedTree(_Estimator, Protocol):
    """The attributes of a fitted tree of topics that the report needs."""

    tree_: TreeNode


class FittedFlat(_Estimator, Protocol):
    """The attributes of a fitted flat topic model that the report needs."""

    weights_: Floats
    components_: Floats
    diagnostics_: Mapping[str, Any]

    def transform(self, X: Any) -> Floats:
        """Return the topic proportions of each document."""


class FittedGroups(_Estimator, Protocol):
    """The methods that the report needs for groups, besides ``tree_`` or ``weights_``."""

    def predict_proba(self, X: Any) -> Floats:
        """Return the posterior probabilities of the groups for each record."""


@dataclass(frozen=True)
class Fitted:
    """A fitted topic estimator as a tree; flat models have one level."""

    kind: Literal["tree", "flat"]
    root: TreeNode
    labels: Ints
    vocabulary: NDArray[Any]
    languages: tuple[str, ...]


def check_fitted(estimator: Any, attribute: str) -> None:
    """Raise NotFittedError if the estimator lacks an attribute that ``fit`` sets."""
    if not hasattr(estimator, attribute):
        msg = f"this {type(estimator).__name__} is not fitted yet; call fit first"
        raise NotFittedError(msg)


def check_of_topics(estimator: Any) -> None:
    """Raise ``InvalidDataError`` if a fitted estimator has neither topics nor groups of codes."""
    found = [remedy for name, remedy in _OTHERS.items() if hasattr(estimator, name)]
    if getattr(estimator, "data_", "") == "real":  # a ClusterTree
        found = [_OF_MEASUREMENTS]
    if found and hasattr(estimator, "n_features_in_"):
        raise InvalidDataError("not_of_topics", type=type(estimator).__name__, remedy=found[0])


def fitted(estimator: FittedTree | FittedFlat) -> Fitted:
    """Return a fitted estimator as a tree.

    The topics of a flat model are sorted by their share of the documents in a topic, or by
    ``weights_`` if the documents are elsewhere.
    """
    languages = tuple(getattr(estimator, "languages_", ("en",)))
    if hasattr(estimator, "components_") and not hasattr(estimator, "tree_"):
        model: Any = estimator
        root = _one_level(model)
        return Fitted("flat", root, np.asarray(model.labels_), model.vocabulary_, languages)
    check_fitted(estimator, "tree_")
    tree = cast("FittedTree", estimator)
    return Fitted("tree", tree.tree_, np.asarray(tree.labels_), tree.vocabulary_, languages)


def topic_names(model: FittedTree | FittedFlat) -> list[str]:
    """Return the name of each leaf, topic or group, made of its most relevant words or codes."""
    names = {leaf.leaf_id: leaf.name for leaf in fitted(model).root.leaves()}
    return [names[j] for j in range(len(names))]


def _one_level(model: FittedFlat) -> TreeNode:
    # Relevance compares with the word distribution of the model, as in `top_words`.
    P = word_probabilities(model.components_)
    labels = np.asarray(model.labels_)
    sizes = counted(labels, len(P))
    shares = sizes / sizes.sum() if sizes.any() else model.weights_
    words = getattr(model, "_shown_words", None)
    root = one_level(P, model.weights_, labels, shares, words)
    names = getattr(model, "names_", None)
    if names is None:
        name_by_words(root, model.vocabulary_)
    else:
        for leaf in root.leaves():
            leaf.name = names[leaf.leaf_id or 0]
    return root
