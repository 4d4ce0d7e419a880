"""Tree: recursive splitting, nodes, exports, and the estimators that hold them."""

from momentree.tree.node import TreeNode
from momentree.tree.topic_tree import TopicTree

__all__ = ["TopicTree", "TreeNode"]
