"""Metrics: coherence, recovery, stability, trees, profiles of groups, outcomes, covariates."""

from momentree.metrics.covariates import CorrectedCovariates, corrected_covariates
from momentree.metrics.groups import (
    GroupProfiles,
    bivariate_residuals,
    group_profiles,
)
from momentree.metrics.outcomes import (
    OutcomeRates,
    PredictivePower,
    outcome_rates,
    predictive_accuracy,
)
from momentree.metrics.recovery import (
    amari_distance,
    dendrogram_purity,
    match_components,
    recovery_error,
)
from momentree.metrics.stability import GroupStability, bootstrap_groups, stability_score
from momentree.metrics.three_step import (
    Classification,
    CorrectedOutcome,
    classification_table,
    corrected_outcome,
)
from momentree.metrics.words import npmi_coherence, relevance, umass_coherence

__all__ = [
    "Classification",
    "CorrectedCovariates",
    "CorrectedOutcome",
    "GroupProfiles",
    "GroupStability",
    "OutcomeRates",
    "PredictivePower",
    "amari_distance",
    "bivariate_residuals",
    "bootstrap_groups",
    "classification_table",
    "corrected_covariates",
    "corrected_outcome",
    "dendrogram_purity",
    "group_profiles",
    "match_components",
    "npmi_coherence",
    "outcome_rates",
    "predictive_accuracy",
    "recovery_error",
    "relevance",
    "stability_score",
    "umass_coherence",
]
