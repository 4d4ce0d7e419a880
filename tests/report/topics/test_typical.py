"""Typical documents represent their node and differ from one another."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.preprocessing import tfidf
from momentree.report.topics.evidence import Evidence, rank_documents, representative

SAME, COPY = 0.5, 0.8


def ranking_of(case, n_documents, X=None):
    X = case.X if X is None else sp.csr_array(X)
    root = case.estimator.tree_
    return rank_documents(X, Evidence.of(X, root.center), root, case.estimator.labels_, n_documents)


def literal_score(x, center, base, shrink):
    """The score of the docstring, one word at a time."""
    top, mass = 0.0, 0.0
    for w in range(len(x)):
        y = np.log(1.0 + x[w])
        mass += y
        if x[w]:
            top += y * np.log(0.99 * center[w] / base[w] + 0.01)
    return top / (mass + shrink)


def literal_choice(ranked, unit_rows, limit):
    """Greedy coverage, one document at a time; for at most a hundred documents."""
    rows = unit_rows.toarray()[ranked].astype(np.float64)
    cosine = rows @ rows.T
    for most in (SAME, COPY):
        candidates = []
        for i in range(max(limit, len(ranked) // 2)):
            if all(cosine[i, j] <= most for j in candidates):
                candidates.append(i)
        if len(candidates) >= limit:
            break
    chosen = []
    while len(chosen) < min(limit, len(candidates)):
        left = [c for c in candidates if c not in chosen]
        value = [
            round(sum(max(cosine[i, [*chosen, c]].tolist()) for i in range(len(rows))), 6)
            for c in left
        ]
        chosen.append(left[int(np.argmax(value))])
    return [int(ranked[c]) for c in chosen]


def test_documents_are_ranked_by_the_literal_score(case):
    root, dense = case.estimator.tree_, case.X.toarray()
    shrink = np.median(np.log1p(dense).sum(axis=1))
    ranking = ranking_of(case, 0)
    for leaf in root.leaves():
        rows = leaf.samples
        score = [literal_score(dense[i], leaf.center, root.center, shrink) for i in rows]
        order = sorted(range(len(rows)), key=lambda j: (-round(score[j], 12), rows[j]))
        assert ranking.leaves[leaf.leaf_id].tolist() == [rows[j] for j in order]


def test_typical_documents_are_the_literal_choice(case):
    unit_rows = tfidf(case.X, np.ones(case.X.shape[0]))
    ranked, ranking = ranking_of(case, 0), ranking_of(case, 5)
    for leaf in case.estimator.tree_.leaves():
        order = ranked.leaves[leaf.leaf_id]
        expected = literal_choice(order, unit_rows, 5)
        assert ranking.typical[leaf.node_id].tolist() == expected
        others = [int(row) for row in order if row not in expected]
        assert ranking.leaves[leaf.leaf_id].tolist() == expected + others


def test_the_root_shows_one_document_of_each_leaf_in_turn(case):
    typical = ranking_of(case, 6).typical
    assert sorted(case.estimator.labels_[typical[0]][:4]) == [0, 1, 2, 3]
    assert len(typical[0]) == 6


def test_a_short_or_repetitive_document_does_not_win(case):
    X = sp.lil_array(case.X)
    leaf = next(case.estimator.tree_.leaves())
    typical_word = int(np.argmax(leaf.center / case.estimator.tree_.center))
    rows = leaf.samples
    X[rows[0]], X[rows[1]] = 0, 0
    X[rows[0], typical_word] = 1  # one characteristic word
    X[rows[1], typical_word] = 500  # the same word over and over
    typical = ranking_of(case, 3, X).typical
    assert not {rows[0], rows[1]} & set(typical[leaf.node_id].tolist())


def test_documents_without_words_are_not_typical(case):
    ranking = ranking_of(case, 3, case.X * 0)
    assert all(len(rows) == 0 for rows in ranking.typical)
    assert sum(map(len, ranking.leaves.values())) == len(case.ids)


def planted(rng, n_events, copies, n_others, d=400):
    """Events with many near-copies each, and other documents; returns tf-idf and event numbers."""
    event = np.repeat(np.arange(n_events), copies)
    own = rng.integers(1, 4, (n_events, d)) * (rng.random((n_events, d)) < 0.1)
    X = np.vstack(
        [own[event], rng.integers(1, 4, (n_others, d)) * (rng.random((n_others, d)) < 0.1)]
    )
    X[np.arange(len(X)), rng.integers(0, d, len(X))] += 1  # a word of each document's own
    of = np.append(event, n_events + np.arange(n_others))
    return tfidf(sp.csr_array(X), np.ones(len(X))), of


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n_events=st.integers(1, 4),
    copies=st.integers(2, 60),
    n_others=st.integers(0, 60),
    limit=st.integers(1, 8),
)
def test_many_reports_on_one_event_count_as_one(seed, n_events, copies, n_others, limit):
    rng = np.random.default_rng(seed)
    unit_rows, of = planted(rng, n_events, copies, n_others)
    # The copies rank first.
    chosen = representative(np.arange(len(of)), unit_rows, limit)
    assert 1 <= len(chosen) <= limit
    assert len(set(of[chosen].tolist())) == len(chosen)
    cosine = (unit_rows[chosen] @ unit_rows[chosen].T).toarray()
    assert (np.triu(cosine, 1) <= COPY).all()
    # Any order of the rows gives the same documents.
    order = rng.permutation(len(of))
    place = np.argsort(order)
    again = representative(place, unit_rows[order], limit)
    assert order[again].tolist() == chosen.tolist()
