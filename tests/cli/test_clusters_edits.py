"""Groups that are merged and split on the command line."""

from __future__ import annotations

import csv

import pytest

from momentree.cli._edits import Edit, apply_edits, read_edits
from momentree.exceptions import InvalidParameterError


class Context:
    """What `read_edits` needs of the context of a command."""

    def __init__(self, *order):
        self.meta = {"momentree.order": list(order)}


class Grouping:
    """Counts groups, and keeps what was done to them."""

    def __init__(self, k, done=(), most=9):
        self.k, self.done, self.most = k, done, most

    def predict_proba(self, X):
        class Proba:
            shape = (len(X), self.k)

        return Proba

    def merge_groups(self, X, groups):
        del X
        return Grouping(self.k - len(groups) + 1, (*self.done, ("merge", *groups)), self.most)

    def split_group(self, X, group, n_groups=2):
        del X
        n = min(n_groups, self.most)
        return Grouping(self.k + n - 1, (*self.done, ("split", group, n)), self.most)


def test_edits_are_read_in_the_order_written():
    edits = read_edits(
        Context("merge", "output", "split", "merge", "split"),
        {"merge": ["2,5", "0, 1,3"], "split": ["3", "4:3"]},
    )
    assert edits == [
        Edit("--merge 2,5", (2, 5)),
        Edit("--split 3", (3,), 2),
        Edit("--merge 0, 1,3", (0, 1, 3)),
        Edit("--split 4:3", (4,), 3),
    ]


def test_edits_count_groups_as_they_are_by_then():
    notes = []
    edits = [Edit("--merge 0,1,2", (0, 1, 2)), Edit("--split 1:5", (1,), 5), Edit("x", (5,), 2)]
    edited = apply_edits(Grouping(4), [0], edits, notes.append)
    assert edited.done == (("merge", 0, 1, 2), ("split", 1, 5), ("split", 5, 2))
    assert notes == []
    edits = [Edit("--merge 0,1", (0, 1)), Edit("--split 3", (3,), 2)]
    with pytest.raises(InvalidParameterError, match=r"--split 3: there is no group 3; .* 0 to 2"):
        apply_edits(Grouping(4), [0], edits, notes.append)


def test_a_split_into_fewer_groups_is_noted():
    notes = []
    apply_edits(Grouping(4, most=3), [0], [Edit("--split 1:5", (1,), 5)], notes.append)
    assert notes == ["--split 1:5 made 3 groups, as no more could be told apart"]


@pytest.mark.parametrize(
    ("option", "value"),
    [("--merge", v) for v in ("2", "2,", "2,2", "a,b", "", "1;2", "-1,2")]
    + [("--split", v) for v in ("", "x", "2:", "2:1", "2:x", "-1", "1,2", "1:2:3")],
)
def test_bad_edits_are_refused_before_the_work(refuses, tmp_path, option, value):
    line = refuses("clusters", tmp_path / "not-read.csv", option, value)
    assert f"{option} {value}".strip() in line
    assert "such as" in line
    assert "not-read.csv" not in line


@pytest.mark.parametrize("option", [["--merge", "2,9"], ["--split", "9"]])
def test_groups_that_are_not_there(refuses, records_table, option):
    line = refuses("clusters", records_table, "--quiet", "-k", 4, *option)
    assert "there is no group 9; the groups are 0 to 3" in line


def groups_of(clusters, path, *options):
    result = clusters("--csv", path, *options)
    assert result.exit_code == 0, result.output
    with path.open(encoding="utf-8", newline="") as file:
        return [int(row["group"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("flat", [[], ["--flat"]])
def test_merged_groups_are_the_union(clusters, tmp_path, flat):
    before = groups_of(clusters, tmp_path / "a.csv", *flat)
    after = groups_of(clusters, tmp_path / "b.csv", *flat, "--merge", "0,2")
    pairs = set(zip(before, after, strict=True))
    assert len(pairs) == 4
    assert {old for old, new in pairs if new == dict(pairs)[0]} == {0, 2}


@pytest.mark.parametrize("flat", [[], ["--flat"]])
def test_a_split_leaves_the_others(clusters, tmp_path, flat):
    before = groups_of(clusters, tmp_path / "a.csv", *flat)
    result = clusters(*flat, "--split", "1:3", "-o", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    assert "6 groups" in result.stdout
    assert "--split 1:3" in (tmp_path / "r.html").read_text(encoding="utf-8")
    after = groups_of(clusters, tmp_path / "b.csv", *flat, "--split", "1:3")
    pairs = set(zip(before, after, strict=True))
    assert sorted(old for old, _ in pairs) == [0, 1, 1, 1, 2, 3]
    assert len({new for _, new in pairs}) == 6


def test_edits_one_after_the_other(clusters, tmp_path):
    """What a run shows is what the next run's option counts from."""
    first = groups_of(clusters, tmp_path / "a.csv", "--split", "0")
    both = groups_of(clusters, tmp_path / "b.csv", "--split", "0", "--merge", "0,1")
    unedited = groups_of(clusters, tmp_path / "c.csv")
    assert len(set(first)) == 5
    assert len(set(zip(unedited, both, strict=True))) == 4


def test_an_edited_model_is_saved(clusters, run, records_table, tmp_path):
    path = tmp_path / "a.csv"
    groups = groups_of(
        clusters, path, "--split", "1", "--merge", "0,3", "--save", tmp_path / "m.mt"
    )
    result = run("assign", tmp_path / "m.mt", records_table, "--csv", tmp_path / "again.csv")
    assert result.exit_code == 0, result.output
    with (tmp_path / "again.csv").open(encoding="utf-8", newline="") as file:
        assert [int(row["group"]) for row in csv.DictReader(file)] == groups
