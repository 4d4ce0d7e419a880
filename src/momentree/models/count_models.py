"""SingleTopicModel and PoissonMixture: mixtures for counts, by moments and EM."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from momentree import objects
from momentree._types import Floats, Ints
from momentree._validation import rules
from momentree.core.choices import AutoLogScaling, Refine, TopicModel, Weighting
from momentree.estimators import groups, texts
from momentree.exceptions import InvalidParameterError
from momentree.inference import log_multinomial, posteriors
from momentree.messages import wording
from momentree.models._count_mixture import CountMixture
from momentree.models._steps import Decomposer, draw_by_component, sample_documents
from momentree.moments import PoissonMoments, SingleTopicMoments
from momentree.parameters import project_to_simplex
from momentree.tree.topic_growth import ScaledCounts


@dataclass(eq=False, repr=False)
class SingleTopicModel(CountMixture):
    """Find a flat list of topics, one topic per document.

        Y ~ Discrete(omega),   x | Y = j ~ Multinomial(c, mu_j)     (S section 2.1)

    The same documents give the same topics on every run and in any order of rows (exactly for up
    to four million stored counts, to rounding error beyond).

    Parameters
    ----------
    n_components : int >= 1 or "auto", default=8
        Number of topics k. "auto" chooses it by :func:`momentree.choose_n_components`.
    decomposition : str or callable, default="sidiwo"
        "sidiwo", "svtd", "tensor_power_method", "als", "svd_method", "eigendecomposition",
        "jennrich" or "random_projections" from ``momentree.decomposition``, or a function with the
        same signature. It decomposes the moments of ``start="moments"``.
    refine : {"em", None}, default="em"
        "em" refines the start by expectation-maximization. None returns the start.
    start : {"auto", "search", "tree", "moments"}, default="auto"
        "moments" decomposes the moments of the model (S Theorem 1), which is exact in the limit of
        infinitely many documents. "tree" splits the documents in two, and then always splits the
        group that gains most likelihood, until there are k groups (H Algorithm 2, best first).
        "search" starts from the groups of this tree and from groups by tf-idf, merges two
        components and splits another, and moves single documents, as long as this raises the
        likelihood, and keeps the more likely answer; it takes about three times as long as "tree".
        "auto" is "search" with EM and "moments" without it.
    log_scaling : {"auto", "log1p", None}, default="auto"
        "log1p" scales counts by log2(1 + x), and documents to the square root of their length,
        before moments and EM, because words are bursty; see
        :func:`momentree.preprocessing.log_scale`. Topics are always reported for the raw counts.
        "auto" is None without EM or with ``weighting="three_words"``. Otherwise it is "log1p" if
        words repeat within the documents of a topic at least 1.5 times as often as independent
        words would; see :func:`momentree.preprocessing.repetition`.
    vectorizer : TextVectorizer or None, default=None
        Counts the words of texts given to :meth:`fit`: their language, stop words and frequencies.
        None is ``TextVectorizer()``. Other vectorizers with scikit-learn's interface, such as
        ``CountVectorizer``, are accepted too; a model with one cannot be saved to a file.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        omega, descending, sum 1. If the data support fewer than `n_components` topics, ``fit``
        warns and returns fewer: it also drops topics that no document is left in after EM.
    components_ : ndarray of shape (n_components, n_features)
        Topics in rows: P[word | topic], sum 1.
    posterior_ : TopicParameters
        Parameters used to assign documents: weights and topics of the log-scaled counts; see
        :meth:`predict_proba`. Without log scaling: ``weights_`` and ``components_``, smoothed.
    choice_ : ComponentChoice or None
        How "auto" chose the number of topics: the number, its interval, the reason and the curve.
        None if the number was given. Not saved in files.
    labels_ : ndarray of int of shape (n_samples,)
        Most probable topic of each document; -1 for documents without words, which are in none.
    n_iter_ : int
        Number of EM steps; 1 without EM.
    n_passes_ : float
        Passes over the data: how often a row was read, on average.
    converged_ : bool
        Whether EM reached its tolerance; True without EM.
    diagnostics_ : mapping
        See :class:`momentree.objects.Decomposition`; also "start" and, after EM,
        "log_likelihood" of all (log-scaled) counts in nats, without the multinomial coefficients.
    log_scaling_ : {"log1p", None}
        The scaling of counts that was used.
    mean_count_ : float
        Mean number of words per document.
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

    Other Parameters
    ----------------
    weighting : {"length", "uniform", "three_words"}, default="length"
        Weights of documents in the moments of the model; see
        :class:`momentree.moments.SingleTopicMoments`. "length" has less noise, but is biased if
        the length of documents depends on their topic; "uniform" is not.
    smoothing : float > 0, default=1.0
        Strength of the prior, in tokens: the count added to every word in every topic, so that no
        probability is 0. 1 is Laplace smoothing. It is at most n_tokens / (4 d k), for a vocabulary
        of d words and k topics requested, so that all pseudo-counts of a topic are at most a
        quarter of the tokens of an average topic.
    max_iter : int >= 1, default=100
        Maximum number of EM steps.
    tol : float >= 0, default=1e-5
        EM stops when a step raises the log-likelihood, plus the log prior of `smoothing`, by no
        more than this fraction of its size.
    half_life : float > 0 or None, default=None
        Number of batches after which samples count half in :meth:`partial_fit`; None forgets none.
    random_state : int, RandomState or None, default=None
        Seed for random decompositions and for ``weighting="three_words"``. None means seed 0.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.models`` always gets it.

    Notes
    -----
    ``refine=None`` is the method of S sections 2 and 3: the estimators of Theorem 1, a
    decomposition, and a projection of the topics onto the simplex. It is consistent if the length
    of documents does not depend on their topic, and with ``weighting="uniform"`` in any case. On
    real text EM is far better, because a few long documents dominate the third moment.
    ``docs/choices.md`` reports the measurements behind the defaults.

    Time: O(nnz k) per EM step; for the moments O(nnz log k) with "tree", if splits are even, and
    O(nnz k^2) otherwise. Memory beyond X: O(d k^2 + n k); the counts of frequent words in a search,
    and 4 bytes per stored value if log-scaled counts are not whole numbers. Up to four million
    values are sorted, in a copy. Of 80,000 documents or more, the search works on a systematic
    sample of 20,000, or 1,000 for each topic, and of a million stored values or more by the 4,096
    most frequent words.

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4
    .. [2] M. Ruffini, G. Rabusseau, B. Balle. Hierarchical methods of moments. Advances in Neural
       Information Processing Systems 30, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import SingleTopicModel
    >>> rng = np.random.default_rng(0)
    >>> topics = np.array([[0.6, 0.2, 0.1, 0.1], [0.1, 0.1, 0.2, 0.6]])
    >>> truth = rng.choice(2, size=2000, p=[0.7, 0.3])
    >>> X = rng.multinomial(40, topics[truth])
    >>> model = SingleTopicModel(2, refine=None).fit(X)
    >>> bool(np.abs(model.components_ - topics).max() < 0.01)
    True
    >>> float(np.mean(model.labels_ == truth)) > 0.99
    True
    """

    _family: ClassVar[type[objects.MixtureParameters]] = objects.TopicParameters
    _counts_orders = True
    _leaves_out_empty = True
    _auto_model: ClassVar[TopicModel | None] = "single-topic"

    n_components: int | Literal["auto"] = 8
    _: KW_ONLY
    decomposition: Decomposer = "sidiwo"
    refine: Refine | None = "em"
    start: Literal["auto", "search", "tree", "moments"] = "auto"
    log_scaling: AutoLogScaling | None = "auto"
    vectorizer: texts.Vectorizer | None = None
    weighting: Weighting = "length"
    smoothing: float = 1.0
    max_iter: int = 100
    tol: float = 1e-5
    half_life: float | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    _rules: ClassVar[rules.Rules] = {
        **CountMixture._rules,
        "start": ("auto", "search", "tree", "moments"),
        "log_scaling": (*get_args(AutoLogScaling), None),
        "weighting": get_args(Weighting),
    }

    sample = sample_documents

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.weighting == "three_words" and self.log_scaling == "log1p":
            raise InvalidParameterError(
                wording.THREE_WORDS_AFTER_LOG_SCALING, weighting=self.weighting, log_scaling=None
            )

    def _choose_start(self) -> str:
        if self.start == "auto":
            return "search" if self.refine else "moments"
        return self.start

    @property
    def _weighting(self) -> Weighting:
        return self.weighting

    def _requested_log_scaling(self) -> AutoLogScaling | None:
        if self.log_scaling == "auto" and (not self.refine or self.weighting == "three_words"):
            return None
        return self.log_scaling

    def _moments(self, data: ScaledCounts) -> objects.Moments:
        return SingleTopicMoments.from_rows(
            data.rows,
            sample_weight=data.weight,
            weighting=self.weighting,
            count_per_token=data.count_per_token,
            random_state=self.random_state,
        )

    def _valid_centers(self, found: objects.Decomposition) -> Floats:
        return project_to_simplex(found.centers)

    def _log_base(self, X: Any) -> Floats:
        return log_multinomial(X)

    @property
    def _n_parameters(self) -> int:
        return int(self.components_.size - 1)

    def _draw_documents(
        self, n_samples: int, length: int, rng: np.random.RandomState
    ) -> tuple[Any, Ints]:
        labels = groups.draw_components(self.weights_, n_samples, rng)
        topics, d = self._profiles, self.components_.shape[1]
        X = draw_by_component(labels, d, lambda j, n: rng.multinomial(length, topics[j], n))
        return X, labels


@dataclass(eq=False, repr=False)
class PoissonMixture(CountMixture):
    """Cluster counts by a mixture of independent Poisson variables.

        Y ~ Discrete(omega),   x_w | Y = j ~ Poisson(mu_wj), independent     (T section 1.2)

    Unlike :class:`SingleTopicModel`, it also models the total of each sample.

    Parameters
    ----------
    n_components : int >= 1 or "auto", default=8
        Number of components k. "auto" fits 1, 2, ... components, up to 30, until BIC has not fallen
        three times in a row, and keeps the fit of lowest BIC without a component of fewer than five
        samples, which may be outliers.
    decomposition : str or callable, default="sidiwo"
        "sidiwo", "svtd", "tensor_power_method", "als", "svd_method", "eigendecomposition",
        "jennrich" or "random_projections" from ``momentree.decomposition``, or a function with the
        same signature. It decomposes the moments of ``start="moments"``.
    refine : {"em", None}, default="em"
        "em" refines the start by expectation-maximization. None returns the start.
    start : {"auto", "tree", "moments"}, default="auto"
        "moments" decomposes the moments of the model (T Proposition 1.2.1). "tree" groups the
        samples as in :class:`SingleTopicModel`, by proportions rather than totals. "auto" is
        "moments".
    vectorizer : TextVectorizer or None, default=None
        Counts the words of texts given to :meth:`fit`: their language, stop words and frequencies.
        None is ``TextVectorizer()``. Other vectorizers with scikit-learn's interface, such as
        ``CountVectorizer``, are accepted too; a model with one cannot be saved to a file.

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
        "log_likelihood" of all samples in nats, without the factorials of the counts; "bic", with
        ``n_components="auto"``: the BIC of 1, 2, ... components.
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

    Other Parameters
    ----------------
    smoothing : float > 0, default=1.0
        Strength of the prior, in samples: the number of average samples added to every component,
        so that no mean of an occurring feature is 0.
    max_iter : int >= 1, default=100
        Maximum number of EM steps.
    tol : float >= 0, default=1e-5
        EM stops when a step raises the log-likelihood, plus the log prior of `smoothing`, by no
        more than this fraction of its size.
    half_life : float > 0 or None, default=None
        Number of batches after which samples count half in :meth:`partial_fit`; None forgets none.
    random_state : int, RandomState or None, default=None
        Seed for random decompositions. None means seed 0.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.models`` always gets it.

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

    _family: ClassVar[type[objects.MixtureParameters]] = objects.PoissonParameters

    n_components: int | Literal["auto"] = 8
    _: KW_ONLY
    decomposition: Decomposer = "sidiwo"
    refine: Refine | None = "em"
    start: Literal["auto", "tree", "moments"] = "auto"
    vectorizer: texts.Vectorizer | None = None
    smoothing: float = 1.0
    max_iter: int = 100
    tol: float = 1e-5
    half_life: float | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    _rules: ClassVar[rules.Rules] = {
        **CountMixture._rules,
        "start": ("auto", "tree", "moments"),
    }

    sample = groups.sample

    @property
    def means_(self) -> Floats:
        """Means of the components, shape (n_components, n_features)."""
        return self.components_

    def _choose_start(self) -> str:
        return "moments" if self.start == "auto" else self.start

    def _moments(self, data: ScaledCounts) -> objects.Moments:
        return PoissonMoments(data.rows, sample_weight=data.weight)

    def _valid_centers(self, found: objects.Decomposition) -> Floats:
        return np.maximum(found.centers, 0.0)

    def _log_base(self, X: Any) -> Floats:
        return -posteriors.log_factorials(X)

    def _draw(self, labels: Ints, rng: np.random.RandomState) -> Any:
        d = self.components_.shape[1]
        return draw_by_component(labels, d, lambda j, n: rng.poisson(self.means_[j], (n, d)))
