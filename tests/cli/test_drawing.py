"""Drawings in the terminal fit any width and encoding, and show nothing that is suppressed."""

from __future__ import annotations

import io
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from rich.cells import cell_len
from rich.console import Console

from momentree import ClusterTree
from momentree.cli.drawing import draw, show_summary
from momentree.estimators.node import TreeNode
from momentree.report import summarize, summarize_records
from momentree.report.text import percent

WORDS = ["sea", "wind", "harbour", "engine", "wheel", "road", "città", "信号", "a" * 60, "[red]"]
NAMES = ["Heart failure", "Malattia à", "信号" * 8, "a" * 60, "[red]not markup[/red]", "x · y, z"]
N = 400


def console(width: int, encoding: str = "utf-8") -> Console:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return Console(file=stream, width=width)


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


@pytest.fixture(scope="module", params=[0, 1, 3, pytest.param(5, marks=pytest.mark.long)])
def topics(request):
    """The summary of a tree of this depth, with labels."""
    tree = fitted(request.param)
    names = ["alpha", "beta", "a very long label of a category"]
    return summarize(tree, labels=[names[i % 3] for i in tree.labels_])


@pytest.fixture(scope="module", params=[1, 4, pytest.param(12, marks=pytest.mark.long)])
def groups(request):
    """The summary of a tree of so many groups of records, with outcomes of each kind."""
    rng = np.random.default_rng(0)
    k = request.param
    theme = rng.integers(k, size=N)
    X = rng.random((N, 3 * k)) < np.where(np.arange(3 * k) // 3 == theme[:, None], 0.8, 0.05)
    codes = np.array([f"C{j:02}" for j in range(3 * k)], dtype=object)
    tree = ClusterTree(k).fit(X.astype(float), feature_names=codes)
    records = SimpleNamespace(
        fitted=sp.csr_array(X.astype(float)),
        codes=codes,
        names={code: NAMES[j % len(NAMES)] for j, code in enumerate(codes)},
        ids=[f"secret{i}" for i in range(N)],
        enough=np.ones(N, dtype=bool),
        outcomes={
            "died in hospital, or within thirty days": (rng.random(N) < 0.05).astype(float),
            "ward": rng.choice(["east", "west", "a ward with a very long name in it"], N),
        },
        outcome_names={},
        name="made.csv",
        notes=[],
    )
    return summarize_records(tree, records)


def lines_of(summary, width=100, encoding="utf-8"):
    return draw(summary, console(width, encoding)).plain.splitlines()


def rows_of(summary, width=100, encoding="utf-8"):
    """Return the line of each node."""
    return lines_of(summary, width, encoding)[3 : 3 + len(summary["nodes"])]


def check_widths(summary):
    depth = max(node["depth"] for node in summary["nodes"])
    for width in (40, 59, 60, 79, 80, 89, 90, 100, 120):
        if width < 40 + 3 * depth:
            continue
        for encoding in ("utf-8", "latin-1"):
            lines = lines_of(summary, width, encoding)
            assert max(map(cell_len, lines)) <= width
            assert all(line == line.rstrip() for line in lines)


def test_no_line_of_topics_is_wider_than_the_terminal(topics):
    check_widths(topics)


def test_no_line_of_groups_is_wider_than_the_terminal(groups):
    check_widths(groups)


def test_the_columns_of_topics(topics):
    for node, line in zip(topics["nodes"], rows_of(topics, 120), strict=True):
        assert f" {node['n_samples']:,} " in line
        assert f" {percent(node['share']).replace(' ', '')}" in line
        if node["leaf"] is not None:
            assert f"{node['leaf']} {node['name'].split(', ')[0][:20]}" in line
            also = [topics["words"]["word"][i] for i in node["also"]]
            if " · " in line.split("%")[0]:
                assert f"{node['leaf']} {node['name']} · {also[0]}" in line
            assert not set(also) & set(node["name"].split(", "))
    assert len({cell_len(line.split("%")[0]) for line in rows_of(topics)}) == 1
    assert any("alpha" in line for line in rows_of(topics))
    assert not any("alpha" in line for line in rows_of(topics, 80))


def test_the_columns_of_groups(groups):
    for node, line in zip(groups["nodes"], rows_of(groups), strict=True):
        assert f" {node['size']} " in line
        assert re.search(rf" {100 * node['share']:.0f}\.\d%| {100 * node['share']:.1f}%", line)
        assert ("–" in line) == (node["share_interval"] is not None)
        if node["leaf"] is not None:
            assert re.search(rf"(^|[ ─]){node['leaf']} ", line)


@pytest.mark.parametrize("width", [90, 100, 120])
def test_long_labels_keep_their_percentage(width):
    labels = ["a label that is much longer than its column " * 2] * 1600
    for line in rows_of(summarize(fitted(), labels=labels), width):
        assert line.endswith("... 100%")


def test_groups_are_described_by_their_codes(groups):
    text = "\n".join(lines_of(groups))
    for node in (node for node in groups["nodes"] if node["leaf"] is not None):
        paragraph = re.search(rf"(?:^|\n){node['leaf']}  +(\S.*(?:\n  .*)*)", text)[1]
        for j in node["top"][:3]:
            assert groups["codes"]["code"][j] in paragraph
    assert ("[red]not markup" in text) == (len(groups["codes"]["code"]) > 4)
    assert "secret" not in text


def test_rates_of_outcomes(groups):
    lines = lines_of(groups)
    died, ward = groups["outcomes"]
    rows = [line.split() for line in lines if line.startswith("died in")]
    shown = [cell for row in rows for cell in row if re.search(r"%|<|\*", cell)]
    # The last column of each block of groups is the overall rate.
    assert len(shown) == groups["n_leaves"] + len(rows)
    counts = died["classes"][0]["counts"]
    assert ("<5" in shown) == (-1 in counts)
    for count, size in zip(counts, groups["groups"]["sizes"], strict=True):
        if count >= 0:
            assert f"{100 * count / size:.1f}%" in shown
    for one in ward["classes"]:
        assert any(line.startswith(f"  {one['name'][:20]}") for line in lines)


def test_the_first_column_of_outcomes_has_room_for_its_title(groups):
    outcomes = [{**one, "name": "d"} for one in groups["outcomes"] if one["binary"]]
    lines = lines_of({**groups, "outcomes": outcomes})
    assert any(line.split()[:2] == ["group", "0"] for line in lines)


def test_no_outcomes_and_measures(groups):
    bare = {**groups, "outcomes": []}
    assert len(lines_of(bare)) < len(lines_of(groups))
    assert "died in" not in "\n".join(lines_of(bare))


def check_ascii(summary):
    text = draw(summary, console(100, "latin-1")).plain
    assert (set(text) - set("".join(WORDS + NAMES))).issubset(map(chr, range(128)))
    assert ("`- " in text or "`-" in text) == (summary["n_leaves"] > 1)


def test_topics_are_ascii_where_the_encoding_is_not_unicode(topics):
    check_ascii(topics)


def test_groups_are_ascii_where_the_encoding_is_not_unicode(groups):
    check_ascii(groups)


def test_words_are_not_markup(topics):
    assert any("[red]" in line for line in rows_of(topics, 120)) or topics["n_leaves"] < 4


def test_control_characters_are_replaced(topics, capsys):
    show_summary({**topics, "title": "a\x1b[31mb\u202ec"}, 0.0, ["one\x1b[2J\ntwo"])
    out = capsys.readouterr().out
    assert out.startswith("a\ufffd[31mb\ufffdc: ")
    assert all(c.isprintable() or c == "\n" for c in out)


def test_names_stay_on_their_line(topics):
    nodes = [{**node, "name": "one\ntwo\r\u2028three", "top": []} for node in topics["nodes"]]
    for line in rows_of({**topics, "nodes": nodes}):
        assert "one two  three" in line


@pytest.mark.parametrize("topics", [1, pytest.param(5, marks=pytest.mark.long)], indirect=True)
@pytest.mark.parametrize("letter", ["q", "信"])
def test_a_name_of_many_letters_is_cut_in_linear_time(topics, letter):
    nodes = [{**n, "name": f"sea {letter * 50_000}", "top": []} for n in topics["nodes"]]
    for line in rows_of({**topics, "nodes": nodes}):
        assert "sea..." in line


def test_no_color(topics, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def codes():
        monkeypatch.setattr(sys, "stdout", Terminal())
        show_summary(topics, 0.0, [])
        groups = re.findall(r"\x1b\[([0-9;]*)m", sys.stdout.getvalue())
        return {code for group in groups for code in group.split(";")}

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = {"0", "1", "2", ""}  # bold and dim are no colors
    assert codes() - plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert codes() <= plain
