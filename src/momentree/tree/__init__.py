"""Grow trees by recursive splitting, with estimators for documents and for other data."""

from momentree.tree.changes import GroupChange, ModelChanges, compare_models
from momentree.tree.cluster_tree import ClusterTree
from momentree.tree.node import TreeNode
from momentree.tree.topic_tree import TopicTree

__all__ = [
    "ClusterTree",
    "GroupChange",
    "ModelChanges",
    "TopicTree",
    "TreeNode",
    "compare_models",
]
