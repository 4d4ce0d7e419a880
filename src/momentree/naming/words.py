"""Choose the words, phrases and features that name nodes, with inflections of a word joined."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.core.ties import largest_first, ranks
from momentree.naming.phrases import Phrases

STEMMERS = {
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hu": "hungarian",
    "hy": "armenian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
"""The stemmer of Snowball for each language that has one."""

_SHORTEST = 3
"""Shorter stems say too little: "us" and "use" are different words."""


def join_forms(words: Sequence[str], languages: Iterable[str] = ("en",)) -> Ints:
    """Return the group of each word: words with the same stem are forms of one word.

    Parameters
    ----------
    words : sequence of str
        Words in any case, all different.
    languages : iterable of str, default=("en",)
        ISO 639-1 codes. Words are stemmed in one language after another; languages without a
        stemmer are skipped, so that only upper and lower case are joined.

    Returns
    -------
    ndarray of int of shape (n_words,)
        Group numbers from 0, in the order of the stems.

    Examples
    --------
    >>> from momentree.naming import join_forms
    >>> join_forms(["game", "games", "gaming", "law"]).tolist()
    [0, 0, 0, 1]
    >>> join_forms(["cheval", "chevaux", "loi"], ["fr"]).tolist()
    [0, 0, 1]
    """
    stems = [word.lower() for word in words]
    for language in languages:
        stems = [_stem(word, language) for word in stems]
    return np.unique(np.array(stems, dtype=str), return_inverse=True)[1].astype(np.intp)


@lru_cache(1 << 16)
def _stem(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    stem: str = stemmer.stemWord(word) if stemmer is not None and word.isalpha() else word
    return stem if len(stem) >= _SHORTEST else word


@cache
def _stemmer(language: str) -> Any | None:
    name = STEMMERS.get(language.lower().replace("_", "-").partition("-")[0])
    if name is None:
        return None
    # Loaded when needed, because the package loads every language at once.
    return import_module("snowballstemmer").stemmer(name)


NAME_TERMS = 3
"""Maximum number of words, phrases or codes in a name."""


def rank_terms(
    center: Floats,
    base: Floats,
    above: Floats,
    lam: float,
    names: Sequence[str] | NDArray[Any],
    limit: int,
) -> tuple[Ints, int]:
    """Rank the features of a node by how well they describe it and set it apart.

        r(w) = log p(w) - (1 - lam)/2 (log p_all(w) + log p_above(w))

    This is the relevance of a word, with the mean of its logarithms in the corpus and in the parent
    in place of the corpus alone. Features that are rarer in the node than in its parent, and so
    describe a sibling, come last.

    Parameters
    ----------
    center, base, above : ndarray of shape (n_features,)
        Profiles, >= 0, of the node, of all samples and of the parent node.
    lam : float in [0, 1]
        1 ranks by frequency, 0 by lift.
    names : sequence of str of shape (n_features,)
        Names, which break ties.
    limit : int
        Maximum number of features to return.

    Returns
    -------
    order : ndarray of int
        Columns, best first, of features with positive frequencies.
    n_leading : int
        Number of these that are at least as frequent as in the parent, or, if there are none,
        of all.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.naming import rank_terms
    >>> center, base = np.array([0.1, 0.5, 0.4]), np.array([0.4, 0.4, 0.2])
    >>> rank_terms(center, base, base, 0.6, ["law", "said", "sea"], 10)
    (array([2, 1, 0]), 2)
    """
    present = np.flatnonzero((center > 0) & (base > 0) & (above > 0))
    p = center[present]
    value = np.log(p) - (1.0 - lam) / 2 * (np.log(base[present]) + np.log(above[present]))
    rank_of = ranks(value)
    tier = _tiers(p, base[present], above[present])
    if len(present) > limit:  # strings are slow to sort
        rank = np.lexsort((rank_of, tier))
        last = rank[limit - 1]
        kept = np.flatnonzero(
            (tier < tier[last]) | ((tier == tier[last]) & (rank_of <= rank_of[last]))
        )
    else:
        kept = np.arange(len(present))
    by_name = np.array([str(names[j]) for j in present[kept]], dtype=str)
    rank = kept[np.lexsort((by_name, rank_of[kept], tier[kept]))][:limit]
    n_leading = int(np.count_nonzero(tier[rank] < 2))
    return present[rank], n_leading or len(rank)


def common_last(
    order: Sequence[int], center: Floats, base: Floats, above: Floats
) -> tuple[list[int], int]:
    """Put features last that are rarer in a node than in its parent, or than in all samples.

    Parameters
    ----------
    order : sequence of int
        Columns, best first.
    center, base, above : ndarray of shape (n_features,)
        Profiles, >= 0, of the node, of all samples and of the parent node.

    Returns
    -------
    order : list of int
        The columns, otherwise in the same order.
    n_leading : int
        Number of these that are at least as frequent as in the parent, or, if there are none,
        of all.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.naming import common_last
    >>> center, base = np.array([0.1, 0.5, 0.4]), np.array([0.4, 0.4, 0.2])
    >>> common_last([0, 1, 2], center, base, base)
    ([1, 2, 0], 2)
    """
    columns = np.asarray(order, dtype=np.intp)
    tier = _tiers(center[columns], base[columns], above[columns])
    n_leading = int(np.count_nonzero(tier < 2))
    return columns[np.argsort(tier, kind="stable")].tolist(), n_leading or len(columns)


def _tiers(center: Floats, base: Floats, above: Floats) -> Ints:
    """Return 0 for features that describe a node, 1 for its parent, 2 for a sibling."""
    # A frequency is compared without its rounding error, which depends on the order of sums.
    apart = center >= above * (1.0 - 1e-9)
    known = apart & (center >= base * (1.0 - 1e-9))
    return np.where(known, 0, np.where(apart, 1, 2))


def choose_distinct(
    ranked: Sequence[Sequence[str]], n_leading: Sequence[int], n_terms: int = NAME_TERMS
) -> list[list[str]]:
    """Choose the terms of all nodes such that no two nodes have the same ones.

    A node gets its first `n_terms` leading terms. If an earlier node has the same ones, in any
    order, then the last one is replaced by the next leading one, or else other terms are added,
    or else fewer are taken, or else any of the first ``2 * n_terms``. The first node, the root,
    comes last: pages call it "All documents".

    Parameters
    ----------
    ranked : sequence of sequence of str
        Terms of each node, best first; the root first, and parents before their children.
    n_leading : sequence of int
        Number of leading terms of each node.
    n_terms : int, default=3
        Maximum number of terms in a name.

    Returns
    -------
    list of list of str
        The terms of each node. Two nodes have the same ones only if all of these attempts fail.

    Examples
    --------
    >>> from momentree.naming import choose_distinct
    >>> choose_distinct([["a"], ["war", "tax", "law"], ["tax", "war", "law", "oil"]], [1, 3, 4])
    [['a'], ['war', 'tax', 'law'], ['tax', 'war', 'oil']]
    """
    used: set[frozenset[str]] = set()
    names: list[list[str]] = [[] for _ in ranked]
    for i in (*range(1, len(ranked)), 0):
        terms, leading = ranked[i], n_leading[i]
        n = min(n_terms, leading)
        choices = _choices(terms, leading, n, n_terms)
        chosen = next((c for c in choices if c and frozenset(c) not in used), list(terms[:n]))
        used.add(frozenset(chosen))
        names[i] = chosen
    return names


def _choices(terms: Sequence[str], leading: int, n: int, most: int) -> Iterator[list[str]]:
    firsts = [terms[:n], *([*terms[: n - 1], last] for last in terms[n:leading])]
    firsts += [terms[:k] for k in (*range(n + 1, most + 1), *range(n - 1, 0, -1))]
    yield from map(list, firsts)
    for last in terms[n:]:
        yield [*terms[: n - 1], last]
    for k in range(most, 0, -1):
        yield from map(list, combinations(terms[: 2 * most], k))


def choose_words(
    centers: Floats,
    parents: Sequence[int] | Ints,
    vocabulary: Sequence[str] | NDArray[Any],
    shown: Sequence[Ints],
    *,
    languages: Sequence[str] = ("en",),
    find: Callable[[dict[str, int]], Phrases] | None = None,
) -> list[list[str]]:
    """Choose up to three words or phrases for each node of a tree of topics.

    They are the first of the words that are shown for a node. Of the inflections of a word, the
    name has the most frequent. A phrase replaces words that mostly occur in it. Words that are
    rarer in the node than in its parent, or than in all documents, come last. No two nodes have the
    same terms, in any order, if the data allow it.

    Parameters
    ----------
    centers : ndarray of shape (n_nodes, n_features)
        Word distributions of the nodes, the root first and parents before their children.
    parents : sequence of int of shape (n_nodes,)
        Position of the parent of each node; that of the root is ignored.
    vocabulary : sequence of str of shape (n_features,)
        The words.
    shown : sequence of ndarray of int
        Columns of the words that are shown for each node, best first.
    languages : sequence of str, default=("en",)
        Languages of the words; see :func:`join_forms`.
    find : callable, default=None
        Given the number of the term of each word that may be in a name, counts phrases in the
        texts; see :func:`find_phrases`. None leaves out phrases.

    Returns
    -------
    list of list of str
        Words and phrases of each node, best first.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.naming import choose_words
    >>> centers = np.array([[4, 4, 1, 1], [7, 1, 1, 1], [1, 7, 1, 1]]) / 10
    >>> shown = [np.array(order) for order in ([0, 1, 2], [0, 2, 1, 3], [1, 0, 3])]
    >>> choose_words(centers, [0, 0, 0], ["game", "law", "games", "sea"], shown)[1:]
    [['game', 'sea'], ['law', 'sea']]
    """
    words = np.array([str(word) for word in vocabulary], dtype=object)
    columns = np.unique(np.concatenate([*shown, np.empty(0, dtype=np.intp)]))
    columns = columns[np.argsort(words[columns].astype(str), kind="stable")]
    if not len(columns):
        return [[] for _ in shown]
    group = join_forms(words[columns].tolist(), languages)
    n_groups = int(group.max()) + 1
    joined = np.zeros((n_groups, len(centers)))
    np.add.at(joined, group, centers[:, columns].T)
    # The most frequent form; equally frequent ones in alphabetical order.
    frequent = largest_first(centers[0, columns])
    names = np.empty(n_groups, dtype=object)
    for j in frequent[::-1]:
        names[group[j]] = words[columns[j]]
    group_of = dict(zip(columns.tolist(), group.tolist(), strict=True))
    phrases = None
    if find is not None:
        phrases = find(dict(zip(words[columns].tolist(), group.tolist(), strict=True)))
    ranked, n_leading = [], []
    for i, parent in enumerate(parents):
        in_order = list(dict.fromkeys(group_of[j] for j in shown[i].tolist()))
        here, over = joined[:, i], joined[:, parent if i else 0]
        order, leading = common_last(in_order, here, joined[:, 0], over)
        if phrases is None:
            terms = [str(names[j]) for j in order]
        else:
            terms, leading = phrases.replace(i, order, leading, names)
        ranked.append(terms)
        n_leading.append(leading)
    return choose_distinct(ranked, n_leading)
