"""What makes a vectorizer of texts a step of a scikit-learn pipeline."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from momentree._validation import check_texts
from momentree.core.sparse import NamedColumns
from momentree.exceptions import InvalidParameterError


class PipelineStep(BaseEstimator, ABC):  # type: ignore[misc]
    """Base of a vectorizer whose parameters do not change when it is fitted."""

    vocabulary: tuple[str, ...] | None

    @abstractmethod
    def adapt(self, texts: Sequence[str]) -> tuple[Self, Any]:
        """Return a copy with parameters chosen for a corpus, and the notes about them."""

    @abstractmethod
    def learn(self, texts: Sequence[str]) -> tuple[Self, sp.csr_array[Any]]:
        """Return a copy with the words of a corpus, and their counts."""

    @abstractmethod
    def transform(self, texts: Sequence[str]) -> sp.csr_array[Any]:
        """Count the words of the vocabulary."""

    @property
    def learned(self) -> Self:
        """The vectorizer with the vocabulary that :meth:`fit` has chosen, or that was given."""
        found: Self | None = vars(self).get("_learned")
        if found is None and self.vocabulary is not None:
            found = self
        if found is None:
            raise InvalidParameterError("vectorizer_has_not_learned")
        return found

    def fit(self, texts: Sequence[str], y: object = None) -> Self:
        """Choose the words of texts, like :meth:`learn`, and remember them for :meth:`transform`.

        Parameters
        ----------
        texts : sequence of str
            One text per document: a list, array or column, or a data frame of one column.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted vectorizer; its parameters are unchanged.

        Raises
        ------
        EmptyCorpusError, InvalidDataError, MissingLibraryError
            As in :meth:`learn`.
        """
        self.fit_transform(texts, y)
        return self

    def fit_transform(self, texts: Sequence[str], y: object = None) -> sp.csr_array[Any]:  # noqa: ARG002
        """Choose the words of texts, and count them.

        Parameters
        ----------
        texts : sequence of str
            One text per document.
        y : None
            Ignored.

        Returns
        -------
        csr_array of shape (n, d), int32
            Counts, with the words in the attribute `feature_names`, where topic models find them.
        """
        if self.vocabulary is None:
            learned, X = self.learn(texts)
            self.__dict__["_learned"] = learned
            return NamedColumns.of(X, learned.vocabulary or ())
        self.__dict__["_learned"] = self.adapt(check_texts(texts))[0]
        return self.transform(texts)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:  # noqa: ARG002
        """Return the words of the columns.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str of shape (d,)
            The vocabulary.

        Raises
        ------
        InvalidParameterError
            If there is no vocabulary yet.
        """
        return np.asarray(self.learned.vocabulary, dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:  # noqa: ARG002
        """Change nothing: counts are always sparse and have the words of their columns.

        Parameters
        ----------
        transform : str or None, default=None
            Ignored, so that a pipeline can set the output of its last step.

        Returns
        -------
        self
            The vectorizer.
        """
        return self

    def set_params(self, **params: Any) -> Self:
        """Change parameters; a fitted vocabulary is forgotten.

        Parameters
        ----------
        **params
            Values by parameter name.

        Returns
        -------
        self
            The vectorizer.

        Raises
        ------
        InvalidParameterError
            If a name is unknown or a value is invalid.
        """
        known = [field.name for field in fields(self)]
        unknown = sorted(set(params) - set(known))
        if unknown:
            raise InvalidParameterError("unknown_settings", names=unknown, known=known)
        if params:
            changed = replace(self, **params)
            self.__dict__.clear()
            self.__dict__.update(vars(changed))
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self.vocabulary is not None or "_learned" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
