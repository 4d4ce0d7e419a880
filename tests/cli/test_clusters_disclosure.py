"""An attack: derive suppressed counts from all numbers that the command publishes."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from .conftest import read_json

SMALL = range(1, 5)


class Attack:
    """What is known of the counts of an outcome: classes and missing values in each group."""

    def __init__(self, outcome, rows, sizes, n_records):
        self.classes = outcome["classes"]
        # The records with "no" are a class that is not published.
        self.width = len(self.classes) + (2 if len(self.classes) == 1 else 1)
        self.shape = (len(sizes), self.width)
        self.low, self.high = np.zeros(self.shape), np.full(self.shape, float(n_records))
        self.sums, self.totals = [], []
        for group, size in enumerate(sizes):
            known = [one["n_records"][group] for one in self.classes] + [outcome["missing"][group]]
            for at, count in enumerate(known):
                if count is not None:
                    self.low[group, at] = self.high[group, at] = count
                elif at < len(self.classes) and rows[at][3 + group].startswith("<"):
                    self.low[group, at], self.high[group, at] = SMALL[0], SMALL[-1]
                else:
                    self.low[group, at] = 1
            if size is not None:
                self.add(np.s_[group, :], size)
        for at, one in enumerate(self.classes):
            if one["n_all"] is not None:
                self.add(np.s_[:, at], one["n_all"])
        self.add(np.s_[:, :], n_records)

    def add(self, cells, total):
        row = np.zeros(self.shape)
        row[cells] = 1
        self.sums.append(row.ravel())
        self.totals.append(total)

    def bounds(self, group, at):
        """Return the smallest and the largest value that a cell can have."""
        cost = np.zeros(self.shape)
        cost[group, at] = 1
        found = []
        for sign in (1, -1):
            result = milp(
                sign * cost.ravel(),
                constraints=LinearConstraint(np.array(self.sums), self.totals, self.totals),
                bounds=Bounds(self.low.ravel(), self.high.ravel()),
                integrality=np.ones(cost.size),
            )
            assert result.success
            found.append(round(sign * result.fun))
        return tuple(found)


def attacks(content):
    leaves = [node for node in content["nodes"] if node["group"] is not None]
    sizes = [leaf["n_records"] for leaf in sorted(leaves, key=lambda leaf: leaf["group"])]
    rows = content["table_one"]["rows"]
    for outcome in content["outcomes"]:
        (first,) = (at for at, row in enumerate(rows) if row[0] == outcome["name"])
        yield outcome, Attack(outcome, rows[first:], sizes, content["n_records"])


def test_an_attack_finds_what_totals_disclose():
    died = {"classes": [{"n_records": [20, None], "n_all": 23}], "missing": [0, 0]}
    attack = Attack(died, [["", "", "", "20 (40.0)", "<5"]], [50, 60], 110)
    assert attack.bounds(1, 0) == (3, 3)


@pytest.mark.parametrize("options", [["-k", 6], ["-k", 12], ["-k", 8, "--flat"]])
def test_no_suppressed_count_of_real_records_can_be_derived(run, shared_data, tmp_path, options):
    source = gzip.decompress((shared_data / "vermont_icd9" / "vermont_dx.csv.gz").read_bytes())
    table, plain = tmp_path / "visits.csv", tmp_path / "groups.json"
    table.write_bytes(source)
    named = ["--outcome", "death", "--covariate", "sex", "--covariate", "age_group"]
    reading = ["--rollup", "icd9", "--ignore", "DRG", "--code-column", "DX*"]
    result = run("clusters", table, *options, *named, *reading, "--json", plain)
    assert result.exit_code == 0, result.output
    tested = 0
    for outcome, attack in attacks(read_json(plain)):
        for at, one in enumerate(outcome["classes"]):
            for group, count in enumerate(one["n_records"]):
                if count is not None:
                    continue
                low, high = attack.bounds(group, at)
                tested += 1
                assert low < high, (outcome["name"], one["name"], group)
                if attack.high[group, at] == SMALL[-1]:
                    assert (low, high) == (SMALL[0], SMALL[-1])
    assert tested > 10
