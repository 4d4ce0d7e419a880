"""What people use instead of a tree by moments: flat clusterings of the same counts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import SEED
from numpy.typing import NDArray
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.decomposition import NMF, LatentDirichletAllocation, TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from momentree.backends import RowBlocks
from momentree.inference import log_joint
from momentree.moments import Damping, damp
from momentree.objects import TopicParameters
from momentree.refinement import em

Labels = NDArray[np.intp]


def tfidf(X: Any) -> Any:
    """Return tf-idf of counts; sublinear, which helps k-means and NMF here."""
    return TfidfTransformer(sublinear_tf=True).fit_transform(sp.csr_matrix(X))


def lsa(X: Any, n_components: int = 100) -> NDArray[np.float64]:
    """Return rows of tf-idf in their `n_components` main directions, at unit length."""
    k = min(n_components, min(X.shape) - 1)
    return normalize(TruncatedSVD(k, random_state=SEED).fit_transform(tfidf(X)))


def lsa_kmeans(X: Any, k: int) -> Labels:
    """Cluster LSA by k-means, the best of ten starts."""
    return KMeans(k, n_init=10, random_state=SEED).fit_predict(lsa(X))


def lsa_bisecting(X: Any, k: int) -> Labels:
    """Cluster LSA by bisecting k-means, ten starts a split."""
    return BisectingKMeans(k, n_init=10, random_state=SEED).fit_predict(lsa(X))


def nmf(X: Any, k: int) -> Labels:
    """Factorise tf-idf; each document goes to its largest factor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return NMF(k, init="nndsvd", random_state=SEED).fit_transform(tfidf(X)).argmax(axis=1)


def lda(X: Any, k: int) -> Labels:
    """Fit latent Dirichlet allocation in batches of all; each document goes to its main topic."""
    model = LatentDirichletAllocation(k, learning_method="batch", random_state=SEED)
    return model.fit_transform(X).argmax(axis=1)


def random_mixture(X: Any, k: int, *, damping: Damping | None = None, starts: int = 10) -> Labels:
    """Fit a mixture of multinomials by EM from random starts; keep the likeliest.

    Every other start is random responsibilities, which reach the higher likelihood on large
    corpora; the rest are k random documents, which do so on small ones. The tolerance is a tenth
    of the tree's, so that EM leaves the plateau of a random start.
    """
    rows = RowBlocks(damp(sp.csr_array(X), damping).X)
    n = rows.shape[0]
    weight = np.ones(n)
    best = None
    for seed in range(starts):
        rng = np.random.default_rng(seed)
        if seed % 2:
            R = np.zeros((n, k))
            R[rng.choice(n, k, replace=False), np.arange(k)] = 1.0
        else:
            R = rng.dirichlet(np.ones(k), n)
        sums = rows.sum(lambda B, R=R: B.tdot(R[B.at]))
        start = TopicParameters.fitted_to(sums, R.sum(axis=0), 0.5)
        found = em(rows, start, sample_weight=weight, smoothing=0.5, tol=1e-6)
        if best is None or found.log_likelihood > best.log_likelihood:
            best = found
    return log_joint(rows, best.parameters).argmax(axis=1)
