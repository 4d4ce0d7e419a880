"""Moments: compute M1, M2 and whitened slices of M3 from data or parameters."""

from momentree.moments.augmented import AugmentedRawMoments
from momentree.moments.bernoulli import BernoulliMoments
from momentree.moments.bernoulli_bias import (
    BernoulliBias,
    bernoulli_bias,
    bernoulli_bias_bounds,
)
from momentree.moments.bernoulli_correction import CorrectedMoments
from momentree.moments.factorial import FactorialMoments
from momentree.moments.grouped import GroupedMoments
from momentree.moments.hmm import HMMMoments
from momentree.moments.ica import ICAMoments
from momentree.moments.lda import LDAMoments
from momentree.moments.moment_error_bounds import moment_error_bound, required_samples
from momentree.moments.multiview import MultiviewMoments
from momentree.moments.poisson import PoissonMoments
from momentree.moments.population import PopulationMoments
from momentree.moments.product import ProductMoments
from momentree.moments.raw import RawMoments
from momentree.moments.regressions import RegressionMoments
from momentree.moments.single_topic import SingleTopicMoments
from momentree.moments.spherical_gaussian import (
    PopulationSphericalGaussianMoments,
    SphericalGaussianMoments,
)
from momentree.moments.split_views import split_views

__all__ = [
    "AugmentedRawMoments",
    "BernoulliBias",
    "BernoulliMoments",
    "CorrectedMoments",
    "FactorialMoments",
    "GroupedMoments",
    "HMMMoments",
    "ICAMoments",
    "LDAMoments",
    "MultiviewMoments",
    "PoissonMoments",
    "PopulationMoments",
    "PopulationSphericalGaussianMoments",
    "ProductMoments",
    "RawMoments",
    "RegressionMoments",
    "SingleTopicMoments",
    "SphericalGaussianMoments",
    "bernoulli_bias",
    "bernoulli_bias_bounds",
    "moment_error_bound",
    "required_samples",
    "split_views",
]
