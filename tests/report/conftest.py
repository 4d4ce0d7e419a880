"""A small fitted tree with real structure, built by hand, and a browser."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.estimators.node import TreeNode

WORDS_PER_TOPIC = 60
TOPIC_NAMES = ("planet", "engine", "garden", "violin")


@dataclass
class FittedTree:
    """The public attributes of a fitted tree estimator."""

    tree_: TreeNode
    labels_: np.ndarray
    vocabulary_: np.ndarray
    params: dict = field(default_factory=lambda: {"max_leaf_nodes": 4, "log_scaling": None})

    def get_params(self, deep=True):
        return dict(self.params)


@dataclass
class Case:
    """A fitted tree with the corpus it was fitted on."""

    estimator: FittedTree
    X: sp.csr_array
    ids: list[str]
    texts: list[str]
    labels: list[str]

    @property
    def arguments(self):
        return {"ids": self.ids, "texts": self.texts, "labels": self.labels, "title": "Case"}


def center_of(X, rows):
    total = np.asarray(X[rows].sum(axis=0), dtype=float).ravel()
    return total / total.sum()


def nest(X, groups, labels, depth=0, parent=None):
    """Build nodes from nested tuples of leaf numbers."""
    leaves = [groups] if isinstance(groups, int) else list(flatten(groups))
    rows = np.flatnonzero(np.isin(labels, leaves))
    node = TreeNode(center_of(X, rows), len(rows) / X.shape[0], depth=depth, parent=parent)
    if isinstance(groups, int):
        node.leaf_id, node._samples, node.reason = groups, rows, "limit_reached"
    else:
        node.gain = 1234.5 / (depth + 1)
        node.children = [nest(X, group, labels, depth + 1, node) for group in groups]
    return node


def flatten(groups):
    for group in groups:
        if isinstance(group, int):
            yield group
        else:
            yield from flatten(group)


def number(root, vocabulary):
    for i, node in enumerate(root.nodes()):
        node.node_id = i
        node.name = ", ".join(vocabulary[np.argsort(-node.center, kind="stable")[:3]])
    return root


def build_case(n_samples=120, groups=((0, 1), (2, 3)), seed=0, length=80, repeat=1):
    """Sample documents of four topics with power-law words, each labeled by its topic."""
    rng = np.random.default_rng(seed)
    d = len(TOPIC_NAMES) * WORDS_PER_TOPIC
    shared = 1.0 / (5.0 + rng.permutation(d))
    topics = np.tile(shared, (4, 1))
    for k in range(4):
        block = slice(k * WORDS_PER_TOPIC, (k + 1) * WORDS_PER_TOPIC)
        topics[k, block] *= 25.0
    topics /= topics.sum(axis=1, keepdims=True)
    vocabulary = np.array(
        [f"{name}{letter(i)}" for name in TOPIC_NAMES for i in range(WORDS_PER_TOPIC)]
    )
    labels = np.sort(rng.permutation(n_samples) % 4)
    counts = rng.multinomial(length, topics[labels])
    X = sp.csr_array(counts)
    leaf_of = labels * 0 if groups == 0 else labels
    root = number(nest(X, groups, leaf_of), vocabulary)
    texts = [" ".join(np.repeat(vocabulary, np.tile(row, repeat))) for row in counts]
    return Case(
        FittedTree(root, leaf_of, vocabulary),
        X,
        [f"doc-{i:05d}" for i in range(n_samples)],
        texts,
        [TOPIC_NAMES[k] for k in labels],
    )


def letter(i):
    return "abcdefghij"[i // 10] + "klmnopqrst"[i % 10]


@pytest.fixture
def case():
    return build_case()


@pytest.fixture(scope="session")
def make_case():
    return build_case


@pytest.fixture(scope="session")
def large_case():
    """More documents than a page has room for; not to be changed."""
    return build_case(4500, length=30)


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """One headless Chromium; skips where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    chromedriver = shutil.which("chromedriver")
    if browser is None or chromedriver is None:
        pytest.skip("no Chromium with chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "disable-dev-shm-usage",
        "force-prefers-reduced-motion",
        "disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",  # pages of its own to load
        "window-size=1400,900",
        f"user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(chromedriver)
    with webdriver.Chrome(options=options, service=service) as running:
        running.get("about:blank")  # leaves the page of new tabs, which makes requests
        yield running
