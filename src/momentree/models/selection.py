"""How many components: document completion, spectrum, penalised likelihood and coherence."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._logging import console_logging
from momentree._validation import check_counts, check_sample_weight, check_something, generator
from momentree.backends import RowBlocks, in_canonical_order, single_threaded_blas
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.models._base import log, package_log
from momentree.models._candidates import Fits, Fold, LDAFits, SingleTopicFits, folds
from momentree.models._criteria import Verdict, in_words, together, verdicts
from momentree.models._curves import Curves, measure
from momentree.models._spectrum import Spectrum, spectrum
from momentree.preprocessing import log_scale

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ComponentChoice", "choose_n_components"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Model = Literal["single-topic", "lda"]

LARGEST = 32
"""The papers' curves go to 32."""


@dataclass(frozen=True)
class ComponentChoice:
    """A number of components and why.

    Attributes
    ----------
    n_components : int
        The answer.
    interval : tuple of int
        (low, high): the smallest and the largest number that the data do not rule out.
    reason : str
        Why, in words: topics are what the components of all models for counts are.
    table : DataFrame
        One row a candidate. "n_components"; of the direction of that number "eigenvalue" in one
        half of the samples, "held_out", its value in the other half, and "noise_floor", what that
        must exceed; "completion", the log-likelihood of a hidden word in nats, and
        "completion_error", the standard error of how far it is behind the best; "bic"; "umass"
        and "npmi", the mean coherence of topics, with "npmi_error"; "seconds". NaN where a
        criterion was not asked for, or where no group of samples can be split so often.
    by_criterion : mapping
        Of each criterion (n_components, low, high); the one that decided comes first.
    """

    n_components: int
    interval: tuple[int, int]
    reason: str
    table: pd.DataFrame
    by_criterion: Mapping[str, tuple[int, int, int]]


def choose_n_components(
    X: Any,
    *,
    model: Model = "single-topic",
    candidates: Sequence[int] | None = None,
    criteria: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: bool | int = False,
    progress: Callable[[int, int], object] | None = None,
) -> ComponentChoice:
    """Choose the number of components of a model for word counts.

    Four criteria, the most trusted first; the first one that is asked for decides. For "lda"
    "spectrum" goes before "completion", except where it goes on to the largest candidate.

    - "completion": a fifth of the documents is left out of the fit; half of the words of each, y,
      tells the other half, z. The fewest components within one standard error of the largest
      sum log sum_j P[j | y] P[z | j], with P[j | y] by log-scaled counts, as
      :meth:`SingleTopicModel.predict_proba` has it.
    - "spectrum": eigenvectors u of M2 of one half of the documents (S Theorem 1), counts scaled
      and features scaled by (M1 + 1/d)^(-1/2), for which u^T M2 u in the other half is three
      standard errors above zero. Where completion decides and this is fewer, the answer moves
      towards it as far as the interval of completion goes, and the interval of the answer
      reaches down to it.
    - "bic": -2 log-likelihood + u p log n of log-scaled counts, with p free parameters and u what one
      word counts after log scaling (:func:`momentree.preprocessing.typical_count_per_token`).
    - "coherence": the fewest components within one standard error of the largest mean NPMI of
      the 20 most probable words of each topic (T Figure 3.2a).

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Word counts >= 0.
    model : {"single-topic", "lda"}, default="single-topic"
        What is fitted: :class:`SingleTopicModel` or :class:`LatentDirichletAllocation`, for which
        P[z | y] is that of the shares of topics inferred from y.
    candidates : sequence of int >= 1, default=None
        Numbers of components to try. None is 1 to 32, for "lda" 1 to 6, 8, 11, 16, 23 and 32,
        or to half the number of different samples. With None the answer may be between two of
        these: the spectrum counts one by one.
    criteria : sequence of str, default=None
        Some of the four; None is all that the model has. "lda" has no "bic".
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0 of the samples.
    random_state : int, RandomState or None, default=None
        Draws the halves of documents and of words. None is seed 0.
    verbose : bool or int, default=False
        Tell the progress on standard error; the logger ``momentree.models`` always has it.
    progress : callable, default=None
        Called as ``progress(done, total)`` after each candidate.

    Returns
    -------
    ComponentChoice
        The number, its interval, the reason, and all curves; see
        ``momentree.report.plot_n_components``.

    Raises
    ------
    InvalidDataError
        If X is not a matrix of counts from 0 to 1e30, weights do not fit it, or a candidate is
        larger than the number of samples with a count above zero.
    EmptyCorpusError
        If no sample of positive weight holds a count.
    InvalidParameterError
        If `model`, `candidates` or `criteria` are none of what is expected.

    Notes
    -----
    The curve costs little more than its largest fit: the spectrum of all candidates is that of
    the largest, and one tree, grown best first, holds the start of every fit, since its first
    k - 1 splits make the tree of k leaves (H Algorithm 2). Documents are left out a fifth at a
    time until 3,000 have been. Copies of one document stay together, so that none tells of
    another. Time O(nnz k) a step of EM for each candidate; memory O(nnz + (n + d) k). Fits
    of "lda" start from the single-topic models of this tree and take ten steps, where
    :class:`LatentDirichletAllocation` tries the moments too and takes more; one fifth of the
    documents judges.

    What each criterion gets right was measured, see ``docs/how_many.md``. Real text is no sample
    of the model: finer topics always exist, and the number grows with the number of documents.
    Then the reason names the fewest components that give most of the gain.

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018.
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
    >>> choice.by_criterion["spectrum"]
    (4, 4, 4)
    """
    kind = _checked_model(model)
    names = _checked_criteria(criteria, kind)
    rng = generator(random_state)
    X = check_counts(X)
    weight = check_sample_weight(sample_weight, X.shape[0])
    check_something(X, weight)
    with console_logging(package_log, bool(verbose)), single_threaded_blas():
        ordered, at = in_canonical_order(RowBlocks(X), weight)
        usable = np.flatnonzero((weight[at] > 0) & (ordered.row_sums > 0))
        rows, weight = ordered.take(usable), weight[at][usable]
        groups = _copies(rows)
        tried = _checked_candidates(candidates, kind, len(weight), int(groups.max()) + 1)
        found = None
        if "spectrum" in names:
            log.info("spectrum of the second moment, by halves")
            scaled = log_scale(rows.matrix, "log1p")
            found = spectrum(RowBlocks(scaled.X), weight, scaled.count_per_token, groups, int(tried[-1]), rng)
        curves = Curves.unknown(tried)
        if set(names) - {"spectrum"}:
            judges = kind.judges if "completion" in names else 0
            parts = list(folds(rows.matrix, weight, groups, rng, judges=judges))
            curves = measure(tried, parts, kind.make, rows.matrix, progress)
    said = verdicts(names, curves, found, between=candidates is None)
    answer = together(said) if said else Verdict(*[int(tried[0])] * 3)
    return ComponentChoice(
        answer.n_components,
        (answer.low, answer.high),
        in_words(answer, said, curves),
        _table(curves, found),
        {name: (v.n_components, v.low, v.high) for name, v in said.items()},
    )


