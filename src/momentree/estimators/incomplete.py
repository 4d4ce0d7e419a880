"""Methods of estimators that also assign records in which codes may have been left out.

``predict`` takes a record to be complete, so that the codes it lacks count as much as those it
has. For a record of a few codes, these methods are the better choice.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_ones, check_values
from momentree.assignment.incomplete import IncompleteAssigner
from momentree.exceptions import InvalidDataError
from momentree.messages import wording


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
    return _assigned_incomplete(self, X)[1]


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
    return _assigned_incomplete(self, X)[0]


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
    return _checked_incomplete(self).to_dict()


def _assigned_incomplete(model: Any, X: Any) -> tuple[Ints, Floats]:
    check_is_fitted(model, "labels_")
    assigner = _checked_incomplete(model)
    ones, missing, _ = check_values(model, X, None, reset=False)
    check_ones(ones)
    proba = assigner.proba(ones, missing)
    return assigner.labels(ones, proba), proba


def _checked_incomplete(model: Any) -> IncompleteAssigner:
    assigner: IncompleteAssigner | None = model._incomplete
    if assigner is None:
        raise InvalidDataError(wording.NOT_FITTED_TO_BINARY, kind=getattr(model, "data_", "binary"))
    return assigner


def check_incomplete(model: Any, k: int, d: int, *, expected: bool) -> None:
    """Check what was read from a file: None if the model was not fitted to binary data."""
    found = model._incomplete
    if (found is not None) != expected or (expected and found.shape != (k, d)):
        raise InvalidDataError(wording.BAD_ENTRY, name="_incomplete", value=found)
