"""Fitted estimators of every kind, and their files with changed contents."""

import io
import json
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from momentree import (
    BernoulliMixture,
    CategoricalHMM,
    ClusterTree,
    GaussianHMM,
    GaussianMixture,
    LatentDirichletAllocation,
    MixedMixture,
    MultiviewMixture,
    PoissonMixture,
    SingleTopicModel,
    TopicTree,
)
from momentree.datasets import make_bernoulli_mixture, make_single_topic
from momentree.decomposition import svtd

from ..tree.cluster_data import of_kind

SYMBOLS = np.arange(60) ** 2 % 7
COUNTS = make_single_topic(150, 30, 4, length=40, exponent=0.5, random_state=0).X

SHORT = make_single_topic(20, 12, 2, length=6, exponent=0.5, random_state=0).X


def binary():
    return make_bernoulli_mixture(300, 12, 4, scaled_by="feature", random_state=0).X.toarray() * 1.0


def with_gaps():
    X = binary()
    return np.where(np.random.default_rng(0).random(X.shape) < 0.15, np.nan, X)


def measurements(gaps=0.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3)) + 4.0 * np.eye(3)[rng.integers(3, size=120)]
    return np.where(rng.random(X.shape) < gaps, np.nan, X)


def mixed():
    """A number with gaps, a yes/no, a count and a category."""
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    return pd.DataFrame(
        {
            "età": np.where(rng.random(200) < 0.1, np.nan, rng.normal(3.0 * y)),
            "ill": rng.random(200) < 0.2 + 0.5 * y,
            "visits": rng.poisson(0.5 + 2.0 * y),
            "plan": np.where(rng.random(200) < 0.2 + 0.6 * y, "a", "b"),
        }
    )


def nested(tree, X):
    """Split twice, merged across, and split again: assigners three deep."""
    tree = tree.split_group(X, 0, 2).split_group(X, 0, 2)
    return tree.merge_groups(X, [0, tree.n_leaves_ - 1]).split_group(X, 0, 3)


def kind(name):
    return of_kind(name)[0]


