"""How a model was made: parameters, versions and notes."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
import sklearn

from momentree._version import __version__
from momentree.report._fitted import FittedFlat, FittedTree
from momentree.report.documents import clean_text

__all__ = ["provenance"]


def provenance(
    estimator: FittedTree | FittedFlat, made_with: Mapping[str, object] | None
) -> dict[str, dict[str, Any]]:
    """Collect parameters, versions and notes.

    Parameters
    ----------
    estimator : TopicTree or flat model
        Fitted.
    made_with : mapping of str to object or None
        Notes to add, in their order.

    Returns
    -------
    dict
        ``parameters`` (by name), ``versions`` and ``notes``; values are JSON-able.
    """
    return {
        "parameters": {
            "estimator": type(estimator).__name__,
            **{key: _plain(value) for key, value in sorted(estimator.get_params().items())},
        },
        "versions": {
            "momentree": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
        "notes": {clean_text(key): _plain(value) for key, value in (made_with or {}).items()},
    }


def _plain(value: object) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(value)
    # What is printed of a function holds its place in memory, which differs between runs.
    return clean_text(getattr(value, "__name__", value))
