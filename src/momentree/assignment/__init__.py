"""Assign samples to groups, by the posteriors of a mixture or the rules of a tree; edit groups.

Users call the methods of estimators, such as ``predict`` and ``split_group``.
"""

__all__: list[str] = []
