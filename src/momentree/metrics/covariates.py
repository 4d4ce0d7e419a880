"""How covariates predict the group: three-step logistic regression by maximum likelihood."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import logsumexp, ndtri, softmax

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_number, check_shape
from momentree.backends import single_threaded_blas
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.metrics import _checks as checks
from momentree.metrics import outcomes, three_step
from momentree.metrics.intervals import wald_p_value

_CONSTANT_COVARIATE = (
    "[constant_covariate] covariate {name!r} has the same value in all records without missing "
    "values; leave it out"
)


_TOL = 1e-10
_MAX_ITER = 200
_LEAST = 1e-12
"""Smallest classification probability in a logarithm."""


@dataclass(frozen=True)
class CorrectedCovariates:
    """A logistic regression of k groups on covariates, corrected for uncertain assignment.

    Attributes
    ----------
    terms : tuple of str
        Names of the p terms: the covariate for numbers and for 0 and 1, "sex: male" for a class.
    references : dict of str to str
        For each covariate with classes, the most frequent class, with which the others are
        compared.
    reference : int
        The group with which the others are compared.
    log_odds : ndarray of shape (k, p)
        Change of log(P[group] / P[reference group]) if the term grows by one, the others being
        equal; 0 in the reference group.
    errors : ndarray of shape (k, p)
        Standard errors; NaN in the reference group.
    odds_ratios : ndarray of shape (k, p)
        exp(log_odds).
    intervals : ndarray of shape (k, p, 2)
        Confidence intervals of the odds ratios; NaN in the reference group.
    p_values : ndarray of shape (p,)
        Wald test that the term changes the odds of no group; NaN if it cannot be computed.
    n : int
        Records without missing covariates.
    converged : bool
        Whether the maximum was found. It does not exist if a covariate separates the groups
        perfectly; odds ratios are then very large or small, with very wide intervals.
    confidence : float
        Confidence level of the intervals, in (0, 1).
    """

    terms: tuple[str, ...]
    references: Mapping[str, str]
    reference: int
    log_odds: Floats
    errors: Floats
    odds_ratios: Floats
    intervals: Floats
    p_values: Floats
    n: int
    converged: bool
    confidence: float


def corrected_covariates(
    labels: ArrayLike,
    proba: ArrayLike,
    covariates: Mapping[str, ArrayLike],
    *,
    reference: int | None = None,
    confidence: float = 0.95,
) -> CorrectedCovariates:
    r"""Return odds ratios of covariates for the groups, corrected for uncertain assignment.

    The three-step method with maximum likelihood: group t of a record with covariates z has the
    probability softmax_t(a_t + b_t . z), and is assigned to s with the classification probability
    D[t, s] of :func:`classification_table`, so that a and b maximize

        sum_i log sum_t softmax_t(a + b z_i) D[t, s_i].

    Parameters
    ----------
    labels : array-like of int of shape (n,)
        Group to which each record is assigned, 0 to k - 1.
    proba : array-like of shape (n, k)
        Probability of each group for each record, as from ``predict_proba`` of a mixture or a tree,
        in rows that sum to 1. The covariates must not have been used to fit the groups.
    covariates : mapping of str to array-like of shape (n,)
        Columns by name, such as a data frame: numbers, booleans, or strings as classes. Records
        with a missing value (None, NaN, "") in any of them are omitted.
    reference : int, default=None
        Group with which the others are compared; None is the one with most records.
    confidence : float in (0, 1), default=0.95
        Confidence level of each two-sided interval.

    Returns
    -------
    CorrectedCovariates
        Groups in the order of the columns of `proba`.

    Raises
    ------
    InvalidDataError
        If labels, probabilities and covariates do not match, a covariate is constant, covariates
        are linearly dependent, there are too few records, a covariate has more than fifty different
        strings, or no record is assigned to one of the groups.
    InvalidParameterError
        If `confidence` is not between 0 and 1, or `reference` is not a group.

    Notes
    -----
    The method of [1], equation 13, with modal assignment, as in StepMix with ``n_steps=3,
    correction="ML", structural="covariate"``; see [2] for its accuracy. Maximized by Newton's
    method from equal probabilities. Standard errors come from the observed information, and treat D
    as known. Time O(n k^2 p^2) per step.

    References
    ----------
    .. [1] J. K. Vermunt. Latent class modeling with covariates: two improved three-step approaches.
       Political Analysis 18, 2010.
    .. [2] Z. Bakk, F. B. Tekle, J. K. Vermunt. Estimating the association between latent class
       membership and external variables using bias-adjusted three-step approaches. Sociological
       Methodology 43, 2013.

    Examples
    --------
    Records of group 1 are older, and half of the women and one in three men belong to it:

    >>> import numpy as np
    >>> from momentree.metrics import corrected_covariates
    >>> male = np.repeat(["no", "yes"], 300)
    >>> labels = np.concatenate([np.arange(300) % 2, np.arange(300) % 3 == 0]).astype(int)
    >>> proba = np.where(labels[:, None] == [0, 1], 0.999, 0.001)
    >>> found = corrected_covariates(labels, proba, {"male": male})
    >>> found.terms, found.odds_ratios[1].round(2)
    (('male: yes',), array([0.5]))
    """
    check_number("confidence", confidence, above=0, below=1)
    table = three_step.classification_table(labels, proba)
    k = len(table.sizes)
    groups, _ = checks.check_labels(labels, None, k)
    check_integer("reference", reference, at_least=0, at_most=k - 1, optional=True)
    base = int(table.sizes.argmax()) if reference is None else int(reference)
    terms, references, Z = _design(covariates, len(groups))
    known = np.isfinite(Z).all(axis=1)
    Z, here = Z[known], groups[known]
    needed = k * (len(terms) + 1)
    if len(Z) < needed:
        raise InvalidDataError(
            "[too_few_complete_records] {n_rows:~record} {n_rows:?has/have} no missing covariate; "
            "at least {needed} are required",
            n_rows=len(Z),
            needed=needed,
        )
    counts = np.bincount(here, minlength=k)
    for group in np.flatnonzero(counts == 0):
        raise InvalidDataError(wording.GROUP_NEVER_ASSIGNED, group=int(group))
    design, scale = _standardize(Z, terms)
    log_d = np.log(np.clip(table.probabilities, _LEAST, None)).T[here]  # (n, k)
    with single_threaded_blas():  # threads wait for each other on these small products
        B, covariance, converged = _maximize(design, log_d, base)
    p = len(terms)
    log_odds, errors = np.zeros((k, p)), np.full((k, p), np.nan)
    others = np.flatnonzero(np.arange(k) != base)
    log_odds[others] = B[others, 1:] / scale
    spread = np.sqrt(np.clip(np.diag(covariance), 0.0, None)).reshape(k - 1, p + 1)
    errors[others] = spread[:, 1:] / scale
    places = np.arange(k - 1) * (p + 1)  # of the coefficients of a term in the covariance
    p_values = [
        wald_p_value(B[others, j], covariance[np.ix_(places + j, places + j)])
        for j in range(1, p + 1)
    ]
    half = float(ndtri(0.5 + confidence / 2.0)) * errors
    with np.errstate(over="ignore"):
        ratios = np.exp(log_odds)
        intervals = np.exp(np.stack([log_odds - half, log_odds + half], axis=-1))
    return CorrectedCovariates(
        terms=tuple(terms),
        references=references,
        reference=base,
        log_odds=log_odds,
        errors=errors,
        odds_ratios=ratios,
        intervals=intervals,
        p_values=np.array(p_values),
        n=len(Z),
        converged=converged,
        confidence=float(confidence),
    )


def _design(covariates: Mapping[str, Any], n: int) -> tuple[list[str], dict[str, str], Floats]:
    """Return the names of terms, the reference class of each covariate, and the terms (n, p)."""
    terms: list[str] = []
    references: dict[str, str] = {}
    columns: list[Floats] = []
    for name in covariates:
        given: Any = np.asarray(covariates[name])
        check_shape(str(name), given, (n,))
        values = pd.Series(given)
        known = values[values.notna() & (values.astype(object) != "")].infer_objects()
        if pd.api.types.is_numeric_dtype(known.dtype):
            column = np.full(n, np.nan)
            column[known.index.to_numpy()] = known.to_numpy(dtype=np.float64)
            terms.append(str(name))
            columns.append(column)
            continue
        classes, names, _ = outcomes.outcome_classes(given, n, None)
        counts = np.bincount(classes[classes >= 0], minlength=len(names))
        if len(names) < 2:
            raise InvalidDataError(_CONSTANT_COVARIATE, name=str(name))
        most = int(counts.argmax()) if len(names) > 2 else 0
        references[str(name)] = names[most]
        for j, one in enumerate(names):
            if j != most:
                terms.append(f"{name}: {one}")
                columns.append(np.where(classes < 0, np.nan, classes == j))
    if not terms:
        raise InvalidDataError("[no_covariates] no covariates were given; pass at least one column")
    return terms, references, np.column_stack(columns)


def _standardize(Z: Floats, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return an intercept with the terms in standard units, and these units."""
    center, scale = Z.mean(axis=0), Z.std(axis=0)
    for name, spread in zip(names, scale, strict=True):
        if not spread > 0:
            raise InvalidDataError(_CONSTANT_COVARIATE, name=name)
    design = np.column_stack([np.ones(len(Z)), (Z - center) / scale])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise InvalidDataError(
            "[dependent_covariates] the covariates are linearly dependent, such as a total and its "
            "parts; leave one out"
        )
    return design, scale


