"""LatentDirichletAllocation: documents that mix topics, learned from the moments of word counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from momentree._fit import all_or_nothing
from momentree._logging import console_logging
from momentree._validation import check_whole, generator
from momentree.backends import RowBlocks, in_canonical_order, single_threaded_blas
from momentree.inference import (
    completion_log_likelihood,
    gibbs_proportions,
    log_multinomial,
    split_words,
    variational_bound,
    variational_gammas,
    variational_proportions,
)
from momentree.models._base import FlatModel, drawn_rows, log, package_log
from momentree.models._lda_starts import Corpus, Start, from_moments, from_single_topics, likeliest
from momentree.models.single_topic_model import SingleTopicModel
from momentree.moments import Weighting
from momentree.moments.lda import check_alpha0
from momentree.objects import Decomposition, LDAParameters
from momentree.refinement import RefinedLDA, gibbs_em, variational_em

__all__ = ["LatentDirichletAllocation"]

Floats = NDArray[np.float64]


class LatentDirichletAllocation(FlatModel):
    """Learn topics that documents mix, by the method of moments.

        h ~ Dirichlet(alpha),   each word: Y ~ Discrete(h), w | Y = j ~ Discrete(mu_j)

    No random restarts: the same data give the same topics on every run, in any order of rows.

    Parameters
    ----------
    n_components : int >= 1, default=8
        Number of topics k.
    alpha0 : float > 0 or None, default=None
        Total concentration alpha_0 = sum_i alpha_i with which the moments are corrected; small for
        documents of one topic. None estimates it from the moments (see
        :func:`momentree.decomposition.estimate_alpha0`).
    decomposition : str or callable, default="sidiwo"
        How moments are taken apart: "sidiwo", "svtd", "tensor_power_method", "als",
        "svd_method", "eigendecomposition", "jennrich" or "random_projections", each the function
        of that name in ``momentree.decomposition``; or a callable of their signature.
    refine : {"em", "variational", "gibbs", None}, default="em"
        "variational", also known as "em", improves topics and alpha by variational EM. "gibbs" is
        stochastic EM with a Gibbs sampler: slower, with less bias in alpha; whole counts only.
        None leaves what the moments give.
    start : {"auto", "moments", "single-topic"}, default="auto"
        Where refinement starts. "moments" decomposes the moments of the model (S Theorem 3), which
        is exact in the limit of many documents of it. "single-topic" starts from the topics of a
        :class:`SingleTopicModel`, as if each document had one topic. "auto" is "moments" where
        ``refine`` is None; else it tries both and keeps the one under which half of the words of
        documents tell the other half better: "moments" for documents of the model, most often
        "single-topic" for real text.
    weighting : {"length", "uniform", "three_words"}, default="length"
        How documents are weighted in the moments of the model; see
        :class:`momentree.moments.SingleTopicMoments`. "length" has less noise, and a bias where
        the length of documents depends on their topics; "uniform" has no such bias.
    inference : {"variational", "gibbs"}, default="variational"
        How shares of topics are inferred with topics known: mean field, or the sampler of S
        Remark 4, which is slower and takes whole counts only.
    smoothing : float > 0, default=0.05
        Pseudo-count of every word in every topic.
    max_iter : int >= 1, default=30
        Most steps of EM.
    tol : float >= 0, default=5e-5
        Variational EM stops when a step raises the bound by less than this share of its size.
    warm_start : bool, default=False
        Start from the topics of the last ``fit`` where it had as many, of as many words.
    random_state : int, RandomState or None, default=None
        For what samples: "gibbs", "three_words", decompositions that draw. None is seed 0.
    verbose : bool or int, default=False
        Tell the progress on standard error; the logger ``momentree.models`` always has it.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_components,)
        Concentrations, descending. Fewer topics than asked for, with a warning, where the moments
        show fewer.
    weights_ : ndarray of shape (n_components,)
        alpha_i / alpha_0, the expected shares of topics; sum 1.
    components_ : ndarray of shape (n_components, n_features)
        Topics in rows: P[word | topic], sum 1.
    posterior_ : LDAParameters
        What shares and likelihoods are inferred by: ``posterior_.alpha`` of shape (n_components,)
        and ``posterior_.centers`` of shape (n_features, n_components) are ``alpha_`` and
        ``components_``; without refinement the topics are smoothed.
    labels_ : ndarray of int of shape (n_samples,)
        Main topic of each document.
    n_iter_ : int
        Steps of EM; 1 without it.
    converged_ : bool
        Whether EM met its tolerance; True without it, and for "gibbs", which takes all its steps.
    diagnostics_ : mapping
        Of the decomposition (see :class:`momentree.objects.Decomposition`), with "start";
        "alpha0", the concentration at the start; after EM "bound", the lower bound that EM raised
        (see :class:`momentree.refinement.RefinedLDA`). From moments also
        "alpha0_estimate", "alpha0_curve" (values tried, share of the third moment that each
        leaves off the diagonal) and "alpha0_reason"; "advice" says so where the moments
        contradict the alpha_0 given. Where starts were compared, "completion" has their names,
        alpha_0 and perplexity.
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
    ``refine=None`` is S section 2.2 and 3: the estimators of Theorem 3, a decomposition, topics
    projected to the simplex. Variational EM from there lowers the error of topics by a quarter or
    so in a few steps. It puts alpha_0 too low, by a tenth to a third for alpha_0 = 1: the
    estimate from moments, in ``diagnostics_``, is the better one for documents of the model.
    On real text that one means little, because words come in bursts, and is only a start.

    Counts are never scaled: log scaling is not linear, and turns a mixture of topics into none. Time
    O(nnz k^2) for the moments and O(nnz k) a round of inference, of which EM makes five a step;
    memory beyond X: O(nnz) for its ordered copy, O(d k^2 + n k).

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018.
    .. [2] D. Blei, A. Ng, M. Jordan. Latent Dirichlet allocation. JMLR 3, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import LatentDirichletAllocation
    >>> from momentree.datasets import make_lda
    >>> sample = make_lda(4000, 50, 3, alpha=0.6, length=80, random_state=0)
    >>> model = LatentDirichletAllocation(3).fit(sample.X)
    >>> distance = np.abs(model.components_[:, None] - sample.components).sum(axis=2)
    >>> bool(distance.min(axis=0).max() < 0.06)
    True
    """

    _draws_words = True
    _choices: ClassVar[dict[str, tuple[Any, ...]]] = {
        "refine": ("em", "variational", "gibbs", None),
        "start": ("auto", "moments", "single-topic"),
        "weighting": ("length", "uniform", "three_words"),
        "inference": ("variational", "gibbs"),
    }

    alpha_: Floats
    posterior_: LDAParameters
    labels_: NDArray[np.intp]
    n_iter_: int
    converged_: bool
    diagnostics_: Mapping[str, Any]

    def __init__(
        self,
        n_components: int = 8,
        *,
        alpha0: float | None = None,
        decomposition: str | Callable[..., Decomposition] = "sidiwo",
        refine: Literal["em", "variational", "gibbs"] | None = "em",
        start: Literal["auto", "moments", "single-topic"] = "auto",
        weighting: Weighting = "length",
        inference: Literal["variational", "gibbs"] = "variational",
        smoothing: float = 0.05,
        max_iter: int = 30,
        tol: float = 5e-5,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.alpha0 = alpha0
        self.decomposition = decomposition
        self.refine = refine
        self.start = start
        self.weighting = weighting
        self.inference = inference
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.alpha0 is not None:
            check_alpha0(self.alpha0)

    # --- fit -------------------------------------------------------------------------------------

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002 - the convention of scikit-learn
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> LatentDirichletAllocation:
        """Fit the model.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Word counts >= 0, one document a row.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0: a weight of 2 is the same as the document twice.
        feature_names : sequence of str of shape (n_features,), default=None
            The words, for names and reports.

        Returns
        -------
        LatentDirichletAllocation
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X is not a matrix of counts from 0 to 1e30, weights or names do not fit it, there
            are fewer documents than topics, or counts are not whole where a sampler needs it.
        EmptyCorpusError
            If no document of positive weight holds a word.
        InvalidParameterError
            If a parameter is out of its range.
        """
        X, weight = self._check_fit(X, sample_weight, feature_names)
        with console_logging(package_log, bool(self.verbose)), single_threaded_blas():
            ordered, at = in_canonical_order(RowBlocks(X), weight)
            corpus = Corpus(ordered, weight[at], self.smoothing)
            start = self._start_of(corpus)
            shown_topics, used, numbers = start.found, start.smoothed, dict(start.diagnostics)
            self.n_iter_, self.converged_ = 1, True
            if self.refine:
                log.info("refining %d topics", used.n_components)
                refined = self._refined(corpus, used)
                shown_topics = used = refined.parameters
                self.n_iter_, self.converged_ = refined.n_iter, refined.converged
                numbers["bound"] = refined.bound
            order = np.argsort(-used.alpha, kind="stable")
            self.posterior_ = used.reordered(order)
            log.info("inferring shares of topics")
            self.labels_ = np.empty(X.shape[0], dtype=np.intp)
            self.labels_[at] = self._shares(ordered).argmax(axis=1)
        self.alpha_, self.weights_ = self.posterior_.alpha, self.posterior_.weights
        self.components_ = shown_topics.centers[:, order].T.copy()
        self.diagnostics_ = numbers
        self.mean_count_ = float(corpus.weight @ ordered.row_sums / weight.sum())
        return self

    def _start_of(self, corpus: Corpus) -> Start:
        goes_on = self.warm_start and self.refine  # what moments alone give has no past
        before = getattr(self, "posterior_", None) if goes_on else None
        shape = (corpus.rows.shape[1], self.n_components)
        if before is not None and before.centers.shape == shape:
            log.info("starting from the last fit")
            return Start(self.diagnostics_["start"], before, before, self.diagnostics_)
        kind = self.start if self.start != "auto" or self.refine else "moments"
        starts = []
        if kind != "single-topic":
            log.info("decomposing the moments of the model")
            starts += from_moments(
                corpus,
                self._decompose,
                self.n_components,
                alpha0=self.alpha0,
                weighting=self.weighting,
                random_state=self.random_state,
            )
        if kind != "moments":
            first = SingleTopicModel(
                self.n_components,
                decomposition=self.decomposition,
                random_state=self.random_state,
            )
            starts.append(from_single_topics(corpus, first, alpha0=self.alpha0))
        best, numbers = likeliest(corpus, starts) if kind == "auto" else (starts[0], {})
        return Start(
            best.name,
            best.found,
            best.smoothed,
            {
                **starts[0].diagnostics,
                **best.diagnostics,
                **numbers,
                "start": best.name,
                # A wrong alpha_0 is told whichever start is taken.
                "advice": [
                    *best.diagnostics["advice"],
                    *starts[0].diagnostics.get("alpha0_advice", []),
                ],
            },
        )

    def _refined(self, corpus: Corpus, start: LDAParameters) -> RefinedLDA:
        if self.refine == "gibbs":
            return gibbs_em(
                corpus.rows,
                start,
                sample_weight=corpus.weight,
                smoothing=self.smoothing,
                max_iter=self.max_iter,
                random_state=self.random_state,
            )
        return variational_em(
            corpus.rows,
            start,
            sample_weight=corpus.weight,
            smoothing=self.smoothing,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    # --- inference -------------------------------------------------------------------------------

    def _shares(self, rows: RowBlocks) -> Floats:
        if self.inference == "gibbs":
            return gibbs_proportions(rows, self.posterior_, random_state=self.random_state)
        return variational_proportions(rows, self.posterior_)

    def predict_proba(self, X: Any) -> Floats:
        """Return the expected share of each topic in each document.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Word counts in the columns of ``fit``. A document without words gets ``weights_``.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1.
        """
        X = self._checked(X)
        with single_threaded_blas():
            return self._shares(RowBlocks(X))

    def score_samples(self, X: Any) -> Floats:
        """Return a lower bound of the log-likelihood of each document (the ELBO).

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Word counts in the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            In nats, of the counts given their sum, with the multinomial coefficient as in
            :meth:`SingleTopicModel.score_samples`; the likelihood itself has no closed form.
        """
        X = self._checked(X)
        rows = RowBlocks(X)
        with single_threaded_blas():
            gammas = variational_gammas(rows, self.posterior_)
            bound = variational_bound(rows, self.posterior_, gammas)
        return np.asarray(bound + log_multinomial(X))

    def completion_perplexity(
        self, X: Any, *, random_state: int | np.random.RandomState | None = None
    ) -> float:
        """Return how hard one half of the words of documents is to guess from the other half.

            exp(-sum x_w log sum_j h_j mu_wj / sum x_w),   h inferred from the other half

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Word counts in the columns of ``fit``, of documents that were not in it.
        random_state : int, RandomState or None, default=None
            Halves the documents; None is seed 0.

        Returns
        -------
        float
            From 1; smaller is better. nan where there are no words.

        Notes
        -----
        Unlike :meth:`perplexity` it is no bound, and compares models whose inference differs.
        """
        known, asked = split_words(self._checked(X), generator(random_state))
        words = float(asked.sum())
        with single_threaded_blas():
            shares = self._shares(RowBlocks(known))
            values = completion_log_likelihood(RowBlocks(asked), self.posterior_, shares)
        return float(np.exp(-values.sum() / words)) if words else float("nan")

    @property
    def _n_parameters(self) -> int:
        return int(self.components_.size)

    def sample(
        self,
        n_samples: int = 1,
        *,
        length: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[Any, Floats]:
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
        proportions : ndarray of shape (n_samples, n_components)
            Shares of topics; rows sum to 1.
        """
        check_is_fitted(self, "components_")
        check_whole("n_samples", n_samples)
        if length is not None:
            check_whole("length", length)
        rng = generator(random_state)
        length = round(self.mean_count_) if length is None else length
        h = rng.dirichlet(self.alpha_, n_samples)

        def draw(at: slice) -> Any:
            P = h[at] @ self.components_
            P /= P.sum(axis=1, keepdims=True)
            return np.array([rng.multinomial(length, p) for p in P])

        return drawn_rows(n_samples, self.components_.shape[1], draw), h
