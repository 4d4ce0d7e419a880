"""Does `MixedMixture` reach the likelihood of StepMix with ten random starts, and in what time?

Both fit the same families to the same columns: normal with standardized columns, Bernoulli and
categorical, with the same smallest variance, 1e-6. Whole numbers get uniform noise of one unit:
momentree gives rounded numbers no less variance than rounding causes, so StepMix alone would gain
from components of equal values. Simulated tables have four columns of each kind; the others are
samples of statsmodels. Differences of log-likelihoods are in nats, of all samples. Requires
`stepmix`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from _common import environment, table

from momentree import MixedMixture

KINDS = ("number", "yes_no", "category")
NAMES = {"number": "gaussian_diag", "yes_no": "binary", "category": "categorical"}
CATEGORIES = {
    "fair": ["rate_marriage", "children", "religious", "educ", "occupation", "occupation_husb"],
    "anes96": ["TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "educ", "vote"],
    "modechoice": ["mode", "choice", "psize"],
}


def simulated(n: int, k: int, seed: int) -> pd.DataFrame:
    """Draw a mixture with four columns of each kind."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, size=n, p=rng.dirichlet(np.full(k, 5.0)))
    columns: dict[str, Any] = {}
    for i in range(4):
        columns[f"n{i}"] = rng.normal(rng.normal(size=k)[y], rng.uniform(0.5, 1.5, k)[y])
        columns[f"b{i}"] = (rng.random(n) < rng.beta(0.7, 0.7, k)[y]).astype(float)
        edges = rng.dirichlet(np.ones(4), k).cumsum(axis=1)[y, :3]
        columns[f"c{i}"] = (rng.random((n, 1)) > edges).sum(axis=1).astype(float)
    return pd.DataFrame(columns)


def kinds_of(frame: pd.DataFrame, categories: list[str]) -> dict[str, str]:
    """Return the kind of each column: categories of two values are yes/no."""
    two = {name for name in categories if frame[name].nunique() == 2}
    return {
        name: "yes_no" if name in two else "category" if name in categories else "number"
        for name in frame
    }


def tables(quick: bool) -> Iterator[tuple[str, pd.DataFrame, dict[str, str]]]:
    """Yield name, standardized columns and their kinds."""
    for n, k, seed in ((500, 3, 0), (2000, 5, 1), (1000, 8, 2))[: 1 if quick else 3]:
        frame = simulated(n, k, seed)
        yield f"simulated, k = {k}", *standardized(frame, [c for c in frame if c[0] != "n"])
    if quick:
        return
    import statsmodels.datasets as known

    for name, categories in CATEGORIES.items():
        frame = getattr(known, name).load_pandas().data.dropna()
        yield name, *standardized(frame, categories)


def standardized(frame: pd.DataFrame, categories: list[str]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return numbers of mean 0 and variance 1, codes of categories from 0, and kinds."""
    kinds = kinds_of(frame, categories)
    frame, rng = frame.copy(), np.random.default_rng(0)
    for name, kind in kinds.items():
        if kind == "number":
            if (frame[name] == frame[name].round()).all():
                frame[name] += rng.uniform(-0.5, 0.5, len(frame))
            frame[name] = (frame[name] - frame[name].mean()) / frame[name].std(ddof=0)
        else:
            frame[name] = np.unique(frame[name], return_inverse=True)[1]
    varies = [name for name in frame if len(np.unique(frame[name])) > 1]
    return frame[varies], {name: kinds[name] for name in varies}


def stepmix(frame: pd.DataFrame, kinds: dict[str, str], k: int, starts: int) -> float:
    """Return the log-likelihood of the best of some random starts."""
    from stepmix import StepMix
    from stepmix.utils import get_mixed_descriptor

    groups = {NAMES[kind]: [c for c in frame if kinds[c] == kind] for kind in KINDS}
    X, descriptor = get_mixed_descriptor(frame, **{m: c for m, c in groups.items() if c})
    model = StepMix(
        k, measurement=descriptor, n_init=starts, random_state=0, verbose=0, progress_bar=0
    )
    return float(model.fit(X).score(X) * len(X))


def ours(frame: pd.DataFrame, kinds: dict[str, str], k: int) -> float:
    """Return the log-likelihood of a mixture without random starts."""
    return MixedMixture(k, kinds=kinds).fit(frame).lower_bound_ * len(frame)


def timed(fit: Callable[[], float]) -> tuple[float, float]:
    """Return the result of a function and its processor time in seconds."""
    start = time.process_time()
    found = fit()
    return found, time.process_time() - start


def compare(quick: bool, starts: int) -> list[list[str]]:
    """Return the rows of the table."""
    rows = []
    for name, frame, kinds in tables(quick):
        for k in (2,) if quick else (2, 4, 8):
            mine, own = timed(lambda: ours(frame, kinds, k))  # noqa: B023
            theirs, other = timed(lambda: stepmix(frame, kinds, k, starts))  # noqa: B023
            rows.append(
                [name, str(k), f"{mine:.1f}", f"{mine - theirs:+.1f}", f"{own / other:.2f}"]
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small table")
    parser.add_argument("--starts", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(environment())
    header = ["table", "k", "log-likelihood", "minus StepMix", "time / StepMix"]
    print(table(header, compare(options.quick, options.starts)))


if __name__ == "__main__":
    main()
