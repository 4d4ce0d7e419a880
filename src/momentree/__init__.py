"""momentree: latent variable models and trees of topics by the method of moments."""

from momentree import datasets, decomposition, exceptions, metrics, moments
from momentree._version import __version__
from momentree.tree import TopicTree, TreeNode

__all__ = [
    "TopicTree",
    "TreeNode",
    "__version__",
    "datasets",
    "decomposition",
    "exceptions",
    "metrics",
    "moments",
    "report",
]
