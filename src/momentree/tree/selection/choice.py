"""Choose the number of components by document completion and the spectrum of the moments."""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import ArrayLike

import momentree._validation as validation
import momentree.backends as backends
from momentree._types import Ints
from momentree.backends.sources import here
from momentree.core.choices import TopicModel
from momentree.core.progress import console_logging
from momentree.core.ties import largest
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.tree.growth import log
from momentree.tree.selection.candidates import Fits, Fold, LDAFits, SingleTopicFits, folds
from momentree.tree.selection.criteria import TEXT, Criterion, Estimate, combine, estimates, reason
from momentree.tree.selection.curves import Curves, Inner, Spectrum, evaluate, spectrum

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 64
"""The largest number of topics tried."""
MAX_DIRECTIONS = 32
"""The largest number of directions of the second moment."""
CANDIDATES = (*range(1, 33), *range(34, LARGEST + 1, 2))
COARSE = (*range(1, 9), 10, 12, 14, 16, 18, 21, 24, 28, 32, 38, 44, 52, LARGEST)
"""Those of the candidates that the leaves of trees are tried with."""
MIN_TESTS = 500
"""Documents on which the leaves of trees are tested, in as many folds as this takes."""


@dataclass(frozen=True)
class ComponentChoice:
    """The chosen number of components, with the reason.

    Attributes
    ----------
    n_components : int
        The number chosen.
    interval : tuple of int
        (low, high): the smallest and largest number that the data do not rule out.
    reason : Message
        Why. Its value ``facts`` is a tuple of messages: the answer, then one or more for each
        criterion.
    table : DataFrame
        One row per candidate, with columns "n_components"; "eigenvalue" of the direction with this
        number in one half of the samples, "held_out", its value in the other half, and
        "noise_floor", which this must exceed; "completion", the log-likelihood per hidden word in
        nats, and "completion_error", the standard error of its difference from the best; "seconds".
        NaN for numbers not tried, or into which the samples cannot be split.
    by_criterion : mapping
        For "completion" and "spectrum", (n_components, low, high); the one that decides is first.
    """

    n_components: int
    interval: tuple[int, int]
    reason: Message
    table: pd.DataFrame
    by_criterion: Mapping[str, tuple[int, int, int]]


def choose_n_components(
    X: Any,
    *,
    model: TopicModel = "single-topic",
    candidates: Sequence[int] | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: bool | int = False,
) -> ComponentChoice:
    """Choose the number of components of a model for word counts.

    Completion decides; for "lda" the spectrum, unless it reaches the largest candidate.

    - "completion": document completion, the log-likelihood per word of one half z of the words of
      new documents given the other half y, a mean over documents. The fewest components within one
      standard error of the largest mean of log sum_j P[j | y] P[z | j], with P[j | y] as in
      :meth:`SingleTopicModel.predict_proba`, or inferred topic proportions for "lda". On text,
      whose topics can be divided without end, the fewest with 90% of the gain; if at most 12
      directions of the spectrum exist and they are more, the spectrum decides.
    - "spectrum": the eigenvectors u of M2 of one half of the documents (S Theorem 1), for
      log-scaled counts and features scaled by (M1 + 1/d)^(-1/2), for which u^T M2 u in the other
      half is three standard errors above zero. If completion decides and the spectrum is lower,
      the answer moves down within the interval of completion, and its interval extends down.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Word counts >= 0. A Dask collection is brought to this machine.
    model : {"single-topic", "lda"}, default="single-topic"
        :class:`SingleTopicModel` or :class:`LatentDirichletAllocation`.
    candidates : sequence of int >= 1, default=None
        Numbers of components to try. None means 1 to 64 (every second number above 32), or for
        "lda" 1 to 6, 8, 11, 16, 23 and 32, but at most half the number of different samples. Only
        with None can the answer lie between candidates, if the spectrum gives such a number.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0 of the samples.
    random_state : int, RandomState or None, default=None
        Seed for the folds and for the halves of documents and words. None means seed 0.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.tree`` always gets it.

    Returns
    -------
    ComponentChoice
        The number, its interval, the reason, and all curves; see
        ``momentree.report.plot_n_components``.

    Raises
    ------
    InvalidDataError
        If X is not a matrix of counts from 0 to 1e30, if weights do not match it, or if a candidate
        exceeds the number of samples with a nonzero count.
    EmptyCorpusError
        If no sample of positive weight has a nonzero count.
    InvalidParameterError
        If `model` or `candidates` is invalid.

    Notes
    -----
    All candidates together take little longer than the largest one: they share one spectrum, and
    one best-first tree, whose first k - 1 splits initialize the fit with k components (H
    Algorithm 2). Documents are tested one fifth at a time, until 3,000 have been tested; until 500
    on text, where the leaves of the tree take the place of fits; for "lda" one fifth is tested.
    Copies of a document are never divided between training and testing. Fits of "lda" start from
    the topics of the tree and take ten EM steps. Time: O(nnz k) per step and candidate. Memory:
    O(nnz + (n + d) k).

    ``docs/how_many.md`` reports how often the answer is right. On real text the answer grows
    with the number of documents, so the reason also reports the fewest components with most of the
    gain.

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4
    .. [2] H. Wallach, I. Murray, R. Salakhutdinov, D. Mimno. Evaluation methods for topic models.
       ICML 2009.
    .. [3] A. Owen, P. Perry. Bi-cross-validation of the SVD and the nonnegative matrix
       factorization. Annals of Applied Statistics 3, 2009.

    Examples
    --------
    >>> from momentree import choose_n_components
    >>> from momentree.datasets import make_single_topic
    >>> sample = make_single_topic(600, 200, 4, length=60, random_state=0)
    >>> choice = choose_n_components(sample.X, candidates=range(1, 9))
    >>> choice.n_components, choice.interval
    (4, (4, 4))
    >>> print(*choice.reason.values["facts"][:2])
    4 topics. Document completion works best with 4 topics.
    """
    validation.check_choice("model", model, get_args(TopicModel))
    kind = _KINDS[model]
    rng = validation.generator(random_state)
    X = validation.check_counts(
        here(X, "choose_n_components")[0] if backends.is_collection(X) else X
    )
    weight = validation.check_sample_weight(sample_weight, X.shape[0])
    validation.check_something(X, weight)
    with (
        console_logging(logging.getLogger("momentree"), bool(verbose)),
        backends.single_threaded_blas(),
    ):
        ordered, at = backends.in_canonical_order(backends.RowBlocks(X), weight)
        usable = np.flatnonzero((weight[at] > 0) & (ordered.row_sums > 0))
        rows, weight = ordered.take(usable), weight[at][usable]
        groups = _copies(rows)
        tried = _check_candidates(candidates, kind, len(weight), int(groups.max()) + 1)
        parts = list(folds(rows.matrix, weight, groups, rng, n_test=kind.n_test))
        curves, inner = _evaluate(kind, tried, parts, early=candidates is None)
        log.info("cross-validating the spectrum of the second moment")
        largest = min(int(tried[-1]), MAX_DIRECTIONS)
        found = spectrum(rows.matrix, weight, groups, largest, rng)
    each = estimates(curves, found, inner, first=kind.first, between=candidates is None)
    answer = combine(each) if each else Estimate(*[int(tried[0])] * 3)
    return ComponentChoice(
        answer.n_components,
        (answer.low, answer.high),
        reason(answer, each, curves),
        _table(curves, found),
        {name: (one.n_components, one.low, one.high) for name, one in each.items()},
    )


