"""Choose the number of components, and compare fits."""

from momentree.models.selection.bic import lowest_bic
from momentree.models.selection.fits import compare_fits
from momentree.tree.selection.choice import ComponentChoice, choose_n_components

__all__ = ["ComponentChoice", "choose_n_components", "compare_fits", "lowest_bic"]
