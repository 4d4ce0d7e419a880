"""momentree: latent variable models and trees of topics by the method of moments."""

from momentree._version import __version__

__all__ = ["__version__"]
