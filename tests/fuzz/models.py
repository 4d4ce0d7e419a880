"""Mutated model files: read, used and written again, by the command and from Python."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from . import seeds
from .command import Files, command
from .formats import changed
from .workers import Fault, as_fault

# Models that the command saves, each with its input.
_TOPICS: dict[str, list[str]] = {
    "topic-tree": ["-k", "3"],
    "single-topic": ["--flat", "-k", "3"],
    "lda": ["--flat", "-k", "3", "--model", "lda"],
}
_CLUSTERS: dict[str, list[str]] = {
    "cluster-tree": ["-k", "3"],
    "cluster-tree-rules": ["-k", "3", "--refine", "none"],
    "cluster-tree-edited": [
        *("-k", "3", "--min-samples-leaf", "2", "--edit", "split 1", "--edit", "merge 0 2")
    ],
    "bernoulli": ["--flat", "-k", "3"],
}
_PYTHON = (
    *("poisson", "cluster-tree-real", "cluster-tree-gaps", "cluster-tree-direct", "gaussian"),
    *("gaussian-diag", "mixed", "views", "hmm-categorical", "hmm-gaussian"),
)
"""Estimators that are fitted in Python, as named in estimators.py."""

_WITHOUT_GROUPS = {"IndependentComponents": "transform", "MixtureOfRegressions": "predict"}
"""Estimators without ``predict_proba`` of new samples, and the method that answers instead."""

_OTHERS = ("components", "regressions")
NAMES = (*_TOPICS, *_CLUSTERS, *_PYTHON, *_OTHERS)


def _from_python() -> dict[str, Callable[[], Any]]:
    """Return models that the command does not make."""
    import momentree as mt

    from .estimators import cases

    X = seeds.counts()
    Z, y = np.log1p(X[:, :4]) + np.arange(4), np.cos(np.arange(len(X)))
    return {
        **{name: partial(_fitted, *cases()[name]) for name in _PYTHON},
        "components": lambda: mt.IndependentComponents(3).fit(Z),
        "regressions": lambda: mt.MixtureOfRegressions(2).fit(Z, y),
    }


def _fitted(make: Callable[..., Any], parameters: dict[str, Any], data: Callable[[], Any]) -> Any:
    return make(**parameters).fit(data())


def build(folder: Path) -> None:
    """Write the file of each model, and inputs for them, to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    docs, table = folder / "docs.csv", folder / "t.csv"
    docs.write_bytes(seeds.texts()["csv"]["docs.csv"])
    table.write_bytes(seeds.record_files()["slots"]["t.csv"])
    for word, source, cases in (("topics", docs, _TOPICS), ("clusters", table, _CLUSTERS)):
        for name, options in cases.items():
            less = ["--min-df", "1"] if word == "topics" else ["--min-records", "1"]
            arguments = [word, str(source), *less, *options, "--save", str(folder / f"{name}.mt")]
            status, _, stderr = command(arguments, folder, folder)
            if status:
                raise Fault("cannot make the model", name, stderr)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, make in _from_python().items():
            make().save(folder / f"{name}.mt")


@dataclass(frozen=True)
class ModelFile:
    """The file of one model."""

    name: str
    folder: Path

    def run(self, rng: random.Random, folder: Path, *, valid: bool) -> str:
        """Mutate the file, use it in ``assign`` and from Python."""
        data = (self.folder / f"{self.name}.mt").read_bytes()
        others = [(self.folder / f"{name}.mt").read_bytes() for name in rng.sample(NAMES, 1)]
        bad = data if valid else changed(rng, data, [data, *others])
        of_records = self.name in _CLUSTERS
        new = "t.csv" if of_records else "docs.csv"
        if rng.random() < 0.5 and self.name in {*_TOPICS, *_CLUSTERS}:
            files = {"m.mt": bad, new: (self.folder / new).read_bytes()}
            seeds.write(folder / "in", files)
            return Files("assign", files, second=new, sometimes=("--csv",)).run_as_is(rng, folder)
        return self._in_python(bad, folder)

    def _in_python(self, data: bytes, folder: Path) -> str:
        from momentree.exceptions import MomentreeError
        from momentree.models import load

        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "m.mt"
        path.write_bytes(data)
        try:
            model = load(path)
        except MomentreeError:
            return "refused"
        except BaseException as error:
            raise as_fault(error) from error
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                use(model)
            model.save(folder / "again.mt")
            again = load(folder / "again.mt")
        except Fault:
            raise
        except BaseException as error:
            raise as_fault(error) from error
        X = np.zeros((2, model.n_features_in_))
        if not np.array_equal(_answer(model)(X), _answer(again)(X)):
            raise Fault("another model after it was written and read again")
        return "accepted"


def use(model: Any) -> None:
    """Use all methods of a fitted model, and check that its numbers are finite."""
    from momentree.exceptions import MomentreeError

    d = model.n_features_in_
    if d > 10_000:
        raise Fault(f"{d} columns")
    for X in (np.zeros((2, d)), np.ones((3, d)), np.eye(1, d)):
        if type(model).__name__ not in _WITHOUT_GROUPS:
            check_proportions(model, X)
        elif not np.isfinite(_answer(model)(X)).all():
            raise Fault("answers that are not finite", type(model).__name__)
    if hasattr(model, "tree_"):
        for view in (model.to_dict, model.to_frame, model.to_newick):
            view()
    elif hasattr(model, "top_words"):
        model.top_words(5)
    if hasattr(model, "to_html"):
        with suppress(MomentreeError):  # of some models there is a page of their data only
            model.to_html()


def _answer(model: Any) -> Callable[[Any], Any]:
    """Return the method that answers for new samples."""
    name = _WITHOUT_GROUPS.get(type(model).__name__, "predict_proba")
    return cast("Callable[[Any], Any]", getattr(model, name))


def check_proportions(model: Any, X: Any) -> None:
    """Check the predictions of a fitted model."""
    P = model.predict_proba(X)
    if not (np.isfinite(P).all() and (P >= 0).all() and np.allclose(P.sum(axis=1), 1, atol=1e-6)):
        raise Fault("probabilities that do not sum to 1", type(model).__name__, repr(P[:3]))
    if not np.isin(model.predict(X), np.arange(-1, P.shape[1])).all():
        raise Fault("labels out of range", type(model).__name__)
    if hasattr(model, "score_samples"):
        values = model.score_samples(X)
        if not np.isfinite(values).all():
            raise Fault("likelihoods that are not finite", type(model).__name__, repr(values[:5]))
    for name in ("weights_", "components_"):
        if not np.isfinite(getattr(model, name, 0)).all():
            raise Fault("parameters that are not finite", f"{type(model).__name__}.{name}")
