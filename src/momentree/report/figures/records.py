"""Draw codes of groups: frequencies, relative risks, and the heat map (T Figure 4.3a)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_table
from momentree.exceptions import InvalidParameterError
from momentree.messages import wording
from momentree.metrics import GroupProfiles, group_profiles
from momentree.report.figures import canvas
from momentree.report.figures.canvas import INK, LINE, PANEL, SOFT
from momentree.report.text import short_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.22
_INK_RGB = np.array([0x20, 0x24, 0x2A]) / 255.0
_PALE = 0.5
"""Strength of the background of a group, from 0 (white) to 1 (its full color)."""
_DOTS = 1200
"""Pixels per cell in each direction, so that edges blur by a pixel rather than a cell."""


def plot_code_frequencies(
    profiles: GroupProfiles,
    names: Sequence[Any] | Mapping[Any, Any] | None = None,
    ax: Axes | None = None,
    *,
    n_codes: int = 20,
    group_names: Sequence[Any] | None = None,
    codes: Sequence[Any] | NDArray[Any] | None = None,
    colors: Sequence[Any] | None = None,
    min_cell: int | None = 5,
) -> Axes:
    """Draw the frequencies of the most common codes in each group and in all records.

    Parameters
    ----------
    profiles : GroupProfiles
        From :func:`momentree.metrics.group_profiles`.
    names : sequence of length d or mapping, default=None
        Names of the codes, or a mapping from codes to names, which requires `codes`; None uses the
        codes, or else numbers. Long names are shortened.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure of a suitable size.
    n_codes : int >= 1, default=20
        Number of codes to draw, the most common in all records first.
    group_names : sequence of length k, default=None
        Names of the groups; None uses their numbers.
    codes : sequence of length d, default=None
        Code of each column, such as ``records.codes``.
    colors : sequence of length k, default=None
        Colors of the groups, as from :func:`group_colors`; None uses those of flat groups.
    min_cell : int >= 1 or None, default=5
        Suppress nonzero counts of records below this number, and numbers computed from them; None
        suppresses nothing.

    Returns
    -------
    Axes
        One row per code and one column per group, all on the same scale. The bar is the frequency
        in the group, the line its interval, and the dark mark the frequency in all records; "<5"
        replaces a small count, and "*" a size from which one could be derived.

    Raises
    ------
    InvalidDataError
        If names, codes or colors do not match the codes or groups, or `names` is a mapping and
        `codes` is missing.
    InvalidParameterError
        If ``n_codes`` or ``min_cell`` < 1.

    Notes
    -----
    This is the disease-frequency chart, Fig. 4.3b of [1], with all records and intervals added.
    Unlike on the page, suppressed counts could be derived by comparing several figures.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications. PhD
       thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.metrics import group_profiles
    >>> from momentree.report import plot_code_frequencies
    >>> X = np.array([[1, 1], [1, 0], [1, 0], [0, 0]])
    >>> ax = plot_code_frequencies(group_profiles(X, [0, 0, 1, 1]), ["asthma", "gout"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['asthma', 'gout']
    """
    check_integer("n_codes", n_codes, at_least=1)
    k, d = profiles.frequencies.shape
    disclosure = canvas.disclosure_of(min_cell)
    code_names = canvas.names_of("names", names, d, codes=codes)
    fills = canvas.colors_of(colors, k)
    labels = canvas.names_of("group_names", group_names, k, 20 if k <= 8 else 9)
    common = np.argsort(-np.nan_to_num(profiles.overall), kind="stable")[:n_codes]
    small = disclosure.is_small(profiles.counts[:, common])
    shown = np.where(small, np.nan, profiles.frequencies[:, common])
    limits = profiles.frequency_intervals[:, common]
    few = disclosure.is_small(profiles.counts[:, common].sum(axis=0))
    whole = np.where(few, np.nan, profiles.overall[common])
    sizes = disclosure.size_symbols(profiles.n_records)
    top = canvas.nice_top(np.append(shown, whole))
    if ax is None:
        column = 2.2 if k <= 2 else (1.5 if k <= 8 else 0.8)
        ax = canvas.new_axes(3.2 + column * k, _ROW * len(common) + 1.0)
    rows = np.arange(len(common))
    scale = PANEL / top
    for g in range(k):
        ax.axvline(g, color=LINE, linewidth=0.8, zorder=0)
        known = np.isfinite(shown[g])
        ax.barh(
            rows[known],
            shown[g, known] * scale,
            left=g,
            height=0.72,
            color=fills[g],
            zorder=1,
        )
        # The scale includes the frequencies; intervals may extend beyond it.
        low, high = np.minimum(limits[g, known], top).T * scale + g
        ax.hlines(rows[known], low, high, color=SOFT, linewidth=0.9, zorder=2)
        at = whole * scale + g
        ax.vlines(at, rows - 0.42, rows + 0.42, color=INK, linewidth=1.3, zorder=3)
        for row in rows[small[g]]:
            ax.text(g + 0.02, row, disclosure.symbol, va="center", fontsize=7, color=SOFT)
        title = f"{labels[g]}\n{sizes[g] or short_percent(profiles.proportions[g])}"
        ax.text(g, -0.9, title, va="bottom", fontsize=8, color=INK)
    ax.set_ylim(len(common) - 0.4, -0.8)
    ax.set_xlim(-0.02, k)
    ax.set_yticks(rows, [code_names[c] for c in common], fontsize=9)
    canvas.mark_panels(ax, k, PANEL, top)
    ax.set_xlabel("with the code (dark mark: all records)", fontsize=8)
    canvas.bare(ax)
    return ax


def plot_relative_risk(
    profiles: GroupProfiles,
    group: int,
    names: Sequence[Any] | Mapping[Any, Any] | None = None,
    ax: Axes | None = None,
    *,
    n_codes: int = 20,
    codes: Sequence[Any] | NDArray[Any] | None = None,
    color: Any = None,
    min_cell: int | None = 5,
) -> Axes:
    """Draw the relative risks of the codes that most clearly distinguish a group.

    Parameters
    ----------
    profiles : GroupProfiles
        From :func:`momentree.metrics.group_profiles`.
    group : int
        Number of the group, 0 to k - 1.
    names : sequence of length d or mapping, default=None
        Names of the codes, or a mapping from codes to names, which requires `codes`; None uses the
        codes, or else numbers. Long names are shortened.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure of a suitable height.
    n_codes : int >= 1, default=20
        Number of codes to draw, those with the highest lower limits first. Codes without a relative
        risk are omitted.
    codes : sequence of length d, default=None
        Code of each column, such as ``records.codes``.
    color : color of matplotlib, default=None
        Color of the group, as from :func:`group_colors`; None uses that of a flat group.
    min_cell : int >= 1 or None, default=5
        Omit codes with nonzero counts below this number, in the group or in the other records; None
        omits none.

    Returns
    -------
    Axes
        A point for each code and a line for its interval, on a logarithmic axis; 1 means no
        difference. An arrow marks a limit or a risk beyond the axis. Separate axes on the right
        show the frequencies in the group and in the other records.

    Raises
    ------
    InvalidDataError
        If names or codes do not match the columns, or `names` is a mapping and `codes` is missing.
    InvalidParameterError
        If ``n_codes`` or ``min_cell`` < 1, or there is no such group.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.metrics import group_profiles
    >>> from momentree.report import plot_relative_risk
    >>> X = np.array([[1, 1], [1, 0], [1, 0], [0, 1]])
    >>> ax = plot_relative_risk(group_profiles(X, [0, 0, 1, 1]), 0, ["asthma", "gout"])
    >>> ax.get_xscale()
    'log'
    """
    check_integer("n_codes", n_codes, at_least=1)
    k, d = profiles.relative_risk.shape
    if not 0 <= group < k:
        raise InvalidParameterError(
            wording.NO_SUCH_GROUP, parameter="group", value=group, last=k - 1
        )
    disclosure = canvas.disclosure_of(min_cell)
    code_names = canvas.names_of("names", names, d, codes=codes)
    fill = canvas.colors_of(None, k)[group] if color is None else color
    inside = profiles.counts[group]
    small = disclosure.is_small(inside)
    small |= disclosure.is_small(profiles.counts.sum(axis=0) - inside)
    risk, limits = profiles.relative_risk[group], profiles.relative_risk_intervals[group]
    order = np.lexsort((-np.nan_to_num(risk, posinf=1e300), -limits[:, 0]))  # NaN comes last
    drawn = order[np.isfinite(limits[order, 0]) & ~small[order]][:n_codes]
    rows = np.arange(len(drawn))
    if ax is None:
        ax = canvas.new_axes(8.2, _ROW * 1.1 * max(len(drawn), 1) + 0.9)
    low, high, point = limits[drawn, 0], limits[drawn, 1], risk[drawn]
    first, last = _log_range(np.concatenate([low, high, point]))
    left, right = np.clip(low, first, last), np.clip(high, first, last)
    ax.axvline(1.0, color=SOFT, linewidth=1.0, zorder=0)
    ax.hlines(rows, left, right, color=INK, linewidth=1.2, zorder=2)
    visible = (point >= first) & (point <= last)
    ax.scatter(point[visible], rows[visible], s=42, color=fill, edgecolors=INK, zorder=3)
    for beyond, x, marker in ((high > last, last, ">"), (low < first, first, "<")):
        if beyond.any():  # the layout treats an empty line as a point in the corner
            ax.plot(np.full(beyond.sum(), x), rows[beyond], marker, color=INK, ms=5, clip_on=False)
    ax.set_xscale("log")
    ax.set_xlim(first, last)
    ax.set_ylim(len(drawn) - 0.4, -1.5)
    _log_ticks(ax, np.log10(last / first))
    ax.set_yticks(rows, [code_names[c] for c in drawn], fontsize=9)
    ax.set_xlabel(
        f"relative risk, group {group} against others ({100 * profiles.confidence:g}% interval)",
        fontsize=9,
    )
    canvas.bare(ax, "bottom")
    _write_frequencies(ax, profiles, group, drawn)
    return ax


def _write_frequencies(ax: Axes, profiles: GroupProfiles, group: int, codes: Ints) -> None:
    """Write the frequencies in the group and in the other records next to each row."""
    counts, observed = profiles.counts[:, codes], profiles.observed[:, codes]
    inside = profiles.frequencies[group, codes]
    others = (counts.sum(axis=0) - counts[group]) / (observed.sum(axis=0) - observed[group])
    texts = [
        f"{short_percent(share)} : {short_percent(other)}"
        for share, other in zip(inside, others, strict=True)
    ]
    side = ax.twinx()
    side.set_ylim(ax.get_ylim())
    side.set_yticks([-1, *range(len(codes))], ["group : others", *texts], fontsize=8)
    canvas.bare(side)
    side.tick_params(pad=10)


def _log_range(values: Floats) -> tuple[float, float]:
    """Return the limits of a logarithmic axis that includes 1 and the values, in 0.01 to 1000."""
    known = values[np.isfinite(values) & (values > 0)]
    low, high = min(1.0, known.min(initial=1.0)), max(1.0, known.max(initial=1.0))
    return max(low / 1.15, 0.01), min(max(high * 1.15, 2.0), 1000.0)


def _log_ticks(ax: Axes, decades: float) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < 2.5 else (1.0,)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_tick_params(labelsize=8)


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
    X, groups = check_table(X), np.asarray(labels)
    whole = group_profiles(X, groups)
    sizes = whole.n_records.astype(np.intp)
    k, d = whole.counts.shape
    code_names = canvas.names_of("names", names, d, codes=codes)
    fills = canvas.colors_of(colors, k)
    titles = canvas.names_of("group_names", group_names, k)
    common = np.argsort(-np.nan_to_num(whole.overall), kind="stable")[:n_codes]
    lines = _lines(sizes, max_rows)
    # Records of a group keep their order, so that equal tables give equal images.
    order = np.argsort(groups, kind="stable")
    line_of = np.empty(len(groups), dtype=np.intp)
    starts = np.cumsum(lines) - lines
    place = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    inside = place * np.repeat(lines, sizes) // np.repeat(np.maximum(sizes, 1), sizes)
    line_of[order] = np.repeat(starts, sizes) + inside
    density = group_profiles(X[:, common], line_of, n_groups=int(lines.sum())).frequencies
    image = _image(density, np.repeat(np.arange(k), lines), fills)
    if ax is None:
        ax = canvas.new_axes(2.2 + 0.2 * max(len(common), 12), 7.6)
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
    canvas.bare(ax)
    return ax


def _lines(sizes: Ints, max_rows: int) -> Ints:
    """Return the number of lines per group: one per record, or proportional but at least one."""
    if sizes.sum() <= max_rows:
        return sizes
    return np.asarray(np.minimum(sizes, np.maximum(1, sizes * max_rows // sizes.sum())))


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
