"""Refinement: improve parameters given data; one algorithm per file."""

from momentree.refinement.em import Refined, em, m_step
from momentree.refinement.gibbs_em import gibbs_em
from momentree.refinement.lda import RefinedLDA, concentrations
from momentree.refinement.variational_em import variational_em

__all__ = [
    "Refined",
    "RefinedLDA",
    "concentrations",
    "em",
    "gibbs_em",
    "m_step",
    "variational_em",
]
