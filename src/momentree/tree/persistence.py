"""Save and load a fitted tree: what of it goes into the file of a model, but for its assigner."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._container import (
    Arrays,
    check_numbers,
    check_shape,
    check_types,
    plain,
    plain_params,
    reading,
    write_container,
)
from momentree._version import __version__
from momentree.objects import MixtureParameters, TopicParameters
from momentree.preprocessing import FeatureMap, Kind
from momentree.tree.assigner_files import assigner_of, assigner_state, check_assigner
from momentree.tree.node import TreeNode

__all__ = ["restore", "save"]

FORMATS = {"TopicTree": "momentree.TopicTree", "ClusterTree": "momentree.ClusterTree"}
FORMAT_VERSION = 1
_NODE_FIELDS = {
    "weight": float | int,
    "gain": float | int,
    "depth": int,
    "name": str,
    "leaf_id": int | None,
    "reason": str,
}
_FIELDS = {"vocabulary": list, "feature_names_in": list | None, "n_iter": int, "converged": bool}


def save(tree: Any, path: str | PathLike[str], vectorizer_config: dict[str, Any] | None) -> None:
    """Write a fitted tree to a file; see ``TreeEstimator.save``."""
    nodes = list(tree.tree_.nodes())
    arrays: dict[str, NDArray[Any]] = {
        "labels": tree.labels_,
        "centers": np.stack([node.center for node in nodes]),
    }
    space = getattr(tree, "_feature_map", None)
    if space is not None:
        arrays |= {"shift": space.shift, "scale": space.scale, "view": space.moment_scale}
        arrays["constant"] = np.array([space.constant])
    manifest = {
        "format": FORMATS[type(tree).__name__],
        "format_version": FORMAT_VERSION,
        "momentree": __version__,
        "params": plain_params(tree.get_params()),
        "vocabulary": [str(word) for word in tree.vocabulary_],
        "feature_names_in": [str(name) for name in getattr(tree, "feature_names_in_", [])] or None,
        "n_iter": int(tree.n_iter_),
        "converged": bool(tree.converged_),
        "vectorizer": vectorizer_config,
        "assigner": assigner_state(tree._assigner, arrays),
        "data": None if space is None else space.kind,
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
    """Fill an estimator from a file and return the root of its tree; see ``TreeEstimator.load``."""
    known = {FORMATS[type(tree).__name__]: FORMAT_VERSION}
    with reading(path, known) as (manifest, arrays):
        return _fill(tree, manifest, arrays)


def _fill(tree: Any, manifest: dict[str, Any], arrays: Arrays) -> TreeNode:
    check_types(manifest, _FIELDS)
    names = [*manifest["vocabulary"], *(manifest["feature_names_in"] or ())]
    if not all(isinstance(name, str) for name in names):
        msg = "names of columns are no strings"
        raise TypeError(msg)
    tree.set_params(**manifest["params"])
    tree._check_parameters()
    tree.vocabulary_ = np.array(manifest["vocabulary"], dtype=object)
    d = tree.n_features_in_ = len(tree.vocabulary_)
    if manifest["feature_names_in"]:
        tree.feature_names_in_ = np.array(manifest["feature_names_in"], dtype=object)
        check_shape("feature_names_in", tree.feature_names_in_, (d,))
    tree.labels_ = arrays["labels"].astype(np.intp, casting="same_kind")
    tree.n_iter_, tree.converged_ = manifest["n_iter"], manifest["converged"]
    tree.vectorizer_config_ = manifest["vectorizer"]
    nodes = _nodes(manifest["nodes"], arrays["centers"], tree.labels_)
    k = sum(node.is_leaf for node in nodes)
    # Products run in compiled code that trusts its shapes, so that none goes unchecked here.
    check_numbers("centers", arrays["centers"], (len(nodes), d))
    check_shape("labels", tree.labels_, (len(tree.labels_),))
    if not ((tree.labels_ >= 0) & (tree.labels_ < k)).all():
        msg = f"labels lie outside 0 to {k - 1}"
        raise ValueError(msg)
    family: type[MixtureParameters] = TopicParameters
    p = d
    if "data" in tree.get_params():
        tree._feature_map = space = _feature_map(tree, manifest["data"], arrays, d)
        tree.data_, family, p = space.kind, space.family, len(space.moment_scale)
    if getattr(tree, "data_", None) != "real":
        _check_profiles(arrays["centers"])
    tree._assigner = assigner_of(manifest["assigner"], arrays)
    check_assigner(tree._assigner, family, p, k)
    # A sample without values and one with all: numbers that fit alone may overflow together.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", UserWarning)  # that the samples have no names of columns
        assigner, rows = tree._ready(sp.csr_array(np.repeat([[0], [1]], d, axis=1)))
        check_numbers("the shares of a sample", assigner.proba(rows), (2, k))
    return nodes[0]


def _check_profiles(centers: NDArray[Any]) -> None:
    """Refuse centers below zero, and a node with a word that the root does not have."""
    if (centers < 0).any() or (centers[:, centers[0] == 0] != 0).any():
        msg = "centers that are no shares of the words of the root"
        raise ValueError(msg)


def _feature_map(tree: Any, kind: str, arrays: Arrays, d: int) -> FeatureMap:
    if kind not in get_args(Kind):
        msg = f"data of the kind {kind!r}"
        raise ValueError(msg)
    space = FeatureMap.restored(
        kind,
        *(arrays[name] for name in ("shift", "scale", "view")),
        constant=float(arrays["constant"][0]),
        scaled=tree.scaling is not None,
    )
    check_numbers("shift", space.shift, (d,))
    check_shape("scale", space.scale, (d,))
    check_numbers("view", space.moment_scale, (len(space.moment_scale),))
    check_numbers("constant", arrays["constant"], (1,))
    # That of a constant column is infinite.
    if space.scale.dtype.kind != "f" or not (space.scale > 0).all():
        msg = "scales that are not above zero"
        raise ValueError(msg)
    if space.family.n_features(len(space.moment_scale)) != d:
        msg = f"view has shape {space.moment_scale.shape}"
        raise ValueError(msg)
    return space


def _nodes(
    records: list[dict[str, Any]], centers: NDArray[np.float64], labels: NDArray[np.intp]
) -> list[TreeNode]:
    nodes: list[TreeNode] = []
    for i, (record, center) in enumerate(zip(records, centers, strict=True)):
        check_types(record, {**_NODE_FIELDS, "parent": int | None})
        parent = None if record["parent"] is None else nodes[record["parent"]]
        if record["depth"] != (0 if parent is None else parent.depth + 1):
            msg = f"node {i} has depth {record['depth']}"
            raise ValueError(msg)
        fields = {key: record[key] for key in _NODE_FIELDS}
        node = TreeNode(center=center, node_id=i, parent=parent, **fields)
        if node.leaf_id is not None:
            node._samples = np.flatnonzero(labels == node.leaf_id)
        if parent is not None:
            parent.children.append(node)
        nodes.append(node)
    in_order = list(nodes[0].nodes())
    leaves = [node for node in in_order if node.is_leaf]
    if in_order != nodes or any(len(node.children) == 1 for node in nodes):
        msg = "its nodes are no tree in pre-order"
        raise ValueError(msg)
    if [node.leaf_id for node in leaves] != list(range(len(leaves))):
        msg = "its leaves are not numbered from left to right"
        raise ValueError(msg)
    return nodes
