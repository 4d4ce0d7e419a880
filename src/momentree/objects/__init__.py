"""Objects that the sub-packages exchange: read this folder first.

Mathematical code stores components in columns, (d, k), as in the papers; public estimators store
them in rows, (k, d).
"""

from momentree.objects.decomposed import Decomposition, Moments, Whitening
from momentree.objects.discrete import (
    BernoulliParameters,
    IncompleteBernoulliParameters,
    LDAParameters,
    PoissonParameters,
    TopicParameters,
)
from momentree.objects.full_gaussian import FullGaussianParameters, SharedGaussianParameters
from momentree.objects.gaussian import (
    DiagonalGaussianParameters,
    GaussianParameters,
    IncompleteDiagonalGaussianParameters,
    IncompleteGaussianParameters,
)
from momentree.objects.mixtures import Family, MixtureParameters, MixtureSums
from momentree.objects.products import ProductColumns, ProductParameters
from momentree.objects.von_mises_fisher import VonMisesFisherParameters

__all__ = [
    "BernoulliParameters",
    "Decomposition",
    "DiagonalGaussianParameters",
    "Family",
    "FullGaussianParameters",
    "GaussianParameters",
    "IncompleteBernoulliParameters",
    "IncompleteDiagonalGaussianParameters",
    "IncompleteGaussianParameters",
    "LDAParameters",
    "MixtureParameters",
    "MixtureSums",
    "Moments",
    "PoissonParameters",
    "ProductColumns",
    "ProductParameters",
    "SharedGaussianParameters",
    "TopicParameters",
    "VonMisesFisherParameters",
    "Whitening",
]
