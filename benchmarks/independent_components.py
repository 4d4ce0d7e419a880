"""Is the separation of sources as accurate as that of FastICA and of JADE, and as fast?

Sources with heavy tails (Laplace), light tails (uniform) or both in turn, mixed by a random
matrix. FastICA runs with each of its three contrasts and a fixed seed. The table has the Amari
distance, 0 for a perfect separation, as mean and standard error over the seeds, and the seconds of
processor time.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from _common import environment, mean_se, table
from numpy.typing import NDArray
from sklearn.decomposition import FastICA

from momentree import IndependentComponents
from momentree.metrics import amari_distance

Floats = NDArray[np.float64]
KINDS = ("Laplace", "uniform", "both")
SETTINGS = ((4, 1000), (4, 10_000), (10, 2000), (10, 10_000))


def draw(kind: str, d: int, n: int, seed: int) -> tuple[Floats, Floats]:
    """Return mixed sources (n, d) and their mixing matrix."""
    rng = np.random.default_rng([seed, d, n])
    heavy, light = rng.laplace(size=(n, d)), rng.uniform(-2, 2, size=(n, d))
    both = np.where(np.arange(d) % 2, light, heavy)
    mixing = rng.normal(size=(d, d))
    sources = {"Laplace": heavy, "uniform": light, "both": both}[kind]
    return sources @ mixing.T, mixing


def methods(d: int) -> dict[str, Callable[[], object]]:
    """Return the estimators by name."""
    found: dict[str, Callable[[], object]] = {
        "momentree": IndependentComponents,
        "JADE alone": lambda: IndependentComponents(refine=None),
        "contraction": lambda: IndependentComponents(decomposition="sidiwo", refine=None),
    }
    for contrast in ("logcosh", "exp", "cube"):
        found[f"FastICA {contrast}"] = lambda fun=contrast: FastICA(
            d, fun=fun, whiten="unit-variance", random_state=0, max_iter=1000
        )
    return found


def measure(kind: str, d: int, n: int, seeds: int) -> list[list[str]]:
    """Return the row of each method."""
    errors: dict[str, list[float]] = {name: [] for name in methods(d)}
    seconds = dict.fromkeys(errors, 0.0)
    for seed in range(seeds):
        X, mixing = draw(kind, d, n, seed)
        for name, make in methods(d).items():
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make().fit(X)  # type: ignore[attr-defined]
            seconds[name] += (time.process_time() - begin) / seeds
            errors[name].append(amari_distance(model.components_, mixing))
    return [
        [kind, str(d), str(n), name, mean_se(np.array(found), ".4f"), f"{seconds[name]:.3f}"]
        for name, found in errors.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    print(environment())
    rows = [
        row for d, n in SETTINGS for kind in KINDS for row in measure(kind, d, n, options.seeds)
    ]
    print(table(("sources", "k", "n", "method", "Amari distance", "seconds"), rows))


if __name__ == "__main__":
    main()
