"""Methods of estimators that find groups: fit, transform, score, sample, and incomplete records.

``predict`` takes a record to be complete, so that the codes it lacks count as much as those it
has. For a record of a few codes, ``predict_incomplete`` is the better choice.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_ones, check_values, generator
from momentree.assignment.posteriors import IncompleteAssigner
from momentree.backends.sources import by_partition
from momentree.exceptions import InvalidDataError
from momentree.messages import wording

E = TypeVar("E")


def fit(
    self: E,
    X: Any,
    y: object = None,  # noqa: ARG001 - the convention of scikit-learn
    *,
    sample_weight: ArrayLike | None = None,
    feature_names: Sequence[str] | NDArray[Any] | None = None,
) -> E:
    """Fit the model.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame, Rows} of shape (n_samples, n_features)
        One sample per row, of the kind that the class says: counts >= 0; for
        :class:`BernoulliMixture`, 0 and 1 or False and True; NaN for missing values, except
        among counts.
    y : None
        Ignored.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0; a weight of 2 has the effect of two copies of the sample.
    feature_names : sequence of str of shape (n_features,), default=None
        Column names (words, codes or measurements), used in names and reports. None uses the
        column names of a data frame.

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
        If no sample of positive weight has a nonzero value, where zeros say nothing.
    InvalidParameterError
        If a parameter is out of its range.

    Warns
    -----
    ConvergenceWarning
        If fewer than `n_components` components were found; the message says why. If components,
        other than those of counts, have one sample or none.
    """
    model: Any = self
    model._fit(X, sample_weight=sample_weight, feature_names=feature_names)
    return self


def fit_predict(self: Any, X: Any, y: object = None, **fit_params: Any) -> Ints:
    """Fit, and return the component or leaf of each sample.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Samples, as for ``fit``.
    y : None
        Ignored.
    **fit_params
        Passed on to ``fit``.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        ``labels_``.
    """
    labels: Ints = self.fit(X, y, **fit_params).labels_
    return labels


@by_partition
def transform(self: Any, X: Any) -> Floats:
    """Return :meth:`predict_proba`, so that the estimator can be used as a transformer.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Samples with the columns of ``fit``; or texts, after a fit to texts.

    Returns
    -------
    ndarray of shape (n_samples, n_groups)
        Rows sum to 1.
    """
    found: Floats = self.predict_proba(X)
    return found


def score(self: Any, X: Any, y: object = None) -> float:  # noqa: ARG001 - scikit-learn's convention
    """Return the mean log-likelihood of samples.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Samples with the columns of ``fit``; or texts, after a fit to texts.
    y : None
        Ignored.

    Returns
    -------
    float
        Mean of :meth:`score_samples`, in nats; larger is better.
    """
    return float(self.score_samples(X).mean())


def bic(self: Any, X: Any) -> float:
    """Return the Bayesian information criterion.

        -2 sum_i log P[x_i] + p log n,   p the number of free parameters

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Samples with the columns of ``fit``; or texts, after a fit to texts.

    Returns
    -------
    float
        Smaller is better.

    Notes
    -----
    Compare only models of the same data: different numbers of components, or a
    :class:`SingleTopicModel` with a :class:`LatentDirichletAllocation`, whose value is an upper
    bound. Both condition on the length of each document, whereas :class:`PoissonMixture` also
    models the lengths, so its value is not comparable with theirs.
    """
    values = self.score_samples(X)
    return float(-2.0 * values.sum() + self._n_parameters * np.log(len(values)))


def sample(
    self: Any, n_samples: int = 1, *, random_state: int | np.random.RandomState | None = None
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
    X : csr_array, ndarray, data frame or list of these, of n_samples rows
        Counts, or zeros and ones, as a csr_array of int64; other values as in the data of the fit.
    labels : ndarray of int of shape (n_samples,)
        Component of each sample.
    """
    check_is_fitted(self, "labels_")
    check_integer("n_samples", n_samples, at_least=0)
    rng = generator(random_state)
    labels = draw_components(self.weights_, n_samples, rng)
    return self._draw(labels, rng), labels


