"""Draw the map of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._validation import check_table
from momentree.core.sparse import as_csr
from momentree.exceptions import InvalidDataError
from momentree.report._estimators import FittedFlat, FittedTree, fitted
from momentree.report.figures._canvas import INK, new_axes, plain
from momentree.report.layout import icicle_cells, leaf_color
from momentree.report.topics.document_map import MAP_SIZE, place_documents
from momentree.report.topics.evidence import Evidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_documents(estimator: FittedTree | FittedFlat, X: Any, ax: Axes | None = None) -> Axes:
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
    counts = as_csr(check_table(X))
    expected = (len(model.labels), len(model.vocabulary))
    if counts.shape != expected:
        raise InvalidDataError(
            "x_not_of_fit",
            shape=str(counts.shape),
            model="tree" if model.kind == "tree" else "model",
            expected=str(expected),
        )
    found = place_documents(Evidence.of(counts, model.root.center), model.root)
    if found is None:
        raise InvalidDataError("too_few_topics_for_a_map")
    at, places = found
    ax = new_axes(8.0, 6.0) if ax is None else ax
    cells = icicle_cells(model.root, spread=model.kind == "flat")
    leaves = {
        node.leaf_id: (node, cell)
        for node, cell in zip(model.root.nodes(), cells, strict=True)
        if node.leaf_id is not None
    }
    size = float(np.clip(20_000.0 / max(len(at), 1), 2.0, 30.0))
    for j, place in enumerate(places):
        node, cell = leaves[j]
        x, y = at[model.labels == j].T
        label = f"{j}  {plain(node.name)}"
        ax.scatter(x, y, s=size, color=leaf_color(cell.hue), linewidths=0, label=label)
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
