"""Outcomes of records: their classes, rates in groups, and how well groups predict them."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_number, check_shape, generator
from momentree.exceptions import InvalidDataError
from momentree.metrics._checks import check_labels, check_list
from momentree.metrics.intervals import risk_ratio, wilson_interval

OTHER = "other"
"""Class of all remaining values."""
MAX_NUMBERS = 10
"""Outcomes with more distinct numbers are measurements and require a threshold."""
MAX_CLASSES = 50
"""Outcomes with more distinct strings are names or dates, not categories."""

_NUMBER = re.compile(r"(?:^-)?\d+(?:[.,]\d+)?")
_BELOW = ("<", "under", "below", "up to", "less", "before", "bis", "unter")


def outcome_classes(
    outcome: ArrayLike, n: int, threshold: float | None
) -> tuple[Ints, list[str], bool]:
    """Return the class of each record, the names of the classes, and whether they are no and yes.

    A missing outcome (None, NaN, an empty string) has class -1. For a yes-or-no outcome (booleans,
    0 and 1, or numbers compared with a threshold), classes 0 and 1 are no and yes, even if one of
    them never occurs.
    """
    known, missing = _known(outcome, n)
    codes = np.full(n, -1, dtype=np.intp)
    if threshold is not None:
        numbers = pd.to_numeric(known, errors="coerce").to_numpy(dtype=np.float64)
        if np.isnan(numbers).any():
            bad = known.iloc[int(np.isnan(numbers).argmax())]
            raise InvalidDataError(
                "[outcome_not_a_number] the outcome contains {value!r}; expected numbers to "
                "compare with {parameters.threshold:=threshold}",
                value=bad,
                threshold=threshold,
            )
        codes[~missing] = numbers > threshold
        return codes, [f"at most {threshold:g}", f"above {threshold:g}"], True
    known = known.infer_objects()
    kinds = list(known.unique())
    numeric = pd.api.types.is_numeric_dtype(known.dtype)
    if numeric and set(kinds) <= {0, 1}:
        codes[~missing] = known.to_numpy(dtype=np.float64) > 0
        names = ["False", "True"] if pd.api.types.is_bool_dtype(known.dtype) else ["0", "1"]
        return codes, names, True
    # The messages quote no value: a value may be the name of a person.
    if numeric and len(kinds) > MAX_NUMBERS:
        raise InvalidDataError(
            "[outcome_of_many_numbers] the outcome has {found} different numbers; at most {most} "
            "are treated as classes: set {parameters.threshold} to predict whether a number is "
            "above it",
            found=len(kinds),
            most=MAX_NUMBERS,
        )
    if not numeric and len(kinds) > MAX_CLASSES:
        raise InvalidDataError(
            "[outcome_of_many_texts] the outcome has {found} different values; expected at most "
            "{most} categories: merge some of them, or choose another column",
            found=len(kinds),
            most=MAX_CLASSES,
        )
    order = sorted(kinds) if numeric else sorted(kinds, key=str)
    if not numeric:
        order = [order[j] for j in _natural_order([str(kind) for kind in order])]
    place = {kind: i for i, kind in enumerate(order)}
    codes[~missing] = [place[value] for value in known]
    return codes, [f"{kind:g}" if numeric else str(kind) for kind in order], False


def outcome_numbers(outcome: ArrayLike, n: int) -> Floats | None:
    """Return a numeric outcome with more than ten values as floats, NaN if missing, or None."""
    known, missing = _known(outcome, n)
    known = known.infer_objects()
    if not pd.api.types.is_numeric_dtype(known.dtype) or known.nunique() <= MAX_NUMBERS:
        return None
    numbers = np.full(n, np.nan)
    numbers[~missing] = known.to_numpy(dtype=np.float64)
    return numbers


def _known(outcome: ArrayLike, n: int) -> tuple[Any, NDArray[np.bool_]]:
    """Return the known values of an outcome as a series, and which are missing, shape (n,)."""
    given: Any = outcome if hasattr(outcome, "shape") else np.asarray(outcome, dtype=object)
    check_shape("outcome", given, (n,))
    values = pd.Series(given)
    missing = (values.isna() | (values.astype(object) == "")).to_numpy()
    return values[~missing], missing


def _natural_order(names: Sequence[str]) -> list[int]:
    """Return the order of classes: by the first number if every name contains one, else by name.

    "other" is last, and "< 1" comes before "1 to 17".
    """
    found = [_NUMBER.search(name) for name in names]
    by_number = all(hit for hit, name in zip(found, names, strict=True) if name != OTHER)

    def place(j: int) -> tuple[bool, float, bool, str]:
        hit = found[j]
        if not by_number or hit is None:
            return names[j] == OTHER, 0.0, False, names[j]
        below = any(word in names[j].lower() for word in _BELOW)
        return False, float(hit[0].replace(",", ".")), not below, names[j]

    return sorted(range(len(names)), key=place)


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
        raise InvalidDataError(
            "[too_few_classes] the outcome has {n_classes:~class/classes} in {n_rows:~record}; at "
            "least 2 are required",
            n_classes=len(found),
            n_rows=len(y),
        )
    if (found.min() if len(found) == 2 else found.max()) < cv:
        raise InvalidDataError(
            "[classes_too_small] the outcome has classes of {n_rows:list} records, too few for "
            "{folds} folds; lower {parameters.cv}, or merge classes",
            n_rows=found.tolist(),
            folds=int(cv),
        )
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