def _copies(rows: RowBlocks) -> Ints:
    """Give each document a number, the same to those that are the same."""
    key = np.random.RandomState(1).random_sample(rows.shape[1])
    return np.unique(rows.map(lambda B: B.dot(key)), return_inverse=True)[1]


def _checked_model(model: str) -> _Kind:
    if not isinstance(model, str) or model not in _KINDS:
        msg = f"model={model!r}; expected one of {', '.join(map(repr, _KINDS))}"
        raise InvalidParameterError(msg)
    return _KINDS[model]


def _checked_criteria(criteria: Sequence[str] | None, kind: _Kind) -> tuple[str, ...]:
    if criteria is None:
        return kind.criteria
    asked = (criteria,) if isinstance(criteria, str) else tuple(criteria)
    if not asked or not set(asked) <= set(kind.criteria):
        expected = ", ".join(map(repr, kind.criteria))
        msg = f"criteria={criteria!r}; expected one or more of {expected}"
        raise InvalidParameterError(msg)
    return tuple(name for name in kind.criteria if name in asked)


def _checked_candidates(
    candidates: Sequence[int] | None, kind: _Kind, n: int, n_different: int
) -> Ints:
    if candidates is None:
        return np.array([k for k in kind.candidates if k <= max(1, n_different // 2)])
    try:
        tried = np.unique([operator.index(k) for k in candidates])
    except TypeError:
        tried = np.empty(0, dtype=np.intp)
    if not len(tried) or tried[0] < 1:
        msg = f"candidates={candidates!r}; expected whole numbers of 1 or more"
        raise InvalidParameterError(msg)
    if tried[-1] > n:
        msg = (
            f"candidates go up to {tried[-1]}, but only {n} samples have a count above zero: "
            "ask for no more components than samples"
        )
        raise InvalidDataError(msg)
    return tried.astype(np.intp)


def _table(curves: Curves, found: Spectrum | None) -> pd.DataFrame:
    import pandas as pd

    k = curves.candidates
    numbers = {"eigenvalue": "eigenvalues", "held_out": "held_out", "noise_floor": "floor"}
    columns = {"n_components": k}
    for name, attribute in numbers.items():
        values = np.full(int(k[-1]), np.nan)
        if found is not None:
            known = getattr(found, attribute)
            values[: len(known)] = known
        columns[name] = values[k - 1]
    for column in fields(curves)[1:]:
        columns[column.name] = getattr(curves, column.name)
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class _Kind:
    """What is particular to a model: its fits, criteria (the most trusted first), and sizes."""

    make: Callable[[Fold, int], Fits]
    criteria: tuple[str, ...]
    candidates: tuple[int, ...]
    judges: int


_KINDS = {
    "single-topic": _Kind(
        SingleTopicFits,
        ("completion", "spectrum", "bic", "coherence"),
        tuple(range(1, LARGEST + 1)),
        3000,
    ),
    "lda": _Kind(
        LDAFits,
        ("spectrum", "completion", "coherence"),
        (1, 2, 3, 4, 5, 6, 8, 11, 16, 23, LARGEST),
        1,
    ),
}
