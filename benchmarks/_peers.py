"""Other methods for comparison: clusterings of the same counts or records, and EM."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from _common import SEED
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import BisectingKMeans, KMeans, SpectralClustering
from sklearn.decomposition import NMF, PCA, LatentDirichletAllocation, TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from momentree.backends import RowBlocks
from momentree.inference import log_joint
from momentree.objects import BernoulliParameters, TopicParameters
from momentree.preprocessing import log_scale
from momentree.refinement import em

Labels = NDArray[np.intp]

# --- counts of words ----------------------------------------------------------------------------


def tfidf(X: Any) -> Any:
    """Return tf-idf of counts, sublinear because that helps k-means and NMF here."""
    return TfidfTransformer(sublinear_tf=True).fit_transform(sp.csr_matrix(X))


def lsa(X: Any, n_components: int = 100) -> NDArray[np.float64]:
    """Project tf-idf onto `n_components` singular vectors and scale rows to unit length."""
    k = min(n_components, min(X.shape) - 1)
    return normalize(TruncatedSVD(k, random_state=SEED).fit_transform(tfidf(X)))


def lsa_kmeans(X: Any, k: int) -> Labels:
    """Cluster LSA by k-means, the best of ten starts."""
    return KMeans(k, n_init=10, random_state=SEED).fit_predict(lsa(X))


def lsa_bisecting(X: Any, k: int) -> Labels:
    """Cluster LSA by bisecting k-means, ten starts per split."""
    return BisectingKMeans(k, n_init=10, random_state=SEED).fit_predict(lsa(X))


def nmf(X: Any, k: int) -> Labels:
    """Factorize tf-idf and assign each document to its largest factor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return NMF(k, init="nndsvd", random_state=SEED).fit_transform(tfidf(X)).argmax(axis=1)


def lda(X: Any, k: int) -> Labels:
    """Fit batch LDA and assign each document to its main topic."""
    model = LatentDirichletAllocation(k, learning_method="batch", random_state=SEED)
    return model.fit_transform(X).argmax(axis=1)


def random_mixture(
    X: Any, k: int, *, log_scaling: Literal["log1p"] | None = None, starts: int = 10
) -> Labels:
    """Fit a mixture of multinomials by EM from random starts and keep the likeliest.

    Starts alternate between random responsibilities, which reach higher likelihoods on large
    corpora, and k random documents, which do so on small ones. The tolerance is a tenth
    of the tree's, so that EM leaves the plateau of a random start.
    """
    rows = log_scale(sp.csr_array(X), log_scaling).rows
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
        start = TopicParameters.m_step(sums, R.sum(axis=0), 0.5)
        found = em(rows, start, sample_weight=weight, smoothing=0.5, tol=1e-6)
        if best is None or found.log_likelihood > best.log_likelihood:
            best = found
    return log_joint(rows, best.parameters).argmax(axis=1)


# --- binary records -----------------------------------------------------------------------------


class PDDP(ClusterMixin, BaseEstimator):
    """Principal direction divisive partitioning (Boley 1998).

    Each step splits the cluster with the largest sum of squared distances to its mean, at the
    mean, along the first principal direction.
    """

    def __init__(self, n_clusters: int = 8) -> None:
        self.n_clusters = n_clusters

    def fit(self, X: Any, y: object = None) -> PDDP:  # noqa: ARG002 - scikit-learn's convention
        """Split until there are `n_clusters`, or every cluster consists of equal rows."""
        X = sp.csr_array(X, dtype=np.float64)
        labels = np.zeros(X.shape[0], dtype=np.intp)
        scatters = [_scatter(X)]
        while len(scatters) < self.n_clusters and max(scatters) > 0:
            j = int(np.argmax(scatters))
            rows = np.flatnonzero(labels == j)
            right = rows[_principal_scores(X[rows]) > 0]
            scatters[j] = 0.0
            if 0 < len(right) < len(rows):
                labels[right] = len(scatters)
                scatters[j] = _scatter(X[labels == j])
                scatters.append(_scatter(X[right]))
        self.labels_ = labels
        return self


def _scatter(X: Any) -> float:
    mean = X.mean(axis=0)
    found = float(X.power(2).sum() - X.shape[0] * (mean @ mean))
    return found if found > 1e-9 * X.shape[0] else 0.0  # equal rows, up to rounding


def _principal_scores(X: Any) -> NDArray[np.float64]:
    """Return the projections of the centered rows onto their first principal direction."""
    mean = X.mean(axis=0)
    if min(X.shape) < 3:
        centered = X.toarray() - mean
        return centered @ np.linalg.svd(centered, full_matrices=False)[2][0]
    centered = LinearOperator(
        X.shape,
        matvec=lambda v: X @ v.ravel() - mean @ v.ravel(),
        rmatvec=lambda u: X.T @ u.ravel() - mean * u.sum(),
        dtype=np.float64,
    )
    start = np.random.default_rng(SEED).random(min(X.shape))
    return centered @ svds(centered, 1, v0=start)[2][0]


def kmeans(X: Any, k: int) -> Labels:
    """Cluster by k-means with the defaults of scikit-learn, as the thesis does."""
    return KMeans(k, random_state=SEED).fit_predict(X)


def pca_kmeans(X: Any, k: int) -> Labels:
    """Cluster the first k principal components by k-means."""
    dense = sp.csr_array(X).toarray()
    reduced = PCA(min(k, *dense.shape), random_state=SEED).fit_transform(dense)
    return KMeans(k, random_state=SEED).fit_predict(reduced)


def spectral_linear(X: Any, k: int) -> Labels:
    """Cluster by spectral clustering with affinities X X^T: memory O(n^2)."""
    dense = sp.csr_array(X).toarray().astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rows that share no 1 are not connected
        model = SpectralClustering(k, affinity="linear", random_state=SEED)
        return model.fit_predict(dense)


def random_bernoulli(X: Any, k: int, *, starts: int = 10) -> Labels:
    """Fit a Bernoulli mixture by EM from random starts and keep the likeliest.

    Starts alternate between random responsibilities and k random records, each averaged with
    1/2. Smoothing and tolerance are those of `BernoulliMixture`.
    """
    rows = RowBlocks(sp.csr_array(X, dtype=np.float64))
    n = rows.shape[0]
    weight = np.ones(n)
    best = None
    for seed in range(starts):
        rng = np.random.default_rng(seed)
        if seed % 2:
            chosen = rng.choice(n, k, replace=False)
            centers = 0.25 + 0.5 * rows.matrix[chosen].toarray().T
            start = BernoulliParameters(np.full(k, 1.0 / k), centers)
        else:
            R = rng.dirichlet(np.ones(k), n)
            sums = rows.sum(lambda B, R=R: B.tdot(R[B.at]))
            start = BernoulliParameters.m_step(sums, R.sum(axis=0), 1.0)
        found = em(rows, start, sample_weight=weight, smoothing=1.0, max_iter=200, tol=1e-5)
        if best is None or found.log_likelihood > best.log_likelihood:
            best = found
    return log_joint(rows, best.parameters).argmax(axis=1)


def true_parameters(X: Any, weights: NDArray[Any], means: NDArray[Any]) -> Labels:
    """Return the likeliest component under the parameters that generated the data."""
    rows = RowBlocks(sp.csr_array(X, dtype=np.float64))
    return log_joint(rows, BernoulliParameters(weights, means.T)).argmax(axis=1)
