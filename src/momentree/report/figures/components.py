"""Draw the curves behind a choice of the number of components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._types import Floats
from momentree.exceptions import InvalidParameterError
from momentree.report.figures._canvas import BLUE, INK, LINE, SOFT, bare

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from momentree.models import ComponentChoice


# Title, axis, color and marker; colors are distinct for any color vision.
_PANELS = {
    "completion": ("Document completion", "nats per word", BLUE, "-o"),
    "spectrum": ("Eigenvalues of M2, one half of the documents", "eigenvalue", "#aa4499", "-D"),
    "bic": ("BIC, relative to the lowest", "thousands", "#009e73", "-s"),
    "coherence": ("Topic coherence", "NPMI", "#d55e00", "-^"),
}


def plot_n_components(choice: ComponentChoice, ax: Any = None) -> list[Axes]:
    """Draw the curves behind a choice of the number of components, one panel per criterion.

    A line through all panels marks the choice, a band its interval, and a ring in each panel the
    choice by that criterion alone.

    Parameters
    ----------
    choice : ComponentChoice
        From :func:`momentree.choose_n_components`.
    ax : matplotlib Axes or sequence of them, default=None
        Axes to draw on, one per panel; None creates a figure.

    Returns
    -------
    list of Axes
        One for each of "completion", "spectrum", "bic" and "coherence" that was used, from top to
        bottom. Without ``ax`` they are in one new figure, ``axes[0].figure``.

    Raises
    ------
    InvalidParameterError
        If the number of axes differs from the number of panels.

    Examples
    --------
    >>> from momentree import choose_n_components
    >>> from momentree.datasets import make_single_topic
    >>> from momentree.report import plot_n_components
    >>> X = make_single_topic(200, 50, 3, random_state=0).X
    >>> choice = choose_n_components(X, candidates=range(1, 6), criteria=["spectrum"])
    >>> axes = plot_n_components(choice)
    >>> len(axes)
    1
    >>> axes[0].figure.savefig("choice.png")  # doctest: +SKIP
    """
    names = [name for name in _PANELS if name in choice.by_criterion]
    panels = _new_panels(len(names)) if ax is None else [*np.atleast_1d(ax).ravel()]
    if len(panels) != len(names):
        raise InvalidParameterError(
            "axes_not_one_per_panel", found=len(panels), needed=len(names), panels=names
        )
    k = choice.table["n_components"].to_numpy()
    for panel, name in zip(panels, names, strict=True):
        _frame(panel, choice, k)
        at = int(np.abs(k - choice.by_criterion[name][0]).argmin())
        values, ring = _draw(panel, name, choice.table, k), _PANELS[name][2]
        panel.plot(k[at], _at(k, values, at), "o", ms=10, mfc="none", mec=ring, mew=1.6, zorder=4)
    if panels:
        low, high = choice.interval
        text = f"{choice.n_components} component{'' if choice.n_components == 1 else 's'}"
        panels[0].annotate(
            f"{text} ({low} to {high})" if low < high else text,
            (1.0, 1.0),
            xycoords="axes fraction",
            xytext=(0, 6),
            textcoords="offset points",
            ha="right",
            color=INK,
            fontweight="bold",
        )
        panels[-1].set_xlabel("number of components")
    return panels


def _new_panels(n: int) -> list[Axes]:
    import matplotlib.pyplot as plt

    if not n:
        return []
    figure: Figure = plt.figure(figsize=(7.2, 2.2 * n + 0.5))
    figure.set_layout_engine("constrained", h_pad=0.08)
    grid = figure.subplots(n, 1, sharex=True, squeeze=False)
    return list(grid[:, 0])


def _frame(panel: Axes, choice: ComponentChoice, k: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    low, high = choice.interval
    panel.axvspan(low - 0.5, high + 0.5, color="#f2efe8", zorder=0, linewidth=0)
    panel.axvline(choice.n_components, color=INK, linewidth=1.0, zorder=1)
    panel.set_xlim(k[0] - 0.7, k[-1] + 0.7)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.grid(axis="y", color=LINE, linewidth=0.6)
    panel.set_axisbelow(True)
    bare(panel, "left", "bottom")
    panel.tick_params(colors=SOFT, labelsize=9)


def _at(k: Any, values: Floats, at: int) -> float:
    """Return a value, interpolated between the candidates that were tried."""
    known = np.isfinite(values)
    return float(np.interp(k[at], k[known], values[known])) if known.any() else float("nan")


def _draw(panel: Axes, name: str, table: Any, k: Any) -> Floats:
    """Draw the curve of a criterion; return its values."""
    title, axis, color, marker = _PANELS[name]
    panel.set_title(title, loc="left", fontsize=10, color=INK)
    panel.set_ylabel(axis, fontsize=9, color=SOFT)
    if name == "spectrum":
        return _draw_spectrum(panel, table, k, marker, color)
    values: Floats = table["npmi" if name == "coherence" else name].to_numpy()
    known = np.isfinite(values)
    if name == "bic":
        values = (values - np.nanmin(values)) / 1e3
    else:
        errors = table["npmi_error" if name == "coherence" else f"{name}_error"].to_numpy()
        low, high = (values - errors)[known], (values + errors)[known]
        panel.fill_between(k[known], low, high, color=color, alpha=0.2, linewidth=0)
    panel.plot(k[known], values[known], marker, color=color, ms=3.5)
    return values


def _draw_spectrum(panel: Axes, table: Any, k: Any, marker: str, color: str) -> Floats:
    held, floor = table["held_out"].to_numpy(), table["noise_floor"].to_numpy()
    least = 0.2 * float(np.nanmin(floor))
    shown = np.maximum(held, least)  # noise can be negative
    panel.plot(k, table["eigenvalue"], ":", color=SOFT, label="same half")
    panel.plot(k, shown, marker, color=color, ms=3.5, label="other half")
    panel.plot(k, floor, "--", color=INK, linewidth=1.0, label="noise floor")
    panel.fill_between(k, least, floor, color=LINE, alpha=0.6, linewidth=0)
    panel.set_yscale("log")
    panel.set_ylim(bottom=least)
    panel.legend(loc="upper right", fontsize=8, frameon=False, ncols=3, labelcolor=INK)
    return np.asarray(shown)
