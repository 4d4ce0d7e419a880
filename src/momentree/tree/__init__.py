"""Grow trees by recursive splitting, with estimators for documents and for other data."""

from momentree.estimators.changes import GroupChange, ModelChanges, compare_models
from momentree.estimators.node import TreeNode
from momentree.tree.cluster_tree import ClusterTree
from momentree.tree.topic_tree import TopicTree

__all__ = [
    "ClusterTree",
    "GroupChange",
    "ModelChanges",
    "TopicTree",
    "TreeNode",
    "compare_models",
]
