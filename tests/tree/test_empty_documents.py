"""Documents without words are in no topic; copies count in full; fewer topics are a warning."""

import numpy as np
import pytest
import scipy.sparse as sp

import momentree as mt
from momentree.backends import FileRows
from momentree.datasets import make_single_topic
from momentree.exceptions import ConvergenceWarning

N = 400


@pytest.fixture(scope="module")
def counts():
    return sp.csr_array(make_single_topic(N, 60, 4, length=30, random_state=1).X)


@pytest.fixture(scope="module")
def with_empty(counts):
    """The same documents among as many without words."""
    rows = np.concatenate([np.arange(N), np.full(N, -1)])
    rows = np.random.default_rng(0).permutation(rows)
    padded = sp.vstack([counts, sp.csr_array((1, 60), dtype=counts.dtype)], format="csr")
    return sp.csr_array(padded[rows]), rows


MODELS = [
    mt.TopicTree(4),
    mt.TopicTree(4, search="none"),
    mt.TopicTree(4, refine=None),
    mt.SingleTopicModel(4),
    mt.LatentDirichletAllocation(4),
]


def fitted(model, X, **options):
    return type(model)(**model.get_params()).fit(X, **options)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_they_change_nothing_and_are_in_no_topic(model, counts, with_empty, tmp_path):
    X, rows = with_empty
    alone, among = fitted(model, counts), fitted(model, X)
    expected = np.where(rows < 0, -1, alone.labels_[rows])
    np.testing.assert_array_equal(among.labels_, expected)
    np.testing.assert_array_equal(among.predict(X), expected)
    # Their probabilities are those of a document of which nothing is known.
    P = among.predict_proba(X[rows < 0])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    among.save(tmp_path / "model.mt")
    loaded = mt.load(tmp_path / "model.mt")
    np.testing.assert_array_equal(loaded.labels_, expected)
    np.testing.assert_array_equal(loaded.predict(X), expected)
    if isinstance(model, mt.TopicTree):
        assert [leaf.n_samples for leaf in among.leaves_] == [
            leaf.n_samples for leaf in alone.leaves_
        ]
        assert [leaf.weight for leaf in loaded.leaves_] == [leaf.weight for leaf in alone.leaves_]
        assert loaded.tree_.n_samples == N
        assert (among.cut(2).labels_ < 0).tolist() == (rows < 0).tolist()
    else:
        np.testing.assert_allclose(among.weights_, alone.weights_, rtol=1e-9)


@pytest.mark.parametrize("model", [mt.TopicTree(4), mt.SingleTopicModel(4)], ids=str)
def test_batches_leave_them_out(model, with_empty):
    X, rows = with_empty
    model = type(model)(4)
    for at in (slice(0, 500), slice(500, None)):
        model.partial_fit(X[at])
        assert (model.labels_ < 0).tolist() == (rows[at] < 0).tolist()


def test_rows_in_files_and_on_a_cluster_leave_them_out(with_empty):
    X, rows = with_empty
    found = [mt.TopicTree(4, search="none").fit(FileRows(X))]
    da = pytest.importorskip("dask.array")
    blocks = da.from_array(X.toarray(), chunks=(300, 60))
    found.append(mt.TopicTree(4, search="none").fit(blocks))
    for model in found:
        assert (model.labels_ < 0).tolist() == (rows < 0).tolist()
        assert sum(leaf.weight for leaf in model.leaves_) == pytest.approx(1.0)
    assert (np.asarray(found[1].predict(blocks)) < 0).tolist() == (rows < 0).tolist()


def texts_with_copies():
    """The smallest of three topics is that with most copies."""
    rng = np.random.default_rng(0)
    words = [
        [f"{letter}{word}" for word in ("oat", "ill", "ave", "ose", "ane")] for letter in "bhcr"
    ]
    texts = [
        " ".join(rng.choice(words[j], 14)) for j, n in enumerate((50, 40, 30)) for _ in range(n)
    ]
    copy = " ".join(words[2] + words[3] + ["lute", "harp", "oboe"])
    return texts + [copy] * 40


def test_copies_count_in_full_in_shares():
    texts = texts_with_copies()
    tree = mt.TopicTree(3).fit(texts)
    assert "copies_weighted" in [note.code for note in tree.notes_]
    sizes = np.bincount(tree.labels_)
    assert sizes.tolist() == sorted(sizes, reverse=True)
    assert sizes.max() > 60  # with the copies
    assert [leaf.weight for leaf in tree.leaves_] == [n / len(texts) for n in sizes]
    for node in tree.tree_.nodes():
        assert node.weight == node.n_samples / len(texts)
        sides = [child.n_samples for child in node.children]
        assert sides == sorted(sides, reverse=True)
    np.testing.assert_array_equal(tree.predict(texts), tree.labels_)
    assert np.bincount(tree.cut(2).labels_).sum() == len(texts)
    # The sums follow the leaves when learning goes on.
    before = tree.labels_
    np.testing.assert_array_equal(tree.partial_fit(texts).labels_, before)
    # Weights given by hand count in shares too.
    weighted = mt.TopicTree(3).fit(texts, sample_weight=np.where(before == 0, 0.1, 1.0))
    assert weighted.leaves_[0].n_samples < weighted.leaves_[-1].n_samples


def titles(seed):
    """Titles of about five words, half of them words of all twenty topics."""
    rng = np.random.default_rng(seed)
    common = 1 / np.arange(1, 601)
    common /= common.sum()
    topics = 0.5 * common + 0.5 * rng.dirichlet(np.full(600, 0.02), 20)
    labels = rng.choice(20, 4000, p=rng.dirichlet(np.ones(20)))
    return np.array([rng.multinomial(max(1, rng.poisson(5)), topics[j]) for j in labels])


@pytest.mark.long
def test_fewer_topics_than_asked_for_are_a_warning():
    X = titles(0)
    with pytest.warns(ConvergenceWarning) as caught:
        model = mt.SingleTopicModel(20).fit(X)
    assert [warning.message.code for warning in caught] == ["fewer_components"]
    k = len(model.weights_)
    assert caught[0].message.message.values["found"] == k < 20
    assert np.bincount(model.labels_, minlength=k).min() > 0
    with pytest.warns(ConvergenceWarning) as caught:
        tree = mt.TopicTree(20).fit(X)
    assert [warning.message.code for warning in caught] == ["fewer_leaves_found"]
    assert caught[0].message.message.values["found"] == tree.n_leaves_ < 20
    assert min(leaf.n_samples for leaf in tree.leaves_) > 0
