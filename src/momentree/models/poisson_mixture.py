"""PoissonMixture: a mixture of independent Poisson counts (T Proposition 1.2.1)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from momentree._types import Floats, Ints
from momentree.core.choices import Refine
from momentree.estimators import groups
from momentree.estimators.texts import Vectorizer
from momentree.inference.posteriors import log_factorials
from momentree.models._count_mixture import CountMixture, Start
from momentree.models._steps import Decomposer, draw_by_component
from momentree.moments import PoissonMoments
from momentree.objects import Decomposition, MixtureParameters, Moments, PoissonParameters
from momentree.tree.topic_growth import ScaledCounts


@dataclass(eq=False, repr=False)
class PoissonMixture(CountMixture):
    """Cluster counts by a mixture of independent Poisson variables.

        Y ~ Discrete(omega),   x_w | Y = j ~ Poisson(mu_wj), independent     (T section 1.2)

    Unlike :class:`SingleTopicModel`, it also models the total of each sample.

    Parameters
    ----------
    n_components : int >= 1, default=8
        Number of components k.
    decomposition : str or callable, default="sidiwo"
        "sidiwo", "svtd", "tensor_power_method", "als", "svd_method", "eigendecomposition",
        "jennrich" or "random_projections" from ``momentree.decomposition``, or a function with the
        same signature. It decomposes the moments of ``start="moments"``.
    refine : {"em", None}, default="em"
        "em" refines the start by expectation-maximization. None returns the start.
    start : {"auto", "tree", "tfidf", "moments"}, default="auto"
        "moments" decomposes the moments of the model (T Proposition 1.2.1). "tree" and "tfidf"
        group the samples as in :class:`SingleTopicModel`, by proportions rather than totals.
        "auto" is "moments".
    smoothing : float > 0, default=1.0
        Number of average samples added to every component, so that no mean of an occurring feature
        is zero.
    max_iter : int >= 1, default=100
        Maximum number of EM steps.
    tol : float >= 0, default=1e-5
        EM stops when a step raises the log-likelihood, plus the log prior of `smoothing`, by no
        more than this fraction of its size.
    half_life : float > 0 or None, default=None
        Number of batches after which samples count half in :meth:`partial_fit`. None never forgets.
    warm_start : bool, default=False
        Start from the components of the last ``fit``, if their number and features are the same.
    vectorizer : TextVectorizer or None, default=None
        Counts the words of texts given to :meth:`fit`: their language, stop words and frequencies.
        None is ``TextVectorizer()``. Other vectorizers with scikit-learn's interface, such as
        ``CountVectorizer``, are accepted too; a model with one cannot be saved to a file.
    random_state : int, RandomState or None, default=None
        Seed for random decompositions. None means seed 0.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.models`` always gets it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        omega, descending, sum 1. If the data support fewer than `n_components` components, ``fit``
        warns and returns fewer.
    means_ : ndarray of shape (n_components, n_features)
        mu in rows, >= 0.
    components_ : ndarray of shape (n_components, n_features)
        The same array, under the name that all flat models use.
    posterior_ : PoissonParameters
        Parameters used to assign samples: those above, with zeros from the moments smoothed.
    labels_ : ndarray of int of shape (n_samples,)
        Component of each sample.
    n_iter_ : int
        Number of EM steps; 1 without EM.
    n_passes_ : float
        Passes over the data: how often a row was read, on average.
    converged_ : bool
        Whether EM reached its tolerance; True without EM.
    diagnostics_ : mapping
        See :class:`momentree.objects.Decomposition`; also "start" and, after EM,
        "log_likelihood" of all samples in nats, without the factorials of the counts.
    mean_count_ : float
        Mean total per sample.
    vocabulary_ : ndarray of str of shape (n_features,)
        Column names; "0", "1", ... if there are none.
    vectorizer_ : TextVectorizer
        Counts new texts, after a fit to texts.
    notes_ : list of Message
        What was stripped, dropped or found twice in texts; and whether counts had no column names.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Column names, if X was a data frame.

    Notes
    -----
    Implements T Proposition 1.2.1 and section 2.3. Negative means are set to zero after the
    decomposition. Time: O(nnz k) per EM step and O(nnz k^2) for the moments. Memory: O(d k^2).

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Sections 1.2 and 2.3.

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

    n_components: int = 8
    _: KW_ONLY
    decomposition: Decomposer = "sidiwo"
    refine: Refine | None = "em"
    start: Start = "auto"
    smoothing: float = 1.0
    max_iter: int = 100
    tol: float = 1e-5
    half_life: float | None = None
    warm_start: bool = False
    vectorizer: Vectorizer | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    sample = groups.sample

    @property
    def means_(self) -> Floats:
        """Means of the components, shape (n_components, n_features)."""
        return self.components_

    def _chosen_start(self) -> str:
        return "moments" if self.start == "auto" else self.start

    def _moments(self, data: ScaledCounts) -> Moments:
        return PoissonMoments(data.rows, sample_weight=data.weight)

    def _valid_centers(self, found: Decomposition) -> Floats:
        return np.maximum(found.centers, 0.0)

    def _log_base(self, X: Any) -> Floats:
        return -log_factorials(X)

    def _draw(self, labels: Ints, rng: np.random.RandomState) -> Any:
        d = self.components_.shape[1]
        return draw_by_component(labels, d, lambda j, n: rng.poisson(self.means_[j], (n, d)))
