"""What ``momentree clusters`` and ``assign`` say of groups needs no mathematics, and no table."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from momentree.cli._reasons import in_plain_words
from momentree.tree import ClusterTree

from .conftest import make_records, read_json, write_csv


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "M2 shows 1 component(s) of 2 asked for (eigenvalue 2 of M2 is -1.3e-05)",
            "its codes show no groups within",
        ),
        (
            "group 3 cannot be split: a split would gain 12 nats, less than the BIC penalty of 99",
            "group 3 cannot be split: two parts would describe it no better than chance",
        ),
        (
            "one side would hold fewer than min_samples_leaf = 5",
            "fewer than --min-samples-leaf = 5",
        ),
    ],
)
def test_reasons_need_no_mathematics(reason, words):
    told = in_plain_words(reason)
    assert words in told
    assert not re.search("nats|eigenvalue|M2|component", told)


def test_no_reason_of_a_tree_has_words_of_mathematics():
    # All that a leaf says where the number of leaves is open, and of a group all alike.
    X = (np.random.default_rng(0).random((300, 12)) < 0.4).astype(float)
    alike = np.tile([1.0, 0.0], (60, 1))
    for data in (X, alike):
        for leaf in ClusterTree().fit(data).leaves_:
            assert not re.search("nats|eigenvalue|M2|component", in_plain_words(leaf.reason))


@pytest.mark.parametrize("flat", [[], ["--flat"]])
def test_records_with_few_codes_are_noted(run, records_table, tmp_path, flat):
    model = tmp_path / "groups.mt"
    result = run("clusters", records_table, "--rollup", "icd9", "-k", 4, "--save", model, *flat)
    assert result.exit_code == 0, result.output
    assert "fewer than" not in run("assign", model, records_table, "--quiet").stderr
    header = ["visit_id", "DX1", "DX2"]
    new = [dict(zip(header, [str(i), "4280", ""], strict=True)) for i in range(3)]
    table = write_csv(tmp_path / "few.csv", new)
    said = " ".join(run("assign", model, table).stderr.split())
    found = re.search(r"3 of 3 records have fewer than (\d+) codes; three of four", said)
    assert int(found[1]) > 1


def test_files_hold_whole_names(run, records_table, tmp_path):
    long = "a condition with a name that is so long that a heading must cut it before it ends"
    codes = {value for record in make_records() for key, value in record.items() if "DX" in key}
    names = tmp_path / "names.csv"
    rows = [{"code": code, "name": f"{code} {long}"} for code in sorted(filter(None, codes))]
    write_csv(names, rows)
    files = [tmp_path / "a.csv", tmp_path / "a.json"]
    options = ["--names", names, "-k", 3, "--csv", files[0], "--json", files[1]]
    result = run("clusters", records_table, *options)
    assert result.exit_code == 0, result.output
    groups = [node for node in read_json(files[1])["nodes"] if node["group"] is not None]
    with files[0].open(encoding="utf-8", newline="") as file:
        in_table = {row["name"] for row in csv.DictReader(file)}
    assert in_table == {node["name"] for node in groups}
    for node in groups:
        assert node["name"] == " · ".join(one["name"] for one in node["codes"][:3])
        assert node["name"].endswith(long)
