"""Choose the number of components, and compare fits."""

from momentree.models.selection.bic import lowest_bic
from momentree.models.selection.fits import compare_fits
from momentree.models.selection.states import StatesFit, compare_states
from momentree.tree.selection.choice import ComponentChoice, choose_n_components

__all__ = [
    "ComponentChoice",
    "StatesFit",
    "choose_n_components",
    "compare_fits",
    "compare_states",
    "lowest_bic",
]
