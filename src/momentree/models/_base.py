"""Base class of all flat models: ``fit`` and its checks."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from momentree._fit import FitPredict, all_or_nothing, warn_caller, warn_of_single_samples
from momentree._types import Floats, Ints
from momentree._validation import (
    check_features,
    check_flag,
    check_integer,
    check_number,
    check_sample_weight,
    check_something,
)
from momentree.backends import (
    RowArray,
    Rows,
    as_rows,
    counted_passes,
    in_given_order,
    products,
    single_threaded_blas,
)
from momentree.backends.contents import checked_rows, filled_labels, filled_weights, row_weights
from momentree.backends.sources import in_reach
from momentree.core.choices import TopicModel
from momentree.core.progress import console_logging
from momentree.exceptions import ConvergenceWarning, InvalidDataError
from momentree.messages import Message
from momentree.models._decomposers import Decomposer, check_decomposer, decomposed
from momentree.models._fit_result import FitResult
from momentree.models._fitted import FittedModel
from momentree.models._online import OnlineModel
from momentree.models._stored import StoredModel
from momentree.objects import Decomposition, Moments
from momentree.tree.page import TopicsPage
from momentree.tree.selection import ComponentChoice, choose_n_components

log = logging.getLogger("momentree.models")
package_log = logging.getLogger("momentree")


class FlatModel(
    OnlineModel,
    StoredModel,
    TopicsPage,
    FitPredict,
    FittedModel,
    BaseEstimator,  # type: ignore[misc]
    ABC,
):
    """Base class of models with a list of components instead of a tree.

    A subclass sets its parameters in ``__init__`` and implements :meth:`_fit` and the inference.
    """

    _auto_model: ClassVar[TopicModel | None] = None
    """The model for which ``n_components="auto"`` chooses the number; None if it cannot."""

    _warns_of_single_samples: ClassVar[bool] = False
    """Whether `fit` warns of components of one sample or none."""

    n_components: int | Literal["auto"]
    decomposition: Decomposer
    refine: str | None
    smoothing: float
    max_iter: int
    tol: float | None
    warm_start: bool
    random_state: int | np.random.RandomState | None
    verbose: bool | int

    choice_: ComponentChoice | None
    labels_: Ints
    n_iter_: int
    converged_: bool
    diagnostics_: Mapping[str, Any]
    mean_count_: float
    notes_: list[Message]  # only if rows were brought to this machine

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002 - the convention of scikit-learn
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame, Rows} of shape (n_samples, n_features)
            One sample per row: counts >= 0; for :class:`BernoulliMixture`, 0 and 1 or False and
            True, with NaN for missing values.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; a weight of 2 has the effect of two copies of the sample.
        feature_names : sequence of str of shape (n_features,), default=None
            Column names (words or codes). None uses the column names of a data frame.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X contains other values, if weights or names do not match it, or if there are fewer
            usable samples than components.
        EmptyCorpusError
            If no sample of positive weight has a nonzero value.
        InvalidParameterError
            If a parameter is out of its range.

        Warns
        -----
        ConvergenceWarning
            If fewer than `n_components` components were found; the message says why. If components
            of a :class:`BernoulliMixture` have one sample or none.
        """
        self._check_parameters()
        self._forget_names()
        self._forget_batches()
        words: Any = vars(self).get("vocabulary_")
        X, notes = in_reach(X, type(self).__name__, self._for_sums_alone)
        samples, counts, weight = self._check_samples(X, sample_weight, feature_names)
        if not np.array_equal(words, self.vocabulary_):
            self.__dict__.pop("posterior_", None)  # no warm start with other words
        rows = as_rows(counts)  # one object, which keeps what is known of the rows
        if self._leaves_out_empty:
            weight = filled_weights(rows, weight)
        self._choose(counts, weight)
        with (
            console_logging(package_log, bool(self.verbose)),
            single_threaded_blas(),
            counted_passes() as read,
        ):
            result, at = self._fit(rows if samples is counts else samples, weight)
        if (found := len(result.weights)) < self._wanted:
            reason = result.diagnostics.get("reason") or Message("moments_show_no_more")
            warning = ConvergenceWarning(
                "fewer_components", found=found, requested=self._wanted, reason=reason
            )
            warn_caller(warning)
        self._set_result(result, at, rows)
        if rows.gives_rows:
            if self._warns_of_single_samples:
                warn_of_single_samples(self.labels_, np.asarray(weight), found)
            self._choose_words(rows, np.asarray(weight))
        else:
            self.__dict__.pop("_words", None)
        self.n_passes_ = read.n_rows / rows.shape[0]
        tokens = float(rows.sum(products.dot, rows.row_sums, weight))
        self.mean_count_ = tokens / float(rows.total(weight))
        self.__dict__.pop("notes_", None)
        if notes:
            self.notes_ = notes
        return self

    def _set_result(self, result: FitResult, at: Ints | None, rows: Rows) -> None:
        """Set the attributes of a fit to rows whose labels are in the order `at`."""
        self.posterior_, self.weights_ = result.parameters, result.weights
        self.components_ = result.centers.T.copy()
        self.labels_ = np.empty(0, dtype=np.intp)
        if rows.gives_rows:
            labels = in_given_order(result.labels, at)
            labels = filled_labels(rows, labels) if self._leaves_out_empty else labels
            self.labels_ = np.asarray(labels)
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self.diagnostics_ = result.diagnostics
        self._sums = result.sums

    def _for_sums_alone(self, rows: Rows) -> Mapping[str, Any] | None:  # noqa: ARG002
        """Parameters with which sums over rows suffice: none if they do, None if they never do."""
        return None

    @abstractmethod
    def _fit(self, samples: Any, weight: RowArray) -> tuple[FitResult, Ints | None]:
        """Fit checked samples; return the result in canonical order, and this order if any.

        Samples that are counts are given as rows.
        """

    def _check_samples(
        self,
        X: Any,
        sample_weight: ArrayLike | None,
        feature_names: Sequence[str] | NDArray[Any] | None,
    ) -> tuple[Any, Any, RowArray]:
        """Check the data of ``fit``; return samples, their non-negative values, and weights."""
        if isinstance(X, Rows):
            weight = row_weights(X, sample_weight)
            contents, self.vocabulary_ = checked_rows(self, X, weight, feature_names)
            self._check_enough("too_few_nonzero_samples", int(contents.rows_usable))
            return X, X, weight
        counts, self.vocabulary_ = check_features(self, X, feature_names, reset=True)
        weight = check_sample_weight(sample_weight, counts.shape[0])
        check_something(counts, weight)
        usable = (weight > 0) & (np.diff(counts.indptr) > 0)
        self._check_enough("too_few_nonzero_samples", int(np.count_nonzero(usable)))
        return counts, counts, weight

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.n_components, str) and self.n_components == "auto"

    @property
    def _wanted(self) -> int:
        """The number of components that was given or chosen."""
        if isinstance(self.n_components, str):
            chosen = getattr(self, "choice_", None)
            return 1 if chosen is None else int(chosen.n_components)
        return int(self.n_components)

    def _choose(self, counts: Any, weight: Floats) -> None:
        """Choose the number of components if it is "auto"."""
        self.choice_ = None
        if self._is_auto and self._auto_model:
            self.choice_ = choose_n_components(
                counts,
                model=self._auto_model,
                criteria=["completion", "spectrum"],
                sample_weight=weight,
                random_state=self.random_state,
            )

    def _check_enough(self, code: str, found: int) -> None:
        if found < self._wanted:
            raise InvalidDataError(code, n_rows=found, n_components=self._wanted)

    def _check_parameters(self) -> None:
        auto = self._auto_model is not None
        check_integer("n_components", self.n_components, at_least=1, auto=auto)
        check_decomposer(self.decomposition)
        check_number("smoothing", self.smoothing, above=0)
        check_integer("max_iter", self.max_iter, at_least=1)
        check_flag("warm_start", self.warm_start)
        check_number("half_life", self.half_life, above=0, optional=True)
        verbose = self.verbose
        check_flag("verbose", bool(verbose) if isinstance(verbose, Integral) else verbose)

    def _last_fit(self, n_features: int) -> Any | None:
        """Return the parameters of the last fit if a warm start continues from them."""
        if not (self.warm_start and self.refine):  # moments need no starting values
            return None
        last = getattr(self, "posterior_", None)
        if last is None or last.centers.shape != (n_features, self._wanted):
            return None
        log.info("starting from the last fit")
        return last

    def _decompose(self, moments: Moments) -> Decomposition:
        return decomposed(moments, self._wanted, self.decomposition, self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
