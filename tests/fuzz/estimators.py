"""Mutated arrays and parameters for estimators: refused without trace, or fitted completely."""

from __future__ import annotations

import copy
import inspect
import random
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import seeds
from .arrays import PARAMETERS, described, odd_matrix, odd_names, odd_vector
from .models import check_proportions
from .workers import Fault, as_fault

WAYS = ("fit", "refit", "predict")
REPEATS = {"max_iter", "n_init"}
"""Parameters that set how long a fit takes; large values are no fault."""


def _binary() -> np.ndarray:
    return (seeds.counts() > 0).astype(float)


def _real() -> np.ndarray:
    return np.log1p(seeds.counts()) - 0.3


def _symbols() -> np.ndarray:
    return np.asarray(seeds.counts())[:, :1] % 4


def _gaps() -> np.ndarray:
    X = _binary()
    return np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)


@cache
def cases() -> dict[str, tuple[Callable[..., Any], dict[str, Any], Callable[[], np.ndarray]]]:
    """Return estimators by name: class, parameters, and a function that makes valid data."""
    import momentree as mt

    return {
        "topic-tree": (mt.TopicTree, {"max_leaf_nodes": 3}, seeds.counts),
        "cluster-tree": (mt.ClusterTree, {"max_leaf_nodes": 3}, _binary),
        "cluster-tree-real": (mt.ClusterTree, {"max_leaf_nodes": 3}, _real),
        "cluster-tree-embeddings": (
            mt.ClusterTree,
            {"max_leaf_nodes": 3, "data": "directions"},
            _real,
        ),
        "cluster-tree-gaps": (mt.ClusterTree, {"max_leaf_nodes": 3}, _gaps),
        "cluster-tree-direct": (
            mt.ClusterTree,
            {"max_leaf_nodes": 3, "refine": None},
            seeds.counts,
        ),
        "single-topic": (mt.SingleTopicModel, {"n_components": 3}, seeds.counts),
        "poisson": (mt.PoissonMixture, {"n_components": 3}, seeds.counts),
        "bernoulli": (mt.BernoulliMixture, {"n_components": 3}, _gaps),
        "gaussian": (mt.GaussianMixture, {"n_components": 3}, _real),
        "gaussian-diag": (
            mt.GaussianMixture,
            {"n_components": 3, "covariance_type": "diag"},
            _gaps,
        ),
        "mixed": (mt.MixedMixture, {"n_components": 3}, _real),
        "views": (mt.MultiviewMixture, {"n_components": 2}, seeds.counts),
        "hmm-categorical": (mt.CategoricalHMM, {"n_components": 2, "max_iter": 30}, _symbols),
        "hmm-gaussian": (mt.GaussianHMM, {"n_components": 2, "max_iter": 30}, _real),
        "lda": (mt.LatentDirichletAllocation, {"n_components": 3}, seeds.counts),
    }


@cache
def _fitted(name: str) -> Any:
    make, parameters, data = cases()[name]
    return make(**parameters).fit(data())


