"""Use a fitted tree, or one to be fitted, as a part of BERTopic and Toponymy.

BERTopic needs no adapter for the clusters: pass ``hdbscan_model=ClusterTree(...)``. See
``docs/embeddings.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_integer
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.tree import ClusterTree, TopicTree
from momentree.tree.hierarchy import Merges

__all__ = ["ToponymyClusterer", "bertopic_linkage"]

_FEWER = 4
"""Each layer has about this many times fewer clusters than the one below it, as in Toponymy."""


def bertopic_linkage(
    tree: ClusterTree | TopicTree, topics: Sequence[int]
) -> Callable[[Any], Floats]:
    """Return the tree as the `linkage_function` of BERTopic's ``hierarchical_topics``.

    Parameters
    ----------
    tree : ClusterTree or TopicTree
        The fitted tree that was the `hdbscan_model` of the topic model.
    topics : sequence of int of shape (n_samples,)
        ``topic_model.topics_``: BERTopic numbers the leaves anew, by size.

    Returns
    -------
    callable
        Ignores the distances that BERTopic gives it, and returns the SciPy linkage of the tree,
        shape (n_leaves - 1, 4), with the leaves in the order of the topics. The height of a merge
        is the log-likelihood it loses, in nats, or that of an earlier merge if this is higher.

    Raises
    ------
    InvalidDataError
        If each topic is not one leaf, as after ``reduce_topics``, or `topics` has another length.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import ClusterTree
    >>> from momentree.adapters import bertopic_linkage
    >>> E = np.repeat(np.eye(3, 4), 10, axis=0) + 0.1 * np.eye(4)[3]
    >>> tree = ClusterTree(3, data="directions").fit(E)
    >>> Z = bertopic_linkage(tree, tree.labels_)(None)
    >>> Z[:, 3].tolist()
    [2.0, 3.0]
    """
    check_is_fitted(tree, "tree_")
    labels = np.asarray(tree.labels_)
    given = np.asarray(topics)
    if given.shape != labels.shape:
        raise InvalidDataError(
            "[topics_of_other_rows] topics has {found:~value} for {needed:~sample} of the tree; "
            "pass topic_model.topics_ of the model that was fitted with this tree",
            found=given.size,
            needed=len(labels),
        )
    pairs = sorted({*zip(labels.tolist(), given.tolist(), strict=True)})
    k = tree.n_leaves_
    topic_of = dict(pairs)
    if len(pairs) != k or sorted(topic_of.values()) != list(range(k)):
        raise InvalidDataError(
            "[topics_not_leaves] the {n_topics:~topic} are not the {n_leaves:~leaf/leaves} of the "
            "tree; build the hierarchy before topics are reduced or merged",
            n_leaves=k,
            n_topics=len(set(given.tolist())),
        )
    Z = _linkage(tree._merges, [topic_of[j] for j in range(k)])

    def linkage(distances: Any) -> Floats:  # noqa: ARG001
        return Z.copy()

    return linkage


def _linkage(merges: Merges, number: list[int]) -> Floats:
    k = len(number)
    pairs = np.append(number, np.arange(k, 2 * k - 1))[merges.pairs]
    counts = np.ones(2 * k - 1)
    for i, pair in enumerate(pairs):
        counts[k + i] = counts[pair].sum()
    heights = np.maximum.accumulate(merges.losses)
    return np.column_stack([np.sort(pairs, axis=1), heights, counts[k:]]).astype(np.float64)


class ToponymyClusterer:
    """Cluster layers for Toponymy, cut from one tree.

    The lowest layer contains the leaves; each layer above it has a quarter of the clusters, made
    by cutting the tree. Unlike density-based layers, they leave no sample out.

    Parameters
    ----------
    tree : ClusterTree or None, default=None
        A tree, which is cloned and fitted; None is ``ClusterTree(64)``. To cut by cosine, as is
        usual for embeddings, pass the embeddings as `clusterable_vectors`, or set
        ``data="directions"``.
    min_clusters : int >= 2, default=4
        Smallest number of clusters of a layer above the lowest.

    Attributes
    ----------
    tree_ : ClusterTree
        The fitted tree.
    cluster_layers_ : list
        Layers of the class that Toponymy requests, from the finest to the coarsest.
    cluster_tree_ : dict
        Children of each cluster; keys and children are (layer, cluster). The only cluster of the
        layer above the last is the root.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import ClusterTree
    >>> from momentree.adapters import ToponymyClusterer
    >>> rng = np.random.default_rng(0)
    >>> E = np.repeat(np.eye(8), 20, axis=0) + 0.05 * rng.standard_normal((160, 8))
    >>> def layer(labels, centroids, *, layer_id, **options):
    ...     return len(centroids)
    >>> clusterer = ToponymyClusterer(ClusterTree(8, data="directions"), min_clusters=2)
    >>> layers, tree = clusterer.fit_predict(E, E, layer)
    >>> layers, sorted(tree)
    ([8, 2], [(1, 0), (1, 1), (2, 0)])
    """

    def __init__(self, tree: ClusterTree | None = None, *, min_clusters: int = 4) -> None:
        self.tree = tree
        self.min_clusters = min_clusters

    def fit(
        self,
        clusterable_vectors: Any,
        embedding_vectors: Any,
        layer_class: Callable[..., Any] | None = None,
        verbose: bool | None = None,
        show_progress_bar: bool | None = None,
        **layer_kwargs: Any,
    ) -> Self:
        """Fit the tree, and cut it into layers.

        Parameters
        ----------
        clusterable_vectors : ndarray of shape (n_samples, n_features)
            The samples of the tree.
        embedding_vectors : ndarray of shape (n_samples, n_dimensions)
            Embeddings, from which the centroids of the clusters are computed.
        layer_class : callable, default=None
            Makes a layer; None is Toponymy's ``ClusterLayerText``.
        verbose, show_progress_bar : bool or None, default=None
            Passed on to the layers.
        **layer_kwargs
            Passed on to the layers.

        Returns
        -------
        self
            The fitted clusterer.

        Raises
        ------
        InvalidDataError
            If the vectors do not match or contain other values than finite numbers.
        InvalidParameterError
            If a parameter is invalid.
        """
        check_integer("min_clusters", self.min_clusters, at_least=2)
        if layer_class is None:
            # Loaded only here, because momentree does not depend on Toponymy.
            layer_class = import_module("toponymy.cluster_layer").ClusterLayerText
        vectors = np.asarray(embedding_vectors)
        n = len(clusterable_vectors)
        if vectors.ndim != 2 or len(vectors) != n:
            raise InvalidDataError(
                wording.WRONG_SHAPE,
                parameter="embedding_vectors",
                found=str(vectors.shape),
                expected=f"({n}, n_dimensions)",
            )
        self.tree_ = clone(self.tree or ClusterTree(64)).fit(clusterable_vectors)
        sizes = [self.tree_.n_leaves_]
        while sizes[-1] // _FEWER >= self.min_clusters:
            sizes.append(sizes[-1] // _FEWER)
        labels = [self.tree_.cut(size).labels_ for size in sizes]
        self.cluster_layers_ = [
            layer_class(
                of_layer,
                np.stack([vectors[of_layer == j].mean(axis=0) for j in range(size)]),
                layer_id=i,
                verbose=bool(verbose),
                show_progress_bar=bool(show_progress_bar),
                **layer_kwargs,
            )
            for i, (size, of_layer) in enumerate(zip(sizes, labels, strict=True))
        ]
        self.cluster_tree_ = _cluster_tree(labels)
        return self

    def fit_predict(
        self,
        clusterable_vectors: Any,
        embedding_vectors: Any,
        layer_class: Callable[..., Any] | None = None,
        verbose: bool | None = None,
        show_progress_bar: bool | None = None,
        **layer_kwargs: Any,
    ) -> tuple[list[Any], dict[tuple[int, int], list[tuple[int, int]]]]:
        """Fit, and return the layers and the tree of their clusters; see :meth:`fit`.

        Parameters
        ----------
        clusterable_vectors, embedding_vectors : ndarray
            As for :meth:`fit`.
        layer_class : callable, default=None
            As for :meth:`fit`.
        verbose, show_progress_bar : bool or None, default=None
            As for :meth:`fit`.
        **layer_kwargs
            As for :meth:`fit`.

        Returns
        -------
        cluster_layers : list
            ``cluster_layers_``.
        cluster_tree : dict
            ``cluster_tree_``.
        """
        self.fit(
            clusterable_vectors,
            embedding_vectors,
            layer_class,
            verbose,
            show_progress_bar,
            **layer_kwargs,
        )
        return self.cluster_layers_, self.cluster_tree_


def _cluster_tree(labels: list[Ints]) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Return the children of each cluster of each layer but the lowest, and of the root."""
    children: dict[tuple[int, int], list[tuple[int, int]]] = {}
    root = np.zeros_like(labels[0])
    for layer, (here, above) in enumerate(zip(labels, [*labels[1:], root], strict=True)):
        for j, first in enumerate(np.unique(here, return_index=True)[1].tolist()):
            children.setdefault((layer + 1, int(above[first])), []).append((layer, j))
    return children
