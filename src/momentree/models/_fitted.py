"""What a fitted flat model returns: scores, components of samples, words of components."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_features, check_integer
from momentree.backends import as_rows
from momentree.backends.contents import filled_labels
from momentree.backends.sources import by_partition
from momentree.core.ties import largest, ranks
from momentree.inference import log_multinomial
from momentree.metrics import relevance
from momentree.metrics.words import word_probabilities
from momentree.naming import choose_shown_words
from momentree.tree.names import NamedGroups
from momentree.tree.naming import Names, name_by_words, shown_words
from momentree.tree.node import TreeNode, pack, unpack
from momentree.tree.one_level import one_level


class FittedModel(NamedGroups, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ABC):  # type: ignore[misc]
    """The results of a flat model, from the probabilities that a subclass computes."""

    # Whether `score_samples` includes the multinomial coefficient.
    _counts_orders: ClassVar[bool] = False

    # Whether samples without values are in no component.
    _leaves_out_empty: ClassVar[bool] = False

    weights_: Floats
    components_: Floats
    vocabulary_: NDArray[Any]
    labels_: Ints

    _names: list[str]  # only after they were given, or chosen from texts
    _words: Ints  # columns of the words that are shown, see `pack`

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability or proportion of each component, shape (n_samples, k)."""

    @abstractmethod
    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each sample, shape (n_samples,)."""

    @property
    def _n_parameters(self) -> int:
        """Number of free parameters: those of k weights and k unconstrained centers."""
        return int(self.components_.size + len(self.weights_) - 1)

    def _new_counts(self, X: Any) -> Any:
        """Return the checked counts of new samples."""
        check_is_fitted(self, "components_")
        return check_features(self, self._counts(X), None, reset=False)[0]

    def _counts(self, X: Any) -> Any:
        """Return the counts of new samples; topic models count the words of texts."""
        return X

    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002 - scikit-learn's convention
        """Return the mean log-likelihood of samples.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.
        y : None
            Ignored.

        Returns
        -------
        float
            Mean of :meth:`score_samples`, in nats; larger is better.
        """
        return float(self.score_samples(X).mean())

    def perplexity(self, X: Any, y: object = None) -> float:  # noqa: ARG002 - the same convention
        """Return the perplexity, the effective number of equally likely words.

            exp(-sum_i log P[x_i] / sum_i c_i),   c_i the sum of sample i

        For topic models, P[x_i] is the probability of the sequence of words, without the
        multinomial coefficient that :meth:`score_samples` includes.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.
        y : None
            Ignored.

        Returns
        -------
        float
            At least 1; smaller is better; NaN if all counts are zero. For
            :class:`LatentDirichletAllocation` an upper bound on the perplexity.
        """
        X = self._counts(X)
        counts = self._new_counts(X)
        words = float(counts.sum())
        total = float(self.score_samples(X).sum())
        if self._counts_orders:
            total -= float(log_multinomial(counts).sum())
        return float(np.exp(-total / words)) if words else float("nan")

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion.

            -2 sum_i log P[x_i] + p log n,   p the number of free parameters

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.

        Returns
        -------
        float
            Smaller is better.

        Notes
        -----
        Compare only models of the same data: different numbers of components, or a
        :class:`SingleTopicModel` with a :class:`LatentDirichletAllocation`, whose value is an upper
        bound. Both condition on the length of each document, whereas :class:`PoissonMixture` also
        models the lengths, so its value is not comparable with theirs.
        """
        values = self.score_samples(X)
        return float(-2.0 * values.sum() + self._n_parameters * np.log(len(values)))

    def _copied_root(self) -> TreeNode:
        P = self._profiles
        root = one_level(P, self.weights_, self.labels_, self.weights_, self._shown_words)
        names: list[str] | None = vars(self).get("_names")
        if names is None:
            self._name(root, self.vocabulary_)
        else:
            for leaf in root.leaves():
                leaf.name = names[leaf.leaf_id or 0]
        return root

    def _set_names(self, root: TreeNode) -> None:
        leaves = sorted(root.leaves(), key=lambda leaf: leaf.leaf_id or 0)
        self._names = [leaf.name for leaf in leaves]

    def _name(self, root: TreeNode, vocabulary: Names) -> None:
        """Choose the names of components."""
        name_by_words(root, vocabulary)

    @property
    def _n_features_out(self) -> int:
        return int(self.weights_.shape[0])

    @property
    def _profiles(self) -> Floats:
        """P[feature | component] in rows."""
        return word_probabilities(self.components_)

    @by_partition
    def transform(self, X: Any) -> Floats:
        """Return :meth:`predict_proba`, so that the model can be used as a transformer.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1.
        """
        return self.predict_proba(X)

    @by_partition
    def predict(self, X: Any) -> Ints:
        """Return the component with the largest probability or proportion for each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Component numbers; equal to ``labels_`` for the data of ``fit``. Topic models, other
            than :class:`PoissonMixture`, give documents without words the number -1.
        """
        X = self._counts(X)
        labels = self._likeliest(X)
        if self._leaves_out_empty:
            labels = np.asarray(filled_labels(as_rows(self._new_counts(X)), labels))
        return labels

    def _likeliest(self, X: Any) -> Ints:
        return np.asarray(largest(self.predict_proba(X)), dtype=np.intp)

    def _choose_words(self, counts: Any, weight: Floats) -> None:
        """Choose the words that are shown for each component, from counts of words."""
        groups = [[j] for j in range(len(self.weights_))]
        found = choose_shown_words(counts, self.labels_, groups, self.vocabulary_, weight)
        self._words = pack(found)

    @property
    def _shown_words(self) -> list[Ints]:
        packed = vars(self).get("_words", np.empty((len(self.weights_), 0), dtype=np.intp))
        return [unpack(row) for row in packed]

    def top_words(self, n_words: int = 10, *, lam: float | None = None) -> list[list[str]]:
        """Return the words or codes of each component that describe it best.

        By default, these are the words that reports show: they occur in many documents of a topic
        and few others, and together; see :func:`momentree.naming.choose_shown_words`. Codes are
        ranked by relevance with lambda = 0.7, and words by a given lambda:

            lam log P[w | j] + (1 - lam) log (P[w | j] / P[w])     (S section 4.3, T eq. 4.12)

        Parameters
        ----------
        n_words : int >= 0, default=10
            Maximum number of words per component.
        lam : float in [0, 1] or None, default=None
            1 ranks words by probability, 0 by lift; None as reports do.

        Returns
        -------
        list of list of str
            Column names, best first, one list per component.
        """
        check_is_fitted(self, "components_")
        check_integer("n_words", n_words, at_least=0)
        P = self._profiles
        if lam is None:
            root = one_level(P, self.weights_, self.labels_, self.weights_, self._shown_words)
            leaves = sorted(root.leaves(), key=lambda leaf: leaf.leaf_id or 0)
            return [
                [str(self.vocabulary_[w]) for w in shown_words(leaf, root.center, n_words)]
                for leaf in leaves
            ]
        values = relevance(P, self.weights_ @ P, lam)
        order = np.argsort(ranks(values), axis=1, kind="stable")[:, :n_words]
        return [
            [str(self.vocabulary_[w]) for w in row if p[w] > 0]
            for row, p in zip(order, P, strict=True)
        ]
