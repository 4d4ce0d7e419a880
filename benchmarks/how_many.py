"""How often does each criterion find the true number of topics?

Documents are drawn from known numbers of topics in several settings, one with bursty words and
three with documents that mix topics. For each model, the first table contains the share of samples
for which a criterion finds the true number exactly; the second contains, by true number, the mean
answer and how often its interval contains the truth. Labeled corpora follow; their classes are
only a rough guide to the number of topics.

Records follow, of known numbers of groups in which items are independent or not: how many groups
has the lowest BIC, and what do the residuals of pairs of items say? At last groups of codes: how
many leaves does AIC3 keep, and how well do they, and eight leaves, agree with the true groups?
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from _common import CORPORA, Labeled, environment, load_all, mean_se, table
from sklearn.metrics import adjusted_rand_score

from momentree import BernoulliMixture, ClusterTree
from momentree.datasets import make_bernoulli_mixture, make_lda, make_single_topic
from momentree.metrics import bivariate_residuals
from momentree.models import ComponentChoice, choose_n_components

CRITERIA = ("completion", "spectrum")
COMBINED = "together"
COUNTS = (1, 3, 5, 10, 20)


@dataclass(frozen=True)
class Setting:
    """A distribution of documents.

    Attributes
    ----------
    name : str
        Name in the tables.
    n, d, length : int
        Number of documents, of words in the vocabulary and of words per document.
    concentration : float
        Dirichlet concentration of the topics; 1 makes them more similar than 0.5.
    even : bool
        Whether topics have equal weights; otherwise weights fall as rank^-0.7.
    bursts : float
        Concentration of the words of a document around its topic; infinite for no bursts.
    alpha0 : float or None
        Total concentration of topic proportions; None draws one topic per document.
    """

    name: str
    n: int
    d: int
    length: int
    concentration: float = 0.5
    even: bool = False
    bursts: float = np.inf
    alpha0: float | None = None

    @property
    def model(self) -> Literal["single-topic", "lda"]:
        """The model that the documents are drawn from."""
        return "single-topic" if self.alpha0 is None else "lda"

    def draw(self, k: int, seed: int) -> Any:
        """Return counts of shape (n, d) from k topics."""
        if self.alpha0 is not None:
            return make_lda(
                self.n, self.d, k, alpha=self.alpha0, length=self.length, random_state=seed
            ).X
        w = np.ones(k) if self.even else np.arange(1, k + 1) ** -0.7
        sample = make_single_topic(
            self.n,
            self.d,
            k,
            length=self.length,
            weights=w / w.sum(),
            concentration=self.concentration,
            random_state=seed,
        )
        if np.isinf(self.bursts):
            return sample.X
        rng = np.random.default_rng(seed)
        p = rng.standard_gamma(self.bursts * sample.components[sample.labels] + 1e-9)
        return sp.csr_array(rng.multinomial(self.length, p / p.sum(axis=1, keepdims=True)))


SETTINGS = (
    Setting("500 x 300, 50 words, even", 500, 300, 50, even=True),
    Setting("2,000 x 1,000, 100 words, even", 2000, 1000, 100, even=True),
    Setting("2,000 x 1,000, 100 words", 2000, 1000, 100),
    Setting("5,000 x 3,000, 60 words", 5000, 3000, 60),
    Setting("1,000 x 2,000, 200 words, similar", 1000, 2000, 200, 1.0),
    Setting("3,000 x 100, 30 words", 3000, 100, 30),
    Setting("5,000 x 1,000, 20 words, similar", 5000, 1000, 20, 1.0),
    Setting("2,000 x 1,000, 100 words, bursty", 2000, 1000, 100, bursts=200.0),
    Setting("2,000 x 500, 100 words, alpha_0 = 0.3", 2000, 500, 100, alpha0=0.3),
    Setting("2,000 x 500, 100 words, alpha_0 = 1", 2000, 500, 100, alpha0=1.0),
    Setting("2,000 x 500, 100 words, alpha_0 = 3", 2000, 500, 100, alpha0=3.0),
)


def answers(choice: ComponentChoice) -> dict[str, tuple[int, int, int]]:
    """Return the answer and interval of each criterion, and of all combined."""
    return {**choice.by_criterion, COMBINED: (choice.n_components, *choice.interval)}


def measure(
    settings: Iterable[Setting], counts: Sequence[int], n_seeds: int
) -> dict[tuple[str, int], list[dict[str, tuple[int, int, int]]]]:
    """Return the answers for each setting and number of topics, one per seed."""
    return {
        (setting.name, k): [
            answers(choose_n_components(setting.draw(k, s), model=setting.model))
            for s in range(n_seeds)
        ]
        for setting in settings
        for k in counts
    }


def rows(found: dict[tuple[str, int], list[dict[str, tuple[int, int, int]]]]) -> list[list[str]]:
    """Return the share of right answers by criterion: one row per setting, one for all."""
    names = list(dict.fromkeys(name for name, _ in found))
    out = []
    for name in [*names, "all"]:
        some = [(k, one) for (n, k), seeds in found.items() for one in seeds if name in (n, "all")]
        out.append([name, *(_right(some, criterion) for criterion in (*CRITERIA, COMBINED))])
    return out


def rows_by_count(
    found: dict[tuple[str, int], list[dict[str, tuple[int, int, int]]]],
) -> list[list[str]]:
    """Return shares of right answers, mean answers and coverage by true number."""
    out = []
    for k in dict.fromkeys(k for _, k in found):
        some = [(k, one) for (_, truth), seeds in found.items() if truth == k for one in seeds]
        for criterion in (*CRITERIA, COMBINED):
            said = [one[criterion] for _, one in some if criterion in one]
            if not said:
                continue
            inside = [float(low <= k <= high) for _, low, high in said]
            mean = mean_se([float(v[0]) for v in said])
            cover = mean_se(inside)
            out.append([str(k), criterion, _right(some, criterion), mean, cover])
    return out


def _right(some: list[tuple[int, dict[str, tuple[int, int, int]]]], criterion: str) -> str:
    values = [float(one[criterion][0] == k) for k, one in some if criterion in one]
    return mean_se(values, ".2f") if values else ""


def corpus_row(corpus: Labeled, model: Literal["single-topic", "lda"]) -> list[str]:
    """Return the answers for a corpus and the time they took."""
    start = time.perf_counter()
    choice = choose_n_components(corpus.X, model=model)
    seconds = time.perf_counter() - start
    said = answers(choice)
    found = [said.get(name) for name in (*CRITERIA, COMBINED)]
    cells = [f"{one[0]} ({one[1]} to {one[2]})" if one else "" for one in found]
    print(f"{corpus.name}:", choice.reason)
    return [corpus.name, str(corpus.X.shape[0]), str(corpus.n_classes), *cells, f"{seconds:.0f}"]


N_ITEMS = 20
PAIR = (2, 7)
RECORDS = (
    "3 groups, independent items",
    "3 groups, one item is a copy of another in 40% of records",
    "3 groups, and a factor of all items within them",
    "no groups, a factor of all items",
)


def draw_records(name: str, n: int, seed: int) -> tuple[Any, int]:
    """Return records with 20 items, and their number of groups.

    An item is 1 if a normal variable with the mean of its group is positive. A factor is another
    normal variable, of the same variance, that all items of a record share.
    """
    rng = np.random.default_rng(seed)
    k = 1 if name.startswith("no") else 3
    means = 0.8 * np.sign((np.arange(N_ITEMS) % 3 == np.arange(k)[:, None]) - 0.5) * (k > 1)
    z = means[rng.integers(k, size=n)] + rng.standard_normal((n, N_ITEMS))
    if "factor" in name:
        z += rng.standard_normal((n, 1))
    X = (z > 0) * 1.0
    if "copy" in name:
        again = rng.random(n) < 0.4
        X[again, PAIR[1]] = X[again, PAIR[0]]
    return X, k


def record_rows(sizes: Sequence[int], n_seeds: int) -> list[list[str]]:
    """Return the numbers of groups and the largest residuals, one row per setting and size."""
    out = []
    for name in RECORDS:
        for n in sizes:
            found = [_record_answers(*draw_records(name, n, seed)) for seed in range(n_seeds)]
            cells = [mean_se([float(one[key]) for one in found]) for key in found[0]]
            out.append([name, f"{n:,}", *cells])
    return out


def _record_answers(X: Any, k: int) -> dict[str, float]:
    chosen = BernoulliMixture("auto").fit(X)
    tree = ClusterTree("auto", data="binary").fit(X)
    without = BernoulliMixture("auto").fit(np.delete(X, PAIR[1], axis=1))
    at_bic = bivariate_residuals(X, chosen.predict_proba(X))
    at_truth = bivariate_residuals(X, BernoulliMixture(k).fit(X).predict_proba(X))
    place = np.unravel_index(np.nanargmax(at_truth), at_truth.shape)
    return {
        "BIC": len(chosen.weights_),
        "tree": len(np.unique(tree.labels_)),
        "largest, BIC": np.nanmax(at_bic),
        "largest, true number": np.nanmax(at_truth),
        "second, true number": np.sort(at_truth[np.triu_indices(N_ITEMS, 1)])[-2],
        "pair found": place == PAIR,
        "BIC without one item": len(without.weights_),
    }


def code_rows(n_seeds: int) -> list[list[str]]:
    """Return what AIC3 and eight leaves find: one row per shape and number of groups."""
    return [
        [f"{n:,} x {d}", str(k), *_code_answers(n, d, k, n_seeds)]
        for n, d in ((100, 10), (500, 40), (1000, 100), (4000, 300))
        for k in (2, 3, 5)
    ]


def _code_answers(n: int, d: int, k: int, n_seeds: int) -> list[str]:
    numbers, agreements, of_eight = [], [], []
    for seed in range(n_seeds):
        sample = make_bernoulli_mixture(n, d, k, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer than eight leaves
            chosen, eight = (ClusterTree(m, data="binary").fit(sample.X) for m in ("aic3", 8))
        numbers.append(float(chosen.n_leaves_))
        agreements.append(adjusted_rand_score(sample.labels, chosen.labels_))
        of_eight.append(adjusted_rand_score(sample.labels, eight.labels_))
    sizes = " ".join(f"{number:.0f}" for number in numbers)
    return [sizes, mean_se(agreements, ".2f"), mean_se(of_eight, ".2f")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--corpora", nargs="*", default=list(CORPORA))
    parser.add_argument("--models", nargs="*", default=["single-topic", "lda", "records", "codes"])
    options = parser.parse_args()
    print(environment())
    if "records" in options.models:
        print(f"\nrecords: numbers of groups and residuals, {options.seeds} seeds")
        header = ("records", "n", "BIC", "tree", "largest residual", "with the true number")
        more = ("second largest", "the pair is named", "BIC without one of the pair")
        print(table((*header, *more), record_rows((500, 4000), options.seeds)))
    if "codes" in options.models:
        print(f"\ncodes: numbers of groups and agreement (ARI), {options.seeds} seeds")
        header = ("records x codes", "groups", "AIC3", "ARI, AIC3", "ARI, eight leaves")
        print(table(header, code_rows(options.seeds)))
    models = [model for model in options.models if model not in ("records", "codes")]
    corpora = load_all(options.corpora) if models else []
    for model in models:
        some = [setting for setting in SETTINGS if setting.model == model]
        found = measure(some, COUNTS, options.seeds)
        counts = ", ".join(map(str, COUNTS))
        print(f"\n{model}: share right, {options.seeds} seeds of each of k = {counts}")
        print(table(("setting", *CRITERIA, COMBINED), rows(found)))
        print()
        header = ("k", "criterion", "right", "mean answer", "interval contains it")
        print(table(header, rows_by_count(found)))
        print()
        lines = [corpus_row(corpus, model) for corpus in corpora]
        print(table(("corpus", "documents", "classes", *CRITERIA, COMBINED, "seconds"), lines))


if __name__ == "__main__":
    main()
