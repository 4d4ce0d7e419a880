"""What users see of every command and estimator stays as it is, unless a change is meant."""

from __future__ import annotations

import pytest

from .golden import changes, differences


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("commands", ["topics", "codes, flat", "sequences", "topics of new documents"]),
        ("estimators", ["topics", "binary", "numbers", "symbols"]),
        pytest.param("commands", (), marks=pytest.mark.long),
        pytest.param("estimators", (), marks=pytest.mark.long),
    ],
)
def test_results_are_those_recorded(file, names, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert changes(file, names) == [], "if these changes are meant: python -m tests.golden --update"


def test_differences_in_meaning_are_found():
    old = {"labels": [0, 0, 1], "weights": [0.5, 0.25], "screen": ["2 groups, 12.50%"], "n": 3}
    assert list(differences(old, {**old, "labels": [1, 1, 0], "weights": [0.5, 0.25 + 1e-9]})) == []
    for key, value in {
        "labels": [0, 1, 1],
        "weights": [0.5, 0.2501],
        "screen": ["2 groups, 12.60%"],
        "n": 4,
    }.items():
        assert len(list(differences(old, {**old, key: value}))) == 1