NAMES = ["città", *(f"word {j}" for j in range(1, 30))]
CASES = {
    "topics": lambda: (TopicTree(4).fit(COUNTS, feature_names=NAMES), COUNTS),
    "topics by rules": lambda: (TopicTree(refine=None).fit(COUNTS), COUNTS),
    "topics by depth": lambda: (
        TopicTree(refine=None, log_scaling=None, growth="depth", max_depth=2).fit(COUNTS),
        COUNTS,
    ),
    "topics without limit": lambda: (
        TopicTree("bic", min_samples_leaf=7.5, weighting="uniform", random_state=3).fit(COUNTS),
        COUNTS,
    ),
    "a single leaf": lambda: (TopicTree(1, refine=None).fit(COUNTS), COUNTS),
    "three words": lambda: (
        TopicTree(
            weighting="three_words", log_scaling=None, random_state=np.random.RandomState(0)
        ).fit(COUNTS),
        COUNTS,
    ),
    "clusters by rules": lambda: (
        ClusterTree(3, refine=None, scaling=None).fit(kind("binary")),
        kind("binary"),
    ),
    "topic model": lambda: (SingleTopicModel(4).fit(COUNTS, feature_names=NAMES), COUNTS),
    "topic model by moments": lambda: (
        SingleTopicModel(4, refine=None, decomposition=svtd).fit(COUNTS),
        COUNTS,
    ),
    "one topic": lambda: (SingleTopicModel(1, log_scaling=None).fit(COUNTS), COUNTS),
    "Poisson": lambda: (PoissonMixture(4).fit(COUNTS), COUNTS),
    "Poisson by moments": lambda: (
        PoissonMixture(4, refine=None, random_state=np.random.RandomState(0)).fit(COUNTS),
        COUNTS,
    ),
    "LDA": lambda: (LatentDirichletAllocation(3).fit(COUNTS), COUNTS),
    "LDA by moments": lambda: (
        LatentDirichletAllocation(2, refine=None, alpha0=0.5).fit(SHORT),
        SHORT,
    ),
    **{
        f"Gaussians, {covariances}": lambda covariances=covariances: (
            GaussianMixture(3, covariance_type=covariances).fit(measurements()),
            measurements(),
        )
        for covariances in ("spherical", "tied", "diag", "full")
    },
    "Gaussians with gaps, renamed": lambda: (
        GaussianMixture(2, decomposition=svtd, start="groups")
        .fit(measurements(0.1))
        .rename(0, "A"),
        measurements(0.1),
    ),
    "mixed columns": lambda: (
        MixedMixture(2, kinds={"visits": "category"}).fit(mixed()),
        mixed(),
    ),
    "mixed columns by moments": lambda: (
        MixedMixture(2, refine=None, decomposition=svtd).fit(mixed()),
        mixed(),
    ),
    "views of a table": lambda: (
        MultiviewMixture(
            2, views={"one": ["età"], "two": ["ill", "plan"], "three": ["visits"]}
        ).fit(mixed()),
        mixed(),
    ),
    "views of words": lambda: (
        MultiviewMixture(
            3,
            views=[list(range(12)), list(range(12, 24)), list(range(24, 30))],
            kinds=["words", "auto", "count"],
        ).fit(COUNTS),
        COUNTS,
    ),
    "hidden Markov, symbols": lambda: (
        CategoricalHMM(2, n_features=9, max_iter=20).fit(SYMBOLS, [30, 1, 29]),
        SYMBOLS,
    ),
    "hidden Markov, numbers": lambda: (
        GaussianHMM(2, covariance_type="full", refine=None, decomposition=svtd).fit(kind("real")),
        kind("real"),
    ),
    "Bernoulli": lambda: (BernoulliMixture(3).fit(binary()), binary()),
    "Bernoulli by moments": lambda: (BernoulliMixture(3, refine=None).fit(binary()), binary()),
    "Bernoulli with gaps": lambda: (BernoulliMixture(3).fit(with_gaps()), with_gaps()),
}
for _name, _refine in (
    *(("binary", refine) for refine in ("em", None, "splits")),
    ("counts", "em"),
    ("non_negative", "em"),
    ("real", "em"),
    ("real", None),
    ("gaps", "em"),
    ("gaps", "splits"),
):
    CASES[f"edited clusters of {_name} data, refine={_refine}"] = (
        lambda name=_name, refine=_refine: (
            nested(ClusterTree(3, refine=refine).fit(kind(name)), kind(name)),
            kind(name),
        )
    )

for _type in ("spherical", "diag", "tied", "full"):
    CASES[f"{_type} clusters"] = lambda one=_type: (
        ClusterTree(3, covariance_type=one).fit(kind("real")[:, :6]),
        kind("real")[:, :6],
    )
CASES |= {
    "clusters of directions": lambda: (
        ClusterTree(3, data="directions").fit(kind("real")),
        kind("real"),
    ),
    "clusters of real data with gaps": lambda: (
        ClusterTree(3).fit(real_with_gaps()),
        real_with_gaps(),
    ),
    "clusters of data with outliers": lambda: (
        ClusterTree(3).fit(with_outlier()),
        with_outlier(),
    ),
}


def real_with_gaps():
    X = kind("real")[:, :6].copy()
    X[::7, 2] = np.nan
    return X


def with_outlier():
    X = kind("real")[:, :6].copy()
    X[3, 1] = 1e12
    return X


@cache
def case(name):
    """Return a fitted estimator and its data; neither is to be changed."""
    return CASES[name]()


@cache
def saved(name):
    """Return the bytes of a model file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.mt"
        case(name)[0].save(path)
        return path.read_bytes()


def rewritten(path, change):
    """Write a model file again, with its manifest and arrays changed."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(content.pop("manifest.json"))
    arrays = {name[:-4]: np.load(io.BytesIO(data)) for name, data in content.items()}
    change(manifest, arrays)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array)
            archive.writestr(f"{name}.npy", buffer.getvalue())
