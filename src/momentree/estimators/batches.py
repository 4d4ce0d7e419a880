"""Learning from batches of samples: ``partial_fit``, forgetting, stable numbers and names."""

from __future__ import annotations

import copy
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from momentree._fit import all_or_nothing, warn_caller
from momentree._types import Floats, Ints
from momentree._validation import check_sample_weight, check_shape, check_something
from momentree.backends import is_collection, single_threaded_blas
from momentree.backends.sources import here
from momentree.core.pages import counted
from momentree.core.progress import console_logging
from momentree.estimators.changes import Groups, changes_of_batch, compare_models
from momentree.exceptions import InvalidDataError, MomentreeWarning
from momentree.messages import wording
from momentree.objects import MixtureSums
from momentree.persistence import fields, storable

E = TypeVar("E")

log = logging.getLogger("momentree.tree")

ENOUGH = 100
"""Samples per group from which on batches are no longer kept."""
REFIT = 1.25
"""Kept samples are fitted anew when there are so many times as many."""
UNLIKE = 0.01
"""Fraction of a batch above which samples unlike all groups are reported."""
TOO_FEW = ("too_few_nonzero_samples", "too_few_weighted_samples")


def learns_batches(estimator: Any) -> bool:
    """Whether the parameters of an estimator allow ``partial_fit``; an error says why not."""
    estimator._check_online()
    return True


@storable
@dataclass(frozen=True)
class KeptRows:
    """The first samples of a stream, which are kept until there are enough for a good start."""

    data: Floats
    indices: Ints
    indptr: Ints
    weight: Floats
    n_fitted: int  # number of samples of the last fit to them

    def __post_init__(self) -> None:
        n = len(self.indptr) - 1
        check_shape("indptr", self.indptr, ("n",))
        check_shape("weight", self.weight, (n,))
        check_shape("indices", self.indices, self.data.shape)

    @classmethod
    def of(cls, X: Any, weight: Floats, n_fitted: int = 0) -> KeptRows:
        """Return samples as kept, with NaN for missing values."""
        arrays = (X.data.astype(np.float64), X.indices.astype(np.intp), X.indptr.astype(np.intp))
        return cls(*arrays, weight, n_fitted)

    def matrix(self, n_features: int) -> Any:
        """Return the samples as a CSR array."""
        shape = (len(self.weight), n_features)
        return sp.csr_array((self.data, self.indices, self.indptr), shape=shape)


def sums_of(axis: str) -> fields.Field:
    """Declare sums over groups, of which there are as many as `axis` says."""

    def check(name: str, value: Any, sizes: fields.Sizes) -> None:
        if not isinstance(value, MixtureSums):
            raise InvalidDataError(wording.BAD_ENTRY, name=name, value=value)
        check_shape("sizes", value.sizes, (sizes.get(axis, sizes["k"]),))

    return fields.Field(check)


FIELDS: fields.Fields = {
    "_sums": sums_of("components").optional,  # None if the fit has no sums
    "_kept": fields.of_type(KeptRows).optional,  # only while there are few samples
    "changes_": fields.DERIVED,  # only after `partial_fit`
}
"""Attributes of estimators that learn from batches."""


@dataclass(frozen=True)
class BatchUpdate:
    """What a batch changed in the groups of an estimator."""

    to: Ints  # the number of the group that each old one became, or -1
    batch_weights: Floats  # fraction of the batch in each group
    n_batch: float
    unlike: float = 0.0  # fraction of the batch that is unlike all groups, which are all present


def _seen(self: Any) -> int:
    """Return the number of samples of ``fit`` and of all calls of :meth:`partial_fit` since."""
    seen = 0 if self._sums is None else int(self._sums.n_samples)
    if not seen and self._kept is None:
        raise AttributeError("n_samples_seen_")
    return max(seen, 0 if self._kept is None else len(self._kept.weight))


n_samples_seen_: property = property(_seen)


