"""PoissonMixture: a mixture of independent Poisson variables, learned from factorial moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from momentree.inference import log_factorials
from momentree.models._mixture import Corpus, CountMixture, Start
from momentree.moments import PoissonMoments
from momentree.objects import Decomposition, MixtureParameters, Moments, PoissonParameters

__all__ = ["PoissonMixture"]

Floats = NDArray[np.float64]


class PoissonMixture(CountMixture):
    """Learn a mixture of independent Poisson variables by the method of moments.

        Y ~ Discrete(omega),   x_w | Y = j ~ Poisson(mu_wj), independent     (T section 1.2)

    Unlike in :class:`SingleTopicModel` the total of a sample tells of its component: how much,
    not only of what.

    Parameters
    ----------
    n_components : int >= 1, default=8
        Number of components k.
    decomposition : str or callable, default="sidiwo"
        How moments are taken apart: "sidiwo", "svtd", "tensor_power_method", "als",
        "svd_method", "eigendecomposition", "jennrich" or "random_projections", each the function
        of that name in ``momentree.decomposition``; or a callable of their signature.
    refine : {"em", None}, default="em"
        "em" improves the start by expectation-maximisation. None leaves what the moments give.
    start : {"auto", "tree", "tfidf", "moments"}, default="auto"
        How moments give the start: "moments" are those of the model (T Proposition 1.2.1); "tree"
        and "tfidf" group samples as :class:`SingleTopicModel` does, by what their counts are of
        and not by how many. "auto" is "moments".
    smoothing : float > 0, default=1.0
        Samples of average counts that are added to every component, so that no mean is zero where
        counts are.
    max_iter : int >= 1, default=100
        Most steps of EM.
    tol : float >= 0, default=1e-5
        EM stops when a step raises the log-likelihood, plus the log prior that `smoothing` stands
        for, by no more than this share of its size.
    warm_start : bool, default=False
        Start from the components of the last ``fit`` where it had as many, of as many features.
    random_state : int, RandomState or None, default=None
        For decompositions that draw. None is seed 0.
    verbose : bool or int, default=False
        Tell the progress on standard error; the logger ``momentree.models`` always has it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        omega, descending, sum 1. Fewer than asked for, with a warning, where the moments show
        fewer.
    means_ : ndarray of shape (n_components, n_features)
        mu in rows, >= 0.
    components_ : ndarray of shape (n_components, n_features)
        The same array, under the name that all flat models have.
    posterior_ : PoissonParameters
        What samples are assigned by: ``posterior_.weights`` of shape (n_components,) and
        ``posterior_.centers`` of shape (n_features, n_components) are ``weights_`` and
        ``means_``; zeros that moments alone leave are smoothed.
    labels_ : ndarray of int of shape (n_samples,)
        Component of each sample.
    n_iter_ : int
        Steps of EM; 1 without it.
    converged_ : bool
        Whether EM met its tolerance; True without it.
    diagnostics_ : mapping
        Of the decomposition, with "start" and, after EM, "log_likelihood" in nats, of all samples,
        less the factorials of counts.
    mean_count_ : float
        Total of a sample, on average.
    vocabulary_ : ndarray of str of shape (n_features,)
        Names of the columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Only where X is a data frame with names.

    Notes
    -----
    T Proposition 1.2.1 and section 2.3. Means that a decomposition leaves below zero are set to
    zero. Time O(nnz k) a step of EM, O(nnz k^2) for the moments; memory O(d k^2).

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, 2018. Sections 1.2 and 2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import PoissonMixture
    >>> rng = np.random.default_rng(0)
    >>> means = np.array([[5.0, 1.0, 1.0], [1.0, 1.0, 8.0]])
    >>> truth = rng.choice(2, size=5000, p=[0.6, 0.4])
    >>> model = PoissonMixture(2).fit(rng.poisson(means[truth]))
    >>> bool(np.abs(model.means_ - means).max() < 0.1)
    True
    """

    _family: ClassVar[type[MixtureParameters]] = PoissonParameters

    def __init__(
        self,
        n_components: int = 8,
        *,
        decomposition: str | Callable[..., Decomposition] = "sidiwo",
        refine: Literal["em"] | None = "em",
        start: Start = "auto",
        smoothing: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-5,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.decomposition = decomposition
        self.refine = refine
        self.start = start
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @property
    def means_(self) -> Floats:
        """Means of the components, shape (n_components, n_features)."""
        return self.components_

    def _chosen_start(self) -> str:
        return "moments" if self.start == "auto" else self.start

    def _moments(self, corpus: Corpus) -> Moments:
        return PoissonMoments.from_rows(corpus.rows, sample_weight=corpus.weight)

    def _valid_centers(self, found: Decomposition) -> Floats:
        return np.maximum(found.centers, 0.0)

    def _log_base(self, X: Any) -> Floats | float:
        return -log_factorials(X)

    @property
    def _n_parameters(self) -> int:
        return int(self.components_.size + len(self.weights_) - 1)

    def sample(
        self,
        n_samples: int = 1,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[Any, NDArray[np.intp]]:
        """Draw samples from the fitted model.

        Parameters
        ----------
        n_samples : int >= 1, default=1
            Number of samples.
        random_state : int, RandomState or None, default=None
            Seed; None is seed 0.

        Returns
        -------
        X : csr_array of int64, shape (n_samples, n_features)
            Counts.
        labels : ndarray of int of shape (n_samples,)
            Component of each sample.
        """
        rng, labels = self._drawn(n_samples, random_state)
        means = self.means_
        d = means.shape[1]
        return self._drawn_rows(labels, lambda j, n: rng.poisson(means[j], (n, d))), labels
