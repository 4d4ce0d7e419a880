"""momentree: latent variable models and trees of topics by the method of moments."""

# Names are loaded on first use, so that `momentree --help` and `import momentree` do not wait for
# scikit-learn and its dependencies.

from importlib import import_module
from typing import TYPE_CHECKING, Any

from momentree._version import __version__

if TYPE_CHECKING:
    import momentree.datasets as datasets
    import momentree.decomposition as decomposition
    import momentree.distributions as distributions
    import momentree.exceptions as exceptions
    import momentree.metrics as metrics
    import momentree.models as models
    import momentree.moments as moments
    import momentree.preprocessing as preprocessing
    import momentree.readers as readers
    import momentree.report as report
    from momentree.backends import Site, Sites, State, next_round
    from momentree.models import (
        BernoulliMixture,
        CategoricalHMM,
        GaussianHMM,
        GaussianMixture,
        IndependentComponents,
        LatentDirichletAllocation,
        MixedMixture,
        MixtureOfRegressions,
        MultiviewMixture,
        PoissonMixture,
        SingleTopicModel,
        choose_n_components,
        load,
    )
    from momentree.tree import ClusterTree, ModelChanges, TopicTree, TreeNode, compare_models

__all__ = [
    "BernoulliMixture",
    "CategoricalHMM",
    "ClusterTree",
    "GaussianHMM",
    "GaussianMixture",
    "IndependentComponents",
    "LatentDirichletAllocation",
    "MixedMixture",
    "MixtureOfRegressions",
    "ModelChanges",
    "MultiviewMixture",
    "PoissonMixture",
    "SingleTopicModel",
    "Site",
    "Sites",
    "State",
    "TopicTree",
    "TreeNode",
    "__version__",
    "choose_n_components",
    "compare_models",
    "datasets",
    "decomposition",
    "distributions",
    "exceptions",
    "load",
    "metrics",
    "models",
    "moments",
    "next_round",
    "preprocessing",
    "readers",
    "report",
]

_HOMES = {
    "BernoulliMixture": "momentree.models",
    "CategoricalHMM": "momentree.models",
    "ClusterTree": "momentree.tree",
    "GaussianMixture": "momentree.models",
    "IndependentComponents": "momentree.models",
    "GaussianHMM": "momentree.models",
    "LatentDirichletAllocation": "momentree.models",
    "MixedMixture": "momentree.models",
    "MixtureOfRegressions": "momentree.models",
    "ModelChanges": "momentree.tree",
    "MultiviewMixture": "momentree.models",
    "PoissonMixture": "momentree.models",
    "SingleTopicModel": "momentree.models",
    "Site": "momentree.backends",
    "Sites": "momentree.backends",
    "State": "momentree.backends",
    "TopicTree": "momentree.tree",
    "TreeNode": "momentree.tree",
    "choose_n_components": "momentree.models",
    "compare_models": "momentree.tree",
    "load": "momentree.models",
    "next_round": "momentree.backends",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"momentree.{name}")
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return list(__all__)
