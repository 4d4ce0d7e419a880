"""How groups relate to an outcome: predictive accuracy, and outcome rates in groups."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_number, generator
from momentree.exceptions import InvalidDataError
from momentree.metrics._checks import check_labels, check_list
from momentree.metrics.intervals import risk_ratio, wilson_interval
from momentree.metrics.outcomes import outcome_classes


@dataclass(frozen=True)
class PredictivePower:
    """How well the group of a record predicts its outcome.

    Attributes
    ----------
    accuracy : float
        Fraction of records whose outcome is predicted correctly: mean over the folds.
    std : float
        Standard deviation of the accuracy over the folds.
    baseline : float
        Accuracy of always predicting the most frequent class.
    auc : float or None
        Area under the ROC curve of a binary outcome, mean over the folds: 0.5 = chance,
        1 = perfect; None for three classes or more.
    n : int
        Records with a known outcome.
    """

    accuracy: float
    std: float
    baseline: float
    auc: float | None
    n: int


@dataclass(frozen=True)
class OutcomeRates:
    """Rate of each outcome in each group, with intervals.

    Attributes
    ----------
    classes : tuple of str
        Names of the c outcomes: all classes, or only "yes" of a yes-or-no outcome.
    n : ndarray of shape (k,)
        Records of the group with a known outcome.
    counts : ndarray of shape (k, c)
        Records of the group with the outcome.
    rates : ndarray of shape (k, c)
        counts / n, in [0, 1]; NaN where n is 0.
    overall : ndarray of shape (c,)
        Rates among all records.
    relative : ndarray of shape (k, c)
        Rate in the group / rate in all others, in [0, inf]; NaN for 0 / 0, or if there is no
        record inside or outside the group.
    intervals, relative_intervals : ndarray of shape (k, c, 2)
        Lower and upper limits of the rates and of the relative rates; NaN where these are NaN.
    confidence : float
        Confidence level of the intervals, in (0, 1).
    """

    classes: tuple[str, ...]
    n: Ints
    counts: Ints
    rates: Floats
    intervals: Floats
    overall: Floats
    relative: Floats
    relative_intervals: Floats
    confidence: float


def predictive_accuracy(
    labels: ArrayLike,
    outcome: ArrayLike,
    *,
    threshold: float | None = None,
    cv: int = 5,
    random_state: int | np.random.RandomState | None = None,
) -> PredictivePower:
    """Measure how well the group of a record predicts an outcome.

    Logistic regression on the indicators of the groups, with stratified cross-validation.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Group of each record: numbers or strings.
    outcome : array-like of shape (n,)
        At least two classes: booleans, strings, or up to ten different numbers. Records with a
        missing outcome (None, NaN, "") are omitted.
    threshold : float, default=None
        For numbers: predict whether the outcome is above it.
    cv : int >= 2, default=5
        Number of folds.
    random_state : int, RandomState or None, default=None
        Seed of the folds; None is seed 0.

    Returns
    -------
    PredictivePower
        Accuracy, its standard deviation, the baseline, and the area under the ROC curve.

    Raises
    ------
    InvalidDataError
        If lengths differ; the outcome has fewer than two classes, more than ten numbers without a
        threshold, or more than fifty strings; or the largest class, or either of two classes, has
        fewer than `cv` records.
    InvalidParameterError
        If `cv` is not a whole number of at least 2.

    Notes
    -----
    The measure of section 6.4.1 of [1], with folds instead of a single split. The groups may have
    been fitted to all records, but not to the outcome. The regression is scikit-learn's with the
    default penalty; it predicts the most frequent class of each group, unless the group is tiny or
    the margin small. Records with the same group and class are combined into one weighted row:
    time O(n) and a regression on k c rows for each fold.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Section 6.4.1.

    Examples
    --------
    Nine of ten stays are long in group 1, and one of ten in group 0:

    >>> import numpy as np
    >>> from momentree.metrics import predictive_accuracy
    >>> labels = np.repeat([0, 1], 100)
    >>> days = np.where(np.arange(200) % 10 == 0, 3 + 9 * (labels == 0), 3 + 9 * (labels == 1))
    >>> power = predictive_accuracy(labels, days, threshold=7)
    >>> round(power.accuracy, 3), round(power.baseline, 3)
    (0.9, 0.5)
    """
    check_integer("cv", cv, at_least=2)
    names = check_list("labels", labels)
    classes, _, _ = outcome_classes(outcome, len(names), threshold)
    known = classes >= 0
    _, y = np.unique(classes[known], return_inverse=True)
    _, groups = np.unique(names[known], return_inverse=True)
    found = np.bincount(y)
    if len(found) < 2:
        raise InvalidDataError("too_few_classes", n_classes=len(found), n_rows=len(y))
    if (found.min() if len(found) == 2 else found.max()) < cv:
        raise InvalidDataError("classes_too_small", n_rows=found.tolist(), folds=int(cv))
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    seed = generator(random_state)
    folds = StratifiedKFold(int(cv), shuffle=True, random_state=seed)
    right, constant, areas = [], [], []
    with warnings.catch_warnings():
        # The accuracy already accounts for a rare class that is missing from some folds.
        warnings.simplefilter("ignore", UserWarning)
        splits = list(folds.split(groups, y))
    for train, test in splits:
        table = np.zeros((int(groups.max()) + 1, len(found)))
        np.add.at(table, (groups[train], y[train]), 1.0)
        P = _group_probabilities(table)
        right.append(float(np.mean(P.argmax(axis=1)[groups[test]] == y[test])))
        constant.append(float(np.mean(y[test] == table.sum(axis=0).argmax())))
        if len(found) == 2:
            areas.append(float(roc_auc_score(y[test], P[groups[test], 1])))
    return PredictivePower(
        accuracy=float(np.mean(right)),
        std=float(np.std(right)),
        baseline=float(np.mean(constant)),
        auc=float(np.mean(areas)) if areas else None,
        n=len(y),
    )


def outcome_rates(
    labels: ArrayLike,
    outcome: ArrayLike,
    *,
    n_groups: int | None = None,
    threshold: float | None = None,
    confidence: float = 0.95,
) -> OutcomeRates:
    """Return the rate of an outcome in each group, and relative to the other groups.

    Parameters
    ----------
    labels : array-like of int of shape (n,)
        Group of each record, 0 to k - 1.
    outcome : array-like of shape (n,)
        Booleans, strings, or up to ten different numbers. Records with a missing outcome (None,
        NaN, "") are omitted.
    n_groups : int >= 1, default=None
        k; None is the largest label plus one.
    threshold : float, default=None
        For numbers: return the rate of outcomes above it.
    confidence : float in (0, 1), default=0.95
        Confidence level of each two-sided interval.

    Returns
    -------
    OutcomeRates
        One column for a yes-or-no outcome (true and false, 1 and 0, or a threshold); otherwise
        one for each class, sorted.

    Raises
    ------
    InvalidDataError
        If labels are not whole numbers from 0 to k - 1, lengths differ, or the outcome has more
        than ten numbers without a threshold or more than fifty strings.
    InvalidParameterError
        If `confidence` is not between 0 and 1, or `n_groups` is below 1.

    Notes
    -----
    Wilson's score intervals [1] for rates, Katz's for their ratios (see :func:`group_profiles`).
    Time O(n + k c).

    References
    ----------
    .. [1] E. B. Wilson. Probable inference, the law of succession, and statistical inference.
       Journal of the American Statistical Association 22, 1927.

    Examples
    --------
    >>> from momentree.metrics import outcome_rates
    >>> found = outcome_rates([0, 0, 0, 0, 1, 1], [1, 1, 0, 1, 0, 1])
    >>> found.rates.ravel().tolist()
    [0.75, 0.5]
    >>> found.intervals[1].round(2).tolist()
    [[0.09, 0.91]]
    """
    check_number("confidence", confidence, above=0, below=1)
    groups, k = check_labels(labels, None, n_groups)
    classes, names, binary = outcome_classes(outcome, len(groups), threshold)
    known = classes >= 0
    table = np.zeros((k, len(names)), dtype=np.intp)
    np.add.at(table, (groups[known], classes[known]), 1)
    n = table.sum(axis=1)
    counts = table[:, 1:] if binary else table
    whole, total = counts.sum(axis=0), int(n.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        rates, overall = counts / n[:, None], whole / np.float64(total)
    relative, relative_intervals = risk_ratio(
        counts, n[:, None], whole - counts, (total - n)[:, None], confidence
    )
    return OutcomeRates(
        classes=tuple(names[1:] if binary else names),
        n=n,
        counts=counts,
        rates=rates,
        intervals=wilson_interval(rates, n[:, None], confidence),
        overall=overall,
        relative=relative,
        relative_intervals=relative_intervals,
        confidence=float(confidence),
    )


def _group_probabilities(table: Floats) -> Floats:
    """Return P[class | group] by logistic regression on a table of counts."""
    from sklearn.linear_model import LogisticRegression

    groups, classes = np.nonzero(table)
    indicator = np.eye(len(table))
    model = LogisticRegression(max_iter=1000)
    model.fit(indicator[groups], classes, sample_weight=table[groups, classes])
    P = np.zeros(table.shape)
    P[:, model.classes_] = model.predict_proba(indicator)
    return P
