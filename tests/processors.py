"""Fit models to many data sets and print what they found as JSON; see `test_processors.py`."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from threadpoolctl import threadpool_info

import momentree as mt
from momentree import datasets

Fits = Iterator[tuple[str, Callable[[], Any]]]

SQUARE = 8.0 * np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
BLOCKS = {
    "blocks": np.kron(np.eye(4, dtype=int), np.ones((5, 5), int)),
    "long blocks": np.kron(np.eye(4, dtype=int), np.ones((30, 5), int)),
    "wide blocks": np.kron(np.eye(4, dtype=int), np.ones((5, 20), int)),
}


def kernel() -> str:
    """Return the kernels that BLAS uses."""
    return next(
        (one["architecture"] for one in threadpool_info() if one["internal_api"] == "openblas"), ""
    )


def ties() -> Fits:
    """Yield models of data whose groups, columns or distances are equal."""
    for name, X in BLOCKS.items():
        yield f"topic tree, {name}", lambda X=X: mt.TopicTree(4).fit(X)
        yield f"topics, {name}", lambda X=X: mt.SingleTopicModel(4).fit(X)
        yield f"Poisson, {name}", lambda X=X: mt.PoissonMixture(4).fit(X)
        yield f"LDA, {name}", lambda X=X: mt.LatentDirichletAllocation(4).fit(X)
        yield f"cluster tree, {name}", lambda X=X: mt.ClusterTree(4, min_samples_leaf=1).fit(X)
        yield f"clusters, {name}", lambda X=X: mt.BernoulliMixture(4, start="clusters").fit(X)
        yield f"Bernoulli, {name}", lambda X=X: mt.BernoulliMixture(4).fit(X)
    corners = np.repeat([[i >> j & 1 for j in range(5)] for i in range(32)], 4, axis=0)
    yield "cluster tree, corners of a cube", lambda: mt.ClusterTree(3).fit(corners)
    counts = np.random.default_rng(1).poisson(1.5, (60, 12))
    mirrored = np.vstack([counts, counts[:, ::-1]])
    yield "topics that depend on each other", lambda: mt.LatentDirichletAllocation(4).fit(mirrored)
    long, doubled = BLOCKS["long blocks"], np.random.RandomState(1).poisson(1.0, (60, 5))
    yield "unrefined topics", lambda: mt.SingleTopicModel(4, refine=None).fit(BLOCKS["blocks"])
    yield "number of equal topics", lambda: mt.TopicTree("auto").fit(long)
    yield "three of four equal groups", lambda: mt.MultiviewMixture(3).fit(long)
    yield "equal columns", lambda: mt.PoissonMixture(3).fit(np.hstack([doubled] * 2))
    axes = np.vstack([np.eye(6)] * 6)
    for name, X in {"square": SQUARE, "squares": np.repeat(SQUARE, 10, axis=0)}.items():
        tree = mt.ClusterTree(4, data="real", min_samples_leaf=1)
        yield f"cluster tree, {name}", lambda X=X, tree=tree: tree.fit(X)
        yield f"Gaussians, {name}", lambda X=X: mt.GaussianMixture(len(X) // 10 or 2).fit(X)
    yield "tied Gaussians", lambda: mt.GaussianMixture(4, covariance_type="tied").fit(axes)
    yield "equal axes", lambda: mt.MixedMixture(3).fit(axes)
    many_axes = np.tile(np.eye(20), (6, 1))
    yield "many equal axes", lambda: mt.MixedMixture(3).fit(many_axes)
    yield "states in turn", lambda: mt.CategoricalHMM(4).fit(np.tile([0, 1, 2, 3], 50))
    symbols = np.random.RandomState(0).randint(0, 4, 300)
    yield (
        "symbols and their opposites",
        lambda: mt.CategoricalHMM(2).fit(np.concatenate([symbols, 3 - symbols]), [30] * 20),
    )
    noise = np.random.RandomState(0).randint(0, 5, 600)
    yield "states of noise", lambda: mt.CategoricalHMM(3).fit(noise)
    x = np.repeat(np.arange(-10.0, 10.0), 2)
    crossed = np.where(np.arange(40) % 2, x, -x)
    half = np.abs(np.random.RandomState(4).normal(size=(100, 8)))
    turned = np.vstack([half, half[:, ::-1]])
    yield "counts and their mirror image", lambda: mt.PoissonMixture(3).fit(np.round(3 * turned))
    yield "values and their mirror image", lambda: mt.GaussianMixture(3).fit(turned)
    cloud = np.random.RandomState(0).normal(size=(100, 6))
    images = np.vstack([cloud, -cloud, cloud[:, ::-1], -cloud[:, ::-1]])
    yield "groups that differ in spread alone", lambda: mt.GaussianMixture(5).fit(images)
    complements = np.vstack([half > 0.7, half <= 0.7])
    yield "yes, no and their complements", lambda: mt.BernoulliMixture(3).fit(complements)
    signed = np.random.RandomState(3).normal(size=(60, 8)) * np.arange(1, 9)
    opposite = np.vstack([signed, -signed])
    yield "values and their opposites", lambda: mt.GaussianMixture(3).fit(opposite)
    yield "yes, no and their opposites", lambda: mt.BernoulliMixture(3).fit(turned > 0.7)
    yield "crossed lines", lambda: mt.MixtureOfRegressions(2).fit(x[:, None], crossed)


def built_in() -> Fits:
    """Yield models of the built-in data and of samples."""
    texts = datasets.load_docstrings()
    yield "docstrings", lambda: mt.TopicTree(8).fit(texts)
    flowers = load_iris(as_frame=True).data
    yield "iris", lambda: mt.GaussianMixture(3).fit(flowers)
    yield "number of irises", lambda: mt.GaussianMixture("auto").fit(flowers)
    visits = datasets.make_hospital_visits(500, random_state=0).table
    codes = visits[[name for name in visits.columns if name.startswith("DX")]].to_numpy()
    names = [name for name in np.unique(codes) if name]
    rows = np.stack([(codes == name).any(axis=1) for name in names], axis=1).astype(int)
    yield "visits", lambda: mt.ClusterTree(8).fit(rows, feature_names=names)
    topics = datasets.make_single_topic(300, 40, 4, random_state=0).X
    yield "topics", lambda: mt.SingleTopicModel(4).fit(topics)
    yield (
        "mixed topics",
        lambda: mt.LatentDirichletAllocation(3).fit(
            datasets.make_lda(200, 40, 3, random_state=0).X
        ),
    )
    levels = datasets.make_hierarchical_topics(200, random_state=0).X
    yield "levels", lambda: mt.TopicTree("auto").fit(levels)
    counts = datasets.make_poisson_mixture(300, 10, 3, random_state=0).X
    yield "counts", lambda: mt.PoissonMixture(3).fit(counts)
    binary = datasets.make_bernoulli_mixture(500, 20, 4, random_state=0).X
    yield "binary", lambda: mt.BernoulliMixture(4).fit(binary)
    numbers = datasets.make_spherical_gaussians(300, 5, 4, random_state=0).X
    yield "numbers", lambda: mt.GaussianMixture(4, covariance_type="spherical").fit(numbers)
    yield "tree of numbers", lambda: mt.ClusterTree(4, data="real").fit(numbers)
    symbols = datasets.make_hmm(100, 20, 3, n_symbols=12, random_state=0)
    yield "symbols", lambda: mt.CategoricalHMM(3).fit(symbols.X, symbols.lengths)
    series = datasets.make_hmm(50, 20, 3, n_features=4, random_state=0)
    yield "series", lambda: mt.GaussianHMM(3).fit(series.X, series.lengths)


def readme() -> Fits:
    """Yield the estimators that the Python of the README fits, to a sixteenth of the corpus."""
    docs = datasets.load_docstrings()
    small = datasets.Documents(docs.texts[::16], docs.ids[::16], docs.labels[::16], name=docs.name)
    datasets.load_docstrings = lambda: small
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder), redirect_stdout(sys.stderr):
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(block, "README.md", "exec"), names)
    for name, value in names.items():
        if hasattr(value, "labels_") and hasattr(value, "fit"):
            yield f"README: {name}", lambda value=value: value
    yield "README: cut", lambda: names["tree"].cut(4)


def found(model: Any) -> dict[str, Any]:
    """Return what must not depend on the processor."""
    exact = {"labels": model.labels_.tolist(), "names": list(getattr(model, "names_", []))}
    if hasattr(model, "leaves_"):
        nodes = list(model.tree_.nodes())
        exact["nodes"] = [[node.name, node.depth, node.n_samples] for node in nodes]
        weights = [node.weight for node in nodes]
    else:
        exact["words"] = model.top_words(8) if hasattr(model, "top_words") else []
        weights = model.weights_.tolist()
    return {"exact": exact, "weights": weights}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    fits = [*ties(), *built_in(), *readme()]
    print(json.dumps({"kernel": kernel(), "found": {name: found(fit()) for name, fit in fits}}))
