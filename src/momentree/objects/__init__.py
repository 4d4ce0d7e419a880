"""Objects that the sub-packages exchange: read this folder first.

Mathematical code stores components in columns, (d, k), as in the papers; public estimators store
them in rows, (k, d).
"""

from momentree.objects.bernoulli import BernoulliParameters, IncompleteBernoulliParameters
from momentree.objects.decomposed import Decomposition, Moments, Whitening
from momentree.objects.diagonal_gaussian import (
    DiagonalGaussianParameters,
    IncompleteDiagonalGaussianParameters,
    IncompleteSphericalGaussianParameters,
)
from momentree.objects.full_gaussian import FullGaussianParameters, SharedGaussianParameters
from momentree.objects.gaussian import GaussianParameters, TiedGaussianParameters
from momentree.objects.incomplete_gaussian import IncompleteGaussianParameters
from momentree.objects.lda import LDAParameters
from momentree.objects.mixtures import MixtureParameters
from momentree.objects.poisson import PoissonParameters
from momentree.objects.products import ProductColumns, ProductParameters
from momentree.objects.sums import MixtureSums
from momentree.objects.topics import TopicParameters
from momentree.objects.von_mises_fisher import VonMisesFisherParameters

__all__ = [
    "BernoulliParameters",
    "Decomposition",
    "DiagonalGaussianParameters",
    "FullGaussianParameters",
    "GaussianParameters",
    "IncompleteBernoulliParameters",
    "IncompleteDiagonalGaussianParameters",
    "IncompleteGaussianParameters",
    "IncompleteSphericalGaussianParameters",
    "LDAParameters",
    "MixtureParameters",
    "MixtureSums",
    "Moments",
    "PoissonParameters",
    "ProductColumns",
    "ProductParameters",
    "SharedGaussianParameters",
    "TiedGaussianParameters",
    "TopicParameters",
    "VonMisesFisherParameters",
    "Whitening",
]
