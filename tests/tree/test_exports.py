"""A tree in other forms: all have the same content, and can be read back."""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

from momentree import TopicTree
from momentree.datasets import make_single_topic
from momentree.metrics import relevance

WORDS = [
    "it's",
    "'",
    "a(b)",
    "c,d",
    "e:f;",
    "<script>",
    'say "so"',
    "città",
    "[g]",
    "h&i",
    "\u2603",
]


@pytest.fixture(scope="module")
def vocabulary():
    return [*WORDS, *(f"word{j}" for j in range(len(WORDS), 40))]


@pytest.fixture(scope="module")
def X():
    return make_single_topic(200, 40, 5, length=40, exponent=0.5, random_state=0).X


@pytest.fixture(scope="module")
def tree(X, vocabulary):
    return TopicTree(5).fit(X, feature_names=vocabulary)


FIELDS = (
    "parent_id",
    "leaf_id",
    "depth",
    "name",
    "n_samples",
    "weight",
    "gain",
    "reason",
    "reason_code",
)


def flat(record):
    return [record, *(below for child in record["children"] for below in flat(child))]


def test_dictionaries_are_plain_and_hold_every_node(tree):
    text = json.dumps(tree.to_dict(), allow_nan=False)
    records = flat(json.loads(text))
    nodes = list(tree.tree_.nodes())
    assert [record["node_id"] for record in records] == list(range(len(nodes)))
    for record, node in zip(records, nodes, strict=True):
        assert record["parent_id"] == (node.parent.node_id if node.parent else None)
        for field in FIELDS[1:-2]:
            assert record[field] == getattr(node, field)
        assert record["reason"] == str(node.reason or "")
        assert record["reason_code"] == getattr(node.reason, "code", "")


def test_words_of_nodes_are_those_shown(tree, vocabulary):
    for record, node in zip(flat(tree.to_dict()), tree.tree_.nodes(), strict=True):
        score = np.asarray(relevance(node.center[None], tree.tree_.center))[0]
        order = node.words
        assert 10 <= len(order) <= 20
        assert [word["word"] for word in record["words"]] == [vocabulary[j] for j in order]
        for word, j in zip(record["words"], order, strict=True):
            assert word["probability"] == node.center[j]
            assert word["relevance"] == pytest.approx(score[j])


def test_names_are_the_words_shown_that_are_more_frequent_than_in_the_parent(tree, vocabulary):
    root = tree.tree_
    for node in root.nodes():
        above = root if node.parent is None else node.parent
        apart = node.center >= np.maximum(above.center, root.center) * (1 - 1e-9)
        best = [vocabulary[j] for j in node.words if apart[j]]
        assert node.name.split(", ")[:2] == best[:2]


def test_the_frame_agrees_with_the_dictionaries(tree):
    frame = tree.to_frame()
    assert frame.index.name == "node_id"
    assert list(frame.columns) == list(FIELDS)
    for record in flat(tree.to_dict()):
        row = frame.loc[record["node_id"]]
        for field in FIELDS:
            if record[field] is None:
                assert pd.isna(row[field])
            else:
                assert row[field] == record[field]
    assert frame["parent_id"].dtype == frame["leaf_id"].dtype == "Int64"
    inner = frame["leaf_id"].isna()
    assert (frame.loc[inner, "gain"] != 0).all()
    assert (frame.loc[inner, "reason"] == "").all()
    assert (frame.loc[~inner, "reason"] != "").all()
    assert frame.loc[~inner, "n_samples"].sum() == frame.loc[0, "n_samples"] == 200


def test_the_graph_agrees_with_the_frame(tree):
    networkx = pytest.importorskip("networkx")
    graph, frame = tree.to_networkx(), tree.to_frame()
    assert networkx.is_arborescence(graph)
    assert sorted(graph.nodes) == frame.index.tolist()
    parents = frame["parent_id"].dropna()
    assert set(graph.edges) == set(zip(parents.astype(int), parents.index, strict=True))
    for i, attributes in graph.nodes(data=True):
        assert attributes["name"] == frame.loc[i, "name"]
        assert attributes["weight"] == frame.loc[i, "weight"]


def test_the_graph_requires_networkx(tree, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError) as caught:
        tree.to_networkx()
    assert str(caught.value) == "to_networkx requires networkx: pip install networkx"


def parse_newick(text):
    """Parse (children)'label':length by the grammar; quotes in labels are doubled."""
    token = re.compile(r"'(?:[^']|'')*'|[(),:;]|[^\s(),:;']+")
    tokens = token.findall(text)
    assert "".join(tokens) == text  # nothing in it that the grammar does not know
    at = 0

    def subtree():
        nonlocal at
        children = []
        if tokens[at] == "(":
            at += 1
            children.append(subtree())
            while tokens[at] == ",":
                at += 1
                children.append(subtree())
            assert tokens[at] == ")"
            at += 1
        label = tokens[at]
        assert label[0] == label[-1] == "'"
        at += 1
        length = None
        if tokens[at] == ":":
            length, at = float(tokens[at + 1]), at + 2
        return {"name": label[1:-1].replace("''", "'"), "length": length, "children": children}

    root = subtree()
    assert tokens[at:] == [";"]
    return root


@pytest.mark.parametrize("leaves", [1, 2, 5])
def test_newick_can_be_read_back(X, vocabulary, leaves):
    tree = TopicTree(leaves).fit(X, feature_names=vocabulary)
    read = flat(parse_newick(tree.to_newick()))
    nodes = list(tree.tree_.nodes())
    assert [record["name"] for record in read] == [node.name for node in nodes]
    assert [len(record["children"]) for record in read] == [len(node.children) for node in nodes]
    assert [record["length"] for record in read] == [None, *[1.0] * (len(nodes) - 1)]


def test_newick_keeps_quotes_in_names(X):
    names = [f"o'{j}'" for j in range(40)]
    tree = TopicTree(3).fit(X, feature_names=names)
    read = flat(parse_newick(tree.to_newick()))
    assert [record["name"] for record in read] == [node.name for node in tree.tree_.nodes()]
    assert "'" in read[0]["name"]


def test_the_page_is_written_whole_and_holds_the_words_escaped(tree, X, tmp_path):
    path = tmp_path / "report.html"
    assert tree.to_html(str(path), X, title="<b>Leaves & words</b>") == path
    page = path.read_text(encoding="utf-8")
    assert tree.to_html(None, X, title="<b>Leaves & words</b>") == page
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "<b>Leaves" not in page
    assert "<script>, " not in page  # the word "<script>" in a name
    assert "word11" in page
    assert list(tmp_path.iterdir()) == [path]


def test_the_page_of_ordered_documents_has_a_chart(tree, X):
    assert len(tree.to_html(X=X, order=range(X.shape[0]))) > len(tree.to_html(X=X))


def test_the_notebook_shows_every_node_escaped(tree):
    html = tree._repr_html_()
    assert html.count('class="leaf"') == tree.n_leaves_
    assert html.count("<details") == sum(not node.is_leaf for node in tree.tree_.nodes())
    assert "<script>" not in html
    assert "200 documents, 5 leaves" in html
    assert "TopicTree" in TopicTree()._repr_html_()  # before fit: the parameters


def test_texts_of_nodes_are_short(tree):
    n = len(tree.tree_.children)
    assert repr(tree.tree_) == f"TreeNode({tree.tree_.name!r}, n_samples=200, {n} children)"
    assert "leaf 0" in repr(tree.leaves_[0])
    assert repr(tree) == "TopicTree(max_leaf_nodes=5)"
