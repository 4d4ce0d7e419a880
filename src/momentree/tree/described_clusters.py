"""Clusters of vectors, such as embeddings, that are named and reported by the words of samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from momentree._fit import all_or_nothing
from momentree._types import Floats, Ints
from momentree._validation import check_counts, check_sample_weight
from momentree.backends import RowBlocks
from momentree.core.sparse import as_csr
from momentree.exceptions import InvalidDataError
from momentree.tree._base import TreeEstimator
from momentree.tree.counted_texts import corpus_of, of_fit
from momentree.tree.names import NamedTopics
from momentree.tree.naming import choose_words_of, name_by_words
from momentree.tree.node import TreeNode
from momentree.tree.page import RecordsPage, TopicsPage
from momentree.tree.texts import KeepsWords


def _is_described(tree: Any) -> bool:
    return bool(getattr(tree, "_described", False))


class DescribedClusters(RecordsPage, KeepsWords, TreeEstimator):
    """Trees of samples whose nodes can be described by counts that took no part in the fit."""

    _described: bool  # only after a fit with counts
    _words_of_fit: Any = None  # only during a fit with counts

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: object = None,
        *,
        counts: Any = None,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            One sample per row: numbers of the kind `data`, with NaN for missing values of binary
            data.
        y : None
            Ignored.
        counts : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_words), \
{sequence, array or column} of str of shape (n_samples,), or Corpus, default=None
            Counts >= 0 of the words of each sample, or its text, as for
            :meth:`momentree.TopicTree.fit`. They take no part in the tree, but name and describe
            its nodes, whose centers are then word distributions. See ``docs/embeddings.md``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; a weight of 2 has the effect of two copies of the sample. With None, many
            copies of a text in `counts` together have the weight of one.
        feature_names : sequence of str of shape (n_features,) or (n_words,), default=None
            Codes, words or other names of the columns of `counts`, or of X without `counts`. None
            uses the column names of a data frame, or the words of texts.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X or `counts` contains other values, or they, the weights or the names do not match.
        EmptyCorpusError
            If no sample of positive weight has a nonzero value, or no word of texts is kept.
        InvalidParameterError
            If a parameter is invalid, or `feature_names` are given with texts.
        """
        self._described = counts is not None
        if counts is None:
            self._forget_words()
            return super().fit(X, y, sample_weight=sample_weight, feature_names=feature_names)
        corpus, vectorizer = corpus_of(counts, None, weighted=sample_weight is not None)
        if corpus is not None:
            counts, sample_weight, feature_names = of_fit(corpus, sample_weight, feature_names)
        words = getattr(counts, "columns", None) if feature_names is None else feature_names
        counts = as_csr(check_counts(counts))
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if counts.shape[0] != n:
            raise InvalidDataError("counts_of_other_rows", found=counts.shape[0], needed=n)
        d = counts.shape[1]
        names = np.asarray(np.arange(d).astype(str) if words is None else words, dtype=object)
        if names.shape != (d,):
            raise InvalidDataError("wrong_number_of_names", found=names.size, needed=d)
        self._words_of_fit = counts
        super().fit(X, y, sample_weight=sample_weight)
        del self._words_of_fit
        self.vocabulary_ = names
        weight = check_sample_weight(sample_weight, n)
        center = _describe(self.tree_, counts, weight)
        self._merges = self._merges.described(d, center)
        choose_words_of(self.tree_, counts, self.labels_, names, weight)
        self._name(self.tree_)
        self._keep_words(corpus, vectorizer)
        return self

    def _name(self, root: TreeNode) -> None:
        name_by_words(root, self.vocabulary_, languages=self.languages_)

    name_topics = available_if(_is_described)(NamedTopics.name_topics)

    def to_html(
        self, path: str | PathLike[str] | None = None, X: Any = None, **options: Any
    ) -> str | Path:
        """Write the report as one HTML page that works offline.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write the page to; None returns the page.
        X : Records, or {ndarray, sparse matrix or array, data frame}, default=None
            The records of ``fit``, or its `counts`, also as texts or Corpus.
        **options
            For a tree described by counts, those of :meth:`momentree.TopicTree.to_html`: `ids`,
            `texts`, `labels`, `order`, `title`, `documents`. For a tree of records, those of
            :meth:`momentree.BernoulliMixture.to_html`.

        Returns
        -------
        Path or str
            `path`, or the page as text if it is None.

        Raises
        ------
        InvalidDataError
            If X is missing or differs from the data of ``fit``, if options do not match it, or if
            the data of ``fit`` were neither binary nor described by counts.
        OSError
            If the file cannot be written; no partial file remains.
        """
        page = TopicsPage if _is_described(self) else RecordsPage
        return page.to_html(self, path, X, **options)

    @property
    def _n_names(self) -> int:
        return len(self.vocabulary_) if _is_described(self) else super()._n_names

    def _restore_vectorizer(self) -> None:
        if _is_described(self):
            super()._restore_vectorizer()

    def _check_restored(self) -> int:
        k = super()._check_restored()
        if type(vars(self).get("_described", False)) is not bool:
            raise InvalidDataError("bad_entry", name="_described", value=self._described)
        if _is_described(self):
            self._check_profiles()
        return k


def _describe(root: TreeNode, counts: Any, weight: Floats) -> Callable[[list[int]], Floats]:
    """Set the center of each node to the distribution of the words of its samples.

    Return the function that computes it for a list of leaves.
    """
    leaves = list(root.leaves())
    labels: Ints = np.zeros(counts.shape[0], dtype=np.intp)
    for i, leaf in enumerate(leaves):
        labels[leaf.samples] = i
    sums = RowBlocks(counts).group_sums(labels, len(leaves), weight)

    def center(below: list[int]) -> Floats:
        words = sums[:, below].sum(axis=1)
        total = float(words.sum())
        return np.asarray(words / total if total > 0 else words)

    for node in root.nodes():
        node.center = center([leaf.leaf_id or 0 for leaf in node.leaves()])
    return center
