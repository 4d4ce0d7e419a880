"""Words and phrases that name the nodes of a tree of topics."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from momentree.naming import choose_words, find_phrases, join_forms, rank_terms

VOCABULARY = ["game", "games", "law", "laws", "tax", "vote", "sea", "ship"]


def centers(*rows):
    p = np.array(rows, dtype=float)
    return p / p.sum(axis=1, keepdims=True)


def names_of(p, parents, words, **options):
    """Return the names of nodes whose words are shown by relevance."""
    shown = [
        rank_terms(row, p[0], p[parent], 0.6, words, 60)[0]
        for row, parent in zip(p, parents, strict=True)
    ]
    return choose_words(p, parents, words, shown, **options)


def test_a_name_has_one_form_of_a_word_the_most_frequent_one():
    p = centers([2, 3, 1, 1, 1, 1, 1, 1], [4, 5, 1, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1, 1, 1])
    names = names_of(p, [0, 0, 0], VOCABULARY)
    assert names[1] == ["games"]  # all others are rarer than in the whole
    assert not any({"game", "games"} <= set(name) or "game" in name for name in names)


def test_words_are_in_the_order_in_which_they_are_shown():
    p = centers([2, 2, 3, 0, 1, 1, 1, 1], [4, 4, 5, 0, 1, 1, 1, 1])
    shown = [np.arange(3), np.array([2, 6, 1, 0, 7])]
    assert choose_words(p, [0, 0], VOCABULARY, shown)[1] == ["law", "game"]
    # "sea" is rarer than in the parent, and so are not "game" and "games".
    assert choose_words(p, [0, 0], VOCABULARY, shown, languages=())[1] == ["law", "games", "game"]


@st.composite
def trees(draw):
    """Counts of the leaves of a tree with two levels of splits, and the parent of each node."""
    leaves = draw(
        st.lists(
            st.lists(st.integers(0, 6), min_size=8, max_size=8).filter(any), min_size=4, max_size=4
        )
    )
    a, b, c, d = np.array(leaves, dtype=float)
    rows = [a + b + c + d, a + b, a, b, c + d, c, d]
    return centers(*rows), [0, 0, 1, 1, 0, 4, 4]


FEW_WORDS = centers([2, 3, 3], [1, 1, 1], [0, 1, 1], [1, 0, 0], [1, 2, 2], [1, 1, 1], [0, 1, 1])


@given(trees())
@example((FEW_WORDS @ np.eye(8)[[1, 3, 7]], [0, 0, 1, 1, 0, 4, 4]))
def test_no_two_nodes_have_the_same_words_if_the_data_allow_it(tree):
    p, parents = tree
    names = [set(name) for name in names_of(p, parents, VOCABULARY)]
    groups = join_forms(VOCABULARY)
    joined = np.stack([np.bincount(groups, weights=row) for row in p])
    for i, j in [(0, 1), (0, 4), (1, 2), (1, 3), (4, 5), (4, 6), (1, 4), (2, 3), (5, 6)]:
        # Equal topics have equal words; a topic of a single word may have no other name.
        few = min(np.count_nonzero(joined[i]), np.count_nonzero(joined[j])) < 3
        if names[i] == names[j]:
            assert few or np.allclose(joined[i], joined[j])


@given(trees(), st.permutations(range(8)))
def test_the_order_of_columns_has_no_effect(tree, order):
    p, parents = tree
    shuffled = [VOCABULARY[j] for j in order]
    assert names_of(p[:, order], parents, shuffled) == names_of(p, parents, VOCABULARY)


def test_names_use_words_that_are_more_frequent_than_in_the_parent():
    p = centers([3, 0, 3, 0, 1, 1, 1, 1], [7, 0, 1, 0, 2, 0, 0, 0], [0, 0, 5, 0, 0, 1, 2, 2])
    assert names_of(p, [0, 0, 0], VOCABULARY)[1:] == [["game", "tax"], ["law", "sea", "ship"]]


TEXTS = (
    ["Climate change is here.", "The climate change report", "a climate\nchange; oceans"] * 3
    + ["Small change in the ocean, climate"] * 2
    + ["Tax law, and the tax. Vote on the law"] * 6
)


def phrases_of(texts, labels=None, words=("climate", "change", "changes", "tax", "law", "ocean")):
    labels = np.array([0] * 11 + [1] * 6) if labels is None else labels
    term_of = dict(zip(words, join_forms(list(words)).tolist(), strict=True))
    split = lambda text: text.lower().replace(".", " ").replace(",", " ").replace(";", " ").split()  # noqa: E731
    return find_phrases(texts, labels, [[0, 1], [0], [1]], split, term_of)


def test_a_phrase_has_nothing_but_white_space_between_its_words():
    found = phrases_of(TEXTS)
    assert found.texts == ["climate change", "tax law"]
    assert found.in_nodes.tolist() == [[9, 6], [9, 0], [0, 6]]


def test_the_order_of_documents_has_no_effect_on_phrases():
    order = np.random.default_rng(0).permutation(len(TEXTS))
    labels = np.array([0] * 11 + [1] * 6)
    one, other = phrases_of(TEXTS), phrases_of([TEXTS[i] for i in order], labels[order])
    assert one.texts == other.texts
    np.testing.assert_array_equal(one.in_nodes, other.in_nodes)


def test_phrases_in_a_sample_of_many_documents(monkeypatch):
    monkeypatch.setattr("momentree.naming.phrases.MAX_DOCUMENTS", 12)
    texts = [f"{text} {i}" for i, text in enumerate(TEXTS)]
    labels = np.array([0] * 11 + [1] * 6)
    found = phrases_of(texts, labels)
    assert "tax law" in found.texts
    assert found.in_nodes.max() <= 6  # half of the sample from each leaf
    order = np.random.default_rng(1).permutation(len(texts))
    again = phrases_of([texts[i] for i in order], labels[order])
    np.testing.assert_array_equal(found.in_nodes, again.in_nodes)


def test_scripts_without_blanks_have_phrases_without_blanks():
    term_of = {"气候": 0, "变化": 1}
    split = lambda text: [text[:2], text[2:]]  # noqa: E731
    found = find_phrases(["气候变化"] * 6, np.zeros(6, dtype=int), [[0]], split, term_of)
    assert found.texts == ["气候变化"]


def test_copies_form_no_phrase():
    term_of = {"tax": 0, "law": 1}
    labels, weights = np.zeros(20, dtype=int), np.full(20, 0.05)
    arguments = ["tax law"] * 20, labels, [[0]], str.split, term_of
    assert find_phrases(*arguments).texts == ["tax law"]
    assert find_phrases(*arguments, weights).texts == []


def test_a_phrase_replaces_both_words():
    p = centers([3, 3, 2, 2, 1], [6, 5, 0, 0, 1], [0, 0, 5, 4, 2])
    words = ["climate", "change", "tax", "law", "ocean"]

    def find(term_of):
        split = lambda text: text.lower().replace(",", " ").split()  # noqa: E731
        labels = np.array([0] * 11 + [1] * 6)
        return find_phrases(TEXTS, labels, [[0, 1], [0], [1]], split, term_of)

    names = names_of(p, [0, 0, 0], words, find=find)
    assert names[1:] == [["climate change"], ["tax law", "ocean"]]


def test_no_words():
    assert names_of(np.zeros((1, 2)), [0], ["a", "b"]) == [[]]
