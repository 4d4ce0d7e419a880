"""Is a mixture of regressions from moments and growth as likely as the best of ten random starts?

Samples with random slopes, intercepts and inputs of different scales; EM from ten random
responsibilities with the same tolerance. The table has the share of samples in which the
log-likelihood is at least that of the best random start (less 0.001 nats a row), the mean
difference in nats a row, the share of samples in which EM from the moments ends as high as from
growth, and the seconds of processor time.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from _common import environment, table

from momentree import MixtureOfRegressions
from momentree.refinement.regressions import RegressionData, em_regressions

SETTINGS = ((2, 2, 300), (2, 2, 3000), (3, 3, 1000), (5, 3, 3000), (10, 3, 3000), (5, 5, 3000))
RESTARTS = 10


def measure(d: int, k: int, n: int, seeds: int) -> list[str]:
    """Return a row of the table."""
    wins, gains, by_moments = 0, [], 0
    seconds = np.zeros(2)
    for seed in range(seeds):
        rng = np.random.default_rng([seed, d, k, n])
        slopes, intercepts = 2 * rng.normal(size=(k, d)), 2 * rng.normal(size=k)
        X, h = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, size=d), rng.integers(k, size=n)
        y = intercepts[h] + (X * slopes[h]).sum(axis=1) + 0.5 * rng.normal(size=n)
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MixtureOfRegressions(k).fit(X, y)
        middle = time.process_time()
        design = np.column_stack([np.ones(n), X])
        data = RegressionData(design, y, np.ones(n), 1e-6 * float(y.var()), shared=False)
        best = max(
            em_regressions(
                data, data.maximize(rng.dirichlet(np.ones(k), n)), max_iter=1000, tol=1e-7
            ).log_likelihood
            for _ in range(RESTARTS)
        )
        seconds += np.array([middle - begin, time.process_time() - middle]) / seeds
        gain = float(model.log_density(X, y).sum() - best) / n
        gains.append(gain)
        wins += gain >= -1e-3
        reached = model.diagnostics_["log_likelihoods"].get("moments", -np.inf)
        by_moments += reached >= max(model.diagnostics_["log_likelihoods"].values()) - 1e-3 * n
    row = [f"{wins / seeds:.0%}", f"{np.mean(gains):+.3f}", f"{by_moments / seeds:.0%}"]
    return [str(d), str(k), str(n), *row, *(f"{value:.2f}" for value in seconds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    print(environment())
    rows = [measure(d, k, n, options.seeds) for d, k, n in SETTINGS]
    header = ("d", "k", "n", "at least", "nats a row", "moments", "ours, s", "random, s")
    print(table(header, rows))


if __name__ == "__main__":
    main()
