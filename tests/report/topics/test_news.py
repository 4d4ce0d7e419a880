"""Reports of real news: typical documents, and neighbors on the map."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from momentree import TopicTree
from momentree.preprocessing import tfidf
from momentree.readers import read_corpus
from momentree.report.topics.evidence import Evidence, place_documents, rank_documents

pytestmark = pytest.mark.long

# The least share of neighbors in the same topic: measured is 0.97.
PURITY = 0.95


@pytest.fixture(scope="module")
def news(shared_data):
    """The counts of a corpus and a tree of it."""
    corpus = read_corpus(shared_data / "bbc_news" / "docs.jsonl.gz")
    return sp.csr_array(corpus.X), TopicTree(8).fit(corpus.X)


def test_typical_documents_differ_and_represent_their_topic(news):
    X, tree = news
    root = tree.tree_
    evidence = Evidence.of(X, root.center)
    plain = rank_documents(X, evidence, root, tree.labels_, 0)
    typical = rank_documents(X, evidence, root, tree.labels_, 8).typical
    unit_rows = tfidf(X, np.ones(X.shape[0]))

    def measured(rows, leaf):
        among = (unit_rows[rows] @ unit_rows[rows].T).toarray()[np.triu_indices(len(rows), 1)]
        covers = (unit_rows[leaf.samples] @ unit_rows[rows].T).toarray().max(axis=1)
        return among.mean(), covers.mean()

    before, after = [], []
    for leaf in root.leaves():
        assert len(typical[leaf.node_id]) == 8
        before.append(measured(plain.leaves[leaf.leaf_id][:8], leaf))
        after.append(measured(typical[leaf.node_id], leaf))
    (same, covered), (same_now, covered_now) = np.mean(before, axis=0), np.mean(after, axis=0)
    # Half as similar to one another, and closer to the other documents of their topic.
    assert same_now < 0.6 * same
    assert covered_now > 1.15 * covered


def test_neighbors_on_the_map_share_their_topic(news):
    X, tree = news
    at, _ = place_documents(Evidence.of(X, tree.tree_.center), tree.tree_)
    near = NearestNeighbors(n_neighbors=11).fit(at).kneighbors(at, return_distance=False)[:, 1:]
    # Two principal components of the scores give 0.67.
    assert (tree.labels_[near] == tree.labels_[:, None]).mean() > PURITY
