"""Read estimators for the report, and record how a page was made.

Any tree with ``tree_``, and any flat model with ``components_`` or ``weights_``, can be used.

A flat model is treated as a tree with one level, so whatever shows a node also shows a topic.
"""

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from momentree._types import Ints
from momentree._validation import check_table
from momentree._version import __version__
from momentree.core.pages import counted
from momentree.core.sparse import as_csr
from momentree.estimators.names import name_by_words
from momentree.estimators.node import TreeNode, one_level
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.metrics.words import word_probabilities
from momentree.report.text import clean_text, for_readers

_OTHERS = (
    "emissionprob_",
    "transmat_",
    "views_",
    "columns_",
    "covariances_",
    "mixing_",
    "coef_",
)
"""An estimator that has one of these attributes has no topics or codes."""


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
    other = getattr(estimator, "data_", "") == "real"  # a ClusterTree
    if (other or any(hasattr(estimator, name) for name in _OTHERS)) and hasattr(
        estimator, "n_features_in_"
    ):
        raise InvalidDataError(
            "[not_of_topics] summarize describes topics, and this is a fitted {type}; "
            "summarize_measurements describes groups of measurements, and summarize_sequences "
            "states of sequences",
            type=type(estimator).__name__,
        )


def fitted(estimator: Any) -> Fitted:
    """Return a fitted estimator as a tree.

    The topics of a flat model are sorted by their share of the documents in a topic, or by
    ``weights_`` if the documents are elsewhere.
    """
    flat = hasattr(estimator, "components_") and not hasattr(estimator, "tree_")
    if not flat:
        check_fitted(estimator, "tree_")
    root = _one_level(estimator) if flat else estimator.tree_
    languages = tuple(getattr(estimator, "languages_", ("en",)))
    labels = np.asarray(estimator.labels_)
    return Fitted("flat" if flat else "tree", root, labels, estimator.vocabulary_, languages)


def counts_of_fit(model: Fitted, X: Any) -> sp.csr_array:
    """Return counts as a CSR array, if they have the shape of those that a model was fitted to."""
    counts: sp.csr_array = as_csr(check_table(X))
    check_of_fit("X", counts.shape, (len(model.labels), len(model.vocabulary)))
    return counts


def check_of_fit(data: str, shape: tuple[int, ...], fitted_shape: tuple[int, ...]) -> None:
    """Raise ``InvalidDataError`` unless data have the shape of those of the fit."""
    if shape != fitted_shape:
        raise InvalidDataError(
            "[not_of_fit] {data} has shape {shape}; the model was fitted to {fitted_shape}. Pass "
            "the data used in fit",
            data=data,
            shape=str(shape),
            fitted_shape=str(fitted_shape),
        )


def topic_names(model: Any) -> list[str]:
    """Return the name of each leaf, topic or group, made of its most relevant words or codes."""
    names = {leaf.leaf_id: leaf.name for leaf in fitted(model).root.leaves()}
    return [names[j] for j in range(len(names))]


def _one_level(model: Any) -> TreeNode:
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


def head(
    estimator: Any,
    kind: str,
    title: str,
    notes: Iterable[Message],
    made_with: Mapping[str, object] | None,
    given_names: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the parts that every summary has: what the page is about, and how it was made.

    `given_names` are by default those of the estimator.
    """
    given = getattr(estimator, "given_names_", {}) if given_names is None else given_names
    return {
        "kind": kind,
        "title": clean_text(title),
        "notes": [for_readers(note) for note in notes],
        "given_names": dict(given),
        "made": _provenance(estimator, made_with),
    }


def _provenance(
    estimator: Any, made_with: Mapping[str, object] | None
) -> dict[str, dict[str, Any]]:
    """Return ``parameters`` of an estimator, ``versions`` and ``notes``, ready for JSON."""
    parameters = sorted(estimator.get_params(deep=False).items())
    # Without texts there is no vectorizer, and the readers list the settings of theirs.
    shown = [(key, value) for key, value in parameters if (key, value) != ("vectorizer", None)]
    return {
        "parameters": {
            "estimator": type(estimator).__name__,
            **{key: _plain(value) for key, value in shown},
        },
        "versions": {
            "momentree": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
        "notes": {clean_text(key): _plain(value) for key, value in (made_with or {}).items()},
    }


def _plain(value: object) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(value)
    # The repr of a function contains its memory address, which differs between runs.
    return clean_text(getattr(value, "__name__", value))
