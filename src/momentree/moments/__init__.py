"""Moments: compute M1, M2 and whitened slices of M3 from data or parameters."""

from momentree.moments._base import PopulationMoments
from momentree.moments.augmented import AugmentedRawMoments
from momentree.moments.bernoulli import BernoulliMoments
from momentree.moments.bernoulli_bias import (
    BernoulliBias,
    CorrectedMoments,
    bernoulli_bias,
    bernoulli_bias_bounds,
)
from momentree.moments.factorial import FactorialMoments, GroupedMoments
from momentree.moments.hmm import HMMMoments
from momentree.moments.ica import ICAMoments
from momentree.moments.lda import LDAMoments
from momentree.moments.moment_error_bounds import moment_error_bound, required_samples
from momentree.moments.multiview import MultiviewMoments, split_views
from momentree.moments.product import ProductMoments
from momentree.moments.regressions import RegressionMoments
from momentree.moments.sample_means import PoissonMoments, RawMoments
from momentree.moments.single_topic import SingleTopicMoments
from momentree.moments.spherical_gaussian import (
    PopulationSphericalGaussianMoments,
    SphericalGaussianMoments,
)

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
