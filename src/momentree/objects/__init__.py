"""The objects that rooms hand to one another: read this folder first.

Inside the mathematical rooms arrays hold components in columns, (d, k), as in the papers;
public estimators put the component first, (k, d).
"""

from momentree.objects.binary import BernoulliParameters, IncompleteBernoulliParameters
from momentree.objects.decomposed import Decomposition, Moments, Whitening
from momentree.objects.gaussian import GaussianParameters
from momentree.objects.lda import LDAParameters
from momentree.objects.mixtures import MixtureParameters, PoissonParameters, TopicParameters

__all__ = [
    "BernoulliParameters",
    "Decomposition",
    "GaussianParameters",
    "IncompleteBernoulliParameters",
    "LDAParameters",
    "MixtureParameters",
    "Moments",
    "PoissonParameters",
    "TopicParameters",
    "Whitening",
]
