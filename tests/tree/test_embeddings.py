"""Trees of directions, such as embeddings: cosine geometry, k-means, names from counts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, normalize

import momentree as mt
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.objects.von_mises_fisher import concentration
from momentree.readers import vectorize

from ..raising import raises

WORDS = ["boat", "sail", "oven", "bread", "rose", "soil"]


def directions(k=4, n=60, d=16, noise=0.15, seed=0):
    """Unit vectors around k random directions, and their groups."""
    rng = np.random.default_rng(seed)
    truth = np.arange(k * n) % k
    X = normalize(rng.standard_normal((k, d)))[truth] + noise * rng.standard_normal((k * n, d))
    return normalize(X), truth


def counts_of(truth):
    """Counts in which each group has two words of its own, six in all."""
    return np.kron(np.eye(3), [[3, 2]])[truth % 3].astype(int)


def squares(E, labels):
    return sum(((E[labels == j] - E[labels == j].mean(axis=0)) ** 2).sum() for j in set(labels))


def test_unit_rows_are_directions():
    E, truth = directions()
    tree = mt.ClusterTree(4).fit(E)
    assert tree.data_ == "directions"
    assert normalized_mutual_info_score(truth, tree.labels_) == 1.0
    assert mt.ClusterTree(4).fit(E.astype(np.float16).astype(np.float32)).data_ == "directions"
    assert mt.ClusterTree(4).fit(2 * E).data_ == "real"
    # A sparse table of unit length may be tf-idf, and two columns may be an angle.
    assert mt.ClusterTree(2).fit(E[:, :2] / np.linalg.norm(E[:, :2], axis=1)[:, None]).data_ == (
        "real"
    )


def test_lengths_have_no_influence():
    E, _ = directions(noise=0.3)
    lengths = np.random.default_rng(1).uniform(0.1, 10.0, len(E))
    tree = mt.ClusterTree(4, data="directions").fit(E)
    scaled = mt.ClusterTree(4, data="directions").fit(E * lengths[:, None])
    np.testing.assert_array_equal(tree.labels_, scaled.labels_)
    np.testing.assert_array_equal(tree.predict(E * 7), tree.labels_)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_order_of_rows_has_no_influence(kind):
    E = directions(noise=0.3, n=40)[0].astype(kind)
    at = np.random.default_rng(2).permutation(len(E))
    tree, other = mt.ClusterTree(5).fit(E), mt.ClusterTree(5).fit(E[at])
    np.testing.assert_array_equal(tree.labels_[at], other.labels_)
    np.testing.assert_array_equal(tree.predict(E), tree.labels_)


def test_gains_are_nats_of_the_mixture():
    E, _ = directions()
    tree = mt.ClusterTree(4).fit(E)
    total = sum(node.gain for node in tree.tree_.nodes())
    lengths = [np.linalg.norm(E[tree.labels_ == j].sum(axis=0)) for j in range(4)]
    kappa = concentration(sum(lengths) / len(E), E.shape[1])
    # The gains of all splits add up to that of the leaves over one group, at this concentration.
    expected = kappa * (sum(lengths) - np.linalg.norm(E.sum(axis=0)))
    assert total == pytest.approx(expected, rel=1e-9)


def test_merging_back_finds_what_splits_missed():
    E, truth = directions(k=12, n=25, d=6, noise=0.08, seed=10)
    # Without a limit of depth, the tree grows to 24 leaves and merges half of them.
    plain = mt.ClusterTree(12, max_depth=8).fit(E)
    tree = mt.ClusterTree(12).fit(E)
    assert squares(E, tree.labels_) < 0.9 * squares(E, plain.labels_)
    assert normalized_mutual_info_score(truth, tree.labels_) > 0.98


def test_digits_as_good_as_ten_starts_of_k_means():
    X, digit = load_digits(return_X_y=True)
    E = normalize(X)
    ours = normalized_mutual_info_score(digit, mt.ClusterTree(10).fit_predict(E))
    peer = KMeans(10, n_init=10, random_state=0).fit_predict(E)
    assert ours > normalized_mutual_info_score(digit, peer) - 0.02


@pytest.mark.long
def test_docstrings_as_good_as_ten_starts_of_k_means(docstrings):
    vectors = make_pipeline(
        TfidfTransformer(sublinear_tf=True), TruncatedSVD(100, random_state=0), Normalizer()
    )
    texts, truth = docstrings.texts[::5], docstrings.labels[::5]  # for speed
    E = vectors.fit_transform(vectorize(texts, passages=None).X)
    k = len(set(truth))
    ours = normalized_mutual_info_score(truth, mt.ClusterTree(k).fit_predict(E))
    peer = KMeans(k, n_init=10, random_state=0).fit_predict(E)
    assert ours > normalized_mutual_info_score(truth, peer) - 0.02


def test_counts_name_the_groups():
    E, truth = directions(k=3)
    X = counts_of(truth)
    tree = mt.ClusterTree(3).fit(E, counts=X, feature_names=WORDS)
    for leaf in tree.leaves_:
        expected = {w for j, w in enumerate(WORDS) if X[leaf.samples][:, j].any()}
        assert set(leaf.name.split(", ")) == expected
        np.testing.assert_allclose(leaf.center.sum(), 1.0, rtol=1e-12)
    assert (tree.n_features_in_, list(tree.vocabulary_)) == (E.shape[1], WORDS)
    plain = mt.ClusterTree(3).fit(E)
    np.testing.assert_array_equal(plain.labels_, tree.labels_)
    assert plain.names_ == ["group 0", "group 1", "group 2"]
    # A second fit without counts forgets the words.
    assert tree.fit(E).names_ == plain.names_


def test_counts_make_real_data_directions():
    E, truth = directions(k=3)
    tree = mt.ClusterTree(3).fit(3 * E, counts=counts_of(truth))
    assert tree.data_ == "directions"
    assert mt.ClusterTree(3, data="real").fit(E, counts=counts_of(truth)).data_ == "real"


def test_described_trees_have_pages_files_and_names(tmp_path):
    E, truth = directions(k=3)
    X = sp.csr_array(counts_of(truth))
    tree = mt.ClusterTree(3).fit(E, counts=X, feature_names=WORDS)
    page = tree.to_html(X=X, texts=["a text"] * len(E))
    assert "a text" in page
    tree.save(tmp_path / "t.mt")
    loaded = mt.load(tmp_path / "t.mt")
    np.testing.assert_array_equal(loaded.predict(E), tree.labels_)
    assert loaded.to_html(X=X, texts=["a text"] * len(E)) == page
    assert loaded.rename(0, "Sea").names_[0] == "Sea"
    assert {word["word"] for word in tree.to_dict()["words"]} <= set(WORDS)
    with raises(InvalidDataError, "described_not_edited"):
        tree.merge_groups(E, [0, 1])


def test_names_from_texts():
    texts = [["hard drive of a computer", "a soft bread", "red rose"][i % 3] for i in range(60)]
    E, _ = directions(k=3, n=20)
    corpus = vectorize(texts, min_df=1, max_df=1.0)
    tree = mt.ClusterTree(3).fit(E, counts=corpus.X, feature_names=corpus.vocabulary)
    assert any("hard drive" in name for name in tree.name_topics(corpus).names_)
    assert not hasattr(mt.ClusterTree(3).fit(E), "name_topics")


def test_texts_and_a_corpus_in_place_of_counts(tmp_path):
    texts = [["hard drive of a computer", "a soft bread", "red rose"][i % 3] for i in range(60)]
    E, _ = directions(k=3, n=20)
    corpus = vectorize(texts)
    by_hand = mt.ClusterTree(3).fit(
        E, counts=corpus.X, feature_names=corpus.vocabulary, sample_weight=corpus.weights
    )
    by_hand = by_hand.name_topics(corpus)
    for given in (corpus, texts, np.array(texts)):
        tree = mt.ClusterTree(3).fit(E, counts=given)
        assert tree.names_ == by_hand.names_
        np.testing.assert_array_equal(tree.labels_, by_hand.labels_)
        assert [note.code.removesuffix("_in_fit") for note in tree.notes_] == ["copies_counted"]
    page = tree.to_html(X=texts)
    assert "hard drive of a computer" in page
    tree.save(tmp_path / "t.mt")
    loaded = mt.load(tmp_path / "t.mt")
    assert loaded.vectorizer_config_ == {**corpus.vectorizer.to_dict(), "passages": None}
    assert loaded.to_html(X=texts) == page
    # A fit without texts forgets them.
    assert not hasattr(tree.fit(E), "vectorizer_")
    assert tree.notes_ == []


def test_names_of_columns_after_the_fit():
    E, truth = directions(k=3)
    tree = mt.ClusterTree(3).fit(E, counts=counts_of(truth))
    assert [note.code for note in tree.notes_] == ["columns_without_names"]
    named = tree.name_topics(feature_names=WORDS)
    assert named.notes_ == []
    assert {frozenset(name.split(", ")) for name in named.names_} == {
        frozenset(WORDS[:2]),
        frozenset(WORDS[2:4]),
        frozenset(WORDS[4:]),
    }


def test_a_tree_of_vectors_alone():
    E, _ = directions()
    tree = mt.ClusterTree(4).fit(E)
    assert tree.tree_.name == "all groups"
    merged = tree.merge_groups(E, [0, 1])
    assert merged.names_ == ["group 0", "group 1", "group 2"]
    assert "group 3" in tree._repr_html_()
    with raises(InvalidDataError, "not_fitted_to_binary"):
        tree.to_html(X=E)


def test_words_choose_the_number_of_groups():
    """BIC would find one group of so many dimensions; the words have three topics."""
    E, truth = directions(k=3, n=80)
    topics = np.kron(np.eye(3), np.ones(8)) + 0.05
    topics /= topics.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    counts = np.stack([rng.multinomial(30, topics[j]) for j in truth])
    tree = mt.ClusterTree("auto").fit(E, counts=counts)
    assert tree.choice_.n_components == tree.n_leaves_ == 3
    assert normalized_mutual_info_score(truth, tree.labels_) == 1
    assert mt.ClusterTree(3).fit(E, counts=counts).choice_ is None
    with raises(InvalidParameterError, "leaves_of_embeddings"):
        mt.ClusterTree("auto", data="directions").fit(E)
    assert mt.ClusterTree(None, data="directions", max_depth=1).fit(E).n_leaves_ == 2


def test_bad_input():
    E, truth = directions(k=3)
    X = counts_of(truth)
    with raises(InvalidDataError, "counts_of_other_rows", found=10, needed=len(E)):
        mt.ClusterTree(3).fit(E, counts=X[:10])
    with raises(InvalidDataError, "negative_count"):
        mt.ClusterTree(3).fit(E, counts=-X)
    with raises(InvalidDataError, "wrong_number_of_names"):
        mt.ClusterTree(3).fit(E, counts=X, feature_names=WORDS[:3])
    with raises(InvalidDataError, "counts_of_other_rows", found=10, needed=len(E)):
        mt.ClusterTree(3).fit(E, counts=["red rose", "soft bread"] * 5)
    with raises(InvalidDataError, "text_not_a_string"):
        mt.ClusterTree(3).fit(E, counts=["red rose", None] * (len(E) // 2))
    with raises(InvalidParameterError, "names_of_texts"):
        mt.ClusterTree(3).fit(
            E, counts=["red rose", "soft bread"] * (len(E) // 2), feature_names=WORDS
        )
    E[2, 1] = np.nan
    with raises(InvalidDataError, "missing_not_binary"):
        mt.ClusterTree(3, data="directions").fit(E)
    E[2, 1] = np.inf
    with raises(InvalidDataError, "infinite_value"):
        mt.ClusterTree(3, data="directions").fit(E)


@pytest.mark.parametrize("E", [np.eye(3, 5), np.ones((6, 4)), np.tile([1.0, 0.0, 0.0], (5, 1))])
def test_few_and_equal_vectors(E):
    tree = mt.ClusterTree(4, data="directions", min_samples_leaf=1).fit(E)
    assert 1 <= tree.n_leaves_ <= len(E)
    assert np.isfinite(tree.predict_proba(E)).all()


def test_zero_vectors_are_assigned():
    E, _ = directions(k=3)
    E[5] = 0.0
    tree = mt.ClusterTree(3).fit(E)
    assert tree.data_ == "directions"
    assert np.isfinite(tree.predict_proba(E)).all()