def _evaluate(kind: _Kind, tried: Ints, parts: list[Fold], *, early: bool) -> tuple[Curves, Inner]:
    """Compute the curve: completion by the leaves of trees, then by fits where these can differ.

    Fits matter if the documents could come from a model with so many topics. On other text they
    cost much time, and tend to find ever more topics.
    """
    log.info("preparing fits of up to %d components to %d fold(s)", tried[-1], len(parts))
    few = _few(parts) if kind.make is SingleTopicFits else []
    trees = [SingleTopicFits(part, int(tried[-1]), steps=0) for part in few]
    if trees:
        only = np.intersect1d(tried, COARSE) if early else tried
        curves, inner = evaluate(tried, few, trees, only=only, early=early)
        if inner.correlation >= TEXT or _is_one(curves):
            return curves, inner
    makers: list[Fits] = [
        *(tree.refined() for tree in trees),
        *(kind.make(part, int(tried[-1])) for part in parts[len(few) :]),
    ]
    return evaluate(tried, parts, makers, early=early)


def _few(parts: list[Fold]) -> list[Fold]:
    """Return the first folds with enough test documents."""
    tested = np.cumsum([part.test.shape[0] for part in parts])
    return parts[: 1 + int(np.searchsorted(tested, MIN_TESTS))]


def _is_one(curves: Curves) -> bool:
    """Return whether completion is best with the first number tried."""
    values = curves.completion
    return not np.isfinite(values).any() or int(largest(values)) == 0


def _copies(rows: backends.RowBlocks) -> Ints:
    """Return a number for each document, the same for equal documents."""
    key = np.random.RandomState(1).random_sample(rows.shape[1])
    return np.unique(rows.map(lambda B: B.dot(key)), return_inverse=True)[1]


def _check_candidates(
    candidates: Sequence[int] | None, kind: _Kind, n: int, n_different: int
) -> Ints:
    if candidates is None:
        return np.array([k for k in kind.candidates if k <= max(1, n_different // 2)])
    try:
        tried = np.unique([operator.index(k) for k in candidates])
    except TypeError:
        tried = np.empty(0, dtype=np.intp)
    if not len(tried) or tried[0] < 1:
        raise InvalidParameterError(
            "[not_candidates] {parameters.candidates:=value}; expected whole numbers of 1 or more",
            value=candidates,
        )
    if tried[-1] > n:
        raise InvalidDataError(
            "[too_many_candidates] candidates go up to {largest}, but only {n_rows:~sample} "
            "{n_rows:?has/have} a count above zero; remove the candidates above that number",
            largest=int(tried[-1]),
            n_rows=n,
        )
    return tried.astype(np.intp)


def _table(curves: Curves, found: Spectrum) -> pd.DataFrame:
    import pandas as pd

    k = curves.candidates
    columns = {"n_components": k}
    for name, attribute in _DIRECTIONS.items():
        values = np.full(int(k[-1]), np.nan)
        known = getattr(found, attribute)
        values[: len(known)] = known
        columns[name] = values[k - 1]
    for column in fields(curves)[1:]:
        columns[column.name] = getattr(curves, column.name)
    return pd.DataFrame(columns)


_DIRECTIONS = {"eigenvalue": "eigenvalues", "held_out": "held_out", "noise_floor": "floor"}
"""Columns of the table, and the attributes of the spectrum that they contain."""


@dataclass(frozen=True)
class _Kind:
    """Fits, the criterion that decides, and sizes that depend on the model."""

    make: Callable[[Fold, int], Fits]
    first: Criterion
    candidates: tuple[int, ...]
    n_test: int


_KINDS: dict[str, _Kind] = {
    "single-topic": _Kind(SingleTopicFits, "completion", CANDIDATES, 3000),
    "lda": _Kind(LDAFits, "spectrum", (1, 2, 3, 4, 5, 6, 8, 11, 16, 23, 32), 1000),
}
