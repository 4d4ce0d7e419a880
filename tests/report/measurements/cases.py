"""A small table of measurements with known groups, built by hand, and models of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momentree.datasets import MeasurementCoder, Measurements
from momentree.estimators.node import TreeNode
from momentree.messages import Message

SIZES = (60, 40, 30, 3)
"""Sizes of the groups; the last one is small."""
KINDS = {"age": "number", "hb": "number", "sodium": "number", "smoker": "yes_no", "sex": "category"}


@dataclass
class Flat:
    """The public attributes of a fitted mixture of measurements."""

    weights_: np.ndarray
    labels_: np.ndarray

    def get_params(self, deep=True):
        return {"n_components": len(self.weights_)}

    def predict_proba(self, X):
        return np.eye(len(self.weights_))[self.labels_]


@dataclass
class Tree(Flat):
    """The same as a tree: ((0, 1), (2, 3))."""

    tree_: TreeNode = None


def make_table(sizes=SIZES, seed=0, **changed):
    """Draw a table and the group of each record."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    n = len(labels)
    age = rng.normal(np.array([70, 50, 30, 90])[labels], 5.0)
    hb = rng.normal(np.array([10, 14, 13, 8])[labels], 1.0)
    hb[rng.random(n) < 0.1] = np.nan
    smoker = (rng.random(n) < np.array([0.1, 0.5, 0.9, 0.5])[labels]).astype(float)
    sex = np.where(rng.random(n) < np.array([0.2, 0.5, 0.8, 0.5])[labels], "f", "m").astype(object)
    sex[:8] = ""
    columns = {"age": age, "hb": hb, "sodium": rng.normal(140, 3, n), "smoker": smoker, "sex": sex}
    columns |= changed.pop("columns", {})
    coder = MeasurementCoder(dict(KINDS), {"sex": ["f", "m"]}, "id")
    died = (rng.random(n) < 0.3).astype(float)
    settings = {
        "units": {"hb": "g/dl"},
        "words": {"smoker": ("no", "yes")},
        "outcomes": {"died": died},
        "notes": (Message("[units_removed]", n_columns=1, columns=["hb"]),),
    }
    ids = [f"patient {i}" for i in range(n)]
    enough = np.ones(n, dtype=bool)
    return Measurements(columns, coder, ids, enough, **{**settings, **changed}), labels


def flat_case(**changed):
    table, labels = make_table(**changed)
    return Flat(np.bincount(labels) / len(labels), labels), table


def tree_case(**changed):
    table, labels = make_table(**changed)
    nothing, weights = np.empty(0), np.bincount(labels) / len(labels)
    root = TreeNode(nothing, 1.0)
    at = 1
    for first, second in ((0, 1), (2, 3)):
        weight = weights[first] + weights[second]
        node = TreeNode(nothing, weight, depth=1, node_id=at, parent=root)
        root.children.append(node)
        for leaf in (first, second):
            at += 1
            child = TreeNode(nothing, weights[leaf], depth=2, node_id=at, leaf_id=leaf, parent=node)
            node.children.append(child)
        at += 1
    return Tree(weights, labels, root), table
