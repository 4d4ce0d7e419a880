"""Save flat models to files, and check the models that are loaded."""

from __future__ import annotations

from typing import Any

import numpy as np

from momentree._types import Floats
from momentree._validation import check_shape
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.models._decomposers import with_named_decomposition
from momentree.objects import LDAParameters, MixtureParameters
from momentree.objects.mixtures import check_sums
from momentree.persistence import SavedEstimator
from momentree.tree.names import NamedGroups
from momentree.tree.node import check_columns


def check_stored_diagnostics(found: Any) -> None:
    """Check the diagnostics of a model that was read from a file."""
    sound = (
        isinstance(found, dict)
        and isinstance(found.get("reason", ""), str | Message | None)
        and isinstance(found.get("warnings", []), list)
        and isinstance(found.get("start", ""), str)
    )
    if not sound:
        raise InvalidDataError("bad_entry", name="diagnostics_", value=found)


class StoredModel(NamedGroups, SavedEstimator):
    """A flat model that can be saved to a file."""

    weights_: Floats
    components_: Floats

    def _saved_params(self) -> dict[str, Any]:
        return with_named_decomposition(super()._saved_params())

    def _state(self) -> dict[str, Any]:
        state = super()._state()
        if "choice_" in state:
            state["choice_"] = None  # a table, of no use for new samples
        state.pop("changes_", None)
        return state

    def _check_restored(self) -> int:
        d, k = self.n_features_in_, len(self.weights_)
        check_shape("weights_", self.weights_, (k,))
        check_shape("components_", self.components_, (k, d))
        check_sums("weights_", self.weights_.sum())
        for name in ("weights_", "components_"):
            if (getattr(self, name) < 0).any():
                raise InvalidDataError("below_zero", name=name)
        for name, value in vars(self).items():
            if isinstance(value, MixtureParameters | LDAParameters):
                check_shape(f"{name}.centers", value.centers, (d, k))
        mean_count: Any = getattr(self, "mean_count_", 0.0)
        found: Any = getattr(self, "diagnostics_", {})
        if type(mean_count) not in (int, float) or not np.isfinite(mean_count):
            raise InvalidDataError("bad_entry", name="mean_count_", value=mean_count)
        check_stored_diagnostics(found)
        if "_words" in vars(self):
            check_columns(vars(self)["_words"], k, d)
        names: Any = vars(self).get("_names", [""] * k)
        strings = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not strings or len(names) != k:
            raise InvalidDataError("bad_entry", name="_names", value=names)
        self._check_names()
        self._check_sums(k)
        return k

    def _check_sums(self, n_groups: int) -> None:
        """Raise an error if the sums of ``partial_fit`` do not fit the model."""
