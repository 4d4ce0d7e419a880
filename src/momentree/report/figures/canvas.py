"""What all figures share: axes, colors, words, scales and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats
from momentree._validation import check_integer
from momentree.estimators.names import show_words
from momentree.estimators.node import TreeNode
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.metrics import relevance
from momentree.report.disclosure import Disclosure
from momentree.report.layout import leaf_color, spread_hue
from momentree.report.text import short_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL = 0.86
"""Maximum part of a column that bars fill, so that neighboring columns are separate."""
INK, SOFT, LINE, BLUE = "#20242a", "#6b7178", "#dedbd4", "#0072b2"
MAX_FONT = 1000
_LONGEST_NAME = 44


def new_axes(width: float, height: float) -> Axes:
    """Return the axes of a new figure with this size in inches."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def plain(text: Any, longest: int | None = None) -> str:
    """Return a text that matplotlib draws literally, on one line, shortened if necessary."""
    line = " ".join(str(text).split())
    if longest is not None and len(line) > longest:
        line = line[: longest - 1].rstrip() + "…"
    return line.replace("$", r"\$")  # a dollar sign would start math mode


def names_of(
    what: str,
    names: Sequence[Any] | Mapping[Any, Any] | None,
    n: int,
    longest: int = _LONGEST_NAME,
    codes: Sequence[Any] | NDArray[Any] | None = None,
) -> list[str]:
    """Return n names to draw, shortened if long: given names, or else codes, or else numbers."""
    if codes is not None:
        if len(codes) != n:
            raise InvalidDataError(
                wording.NOT_ONE_EACH, parameter="codes", found=len(codes), needed=n, of="column"
            )
        if names is None or isinstance(names, Mapping):
            known = names or {}
            return [plain(known.get(code) or code, longest) for code in codes]
    if isinstance(names, Mapping):
        raise InvalidDataError(
            "[names_need_codes] {parameter} is a mapping of {found:~name}; also pass "
            "{parameters.codes}, the code of each column, to look up the names",
            parameter=what,
            found=len(names),
        )
    if names is None:
        return [str(i) for i in range(n)]
    if len(names) != n:
        of = "group" if what == "group_names" else "column"
        raise InvalidDataError(
            wording.NOT_ONE_EACH, parameter=what, found=len(names), needed=n, of=of
        )
    return [plain(name, longest) for name in names]


def colors_of(colors: Sequence[Any] | None, k: int) -> list[Any]:
    """Return k colors: the given ones, or those of flat groups on the page."""
    if colors is None:
        return [leaf_color(spread_hue(group)) for group in range(k)]
    if len(colors) != k:
        raise InvalidDataError(
            wording.NOT_ONE_EACH, parameter="colors", found=len(colors), needed=k, of="group"
        )
    return list(colors)


def disclosure_of(min_cell: int | None) -> Disclosure:
    """Return the disclosure control for a figure; None suppresses nothing."""
    return Disclosure(1 if min_cell is None else min_cell)


def top_words(
    root: TreeNode, vocabulary: NDArray[Any], n_words: int, lam: float | None
) -> list[list[tuple[int, str]]]:
    """Return, for each leaf by number, columns and texts of its words, as shown or by lambda."""
    check_integer("n_words", n_words, at_least=1)
    leaves = sorted(root.leaves(), key=lambda leaf: leaf.leaf_id or 0)
    if lam is None:
        orders = [show_words(leaf, root.center, n_words) for leaf in leaves]
    else:
        centers = np.stack([leaf.center for leaf in leaves])
        values = np.asarray(relevance(centers, root.center, lam))
        orders = list(np.argsort(-values, axis=1, kind="stable")[:, :n_words])
    return [
        [(int(j), plain(vocabulary[j])) for j in order if leaf.center[j] > 0]
        for leaf, order in zip(leaves, orders, strict=True)
    ]


def bare(ax: Axes, *keep: str) -> None:
    """Remove the ticks and the frame of axes, except for the named sides."""
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(side in keep)
        ax.spines[side].set_color(SOFT)
    ax.tick_params(length=0, colors=INK)


def nice_top(values: Floats) -> float:
    """Return a round upper limit, 0.05 to 1, for a scale from 0 that includes all shares."""
    top = float(np.nanmax(values, initial=0.0))
    steps = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    return next((step for step in steps if top <= step * 1.0001), 1.0)


def mark_panels(ax: Axes, n: int, width: float, top: float, steps: int = 1) -> None:
    """Label the scale, from 0 to `top` in equal steps, below each of n columns of unit width."""
    parts = np.linspace(0.0, 1.0, steps + 1)
    ticks = (np.arange(n)[:, None] + parts * width).ravel()
    labels = [short_percent(top * part) for part in parts] * n
    ax.set_xticks(ticks, labels, fontsize=7 if n > 1 else 8)
    if n > 1:  # scales of neighboring columns touch: keep labels inside
        for i, label in enumerate(ax.get_xticklabels()):
            label.set_horizontalalignment("right" if i % 2 else "left")
