"""Choose and fit the model of a table of measurements."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree import models
from momentree.cli._run import Run
from momentree.exceptions import ConvergenceWarning, MomentreeWarning
from momentree.messages import Message
from momentree.readers import Measurements
from momentree.tree import ClusterTree


def needs_frame(table: Measurements) -> bool:
    """Return whether a mixture of columns fits a table: kinds differ, or values are missing."""
    return not table.only_numbers or table.n_missing > 0


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
    """Fit a tree to complete numbers, or else a mixture; also return remarks.

    A tree splits samples by moments of all columns together, so it needs complete rows of numbers.
    """
    names = list(table.columns)
    if needs_frame(table):
        if not flat:
            why = "list_of_mixed" if not table.only_numbers else "list_of_incomplete"
            run.note(Message(why))
        shared = {key: value for key, value in parameters.items() if key != "min_samples_leaf"}
        mixture = models.MixedMixture(
            "auto" if n_groups is None else n_groups, kinds=dict(table.kinds), **shared
        )
        return _fitted(run, mixture, X, names)
    if flat:
        mixture = models.GaussianMixture("auto" if n_groups is None else n_groups, **parameters)
        return _fitted(run, mixture, X, names)
    remarks = []
    if n_groups is None:
        n_groups, remark = _number(run, X)
        remarks.append(remark)
    tree = ClusterTree(n_groups, data="real", **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return tree.fit(X, feature_names=names), remarks


def _number(run: Run, X: Any) -> tuple[int, Message]:
    """Choose the number of leaves: that of the mixture of Gaussians of lowest BIC."""
    run.update("finding groups: choosing their number")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mixture = models.GaussianMixture("auto").fit(X)
    return len(mixture.weights_), _chosen(mixture)


def _chosen(mixture: Any) -> Message:
    return Message("n_groups_chosen", most=len(mixture.diagnostics_.get("bic", ())))


def _fitted(run: Run, mixture: Any, X: Any, names: list[str]) -> tuple[Any, list[Message]]:
    """Fit a mixture; its warnings become notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        given = {} if hasattr(X, "columns") else {"feature_names": names}
        fitted = mixture.fit(X, **given)
    for warning in caught:
        problem = warning.message
        # A note already reports if there are fewer groups.
        if isinstance(problem, MomentreeWarning) and problem.code != "fewer_components":
            run.note(problem.message)
    chosen = mixture.n_components == "auto"
    return fitted, [_chosen(fitted)] if chosen else []
