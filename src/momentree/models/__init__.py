"""Fit flat latent variable models, as scikit-learn estimators."""

from momentree.models._base import DECOMPOSITIONS
from momentree.models.bernoulli_mixture import BernoulliMixture
from momentree.models.gaussian_mixture import GaussianMixture
from momentree.models.latent_dirichlet_allocation import LatentDirichletAllocation
from momentree.models.mixed_mixture import MixedMixture
from momentree.models.multiview_mixture import MultiviewMixture
from momentree.models.poisson_mixture import PoissonMixture
from momentree.models.selection import (
    ComponentChoice,
    choose_n_components,
    compare_fits,
    lowest_bic,
)
from momentree.models.single_topic_model import SingleTopicModel
from momentree.persistence import load

__all__ = [
    "DECOMPOSITIONS",
    "BernoulliMixture",
    "ComponentChoice",
    "GaussianMixture",
    "LatentDirichletAllocation",
    "MixedMixture",
    "MultiviewMixture",
    "PoissonMixture",
    "SingleTopicModel",
    "choose_n_components",
    "compare_fits",
    "load",
    "lowest_bic",
]
