"""Binary data of a fit: their moments, and the numbers of codes in groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from momentree._types import Floats, Ints
from momentree.assignment.posteriors import IncompleteAssigner
from momentree.backends import RowArray, Rows, as_rows, in_canonical_order
from momentree.moments import BernoulliMoments
from momentree.objects import BernoulliParameters
from momentree.preprocessing import FeatureMap


@dataclass(frozen=True)
class BinaryData:
    """Checked binary data of a fit in canonical order; `rows` are their statistics."""

    ones: Any  # 0 if a value is missing
    missing: Any | None  # 1 if a value is missing
    weight: RowArray
    feature_map: FeatureMap
    rows: Rows

    @classmethod
    def prepared(cls, ones: Any, missing: Any | None, weight: Floats) -> tuple[BinaryData, Ints]:
        """Return the data in canonical order, and the row of each sample in `ones`."""
        feature_map = FeatureMap.from_data(ones, missing, weight, "binary", scaled=True)
        rows, at = in_canonical_order(feature_map.rows(ones, missing), weight)
        matrix, d = rows.matrix, ones.shape[1]
        if missing is not None:
            ones, missing = matrix[:, :d], matrix[:, d:]
        else:
            ones = matrix
        return cls(ones, missing, weight[at], feature_map, rows), at

    @classmethod
    def of_rows(cls, rows: Rows, weight: RowArray) -> BinaryData:
        """Return rows elsewhere, which have no missing values and keep their order."""
        feature_map = FeatureMap.from_rows(rows, weight, "binary", scaled=True)
        return cls(rows, None, weight, feature_map, rows)

    @property
    def family(self) -> type[BernoulliParameters]:
        """The class of the parameters, which depends on whether values are missing."""
        return cast("type[BernoulliParameters]", self.feature_map.family)

    @property
    def observation_rates(self) -> Floats | None:
        """Weighted fraction of samples in which each feature is observed; None if all are."""
        if self.missing is None:
            return None
        return 1.0 / self.feature_map.moment_scale[: self.ones.shape[1]]

    @cached_property
    def moments(self) -> BernoulliMoments:
        """Raw moments of the data (T eq. 4.6 to 4.8)."""
        return BernoulliMoments(
            as_rows(self.ones),
            sample_weight=self.weight,
            observation_rates=self.observation_rates,
        )

    @property
    def bias_bound(self) -> float:
        """max_i M1_i - M1_i^2, which bounds the bias of M2_ii (T Theorem 4.3.1)."""
        m1 = np.clip(self.moments.m1, 0.0, 1.0)
        return float((m1 - m1**2).max())


def counted(data: BinaryData, labels: RowArray, k: int) -> IncompleteAssigner:
    """Return the assigner of incomplete records, from the numbers of codes in each group."""
    sums, sizes = data.rows.group_sums(labels, k, data.weight)
    d = data.ones.shape[1]
    return IncompleteAssigner.from_sums(sums[:d], sums[d:] if len(sums) > d else None, sizes)
