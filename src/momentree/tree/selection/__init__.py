"""Choose the number of topics by document completion and the spectrum."""

from momentree.tree.selection.choice import ComponentChoice, choose_n_components

__all__ = ["ComponentChoice", "choose_n_components"]
