"""The geometry of the chart of shares, and the same in words: apart from the page that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Area", "stacked_areas"]

_HEIGHT = 1000


@dataclass(frozen=True)
class Area:
    """One topic in a chart of stacked areas.

    Parameters
    ----------
    topic : int
        Its number.
    path : str
        Outline of it and of all areas above it, in SVG: the areas are painted from the last to
        the first, each over the one before.
    peak : float
        Its largest share, in [0, 1].
    peak_name : str
        Name of the column where that is.
    """

    topic: int
    path: str
    peak: float
    peak_name: str


def stacked_areas(areas: Mapping[str, Any]) -> list[Area]:
    """Lay out the areas of topics, the first at the top, one unit of width a column.

    Parameters
    ----------
    areas : mapping
        ``shares`` (k lists of numbers per column) and ``names`` of columns.

    Returns
    -------
    list of Area
        One a topic, in steps: each column is a rectangle, so that no document is blended with
        its neighbours. Heights are per mille of the whole.

    Examples
    --------
    >>> areas = {"shares": [[1000, 250], [0, 750]], "names": ["a", "b"]}
    >>> [area.path for area in stacked_areas(areas)]
    ['M0 0V1000H1V250H2V0Z', 'M0 0V1000H2V0Z']
    """
    shares = np.asarray(areas["shares"], dtype=np.float64)
    total = np.maximum(shares.sum(axis=0), 1.0)
    edges = np.rint(_HEIGHT * np.cumsum(shares, axis=0) / total).astype(int)
    shares = shares / total
    peaks = shares.argmax(axis=1)
    return [
        Area(
            topic,
            _steps(edges[topic].tolist()),
            float(shares[topic, peak]),
            areas["names"][peak],
        )
        for topic, peak in enumerate(peaks)
    ]


def _steps(edge: list[int]) -> str:
    changes = (f"H{at}V{edge[at]}" for at in range(1, len(edge)) if edge[at] != edge[at - 1])
    return f"M0 0V{edge[0]}{''.join(changes)}H{len(edge)}V0Z"
