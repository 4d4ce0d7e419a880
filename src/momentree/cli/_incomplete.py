"""Assign records that may be incomplete, by the numbers that the page uses too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.assignment.incomplete import IncompleteAssigner
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.report.text import clean_text


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
            raise InvalidDataError("damaged_assignment", found="codes")
        columns = np.array([place[str(name)] for name in named], dtype=np.intp)
        assigner = IncompleteAssigner.from_dict(scoring)
        if assigner.shape != (n_groups, len(columns)):
            raise InvalidDataError("damaged_assignment", found="assignment")
        return cls(assigner, columns)

    def assign(self, X: Any) -> IncompleteAssignments:
        """Assign records, (n, d) with ones and NaN for missing values."""
        X = sp.csr_array(X)[:, self.columns]
        ones, missing = _where(X, X.data == 1), _where(X, np.isnan(X.data))
        proba = self.assigner.proba(ones, missing if missing.nnz else None)
        labels = self.assigner.labels(ones, proba)
        different = np.any(self.assigner.lacks(ones) & (proba > 0.5), axis=1)
        words = [str(Message("undecided_few")), str(Message("undecided_different"))]
        return IncompleteAssignments(labels, proba, [words[int(one)] for one in different.tolist()])


def _where(X: Any, found: Any) -> Any:
    out = sp.csr_array(X, dtype=np.float64, copy=True)
    out.data = found.astype(np.float64)
    out.eliminate_zeros()
    return out
