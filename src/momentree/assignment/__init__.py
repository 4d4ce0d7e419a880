"""Assignment: the group of a sample, by posteriors of a mixture or rules of a tree; edits.

Estimators hold the assigners of this room; users call ``predict``, ``split_group`` and the like.
"""

__all__: list[str] = []
