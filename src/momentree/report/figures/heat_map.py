"""Draw the heat map of records and their codes, ordered by group (T Figure 4.3a)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_integer
from momentree.core.sparse import check_structure
from momentree.exceptions import InvalidDataError
from momentree.metrics import group_profiles
from momentree.report.figures._canvas import bare, colors_of, names_of, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_INK_RGB = np.array([0x20, 0x24, 0x2A]) / 255.0
_PALE = 0.5
"""Strength of the background of a group, from 0 (white) to 1 (its full color)."""
_DOTS = 1200
"""Pixels per cell in each direction, so that edges blur by a pixel rather than a cell."""


def plot_record_heatmap(
    X: Any,
    labels: ArrayLike,
    names: Sequence[Any] | Mapping[Any, Any] | None = None,
    ax: Axes | None = None,
    *,
    n_codes: int = 40,
    max_rows: int = 600,
    group_names: Sequence[Any] | None = None,
    codes: Sequence[Any] | NDArray[Any] | None = None,
    colors: Sequence[Any] | None = None,
) -> Axes:
    """Draw which records have which codes, with records ordered by group.

    Parameters
    ----------
    X : {array-like, sparse matrix or array} of shape (n, d)
        1 if a record has a code, 0 if not, NaN if unknown.
    labels : array-like of int of shape (n,)
        Group of each record, 0 to k - 1.
    names : sequence of length d or mapping, default=None
        Names of the codes, or a mapping from codes to names, which requires `codes`; None uses the
        codes, or else numbers. Long names are shortened.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    n_codes : int >= 1, default=40
        Number of codes to draw, the most common in all records first.
    max_rows : int >= 1, default=600
        Maximum number of lines in the image. If there are more records, neighbors share a line,
        whose darkness is their share with the code; each group has at least one line.
    group_names : sequence of length k, default=None
        Names of the groups; None uses their numbers.
    codes : sequence of length d, default=None
        Code of each column, such as ``records.codes``.
    colors : sequence of length k, default=None
        Colors of the groups, as from :func:`group_colors`; None uses those of flat groups.

    Returns
    -------
    Axes
        Groups from top to bottom, each on a background of its color; missing values are white.

    Raises
    ------
    InvalidDataError
        If X has values other than 0, 1 and NaN, labels, names, codes or colors do not match the
        records, codes or groups, or `names` is a mapping and `codes` is missing.
    InvalidParameterError
        If ``n_codes`` or ``max_rows`` < 1.

    Notes
    -----
    This is Fig. 4.3a of [1]. Nothing is suppressed, and up to ``max_rows`` records have their own
    line: do not publish the figure if this could identify someone. Time: O(nnz). Memory beyond the
    data: O(max_rows n_codes).

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications. PhD
       thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.report import plot_record_heatmap
    >>> ax = plot_record_heatmap(np.array([[1, 1], [1, 0], [0, 1]]), [1, 0, 1])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['0  (1)', '1  (2)']
    """
    check_integer("n_codes", n_codes, at_least=1)
    check_integer("max_rows", max_rows, at_least=1)
    groups = np.asarray(labels)
    whole = group_profiles(X, groups)
    sizes = whole.n_records.astype(np.intp)
    k, d = whole.counts.shape
    code_names = names_of("names", names, d, codes=codes)
    fills = colors_of(colors, k)
    titles = names_of("group_names", group_names, k)
    common = np.argsort(-np.nan_to_num(whole.overall), kind="stable")[:n_codes]
    lines = _lines(sizes, max_rows)
    # Records of a group keep their order, so that equal tables give equal images.
    order = np.argsort(groups, kind="stable")
    line_of = np.empty(len(groups), dtype=np.intp)
    starts = np.cumsum(lines) - lines
    place = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    inside = place * np.repeat(lines, sizes) // np.repeat(np.maximum(sizes, 1), sizes)
    line_of[order] = np.repeat(starts, sizes) + inside
    density = group_profiles(_columns(X, common), line_of, n_groups=int(lines.sum())).frequencies
    image = _image(density, np.repeat(np.arange(k), lines), fills)
    if ax is None:
        ax = new_axes(2.2 + 0.2 * max(len(common), 12), 7.6)
    m, n_lines = len(common), len(image)
    sharp = np.repeat(np.repeat(image, -(-_DOTS // n_lines), axis=0), -(-_DOTS // m), axis=1)
    ax.imshow(sharp, aspect="auto", extent=(-0.5, m - 0.5, n_lines - 0.5, -0.5))
    for start in starts[(starts > 0) & (lines > 0)]:
        ax.axhline(start - 0.5, color="white", linewidth=1.0)
    shown = lines > 0
    ax.set_yticks(
        _apart((starts + (lines - 1) / 2.0)[shown], 0.026 * n_lines),
        [f"{title}  ({size:,})" for title, size in zip(titles, sizes, strict=True) if size],
        fontsize=8,
    )
    ax.set_xticks(np.arange(len(common)), [code_names[c] for c in common], rotation=90, fontsize=8)
    bare(ax)
    return ax


def _lines(sizes: Ints, max_rows: int) -> Ints:
    """Return the number of lines per group: one per record, or proportional but at least one."""
    if sizes.sum() <= max_rows:
        return sizes
    return np.asarray(np.minimum(sizes, np.maximum(1, sizes * max_rows // sizes.sum())))


def _columns(X: Any, codes: Ints) -> Any:
    """Return some columns of a table of any type."""
    if hasattr(X, "iloc"):
        return X.iloc[:, codes]
    if hasattr(X, "tocsr"):
        check_structure(X)
        return X.tocsr()[:, codes]
    table = np.asarray(X)
    if table.ndim != 2:
        raise InvalidDataError("not_a_matrix", shape=str(table.shape))
    return table[:, codes]


def _image(density: Floats, groups: Ints, fills: list[Any]) -> NDArray[np.uint8]:
    """Return the colors of the image: the background of each group, darkened by density."""
    from matplotlib.colors import to_rgb

    background = np.array([1.0 - _PALE * (1.0 - np.array(to_rgb(fill))) for fill in fills])[groups]
    known = np.isfinite(density)
    share = np.where(known, density, 0.0)[:, :, None]
    colors = (1.0 - share) * background[:, None, :] + share * _INK_RGB
    return np.rint(255.0 * np.where(known[:, :, None], colors, 1.0)).astype(np.uint8)


def _apart(places: Floats, gap: float) -> Floats:
    """Spread the labels of small neighboring groups so that they can be read."""
    steps = gap * np.arange(len(places))
    down = np.maximum.accumulate(places - steps)
    up = np.minimum.accumulate((places - steps)[::-1])[::-1]
    return (down + up) / 2.0 + steps
