"""Fit flat latent variable models, as scikit-learn estimators."""

from momentree.models._steps import DECOMPOSITIONS
from momentree.models.bernoulli_mixture import BernoulliMixture
from momentree.models.count_models import PoissonMixture, SingleTopicModel
from momentree.models.gaussian_mixture import GaussianMixture
from momentree.models.hidden_markov_models import CategoricalHMM, GaussianHMM
from momentree.models.independent_components import IndependentComponents
from momentree.models.latent_dirichlet_allocation import LatentDirichletAllocation
from momentree.models.mixed_mixture import MixedMixture
from momentree.models.mixture_of_regressions import MixtureOfRegressions
from momentree.models.multiview_mixture import MultiviewMixture
from momentree.models.selection import StatesFit, compare_fits, compare_states
from momentree.persistence import load
from momentree.tree.selection.choice import ComponentChoice, choose_n_components

__all__ = [
    "DECOMPOSITIONS",
    "BernoulliMixture",
    "CategoricalHMM",
    "ComponentChoice",
    "GaussianHMM",
    "GaussianMixture",
    "IndependentComponents",
    "LatentDirichletAllocation",
    "MixedMixture",
    "MixtureOfRegressions",
    "MultiviewMixture",
    "PoissonMixture",
    "SingleTopicModel",
    "StatesFit",
    "choose_n_components",
    "compare_fits",
    "compare_states",
    "load",
]
