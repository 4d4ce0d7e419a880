"""The tree in the terminal: all that is shown fits, in any width and encoding."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from momentree.cli._terminal import draw_topics
from momentree.report import summarize
from momentree.tree.node import TreeNode

WORDS = ["sea", "wind", "harbour", "engine", "wheel", "road", "città", "信号", "a" * 60, "[red]"]


def fitted(depth: int = 3, n_samples: int = 1600):
    """A balanced tree with a center per node."""
    rng = np.random.default_rng(0)
    next_id, next_leaf = iter(range(1000)), iter(range(1000))

    def build(samples, level, parent):
        node = TreeNode(
            center=rng.dirichlet(np.ones(len(WORDS))),
            weight=len(samples) / n_samples,
            depth=level,
            name=", ".join(rng.choice(WORDS, 3, replace=False)),
            node_id=next(next_id),
            parent=parent,
        )
        if level == depth:
            node.leaf_id, node._samples = next(next_leaf), samples
            return node
        middle = int(0.6 * len(samples))
        node.children = [
            build(part, level + 1, node) for part in (samples[:middle], samples[middle:])
        ]
        return node

    root = build(np.arange(n_samples), 0, None)
    labels = np.empty(n_samples, dtype=int)
    for leaf in root.leaves():
        labels[leaf.samples] = leaf.leaf_id
    return SimpleNamespace(
        tree_=root,
        labels_=labels,
        leaves_=list(root.leaves()),
        vocabulary_=np.array(WORDS),
        get_params=lambda deep=True: {},
    )


def console(width: int, encoding: str = "utf-8") -> Console:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return Console(file=stream, width=width)


def drawing(width: int, encoding: str = "utf-8", depth: int = 3, labelled: bool = True):
    tree = fitted(depth)
    labels = [["alpha", "beta", "a very long label of a category"][i % 3] for i in tree.labels_]
    summary = summarize(tree, labels=labels if labelled else None)
    return summary, draw_topics(summary, console(width, encoding)).plain


@pytest.mark.parametrize("width", [20, 40, 59, 60, 80, 89, 90, 100, 120])
@pytest.mark.parametrize("depth", [0, 1, 3, 5])
def test_no_line_is_wider_than_the_terminal(width, depth):
    summary, text = drawing(width, depth=depth)
    lines = text.splitlines()
    assert len(lines) == len(summary["nodes"]) + 1
    if width >= 40 + 3 * depth:
        assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("labelled", [True, False])
def test_sizes_shares_and_words_are_shown(labelled):
    summary, text = drawing(120, labelled=labelled)
    for node, line in zip(summary["nodes"], text.splitlines()[1:], strict=True):
        assert f"{node['n_samples']:,}" in line
        assert f"{100 * node['share']:.1f}%" in line
        if node["leaf"] is not None:
            best = summary["words"]["word"][node["top"][0]]
            assert f"{node['leaf']} {best[:20]}" in line
    assert ("alpha" in text) == labelled


@pytest.mark.parametrize("width", [90, 100, 120])
def test_long_labels_keep_their_percent(width):
    tree = fitted()
    summary = summarize(tree, labels=["a label that is much longer than its column " * 2] * 1600)
    text = draw_topics(summary, console(width)).plain
    for line in text.splitlines()[1:]:
        assert line.endswith("... 100%")
        assert cell_len(line) <= width


def test_columns_are_aligned():
    _, text = drawing(100)
    ends = {cell_len(line.split("%")[0]) for line in text.splitlines()[1:]}
    assert len(ends) == 1


def test_ascii_where_the_encoding_is_not_unicode():
    _, text = drawing(100, encoding="latin-1")
    tree_characters = set(text) - set("".join(WORDS))
    assert all(ord(character) < 128 for character in tree_characters)
    assert "|- " in text
    assert "`- " in text


def test_words_are_not_markup():
    _, text = drawing(120)
    assert "[red]" in text
