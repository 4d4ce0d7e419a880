"""SingleTopicModel: a mixture of multinomials, learned from the moments of word counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from momentree._validation import check_whole
from momentree.exceptions import InvalidParameterError
from momentree.inference import log_multinomial
from momentree.models._mixture import Corpus, CountMixture, Start
from momentree.moments import SingleTopicMoments, Weighting
from momentree.objects import Decomposition, MixtureParameters, Moments, TopicParameters
from momentree.parameters import project_to_simplex
from momentree.preprocessing import LogScaling

__all__ = ["SingleTopicModel"]

Floats = NDArray[np.float64]


class SingleTopicModel(CountMixture):
    """Learn a flat list of topics, one topic a document, by the method of moments.

        Y ~ Discrete(omega),   x | Y = j ~ Multinomial(c, mu_j)     (S section 2.1)

    No random restarts: the same data give the same topics on every run, in any order of rows (to
    the last bit up to four million stored counts, to rounding beyond).

    Parameters
    ----------
    n_components : int >= 1, default=8
        Number of topics k.
    decomposition : str or callable, default="sidiwo"
        How moments are taken apart: "sidiwo", "svtd", "tensor_power_method", "als",
        "svd_method", "eigendecomposition", "jennrich" or "random_projections", each the function
        of that name in ``momentree.decomposition``; or a callable of their signature.
    refine : {"em", None}, default="em"
        "em" improves the start by expectation-maximisation. None leaves what the moments give.
    start : {"auto", "tree", "tfidf", "moments"}, default="auto"
        How moments give the start. "moments" decomposes the moments of the model (S Theorem 1)
        into k topics at once, which is exact in the limit of many documents of that model. "tree"
        decomposes them into two, splits the documents, and goes on with the group whose split
        gains most likelihood, until there are k groups (H Algorithm 2, best first). "tfidf"
        decomposes the raw moments of rows scaled to tf-idf and unit length, with no model (T
        Algorithm 5, for k components), and puts each document where its score is largest. "auto"
        is "tree" before EM and "moments" without it.
    log_scaling : {"auto", "log1p", None}, default="auto"
        "log1p" damps counts, and the length of documents, before moments and EM: words come in
        bursts; see :func:`momentree.preprocessing.log_scale`. "auto" is "log1p" before EM, and None without
        it or with ``weighting="three_words"``. Topics are always told in counts as they are.
    weighting : {"length", "uniform", "three_words"}, default="length"
        How documents are weighted in the moments of the model; see
        :class:`momentree.moments.SingleTopicMoments`. "length" has less noise, and a bias where
        the length of documents depends on their topic; "uniform" has none.
    smoothing : float > 0, default=1.0
        Pseudo-count of every word in every topic, in words; 1 is the rule of Laplace.
    max_iter : int >= 1, default=100
        Most steps of EM.
    tol : float >= 0, default=1e-5
        EM stops when a step raises the log-likelihood, plus the log prior that `smoothing` stands
        for, by no more than this share of its size.
    warm_start : bool, default=False
        Start from the topics of the last ``fit`` where it had as many, of as many words.
    random_state : int, RandomState or None, default=None
        For decompositions that draw, and ``weighting="three_words"``. None is seed 0.
    verbose : bool or int, default=False
        Tell the progress on standard error; the logger ``momentree.models`` always has it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        omega, descending, sum 1. Fewer than asked for, with a warning, where the moments show
        fewer. EM may take all weight from a topic that the data do not need.
    components_ : ndarray of shape (n_components, n_features)
        Topics in rows: P[word | topic], sum 1. Likelihoods and samples are those of the mixture
        of ``weights_`` and ``components_``.
    posterior_ : TopicParameters
        Topics of the log-scaled counts, by which documents are assigned: ``posterior_.weights`` of
        shape (n_components,) and ``posterior_.centers`` of shape (n_features, n_components), in
        the order of ``weights_``; see :meth:`predict_proba`. Without log scaling ``weights_`` and
        ``components_``; zeros that moments alone leave are smoothed.
    labels_ : ndarray of int of shape (n_samples,)
        Topic of each document: the likeliest.
    n_iter_ : int
        Steps of EM; 1 without it.
    converged_ : bool
        Whether EM met its tolerance; True without it.
    diagnostics_ : mapping
        Of the decomposition (see :class:`momentree.objects.Decomposition`), with "start" and, after
        EM, "log_likelihood" in nats, of all documents, on the counts that it worked on, less the
        multinomial coefficients.
    mean_count_ : float
        Words of a document, on average.
    vocabulary_ : ndarray of str of shape (n_features,)
        Names of the columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Only where X is a data frame with names.

    Notes
    -----
    ``refine=None`` is S section 2 and 3: the estimators of Theorem 1, a decomposition, topics
    projected to the simplex. It is consistent where the length of documents does not depend on
    their topic, and with ``weighting="uniform"`` in any case; on real text it is far behind EM,
    since a few long documents carry the third moment. Why the defaults are what they are was
    measured on eight labelled corpora, see ``docs/choices.md``. Time O(nnz k) a step of EM; the
    moments take O(nnz log k) for "tree" as long as splits are even, O(nnz k^2) for the others.
    Memory beyond X: 8 bytes a stored value up to four million of them, 8 beyond with log scaling, none
    without; O(d k^2).

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018.
    .. [2] M. Ruffini, G. Rabusseau, B. Balle. Hierarchical methods of moments. NIPS 2017.

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

    _family: ClassVar[type[MixtureParameters]] = TopicParameters
    _draws_words = True
    _choices: ClassVar[dict[str, tuple[Any, ...]]] = {
        **CountMixture._choices,
        "log_scaling": ("auto", "log1p", None),
        "weighting": ("length", "uniform", "three_words"),
    }

    def __init__(
        self,
        n_components: int = 8,
        *,
        decomposition: str | Callable[..., Decomposition] = "sidiwo",
        refine: Literal["em"] | None = "em",
        start: Start = "auto",
        log_scaling: Literal["auto"] | LogScaling | None = "auto",
        weighting: Weighting = "length",
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
        self.log_scaling = log_scaling
        self.weighting = weighting
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.weighting == "three_words" and self._chosen_log_scaling():
            msg = "weighting='three_words' draws words from whole counts; give log_scaling=None with it"
            raise InvalidParameterError(msg)

    def _chosen_start(self) -> str:
        if self.start == "auto":
            return "tree" if self.refine else "moments"
        return self.start

    def _chosen_log_scaling(self) -> LogScaling | None:
        if self.log_scaling == "auto":
            return "log1p" if self.refine and self.weighting != "three_words" else None
        return self.log_scaling

    def _moments(self, corpus: Corpus) -> Moments:
        return SingleTopicMoments.from_rows(
            corpus.rows,
            sample_weight=corpus.weight,
            weighting=self.weighting,
            count_per_token=corpus.unit,
            random_state=self.random_state,
        )

    def _valid_centers(self, found: Decomposition) -> Floats:
        return project_to_simplex(found.centers)

    def _log_base(self, X: Any) -> Floats | float:
        return log_multinomial(X)

    @property
    def _n_parameters(self) -> int:
        return int(self.components_.size - 1)

    def sample(
        self,
        n_samples: int = 1,
        *,
        length: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[Any, NDArray[np.intp]]:
        """Draw documents from the fitted model.

        Parameters
        ----------
        n_samples : int >= 1, default=1
            Number of documents.
        length : int >= 0, default=None
            Words in each; None takes the mean of the documents of ``fit``, rounded.
        random_state : int, RandomState or None, default=None
            Seed; None is seed 0.

        Returns
        -------
        X : csr_array of int64, shape (n_samples, n_features)
            Counts.
        labels : ndarray of int of shape (n_samples,)
            Topic of each document.
        """
        rng, labels = self._drawn(n_samples, random_state)
        if length is not None:
            check_whole("length", length)
        length = round(self.mean_count_) if length is None else length
        topics = self.components_ / self.components_.sum(axis=1, keepdims=True)
        return self._drawn_rows(labels, lambda j, n: rng.multinomial(length, topics[j], n)), labels
