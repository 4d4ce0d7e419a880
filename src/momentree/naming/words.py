"""Choose the words and phrases that name the nodes of a tree of topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.core.ties import largest_first
from momentree.naming.forms import join_forms
from momentree.naming.phrases import Phrases
from momentree.naming.terms import choose_distinct, common_last


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
