"""Tree: recursive splitting, nodes, exports, and the estimators that hold them."""

from momentree.tree.cluster_tree import ClusterTree
from momentree.tree.node import TreeNode
from momentree.tree.topic_tree import TopicTree

__all__ = ["ClusterTree", "TopicTree", "TreeNode"]
