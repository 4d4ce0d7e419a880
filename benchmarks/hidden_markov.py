"""How close do hidden Markov models come to Baum-Welch from the truth and from random starts?

Random models (Dirichlet emissions and transitions) with symbols. "ours" is CategoricalHMM with its
defaults, "truth" Baum-Welch from the true parameters, "random" the best of several random starts of
the package hmmlearn, if it is installed. Errors are mean L1 distances of the rows of the
transitions and of the emissions, with states matched; times are seconds of the processor. `--short`
measures short sequences instead: the log-likelihood of CategoricalHMM minus that of the best of ten
random starts of Baum-Welch with the same smoothing, in nats for all sequences.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import time
from typing import Any

import numpy as np
from _common import environment, mean_se, table
from scipy.optimize import linear_sum_assignment

from momentree import CategoricalHMM
from momentree.backends.sequences import sequence_blocks
from momentree.datasets import HMMSample, make_hmm
from momentree.objects.hidden_markov import CategoricalEmissions, HMMParameters
from momentree.refinement.hidden_markov import BaumWelch

SHORT = ((2, 30, 133, 5), (3, 20, 500, 4), (4, 15, 300, 6), (5, 40, 200, 8))
"""States, symbols, sequences and length of short sequences."""
HEADER = ["method", "seed", "log-likelihood", "transitions", "emissions", "seconds"]


def errors(transmat: Any, emissionprob: Any, data: HMMSample) -> list[str]:
    """Return the errors of the transitions and of the emissions."""
    cost = np.abs(emissionprob[:, None] - data.emissionprob).sum(axis=2)
    at = linear_sum_assignment(cost.T)[1]
    moves = np.abs(transmat[np.ix_(at, at)] - data.transmat).sum(axis=1).mean()
    return [f"{moves:.3f}", f"{cost[at, np.arange(len(at))].mean():.3f}"]


def ours(data: HMMSample, k: int) -> list[str]:
    """Return the row of CategoricalHMM."""
    start = time.process_time()
    model = CategoricalHMM(k).fit(data.X, data.lengths)
    seconds = time.process_time() - start
    found = errors(model.transmat_, model.emissionprob_, data)
    return [f"{model.log_likelihood_:.1f}", *found, f"{seconds:.1f}"]


def truth(data: HMMSample, k: int) -> list[str]:
    """Return the row of Baum-Welch from the true parameters."""
    lengths = data.lengths.astype(np.intp)
    emissions = CategoricalEmissions(np.asarray(data.emissionprob))
    start = time.process_time()
    learner = BaumWelch(sequence_blocks(lengths, np.zeros(len(lengths)), k), data.X[:, 0])
    found = learner.run(HMMParameters(data.startprob, data.transmat, emissions), tol=1e-9)
    seconds = time.process_time() - start
    p = found.parameters
    both = errors(p.transmat, p.emissions.probabilities, data)
    return [f"{found.log_likelihood:.1f}", *both, f"{seconds:.1f}"]


def random(data: HMMSample, k: int, n_starts: int, n_iter: int) -> list[str]:
    """Return the row of the best of several random starts of hmmlearn."""
    from hmmlearn.hmm import CategoricalHMM as Peer

    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    start = time.process_time()
    models = [
        Peer(k, n_iter=n_iter, random_state=seed).fit(data.X, data.lengths)
        for seed in range(n_starts)
    ]
    seconds = time.process_time() - start
    best = max(models, key=lambda model: model.score(data.X, data.lengths))
    value = best.score(data.X, data.lengths)
    both = errors(best.transmat_, best.emissionprob_, data)
    return [f"{value:.1f}", *both, f"{seconds:.1f}"]


def measure(
    data: HMMSample, k: int, seed: int, n_starts: int = 10, n_iter: int = 100
) -> list[list[str]]:
    """Return one row for each method."""
    rows = [["ours", str(seed), *ours(data, k)], ["truth", str(seed), *truth(data, k)]]
    if importlib.util.find_spec("hmmlearn"):
        rows.append(["random", str(seed), *random(data, k, n_starts, n_iter)])
    return rows


def gain_over_starts(data: HMMSample, k: int, d: int, n_starts: int) -> float:
    """Return our log-likelihood minus that of the best of several random starts."""
    model = CategoricalHMM(k, n_features=d).fit(data.X, data.lengths)
    lengths = data.lengths.astype(np.intp)
    blocks = sequence_blocks(lengths, np.zeros(len(lengths)), k)
    learner, best = BaumWelch(blocks, data.X[:, 0], model.smoothing), -np.inf
    for seed in range(n_starts):
        rng = np.random.default_rng(seed)
        emissions = CategoricalEmissions(rng.dirichlet(np.ones(d), k))
        start = HMMParameters(rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), k), emissions)
        best = max(best, learner.run(start, tol=1e-9).log_likelihood)
    return model.log_likelihood_ - best


def short(seeds: range, n_starts: int) -> list[list[str]]:
    """Return a row for each size of short sequences: the mean gain over seeds, and the worst."""
    rows = []
    for k, d, n, length in SHORT:
        samples = [make_hmm(n, length, k, n_symbols=d, random_state=seed) for seed in seeds]
        gains = [gain_over_starts(data, k, d, n_starts) for data in samples]
        worst = f"{min(gains):+.2f}"
        rows.append([str(k), str(d), str(n), str(length), mean_se(gains, "+.2f"), worst])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3, help="number of models")
    parser.add_argument("--sequences", type=int, default=2000)
    parser.add_argument("--length", type=int, default=50)
    parser.add_argument("--states", type=int, default=5)
    parser.add_argument("--symbols", type=int, default=20)
    parser.add_argument("--concentration", type=float, default=0.3)
    parser.add_argument("--stickiness", type=float, default=0.5)
    parser.add_argument("--starts", type=int, default=10, help="random starts")
    parser.add_argument("--iterations", type=int, default=100, help="of each random start")
    parser.add_argument("--short", action="store_true", help="short sequences")
    parser.add_argument("--first", type=int, default=0, help="with --short: the first seed")
    options = parser.parse_args()
    print(environment())
    if options.short:
        rows = short(range(options.first, options.first + options.seeds), options.starts)
        print(table(("states", "symbols", "sequences", "length", "gain", "worst"), rows))
        return
    rows = []
    for seed in range(options.seeds):
        data = make_hmm(
            options.sequences,
            options.length,
            options.states,
            n_symbols=options.symbols,
            concentration=options.concentration,
            stickiness=options.stickiness,
            random_state=seed,
        )
        rows += measure(data, options.states, seed, options.starts, options.iterations)
    print(table(HEADER, rows))


if __name__ == "__main__":
    main()
