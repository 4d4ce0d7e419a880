"""Trees as parts of BERTopic and Toponymy; the packages themselves are tested where installed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from sklearn.preprocessing import normalize

import momentree as mt
from momentree.adapters import ToponymyClusterer, bertopic_linkage
from momentree.exceptions import InvalidDataError, InvalidParameterError

from .raising import raises


def embeddings(k=16, n=20, seed=0):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.standard_normal((k, 12)), n, axis=0)
    return normalize(X + 0.3 * rng.standard_normal(X.shape))


def texts_of(labels):
    words = [f"word{chr(97 + j)} theme{chr(97 + j)}" for j in range(26)]
    return [f"{words[label]} common text {words[label]}" for label in labels]


@pytest.fixture(scope="module")
def tree():
    return mt.ClusterTree(16).fit(embeddings())


class Layer:
    def __init__(self, labels, centroids, *, layer_id, verbose, show_progress_bar, **options):
        self.labels, self.centroids, self.layer_id, self.options = (
            *(labels, centroids, layer_id),
            options,
        )


def test_the_linkage_is_that_of_the_tree(tree):
    k = tree.n_leaves_
    to = np.random.default_rng(1).permutation(k)  # BERTopic numbers the leaves anew
    Z = bertopic_linkage(tree, to[tree.labels_])(None)
    assert is_valid_linkage(Z, throw=True)
    assert (np.diff(Z[:, 2]) >= 0).all()
    # Every node of the tree is a cluster of the linkage.
    clusters = {j: {j} for j in range(k)}
    for i, (a, b, _, count) in enumerate(Z):
        clusters[k + i] = clusters[int(a)] | clusters[int(b)]
        assert count == len(clusters[k + i])
    found = {frozenset(cluster) for cluster in clusters.values()}
    for node in tree.tree_.nodes():
        assert frozenset(int(to[leaf.leaf_id]) for leaf in node.leaves()) in found
    assert fcluster(Z, 2, criterion="maxclust").max() == 2


def test_topics_that_are_not_the_leaves(tree):
    with raises(InvalidDataError, "topics_of_other_rows", found=3):
        bertopic_linkage(tree, [0, 1, 2])
    with raises(InvalidDataError, "topics_not_leaves", n_leaves=16, n_topics=15):
        bertopic_linkage(tree, np.minimum(tree.labels_, 14))


def test_layers_are_nested_cuts():
    E = embeddings()
    clusterer = ToponymyClusterer(mt.ClusterTree(16), min_clusters=2)
    layers, children = clusterer.fit_predict(E, 2 * E, Layer, prompt="x")
    assert [len(layer.centroids) for layer in layers] == [16, 4]
    for i, layer in enumerate(layers):
        assert (layer.layer_id, layer.options) == (i, {"prompt": "x"})
        for j, centroid in enumerate(layer.centroids):
            np.testing.assert_allclose(centroid, 2 * E[layer.labels == j].mean(axis=0))
    fine, coarse = (layer.labels for layer in layers)
    for (layer, cluster), below in children.items():
        inside = coarse == cluster if layer == 1 else np.ones(len(E), dtype=bool)
        labels = fine if layer == 1 else coarse
        assert {(layer - 1, int(j)) for j in labels[inside]} == set(below)
    assert len(children[2, 0]) == 4


def test_bad_input():
    E = embeddings()
    with raises(InvalidDataError, "wrong_shape"):
        ToponymyClusterer().fit(E, E[:5], Layer)
    with raises(InvalidParameterError, "not_a_number"):
        ToponymyClusterer(min_clusters=1).fit(E, E, Layer)


def test_bertopic():
    bertopic = pytest.importorskip("bertopic", reason="BERTopic is not installed")
    pytest.importorskip("hdbscan", reason="BERTopic assigns new documents only with hdbscan")
    E, tree = embeddings(), mt.ClusterTree(16)
    texts = texts_of(np.arange(len(E)) // 20)
    reduction = bertopic.dimensionality.BaseDimensionalityReduction()
    model = bertopic.BERTopic(hdbscan_model=tree, umap_model=reduction)
    topics, _ = model.fit_transform(texts, embeddings=E)
    assert sorted(set(topics)) == list(range(16))
    found, _ = model.transform(texts[:30], embeddings=E[:30])
    assert list(found) == list(topics[:30])
    linkage = bertopic_linkage(tree, model.topics_)
    assert len(model.hierarchical_topics(texts, linkage_function=linkage)) == 15


def test_toponymy():
    clustering = pytest.importorskip("toponymy.clustering", reason="Toponymy is not installed")
    E = embeddings()
    layers, children = ToponymyClusterer(mt.ClusterTree(16), min_clusters=2).fit_predict(E, E)
    expected = clustering.build_cluster_tree([layer.cluster_labels for layer in layers])
    same = {key: sorted(below) for key, below in children.items()}
    assert {
        (int(a), int(b)): sorted((int(c), int(d)) for c, d in below)
        for (a, b), below in expected.items()
    } == same
