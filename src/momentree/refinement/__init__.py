"""Refinement: parameters and data in, better parameters out."""

from momentree.refinement.em import Refined, em

__all__ = ["Refined", "em"]
