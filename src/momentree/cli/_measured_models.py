"""Choose and fit the model of a table of measurements."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree import models
from momentree.cli._run import Run
from momentree.exceptions import MomentreeWarning
from momentree.messages import Message
from momentree.readers import Measurements
from momentree.tree import ClusterTree

_REPORTED = ("fewer_components", "fewer_clusters", "not_converged")
_FLOOR = 1e-6
"""Smallest variance in a group, as a share of the smallest variance of a column."""
_MOST_ROWS = 5_000


def as_data(table: Measurements, rows: NDArray[np.bool_], *, frame: bool) -> Any:
    """Return some records as the models take them: an array of numbers, or a data frame."""
    if frame:
        return table.frame[rows].reset_index(drop=True)
    return table.to_matrix()[rows]


def find_model(
    run: Run,
    table: Measurements,
    X: Any,
    n_groups: int | None,
    parameters: Mapping[str, Any],
    *,
    flat: bool,
) -> tuple[Any, list[Message]]:
    """Fit a tree to numbers, or else a mixture; also return remarks.

    A tree splits samples by moments of all columns together, so it needs columns of one kind.
    """
    names = list(table.columns)
    if not table.only_numbers:
        if not flat:
            run.note(Message("list_of_mixed"))
        shared = {key: value for key, value in parameters.items() if key != "min_samples_leaf"}
        mixture = models.MixedMixture(
            "auto" if n_groups is None else n_groups, kinds=dict(table.kinds), **shared
        )
        fitted = _fitted(run, mixture, X)
        return fitted, [_chosen(fitted)] if n_groups is None else []
    if flat:
        return _mixture(run, X, n_groups, names, **parameters)
    remarks = list[Message]()
    if n_groups is None:
        found, remarks = _mixture(run, _sampled(X), None, names)
        n_groups = len(found.weights_)
    tree = ClusterTree(n_groups, data="real", **parameters)
    return _fitted(run, tree, X, feature_names=names), remarks


def _mixture(
    run: Run, X: Any, n_groups: int | None, names: list[str], **parameters: Any
) -> tuple[Any, list[Message]]:
    """Fit the mixture of Gaussians with the covariances, and number of groups, of lowest BIC.

    Smoothing by as many samples as columns keeps groups of a few equal records from being the most
    likely ones; "tied" would describe one group of unequal spread by many.
    """
    scale = float(np.min(np.nanvar(X, axis=0), initial=1.0))
    found: list[Any] = []
    for covariance_type in ("full", "diag"):
        run.update(f"finding groups: {covariance_type} covariances")
        mixture = models.GaussianMixture(
            "auto" if n_groups is None else n_groups,
            covariance_type=covariance_type,
            smoothing=float(X.shape[1]),
            reg_covar=_FLOOR * scale,
            **parameters,
        )
        found.append(_fitted(run, mixture, X, feature_names=names))
    best = min(found, key=lambda mixture: mixture.bic(X))
    return best, [_chosen(best)] if n_groups is None else []


def _sampled(X: Any) -> Any:
    """Return at most 5,000 rows, enough to choose a number of groups, in any order the same."""
    if len(X) <= _MOST_ROWS:
        return X
    order = np.lexsort(np.nan_to_num(X.T[::-1]))
    return X[np.sort(order[:: len(X) // _MOST_ROWS + 1])]


def _chosen(mixture: Any) -> Message:
    return Message("n_groups_chosen", most=len(mixture.diagnostics_.get("bic", ())))


def _fitted(run: Run, model: Any, X: Any, **given: Any) -> Any:
    """Fit a model; its warnings become notes, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = model.fit(X, **given)
    for warning in caught:
        problem = warning.message
        # A note already reports if there are fewer groups.
        if isinstance(problem, MomentreeWarning) and problem.code not in _REPORTED:
            run.note(problem.message)
    return fitted
