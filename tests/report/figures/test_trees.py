"""Figures of trees contain the words and stay inside their axes."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.cbook import is_math_text
from sklearn.exceptions import NotFittedError

import momentree.report
from momentree import TopicTree
from momentree.exceptions import InvalidParameterError
from momentree.report import plot_tree
from momentree.report.layout import icicle_cells
from momentree.tree.exports import repr_html


def shown(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


@pytest.mark.parametrize("groups", [0, (((0, 1), 2), 3)])
def test_figures_show_the_most_relevant_word_of_every_leaf(groups, make_case):
    case = make_case(groups=groups)
    ax = plot_tree(case.estimator)
    ax.figure.draw_without_rendering()
    text = "\n".join(shown(ax))
    root = case.estimator.tree_
    for leaf in root.leaves():
        value = np.log(np.maximum(leaf.center, 1e-300)) - 0.3 * np.log(root.center)
        assert case.estimator.vocabulary_[int(np.argmax(value))] in text


@pytest.mark.parametrize("n_words", [1, 9])
def test_texts_of_the_tree_stay_inside_the_figure(n_words, case):
    ax = plot_tree(case.estimator, n_words=n_words)
    ax.figure.draw_without_rendering()
    frame = ax.figure.bbox
    for label in ax.get_yticklabels():
        box = label.get_window_extent()
        assert box.x1 <= frame.x1 + 1
        assert box.y0 >= frame.y0 - 1


def test_given_axes_are_used(agg, case):
    _, ax = agg.subplots(figsize=(16, 4))
    assert plot_tree(case.estimator, ax=ax, n_words=1) is ax
    assert len(agg.get_fignums()) == 1


def test_a_dollar_sign_is_no_mathematics(case):
    case.estimator.vocabulary_ = np.array([f"$a_{i}" for i in range(240)], dtype=object)
    texts = [text for text in shown(plot_tree(case.estimator, n_words=1)) if "$" in text]
    assert texts
    assert not any(map(is_math_text, texts))


def test_bad_parameters_are_refused(case):
    refused = {
        "n_words": (0, 2.5),
        "lam": (1.5, float("nan"), "0.5"),
        "fontsize": (0.0, float("inf"), "large"),
    }
    for name, values in refused.items():
        for value in values:
            with pytest.raises(InvalidParameterError):
                plot_tree(case.estimator, **{name: value})


def test_importing_the_report_does_not_import_matplotlib():
    folder = Path(momentree.report.__file__).parent
    imports = [
        line
        for path in folder.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith(("import ", "from "))  # at the top: those within are indented
    ]
    assert imports
    assert not any("matplotlib" in line for line in imports)


def test_cells_tile_their_parents(make_case):
    root = make_case(groups=(((0, 1), 2), 3)).estimator.tree_
    cells = icicle_cells(root)
    rows = max(cell.bottom for cell in cells)
    for node, cell in zip(root.nodes(), cells, strict=True):
        assert cell.x1 - cell.x0 == pytest.approx(node.weight)
        assert cell.bottom == (rows if node.is_leaf else node.depth + 1)
        assert 0 <= cell.hue < 360
        if node.children:
            below = [cells[child.node_id] for child in node.children]
            assert below[0].x0 == cell.x0
            assert below[0].x1 == below[1].x0
            assert below[1].x1 == pytest.approx(cell.x1)
    hues = [cells[leaf.node_id].hue for leaf in root.leaves()]
    assert len(set(hues)) == len(hues)


def test_notebook_snippet_nests_and_escapes(case):
    case.estimator.vocabulary_ = case.estimator.vocabulary_.astype(object)
    case.estimator.vocabulary_[int(np.argmax(case.estimator.tree_.center))] = "<b>&"
    text = repr_html(case.estimator)
    assert text.count("<details") == 3
    assert text.count('class="leaf"') == 4
    assert "<b>&" not in text
    assert "&lt;b&gt;&amp;" in text
    assert "<script" not in text
    assert "120 documents, 4 leaves" in text


def test_an_unfitted_tree_is_refused():
    with pytest.raises(NotFittedError):
        plot_tree(TopicTree())
