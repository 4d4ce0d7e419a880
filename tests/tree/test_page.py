"""The page of records from Python, and trees in notebooks."""

import re
from functools import cache

import jinja2
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from momentree import BernoulliMixture, ClusterTree
from momentree.datasets import read_records
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.report import render_html, summarize_records

from ..raising import raises
from .cluster_data import of_kind

MODELS = {
    "tree": lambda: ClusterTree(4),
    "rules": lambda: ClusterTree(4, refine=None),
    "flat": lambda: BernoulliMixture(4),
}
every_model = pytest.mark.parametrize("name", MODELS)


@cache
def fitted(name, gaps=False):
    """Records, their groups, and a model of them; none is to be changed."""
    X, truth = of_kind("gaps" if gaps else "binary")
    return X, truth, MODELS[name]().fit(X, feature_names=[f"K{i:02d}" for i in range(24)])


@every_model
def test_the_page_of_a_matrix_is_the_report_of_its_records(name, tmp_path):
    X, truth, model = fitted(name)
    path = tmp_path / "page.html"
    names = {"K03": "Gout <acute>", "X99": "none of them"}
    outcomes = {"died": truth == 1, "ward": np.array(["east", "west"])[truth % 2]}
    title = "Ward & <b>3</b>"
    assert model.to_html(path, X, names=names, outcomes=outcomes, title=title) == path
    page = path.read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "Gout" in page
    assert "<b>3</b>" not in page
    assert "died" in page
    assert "east" in page
    assert "K17" in page
    sparse = sp.csr_array(X)
    assert model.to_html(None, sparse, names=names, outcomes=outcomes, title=title) == page


def test_a_page_with_a_path_is_rendered_once(tmp_path, monkeypatch):
    X, _, model = fitted("flat")
    rendered = []
    get = jinja2.Environment.get_template
    monkeypatch.setattr(
        jinja2.Environment, "get_template", lambda *names: rendered.append(names) or get(*names)
    )
    model.to_html(tmp_path / "page.html", X)
    assert [name for _, name, *parent in rendered if not parent] == ["records.html.j2"]


@pytest.mark.parametrize("name", ["tree", "flat"])
def test_the_page_takes_records_as_they_were_read(name, tmp_path):
    rng = np.random.default_rng(0)
    X, truth = of_kind("binary")
    at, columns = X.nonzero()
    table = pd.DataFrame({"who": [f"p{i}" for i in at], "code": [f"K{j:02d}" for j in columns]})
    table["died"] = np.where(truth[at] == 1, "yes", "no")
    shuffled = table.iloc[rng.permutation(len(table))]
    shuffled.to_csv(tmp_path / "ward.csv", index=False)
    records = read_records(
        tmp_path / "ward.csv",
        id_column="who",
        code_columns="code",
        outcome_columns="died",
        names={"K00": "Gout"},
        min_codes=3,
    )
    assert not records.enough.all()
    model = MODELS[name]().fit(records.X[records.enough], feature_names=records.codes)
    page = model.to_html(None, records)
    assert page == render_html(summarize_records(model, records))
    assert "Gout" in page
    # What is given goes before what the records say.
    other = model.to_html(None, records, names={"K00": "Arthritis"}, outcomes={})
    assert "Gout" not in other
    assert "Arthritis" in other
    assert '"died"' in page
    assert '"died"' not in other


def test_ids_are_shown_only_when_records_are_requested():
    X, _, model = fitted("tree")
    ids = [f"patient-{i}" for i in range(len(X))]
    assert "patient-" not in model.to_html(None, X, ids=ids)
    page = model.to_html(None, X, ids=ids, include_records=True)
    assert "patient-239" in page
    frame = pd.DataFrame(X, index=ids, columns=model.vocabulary_)
    named = MODELS["tree"]().fit(frame)
    assert named.to_html(None, frame, include_records=True) == page
    plain = model.to_html(None, X.tolist(), include_records=True)
    assert '"239"' in plain


def test_small_cells_are_hidden():
    X, _, model = fitted("flat")
    assert '"min_cell":5' in compact(model.to_html(None, X))
    assert '"min_cell":1' in compact(model.to_html(None, X, min_cell=1))
    with pytest.raises(InvalidParameterError):
        model.to_html(None, X, min_cell=0)


