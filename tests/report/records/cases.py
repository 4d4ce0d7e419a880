"""Small fitted groups of records with real structure, built by hand, and their records."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from momentree.estimators.node import TreeNode
from momentree.messages import Message

THEMES = ("heart failure", "childbirth", "kidney disease", "injury of the hip")
CODES_PER_THEME = 6
RARE = 4


@dataclass
class Records:
    """The public attributes of records."""

    X: sp.csr_array
    codes: np.ndarray
    names: dict
    ids: np.ndarray
    enough: np.ndarray
    outcomes: dict = field(default_factory=dict)
    outcome_names: dict = field(default_factory=lambda: {"died": ("False", "True")})
    name: str = "Ward"
    notes: tuple = (Message("test: codes trimmed", n_cells=3),)

    @property
    def fitted(self):
        return self.X[np.flatnonzero(self.enough)]


@dataclass
class Mixture:
    """The public attributes of a fitted Bernoulli mixture."""

    weights_: np.ndarray
    components_: np.ndarray
    labels_: np.ndarray
    vocabulary_: np.ndarray

    def get_params(self, deep=True):
        return {"n_components": len(self.weights_)}

    def predict_proba(self, X):
        mu = self.components_
        absent = np.log1p(-mu)
        offsets = np.log(self.weights_) + absent.sum(axis=1)
        scores = np.nan_to_num(sp.csr_array(X).toarray()) @ (np.log(mu) - absent).T + offsets
        return np.exp(scores - logsumexp(scores, axis=1, keepdims=True))


@dataclass
class Tree:
    """The public attributes of a fitted tree of records, with rules of squared projections."""

    tree_: TreeNode
    labels_: np.ndarray
    vocabulary_: np.ndarray
    rules: list

    def get_params(self, deep=True):
        return {"max_leaf_nodes": len(set(self.labels_))}

    def predict_proba(self, X):
        return rule_probabilities(self.rules, np.nan_to_num(sp.csr_array(X).toarray()))


def rule_probabilities(rules, X):
    """Follow the rules, literally."""
    k = max(-1 - child for node in rules for child in node["children"]) + 1
    out = np.zeros((len(X), k))

    def visit(at, rows, share):
        node = rules[at]
        t = X[rows] @ np.transpose(node["coef"]) + np.asarray(node["intercept"])
        parts = t**2 / (t**2).sum(axis=1, keepdims=True)
        for side, child in enumerate(node["children"]):
            if child < 0:
                out[rows, -1 - child] += share * parts[:, side]
            else:
                visit(child, rows, share * parts[:, side])

    visit(0, np.arange(len(X)), np.ones(len(X)))
    return out


def make_records(n=900, seed=0, missing=0.0):
    """Draw records of four groups of unequal size, with rare codes and outcomes."""
    rng = np.random.default_rng(seed)
    k = len(THEMES)
    d = k * CODES_PER_THEME + RARE
    mu = np.full((k, d), 0.03)
    for j in range(k):
        block = np.arange(j * CODES_PER_THEME, (j + 1) * CODES_PER_THEME)
        mu[j, block] = np.linspace(0.8, 0.25, CODES_PER_THEME)
        mu[(j + 1) % k, block] = 0.008
    mu[:, -RARE:] = 0.004
    w = np.array([0.45, 0.3, 0.15, 0.1])
    labels = np.sort(rng.choice(k, n, p=w))
    X = (rng.random((n, d)) < mu[labels]).astype(float)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    codes = np.array([f"{100 + 7 * j}" for j in range(d)], dtype=object)
    names = {
        code: f"{THEMES[j // CODES_PER_THEME]} of kind {j % CODES_PER_THEME}, not elsewhere"
        if j < d - RARE
        else f"rare condition {j}"
        for j, code in enumerate(codes)
    }
    enough = np.ones(n, dtype=bool)
    enough[::97] = False
    records = Records(
        X=sp.csr_array(X),
        codes=codes,
        names=names,
        ids=np.array([f"patient-{i:04d}" for i in range(n)], dtype=object),
        enough=enough,
        outcomes={
            "died": rng.random(n) < np.array([0.2, 0.003, 0.1, 0.05])[labels],
            "ward": np.array(["east", "west", "north"])[
                (rng.random(n) * np.array([3, 1.05, 2, 3])[labels]).astype(int)
            ],
            "age": rng.integers(18, 90, n).astype(float),
        },
    )
    return records, mu, w, labels


def named(summary, records):
    """Return the columns of the records whose codes a summary names."""
    place = {code: j for j, code in enumerate(records.codes)}
    return np.array([place[code] for code in summary["codes"]["code"]])


def flat_case(**options):
    """Return a mixture and its records."""
    records, mu, w, labels = make_records(**options)
    model = Mixture(w, mu, labels[records.enough], records.codes)
    return model, records


def tree_case(**options):
    """Return a tree of depth two over the same four groups, and its records."""
    records, mu, _, labels = make_records(**options)
    kept = labels[records.enough]
    n = len(kept)

    def node(groups, depth, parent):
        rows = np.flatnonzero(np.isin(kept, np.ravel(groups)))
        made = TreeNode(mu[np.ravel(groups)].mean(axis=0), len(rows) / n, depth=depth)
        made.parent = parent
        if isinstance(groups, int):
            made.leaf_id, made._samples = groups, rows
        else:
            made.children = [node(part, depth + 1, made) for part in groups]
        return made

    root = node([[0, 1], [2, 3]], 0, None)
    for i, each in enumerate(root.nodes()):
        each.node_id = i

    def rule(first, second, children):
        coef = np.array([mu[first].mean(axis=0) - 0.05, mu[second].mean(axis=0) - 0.05])
        return {"coef": coef, "intercept": np.array([0.1, 0.05]), "children": children}

    rules = [
        rule([0, 1], [2, 3], [1, 2]),
        rule([0], [1], [-1, -2]),
        rule([2], [3], [-3, -4]),
    ]
    return Tree(root, kept, records.codes, rules), records