def _maximize(design: Floats, log_d: Floats, base: int) -> tuple[Floats, Floats, bool]:
    """Return the coefficients (k, q), the covariance of those of the other groups, and success."""
    k, q = log_d.shape[1], design.shape[1]
    others = np.flatnonzero(np.arange(k) != base)
    B = np.zeros((k, q))
    value, converged = _log_likelihood(B, design, log_d), False
    for _ in range(_MAX_ITER):
        gradient, information = _derivatives(B, design, log_d, others)
        eigenvalues, vectors = np.linalg.eigh(information)
        # The likelihood is not concave everywhere: replace negative curvature by its size.
        sizes = np.maximum(np.abs(eigenvalues), 1e-9 * np.abs(eigenvalues).max())
        step = (vectors @ ((vectors.T @ gradient) / sizes)).reshape(len(others), q)
        change = float(gradient @ step.ravel())
        if change < _TOL * (1.0 + abs(value)):
            converged = bool((eigenvalues > 1e-9 * np.abs(eigenvalues).max()).all())
            break
        length = 1.0
        while length > 1e-8:
            new = B.copy()
            new[others] += length * step
            reached = _log_likelihood(new, design, log_d)
            if reached >= value + 1e-4 * length * change:
                break
            length /= 2.0
        else:
            break
        B, value = new, reached
    _, information = _derivatives(B, design, log_d, others)
    return B, np.asarray(np.linalg.pinv(information, hermitian=True)), converged


def _log_likelihood(B: Floats, design: Floats, log_d: Floats) -> float:
    scores = design @ B.T
    joint = logsumexp(scores + log_d, axis=1) - logsumexp(scores, axis=1)
    return float(joint.sum())


def _derivatives(B: Floats, design: Floats, log_d: Floats, others: Ints) -> tuple[Floats, Floats]:
    """Return the gradient, and minus the Hessian, by the coefficients of the other groups."""
    scores = design @ B.T
    prior, posterior = softmax(scores, axis=1), softmax(scores + log_d, axis=1)
    gradient = ((posterior - prior)[:, others].T @ design).ravel()
    m, q = len(others), design.shape[1]
    information = np.empty((m, q, m, q))
    for a, t in enumerate(others):
        for b, u in enumerate(others[: a + 1]):
            same = float(t == u)
            weight = prior[:, t] * (same - prior[:, u]) - posterior[:, t] * (same - posterior[:, u])
            block = design.T @ (weight[:, None] * design)
            information[a, :, b, :] = block
            information[b, :, a, :] = block.T
    return gradient, information.reshape(m * q, m * q)