def compact(page):
    return re.sub(r"\s", "", page)


def test_missing_values_and_edits_have_a_page():
    X, _, model = fitted("rules", gaps=True)
    for one in (model.split_group(X, 0), model.merge_groups(X, [0, 1])):
        page = one.to_html(None, X)
        k = len(np.unique(one.labels_))
        assert f'"n_leaves":{k}' in compact(page)


@pytest.mark.parametrize("name", ["tree", "flat"])
def test_input_that_makes_no_page_is_refused(name, tmp_path):
    X, _, model = fitted(name)
    path = tmp_path / "page.html"
    with raises(InvalidDataError, "page_needs_data"):
        model.to_html(path)
    with pytest.raises(InvalidDataError):
        model.to_html(path, X[1:])
    with raises(InvalidDataError, "refused_by_sklearn"):
        model.to_html(path, X[:, 1:])
    with pytest.raises(InvalidDataError):
        model.to_html(path, X, ids=["a", "b", "c"])
    with pytest.raises(InvalidDataError):
        model.to_html(path, X, outcomes={"died": [0, 1]})
    with raises(InvalidDataError, "page_option_not_a_mapping", parameter="outcomes", type="int"):
        model.to_html(path, X, outcomes=3)
    with raises(InvalidDataError, "page_option_not_a_mapping", parameter="names", type="list"):
        model.to_html(path, X, names=["a"])
    with pytest.raises(NotFittedError):
        MODELS[name]().to_html(path, X)
    with pytest.raises(FileNotFoundError):
        model.to_html(tmp_path / "none" / "page.html", X)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["counts", "non_negative", "real"])
def test_the_page_is_one_of_binary_records(kind):
    X, _ = of_kind(kind)
    tree = ClusterTree(3).fit(X)
    with raises(InvalidDataError, "not_fitted_to_binary", kind=tree.data_):
        tree.to_html(None, X)


# --- notebooks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["binary", "counts", "non_negative", "real", "gaps"])
def test_a_tree_of_any_data_has_a_text_in_a_notebook(kind):
    X, _ = of_kind(kind)
    tree = ClusterTree(4).fit(X, feature_names=[f"<K{i:02d}>" for i in range(24)])
    text = tree._repr_html_()
    assert text.count('class="leaf"') == 4
    what = "records" if tree.data_ == "binary" else "samples"
    assert f"240 {what}, 4 leaves" in text
    assert "<K" not in text
    assert "&lt;K" in text
    assert re.findall(r"<b>(\d):</b> <span", text) == ["0", "1", "2", "3"]
    lines = re.findall(r'<span dir="auto">([^<]*)</span>', text)
    assert len(lines) == len(list(tree.tree_.nodes()))
    if kind == "real":
        assert any("high" in line for line in lines)
    else:
        # A leaf shows the codes that it has of its own: six of them for each of four groups.
        own = [{int(c) // 6 for c in re.findall(r"K(\d+)", line)[:4]} for line in lines[1:]]
        assert sum(len(groups) == 1 for groups in own) >= 4


def test_codes_are_cut_and_have_their_rates():
    X, _ = of_kind("binary")
    names = [f"K{i:02d} a name of a code that is much longer than a line" for i in range(24)]
    tree = ClusterTree(4).fit(X, feature_names=names)
    text = tree._repr_html_()
    shown = dict(re.findall(r"(K\d\d) a name of a code that is much l… (\d+)\u00a0%", text))
    assert len(shown) >= 15
    lines = re.findall(r'<b>(\d):</b> <span dir="auto">(K\d\d)[^<]*?(\d+)\u00a0%', text)
    assert len(lines) == 4
    for leaf, code, rate in lines:
        rows = tree.labels_ == int(leaf)
        assert abs(100 * X[rows, int(code[1:])].mean() - int(rate)) <= 0.5 + 1e-9


def test_an_edited_tree_has_a_text_too():
    X, _ = of_kind("binary")
    tree = ClusterTree(3).fit(X).split_group(X, 0)
    assert tree._repr_html_().count('class="leaf"') == 4
    assert "ClusterTree" in ClusterTree()._repr_html_()
