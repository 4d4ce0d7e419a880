"""From a table in a file to the page, with the estimators themselves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import momentree as mt
from momentree.datasets import make_patient_records, read_records
from momentree.metrics import predictive_accuracy
from momentree.report import summarize_records, write_html

from ..browsing import opened, press, tree_row
from .cases import evaluated, named
from .test_browser import assigned, followed, type_codes

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
def test_the_rule_in_the_page_is_that_of_predict_proba(models, records, name):
    model = models[name]
    X = records.X[records.enough]
    summary = summarize_records(model, records, min_cell=1)
    P = evaluated(summary["scoring"], X.toarray()) if name != "one" else np.ones((X.shape[0], 1))
    assert np.abs(P - model.predict_proba(X)).max() < 1e-8
    names = set(summary["codes"]["name"])
    assert names <= {f"condition {j}" for j in range(60)}
    assert summary["notes"] == [str(note) for note in records.notes]


@pytest.mark.parametrize("name", ["tree", "one", "edited", "edited-rules"])
def test_the_page_assigns_as_the_estimator_does(driver, models, records, name, tmp_path):
    """A mixture, a single group, and edited groups in which mixtures and rules are nested."""
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
        P = model.predict_proba(x)[0]
        assert name == "one" or P.max() < 0.999
        assert [found[j] for j in range(len(P))] == pytest.approx(P, abs=1e-6)
        assert leaf == model.predict(x)[0]
        if name != "one":
            assert leaf == followed(summary["scoring"], x)


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


@pytest.mark.parametrize("name", ["edited", "edited-rules"])
def test_small_counts_are_kept_out_of_nested_rules(models, records, name):
    """Where all counts are small, each frequency is an estimate."""
    model = models[name]
    shown = summarize_records(model, records, min_cell=60)
    assert (np.array(shown["groups"]["counts"]) < 0).any()
    X = records.X[records.enough].toarray()
    P = evaluated(shown["scoring"], X[:, named(shown, records)])
    assert P.shape == model.predict_proba(X).shape
    assert np.abs(P.sum(axis=1) - 1).max() < 1e-9
    parts = [part["scoring"] for part in shown["scoring"]["parts"] if not isinstance(part, int)]
    assert parts
    exact = summarize_records(model, records, min_cell=1)["scoring"]
    assert exact["base"] != shown["scoring"]["base"]