@available_if(learns_batches)  # type: ignore[untyped-decorator]
def partial_fit(
    self: E,
    X: Any,
    y: object = None,  # noqa: ARG001 - the convention of scikit-learn
    *,
    sample_weight: ArrayLike | None = None,
    feature_names: Sequence[str] | NDArray[Any] | None = None,
) -> E:
    """Learn from a batch of samples, without those of earlier batches.

    The first batch is fitted as by :meth:`fit`. Each further one adds its expected statistics
    to sums, from which the parameters follow: earlier samples are needed no more. Groups keep
    their numbers and names, and ``changes_`` reports what happened to them. After
    :meth:`fit`, learning continues from its result.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Samples, as for :meth:`fit`; a Dask collection is brought to this machine. All batches
        have the columns of the first.
    y : None
        Ignored.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0.
    feature_names : sequence of str of shape (n_features,), default=None
        Column names, with the first batch.

    Returns
    -------
    self
        The estimator. ``labels_`` are those of the samples of this batch, but weights and
        profiles are those of all batches.

    Raises
    ------
    InvalidDataError
        If X contains other values, or does not have the columns of the first batch.
    EmptyCorpusError
        If no sample of positive weight has a nonzero value, except in binary data, and in
        measurements after the first batch, where zeros are values.
    InvalidParameterError
        If a parameter is out of its range, or does not allow learning from batches.

    Warns
    -----
    MomentreeWarning
        If the samples so far are too few for a first fit; they are kept until there are enough.

    Notes
    -----
    Samples are kept, and fitted anew with further ones, until there are 100 for each group.
    A file saved before then contains them.
    """
    with all_or_nothing(self):
        learn_batch(self, X, sample_weight=sample_weight, feature_names=feature_names)
        return self


def learn_batch(model: Any, X: Any, *, sample_weight: Any, feature_names: Any) -> None:
    """Learn from a batch of samples, as :func:`partial_fit`."""
    model._check_parameters()
    if is_collection(X):
        X, _ = here(X, type(model).__name__)
    fitted = hasattr(model, "labels_")
    kept: KeptRows | None = model._kept
    first = not fitted and kept is None
    if fitted:
        _check_learned(model)
    samples, missing, names = model._check_batch(X, feature_names, reset=first)
    if not first:
        if feature_names is not None and list(names) != list(model.vocabulary_):
            raise InvalidDataError(
                "[names_of_other_batch] {parameters.feature_names} differ from those of the first "
                "batch; all batches have the same columns, in the same order"
            )
        names = model.vocabulary_
    weight = check_sample_weight(sample_weight, samples.shape[0])
    if not model._zeros_are_values:
        check_something(samples, weight)
    before = model._copy() if fitted else None  # attributes are never changed in place
    factor = 1.0 if model.half_life is None or first else 0.5 ** (1.0 / model.half_life)
    if not first and kept is None:
        _learn(model, samples, missing, weight, factor, before)
        return
    rows = _with_nan(samples, missing)
    if kept is not None:
        earlier = kept.matrix(rows.shape[1])
        rows = sp.csr_array(sp.vstack([earlier, rows], format="csr"))
        all_weights = np.concatenate([kept.weight * factor, weight])
    else:
        all_weights = weight
    n, n_fitted = len(all_weights), 0 if kept is None else kept.n_fitted
    enough = fitted and n >= ENOUGH * model._n_groups
    if fitted and not enough and n < REFIT * n_fitted:
        _learn(model, samples, missing, weight, factor, before)
    elif _fit_kept(model, X if first else rows, sample_weight if first else all_weights, names):
        n_fitted = n
        _check_learned(model)
        _after_refit(model, before, len(weight), float(weight.sum()))
    if hasattr(model, "labels_") and n >= ENOUGH * model._n_groups:
        model._kept = None
    else:
        model._kept = KeptRows.of(rows, all_weights, n_fitted)


