"""Find phrases of two words in texts, such as "climate change", for names."""

import zlib
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.core.pages import in_parts, picked

MAX_DOCUMENTS = 2000
"""Maximum number of documents in which phrases are counted, the same number from each leaf."""
MAX_CHARACTERS = 5_000
"""Phrases are counted in the beginning of each document."""

MIN_DOCUMENTS = 5
"""A phrase occurs in at least this many of the documents in which phrases are counted."""
MIN_SHARE = 0.25
"""Geometric mean of the fractions of the occurrences of two words that are in their phrase."""


@dataclass(frozen=True)
class Phrases:
    """Phrases of two terms with their counts in the nodes of a tree.

    Attributes
    ----------
    pairs : ndarray of int of shape (n_phrases, 2)
        The terms.
    texts : list of str
        The most frequent form of each phrase.
    in_nodes : ndarray of shape (n_nodes, n_phrases)
        Number of occurrences of each phrase in each node.
    terms_in_nodes : ndarray of shape (n_nodes, n_terms)
        Number of occurrences of each term in each node.
    """

    pairs: Ints
    texts: list[str]
    in_nodes: Floats
    terms_in_nodes: Floats

    def replace(
        self, node: int, order: Sequence[int], n_leading: int, names: NDArray[Any]
    ) -> tuple[list[str], int]:
        """Replace terms of a node by phrases.

        A phrase replaces both of its terms if both are leading ones, and it makes up at least a
        quarter of their occurrences in the node (by the geometric mean of the two fractions).

        Parameters
        ----------
        node : int
            The node.
        order : sequence of int
            Its terms, best first.
        n_leading : int
            Number of its leading terms; see :func:`rank_terms`.
        names : ndarray of str of shape (n_terms,)
            The words of the terms.

        Returns
        -------
        terms : list of str
            Words and phrases, in the order of their first term.
        n_leading : int
            Number of leading ones.
        """
        place = {term: i for i, term in enumerate(order)}
        by_term: dict[int, list[int]] = {}
        counts, alone = self.in_nodes[node], self.terms_in_nodes[node]
        for at, pair in enumerate(self.pairs.tolist()):
            share = counts[at] / np.sqrt(np.maximum(alone[pair], 1.0).prod())
            leading = all(place.get(term, n_leading) < n_leading for term in pair)
            if share >= MIN_SHARE and leading:
                for term in pair:
                    by_term.setdefault(term, []).append(at)
        terms: list[str] = []
        taken: set[int] = set()
        kept = 0
        for i, term in enumerate(order):
            if term in taken:
                continue
            free = [at for at in by_term.get(term, ()) if not taken & set(self.pairs[at].tolist())]
            best = min(free, key=lambda at: (-counts[at], self.texts[at]), default=None)
            if best is None:
                terms.append(str(names[term]))
                taken.add(term)
            else:
                terms.append(self.texts[best])
                taken |= set(self.pairs[best].tolist())
            kept += i < n_leading
        return terms, kept


def find_phrases(
    texts: Sequence[str],
    labels: Ints,
    nodes: Sequence[Sequence[int]],
    tokenize: Callable[[str], list[str]],
    term_of: Mapping[str, int],
    weights: Floats | None = None,
) -> Phrases:
    """Count pairs of words with only white space, or nothing, between them.

    In a large corpus, about 2,000 documents are counted, chosen by their content, so that their
    order has no effect.

    Parameters
    ----------
    texts : sequence of str of length n_samples
        The documents.
    labels : ndarray of int of shape (n_samples,)
        Leaf of each document.
    nodes : sequence of sequence of int
        Leaves below each node.
    tokenize : callable
        Returns the words of a text, in order.
    term_of : mapping of str to int
        Term of each word; different forms of a word are one term.
    weights : ndarray of shape (n_samples,) or None, default=None
        Weights of the documents, less than 1 for copies; None means that all are 1.

    Returns
    -------
    Phrases
        Counts of phrases and terms in each node.
    """
    n_leaves = max((leaf for leaves in nodes for leaf in leaves), default=0) + 1
    n_terms = max(term_of.values(), default=-1) + 1
    alone = np.zeros((n_leaves, n_terms))
    pairs: dict[tuple[int, int], Floats] = {}
    forms: dict[tuple[int, int], dict[str, float]] = {}  # number of documents of each form
    chosen = _chosen(texts, labels, n_leaves)
    for i, leaf in zip(chosen, picked(labels, np.array(chosen, np.intp)).tolist(), strict=True):
        weight = 1.0 if weights is None else float(weights[i])
        text = texts[i][:MAX_CHARACTERS]
        words = tokenize(text)
        terms = [term_of.get(word, -1) for word in words]
        np.add.at(alone[leaf], [term for term in terms if term >= 0], weight)
        found = Counter(
            (words[at], words[at + 1])
            for at, (one, other) in enumerate(pairwise(terms))
            if one >= 0 <= other != one
        )
        written = " ".join(text.lower().split()) if found else ""
        for (one, other), n in found.items():
            form = _written_as(one, other, written)
            if form is None:
                continue
            pair = (term_of[one], term_of[other])
            if pair not in pairs:
                pairs[pair], forms[pair] = np.zeros(n_leaves), defaultdict(float)
            pairs[pair][leaf] += n * weight
            forms[pair][form] += weight
    # Sums of thirds depend on the order of the documents in the last digits.
    kept = sorted(pair for pair in pairs if round(sum(forms[pair].values()), 6) >= MIN_DOCUMENTS)
    below = np.zeros((len(nodes), n_leaves))
    for node, leaves in enumerate(nodes):
        below[node, list(leaves)] = 1.0
    return Phrases(
        np.array(kept, dtype=np.intp).reshape(-1, 2),
        [
            min(forms[pair].items(), key=lambda form: (-round(form[1], 6), form[0]))[0]
            for pair in kept
        ],
        np.round(below @ np.array([pairs[pair] for pair in kept]).reshape(-1, n_leaves).T, 6),
        np.round(below @ alone, 6),
    )


def _written_as(one: str, other: str, text: str) -> str | None:
    """Return two words as a phrase, if a text in lower case has it without punctuation."""
    form = f"{one} {other}"
    if form.lower() in text:
        return form
    # Scripts without blanks have no upper case.
    form = one + other
    return form if form.upper() == form and form in text else None


def _chosen(texts: Sequence[str], labels: Ints, n_leaves: int) -> list[int]:
    """Return the documents in which phrases are counted: a sample of each leaf, by content."""
    if len(texts) <= MAX_DOCUMENTS:
        return list(range(len(texts)))
    # A checksum is as good as random, but does not depend on the order of documents.
    each = max(MAX_DOCUMENTS // n_leaves, MIN_DOCUMENTS)
    least: list[list[tuple[int, str, int]]] = [[] for _ in range(n_leaves)]
    leaves = chain.from_iterable(part.tolist() for part in in_parts(labels, always=True))
    for i, (leaf, text) in enumerate(zip(leaves, texts, strict=True)):
        checksum = zlib.crc32(text.encode("utf-8", "surrogatepass"))
        some = least[leaf] if leaf >= 0 else []
        if len(some) < each or checksum <= some[-1][0]:
            insort(some, (checksum, text[:MAX_CHARACTERS], i))
            del some[each:]
    return [i for some in least for _, _, i in some]
