"""Refinement: improve parameters given data; one algorithm per file."""

from momentree.refinement.em import Refined, em
from momentree.refinement.gibbs_em import gibbs_em
from momentree.refinement.growing import Growing
from momentree.refinement.incremental_em import Updated, incremental_em, renewing_em
from momentree.refinement.lda import RefinedLDA
from momentree.refinement.sources import RefinedSources, refine_sources
from momentree.refinement.variational_em import variational_em

__all__ = [
    "Growing",
    "Refined",
    "RefinedLDA",
    "RefinedSources",
    "Updated",
    "em",
    "gibbs_em",
    "incremental_em",
    "refine_sources",
    "renewing_em",
    "variational_em",
]
