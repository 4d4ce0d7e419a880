"""LatentDirichletAllocation: documents that mix topics, by moments (S Theorem 3) and EM."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from momentree import backends
from momentree._types import Floats, Ints
from momentree._validation import generator, rules
from momentree.backends import products, sources
from momentree.core import choices, pages, ties
from momentree.estimators import batches, names, page, texts
from momentree.inference import (
    completion_log_likelihood,
    log_multinomial,
    split_words,
    variational_bound,
    variational_gammas,
    variational_proportions,
)
from momentree.messages import Message
from momentree.models import _steps as steps
from momentree.models._base import FlatModel, log
from momentree.models._lda_starts import LDAData, from_moments, from_single_topics, most_likely
from momentree.models.count_models import SingleTopicModel
from momentree.moments.lda import check_alpha0
from momentree.objects import LDAParameters, MixtureSums
from momentree.persistence import fields
from momentree.refinement import RefinedLDA, variational_em
from momentree.tree.topic_growth import is_sampled

Start = Literal["auto", "moments", "single-topic"]


def _check_alpha0(name: str, value: Any) -> None:  # noqa: ARG001
    if value is not None:
        check_alpha0(value)


@dataclass(eq=False, repr=False)
class LatentDirichletAllocation(FlatModel):
    """Find topics in documents that mix them.

        h ~ Dirichlet(alpha),   each word: Y ~ Discrete(h), w | Y = j ~ Discrete(mu_j)

    The same documents give the same topics on every run and in any order of rows.

    Parameters
    ----------
    n_components : int >= 1 or "auto", default=8
        Number of topics k. "auto" chooses it by :func:`momentree.choose_n_components`.
    alpha0 : float > 0 or None, default=None
        Total concentration alpha_0 = sum_i alpha_i assumed by the moments; close to zero if each
        document has one topic. None estimates it; see
        :func:`momentree.decomposition.estimate_alpha0`.
    decomposition : str or callable, default="sidiwo"
        "sidiwo", "svtd", "tensor_power_method", "als", "svd_method", "eigendecomposition",
        "jennrich" or "random_projections" from ``momentree.decomposition``, or a function with the
        same signature.
    refine : {"em", None}, default="em"
        "em" refines topics and alpha by variational EM. None returns the start.
    start : {"auto", "moments", "single-topic"}, default="auto"
        "moments" decomposes the moments of the model (S Theorem 3), which is exact in the limit of
        infinitely many documents. "single-topic" uses the topics of :class:`SingleTopicModel`.
        "auto" keeps the one with the lower document completion perplexity: usually
        "single-topic" for real text. Without refinement, "auto" is "moments".
    vectorizer : TextVectorizer or None, default=None
        Counts the words of texts given to :meth:`fit`: their language, stop words and frequencies.
        None is ``TextVectorizer()``. Other vectorizers with scikit-learn's interface, such as
        ``CountVectorizer``, are accepted too; a model with one cannot be saved to a file.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_components,)
        Concentrations, descending. If the data support fewer than `n_components` topics, ``fit``
        warns and returns fewer.
    weights_ : ndarray of shape (n_components,)
        alpha_i / alpha_0, the expected topic proportions; sum 1.
    components_ : ndarray of shape (n_components, n_features)
        Topics in rows: P[word | topic], sum 1.
    posterior_ : LDAParameters
        Parameters used for inference: ``alpha_`` and ``components_``, with zeros from the moments
        smoothed.
    labels_ : ndarray of int of shape (n_samples,)
        Topic with the largest proportion in each document; -1 for documents without words.
    n_iter_ : int
        Number of EM steps; 1 without EM.
    n_passes_ : float
        Passes over the data: how often a row was read, on average.
    converged_ : bool
        Whether EM reached its tolerance; True without EM.
    diagnostics_ : mapping
        See :class:`momentree.objects.Decomposition`; also "start"; "alpha0" at the start; after EM,
        "bound" (see :class:`momentree.refinement.RefinedLDA`). With moments: "alpha0_estimate",
        "alpha0_reason" and "alpha0_curve" (values tried, and the off-diagonal fraction of the third
        moment for each); if these contradict the given `alpha0`, "warnings" contains a message. If
        starts were compared, "completion" contains their names, alpha_0 and perplexity.
    choice_ : ComponentChoice or None
        How "auto" chose the number of topics: the number, its interval, the reason and the curve.
        None if the number was given. Not saved in files.
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
        the length of documents depends on their topics; "uniform" is not.
    smoothing : float > 0, default=0.05
        Strength of the prior, in tokens: the count added to every word in every topic, so that no
        probability is 0.
    max_iter : int >= 1, default=30
        Maximum number of EM steps.
    tol : float >= 0, default=5e-5
        EM stops when a step raises the variational bound by no more than this fraction of its size.
    half_life : float > 0 or None, default=None
        Number of batches after which samples count half in :meth:`partial_fit`; None forgets none.
    random_state : int, RandomState or None, default=None
        Seed for "three_words" and random decompositions. None means seed 0.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.models`` always gets it.

    Notes
    -----
    ``refine=None`` is the method of S sections 2.2 and 3: the estimators of Theorem 3, a
    decomposition, and a projection of the topics onto the simplex. A few steps of variational EM
    reduce the error of these topics by about a quarter, but underestimate alpha_0 = 1 by a tenth to
    a third. On real text, where words are bursty, the estimate from moments is only a start.

    Counts are not log-scaled, because log-scaled counts do not follow a mixture of topics. Time:
    O(nnz k^2) for the moments and O(nnz k) per round of inference, with five rounds per EM step.
    Memory beyond X: O(nnz) for an ordered copy, and O(d k^2 + n k).

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4
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

    _counts_orders = True
    _leaves_out_empty = True
    _auto_model: ClassVar[choices.TopicModel | None] = "lda"

    n_components: int | Literal["auto"] = 8
    _: KW_ONLY
    alpha0: float | None = None
    decomposition: steps.Decomposer = "sidiwo"
    refine: choices.Refine | None = "em"
    start: Start = "auto"
    vectorizer: texts.Vectorizer | None = None
    weighting: choices.Weighting = "length"
    smoothing: float = 0.05
    max_iter: int = 30
    tol: float = 5e-5
    half_life: float | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    _rules: ClassVar[rules.Rules] = {
        **FlatModel._rules,
        "tol": rules.number(at_least=0),
        "refine": rules.REFINE,
        "start": get_args(Start),
        "weighting": get_args(choices.Weighting),
        "alpha0": _check_alpha0,
        "vectorizer": texts.check_vectorizer,
    }
    _fields: ClassVar[fields.Fields] = {**FlatModel._fields, "vectorizer_": fields.DERIVED}

    fit = texts.fit
    partial_fit = texts.partial_fit
    set_params = texts.set_params
    sample = steps.sample_documents
    to_html = page.topics_to_html
    name_topics, languages_ = names.name_topics, names.languages_
    _counts, _unpack = texts.counts_of, texts.restore_vectorizer

    @property
    def alpha_(self) -> Floats:
        """Concentrations of the topics, shape (n_components,)."""
        return np.asarray(self.posterior_.alpha)

    def _for_sums_alone(self, rows: backends.Rows) -> Mapping[str, Any]:
        instead: dict[str, Any] = {}
        # Rows in files on this machine are here for whatever needs single rows.
        here = isinstance(rows, backends.FileRows) and is_sampled(rows, self._wanted)
        if self._is_auto:
            instead["n_components"] = 8
        if self.weighting == "three_words":
            instead["weighting"] = "length"
        if self.refine and not here:
            instead["refine"] = None
        if self.start not in ("auto", "moments") and not here:
            instead["start"] = "moments"
        return instead

    def _fit_components(
        self, samples: Any, weight: backends.RowArray
    ) -> tuple[steps.FitResult, Ints | None]:
        rows, weight, at = backends.ordered(backends.as_rows(samples), weight)
        data = LDAData(rows, weight, self.smoothing)
        start = self._initialize(data)
        fitted, topics, diagnostics = start.parameters, start.centers, start.diagnostics
        result = steps.FitResult(fitted, fitted.weights, topics, diagnostics)
        if self.refine:
            log.info("refining %d topics", fitted.n_components)
            refined = variational_em(
                rows,
                fitted,
                sample_weight=weight,
                smoothing=self.smoothing,
                max_iter=self.max_iter,
                tol=self.tol,
            )
            fitted = refined.parameters
            result = steps.FitResult(
                fitted,
                fitted.weights,
                fitted.centers,
                {**diagnostics, "bound": refined.bound},
                refined.n_iter,
                refined.converged,
                sums=self._sums_of(data, refined),
            )
        log.info("inferring topic proportions")
        result = result.largest_first(
            lambda p: rows.map(products.largest_column, variational_proportions(rows, p))
        )
        return result, at

    def _sums_of(self, data: LDAData, refined: RefinedLDA) -> MixtureSums:
        """Return the sums of documents with words."""
        lengths = data.rows.row_sums
        total, n, start = 0.0, 0.0, 0
        for words in pages.in_parts(lengths):
            weight = data.weight[start : start + len(words)]
            total += float(weight @ words)
            n += float(weight[words > 0].sum())
            start += len(words)
        logs, none = -n * refined.mean_logs, np.empty((0, len(refined.mean_logs)))
        n_samples = len(data.weight)
        return MixtureSums(n_samples, refined.sums, logs, none, self.smoothing, total, n)

    def _updated(
        self,
        X: Any,
        missing: Any | None,  # noqa: ARG002 - counts are complete
        weight: Floats,
        before: MixtureSums,
    ) -> tuple[steps.FitResult, Ints | None, batches.BatchUpdate]:
        rows, weight, at = backends.ordered(backends.as_rows(X), weight)
        data = LDAData(rows, weight, self.smoothing)
        n = before.weight
        refined = variational_em(
            backends.collected(rows),
            self.posterior_,
            sample_weight=data.weight,
            smoothing=self.smoothing,
            max_iter=self.max_iter,
            tol=self.tol,
            before=(before.statistics, -before.sizes / n, n),
        )
        fitted = refined.parameters
        H = variational_proportions(rows, fitted)
        result = steps.FitResult(
            fitted,
            fitted.weights,
            fitted.centers,
            self.diagnostics_,
            refined.n_iter,
            refined.converged,
            before.plus(self._sums_of(data, refined)),
            labels=ties.largest(H),
        )
        w = float(weight.sum())
        update = batches.BatchUpdate(np.arange(fitted.n_components), data.weight @ H / w, w)
        return result, at, update

    def _initialize(self, data: LDAData) -> steps.Initialization[LDAParameters]:
        kind = self.start if self.start != "auto" or self.refine else "moments"
        log.info("starting from %s", kind)
        starts: list[steps.Initialization[LDAParameters]] = []
        warnings: list[Message] = []
        if kind != "single-topic":
            starts, warnings = from_moments(
                data,
                self._decompose,
                self._wanted,
                alpha0=self.alpha0,
                weighting=self.weighting,
                random_state=self.random_state,
            )
        if kind != "moments":
            model = SingleTopicModel(
                self._wanted, decomposition=self.decomposition, random_state=self.random_state
            )
            starts.append(from_single_topics(data, model, alpha0=self.alpha0))
        best, numbers = most_likely(data, starts) if kind == "auto" else (starts[0], {})
        diagnostics = {**starts[0].diagnostics, **best.diagnostics, **numbers}
        diagnostics["warnings"] = [*best.diagnostics["warnings"], *warnings]
        return steps.Initialization(best.parameters, best.weights, best.centers, diagnostics)

    @sources.by_partition
    def predict_proba(self, X: Any) -> Floats:
        """Return the expected topic proportions of each document.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Word counts with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1. A document without words has the proportions ``weights_``.
        """
        X = self._new_counts(X)
        with backends.single_threaded_blas():
            return np.asarray(variational_proportions(backends.RowBlocks(X), self.posterior_))

    @sources.by_partition
    def score_samples(self, X: Any) -> Floats:
        """Return the ELBO, a lower bound on the log-likelihood of each document.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Word counts with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            In nats, of the counts given their sum, including the multinomial coefficient as in
            :meth:`SingleTopicModel.score_samples`. The likelihood itself has no closed form.
        """
        X = self._new_counts(X)
        rows = backends.RowBlocks(X)
        with backends.single_threaded_blas():
            gammas = variational_gammas(rows, self.posterior_)
            bound = variational_bound(rows, self.posterior_, gammas)
        return np.asarray(bound + log_multinomial(X))

    def completion_perplexity(
        self, X: Any, *, random_state: int | np.random.RandomState | None = None
    ) -> float:
        """Return the document completion perplexity of half of the words given the other half.

            exp(-sum x_w log sum_j h_j mu_wj / sum x_w),   h inferred from the first half

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Word counts of held-out documents, with the columns of ``fit``.
        random_state : int, RandomState or None, default=None
            Seed for the halves; None means seed 0.

        Returns
        -------
        float
            At least 1; smaller is better; NaN if there are no words.

        Notes
        -----
        Unlike :meth:`perplexity`, this is not a bound, so you can compare models with different
        inference.
        """
        known, hidden = split_words(self._new_counts(X), generator(random_state))
        words = float(hidden.sum())
        with backends.single_threaded_blas():
            proportions = variational_proportions(backends.RowBlocks(known), self.posterior_)
            values = completion_log_likelihood(
                backends.RowBlocks(hidden), self.posterior_, proportions
            )
        return float(np.exp(-values.sum() / words)) if words else float("nan")

    @property
    def _n_parameters(self) -> int:
        return int(self.components_.size)

    def _draw_documents(
        self, n_samples: int, length: int, rng: np.random.RandomState
    ) -> tuple[Any, Floats]:
        h = rng.dirichlet(self.alpha_, n_samples)

        def draw(at: slice) -> Any:
            P = h[at] @ self.components_
            P /= P.sum(axis=1, keepdims=True)
            return np.array([rng.multinomial(length, p) for p in P])

        return steps.draw_rows(n_samples, self.components_.shape[1], draw), h
