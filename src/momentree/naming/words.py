"""Choose the words and phrases that name the nodes of a tree of topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.naming.forms import join_forms
from momentree.naming.phrases import Phrases
from momentree.naming.terms import choose_distinct, rank_terms

NAME_LAMBDA = 0.6
"""Lambda of the relevance of words in names."""

_CANDIDATES = 60
"""Number of words of each node whose inflections and phrases are examined."""
_TERMS = 24
"""Number of terms of each node from which its name is chosen."""


def choose_words(
    centers: Floats,
    parents: Sequence[int] | Ints,
    vocabulary: Sequence[str] | NDArray[Any],
    *,
    languages: Sequence[str] = ("en",),
    find: Callable[[dict[str, int]], Phrases] | None = None,
) -> list[list[str]]:
    """Choose up to three words or phrases for each node of a tree of topics.

    Inflections of a word count as one, whose probability is their sum; the name shows the most
    frequent. A phrase replaces a word that mostly occurs in it. Terms are ranked by
    :func:`rank_terms` with lambda = 0.6; no two nodes have the same ones, in any order, if the data
    allow it.

    Parameters
    ----------
    centers : ndarray of shape (n_nodes, n_features)
        Word distributions of the nodes, the root first and parents before their children.
    parents : sequence of int of shape (n_nodes,)
        Position of the parent of each node; that of the root is ignored.
    vocabulary : sequence of str of shape (n_features,)
        The words.
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
    >>> choose_words(centers, [0, 0, 0], ["game", "law", "games", "sea"])[1:]
    [['game', 'sea'], ['law', 'sea']]
    """
    words = np.array([str(word) for word in vocabulary], dtype=object)
    above = [centers[parent] if i else centers[0] for i, parent in enumerate(parents)]
    found = [
        rank_terms(center, centers[0], over, NAME_LAMBDA, words, _CANDIDATES)[0]
        for center, over in zip(centers, above, strict=True)
    ]
    columns = np.unique(np.concatenate(found))
    columns = columns[np.argsort(words[columns].astype(str), kind="stable")]
    if not len(columns):
        return [[] for _ in found]
    group = join_forms(words[columns].tolist(), languages)
    n_groups = int(group.max()) + 1
    joined = np.zeros((n_groups, len(centers)))
    np.add.at(joined, group, centers[:, columns].T)
    # The most frequent form; equally frequent ones in alphabetical order.
    frequent = np.lexsort((np.arange(len(columns)), -np.round(centers[0, columns], 15)))
    names = np.empty(n_groups, dtype=object)
    for j in frequent[::-1]:
        names[group[j]] = words[columns[j]]
    phrases = None
    if find is not None:
        phrases = find(dict(zip(words[columns].tolist(), group.tolist(), strict=True)))
    ranked, n_leading = [], []
    for i, parent in enumerate(parents):
        over = joined[:, parent if i else 0]
        order, leading = rank_terms(
            joined[:, i], joined[:, 0], over, NAME_LAMBDA, names, len(names)
        )
        order, leading = order[:_TERMS], min(leading, _TERMS)
        if phrases is None:
            terms = [str(names[j]) for j in order]
        else:
            terms, leading = phrases.replace(i, order.tolist(), leading, names)
        ranked.append(terms)
        n_leading.append(leading)
    return choose_distinct(ranked, n_leading)
