"""Refinement: parameters and data in, better parameters out."""

from momentree.refinement.em import Convergence, Refined, em
from momentree.refinement.lda import (
    RefinedLDA,
    dirichlet_from_logs,
    smoothed_topics,
    variational_em,
)
from momentree.refinement.lda_gibbs import gibbs_em

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
