"""Draw flat topics: their words and proportions, the map of documents, the choice of a number."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import as_floats, check_number
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics.words import word_probabilities
from momentree.report.estimators import counts_of_fit, fitted, topic_names
from momentree.report.figures import canvas
from momentree.report.figures.canvas import BLUE, INK, LINE, SOFT
from momentree.report.layout import leaf_color, leaf_colors, spread_hue
from momentree.report.topics.chart import proportions_in_columns, sort_documents
from momentree.report.topics.evidence import MAP_SIZE, Evidence, place_documents

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from momentree.models import ComponentChoice

# Title, axis, color and marker; colors are distinct for any color vision.
_PANELS = {
    "completion": ("Document completion", "nats per word", BLUE, "-o"),
    "spectrum": ("Eigenvalues of M2, one half of the documents", "eigenvalue", "#aa4499", "-D"),
}


def plot_topic_proportions(
    model_or_proportions: Any | ArrayLike,
    X: Any = None,
    order: Collection[Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the topic proportions of documents as stacked areas.

    Parameters
    ----------
    model_or_proportions : flat model, or array-like of shape (n_samples, k)
        A fitted model, or topic proportions of documents, whose rows sum to 1.
    X : {array-like, sparse array} of shape (n_samples, n_features), default=None
        The documents; required with a model, ignored with proportions.
    order : sequence of length n_samples, default=None
        Numbers or dates, also as strings, that order the documents from left to right; None uses
        the order of the rows. The name of a pandas Series labels the axis.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.

    Returns
    -------
    Axes
        x is the column number, y the proportion in [0, 1]. With more than 300 documents, each
        column is the mean of several, as on the page.

    Raises
    ------
    InvalidDataError
        If a model is given without X, proportions are invalid, or ``order`` does not match.

    Notes
    -----
    This is the figure of topic proportions in section 4.3 of [1], in steps, so that documents are
    not blended with their neighbors.

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.report import plot_topic_proportions
    >>> ax = plot_topic_proportions(np.array([[1.0, 0.0], [0.25, 0.75]]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0', '1']
    """
    names: list[str] | None = None
    given: Any = model_or_proportions
    if hasattr(given, "transform") and hasattr(given, "components_"):
        if X is None:
            raise InvalidDataError(
                "[x_required] X is missing; pass the documents whose topic proportions are to be "
                "drawn"
            )
        names = topic_names(given)
        proportions = np.asarray(given.transform(X))
    else:
        proportions = _checked(given)
    k = proportions.shape[1]
    ordered = sort_documents(order, len(proportions))
    areas = proportions_in_columns(proportions, ordered, None, None)
    ax = canvas.new_axes(10.0, 4.0) if ax is None else ax
    columns = np.asarray(areas["proportions"], dtype=np.float64) / 1000.0
    edges = np.vstack([np.zeros(columns.shape[1]), np.cumsum(columns, axis=0)])
    edges = 1.0 - edges / edges[-1]  # the first topic at the top
    x = np.arange(columns.shape[1] + 1)
    for j in range(k):
        low, high = (np.append(edge, edge[-1]) for edge in (edges[j + 1], edges[j]))
        label = str(j) if names is None else f"{j}  {canvas.plain(names[j])}"
        color = leaf_color(spread_hue(j))
        ax.fill_between(x, low, high, step="post", color=color, linewidth=0, label=label)
    ax.set_xlim(0, len(x) - 1)
    ax.set_ylim(0.0, 1.0)
    ax.set_xticks(
        [at + 0.5 for at, _ in areas["ticks"]], [canvas.plain(t) for _, t in areas["ticks"]]
    )
    ax.set_xlabel(canvas.plain(areas["axis"]))
    ax.set_ylabel("topic proportion")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9, borderaxespad=0.0
    )
    return ax


