"""Estimators that learn from batches of samples: ``partial_fit``, forgetting, stable labels."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from momentree._fit import all_or_nothing, warn_caller
from momentree._types import Floats, Ints
from momentree._validation import (
    check_features,
    check_sample_weight,
    check_shape,
    check_something,
)
from momentree.backends import is_collection, single_threaded_blas
from momentree.backends.sources import here
from momentree.core.pages import counted
from momentree.core.progress import console_logging
from momentree.exceptions import (
    InvalidDataError,
    MomentreeWarning,
)
from momentree.objects import MixtureSums
from momentree.persistence import storable
from momentree.tree.changes import Groups, ModelChanges, changes_of_batch
from momentree.tree.growth import log
from momentree.tree.names import NamedGroups

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


@dataclass(frozen=True)
class BatchUpdate:
    """What a batch changed in the groups of an estimator."""

    to: Ints  # the number of the group that each old one became, or -1
    batch_weights: Floats  # fraction of the batch in each group
    n_batch: float
    unlike: float = 0.0  # fraction of the batch that is unlike all groups, which are all present


class FitsBatches(NamedGroups):
    """Estimators that learn from one batch of samples after another."""

    _unlike: ClassVar[str] = "batch_unlike_groups"

    half_life: float | None = None
    n_features_in_: int
    changes_: ModelChanges  # only after partial_fit

    _sums: MixtureSums | None  # None if the fit has no sums
    _kept: KeptRows  # only while there are few samples

    if TYPE_CHECKING:  # other bases implement them
        fit: Any

        def _check_parameters(self) -> None: ...

        @property
        def _n_features_out(self) -> int: ...

    @abstractmethod
    def _update(self, X: Any, missing: Any | None, weight: Floats, before: MixtureSums) -> Any:
        """Learn from checked samples; return a BatchUpdate."""

    def _check_online(self) -> None:
        """Raise InvalidParameterError if parameters do not allow ``partial_fit``."""

    def _check_learned(self) -> None:
        """Raise InvalidDataError if the last fit has no sums."""
        if vars(self).get("_sums") is None:
            raise InvalidDataError("no_sums_of_fit")

    @property
    def _zeros_are_values(self) -> bool:
        """Whether there is something to learn from a batch that contains only zeros."""
        return False

    @abstractmethod
    def _relabel(self, before: Self) -> None:
        """After a new fit, give groups the numbers and names of the same groups before."""

    def _keep_names_of(self, before: Self, changes: ModelChanges) -> None:
        """Keep names, and words that are shown, of groups that stayed."""

    def _checked_batch(
        self, X: Any, feature_names: Any, *, reset: bool
    ) -> tuple[Any, Any | None, NDArray[Any]]:
        """Return checked samples, missing values, and column names."""
        counts, names = check_features(self, X, feature_names, reset=reset)
        return counts, None, names

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples of ``fit`` and of all calls of :meth:`partial_fit` since."""
        seen = 0 if (sums := vars(self).get("_sums")) is None else int(sums.n_samples)
        kept: KeptRows | None = vars(self).get("_kept")
        if not seen and kept is None:
            raise AttributeError("n_samples_seen_")
        return max(seen, 0 if kept is None else len(kept.weight))

    @available_if(learns_batches)  # type: ignore[untyped-decorator]
    @all_or_nothing
    def partial_fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002 - the convention of scikit-learn
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> Self:
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
        self._check_parameters()
        if is_collection(X):
            X, _ = here(X, type(self).__name__)
        fitted = "labels_" in vars(self)
        kept: KeptRows | None = vars(self).get("_kept")
        first = not fitted and kept is None
        if fitted:
            self._check_learned()
        samples, missing, names = self._checked_batch(X, feature_names, reset=first)
        if not first:
            if feature_names is not None and list(names) != list(self.vocabulary_):
                raise InvalidDataError("names_of_other_batch")
            names = self.vocabulary_
        weight = check_sample_weight(sample_weight, samples.shape[0])
        if not self._zeros_are_values:
            check_something(samples, weight)
        before = copy.copy(self) if fitted else None  # attributes are never changed in place
        factor = 1.0 if self.half_life is None or first else 0.5 ** (1.0 / self.half_life)
        if not first and kept is None:
            self._learn(samples, missing, weight, factor, before)
            return self
        rows = _with_nan(samples, missing)
        if kept is not None:
            earlier = kept.matrix(rows.shape[1])
            rows = sp.csr_array(sp.vstack([earlier, rows], format="csr"))
            all_weights = np.concatenate([kept.weight * factor, weight])
        else:
            all_weights = weight
        n, n_fitted = len(all_weights), 0 if kept is None else kept.n_fitted
        enough = fitted and n >= ENOUGH * self._n_features_out
        if fitted and not enough and n < REFIT * n_fitted:
            self._learn(samples, missing, weight, factor, before)
        elif self._fit_kept(X if first else rows, sample_weight if first else all_weights, names):
            n_fitted = n
            self._check_learned()
            self._after_refit(before, len(weight), float(weight.sum()))
        if "labels_" in vars(self) and n >= ENOUGH * self._n_features_out:
            vars(self).pop("_kept", None)
        else:
            self._kept = KeptRows.of(rows, all_weights, n_fitted)
        return self

    def _learn(
        self,
        samples: Any,
        missing: Any | None,
        weight: Floats,
        factor: float,
        before: Self | None,
    ) -> None:
        """Update the groups by a batch."""
        assert self._sums is not None and before is not None  # noqa: PT018, S101 - for types
        log.info("learning from a batch of %d samples", len(weight))
        with console_logging(log, bool(getattr(self, "verbose", False))), single_threaded_blas():
            update = self._update(samples, missing, weight, self._sums.faded(factor))
        if update.unlike > UNLIKE:
            k = self._n_features_out
            warn_caller(MomentreeWarning(self._unlike, fraction=update.unlike, n_groups=k))
        changes = changes_of_batch(
            Groups.of(before), Groups.of(self), update.to, update.batch_weights, update.n_batch
        )
        self._keep_names_of(before, changes)
        self.changes_ = changes_of_batch(
            Groups.of(before), Groups.of(self), update.to, update.batch_weights, update.n_batch
        )

    def _fit_kept(self, X: Any, weight: Any, names: NDArray[Any]) -> bool:
        """Fit all kept samples; return False, with a warning, if there are too few."""
        columns: Any = vars(self).get("feature_names_in_")
        try:
            self.fit(X, sample_weight=weight, feature_names=names)
        except InvalidDataError as error:
            if error.code not in TOO_FEW or "labels_" in vars(self):
                raise
            warn_caller(MomentreeWarning("samples_kept", reason=error.message))
            self.n_features_in_ = len(names)
            self.vocabulary_ = names
            return False
        finally:
            if columns is not None:
                self.feature_names_in_ = columns
        return True

    def _after_refit(self, before: Self | None, n_last: int, n_batch: float) -> None:
        """Keep the labels of the last batch, and the numbers and names of the last fit."""
        if before is not None:
            self._relabel(before)
        self.labels_ = self.labels_[-n_last:]
        k = self._n_features_out
        of_batch = counted(self.labels_, k) / n_last
        after = Groups.of(self)
        if before is None:
            self.changes_ = changes_of_batch(None, after, np.arange(k), of_batch, n_batch)
        else:
            from momentree.tree.changes import compare_models

            self.changes_ = compare_models(before, self)

    def _forget_batches(self) -> None:
        """Discard what ``partial_fit`` has set, as ``fit`` starts anew."""
        for name in ("_kept", "changes_", "_sums", "_leaf_sums"):
            vars(self).pop(name, None)

    def _check_sums(self, n_groups: int) -> None:
        """Raise an error if the sums from a file do not fit the estimator."""
        sums: Any = vars(self).get("_sums")
        if sums is not None and not isinstance(sums, MixtureSums):
            raise InvalidDataError("bad_entry", name="_sums", value=sums)
        if sums is not None:
            check_shape("sizes", sums.sizes, (n_groups,))
        kept: Any = vars(self).get("_kept")
        if kept is not None and not isinstance(kept, KeptRows):
            raise InvalidDataError("bad_entry", name="_kept", value=kept)


def _with_nan(X: Any, missing: Any | None) -> Any:
    """Return samples with NaN for missing values."""
    if missing is None:
        return X
    gaps = sp.csr_array((np.full(missing.nnz, np.nan), missing.indices, missing.indptr), X.shape)
    return sp.csr_array(X + gaps)
