"""Base class of mixtures of densities: models of tables of measurements rather than of counts."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    DensityMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from momentree._fit import FitPredict, all_or_nothing, warn_caller, warn_of_single_samples
from momentree._types import Floats, Ints
from momentree._validation import (
    check_flag,
    check_integer,
    check_number,
    check_sample_weight,
    check_shape,
    generator,
)
from momentree.backends import counted_passes, single_threaded_blas
from momentree.backends.sources import by_partition, here
from momentree.core.progress import console_logging
from momentree.core.ties import largest
from momentree.exceptions import ConvergenceWarning, InvalidDataError, MomentreeWarning
from momentree.inference import log_posterior
from momentree.messages import Message
from momentree.models._decomposers import Decomposer, check_decomposer, with_named_decomposition
from momentree.models._sample import draw_components
from momentree.models.selection.bic import FEW_SAMPLES, MOST_COMPONENTS, guarded_search
from momentree.objects.mixtures import check_sums
from momentree.persistence import SavedEstimator
from momentree.tree.names import NamedGroups
from momentree.tree.naming import name_by_number
from momentree.tree.node import TreeNode
from momentree.tree.one_level import one_level

log = logging.getLogger("momentree.models")
package_log = logging.getLogger("momentree")


@dataclass(frozen=True)
class DensityFit:
    """A fitted mixture, its components in descending order of weight.

    Attributes
    ----------
    attributes : mapping of str to Any
        Attributes of the estimator that describe the components, ``weights_`` among them.
    labels : ndarray of int of shape (n_samples,)
        Most likely component of each sample, in the order of the data given.
    log_likelihood : float
        Weighted sum of the log-likelihoods of the samples.
    n_parameters : int
        Number of free parameters.
    n_iter, converged : int, bool
        Steps of EM, and whether they reached the tolerance.
    diagnostics : mapping of str to Any
        Further facts about the fit; "reason" is a Message if components are too few.
    usual : (float, float) or None
        Log-likelihood and weight without the extreme rows, which would decide every comparison;
        None if there are none.
    brief : bool
        Whether EM was cut short, for the search of the number of components.
    """

    attributes: Mapping[str, Any]
    labels: Ints
    log_likelihood: float
    n_parameters: int
    n_iter: int = 1
    converged: bool = True
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    usual: tuple[float, float] | None = None
    brief: bool = False


class DensityModel(
    NamedGroups,
    SavedEstimator,
    FitPredict,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    DensityMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    ABC,
):
    """Base class of flat mixtures of densities.

    A subclass sets its parameters in ``__init__``, among them `n_components`, `decomposition`,
    `max_iter`, `tol`, `random_state` and `verbose`, and implements :meth:`_checked`, :meth:`_fit`,
    :meth:`_log_joint`, :meth:`_draw` and :meth:`_profiles`.
    """

    _auto: ClassVar[bool] = True
    """Whether ``n_components="auto"`` is allowed."""

    n_components: int | Literal["auto"]
    decomposition: Decomposer
    max_iter: int
    tol: float
    verbose: bool | int

    weights_: Floats
    labels_: Ints
    n_iter_: int
    converged_: bool
    lower_bound_: float
    n_parameters_: int
    notes_: list[Message]
    diagnostics_: Mapping[str, Any]
    vocabulary_: NDArray[Any]

    _names: list[str]  # only after names were given

    # --- what a subclass implements ---------------------------------------------------------------

    @abstractmethod
    def _checked(
        self, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
    ) -> tuple[Any, int]:
        """Return checked samples in a form of the subclass, and their number.

        With `reset`, as in ``fit``, set ``n_features_in_`` and ``vocabulary_``.
        """

    @abstractmethod
    def _fit(
        self, samples: Any, weight: Floats, n_components: int, *, brief: bool = False
    ) -> DensityFit:
        """Fit checked samples of positive total weight.

        With `brief`, EM may end early, at a likelihood that is usually only a little lower; the fit
        then says so.
        """

    @abstractmethod
    def _log_joint(self, samples: Any) -> Floats:
        """Return log P[x, component j] of checked samples, shape (n, k)."""

    @abstractmethod
    def _draw(self, labels: Ints, rng: np.random.RandomState) -> Any:
        """Return one sample from each of the given components."""

    @property
    @abstractmethod
    def _profiles(self) -> Floats:
        """Means of the components in rows, shape (k, n_features)."""

    def _name(self, root: TreeNode) -> None:
        """Choose the names of components."""
        name_by_number(root)

    # --- fit --------------------------------------------------------------------------------------

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002 - the convention of scikit-learn
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> Self:
        """Fit the mixture.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            One sample per row; NaN for missing values.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; a weight of 2 has the effect of two copies of the sample.
        feature_names : sequence of str of shape (n_features,), default=None
            Column names. None uses the column names of a data frame.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X contains other values, if weights or names do not match it, or if there are fewer
            samples of positive weight than components.
        InvalidParameterError
            If a parameter is out of its range.

        Warns
        -----
        ConvergenceWarning
            If fewer than `n_components` components were found; the message says why. If components
            have one sample or none.
        """
        self._check_parameters()
        self._forget_names()
        X, brought = here(X, type(self).__name__)
        samples, n = self._checked(X, feature_names, reset=True)
        weight = check_sample_weight(sample_weight, n)
        usable = int(np.count_nonzero(weight > 0))
        wanted = "auto" if self.n_components == "auto" else int(self.n_components)
        if usable < (1 if isinstance(wanted, str) else wanted):
            raise InvalidDataError("too_few_weighted_samples", n_rows=usable, n_components=wanted)
        with (
            console_logging(package_log, bool(self.verbose)),
            single_threaded_blas(),
            counted_passes() as read,
        ):
            if isinstance(wanted, str):
                found = self._lowest_bic(samples, weight, min(MOST_COMPONENTS, usable))
                wanted = len(found.attributes["weights_"])
            else:
                found = self._fit(samples, weight, wanted)
        for name, value in found.attributes.items():
            setattr(self, name, value)
        self.labels_, self.n_iter_, self.converged_ = found.labels, found.n_iter, found.converged
        self.n_passes_ = read.n_rows / n
        self.lower_bound_ = found.log_likelihood / float(weight.sum())
        self.n_parameters_ = found.n_parameters
        self.diagnostics_ = dict(found.diagnostics)
        self.notes_ = list(self.diagnostics_.pop("notes", []))
        if (n_found := len(self.weights_)) < wanted:
            reason = found.diagnostics.get("reason") or Message("only_equal_samples")
            warn_caller(
                ConvergenceWarning(
                    "fewer_components", found=n_found, requested=wanted, reason=reason
                )
            )
        # A note may already name components of few samples.
        if not any("components" in note.values for note in self.notes_):
            warn_of_single_samples(found.labels, weight, n_found)
        for note in self.notes_:
            warn_caller(MomentreeWarning(note.code, **note.values))
        self.notes_ += brought
        return self

    def _lowest_bic(self, samples: Any, weight: Floats, most: int) -> DensityFit:
        """Fit 1, 2, ... components until BIC stops falling; return the best, fitted in full.

        If one of its components then has too few samples, the next best smaller number is taken.
        """

        def fit(k: int, *, brief: bool = True) -> tuple[DensityFit, float, NDArray[Any]]:
            log.info("trying %d", k)
            found = self._fit(samples, weight, k, brief=brief)
            likelihood, n = found.usual or (found.log_likelihood, float(weight.sum()))
            bic = _bic(likelihood, found.n_parameters, n)
            log.info("BIC of %d components: %.6g", k, bic)
            n_found = len(found.attributes["weights_"])
            return found, bic, np.bincount(found.labels, weight, minlength=n_found)

        best, lower, bics = guarded_search(fit, most, FEW_SAMPLES)
        for k in reversed(lower if best.brief else []):
            best, bics[k - 1], sizes = fit(k, brief=False)
            if sizes.min() >= FEW_SAMPLES:
                break
        return replace(best, diagnostics={**best.diagnostics, "bic": bics})

    def _check_parameters(self) -> None:
        check_integer("n_components", self.n_components, at_least=1, auto=self._auto)
        check_decomposer(self.decomposition)
        check_integer("max_iter", self.max_iter, at_least=1)
        check_number("tol", self.tol, at_least=0)
        check_flag("verbose", bool(self.verbose) if isinstance(self.verbose, int) else self.verbose)

    # --- results ----------------------------------------------------------------------------------

    def _joint(self, X: Any) -> Floats:
        check_is_fitted(self, "labels_")
        with single_threaded_blas():
            return self._log_joint(self._checked(X, None, reset=False)[0])

    @by_partition
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each component for each sample.

            P[j | x] = omega_j P[x | j] / sum_i omega_i P[x | i]

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; NaN for missing values.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1.
        """
        return np.exp(log_posterior(self._joint(X))[0])

    @by_partition
    def transform(self, X: Any) -> Floats:
        """Return :meth:`predict_proba`, so that the model can be used as a transformer.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1.
        """
        return self.predict_proba(X)

    @by_partition
    def predict(self, X: Any) -> Ints:
        """Return the most probable component of each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; NaN for missing values.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Component numbers; equal to ``labels_`` for the data of ``fit``.
        """
        return np.asarray(largest(self._joint(X)), dtype=np.intp)

    @by_partition
    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; NaN for missing values, which are ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
            log P[x] in nats, of a density in the units of X.
        """
        return log_posterior(self._joint(X))[1]

    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002 - scikit-learn's convention
        """Return the mean log-likelihood of samples.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``.
        y : None
            Ignored.

        Returns
        -------
        float
            Mean of :meth:`score_samples`, in nats; larger is better.
        """
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion.

            -2 sum_i log P[x_i] + p log n,   p = n_parameters_

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``.

        Returns
        -------
        float
            Smaller is better.
        """
        values = self.score_samples(X)
        return _bic(float(values.sum()), self.n_parameters_, len(values))

    def aic(self, X: Any) -> float:
        """Return Akaike's information criterion.

            -2 sum_i log P[x_i] + 2 p,   p = n_parameters_

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``.

        Returns
        -------
        float
            Smaller is better.
        """
        return float(-2.0 * self.score_samples(X).sum() + 2.0 * self.n_parameters_)

    def sample(
        self, n_samples: int = 1, *, random_state: int | np.random.RandomState | None = None
    ) -> tuple[Any, Ints]:
        """Draw samples from the fitted mixture.

        Parameters
        ----------
        n_samples : int >= 0, default=1
            Number of samples.
        random_state : int, RandomState or None, default=None
            Seed; None means seed 0.

        Returns
        -------
        X : ndarray or data frame of shape (n_samples, n_features)
            The samples.
        labels : ndarray of int of shape (n_samples,)
            Component of each sample.
        """
        check_is_fitted(self, "labels_")
        check_integer("n_samples", n_samples, at_least=0)
        rng = generator(random_state)
        labels = draw_components(self.weights_, n_samples, rng)
        return self._draw(labels, rng), labels

    # --- names and files --------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return len(self.weights_)

    def _copied_root(self) -> TreeNode:
        root = one_level(self._profiles, self.weights_, self.labels_, self.weights_)
        names: list[str] | None = vars(self).get("_names")
        if names is None:
            self._name(root)
        else:
            for leaf in root.leaves():
                leaf.name = names[leaf.leaf_id or 0]
        return root

    def _set_names(self, root: TreeNode) -> None:
        leaves = sorted(root.leaves(), key=lambda leaf: leaf.leaf_id or 0)
        self._names = [leaf.name for leaf in leaves]

    def _saved_params(self) -> dict[str, Any]:
        return with_named_decomposition(super()._saved_params())

    def _check_restored(self) -> int:
        k = len(self.weights_)
        check_shape("weights_", self.weights_, (k,))
        check_sums("weights_", self.weights_.sum())
        if (self.weights_ < 0).any():
            raise InvalidDataError("below_zero", name="weights_")
        for name, expected in (("diagnostics_", dict), ("notes_", list), ("lower_bound_", float)):
            if not isinstance(getattr(self, name), expected):
                raise InvalidDataError("bad_entry", name=name, value=getattr(self, name))
        if type(self.n_parameters_) is not int:
            raise InvalidDataError("bad_entry", name="n_parameters_", value=self.n_parameters_)
        names: Any = vars(self).get("_names", [""] * k)
        strings = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not strings or len(names) != k:
            raise InvalidDataError("bad_entry", name="_names", value=names)
        self._check_names()
        return k


def _bic(log_likelihood: float, n_parameters: int, n: float) -> float:
    return float(-2.0 * log_likelihood + n_parameters * np.log(n))
