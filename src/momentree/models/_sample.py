"""Draw new samples from a fitted model, one block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_integer, generator

DENSE_VALUES = 1 << 22
"""Number of values in a dense block of new samples: 32 MB."""


def draw_components(weights: Floats, n_samples: int, rng: np.random.RandomState) -> Ints:
    """Return the component of each new sample."""
    return rng.choice(len(weights), size=n_samples, p=weights).astype(np.intp)


def draw_rows(n_samples: int, d: int, draw: Callable[[slice], Any]) -> Any:
    """Return new samples as a sparse array; `draw(at)` returns the rows `at`, in order."""
    step = max(1, DENSE_VALUES // d)
    starts = range(0, n_samples, step)
    parts = [sp.csr_array(draw(slice(at, min(at + step, n_samples)))) for at in starts]
    return sp.vstack(parts, format="csr") if parts else sp.csr_array((0, d), dtype=np.int64)


def draw_by_component(labels: Ints, d: int, draw: Callable[[int, int], Any]) -> Any:
    """Return new samples as a sparse array; `draw(j, n)` returns n samples of component j."""

    def rows(at: slice) -> Any:
        here = labels[at]
        X = np.zeros((len(here), d), dtype=np.int64)
        for j in np.unique(here):
            X[here == j] = draw(int(j), int(np.count_nonzero(here == j)))
        return X

    return draw_rows(len(labels), d, rows)


class SamplesByComponent:
    """Mixtures whose samples depend only on their components."""

    weights_: Floats

    def _draw(self, labels: Ints, rng: np.random.RandomState) -> Any:
        """Return one sample from each of the given components as a sparse array."""
        raise NotImplementedError

    def sample(
        self, n_samples: int = 1, *, random_state: int | np.random.RandomState | None = None
    ) -> tuple[Any, Ints]:
        """Draw samples from the fitted model.

        Parameters
        ----------
        n_samples : int >= 0, default=1
            Number of samples.
        random_state : int, RandomState or None, default=None
            Seed; None means seed 0.

        Returns
        -------
        X : csr_array of int64, shape (n_samples, n_features)
            Counts; zeros and ones for a mixture of binary variables.
        labels : ndarray of int of shape (n_samples,)
            Component of each sample.
        """
        check_is_fitted(self, "components_")
        check_integer("n_samples", n_samples, at_least=0)
        rng = generator(random_state)
        labels = draw_components(self.weights_, n_samples, rng)
        return self._draw(labels, rng), labels


class SamplesOfDocuments:
    """Topic models, whose samples are documents of a given length."""

    mean_count_: float

    def _draw_documents(
        self, n_samples: int, length: int, rng: np.random.RandomState
    ) -> tuple[Any, NDArray[Any]]:
        """Return documents as a sparse array, and their topics."""
        raise NotImplementedError

    def sample(
        self,
        n_samples: int = 1,
        *,
        length: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[Any, NDArray[Any]]:
        """Draw documents from the fitted model.

        Parameters
        ----------
        n_samples : int >= 0, default=1
            Number of documents.
        length : int >= 0, default=None
            Number of words per document. None uses the rounded mean over the documents of ``fit``.
        random_state : int, RandomState or None, default=None
            Seed; None means seed 0.

        Returns
        -------
        X : csr_array of int64, shape (n_samples, n_features)
            Counts.
        topics : ndarray of shape (n_samples,) or (n_samples, n_components)
            Topic of each document; for :class:`LatentDirichletAllocation` its topic proportions,
            rows with sum 1.
        """
        check_is_fitted(self, "components_")
        check_integer("n_samples", n_samples, at_least=0)
        check_integer("length", length, at_least=0, optional=True)
        words = round(self.mean_count_) if length is None else length
        return self._draw_documents(n_samples, words, generator(random_state))
