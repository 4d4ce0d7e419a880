"""Groups of binary records under a fitted mixture: whose a record is, edits by hand, the report."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from momentree._validation import check_ones, check_values
from momentree.assignment.assigners import Assigner, MixtureAssigner, reading_gaps
from momentree.backends import RowBlocks
from momentree.inference import log_joint, log_posterior
from momentree.models import _bernoulli_edits as edits
from momentree.models._base import FlatModel
from momentree.models._bernoulli_data import BinaryData
from momentree.models._fit_result import FitResult
from momentree.models._sample import draw_labels, draw_rows
from momentree.objects import BernoulliParameters, IncompleteBernoulliParameters
from momentree.tree.exports import scoring
from momentree.tree.page import RecordsPage

__all__ = ["BernoulliGroups"]

Floats = NDArray[np.float64]


class BernoulliGroups(RecordsPage, FlatModel):  # type: ignore[misc] # its own to_html
    """All that a mixture of binary variables does once it is fitted."""

    verbose: bool | int

    diagnostics_: Mapping[str, Any]
    labels_: NDArray[np.intp]
    n_iter_: int
    converged_: bool
    posterior_: BernoulliParameters
    _edited: Assigner  # only after an edit

    @abstractmethod
    def _run(self, data: BinaryData) -> FitResult:
        """Fit to prepared data."""

    @property
    def means_(self) -> Floats:
        """Frequencies of the components, shape (n_components, n_features)."""
        return self.components_

    # --- inference -------------------------------------------------------------------------------

    def _new_counts(self, X: Any) -> Any:
        return self._values(X)[0]

    def _values(self, X: Any) -> tuple[Any, Any | None]:
        check_is_fitted(self, "components_")
        ones, missing, _ = check_values(self, X, None, reset=False)
        check_ones(ones)
        return ones, missing

    @property
    def _assigner(self) -> Assigner:
        """What assigns samples without missing values to components, or to edited groups."""
        edited: Assigner | None = getattr(self, "_edited", None)
        if edited is not None:
            return edited
        return MixtureAssigner.of(BernoulliParameters(*_values_of(self.posterior_)))

    def _ready(self, X: Any) -> tuple[Assigner, RowBlocks]:
        """Return what assigns samples, and checked samples in the form that it reads."""
        ones, missing = self._values(X)
        if missing is None:
            return self._assigner, RowBlocks(ones)
        rows = RowBlocks(IncompleteBernoulliParameters.statistics(ones, missing))
        return reading_gaps(self._assigner), rows

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each component for each sample (T eq. 4.1).

            P[j | x] = omega_j P[x | mu_j] / sum_i omega_i P[x | mu_i],
            P[x | mu_j] = prod_w mu_wj^x_w (1 - mu_wj)^(1 - x_w)

        with omega and mu the weights and centers of ``posterior_``, which with EM are
        ``weights_`` and ``components_``; mu is kept between 1e-9 and 1 - 1e-9, and the product
        leaves out missing values.

        After :meth:`split_group` the probability of a part is that of the group before, times that
        of the part within it, which is the formula for the parts alone. After
        :meth:`merge_groups` it is the sum of those of the groups before.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1 in the columns of ``fit``; NaN marks a missing value, which says nothing.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1.
        """
        assigner, rows = self._ready(X)
        return assigner.proba(rows)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the likeliest component of each sample (T eq. 4.2).

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1 in the columns of ``fit``; NaN marks a missing value.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Numbers of components; on the samples of ``fit`` ``labels_``. After edits a sample goes
            to its group before the edit first, and on from there: the component need not be the
            one of largest probability.
        """
        assigner, rows = self._ready(X)
        return assigner.labels(rows)

    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each sample under ``weights_`` and ``components_``.

        Without EM these may hold zeros and ones; the likelihood is then that of ``posterior_``.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1 in the columns of ``fit``; of a sample with missing values (NaN) that of the
            others.

        Returns
        -------
        ndarray of shape (n_samples,)
            In nats.
        """
        ones, missing = self._values(X)
        whole = BernoulliParameters(*_values_of(self.posterior_))
        if missing is None:
            return log_posterior(log_joint(RowBlocks(ones), whole))[1]
        rows = RowBlocks(IncompleteBernoulliParameters.statistics(ones, missing))
        parameters = IncompleteBernoulliParameters(*_values_of(whole))
        return log_posterior(log_joint(rows, parameters))[1]

    def scoring(self) -> dict[str, Any]:
        """Return how a 0/1 record is assigned, as plain arrays: for use outside Python.

        Returns
        -------
        dict
            ``{"kind": "mixture", "coef": (m, d), "intercept": (m,), "group": (m,)}``: component
            probabilities are softmax(coef @ x + intercept), and "group" is the number of each in
            the model: several share one where they have been merged. After :meth:`split_group`
            ``{"kind": "nested", ...}``; see :meth:`momentree.ClusterTree.scoring`.
        """
        check_is_fitted(self, "components_")
        return scoring(self._assigner, self.components_.shape[1])

    @property
    def _n_parameters(self) -> int:
        return int(self.components_.size + len(self.weights_) - 1)

    @property
    def _profiles(self) -> Floats:
        return self.components_

    def sample(
        self, n_samples: int = 1, *, random_state: int | np.random.RandomState | None = None
    ) -> tuple[Any, NDArray[np.intp]]:
        """Draw samples from the fitted model.

        Parameters
        ----------
        n_samples : int >= 1, default=1
            Number of samples.
        random_state : int, RandomState or None, default=None
            Seed; None is seed 0.

        Returns
        -------
        X : csr_array of int64, shape (n_samples, n_features)
            Zeros and ones.
        labels : ndarray of int of shape (n_samples,)
            Component of each sample.
        """
        check_is_fitted(self, "components_")
        rng, labels = draw_labels(self.weights_, n_samples, random_state)
        d = self.components_.shape[1]

        def draw(at: slice) -> Any:
            here = labels[at]
            return (rng.random_sample((len(here), d)) < self.components_[here]).astype(np.int64)

        return draw_rows(n_samples, d, draw), labels

    # --- edits -----------------------------------------------------------------------------------

    def split_group(
        self, X: Any, group: int, n_groups: int = 2, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Divide one component further, and leave all else as it is (T Remark 4.4.1).

        The model is fitted to the samples of the component alone, with the same parameters. A
        sample then goes first to its component and within it to a part, so that no sample of
        another component moves. With omega' and mu' those of the parts, the component is replaced
        by parts of weights omega_group omega'_j and frequencies mu'_j.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            The samples of ``fit``, in the same order.
        group : int
            Number of the component.
        n_groups : int >= 2, default=2
            Into how many; fewer where no more can be told apart.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of ``fit``.

        Returns
        -------
        BernoulliMixture
            A new fitted model; this one stays as it is. Components are numbered anew, by weight.

        Raises
        ------
        InvalidDataError
            If the component cannot be split, with the reason, or X is not like the data of
            ``fit``.
        InvalidParameterError
            If there is no such component, or `n_groups` is less than 2.

        Examples
        --------
        >>> import numpy as np
        >>> from momentree import BernoulliMixture
        >>> X = np.repeat(np.kron(np.eye(3), np.ones(3)), [40, 30, 20], axis=0)
        >>> model = BernoulliMixture(2, start="clusters").fit(X)
        >>> np.bincount(model.labels_)
        array([50, 40])
        >>> np.bincount(model.split_group(X, 0).labels_)
        array([40, 30, 20])
        """
        return edits.split_group(self, X, group, n_groups, sample_weight)

    def merge_groups(
        self, X: Any, groups: Sequence[int], *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Make one component of several, and leave all else as it is.

        Its weight is their sum, its frequencies are their mean by weight. Its samples are theirs:
        those whose likeliest component was one of them.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            The samples of ``fit``, in the same order.
        groups : sequence of int
            Numbers of two components or more.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of ``fit``.

        Returns
        -------
        BernoulliMixture
            A new fitted model; this one stays as it is. Components are numbered anew, by weight.

        Raises
        ------
        InvalidDataError
            If X is not like the data of ``fit``.
        InvalidParameterError
            If `groups` are not two different components or more.

        Examples
        --------
        >>> import numpy as np
        >>> from momentree import BernoulliMixture
        >>> X = np.repeat(np.kron(np.eye(3), np.ones(3)), [40, 30, 20], axis=0)
        >>> model = BernoulliMixture(3).fit(X)
        >>> np.bincount(model.merge_groups(X, [1, 2]).labels_)
        array([50, 40])
        """
        return edits.merge_groups(self, X, groups, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _values_of(parameters: BernoulliParameters) -> tuple[Floats, Floats]:
    return parameters.weights, parameters.centers
