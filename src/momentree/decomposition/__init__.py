"""Decomposition: moments in, centers and weights out; one algorithm a file."""

from momentree.decomposition.sidiwo import sidiwo

__all__ = ["sidiwo"]
