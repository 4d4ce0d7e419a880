"""Refinement: improve parameters given data; one algorithm per file."""

from momentree.refinement.em import Refined, em
from momentree.refinement.incremental_em import Updated, incremental_em, renewing_em
from momentree.refinement.lda import RefinedLDA, variational_em
from momentree.refinement.search import MixtureSearch
from momentree.refinement.sources import RefinedSources, refine_sources

__all__ = [
    "MixtureSearch",
    "Refined",
    "RefinedLDA",
    "RefinedSources",
    "Updated",
    "em",
    "incremental_em",
    "refine_sources",
    "renewing_em",
    "variational_em",
]
