"""Save and load a fitted tree: what of it goes into the file of a model."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._container import (
    check_shape,
    plain,
    plain_params,
    read_container,
    reading,
    write_container,
)
from momentree._version import __version__
from momentree.objects import TopicParameters
from momentree.tree._parameters import check_parameters
from momentree.tree.assign import MixtureAssigner, RuleAssigner
from momentree.tree.node import TreeNode
from momentree.tree.split import LinearRule

__all__ = ["restore", "save"]

FORMAT = "momentree.TopicTree"
FORMAT_VERSION = 1
_NODE_FIELDS = ("weight", "gain", "depth", "name", "leaf_id", "reason")


def save(tree: Any, path: str | PathLike[str], vectorizer_config: dict[str, Any] | None) -> None:
    """Write a fitted tree to a file; see ``TopicTree.save``."""
    nodes = list(tree.tree_.nodes())
    arrays: dict[str, NDArray[Any]] = {
        "labels": tree.labels_,
        "centers": np.stack([node.center for node in nodes]),
    }
    if isinstance(tree._assigner, MixtureAssigner):
        parameters = tree._assigner.parameters
        arrays |= {"leaf_weights": parameters.weights, "leaf_centers": parameters.centers}
    else:
        rules = tree._assigner.rules
        arrays |= {
            "rule_coefs": np.stack([r.coef for r in rules]) if rules else np.empty((0, 0)),
            "rule_intercepts": np.array([r.intercept for r in rules]),
            "rule_children": tree._assigner.children,
        }
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "momentree": __version__,
        "params": plain_params(tree.get_params()),
        "vocabulary": [str(word) for word in tree.vocabulary_],
        "feature_names_in": [str(name) for name in getattr(tree, "feature_names_in_", [])] or None,
        "n_iter": int(tree.n_iter_),
        "converged": bool(tree.converged_),
        "vectorizer": vectorizer_config,
        "nodes": [
            {
                **{key: plain(getattr(node, key)) for key in _NODE_FIELDS},
                "parent": None if node.parent is None else node.parent.node_id,
            }
            for node in nodes
        ],
    }
    write_container(path, manifest, arrays)


def restore(tree: Any, path: str | PathLike[str]) -> TreeNode:
    """Fill an estimator from a file and return the root of its tree; see ``TopicTree.load``."""
    with reading(path):
        manifest, arrays = read_container(path, {FORMAT: FORMAT_VERSION})
        return _fill(tree, manifest, arrays)


def _fill(tree: Any, manifest: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TreeNode:
    tree.set_params(**manifest["params"])
    check_parameters(tree)
    tree.vocabulary_ = np.array(manifest["vocabulary"], dtype=object)
    d = tree.n_features_in_ = len(tree.vocabulary_)
    if manifest["feature_names_in"]:
        tree.feature_names_in_ = np.array(manifest["feature_names_in"], dtype=object)
        check_shape("feature_names_in", tree.feature_names_in_, (d,))
    tree.labels_ = arrays["labels"].astype(np.intp, casting="same_kind")
    tree.n_iter_, tree.converged_ = int(manifest["n_iter"]), bool(manifest["converged"])
    tree.vectorizer_config_ = manifest["vectorizer"]
    nodes = _nodes(manifest["nodes"], arrays["centers"], tree.labels_)
    k = (len(nodes) + 1) // 2
    # Products run in compiled code that trusts its shapes, so that none goes unchecked here.
    check_shape("centers", arrays["centers"], (2 * k - 1, d))
    check_shape("labels", tree.labels_, (len(tree.labels_),))
    if not ((tree.labels_ >= 0) & (tree.labels_ < k)).all():
        msg = f"labels lie outside 0 to {k - 1}"
        raise ValueError(msg)
    if "leaf_weights" in arrays:
        parameters = TopicParameters(arrays["leaf_weights"], arrays["leaf_centers"])
        check_shape("leaf_centers", parameters.centers, (d, k))
        tree._assigner = MixtureAssigner(parameters)
    else:
        tree._assigner = _rules(arrays, d, k)
    return nodes[0]


def _nodes(
    records: list[dict[str, Any]], centers: NDArray[np.float64], labels: NDArray[np.intp]
) -> list[TreeNode]:
    nodes: list[TreeNode] = []
    for i, (record, center) in enumerate(zip(records, centers, strict=True)):
        parent = None if record["parent"] is None else nodes[record["parent"]]
        fields = {key: record[key] for key in _NODE_FIELDS}
        node = TreeNode(center=center, node_id=i, parent=parent, **fields)
        if node.leaf_id is not None:
            node._samples = np.flatnonzero(labels == node.leaf_id)
        if parent is not None:
            parent.children.append(node)
        nodes.append(node)
    in_order = list(nodes[0].nodes())
    leaves = [node for node in in_order if node.is_leaf]
    if in_order != nodes or any(len(node.children) not in (0, 2) for node in nodes):
        msg = "its nodes are no binary tree in pre-order"
        raise ValueError(msg)
    if [node.leaf_id for node in leaves] != list(range(len(leaves))):
        msg = "its leaves are not numbered from left to right"
        raise ValueError(msg)
    return nodes


def _rules(arrays: dict[str, NDArray[Any]], d: int, k: int) -> RuleAssigner:
    coefs = arrays["rule_coefs"].astype(np.float64, casting="same_kind")
    intercepts = arrays["rule_intercepts"]
    children = arrays["rule_children"].astype(np.intp, casting="same_kind")
    check_shape("rule_coefs", coefs, (k - 1, d if k > 1 else 0))
    check_shape("rule_intercepts", intercepts, (k - 1,))
    check_shape("rule_children", children, (k - 1, 2))
    # Each rule but the first, and each leaf, is the child of one rule that stands before it.
    targets = [*range(-k, 0), *range(1, k - 1)] if k > 1 else []
    after = (children < 0) | (children > np.arange(k - 1)[:, None])
    if sorted(children.ravel().tolist()) != targets or not after.all():
        msg = "the sides of its rules lead nowhere"
        raise ValueError(msg)
    rules = (LinearRule(coef, float(b)) for coef, b in zip(coefs, intercepts, strict=True))
    return RuleAssigner(tuple(rules), children)
