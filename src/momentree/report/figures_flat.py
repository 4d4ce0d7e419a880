"""Figures of flat topics for papers and notebooks."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._validation import as_floats
from momentree.exceptions import InvalidDataError
from momentree.metrics import relevance
from momentree.metrics._checks import check_positive
from momentree.report._fitted import FittedFlat, topic_names, word_shares
from momentree.report.layout import leaf_color, spread_hue
from momentree.report.shares import in_order, shares_in_columns
from momentree.report.summary import DEFAULT_LAMBDA

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_topic_shares", "plot_topic_words"]

_INK, _SOFT = "#20242a", "#6b7178"
_PANELS = 4
_WORD_HEIGHT = 0.2


def plot_topic_shares(
    model_or_shares: FittedFlat | ArrayLike,
    X: Any = None,
    order: Collection[Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the shares of topics along the documents as stacked areas.

    Parameters
    ----------
    model_or_shares : flat model, or array-like of shape (n_samples, k)
        A fitted model, or shares >= 0 of topics in documents, whose rows sum to 1.
    X : {array-like, sparse array} of shape (n_samples, n_features), default=None
        The documents; needed with a model, left out with shares.
    order : sequence of length n_samples, default=None
        Numbers or dates, or texts of either, by which documents go from left to right; None is
        the order of the rows. A pandas Series gives its name to the axis.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        The axes drawn on: x is the number of the column, y the share in [0, 1]. Above 300
        documents each column is the mean of several, as in the report.

    Raises
    ------
    InvalidDataError
        If X is missing with a model, shares are no table of shares, or ``order`` does not fit.

    Notes
    -----
    The figure of topic proportions in section 4.3 of [1], in steps: no document is blended with
    its neighbours.

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.report import plot_topic_shares
    >>> ax = plot_topic_shares(np.array([[1.0, 0.0], [0.25, 0.75]]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0', '1']
    """
    names: list[str] | None = None
    if hasattr(model_or_shares, "transform") and hasattr(model_or_shares, "components_"):
        if X is None:
            msg = "X is missing: give the documents whose shares are drawn"
            raise InvalidDataError(msg)
        names = topic_names(cast("FittedFlat", model_or_shares))
        shares = np.asarray(model_or_shares.transform(X))
    else:
        shares = _checked_shares(model_or_shares)
    k = shares.shape[1]
    found = shares_in_columns(shares, in_order(order, len(shares)), None, None)
    ax = _new_axes(10.0, 4.0) if ax is None else ax
    columns = np.asarray(found["shares"], dtype=np.float64) / 1000.0
    edges = np.vstack([np.zeros(columns.shape[1]), np.cumsum(columns, axis=0)])
    edges = 1.0 - edges / edges[-1]  # the first topic at the top
    x = np.arange(columns.shape[1] + 1)
    for j in range(k):
        low, high = (np.append(edge, edge[-1]) for edge in (edges[j + 1], edges[j]))
        label = str(j) if names is None else f"{j}  {_plain(names[j])}"
        color = leaf_color(spread_hue(j))
        ax.fill_between(x, low, high, step="post", color=color, linewidth=0, label=label)
    ax.set_xlim(0, len(x) - 1)
    ax.set_ylim(0.0, 1.0)
    ax.set_xticks([at + 0.5 for at, _ in found["ticks"]], [_plain(t) for _, t in found["ticks"]])
    ax.set_xlabel(_plain(found["axis"]))
    ax.set_ylabel("share of the topic")
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
    lam: float = DEFAULT_LAMBDA,
    fontsize: float = 9.0,
) -> Axes:
    """Draw the most relevant words of every topic, with their probabilities as bars.

    Parameters
    ----------
    model : flat model
        Fitted.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure with a height that fits.
    n_words : int, default=8
        Words of each topic, >= 1.
    lam : float, default=0.7
        Lambda of their relevance, in [0, 1].
    fontsize : float, default=9.0
        Points, > 0.

    Returns
    -------
    Axes
        The axes drawn on, without frame and ticks: one panel a topic, four in a row. A panel's
        longest bar is its most probable word.

    Raises
    ------
    InvalidParameterError
        When ``n_words`` < 1 or ``lam`` is outside [0, 1].

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
    check_positive("n_words", n_words)
    P, weights = word_shares(model), model.weights_
    value = np.asarray(relevance(P, weights @ P, lam))
    best = np.argsort(-value, axis=1, kind="stable")[:, :n_words]
    across = min(_PANELS, len(P))
    down = -(-len(P) // across)
    if ax is None:
        ax = _new_axes(2.5 * across, _WORD_HEIGHT * (n_words + 2) * down)
    for j, row in enumerate(best):
        left, top = float(j % across), (j // across) * (n_words + 2.0)
        words = [w for w in row if P[j, w] > 0]
        ax.text(
            left,
            top + 0.5,
            # The weights of a model that mixes topics are not what documents have of them.
            str(j) if hasattr(model, "alpha_") else f"{j}  ·  {100 * weights[j]:.1f} %",
            va="center",
            fontsize=fontsize,
            fontweight="bold",
            color=_INK,
        )
        widths = 0.9 * P[j, words] / max(P[j].max(), 1e-300)
        rows = top + 1.5 + np.arange(len(words))
        ax.barh(rows, widths, left=left, height=0.84, color=leaf_color(spread_hue(j)))
        for y, w in zip(rows, words, strict=True):
            text = _plain(str(model.vocabulary_[w]))
            ax.text(left + 0.02, y, text, va="center", fontsize=fontsize, color=_INK, clip_on=True)
    ax.set_xlim(-0.02, across)
    ax.set_ylim(down * (n_words + 2.0), 0.0)
    ax.set_axis_off()
    return ax


def _checked_shares(values: Any) -> NDArray[np.float64]:
    shares = as_floats("shares", values)
    if shares.ndim != 2 or not shares.size:
        msg = f"shares have shape {shares.shape}; expected (n_samples, k)"
        raise InvalidDataError(msg)
    if not (shares >= 0).all() or not np.allclose(shares.sum(axis=1), 1.0, atol=1e-6):
        msg = "shares must be zero or more, and those of each document sum to 1"
        raise InvalidDataError(msg)
    return shares


def _plain(text: str) -> str:
    # A dollar sign would start mathematics.
    return text.replace("$", r"\$")


def _new_axes(width: float, height: float) -> Axes:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]
