"""Base class of mixtures of densities: models of tables of measurements rather than of counts."""

import logging
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from momentree._fit import warn_of_single_samples
from momentree._types import Floats, Ints
from momentree._validation import check_sample_weight, rules
from momentree.backends import single_threaded_blas, sources
from momentree.core.ties import largest
from momentree.estimators import base, groups, names, node
from momentree.exceptions import ConvergenceWarning, InvalidDataError, MomentreeWarning
from momentree.inference import log_posterior
from momentree.messages import Message, wording
from momentree.models._steps import Decomposer, check_decomposition
from momentree.models.selection import FEW_SAMPLES, MAX_COMPONENTS, guard_search
from momentree.persistence import fields

log = logging.getLogger("momentree.models")


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
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    DensityMixin,  # type: ignore[misc]
    base.Estimator,
):
    """Base class of flat mixtures of densities.

    A subclass has the parameters `n_components`, `decomposition`, `max_iter`, `tol`,
    `random_state` and `verbose`, and implements :meth:`_checked`, :meth:`_fit_mixture`,
    :meth:`_log_joint`, :meth:`_draw` and :meth:`_profiles`.
    """

    _rules: ClassVar[rules.Rules] = {
        "n_components": rules.whole(1, words=("auto",)),
        "decomposition": check_decomposition,
        "max_iter": rules.whole(1),
        "tol": rules.number(at_least=0),
        "verbose": rules.check_verbose,
    }
    _fields: ClassVar[fields.Fields] = {
        **base.Estimator._fields,
        **base.GROUPS,
        **names.FIELDS,
        "weights_": fields.simplex("k"),
        "lower_bound_": fields.of_type(float),
        "n_parameters_": fields.INTEGER,
        "diagnostics_": fields.DIAGNOSTICS,
    }

    n_components: int | Literal["auto"]
    decomposition: Decomposer
    max_iter: int
    tol: float
    verbose: bool | int

    lower_bound_: float
    n_parameters_: int
    diagnostics_: Mapping[str, Any]

    fit = groups.fit
    fit_predict = groups.fit_predict
    transform = groups.transform
    score = groups.score
    bic = groups.bic
    sample = groups.sample
    names_, given_names_, rename = names.names_, names.given_names_, names.rename
    _copied_root, _set_names = names.root_of_components, names.set_component_names

    # --- what a subclass implements ---------------------------------------------------------------

    @abstractmethod
    def _checked(
        self, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
    ) -> tuple[Any, int]:
        """Return checked samples in a form of the subclass, and their number.

        With `reset`, as in ``fit``, set ``n_features_in_`` and ``vocabulary_``.
        """

    @abstractmethod
    def _fit_mixture(
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

    def _unnamed_root(self) -> node.TreeNode:
        return node.one_level(self._profiles, self.weights_, self.labels_, self.weights_)

    def _name(self, root: node.TreeNode) -> None:
        """Choose the names of components."""
        names.name_by_number(root)

    # --- fit --------------------------------------------------------------------------------------

    def _gather(self, X: Any) -> tuple[Any, list[Message]]:
        return sources.here(X, type(self).__name__)

    def _check_samples(self, X: Any, **given: Any) -> tuple[Any, int]:
        samples, n = self._checked(X, given["feature_names"], reset=True)
        weight = check_sample_weight(given["sample_weight"], n)
        usable = int(np.count_nonzero(weight > 0))
        wanted = self.n_components
        if usable < (1 if isinstance(wanted, str) else wanted):
            raise InvalidDataError(
                wording.TOO_FEW_WEIGHTED_SAMPLES, n_rows=usable, n_components=wanted
            )
        return (samples, weight), n

    def _learn(self, samples: Any) -> DensityFit:
        values, weight = samples
        if isinstance(self.n_components, str):
            return self._lowest_bic(values, weight)
        return self._fit_mixture(values, weight, int(self.n_components))

    def _finish(self, samples: Any, result: Any) -> Iterable[Warning]:
        weight, fit = samples[1], result
        for name, value in fit.attributes.items():
            setattr(self, name, value)
        self.labels_, self.n_iter_, self.converged_ = fit.labels, fit.n_iter, fit.converged
        self.lower_bound_ = fit.log_likelihood / float(weight.sum())
        self.n_parameters_ = fit.n_parameters
        self.diagnostics_ = {key: v for key, v in fit.diagnostics.items() if key != "notes"}
        self.notes_ = list(fit.diagnostics.get("notes", []))
        k = len(self.weights_)
        if not isinstance(self.n_components, str) and k < self.n_components:
            reason = fit.diagnostics.get("reason") or Message(wording.ONLY_EQUAL_SAMPLES)
            wanted = int(self.n_components)
            yield ConvergenceWarning(
                wording.FEWER_COMPONENTS, found=k, requested=wanted, reason=reason
            )
        # A note may already name components of few samples.
        if not any("components" in note.values for note in self.notes_):
            warn_of_single_samples(fit.labels, weight, k)
        for note in self.notes_:
            yield MomentreeWarning(note)

    def _lowest_bic(self, samples: Any, weight: Floats) -> DensityFit:
        """Fit 1, 2, ... components until BIC stops falling; return the best, fitted in full.

        If one of its components then has too few samples, the next best smaller number is taken.
        """

        def fit(k: int, *, brief: bool = True) -> tuple[DensityFit, float, NDArray[Any]]:
            log.info("trying %d", k)
            found = self._fit_mixture(samples, weight, k, brief=brief)
            likelihood, n = found.usual or (found.log_likelihood, float(weight.sum()))
            bic = float(-2.0 * likelihood + found.n_parameters * np.log(n))
            log.info("BIC of %d components: %.6g", k, bic)
            n_found = len(found.attributes["weights_"])
            return found, bic, np.bincount(found.labels, weight, minlength=n_found)

        most = min(MAX_COMPONENTS, int(np.count_nonzero(weight > 0)))
        best, lower, bics = guard_search(fit, range(1, most + 1), FEW_SAMPLES)
        for k in reversed(lower if best.brief else []):
            best, bics[k - 1], sizes = fit(k, brief=False)
            if sizes.min() >= FEW_SAMPLES:
                break
        return replace(best, diagnostics={**best.diagnostics, "bic": bics})

    # --- results ----------------------------------------------------------------------------------

    def _joint(self, X: Any) -> Floats:
        check_is_fitted(self, "labels_")
        with single_threaded_blas():
            return self._log_joint(self._checked(X, None, reset=False)[0])

    @sources.by_partition
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

    @sources.by_partition
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

    @sources.by_partition
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

    @property
    def _n_parameters(self) -> int:
        return self.n_parameters_

    def _check_consistent(self) -> None:
        names.check_given_names(self)