def plot_topic_words(
    model: Any,
    ax: Axes | None = None,
    *,
    n_words: int = 8,
    lam: float | None = None,
    fontsize: float = 9.0,
) -> Axes:
    """Draw the most relevant words of every topic, with their probabilities as bars.

    Parameters
    ----------
    model : flat model
        Fitted.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure of a suitable height.
    n_words : int, default=8
        Number of words per topic, >= 1.
    lam : float in [0, 1] or None, default=None
        Lambda by which words are ranked: 1 by probability, 0 by lift; None as reports do.
    fontsize : float, default=9.0
        Font size in points, 1 to 1000.

    Returns
    -------
    Axes
        Axes without frame and ticks: one panel per topic, four per row. The longest bar of a panel
        is the topic's most probable word.

    Raises
    ------
    InvalidParameterError
        If ``n_words`` < 1, or ``lam`` or ``fontsize`` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import SingleTopicModel
    >>> from momentree.report import plot_topic_words
    >>> X = np.array([[9, 1, 0], [8, 2, 0], [0, 2, 8], [1, 0, 9]])
    >>> model = SingleTopicModel(2).fit(X, feature_names=["sea", "and", "hill"])
    >>> texts = [text.get_text() for text in plot_topic_words(model, n_words=1).texts]
    >>> sorted(text for text in texts if text in ("sea", "and", "hill"))
    ['hill', 'sea']
    """
    check_number("fontsize", fontsize, at_least=1, at_most=canvas.MAX_FONT)
    P, weights = word_probabilities(model.components_), model.weights_
    words_of = canvas.top_words(fitted(model).root, model.vocabulary_, n_words, lam)
    across = min(4, len(P))
    down = -(-len(P) // across)
    if ax is None:
        ax = canvas.new_axes(2.5 * across, 0.2 * (n_words + 2) * down)
    for j, words in enumerate(words_of):
        left, top = float(j % across), (j // across) * (n_words + 2.0)
        ax.text(
            left,
            top + 0.5,
            # In a mixed-membership model, weights are not proportions of documents.
            str(j) if hasattr(model, "alpha_") else f"{j}  ·  {100 * weights[j]:.1f}%",
            va="center",
            fontsize=fontsize,
            fontweight="bold",
            color=INK,
        )
        widths = 0.9 * P[j, [w for w, _ in words]] / max(P[j].max(), 1e-300)
        rows = top + 1.5 + np.arange(len(words))
        ax.barh(rows, widths, left=left, height=0.84, color=leaf_color(spread_hue(j)))
        for y, (_, text) in zip(rows, words, strict=True):
            ax.text(left + 0.02, y, text, va="center", fontsize=fontsize, color=INK, clip_on=True)
    ax.set_xlim(-0.02, across)
    ax.set_ylim(down * (n_words + 2.0), 0.0)
    ax.set_axis_off()
    return ax


def _checked(values: Any) -> Floats:
    P = as_floats("model_or_proportions", values)
    if P.ndim != 2 or not P.size or not (P >= 0).all() or not np.allclose(P.sum(axis=1), 1.0):
        raise InvalidDataError(
            "[not_proportions] topic proportions must have shape (n_samples, k), be nonnegative "
            "and sum to 1 in each row; found shape {shape}",
            shape=str(P.shape),
        )
    return P


def plot_documents(estimator: Any, X: Any, ax: Axes | None = None) -> Axes:
    r"""Draw documents as points between the places of the topics, as on the page.

    The topics have places on a circle, in the order of the tree. A document is drawn toward each
    of them by the evidence of its words:

        Σ_j q_ij a_j,   q_ij ∝ exp(2 s_ij / g),

    with a_j the place of topic j, s_ij the evidence per word of document i for topic j, and g the
    median difference of the two highest s_ij.

    Parameters
    ----------
    estimator : TopicTree or flat model
        Fitted, with at least three topics.
    X : {array-like, sparse array} of shape (n_samples, n_features)
        The documents of ``fit``.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.

    Returns
    -------
    Axes
        Square axes without frame: one collection of points per topic, in the order of the numbers,
        whose colors are those of the page.

    Raises
    ------
    InvalidDataError
        If X is not the matrix of ``fit``, or there are fewer than three topics.

    Notes
    -----
    Time O(nnz · n_topics). The same documents give the same map in any order.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import TopicTree
    >>> from momentree.report import plot_documents
    >>> X = np.kron(np.eye(4, dtype=int), np.full((6, 3), 5))
    >>> ax = plot_documents(TopicTree(4).fit(X), X)
    >>> [len(points.get_offsets()) for points in ax.collections]
    [6, 6, 6, 6]
    """
    model = fitted(estimator)
    counts = counts_of_fit(model, X)
    placed = place_documents(Evidence.of(counts, model.root.center), model.root)
    if placed is None:
        raise InvalidDataError(
            "[too_few_topics_for_a_map] a map of documents needs at least three topics; fit a "
            "model with more topics"
        )
    at, places = placed
    ax = canvas.new_axes(8.0, 6.0) if ax is None else ax
    colors = leaf_colors(model.root, spread=model.kind == "flat")
    names = {leaf.leaf_id: leaf.name for leaf in model.root.leaves()}
    size = float(np.clip(20_000.0 / max(len(at), 1), 2.0, 30.0))
    for j, place in enumerate(places):
        x, y = at[model.labels == j].T
        label = f"{j}  {canvas.plain(names[j])}"
        ax.scatter(x, y, s=size, color=colors[j], linewidths=0, label=label)
        beyond = MAP_SIZE / 2 + 1.05 * (np.array(place) - MAP_SIZE / 2)
        ax.text(beyond[0], beyond[1], str(j), ha="center", va="center", fontsize=9, color=INK)
    ax.set_xlim(-0.1 * MAP_SIZE, 1.1 * MAP_SIZE)
    ax.set_ylim(1.1 * MAP_SIZE, -0.1 * MAP_SIZE)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.legend(
        loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9, markerscale=2.0
    )
    return ax


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
        One for each of "completion" and "spectrum" that has an answer, from top to bottom.
        Without ``ax`` they are in one new figure, ``axes[0].figure``.

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
    >>> choice = choose_n_components(X, candidates=range(1, 6))
    >>> axes = plot_n_components(choice)
    >>> len(axes)
    2
    >>> axes[0].figure.savefig("choice.png")  # doctest: +SKIP
    """
    names = [name for name in _PANELS if name in choice.by_criterion]
    if ax is None:
        panels = _new_panels(len(names)) if names else []
    else:
        panels = [*np.atleast_1d(ax).ravel()]
    if len(panels) != len(names):
        raise InvalidParameterError(
            "[axes_not_one_per_panel] {found} axes; expected {needed}, one for each of "
            "{panels:and}",
            found=len(panels),
            needed=len(names),
            panels=names,
        )
    k = choice.table["n_components"].to_numpy()
    for panel, name in zip(panels, names, strict=True):
        _frame(panel, choice, k)
        at = int(np.abs(k - choice.by_criterion[name][0]).argmin())
        values, ring = _draw(panel, name, choice.table, k), _PANELS[name][2]
        known = np.isfinite(values)
        height = np.interp(k[at], k[known], values[known])  # candidates may be without a value
        panel.plot(k[at], height, "o", ms=10, mfc="none", mec=ring, mew=1.6, zorder=4)
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

    size = (7.2, 2.2 * n + 0.5)
    grid = plt.subplots(n, 1, sharex=True, squeeze=False, figsize=size, layout="constrained")[1]
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
    canvas.bare(panel, "left", "bottom")
    panel.tick_params(colors=SOFT, labelsize=9)


def _draw(panel: Axes, name: str, table: Any, k: Any) -> Floats:
    """Draw the curve of a criterion; return its values."""
    title, axis, color, marker = _PANELS[name]
    panel.set_title(title, loc="left", fontsize=10, color=INK)
    panel.set_ylabel(axis, fontsize=9, color=SOFT)
    if name == "spectrum":
        return _draw_spectrum(panel, table, k, marker, color)
    values: Floats = table["completion"].to_numpy()
    known = np.isfinite(values)
    errors = table["completion_error"].to_numpy()
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
