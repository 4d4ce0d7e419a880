"""The names of the groups of an estimator: chosen from words and texts, or given by hand."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from momentree import naming
from momentree._types import Floats, Ints
from momentree._validation import check_feature_names, check_integer
from momentree.core.ties import SAME, ranks
from momentree.estimators.node import TreeNode
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import wording
from momentree.metrics import relevance
from momentree.metrics.words import relevance_order
from momentree.persistence import fields

if TYPE_CHECKING:
    from momentree.readers import Corpus

E = TypeVar("E")

FIELDS: fields.Fields = {
    "_given_names": fields.ANYTHING.optional,  # checked with the groups
    "_names": fields.list_of(str, "k").optional,
    "_languages": fields.list_of(str).optional,
}
"""Attributes of estimators whose groups have names."""


def _names(self: Any) -> list[str]:
    """Name of each leaf or component, by number."""
    check_is_fitted(self, "labels_")
    return [leaf.name for leaf in _by_number(self._copied_root())]


def _given(self: Any) -> dict[str, str]:
    """Names given by :meth:`rename`, by number: "3", or "0-3" for the node above leaves 0-3."""
    check_is_fitted(self, "vocabulary_")
    return dict(self._given_names or {})


def _used_languages(self: Any) -> tuple[str, ...]:
    """Languages whose inflections the names join; English before :meth:`name_topics`."""
    check_is_fitted(self, "vocabulary_")
    return ("en",) if self._languages is None else tuple(self._languages)


names_: property = property(_names)
given_names_: property = property(_given)
languages_: property = property(_used_languages)


def _by_number(root: TreeNode) -> list[TreeNode]:
    return sorted(root.leaves(), key=lambda leaf: leaf.leaf_id or 0)


def root_of_components(self: Any) -> TreeNode:
    """Return the components of a flat model as a tree of one level, with their names."""
    root: TreeNode = self._unnamed_root()
    if self._names is None:
        self._name(root)
    else:
        for leaf in root.leaves():
            leaf.name = self._names[leaf.leaf_id or 0]
    return root


def set_component_names(self: Any, root: TreeNode) -> None:
    """Replace the names of the components of a flat model by those of its tree of one level."""
    self._names = [leaf.name for leaf in _by_number(root)]


def rename(self: E, names: Mapping[int, str] | Mapping[str, str] | int, name: str = "") -> E:
    """Give names to groups.

    Tables, figures, the report and a saved file show them in place of the names that were
    chosen from words or codes.

    Parameters
    ----------
    names : mapping of int or str to str, or int
        Name by number of a leaf or component; "0-3" is the inner node above leaves 0 to 3.
        Or the number of one.
    name : str, default=""
        The name, if `names` is a number.

    Returns
    -------
    estimator
        A new fitted estimator with these names; this one is unchanged. :meth:`fit` discards
        them; ``split_group`` and ``merge_groups`` keep those of all other groups.

    Raises
    ------
    InvalidParameterError
        If a number does not exist; if a name is empty, longer than 120 characters or contains
        control characters; if two groups get the same name.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import TopicTree
    >>> X = np.repeat(np.kron(np.eye(2), np.ones(5)), [30, 20], axis=0)
    >>> tree = TopicTree(2).fit(X).rename(0, "Trade")
    >>> tree.names_[0], tree.rename({1: "Sport"}).names_
    ('Trade', ['Trade', 'Sport'])
    """
    check_is_fitted(self, "labels_")
    out: Any = copy.copy(self)
    root = out._copied_root()
    nodes = nodes_by_number(root)
    given = naming.check_names({names: name} if isinstance(names, Integral) else names, nodes)
    out._given_names = naming.check_names({**(out._given_names or {}), **given}, nodes)
    for key, text in out._given_names.items():
        nodes[key].name = text
    out._set_names(root)
    return out  # type: ignore[no-any-return]


def top_words(self: Any, n_words: int = 10, *, lam: float | None = None) -> list[list[str]]:
    """Return the words or codes of each component or leaf that describe it best.

    By default, these are the words that reports show: they occur in many documents of a topic
    and few others, and together; see :func:`momentree.naming.choose_shown_words`. Codes are
    ranked by relevance with lambda = 0.7, and words by a given lambda:

        lam log P[w | j] + (1 - lam) log (P[w | j] / P[w])     (S section 4.3, T eq. 4.12)

    Parameters
    ----------
    n_words : int >= 0, default=10
        Maximum number of words per component or leaf.
    lam : float in [0, 1] or None, default=None
        1 ranks words by probability, 0 by lift; None as reports do.

    Returns
    -------
    list of list of str
        Column names, best first, one list per component or leaf.
    """
    check_is_fitted(self, "labels_")
    check_integer("n_words", n_words, at_least=0)
    root = self._unnamed_root()
    leaves = _by_number(root)
    if lam is None:
        order = [show_words(leaf, root.center, n_words) for leaf in leaves]
        return [[str(self.vocabulary_[w]) for w in row] for row in order]
    P = np.array([leaf.center for leaf in leaves])
    values = relevance(P, np.array([leaf.weight for leaf in leaves]) @ P, lam)
    best = np.argsort(ranks(values), axis=1, kind="stable")[:, :n_words]
    return [
        [str(self.vocabulary_[w]) for w in row if p[w] > 0] for row, p in zip(best, P, strict=True)
    ]


def keep_names(after: Any, before: Any) -> None:
    """After an edit, keep names given by hand of all groups with the same samples as before."""
    after._given_names = after._names = None
    given = before._given_names
    if not given:
        return
    old = nodes_by_number(before._copied_root())
    root = after._copied_root()
    kept = {}
    for key, node in nodes_by_number(root).items():
        same = (k for k in given if k in old and _same(old[k].samples, node.samples))
        if (found := next(same, None)) is not None:
            node.name = kept[key] = given[found]
    if kept:
        after._given_names = kept
        after._set_names(root)


def check_given_names(estimator: Any) -> None:
    """Raise an error if names that were given by hand, in a file, do not match the groups."""
    given: Any = estimator._given_names
    if given is None:
        return
    try:
        checked = naming.check_names(given, nodes_by_number(estimator._copied_root()))
    except InvalidParameterError as error:
        raise InvalidDataError(wording.BAD_ENTRY, name="_given_names", value=given) from error
    if checked != given:
        raise InvalidDataError(wording.BAD_ENTRY, name="_given_names", value=given)


def name_topics(
    self: E,
    corpus: Corpus | None = None,
    *,
    language: str | Sequence[str] | None = None,
    feature_names: Sequence[str] | NDArray[Any] | None = None,
) -> E:
    """Choose the names anew, from the texts of the corpus and with regard to its language.

    A ``fit`` to counts knows only words, and joins inflections by English rules. With the
    texts, names also have phrases of two words ("climate change"), and with the language, its
    inflections are joined. A ``fit`` to texts or to a corpus does this by itself.

    Parameters
    ----------
    corpus : Corpus, default=None
        The corpus whose counts were used in ``fit``, in the same order.
    language : str, sequence of str or None, default=None
        ISO 639-1 code of the language, or several, also as "en,fr". None means that of
        ``corpus.vectorizer``, or English for a corpus without texts.
    feature_names : sequence of str of shape (n_features,), default=None
        In place of a corpus: the words of the columns, which ``fit`` did not know, as in a
        pipeline, ``pipeline[-1].name_topics(feature_names=\
pipeline[:-1].get_feature_names_out())``.

    Returns
    -------
    estimator
        A new fitted estimator with these names, and with those given by :meth:`rename`; this
        one is unchanged.

    Raises
    ------
    InvalidDataError
        If it is not a corpus, or does not have the documents and words of ``fit``; or if the
        number of names is wrong.
    InvalidParameterError
        If there are both a corpus and names.

    Examples
    --------
    >>> from momentree import TopicTree
    >>> from momentree.datasets import vectorize
    >>> texts = ["Climate change is real", "A climate change report", "Trade law"]
    >>> corpus = vectorize(texts * 5, min_df=1, max_df=1.0)
    >>> tree = TopicTree(2).fit(corpus.X, feature_names=corpus.vocabulary)
    >>> sorted(tree.name_topics(corpus).names_)
    ['climate change, real, report', 'trade law']
    """
    check_is_fitted(self, "labels_")
    out: Any = copy.copy(self)
    if feature_names is not None:
        if corpus is not None:
            raise InvalidParameterError(
                "[names_and_corpus] {parameters.feature_names} is given with a corpus, which has "
                "the names of its columns; leave one out"
            )
        out.vocabulary_ = check_feature_names(feature_names, len(out.vocabulary_))
        out.notes_ = [note for note in out.notes_ if note.code != "columns_without_names"]
    elif corpus is None or not (hasattr(corpus, "vocabulary") and hasattr(corpus, "texts")):
        raise InvalidDataError(
            "[not_a_corpus] corpus is a {type}; expected a Corpus, such as that of read_corpus or "
            "vectorize, or feature_names",
            type=type(corpus).__name__,
        )
    elif len(corpus) != len(out.labels_) or list(corpus.vocabulary) != list(out.vocabulary_):
        raise InvalidDataError(
            "[corpus_not_of_fit] the corpus has {n_rows:~document} and other documents or words "
            "than those of the fit; pass the corpus whose counts were used in fit",
            n_rows=len(corpus),
        )
    choose_topic_names(out, corpus, _languages(corpus, language))
    return out  # type: ignore[no-any-return]


def choose_topic_names(
    estimator: Any, corpus: Corpus | None, languages: list[str] | None = None
) -> None:
    """Choose and set names from the texts of a corpus, or from words; given names remain."""
    root = estimator._copied_root()
    nodes = list(root.nodes())
    find = None
    if corpus is not None and corpus.texts is not None and corpus.vectorizer is not None:
        find = partial(
            naming.find_phrases,
            corpus.texts,
            estimator.labels_,
            [[leaf.leaf_id or 0 for leaf in node.leaves()] for node in nodes],
            corpus.vectorizer.splitter(),
            weights=corpus.weights,
        )
    languages = _languages(corpus, None) if languages is None else languages
    name_by_words(root, estimator.vocabulary_, languages=languages, find=find)
    by_number = nodes_by_number(root)
    for key, text in (estimator._given_names or {}).items():
        by_number[key].name = text
    estimator._languages = languages
    estimator._set_names(root)


def _same(one: Ints, other: Ints) -> bool:
    return len(one) > 0 and np.array_equal(one, other)


def _languages(corpus: Corpus | None, language: str | Sequence[str] | None) -> list[str]:
    if language is None:
        vectorizer = None if corpus is None else corpus.vectorizer
        language = "en" if vectorizer is None else vectorizer.language
    if language is None:  # all words were kept
        return []
    codes = language.split(",") if isinstance(language, str) else language
    return [str(code).strip() for code in codes]


Names = Sequence[str] | NDArray[Any]

CODE_LAMBDA = 0.5
"""Lambda for codes, lower than for words, because the most common diagnoses are common in nearly
every group. It determines names, and the initial order of codes in the report."""

_CANDIDATES = 24
"""Number of codes of each node from which its name is chosen."""


NOTABLE = 0.5
"""A feature is named only if its mean differs by half a standard deviation within groups, unless
there is no other."""

WORD_LAMBDA = 0.7
"""Lambda of the relevance of words, for topics without documents, and beyond the words chosen."""


def choose_words_of(
    root: TreeNode, X: Any, labels: Ints, vocabulary: Names, weight: Floats
) -> None:
    """Choose the words that are shown for every node of a tree of topics."""
    nodes = list(root.nodes())
    groups = [[leaf.leaf_id or 0 for leaf in node.leaves()] for node in nodes]
    found = naming.choose_shown_words(X, labels, groups, vocabulary, weight)
    for node, words in zip(nodes, found, strict=True):
        node.words = words


def show_words(node: TreeNode, base: Floats, n_words: int | None = None) -> Ints:
    """Return the columns of words of a topic as they are shown: best first, then by relevance.

    `base` is the profile of the root. None returns all words of the topic.
    """
    chosen = node.words[node.center[node.words] > 0][:n_words]
    if n_words is not None and len(chosen) >= n_words:
        return chosen
    others = np.flatnonzero((node.center > 0) & (base > 0))
    others = np.setdiff1d(others, chosen, assume_unique=True)
    order = relevance_order(node.center[others], base[others], WORD_LAMBDA)
    return np.concatenate([chosen, others[order]])[:n_words]


def name_by_words(
    root: TreeNode,
    vocabulary: Names,
    *,
    languages: Sequence[str] = ("en",),
    find: Callable[[dict[str, int]], naming.Phrases] | None = None,
) -> None:
    """Name every node of a tree of topics; see :func:`momentree.naming.choose_words`."""
    nodes = list(root.nodes())
    centers = np.stack([node.center for node in nodes])
    shown = [show_words(node, root.center, naming.N_SHOWN) for node in nodes]
    chosen = naming.choose_words(
        centers, _parents(nodes), vocabulary, shown, languages=languages, find=find
    )
    for node, terms in zip(nodes, chosen, strict=True):
        node.name = ", ".join(terms)


def name_by_codes(root: TreeNode, vocabulary: Names) -> None:
    """Name every node of a tree of records by codes, different from those of other nodes."""
    nodes = list(root.nodes())
    chosen = choose_codes([node.center for node in nodes], _parents(nodes), vocabulary)
    for node, codes in zip(nodes, chosen, strict=True):
        node.name = ", ".join(str(vocabulary[j]) for j in codes)


def choose_codes(
    centers: Sequence[Floats],
    parents: Sequence[int],
    vocabulary: Names,
    disclosed: Sequence[NDArray[np.bool_]] | None = None,
) -> list[list[int]]:
    """Choose up to three codes for each node, the root first; see `momentree.naming`.

    `disclosed` says which codes of each node may be shown.
    """
    columns: dict[str, int] = {}
    ranked, n_leading = [], []
    for i, parent in enumerate(parents):
        center = centers[i]
        if disclosed is not None:
            center = np.where(disclosed[i], center, 0.0)
        above = centers[parent if i else 0]
        order, leading = naming.rank_terms(
            center, centers[0], above, CODE_LAMBDA, vocabulary, _CANDIDATES
        )
        # Two codes with the same name are different codes.
        columns |= {str(j): int(j) for j in order}
        ranked.append([str(j) for j in order])
        n_leading.append(leading)
    return [[columns[key] for key in keys] for keys in naming.choose_distinct(ranked, n_leading)]


def name_by_difference(root: TreeNode, vocabulary: Names, spread: Floats) -> None:
    """Name every node by the features that set it apart, such as "high age, low weight".

    Features are ranked by how far the mean of the node is from that of all samples, and how much
    further in the same direction than that of the node above, in units of `spread`: the standard
    deviation within groups. Names differ for all nodes. One whose means are those of all samples
    has a number, such as "group 2".
    """
    ranked, n_leading = [], []
    for node in root.nodes():
        z = (node.center - root.center) / spread
        above = root if node.parent is None else node.parent
        score = np.abs(z) + np.sign(z) * (node.center - above.center) / spread
        notable = np.abs(z) >= (1.0 - SAME) * NOTABLE
        top = np.lexsort((ranks(score), ~notable))
        top = top[np.abs(z[top]) > SAME * np.abs(z).max(initial=1.0)][:_CANDIDATES]
        ranked.append([f"{'high' if z[j] > 0 else 'low'} {vocabulary[j]}" for j in top])
        n_leading.append(max(1, int(notable[top].sum())))
    chosen = naming.choose_distinct(ranked, n_leading)
    name_by_number(root)
    for node, terms in zip(root.nodes(), chosen, strict=True):
        if terms or node is root:
            node.name = ", ".join(terms)


def name_by_number(root: TreeNode) -> None:
    """Name every node by the numbers of its leaves, if no feature has a meaning of its own."""
    for number, node in nodes_by_number(root).items():
        node.name = f"group {number}" if node.is_leaf else f"groups {number}"
    if root.children:
        root.name = "all groups"


def most_relevant(center: Floats, base: Floats, disclosed: NDArray[np.bool_] | None = None) -> Ints:
    """Return the codes that distinguish a group, most relevant first.

    Codes that are rarer in the group than overall are returned only if there are no others.
    """
    present = np.flatnonzero((center > 0) & (base > 0) & (True if disclosed is None else disclosed))
    more = present[center[present] >= base[present]]
    present = more if more.size else present
    return present[relevance_order(center[present], base[present], CODE_LAMBDA)]


def nodes_by_number(root: TreeNode) -> dict[str, TreeNode]:
    """Return the nodes below a root by number: "3" for leaf 3, "0-3" for that above 0 to 3."""
    nodes = {}
    for node in root.nodes():
        leaves = [leaf.leaf_id or 0 for leaf in node.leaves()]
        if node.is_leaf:
            nodes[str(node.leaf_id)] = node
        elif node.parent is not None:
            nodes[f"{min(leaves)}-{max(leaves)}"] = node
    return nodes


def _parents(nodes: Sequence[TreeNode]) -> list[int]:
    place = {id(node): i for i, node in enumerate(nodes)}
    return [0 if node.parent is None else place[id(node.parent)] for node in nodes]
