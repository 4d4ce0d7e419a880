"""A figure of how a number of components was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from momentree.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from momentree.models import ComponentChoice

__all__ = ["plot_n_components"]

Floats = NDArray[np.float64]

# Colours that people with any colour vision tell apart; each curve has a marker of its own too.
_BLUE, _ORANGE, _GREEN, _PURPLE = "#0072b2", "#d55e00", "#009e73", "#aa4499"
_INK = "#20242a"
_SOFT = "#6b7178"
_LINE = "#dedbd4"
_PANEL_HEIGHT = 2.2
_WIDTH = 7.2


def plot_n_components(choice: ComponentChoice, ax: Any = None) -> list[Axes]:
    """Draw the curves behind a choice of the number of components, one panel a criterion.

    The answer is a line through all panels, its interval a band, and what each criterion says by
    itself a ring.

    Parameters
    ----------
    choice : ComponentChoice
        From :func:`momentree.choose_n_components`.
    ax : matplotlib Axes or sequence of them, default=None
        Where to draw, one for each panel; None makes a new figure.

    Returns
    -------
    list of Axes
        Always a list, also of one panel: from top to bottom those of "completion", "spectrum",
        "bic" and "coherence" that the choice has. They stand in one figure, ``axes[0].figure``,
        unless ``ax`` says otherwise.

    Raises
    ------
    InvalidParameterError
        If there are not as many axes as panels.

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
    draw = {
        "completion": _completion,
        "spectrum": _spectrum,
        "bic": _bic,
        "coherence": _coherence,
    }
    names = [name for name in draw if name in choice.by_criterion]
    if ax is None:
        panels = _new_panels(len(names)) if names else []
    else:
        panels = [*np.atleast_1d(ax).ravel()]
    if len(panels) != len(names):
        msg = f"{len(panels)} axes were given; expected {len(names)}, for {', '.join(names)}"
        raise InvalidParameterError(msg)
    k = choice.table["n_components"].to_numpy()
    for panel, name in zip(panels, names, strict=True):
        _frame(panel, choice, k)
        at = int(np.abs(k - choice.by_criterion[name][0]).argmin())
        color, values = draw[name](panel, choice.table, k)
        panel.plot(k[at], values[at], "o", ms=10, mfc="none", mec=color, mew=1.6, zorder=4)
    if panels:
        low, high = choice.interval
        text = f"{choice.n_components} components"
        text += f" ({low} to {high})" if low < high else ""
        panels[0].annotate(
            text if choice.n_components != 1 else text.replace("components", "component"),
            (1.0, 1.0),
            xycoords="axes fraction",
            xytext=(0, 6),
            textcoords="offset points",
            ha="right",
            color=_INK,
            fontweight="bold",
        )
        panels[-1].set_xlabel("number of components")
    return panels


def _new_panels(n: int) -> list[Axes]:
    import matplotlib.pyplot as plt

    figure: Figure = plt.figure(figsize=(_WIDTH, _PANEL_HEIGHT * n + 0.5))
    figure.set_layout_engine("constrained", h_pad=0.08)
    grid = figure.subplots(n, 1, sharex=True, squeeze=False)
    return list(grid[:, 0])


def _frame(panel: Axes, choice: ComponentChoice, k: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    low, high = choice.interval
    panel.axvspan(low - 0.5, high + 0.5, color="#f2efe8", zorder=0, linewidth=0)
    panel.axvline(choice.n_components, color=_INK, linewidth=1.0, zorder=1)
    panel.set_xlim(k[0] - 0.7, k[-1] + 0.7)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.grid(axis="y", color=_LINE, linewidth=0.6)
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        panel.spines[side].set_color(_SOFT)
    panel.tick_params(colors=_SOFT, labelsize=9)


def _label(panel: Axes, title: str, unit: str) -> None:
    panel.set_title(title, loc="left", fontsize=10, color=_INK)
    panel.set_ylabel(unit, fontsize=9, color=_SOFT)


def _completion(panel: Axes, table: Any, k: Any) -> tuple[str, Floats]:
    values, errors = table["completion"].to_numpy(), table["completion_error"].to_numpy()
    panel.fill_between(k, values - errors, values + errors, color=_BLUE, alpha=0.2, linewidth=0)
    panel.plot(k, values, "-o", color=_BLUE, ms=3.5)
    _label(panel, "Half of a document tells the other half", "nats a word")
    return _BLUE, values


def _spectrum(panel: Axes, table: Any, k: Any) -> tuple[str, Floats]:
    held, floor = table["held_out"].to_numpy(), table["noise_floor"].to_numpy()
    least = 0.2 * float(np.nanmin(floor))
    shown = np.maximum(held, least)  # noise may be below zero, where a logarithm is not
    panel.plot(k, table["eigenvalue"], ":", color=_SOFT, label="in its own half")
    panel.plot(k, shown, "-D", color=_PURPLE, ms=3.5, label="in the other half")
    panel.plot(k, floor, "--", color=_INK, linewidth=1.0, label="noise floor")
    panel.fill_between(k, least, floor, color=_LINE, alpha=0.6, linewidth=0)
    panel.set_yscale("log")
    panel.set_ylim(bottom=least)
    panel.legend(loc="upper right", fontsize=8, frameon=False, ncols=3, labelcolor=_INK)
    _label(panel, "Directions of the second moment", "eigenvalue")
    return _PURPLE, shown


def _bic(panel: Axes, table: Any, k: Any) -> tuple[str, Floats]:
    values = table["bic"].to_numpy()
    values = (values - np.nanmin(values)) / 1e3
    panel.plot(k, values, "-s", color=_GREEN, ms=3.5)
    _label(panel, "BIC, above the lowest", "thousands")
    return _GREEN, values


def _coherence(panel: Axes, table: Any, k: Any) -> tuple[str, Floats]:
    values, errors = table["npmi"].to_numpy(), table["npmi_error"].to_numpy()
    panel.fill_between(k, values - errors, values + errors, color=_ORANGE, alpha=0.2, linewidth=0)
    panel.plot(k, values, "-^", color=_ORANGE, ms=4)
    _label(panel, "Coherence of the words of topics", "NPMI")
    return _ORANGE, values
