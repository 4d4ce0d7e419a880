"""Models of groups of records: which model suits measurements, and the groups of new records."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree import exceptions, models, readers
from momentree._types import Floats, Ints
from momentree.assignment.posteriors import IncompleteAssigner
from momentree.cli._run import Run
from momentree.messages import Message, wording
from momentree.report.text import clean_text
from momentree.tree import ClusterTree

_REPORTED = (
    "components_of_one_sample",
    "fewer_components",
    "fewer_leaves_found",
    "not_converged",
)
"""Problems that notes and tables of the command report in their own words."""
_FLOOR = 1e-6
"""Smallest variance in a group, as a share of the smallest variance of a column."""
_MAX_ROWS = 5_000
"""Rows from which the number of groups is chosen: of more, it takes minutes."""


def as_data(table: readers.Measurements, rows: NDArray[np.bool_], *, frame: bool) -> Any:
    """Return some records as the models take them: an array of numbers, or a data frame."""
    if frame:
        return table.frame[rows].reset_index(drop=True)
    return table.to_matrix()[rows]


def predicted(
    model: Any, table: readers.Measurements, n_groups: int
) -> tuple[Ints, Floats, NDArray[np.bool_]]:
    """Return the groups of records, -1 for none, their probabilities, and which have a group.

    A record without any known value has none. Some models also give none to a record with a
    missing value.
    """
    labels, proba = np.full(len(table), -1), np.zeros((len(table), n_groups))

    def assign(rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if rows.any():
            X = as_data(table, rows, frame=isinstance(model, models.MixedMixture))
            labels[rows], proba[rows] = model.predict(X), model.predict_proba(X)
        return rows

    try:
        return labels, proba, assign(np.asarray(table.enough))
    except exceptions.InvalidDataError as error:
        if error.code != "missing_not_assigned":
            raise
    return labels, proba, assign(np.asarray(~np.isnan(table.to_matrix()).any(axis=1)))


def find_mixture_or_tree(
    run: Run,
    table: readers.Measurements,
    X: Any,
    n_groups: int | None,
    parameters: Mapping[str, Any],
    *,
    flat: bool,
) -> Any:
    """Fit a tree to numbers, or else a mixture.

    A tree splits samples by moments of all columns together, so it needs columns of one kind.
    """
    names = list(table.columns)
    shared = {key: value for key, value in parameters.items() if key != "min_samples_leaf"}
    if not table.only_numbers:
        if not flat:
            run.note(
                "[list_of_mixed] the groups are a list, not a tree, because the columns are of "
                "different kinds"
            )
        mixture = models.MixedMixture(n_groups or "auto", kinds=dict(table.kinds), **shared)
        return _with_number(_fitted(run, mixture, X))
    if flat:
        return _mixture(run, X, n_groups, names, **shared)
    if n_groups is None:
        n_groups = len(_mixture(run, _sampled(X), None, names).weights_)
    tree = ClusterTree(n_groups, data="real", **parameters)
    return _fitted(run, tree, X, feature_names=names)


def _mixture(run: Run, X: Any, n_groups: int | None, names: list[str], **parameters: Any) -> Any:
    """Fit the mixture of Gaussians with the covariances, and number of groups, of lowest BIC.

    Smoothing by as many samples as columns keeps groups of a few equal records from being the most
    likely ones; "tied" would describe one group of unequal spread by many.
    """
    scale = float(np.min(np.nanvar(X, axis=0), initial=1.0))
    found: list[Any] = []
    n, d = X.shape
    # Otherwise a single full covariance has more parameters than there are records.
    types: tuple[Literal["full", "diag"], ...] = (
        ("full", "diag") if d * (d + 3) // 2 <= n else ("diag",)
    )
    for covariance_type in types:
        mixture = models.GaussianMixture(
            n_groups or "auto",
            covariance_type=covariance_type,
            smoothing=float(X.shape[1]),
            reg_covar=_FLOOR * scale,
            **parameters,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the best are noted
            found.append(mixture.fit(X, feature_names=names))
    best = min(found, key=lambda mixture: _bic(mixture, X))
    for note in best.notes_:
        run.note(note)
    return _with_number(best)


def _with_number(model: Any) -> Any:
    """Return a model whose refits, such as those of its stability, keep its number of groups."""
    return model.set_params(n_components=len(model.weights_))


def _bic(mixture: Any, X: Any) -> float:
    """Return the BIC without the extreme records that the fit left out, which would decide it."""
    left_out = sum(n.values["n_rows"] for n in mixture.notes_ if n.code == "extreme_rows")
    if not left_out:
        return float(mixture.bic(X))
    known = np.sort(mixture.score_samples(X))[left_out:]
    return float(np.log(len(known)) * mixture.n_parameters_ - 2 * known.sum())


def _sampled(X: Any) -> Any:
    """Return at most 5,000 rows, enough to choose a number of groups, in any order the same."""
    if len(X) <= _MAX_ROWS:
        return X
    order = np.lexsort(np.nan_to_num(X.T[::-1]))
    return X[np.sort(order[:: len(X) // _MAX_ROWS + 1])]


def _fitted(run: Run, model: Any, X: Any, **given: Any) -> Any:
    """Fit a model; its warnings become notes, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = model.fit(X, **given)
    for warning in caught:
        problem = warning.message
        # A note already reports if there are fewer groups.
        if isinstance(problem, exceptions.MomentreeWarning) and problem.code not in _REPORTED:
            run.note(problem.message)
    return fitted


@dataclass(frozen=True)
class IncompleteAssignments:
    """The group of each record, -1 if undecided, its probabilities, and the reason for -1."""

    labels: Ints
    proba: Floats
    reasons: list[str]


@dataclass(frozen=True)
class RecordAssigner:
    """The numbers that assign a record, and the columns of their codes in a table of records."""

    assigner: IncompleteAssigner
    columns: Ints

    @classmethod
    def of(cls, scoring: Mapping[str, Any], codes: Sequence[Any], n_groups: int) -> RecordAssigner:
        """Read the numbers of a model with some codes; "codes" in `scoring` are those it names."""
        place = {clean_text(code): j for j, code in enumerate(codes)}
        names = scoring.get("codes")
        named = list(place) if names is None else names
        if not isinstance(named, list) or not all(name in place for name in map(str, named)):
            raise exceptions.InvalidDataError(wording.DAMAGED_ASSIGNMENT, found="codes")
        columns = np.array([place[str(name)] for name in named], dtype=np.intp)
        assigner = IncompleteAssigner.from_dict(scoring)
        if assigner.shape != (n_groups, len(columns)):
            raise exceptions.InvalidDataError(wording.DAMAGED_ASSIGNMENT, found="assignment")
        return cls(assigner, columns)

    def assign(self, X: Any) -> IncompleteAssignments:
        """Assign records, (n, d) with ones and NaN for missing values."""
        X = sp.csr_array(X)[:, self.columns]
        ones, missing = _where(X, X.data == 1), _where(X, np.isnan(X.data))
        proba = self.assigner.proba(ones, missing if missing.nnz else None)
        labels = self.assigner.labels(ones, proba)
        different = np.any(self.assigner.lacks(ones) & (proba > 0.5), axis=1)
        words = [
            str(Message("[undecided_few] too few codes to say")),
            str(Message("[undecided_different] codes of different groups")),
        ]
        return IncompleteAssignments(labels, proba, [words[int(one)] for one in different.tolist()])


def _where(X: Any, found: Any) -> Any:
    out = sp.csr_array(X, dtype=np.float64, copy=True)
    out.data = found.astype(np.float64)
    out.eliminate_zeros()
    return out
