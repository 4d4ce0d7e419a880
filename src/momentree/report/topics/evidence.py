"""Score documents by the evidence of their words for a node, against the whole corpus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats

# Weight of the corpus in the mixture that replaces a node's word probabilities, so that a word
# absent from the node contributes log(1%) to a document's score instead of minus infinity.
_BACKGROUND = 0.01


@dataclass(frozen=True)
class Evidence:
    """Documents as log-scaled counts.

    Attributes
    ----------
    scaled : csr_array of shape (n, d)
        y = log(1 + x).
    mass : ndarray of shape (n,)
        The sum of y over the words of a document.
    base : ndarray of shape (d,)
        p(w) in the whole corpus.
    """

    scaled: sp.csr_array
    mass: Floats
    base: Floats

    @classmethod
    def of(cls, X: sp.csr_array, base: Floats) -> Evidence:
        """Scale counts."""
        scaled = X.astype(np.float64, copy=True)
        np.log1p(scaled.data, out=scaled.data)
        mass = np.asarray(scaled.sum(axis=1), dtype=np.float64).ravel()
        return cls(scaled, mass, base)

    def scores(self, center: Floats) -> Floats:
        r"""Return the evidence per word of each document for a node.

        With ℓ(w) = log(0.99·p(w|node)/p(w) + 0.01), the score is Σ_w y_w ℓ(w) / (Σ_w y_w + m). Log
        scaling keeps repeated words from dominating, and m, the median of Σ_w y_w, shrinks the
        scores of very short documents.
        """
        filled = self.mass > 0
        shrink = float(np.median(self.mass[filled])) if filled.any() else 1.0
        scores = (self.scaled @ log_lift(center, self.base)) / (self.mass + shrink)
        return np.asarray(scores, dtype=np.float64)


def log_lift(center: Floats, base: Floats) -> Floats:
    """Return ℓ(w) of `Evidence.scores` for every word."""
    lift = np.divide(center, base, out=np.ones_like(center), where=base > 0)
    return np.asarray(np.log((1.0 - _BACKGROUND) * lift + _BACKGROUND), dtype=np.float64)
