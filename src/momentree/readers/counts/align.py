"""Align counts with the columns of another vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from momentree.exceptions import InvalidDataError
from momentree.readers.text.objects import Corpus


def align_columns(corpus: Corpus, vocabulary: Sequence[str]) -> Corpus:
    """Align counts with the columns of another vocabulary, such as that of a fitted tree.

    Parameters
    ----------
    corpus : Corpus
        Counts with their own vocabulary.
    vocabulary : sequence of str of shape (d,)
        Words of the new columns, all different.

    Returns
    -------
    Corpus
        Counts of shape (n, d): words not in `vocabulary` are left out, and words not in `corpus`
        have zero counts.

    Raises
    ------
    InvalidDataError
        If the vocabularies have no words in common, or `vocabulary` repeats a word.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from momentree.datasets import Corpus, align_columns
    >>> corpus = Corpus(sp.csr_array([[1, 2], [0, 3]]), np.array(["cat", "dog"]), ["a", "b"])
    >>> align_columns(corpus, ["dog", "sun"]).X.toarray().tolist()
    [[2, 0], [3, 0]]
    """
    found = pd.Index(np.asarray(corpus.vocabulary, dtype=object), dtype=object)
    wanted = pd.Index(np.asarray(vocabulary, dtype=object), dtype=object)
    if not wanted.is_unique:
        word = str(wanted[wanted.duplicated()][0])
        raise InvalidDataError("word_repeated", word=word)
    new = wanted.get_indexer(found)
    if not (new >= 0).any():
        raise InvalidDataError(
            "no_common_words",
            name=corpus.name,
            n_found=len(found),
            found=[str(word) for word in found[:3]],
            n_wanted=len(wanted),
            wanted=[str(word) for word in wanted[:3]],
        )
    X = corpus.X
    columns = new[X.indices]
    kept = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    aligned = sp.csr_array((X.data[kept], columns[kept], indptr), shape=(X.shape[0], len(wanted)))
    aligned.sum_duplicates()
    return replace(corpus, X=aligned, vocabulary=wanted.to_numpy(dtype=object))
