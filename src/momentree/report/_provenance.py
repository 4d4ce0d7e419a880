"""Record how a page was made: parameters, versions and notes."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
import sklearn

from momentree._version import __version__
from momentree.report.text import clean_text


def provenance(estimator: Any, made_with: Mapping[str, object] | None) -> dict[str, dict[str, Any]]:
    """Return ``parameters`` of an estimator, ``versions`` and ``notes``, ready for JSON."""
    parameters = sorted(estimator.get_params(deep=False).items())
    # Without texts there is no vectorizer, and the readers list the settings of theirs.
    shown = [(key, value) for key, value in parameters if (key, value) != ("vectorizer", None)]
    return {
        "parameters": {
            "estimator": type(estimator).__name__,
            **{key: _plain(value) for key, value in shown},
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
    # The repr of a function contains its memory address, which differs between runs.
    return clean_text(getattr(value, "__name__", value))
