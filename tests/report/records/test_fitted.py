"""From a table in a file to the page, with the estimators themselves."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib import resources

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import momentree as mt
from momentree.assignment.posteriors import IncompleteAssigner
from momentree.datasets import make_patient_records, read_records
from momentree.metrics import predictive_accuracy
from momentree.report import summarize_records, write_html

from ..browsing import opened, press, tree_row
from .test_browser import assigned, type_codes

MODELS = {
    "tree": lambda: mt.ClusterTree(max_leaf_nodes=6),
    "tree-splits": lambda: mt.ClusterTree(max_leaf_nodes=6, refine="splits"),
    "tree-em": lambda: mt.ClusterTree(max_leaf_nodes=6, refine="em"),
    "flat": lambda: mt.BernoulliMixture(6),
    "one": lambda: mt.ClusterTree(max_leaf_nodes=1),
    "edited": lambda: mt.ClusterTree(max_leaf_nodes=5),
    "edited-rules": lambda: mt.ClusterTree(max_leaf_nodes=5, refine=None),
}


def edited(model, X):
    """Divide groups, one of them within another, and merge some of different depth."""
    model = model.split_group(X, 1, n_groups=3)
    return model.split_group(X, 2).merge_groups(X, [0, 3]).split_group(X, 4)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Records read from a file of codes with names, outcomes, and blanks to repair."""
    sample = make_patient_records(700, 60, 6, random_state=1)
    rows, columns = sample.X.nonzero()
    path = tmp_path_factory.mktemp("table") / "ward.csv"
    table = pd.DataFrame({"patient": [f"person-{i:03d}" for i in rows], "code": columns + 250})
    table["code"] = table["code"].map("{:03d} ".format)
    table["died"] = sample.labels[rows] == 2
    table.to_csv(path, index=False)
    names = {f"{j + 250:03d}": f"condition {j}" for j in range(60)}
    return read_records(
        path, id_column="patient", code_columns="code", outcome_columns="died", names=names
    )


@pytest.fixture(scope="module")
def models(records):
    X = records.X[records.enough]
    fitted = {name: make().fit(X) for name, make in MODELS.items()}
    return {
        name: edited(model, X) if name.startswith("edited") else model
        for name, model in fitted.items()
    }


@pytest.mark.parametrize("name", MODELS)
def test_the_page_assigns_by_the_numbers_of_the_estimator(models, records, name):
    summary = summarize_records(models[name], records, min_cell=1)
    assert summary["scoring"] == models[name].scoring()
    names = set(summary["codes"]["name"])
    assert names <= {f"condition {j}" for j in range(60)}
    assert summary["notes"] == [str(note) for note in records.notes]


@pytest.mark.parametrize("name", ["tree", "one", "edited", "edited-rules"])
def test_the_page_assigns_as_the_estimator_does(driver, models, records, name, tmp_path):
    model = models[name]
    X = records.X[records.enough].toarray()
    quality = {}
    if name == "tree":
        power = predictive_accuracy(model.labels_, records.outcomes["died"][records.enough])
        quality = {"predictive_power": {"died": power}}
    summary = summarize_records(model, records, min_cell=1, quality=quality)
    with opened(driver, write_html(summary, tmp_path / "page.html").as_uri()) as page:
        press(page, tree_row(summary["nodes"][-1]["id"]))
        codes = np.flatnonzero(X[301])[:2]  # few codes leave the group in doubt
        x = np.zeros((1, X.shape[1]))
        x[0, codes] = 1
        type_codes(page, ", ".join(records.codes[codes]))
        leaf, found = assigned(page)
        P = model.predict_incomplete_proba(x)[0]
        assert name == "one" or P.max() < 0.999
        assert [found[j] for j in range(len(P))] == pytest.approx(P, abs=1e-12)
        assert leaf == model.predict_incomplete(x)[0]


RULE = """
const fs = require("fs");
const { rule, cases, scoring } = JSON.parse(fs.readFileSync(0));
const { prepare, assignBy } = new Function(rule + "return { prepare, assignBy };")();
const prepared = prepare(scoring);
const found = cases.map((codes) => assignBy(prepared, codes));
console.log(JSON.stringify(found.map(({ logs, leaf }) => [logs.map(Math.exp), leaf])));
"""


@pytest.mark.parametrize("min_cell", [1, 5, 60])
@pytest.mark.parametrize("name", ["tree", "edited", "flat"])
def test_the_script_computes_what_python_computes(models, records, name, min_cell):
    """Hundreds of records of one to twelve codes, in Node.js."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js on this machine")
    scoring = summarize_records(models[name], records, min_cell=min_cell)["scoring"]
    k, d = np.shape(scoring["counts"])
    rng = np.random.default_rng(0)
    X = np.zeros((300, d))
    for i, x in enumerate(X):
        x[rng.choice(d, 1 + i % 12, replace=False)] = 1
    rule = resources.files("momentree.report").joinpath("templates/records_rule.js").read_text()
    cases = [np.flatnonzero(x).tolist() for x in X]
    given = json.dumps({"rule": rule, "cases": cases, "scoring": scoring})
    done = subprocess.run([node, "-e", RULE], input=given, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    P, labels = zip(*json.loads(done.stdout), strict=True)
    rows = sp.csr_array(X)
    assigner = IncompleteAssigner.from_dict(scoring)
    expected = assigner.proba(rows)
    np.testing.assert_allclose(P, expected, rtol=1e-9, atol=1e-12)
    assert list(labels) == assigner.labels(rows, expected).tolist()
    assert {-1, *range(k)} >= set(labels) > {-1}


def test_names_of_groups_of_discharges_are_distinct(shared_data):
    folder = shared_data / "vermont_icd9"
    table = pd.read_csv(folder / "icd9cm_hierarchy.csv.gz", dtype=str)
    records = read_records(
        folder / "vermont_dx.csv.gz",
        code_columns="DX*",
        rollup="icd9",
        names=dict(zip(table["three_digit"], table["major"], strict=True)),
        outcome_columns=["death", "sex", "age_group"],
    )
    model = mt.BernoulliMixture(8).fit(records.X[records.enough])
    summary = summarize_records(model, records)
    names = [node["name"] for node in summary["nodes"][1:]]
    assert len(set(names)) == 8
    text = " ".join(names)
    # Births, deliveries and hearts are in every hospital, and of these any grouping makes groups.
    assert "Single liveborn" in text
    assert "Outcome of delivery" in text
    assert "heart" in text.lower()