@dataclass(frozen=True)
class Estimator:
    """One estimator."""

    name: str

    def run(self, rng: random.Random, folder: Path, *, valid: bool) -> str:
        """Fit, refit or predict with mutated arrays, and check the outcome."""
        make, parameters, data = cases()[self.name]
        X = data()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if valid:
                return checked(lambda: _check(make(**parameters).fit(X), X, folder))
            way = rng.choice(WAYS)
            if way == "predict":
                return self._predict(rng, X, folder)
            given = self._arguments(rng, X)
            (folder / "arguments.txt").write_text(f"{way}\n{described(given)}", "utf-8", "replace")
            if way == "fit":
                return self._fit(rng, make(**parameters), X, given, folder)
            return self._refit(rng, X, given)

    def _arguments(self, rng: random.Random, X: np.ndarray) -> dict[str, Any]:
        """Return arguments of ``fit``, at least one of them odd."""
        odd = rng.random()
        given: dict[str, Any] = {"X": odd_matrix(rng, X) if odd < 0.6 else X}
        accepted = inspect.signature(cases()[self.name][0].fit).parameters
        if 0.5 < odd < 0.8:
            vector = "sample_weight" if "sample_weight" in accepted else "lengths"
            given[vector] = odd_vector(rng, len(X))
        if odd > 0.85 and "feature_names" in accepted:
            given["feature_names"] = odd_names(rng, X.shape[1])
        if rng.random() < 0.15:
            given["parameters"] = self._parameters(rng)
        return given

    def _parameters(self, rng: random.Random) -> dict[str, Any]:
        make, *_ = cases()[self.name]
        names = sorted(set(make().get_params()) - {"verbose"})
        name = rng.choice(names)
        value = rng.choice(PARAMETERS)
        if name in REPEATS and isinstance(value, int | float) and value > 100:
            value = 100
        return {name: value}

    def _fit(
        self, rng: random.Random, model: Any, X: Any, given: dict[str, Any], folder: Path
    ) -> str:
        def fit() -> None:
            model.set_params(**given.pop("parameters", {}))
            model.fit(**given)
            _check(model, given["X"], folder)

        return checked(fit)

    def _refit(self, rng: random.Random, X: np.ndarray, given: dict[str, Any]) -> str:
        """Refit a fitted model; if that is refused, the model must be unchanged."""
        model = copy.deepcopy(_fitted(self.name))
        before = _state(model, X)
        parameters = model.get_params()
        try:
            model.set_params(**given.pop("parameters", {}))
            ended = checked(lambda: model.fit(**given))
        finally:
            model.set_params(**parameters)
        if ended == "refused":
            try:
                after = _state(model, X)
            except BaseException as error:
                fault = as_fault(error)
                raise Fault(f"after a refused refit: {fault}", fault.where, fault.detail) from error
            for name, value in before.items():
                if not np.array_equal(value, after[name]):
                    raise Fault("another model after a refused refit", f"{self.name}.{name}")
        return ended

    def _predict(self, rng: random.Random, X: np.ndarray, folder: Path) -> str:
        model = _fitted(self.name)
        new = odd_matrix(rng, X)
        names = ["predict", "predict_proba", "transform", "score_samples", "score", "bic"]
        names += [
            "predict_incomplete",
            "predict_incomplete_proba",
            "perplexity",
            "apply",
            "decision_path",
            "completion_perplexity",
            "to_html",
        ]
        name = rng.choice([name for name in names if hasattr(model, name)])
        (folder / "arguments.txt").write_text(f"{name}\n{described(new)}", "utf-8", "replace")

        def use() -> None:
            result = model.to_html(X=new) if name == "to_html" else getattr(model, name)(new)
            shape = getattr(new, "shape", None)
            # Symbols may be a vector.
            if shape and len(shape) > 1 and name != "to_html" and shape[-1] != X.shape[1]:
                raise Fault("takes other columns than those of the fit", f"{self.name}.{name}")
            if name in ("predict_proba", "score_samples"):
                check_proportions(model, new)
            elif name in ("score", "bic") and not np.isfinite(result):
                raise Fault(f"{result}", f"{self.name}.{name}")

        return checked(use)


def checked(use: Callable[[], Any]) -> str:
    """Return whether a call is accepted or properly refused; raise a fault on anything else."""
    from momentree.exceptions import MomentreeError

    try:
        use()
    except MomentreeError:
        return "refused"
    except Fault:
        raise
    except BaseException as error:
        if _of_scikit_learn(error):
            return "refused"
        raise as_fault(error) from error
    return "accepted"


def _of_scikit_learn(error: BaseException) -> bool:
    """Return whether a TypeError arose in scikit-learn's checks, whose own tests require it."""
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, TypeError) and any(
        "sklearn" in Path(frame.filename).parts for frame in frames
    )


def _state(model: Any, X: np.ndarray) -> dict[str, Any]:
    """Return the predictions of a fitted model."""
    found = {"n_features_in_": model.n_features_in_, "vocabulary_": model.vocabulary_}
    found["labels_"] = model.labels_
    for name in ("predict_proba", "predict", "score_samples"):
        if hasattr(model, name):
            found[name] = getattr(model, name)(X)
    if hasattr(model, "tree_"):
        found["tree"] = np.array([node.name for node in model.leaves_])
        model.to_dict()
    return found


def _check(model: Any, X: Any, folder: Path) -> None:
    """Check a fitted model on its own data, and after a round trip through a file."""
    from momentree.models import load

    if not (np.asarray(model.labels_) >= -1).all():  # -1 for samples without words
        raise Fault("labels below -1", type(model).__name__)
    check_proportions(model, X)
    model.save(folder / "m.mt")
    again = load(folder / "m.mt")
    empty = np.zeros((1, model.n_features_in_))
    if not np.array_equal(model.predict_proba(empty), again.predict_proba(empty)):
        raise Fault("another model after it was written and read again", type(model).__name__)
