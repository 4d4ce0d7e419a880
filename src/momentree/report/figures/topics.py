"""Draw the words of flat topics, and their proportions over the documents."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import as_floats
from momentree.exceptions import InvalidDataError
from momentree.metrics.words import word_probabilities
from momentree.report._estimators import FittedFlat, fitted, topic_names
from momentree.report.figures._canvas import INK, new_axes, plain, text_widths, top_words
from momentree.report.layout import leaf_color, spread_hue
from momentree.report.topics.chart import proportions_in_columns
from momentree.report.topics.document_order import sort_documents

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_topic_proportions(
    model_or_proportions: FittedFlat | ArrayLike,
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
            raise InvalidDataError("x_required")
        names = topic_names(cast("FittedFlat", given))
        proportions = np.asarray(given.transform(X))
    else:
        proportions = _checked(given)
    k = proportions.shape[1]
    ordered = sort_documents(order, len(proportions))
    found = proportions_in_columns(proportions, ordered, None, None)
    ax = new_axes(10.0, 4.0) if ax is None else ax
    columns = np.asarray(found["proportions"], dtype=np.float64) / 1000.0
    edges = np.vstack([np.zeros(columns.shape[1]), np.cumsum(columns, axis=0)])
    edges = 1.0 - edges / edges[-1]  # the first topic at the top
    x = np.arange(columns.shape[1] + 1)
    for j in range(k):
        low, high = (np.append(edge, edge[-1]) for edge in (edges[j + 1], edges[j]))
        label = str(j) if names is None else f"{j}  {plain(names[j])}"
        color = leaf_color(spread_hue(j))
        ax.fill_between(x, low, high, step="post", color=color, linewidth=0, label=label)
    ax.set_xlim(0, len(x) - 1)
    ax.set_ylim(0.0, 1.0)
    ax.set_xticks([at + 0.5 for at, _ in found["ticks"]], [plain(t) for _, t in found["ticks"]])
    ax.set_xlabel(plain(found["axis"]))
    ax.set_ylabel("topic proportion")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9, borderaxespad=0.0
    )
    return ax


def plot_topic_words(
    model: FittedFlat,
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
    text_widths(fontsize)  # validates the size
    P, weights = word_probabilities(model.components_), model.weights_
    found = top_words(fitted(model).root, model.vocabulary_, n_words, lam)
    across = min(4, len(P))
    down = -(-len(P) // across)
    if ax is None:
        ax = new_axes(2.5 * across, 0.2 * (n_words + 2) * down)
    for j, words in enumerate(found):
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
    proportions = as_floats("model_or_proportions", values)
    if proportions.ndim != 2 or not proportions.size:
        raise InvalidDataError("not_topic_proportions", shape=str(proportions.shape))
    if not (proportions >= 0).all() or not np.allclose(proportions.sum(axis=1), 1.0, atol=1e-6):
        raise InvalidDataError("not_proportions")
    return proportions
