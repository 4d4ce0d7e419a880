"""How good an answer is: words of topics, errors after matching components, stability."""

from momentree.metrics.recovery import match_components, recovery_error, stability_score
from momentree.metrics.words import npmi_coherence, relevance, umass_coherence

__all__ = [
    "match_components",
    "npmi_coherence",
    "recovery_error",
    "relevance",
    "stability_score",
    "umass_coherence",
]
