"""Refinement: improve parameters given data; one algorithm per file."""

from momentree.refinement.em import Convergence, Refined, em
from momentree.refinement.gibbs_em import gibbs_em
from momentree.refinement.lda import RefinedLDA, dirichlet_from_logs, smoothed_topics
from momentree.refinement.variational_em import variational_em

__all__ = [
    "Convergence",
    "Refined",
    "RefinedLDA",
    "dirichlet_from_logs",
    "em",
    "gibbs_em",
    "smoothed_topics",
    "variational_em",
]
