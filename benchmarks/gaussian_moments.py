"""How accurate are the moments of Gaussian mixtures, and do they find clusters that cross?

Spherical: 5 components over 20 features, the closest means 4 standard deviations apart, with one
variance and with variances from 0.3 to 2.5. Each row is a form of the estimator, without EM; the
first is the theorem as published, the last groups the samples by their true components. Crossing:
components with the same mean, ten times as long as wide, in random directions; the difference of
the mean log-likelihood from that of EM from the true components.
"""

from __future__ import annotations

import argparse

import numpy as np
from _common import environment, mean_se, table
from numpy.typing import NDArray

from momentree import GaussianMixture
from momentree.datasets import make_spherical_gaussians
from momentree.decomposition import sidiwo
from momentree.metrics import match_components
from momentree.moments import SphericalGaussianMoments
from momentree.parameters import spherical_gaussian_parameters

Floats = NDArray[np.float64]

K, D = 5, 20
OWN = (0.3, 0.6, 1.0, 1.5, 2.5)
FORMS = {
    "as published": {},
    "all noise directions": {"n_components": K},
    "centered": {"centered": True},
    "all noise directions, centered": {"n_components": K, "centered": True},
}


def spherical(n: int, variances: str, seeds: range) -> list[list[object]]:
    """Return the mean distance of means, and relative error of variances, of each form."""
    errors: dict[str, list[tuple[float, float]]] = {}
    for seed in seeds:
        sample = make_spherical_gaussians(
            n, D, K, variances=1.0 if variances == "shared" else OWN, random_state=seed
        )
        for form, options in FORMS.items():
            moments = SphericalGaussianMoments.from_data(sample.X, variances=variances, **options)
            found = spherical_gaussian_parameters(moments, sidiwo(moments, K))
            order = match_components(found.centers.T, sample.means, "l2")
            if (order < 0).any():
                continue
            distances = np.linalg.norm(found.centers.T[order] - sample.means, axis=1)
            ratios = found.variances[order] / sample.variances
            errors.setdefault(form, []).append((distances.mean(), np.abs(ratios - 1.0).mean()))
        groups = [sample.X[sample.labels == j] for j in range(K)]
        known = np.stack([group.mean(axis=0) for group in groups])
        spread = np.array([np.var(group - group.mean(axis=0)) for group in groups])
        distance = np.linalg.norm(known - sample.means, axis=1).mean()
        ratio = np.abs(spread / sample.variances - 1.0).mean()
        errors.setdefault("known components", []).append((distance, ratio))
    return [
        [form, *(mean_se(np.array(values)[:, i], ".2g") for i in (0, 1))]
        for form, values in errors.items()
    ]


def lines(n: int, d: int, k: int, seed: int) -> tuple[Floats, NDArray[np.intp]]:
    """Draw ellipsoids around the origin in random directions."""
    rng = np.random.default_rng(seed)
    axes = np.array([np.linalg.qr(rng.normal(size=(d, d)))[0][0] for _ in range(k)])
    labels = rng.integers(k, size=n)
    return 0.1 * rng.normal(size=(n, d)) + rng.normal(size=(n, 1)) * axes[labels], labels


def crossing(n: int, d: int, k: int, seeds: range) -> list[object]:
    """Return how much lower than from the truth EM ends, from each kind of start."""
    from sklearn.mixture import GaussianMixture as Peer

    lost: dict[str, list[float]] = {"moments": [], "groups": [], "peer": []}
    for seed in seeds:
        X, labels = lines(n, d, k, seed)
        X /= X.std(axis=0)
        parts = [X[labels == j] for j in range(k)]
        truth = Peer(
            k,
            weights_init=np.bincount(labels, minlength=k) / n,
            means_init=[part.mean(axis=0) for part in parts],
            precisions_init=[np.linalg.inv(np.cov(part.T)) for part in parts],
        ).fit(X)
        best = truth.score(X)
        for start in ("moments", "groups"):
            lost[start].append(best - GaussianMixture(k, start=start).fit(X).score(X))
        lost["peer"].append(best - Peer(k, n_init=10, random_state=seed).fit(X).score(X))
    return [d, k, *(f"{max(values):.3f}" for values in lost.values())]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--samples", type=int, nargs="+", default=[1000, 10_000])
    arguments = parser.parse_args()
    seeds = range(arguments.seeds)
    print(environment())
    for n in arguments.samples:
        for variances in ("shared", "own"):
            print(f"\n{n:,} samples, {variances} variances\n")
            print(table(["form", "means", "variances"], spherical(n, variances, seeds)))
    print("\ncrossing, 1,000 samples: largest loss\n")
    rows = [crossing(1000, d, k, seeds) for d, k in ((2, 2), (2, 3), (3, 3), (5, 5), (10, 4))]
    print(table(["d", "k", "moments", "groups", "scikit-learn, ten starts"], rows))


if __name__ == "__main__":
    main()
