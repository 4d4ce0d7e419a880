"""How good an answer is: words, recovery, stability, profiles of groups, what they predict."""

from momentree.metrics.groups import GroupProfiles, group_profiles
from momentree.metrics.prediction import (
    OutcomeRates,
    PredictivePower,
    outcome_rates,
    predictive_accuracy,
)
from momentree.metrics.recovery import match_components, recovery_error, stability_score
from momentree.metrics.words import npmi_coherence, relevance, umass_coherence

__all__ = [
    "GroupProfiles",
    "OutcomeRates",
    "PredictivePower",
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
