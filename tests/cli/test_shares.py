"""One share for one thing: on the screen, in the page, in JSON and in CSV."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from momentree.readers import read_records
from momentree.report.text import percent
from tests.report.pages import read, read_data

from .conftest import read_json

WORDS = {
    "sea": "boat harbour wave sail anchor tide",
    "garden": "rose tulip spade hedge lawn seed",
    "kitchen": "oven spoon butter flour plate salt",
    "music": "violin drum choir tune flute organ",
}
SIZES = {"sea": 60, "garden": 50, "kitchen": 36, "music": 24}
N_WITHOUT_WORDS = 6
COPY = "lute zither harp oboe violin drum choir tune flute organ viola cello"
SYMPTOMS = [f"symptom {i}" for i in range(12)]


def documents(*, copies=0):
    rng = np.random.default_rng(0)
    texts = [
        " ".join(rng.choice(WORDS[label].split(), 12))
        for label, n in SIZES.items()
        for _ in range(n)
    ]
    labels = [label for label, n in SIZES.items() for _ in range(n)]
    without = ["", "", "n/a", "comment", "qqq", "nothing"]
    texts += [COPY] * copies + without
    labels += ["music"] * copies + ["sea"] * len(without)
    order = rng.permutation(len(texts))
    return pd.DataFrame({"text": np.array(texts)[order], "label": np.array(labels)[order]})


def on_screen(stdout):
    """Numbers and shares of the lines of a tree or list."""
    lines = re.findall(r"  ([\d,]+)  +(\d+\.\d%)", stdout)
    return [(int(n.replace(",", "")), share) for n, share in lines]


def in_page(page):
    """Numbers and shares of the rows of the table, after those of the cards."""
    rows = re.findall(r"<td>([\d,]+)</td><td>([\d.]+%)</td>", page)
    return [(int(n.replace(",", "")), share) for n, share in rows]


def on_cards(page):
    cards = re.findall(r"<b>([\d,]+)</b> (?:documents?|passages?) · ([\d.]+%)", page)
    return [(int(n.replace(",", "")), share) for n, share in cards]


def nodes_of(content):
    """Numbers and weights of the nodes of a tree in JSON, in pre-order."""
    if "topics" in content:
        return [(topic["n_documents"], topic["share"]) for topic in content["topics"]]

    def visit(node):
        yield node["n_samples"], node["weight"]
        for child in node["children"]:
            yield from visit(child)

    return list(visit(content["tree"]))


def in_order(nodes):
    """Whether nodes are after their larger siblings."""
    return all(
        children == sorted(children, reverse=True)
        for node in nodes
        if (children := [nodes[j]["n_samples"] for j in node["children"]])
    )


def written(run, tmp_path, *options):
    files = {name: tmp_path / f"out.{name}" for name in ("html", "json", "csv")}
    outputs = ["-o", files["html"], "--json", files["json"], "--csv", files["csv"]]
    result = run(*options, *outputs)
    assert result.exit_code == 0, result.output
    with files["csv"].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return result.stdout, files["html"].read_text(encoding="utf-8"), read_json(files["json"]), rows


@pytest.mark.parametrize("flat", [[], ["--flat"], ["--flat", "--model", "lda"]], ids=" ".join)
@pytest.mark.parametrize(
    ("copies", "unique"),
    [
        pytest.param(0, ["--unique"], marks=pytest.mark.long),
        pytest.param(0, ["--no-unique"], marks=pytest.mark.long),
        (30, ["--unique"]),
        (30, ["--no-unique"]),
    ],
    ids=str,
)
def test_every_output_shows_the_same_shares(run, tmp_path, copies, unique, flat):
    table = documents(copies=copies)
    table.to_csv(tmp_path / "texts.csv", index=False)
    number = ["-k", 4]
    options = ["--text-column", "text", "--label-column", "label", "--language", "none"]
    screen, page, content, rows = written(
        run, tmp_path, "topics", tmp_path / "texts.csv", *number, *options, *unique, *flat
    )
    n = len(table) - N_WITHOUT_WORDS
    assert (content["n_documents"], content["n_in_no_topic"]) == (len(table), N_WITHOUT_WORDS)
    nodes = read_data(page)["nodes"]
    leaves = [node for node in nodes if node["leaf"] is not None]
    assert nodes[0]["n_samples"] == n == sum(leaf["n_samples"] for leaf in leaves)
    assert all(node["share"] == node["n_samples"] / n for node in nodes)
    assert in_order(nodes)
    # The same on the screen, in the table and on the cards of the page, and in JSON.
    shown = [(node["n_samples"], percent(node["share"])) for node in nodes]
    assert on_screen(screen) == (shown[1:] if flat else shown)
    assert in_page(page) == shown
    assert on_cards(page) == [(leaf["n_samples"], percent(leaf["share"])) for leaf in leaves]
    listed = nodes[1:] if flat else nodes
    for (size, share), node in zip(nodes_of(content), listed, strict=True):
        assert size == node["n_samples"]
        assert share == pytest.approx(node["share"], abs=1e-6)
    # The rows of the CSV file, which have no topic if a text has no known word.
    kind = "topic" if flat else "leaf"
    counts = Counter(row[kind] for row in rows)
    assert counts.pop("") == N_WITHOUT_WORDS
    assert counts == {str(leaf["leaf"]): leaf["n_samples"] for leaf in leaves}
    empty = [row for row in rows if not row[kind]]
    assert not any(row["name"] or row["probability"] for row in empty)
    assert f"{N_WITHOUT_WORDS} of {len(table)} documents" in screen
    # Copies count in full; where they weigh less in the fit, it is said.
    said = bool(copies) and unique == ["--unique"]
    assert ("weigh as" in screen, "weigh as" in page) == (said, said)


def symptoms(n=1200):
    """Answers of four classes to yes/no questions; 40% are healthy, most without a symptom."""
    rng = np.random.default_rng(3)
    P = np.full((4, 12), 0.03)
    P[0] = 0.02
    for j in (1, 2, 3):
        P[j, 4 * j - 4 : 4 * j] = 0.8
    answers = rng.random((n, 12)) < P[rng.choice(4, n, p=[0.4, 0.25, 0.2, 0.15])]
    return pd.DataFrame(np.where(answers, "Yes", "No"), columns=SYMPTOMS), answers


def test_all_no_is_an_answer(run, tmp_path):
    table, answers = symptoms()
    path = tmp_path / "symptoms.csv"
    table.to_csv(path, index=False)
    n_healthy = int((~answers.any(axis=1)).sum())
    assert n_healthy > 200
    records = read_records(path)
    assert records.form == "wide"
    assert records.enough.all()
    assert "too_few_codes" not in [note.code for note in records.notes]
    assert not read_records(path, min_codes=1).enough.all()

    options = ["clusters", path, "--flat", "-k", 4, "--min-cell", 1]
    screen, page, content, rows = written(run, tmp_path, *options, "--form", "codes")
    measured = written(run, tmp_path, *options, "--form", "measurements")
    assert content["n_records"] == measured[2]["n_records"] == len(table)
    assert on_screen(screen) == on_screen(measured[0])
    assert Counter(row["group"] for row in rows) == Counter(row["group"] for row in measured[3])
    data = json.loads(read(page).scripts[1])
    order = [data["codes"]["code"].index(name) for name in SYMPTOMS]
    rates = np.array(data["codes"]["rate"])[order]
    np.testing.assert_allclose(rates, answers.mean(axis=0), atol=1e-9)

    few = run(*options, "--form", "codes", "--min-codes", 1, "-k", 1)
    assert f"{len(table) - n_healthy} of 1,200 records fitted" in few.stdout


def test_records_without_an_answer_are_left_out(tmp_path):
    table, _ = symptoms(100)
    table.iloc[:3] = ""
    table.to_csv(tmp_path / "symptoms.csv", index=True, index_label="id")
    records = read_records(tmp_path / "symptoms.csv")
    assert np.flatnonzero(~records.enough).tolist() == [0, 1, 2]


def test_table_one_and_table_round_alike(run, tmp_path):
    result = run("demo", "--records", "-o", tmp_path / "demo.html")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "demo.html").read_text(encoding="utf-8")
    of_groups = [share for _, share in in_page(page)]
    (sizes,) = re.findall(r"Records</th><td[^>]*>n \(%\)</td>.*?</tr>", page, re.DOTALL)
    in_table_one = re.findall(r"\(([\d.]+)\)", sizes)
    assert set(in_table_one) <= {share.removesuffix("%") for share in of_groups}