def draw_components(weights: Floats, n_samples: int, rng: np.random.RandomState) -> Ints:
    """Return the component of each new sample."""
    return rng.choice(len(weights), size=n_samples, p=weights).astype(np.intp)


def predict_incomplete_proba(self: Any, X: Any) -> Floats:
    """Return the probability of each group for records that may lack some of their codes.

    A record of group j has code w with probability mu_jw, and each of its codes is recorded at
    the same unknown rate r, independently:

        P[j | x] ~ n_j sum_r P[r] prod_w (r mu_jw)^x_w (1 - r mu_jw)^(1 - x_w)

    r is 1, 5^-1/5, ..., 1/5 with equal probability, and mu_jw = (c_jw + m_w) / (n_j + 1),
    if c_jw of the n_j records of group j in ``labels_`` have code w, and m_w of all records.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        0 or 1, with the columns of ``fit``; NaN for missing values, which are left out of the
        product.

    Returns
    -------
    ndarray of shape (n_samples, n_groups)
        Rows sum to 1.

    Raises
    ------
    InvalidDataError
        If the estimator was not fitted to binary data, or X contains other values.
    """
    return _assign_incomplete(self, X)[1]


def predict_incomplete(self: Any, X: Any) -> Ints:
    """Return the group of records that may lack some of their codes, or -1.

    A group is named if its :meth:`predict_incomplete_proba` is above 1/2, one of the codes
    occurs in at least five of its records, and it has records with each of the codes that
    occurs in any group.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        0 or 1, with the columns of ``fit``; NaN for missing values.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        Group numbers; -1 for records whose codes do not decide between groups, and for records
        without any code.

    Raises
    ------
    InvalidDataError
        If the estimator was not fitted to binary data, or X contains other values.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import ClusterTree
    >>> X = np.repeat([[1, 1, 1, 0, 0, 1], [0, 0, 1, 1, 1, 1]], [30, 20], axis=0)
    >>> tree = ClusterTree(2).fit(X)
    >>> tree.predict_incomplete([[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [1, 0, 0, 1, 0, 0]])
    array([ 0, -1, -1])
    """
    return _assign_incomplete(self, X)[0]


def scoring(self: Any) -> dict[str, Any]:
    """Return the numbers behind :meth:`predict_incomplete`, for use outside Python.

    Returns
    -------
    dict
        "rates": the values of r; "sizes": n_j, of length k; "counts": c_jw, k rows of d
        numbers; "observed": the same for the records in which it is known whether they have the
        code, or None if it always is.

    Raises
    ------
    InvalidDataError
        If the estimator was not fitted to binary data.
    """
    check_is_fitted(self, "labels_")
    return _check_incomplete(self).to_dict()


def _assign_incomplete(model: Any, X: Any) -> tuple[Ints, Floats]:
    check_is_fitted(model, "labels_")
    assigner = _check_incomplete(model)
    ones, missing, _ = check_values(model, X, None, reset=False)
    check_ones(ones)
    proba = assigner.proba(ones, missing)
    return assigner.labels(ones, proba), proba


def _check_incomplete(model: Any) -> IncompleteAssigner:
    assigner: IncompleteAssigner | None = model._incomplete
    if assigner is None:
        raise InvalidDataError(wording.NOT_FITTED_TO_BINARY, kind=getattr(model, "data_", "binary"))
    return assigner


def check_incomplete(model: Any, k: int, d: int, *, expected: bool) -> None:
    """Check what was read from a file: None if the model was not fitted to binary data."""
    found = model._incomplete
    if (found is not None) != expected or (expected and found.shape != (k, d)):
        raise InvalidDataError(wording.BAD_ENTRY, name="_incomplete", value=found)
