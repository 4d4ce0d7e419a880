"""Refinement: parameters and data in, better parameters out."""

from momentree.refinement.em import Refined, em, smoothed_parameters

__all__ = ["Refined", "em", "smoothed_parameters"]
