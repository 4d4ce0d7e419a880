"""Groups that are merged and split on the command line."""

from __future__ import annotations

import csv

import pytest

from momentree import ClusterTree

from .conftest import words


@pytest.mark.parametrize(
    "value",
    [f"merge {v}" for v in ("2", "2,", "2 2", "a b", "", "1;2", "-1 2")]
    + [f"split {v}" for v in ("", "x", "2 into", "2 into 1", "2 into x", "-1", "1 2", "1 into 2 3")]
    + ["", "join 1 2"],
)
def test_bad_edits_are_refused_before_the_work(refuses, tmp_path, value):
    line = refuses("clusters", tmp_path / "not-read.csv", "--edit", value)
    assert line.code == "not_an_edit"
    assert f"--edit '{value}'" in line


@pytest.mark.parametrize("edit", ["merge 2 9", "split 9"])
def test_groups_that_do_not_exist(refuses, records_table, edit):
    line = refuses("clusters", records_table, "--quiet", "-k", 4, "--edit", edit)
    assert line.code == "no_group"
    assert words("no_group", value=edit, group=9, last=3).split(": ")[1] in line


def groups_of(clusters, path, *options):
    result = clusters("--csv", path, *options)
    assert result.exit_code == 0, result.output
    with path.open(encoding="utf-8", newline="") as file:
        return [int(row["group"]) for row in csv.DictReader(file)]


def test_merged_groups_are_the_union(clusters, tmp_path):
    before = groups_of(clusters, tmp_path / "a.csv")
    after = groups_of(clusters, tmp_path / "b.csv", "--edit", "merge 0 2")
    pairs = set(zip(before, after, strict=True))
    assert len(pairs) == 4
    assert {old for old, new in pairs if new == dict(pairs)[0]} == {0, 2}


def test_a_list_has_no_edits(refuses, records_table):
    assert (
        refuses("clusters", records_table, "--flat", "--edit", "split 1").code == "option_excluded"
    )


def test_a_split_leaves_the_others(clusters, tmp_path):
    before = groups_of(clusters, tmp_path / "a.csv")
    result = clusters("--edit", "split 1 into 3", "-o", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    assert "6 groups" in result.stdout
    assert "split 1 into 3" in (tmp_path / "r.html").read_text(encoding="utf-8")
    after = groups_of(clusters, tmp_path / "b.csv", "--edit", "split 1 into 3")
    pairs = set(zip(before, after, strict=True))
    assert sorted(old for old, _ in pairs) == [0, 1, 1, 1, 2, 3]
    assert len({new for _, new in pairs}) == 6


def test_edits_are_applied_in_the_order_written(clusters, tmp_path):
    """What a run shows is what the next run's option counts from."""
    both = groups_of(clusters, tmp_path / "b.csv", "--edit", "split 0", "--edit", "merge 0 1")
    unedited = groups_of(clusters, tmp_path / "c.csv")
    assert len(set(zip(unedited, both, strict=True))) == 4
    merged, divided = ("--edit", "merge 0 1 2"), ("--edit", "split 1 into 2")
    first = groups_of(clusters, tmp_path / "a.csv", *merged, *divided)
    last = groups_of(clusters, tmp_path / "a.csv", *divided, *merged)
    assert (len(set(first)), len(set(last))) == (3, 3)
    assert first != last


def test_edits_use_the_numbers_after_the_previous_edit(refuses, records_table):
    edits = ["--edit", "merge 0 1", "--edit", "split 3"]
    line = refuses("clusters", records_table, "--rollup", "icd9", "-k", 4, "--quiet", *edits)
    assert words("no_group", value="split 3", group=3, last=2).split(": ")[1] in line


def test_a_split_into_fewer_groups_is_noted(clusters, monkeypatch):
    split = ClusterTree.split_group
    monkeypatch.setattr(
        ClusterTree, "split_group", lambda self, X, j, n_groups: split(self, X, j, n_groups=2)
    )
    result = clusters("--edit", "split 1 into 3")
    assert "--edit 'split 1 into 3' made 2 groups" in result.stderr


def test_an_edited_model_is_saved(clusters, run, records_table, tmp_path):
    path = tmp_path / "a.csv"
    groups = groups_of(
        clusters, path, "--edit", "split 1", "--edit", "merge 0 3", "--save", tmp_path / "m.mt"
    )
    arguments = ["assign", tmp_path / "m.mt", records_table, "--complete"]
    result = run(*arguments, "--csv", tmp_path / "again.csv")
    assert result.exit_code == 0, result.output
    with (tmp_path / "again.csv").open(encoding="utf-8", newline="") as file:
        assert [int(row["group"]) for row in csv.DictReader(file)] == groups
