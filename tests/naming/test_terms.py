"""Terms are ranked by relevance, those of siblings last, and no two nodes have the same ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.metrics import relevance
from momentree.naming import NAME_TERMS, choose_distinct, rank_terms

WORDS = np.array(["a", "b", "c", "d", "e", "f"], dtype=object)


@st.composite
def distributions(draw, n=3, d=6):
    """Word distributions of n nodes; small whole numbers, so that many are equal."""
    rows = draw(
        st.lists(st.lists(st.integers(0, 4), min_size=d, max_size=d), min_size=n, max_size=n)
    )
    counts = np.array(rows, dtype=float) + np.eye(n, d)
    return counts / counts.sum(axis=1, keepdims=True)


def test_below_the_root_the_order_is_that_of_relevance():
    center, base = np.array([0.3, 0.3, 0.2, 0.2]), np.array([0.1, 0.2, 0.1, 0.6])
    order, n_leading = rank_terms(center, base, base, 0.6, WORDS[:4], 9)
    assert order.tolist() == np.argsort(-relevance(center[None], base, 0.6)[0]).tolist()
    assert n_leading == 3


def test_words_of_a_sibling_come_last():
    # "a" is more frequent here than in the corpus, but less so than in the parent.
    base, above = np.array([0.2, 0.2, 0.6]), np.array([0.7, 0.2, 0.1])
    order, n_leading = rank_terms(np.array([0.6, 0.25, 0.15]), base, above, 0.6, WORDS[:3], 9)
    assert order.tolist() == [1, 2, 0]
    assert n_leading == 2


@settings(deadline=None)
@given(distributions())
def test_names_of_columns_break_ties_and_their_order_has_no_effect(p):
    center, base, above = p
    base = above = (center + base + above) / 3
    order, n_leading = rank_terms(center, base, above, 0.6, WORDS, 9)
    to = np.array([3, 1, 5, 0, 2, 4])
    permuted, again = rank_terms(center[to], base[to], above[to], 0.6, WORDS[to], 9)
    assert [WORDS[to][j] for j in permuted] == [WORDS[j] for j in order]
    assert n_leading == again


@settings(deadline=None)
@given(distributions(), st.integers(1, 6))
def test_a_limit_cuts_the_ranking(p, limit):
    base = p.mean(axis=0)
    order, n_leading = rank_terms(p[0], base, base, 0.6, WORDS, 9)
    first, leading = rank_terms(p[0], base, base, 0.6, WORDS, limit)
    assert first.tolist() == order[:limit].tolist()
    assert leading == min(limit, n_leading)


def test_a_feature_that_never_occurs_is_no_term():
    order, _ = rank_terms(np.zeros(3), np.ones(3) / 3, np.ones(3) / 3, 0.6, WORDS[:3], 9)
    assert order.tolist() == []
    assert choose_distinct([[], []], [0, 0]) == [[], []]


@pytest.mark.parametrize(
    ("ranked", "leading", "expected"),
    [
        # The last term is replaced by the next leading one ...
        (["abcd", "bacd"], [4, 4], ["abc", "bad"]),
        # ... or one more is added, rather than one that is rarer than in the parent;
        (["ab", "abc"], [2, 2], ["ab", "abc"]),
        # ... or one fewer is used;
        (["abc", "cba"], [3, 3], ["abc", "cb"]),
        # ... and only then a rarer one.
        (["a", "b", "ab", "abc"], [1, 1, 2, 1], ["a", "b", "ab", "abc"]),
    ],
)
def test_the_same_terms_are_avoided(ranked, leading, expected):
    names = choose_distinct(["z", *ranked], [1, *leading])
    assert list(map("".join, names)) == ["z", *expected]


def test_the_root_comes_last():
    assert choose_distinct(["abcd", "bacd"], [4, 4]) == [["a", "b", "d"], ["b", "a", "c"]]


@settings(deadline=None)
@given(
    st.lists(
        st.permutations("abcdef").flatmap(
            lambda p: st.integers(1, 6).map(lambda n: (p[:n], max(1, n - 2)))
        ),
        min_size=1,
        max_size=6,
    )
)
def test_names_differ_whenever_that_is_possible(nodes):
    ranked, leading = zip(*nodes, strict=True)
    names = choose_distinct(ranked, leading)
    used = []
    chosen = [*zip(ranked, names, strict=True)]
    for terms, name in [*chosen[1:], chosen[0]]:  # the root comes last
        assert 1 <= len(name) <= NAME_TERMS
        assert set(name) <= set(terms)
        assert len(set(name)) == len(name)
        if set(name) in used:  # then so are all beginnings of its terms
            assert all(set(terms[:k]) in used for k in range(1, min(3, len(terms)) + 1))
        used.append(set(name))
