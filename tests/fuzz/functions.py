"""Odd arguments for public functions: refused with a message, or answered with finite numbers."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import seeds
from .arrays import VALUES, described, odd_matrix, odd_vector
from .estimators import checked

NUMBERS: tuple[Any, ...] = (
    *(-1, 0, 1, 2, 3, 7, 100, -1.0, 0.0, 0.05, 0.5, 1.0, 2.5, 1e-300, 1e300, True, False, None),
    *(float("nan"), float("inf"), float("-inf"), np.int64(3), np.float32(0.5), np.bool_(True)),
)
"""None is large, which would only take long."""

Call = tuple[Callable[..., Any], dict[str, Any]]


@cache
def calls() -> dict[str, Call]:
    """Return public functions by name, each with valid arguments."""
    import momentree as mt
    from momentree import datasets, metrics, moments

    X = seeds.counts().astype(float)
    n, d = X.shape
    words = seeds.vocabulary()
    labels = np.arange(n) % 3
    outcome = np.array(["no", "yes"])[(np.arange(n) // 3) % 2]
    weights = np.array([0.5, 0.3, 0.2])
    means = np.abs(np.sin(np.arange(3 * d).reshape(3, d) + 1.0)) * 0.8 + 0.1
    topics = means / means.sum(axis=1, keepdims=True)
    weighted: dict[str, Any] = {"X": X, "sample_weight": np.linspace(0.5, 1.5, n)}
    w2, ids = np.array([0.6, 0.4]), list(map(str, range(n)))
    names = np.array(words, dtype=object)
    corpus = datasets.Corpus(X=sp.csr_array(X), vocabulary=names, ids=ids, labels=None)
    ones = {**weighted, "X": (X > 0).astype(float)}
    tops = np.array([[0, 1, 2], [3, 4, 5]])
    found: dict[str, Call] = {
        "choose_n_components": (
            mt.choose_n_components,
            {**weighted, "model": "single-topic", "candidates": [1, 2, 3], "random_state": 0},
        ),
        "relevance": (
            metrics.relevance,
            {"components": topics, "word_distribution": weights @ topics, "lam": 0.7},
        ),
        "umass_coherence": (metrics.umass_coherence, {"top_words": tops, "X": X}),
        "npmi_coherence": (metrics.npmi_coherence, {"top_words": tops, "X": X}),
        "match_components": (
            metrics.match_components,
            {"found": topics, "truth": topics[::-1], "metric": "l1"},
        ),
        "recovery_error": (metrics.recovery_error, {"found": topics, "truth": topics}),
        "stability_score": (
            metrics.stability_score,
            {"labels_a": labels, "labels_b": labels[::-1], "ids_a": ids, "ids_b": ids},
        ),
        "group_profiles": (
            metrics.group_profiles,
            {
                **ones,
                "labels": labels,
                "n_groups": 3,
                "proba": np.eye(3)[labels],
                "confidence": 0.9,
            },
        ),
        "bivariate_residuals": (
            metrics.bivariate_residuals,
            {**ones, "proba": np.eye(3)[labels], "columns": [0, 1, 2], "min_cell": 2},
        ),
        "outcome_rates": (
            metrics.outcome_rates,
            {"labels": labels, "outcome": outcome, "n_groups": 3, "confidence": 0.9},
        ),
        "predictive_accuracy": (
            metrics.predictive_accuracy,
            {"labels": labels, "outcome": outcome, "cv": 3, "random_state": 0},
        ),
        "classification_table": (
            metrics.classification_table,
            {"labels": labels, "proba": np.full((len(labels), 3), 0.1) + 0.7 * np.eye(3)[labels]},
        ),
        "corrected_outcome": (
            metrics.corrected_outcome,
            {
                "labels": labels,
                "proba": np.full((len(labels), 3), 0.1) + 0.7 * np.eye(3)[labels],
                "outcome": outcome,
                "confidence": 0.9,
            },
        ),
        "corrected_covariates": (
            metrics.corrected_covariates,
            {
                "labels": labels,
                "proba": np.full((len(labels), 3), 0.1) + 0.7 * np.eye(3)[labels],
                "covariates": {"z": np.arange(len(labels)) % 7 + 0.0},
                "reference": 1,
            },
        ),
        "compare_fits": (
            mt.models.compare_fits,
            {"X": ones["X"], "estimator": mt.ClusterTree(3), "candidates": [2, 1], "stability": 0},
        ),
        "bootstrap_groups": (
            metrics.bootstrap_groups,
            {**ones, "estimator": mt.ClusterTree(3), "n_bootstrap": 3, "confidence": 0.9},
        ),
        "single_topic_moments": (
            moments.SingleTopicMoments.from_data,
            {**weighted, "weighting": "length", "random_state": 0},
        ),
        "lda_moments": (
            moments.LDAMoments.from_data,
            {**weighted, "alpha0": 1.0, "weighting": "uniform"},
        ),
        "poisson_moments": (moments.PoissonMoments.from_data, weighted),
        "bernoulli_moments": (moments.BernoulliMoments.from_data, ones),
        "raw_moments": (moments.RawMoments.from_data, weighted),
        "spherical_gaussian_moments": (
            moments.SphericalGaussianMoments.from_data,
            {**weighted, "n_components": 3, "variances": "own", "centered": True},
        ),
        "hmm_moments": (
            moments.HMMMoments.from_data,
            {"X": X[:, :1] % 4, "lengths": np.full(4, n // 4), "n_components": 2, "n_symbols": 4},
        ),
        "hmm_parameters": (
            moments.HMMMoments.from_parameters,
            {"startprob": w2, "transmat": np.eye(2), "emissionprob": topics[:2], "length": 3},
        ),
        "gaussian_parameters": (
            moments.SphericalGaussianMoments.from_parameters,
            {"weights": weights, "means": means, "variances": weights},
        ),
        "multiview_moments": (
            moments.MultiviewMoments.from_data,
            {"views": [X[:, :6], X[:, 6:12], X[:, 12:]], "n_components": 2},
        ),
        "topic_parameters": (
            moments.SingleTopicMoments.from_parameters,
            {"weights": weights, "components": topics},
        ),
        "bernoulli_bias": (moments.bernoulli_bias, {"weights": weights, "means": means}),
        "moment_error_bound": (
            moments.moment_error_bound,
            {"lengths": X.sum(axis=1), "delta": 0.1, "order": 2, "version": "paper"},
        ),
        "required_samples": (
            moments.required_samples,
            {"epsilon": 0.1, "delta": 0.1, "length": 10, "order": 3},
        ),
        "perturbation_bound": (
            mt.decomposition.svtd_perturbation_bound,
            {"weights": weights, "components": topics, "epsilon": 1e-6, "feature": 1},
        ),
        "make_single_topic": (
            datasets.make_single_topic,
            {"n_samples": 9, "n_features": 7, "n_components": 2, "length": 5, "weights": w2},
        ),
        "make_lda": (
            datasets.make_lda,
            {"n_samples": 9, "n_features": 7, "n_components": 2, "alpha": w2, "length": 5},
        ),
        "make_poisson_mixture": (
            datasets.make_poisson_mixture,
            {"n_samples": 9, "n_features": 7, "n_components": 2, "total": 5.0, "weights": w2},
        ),
        "make_bernoulli_mixture": (
            datasets.make_bernoulli_mixture,
            {
                "n_samples": 9,
                "n_features": 9,
                "n_components": 3,
                "means": means[:, :9],
                "weights": weights,
            },
        ),
        "make_spherical_gaussians": (
            datasets.make_spherical_gaussians,
            {"n_samples": 9, "n_features": 4, "n_components": 2, "weights": w2, "variances": 0.5},
        ),
        "make_hmm": (
            datasets.make_hmm,
            {"n_sequences": 9, "length": 5, "n_states": 2, "n_symbols": 4, "startprob": w2},
        ),
        "make_patient_records": (
            datasets.make_patient_records,
            {"n_samples": 20, "n_codes": 40, "n_groups": 3, "codes_per_record": 4.0},
        ),
        "vectorize": (
            datasets.vectorize,
            {
                "documents": [doc["text"] for doc in seeds.documents()],
                "language": "en",
                "stop_words": (),
                "min_df": 1,
                "max_df": 0.9,
                "max_features": 10,
                "token_pattern": r"[a-z]+",
                "lowercase": True,
            },
        ),
        "filter_vocabulary": (
            datasets.filter_vocabulary,
            {"corpus": corpus, "min_df": 1, "max_df": 0.9, "max_features": 10, "stop_words": ()},
        ),
        "align_columns": (datasets.align_columns, {"corpus": corpus, "vocabulary": words[::-1]}),
        "make_hospital_visits": (datasets.make_hospital_visits, {"n_samples": 20}),
        "code_titles": (datasets.code_titles, {"codes": seeds.CODE_NAMES, "system": "icd9"}),
        "roll_up": (datasets.roll_up, {"codes": seeds.CODE_NAMES, "system": "icd9"}),
        "summarize": (
            mt.report.summarize,
            {
                "estimator": mt.TopicTree(3).fit(X, feature_names=words),
                "X": X,
                "ids": ids,
                "texts": ids,
                "labels": ids,
                "order": np.arange(n),
                "title": "T",
                "n_words": 5,
                "n_documents": 2,
            },
        ),
        "plot_tree": (
            mt.report.plot_tree,
            {"estimator": mt.TopicTree(3).fit(X), "n_words": 3, "lam": 0.6, "fontsize": 9.0},
        ),
        "plot_topic_proportions": (
            mt.report.plot_topic_proportions,
            {"model_or_proportions": np.eye(3)[labels], "order": np.arange(n)},
        ),
    }
    found |= _of_sources_and_regressions(X)
    exact = moments.SingleTopicMoments.from_parameters(weights, topics)
    for name in ("als", "eigendecomposition", "jennrich", "random_projections", "sidiwo"):
        arguments = {"moments": exact, "n_components": 3, "random_state": 0}
        found[name] = (getattr(mt.decomposition, name), arguments)
    for name in ("svd_method", "svtd", "tensor_power_method"):
        sampled = moments.SingleTopicMoments.from_data(X)
        arguments = {"moments": sampled, "n_components": 3, "random_state": 0}
        found[name] = (getattr(mt.decomposition, name), arguments)
    return found


def _of_sources_and_regressions(X: np.ndarray) -> dict[str, Call]:
    """Return functions of real-valued data, each with valid arguments."""
    import momentree as mt
    from momentree import decomposition, distributions, metrics, moments

    n = len(X)
    Z, y, v = np.log1p(X[:, :4]) + np.arange(4), np.cos(np.arange(n)), np.linspace(0.5, 1.5, n)
    A, w = np.array([[1.0, 2.0], [3.0, 1.0], [0.5, -1.0]]), np.array([0.6, 0.4])
    tensor = np.zeros((2, 2, 2))
    tensor[0, 0, 0] = tensor[1, 1, 1] = 1.0

    def separate(X: Any, sample_weight: Any, **parameters: Any) -> None:
        model = mt.IndependentComponents(**parameters).fit(X, sample_weight=sample_weight)
        assert np.isfinite(model.transform(X)).all()

    def regress(X: Any, y: Any, sample_weight: Any, **parameters: Any) -> None:
        model = mt.MixtureOfRegressions(**parameters).fit(X, y, sample_weight=sample_weight)
        assert np.isfinite(model.predict(X)).all()
        assert np.isfinite(model.log_density(X, y)).all()

    many: dict[str, Any] = {"X": Z, "sample_weight": v}
    found: dict[str, Call] = {
        "independent_components": (separate, {**many, "n_components": 3, "tol": 1e-5}),
        "mixture_of_regressions": (regress, {**many, "y": y, "n_components": 2, "tol": 1e-5}),
        "ica_moments": (moments.ICAMoments.from_data, {**many, "n_components": 3}),
        "ica_parameters": (moments.ICAMoments.from_parameters, {"mixing": A, "kurtoses": w}),
        "regression_moments": (moments.RegressionMoments.from_data, {**many, "y": y}),
        "regression_parameters": (
            moments.RegressionMoments.from_parameters,
            {"weights": w, "coefs": A.T},
        ),
        "jade": (
            decomposition.jade,
            {"moments": moments.ICAMoments.from_parameters(A, w), "max_iter": 9},
        ),
        "identifiability": (
            decomposition.identifiability,
            {"centers": A, "weights": w, "tol": 1e-9},
        ),
        "orthogonal_defect": (decomposition.orthogonal_defect, {"T": tensor}),
        "amari_distance": (metrics.amari_distance, {"components": A.T, "mixing": A}),
        "fit_multivariate_normal": (distributions.fit_multivariate_normal, many),
        "from_moments": (
            distributions.from_moments,
            {"distribution": "binomial", "m1": 3.0, "m2": 11.1},
        ),
    }
    x = 1.0 + np.arange(n) % 3
    for name in ("normal", "binomial", "poisson", "gamma", "uniform"):
        found[f"fit_{name}"] = (
            getattr(distributions, f"fit_{name}"),
            {"x": x, "sample_weight": v},
        )
    return found


@dataclass(frozen=True)
class Functions:
    """All public functions, one per input."""

    def run(self, rng: random.Random, folder: Path, *, valid: bool) -> str:
        """Call a function with odd arguments; for the valid input, all with valid ones."""
        if valid:
            for function, arguments in calls().values():
                function(**arguments)
            return "accepted"
        function, arguments = calls()[name := rng.choice(list(calls()))]
        given = {key: _copied(value) for key, value in arguments.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for key in rng.sample(sorted(given), min(len(given), rng.choice((1, 1, 2)))):
                given[key] = _odd(rng, given[key])
            text = f"{name}\n{described(given)}"
            (folder / "arguments.txt").write_text(text, "utf-8", "replace")
            return checked(partial(function, **given))


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _odd(rng: random.Random, value: Any) -> Any:
    """Return an odd value of the same kind as a valid argument."""
    if isinstance(value, np.ndarray) and value.ndim == 2:
        return odd_matrix(rng, value)
    if isinstance(value, np.ndarray):
        if rng.random() < 0.5 or value.dtype.kind == "U":
            return odd_vector(rng, len(value))
        changed = value.astype(float)
        changed[rng.randrange(len(value))] = rng.choice(VALUES)
        return changed
    if isinstance(value, list) and isinstance(value[0], np.ndarray):
        i = rng.randrange(len(value))
        return [*value[:i], odd_matrix(rng, value[i]), *value[i + 1 :]][: rng.choice((2, 3, 3))]
    if isinstance(value, list):
        first = rng.choice(("", "\ud800", "\x1b[31m\0", "a" * 9999, value[-1]))
        odd = (value[:-1], [*value, value[0]], [first, *value[1:]], [first] * len(value), [])
        return rng.choice((*odd, tuple(value), np.array(value), np.array(value, dtype=object)))
    if isinstance(value, bool) or value is None:
        return rng.choice((True, False, None))
    if isinstance(value, int | float):
        return rng.choice(NUMBERS)
    if isinstance(value, str):
        return rng.choice(("", "x", "em", "\ud800", "a" * 9999, "[", "uniform", "gibbs"))
    return value