def relabeled(self: E, like: E) -> E:
    """Return this model with the numbers and names that its groups have in another model.

    Labels then stay the same after a fit to the documents of another month. Groups are
    matched as by :func:`momentree.compare_models`: a component that is in both models has the
    number and the name that it has in the other one; new components have the numbers that remain.
    Leaves of a tree are named alike, but their numbers follow the branches, from left to right,
    and remain; ``changes_`` has the old number of each.

    Parameters
    ----------
    like : fitted estimator
        A model of the same class, whose numbers and names are kept.

    Returns
    -------
    estimator
        A new fitted estimator; this one is unchanged. ``changes_`` compares the two. Its
        weights are not sorted.

    Raises
    ------
    InvalidDataError
        If the other model is of another class, or has no columns in common.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import SingleTopicModel
    >>> topics = np.kron(np.eye(2), np.ones(3))
    >>> january = SingleTopicModel(2).fit(topics[[0] * 30 + [1] * 20])
    >>> february = SingleTopicModel(2).fit(topics[[0] * 20 + [1] * 30])
    >>> february.relabeled(january).predict(topics), january.predict(topics)
    (array([0, 1]), array([0, 1]))
    """
    check_is_fitted(self, "labels_")
    if not isinstance(like, type(self)):
        raise InvalidDataError(
            "[relabeled_like_other] numbers cannot be taken over from a {found}; expected a fitted "
            "{expected}",
            found=type(like).__name__,
            expected=type(self).__name__,
        )
    check_is_fitted(like, "labels_")
    out: Any = copy.copy(self)
    out._relabel(like)
    return out  # type: ignore[no-any-return]


def _check_learned(model: Any) -> None:
    """Raise InvalidDataError if the last fit has no sums."""
    if model._sums is None:
        kind = getattr(model, "data_", None)
        if kind is not None and model._leaf_sums is None:
            raise InvalidDataError(
                "[no_sums_of_kind] trees of {kind} data, or described by counts, and edited trees "
                "cannot learn from batches; fit() all {samples} together",
                kind=kind,
            )
        raise InvalidDataError(
            "[no_sums_of_fit] this model cannot be continued, because its last fit kept no sums "
            "(it was edited, saved by an older version, or fitted with other parameters); fit() it "
            "again"
        )


def _learn(
    model: Any, samples: Any, missing: Any | None, weight: Floats, factor: float, before: Any
) -> None:
    """Update the groups by a batch."""
    log.info("learning from a batch of %d samples", len(weight))
    with console_logging(log, bool(getattr(model, "verbose", False))), single_threaded_blas():
        update = model._update(samples, missing, weight, model._sums.faded(factor))
    if update.unlike > UNLIKE:
        k = model._n_groups
        warn_caller(MomentreeWarning(model._unlike, fraction=update.unlike, n_groups=k))
    moved = update.to, update.batch_weights, update.n_batch
    model._keep_names_of(before, changes_of_batch(Groups.of(before), Groups.of(model), *moved))
    model.changes_ = changes_of_batch(Groups.of(before), Groups.of(model), *moved)


def _fit_kept(model: Any, X: Any, weight: Any, names: NDArray[Any]) -> bool:
    """Fit all kept samples; return False, with a warning, if there are too few."""
    columns = getattr(model, "feature_names_in_", None)
    try:
        model._fit(X, sample_weight=weight, feature_names=names)
    except InvalidDataError as error:
        if error.code not in TOO_FEW or hasattr(model, "labels_"):
            raise
        warn_caller(
            MomentreeWarning(
                "[samples_kept] not fitted yet: {reason}; the {samples} are kept and fitted "
                "together with those of the next batches",
                reason=error.message,
            )
        )
        model.n_features_in_, model.vocabulary_ = len(names), names
        return False
    finally:
        if columns is not None:
            model.feature_names_in_ = columns
    return True


def _after_refit(model: Any, before: Any | None, n_last: int, n_batch: float) -> None:
    """Keep the labels of the last batch, and the numbers and names of the last fit."""
    if before is not None:
        model._relabel(before)
    model.labels_ = model.labels_[-n_last:]
    k = model._n_groups
    if before is None:
        shares = counted(model.labels_, k) / n_last
        model.changes_ = changes_of_batch(None, Groups.of(model), np.arange(k), shares, n_batch)
    else:
        model.changes_ = compare_models(before, model)


def _with_nan(X: Any, missing: Any | None) -> Any:
    """Return samples with NaN for missing values."""
    if missing is None:
        return X
    gaps = sp.csr_array((np.full(missing.nnz, np.nan), missing.indices, missing.indptr), X.shape)
    return sp.csr_array(X + gaps)
