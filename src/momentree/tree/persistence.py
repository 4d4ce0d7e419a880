"""Save and load a fitted tree: a zip of JSON and .npy files, with a version and no pickle."""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._version import __version__
from momentree.exceptions import ReadError
from momentree.objects import TopicParameters
from momentree.tree.assign import MixtureAssigner, RuleAssigner
from momentree.tree.node import TreeNode
from momentree.tree.split import LinearRule

__all__ = ["restore", "save"]

FORMAT = "momentree.TopicTree"
FORMAT_VERSION = 1
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    EOFError,
    ValueError,
)
"""What reading a file raises that is no zip, is cut off, or holds something else."""
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
    params = tree.get_params()
    if not isinstance(params["random_state"], int | np.integer):
        params["random_state"] = None  # a generator's state is spent once the tree is grown
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "momentree": __version__,
        "params": {key: _plain(value) for key, value in params.items()},
        "vocabulary": [str(word) for word in tree.vocabulary_],
        "feature_names_in": [str(name) for name in getattr(tree, "feature_names_in_", [])] or None,
        "n_iter": int(tree.n_iter_),
        "converged": bool(tree.converged_),
        "vectorizer": vectorizer_config,
        "nodes": [
            {
                **{key: _plain(getattr(node, key)) for key in _NODE_FIELDS},
                "parent": None if node.parent is None else node.parent.node_id,
            }
            for node in nodes
        ],
    }
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as archive:
            _add(archive, "manifest.json", json.dumps(manifest, ensure_ascii=False).encode())
            for name, array in arrays.items():
                buffer = io.BytesIO()
                np.save(buffer, array, allow_pickle=False)
                _add(archive, f"{name}.npy", buffer.getvalue())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def restore(tree: Any, path: str | PathLike[str]) -> TreeNode:
    """Fill an estimator from a file and return the root of its tree; see ``TopicTree.load``."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            _check_format(manifest, path)
            arrays = {
                name[:-4]: np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
                for name in archive.namelist()
                if name.endswith(".npy")
            }
        return _fill(tree, manifest, arrays)
    except ReadError:
        raise
    except OSError as error:
        msg = f"cannot read the model {path}: {error.strerror or error}"
        raise ReadError(msg) from error
    except _DAMAGE as error:
        msg = f"{path} is not a momentree model, or it is damaged ({error})"
        raise ReadError(msg) from error


def _check_format(manifest: dict[str, Any], path: str | PathLike[str]) -> None:
    if manifest.get("format") != FORMAT:
        msg = f"{path} holds {manifest.get('format')!r}, not a {FORMAT}"
        raise ReadError(msg)
    if manifest["format_version"] > FORMAT_VERSION:
        msg = (
            f"{path} has format version {manifest['format_version']}, this momentree "
            f"({__version__}) reads up to {FORMAT_VERSION}; it was written by momentree "
            f"{manifest.get('momentree')}: upgrade momentree"
        )
        raise ReadError(msg)


def _fill(tree: Any, manifest: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TreeNode:
    tree.set_params(**manifest["params"])
    tree.vocabulary_ = np.array(manifest["vocabulary"], dtype=object)
    tree.n_features_in_ = len(tree.vocabulary_)
    if manifest["feature_names_in"]:
        tree.feature_names_in_ = np.array(manifest["feature_names_in"], dtype=object)
    tree.labels_ = arrays["labels"]
    tree.n_iter_, tree.converged_ = manifest["n_iter"], manifest["converged"]
    tree.vectorizer_config_ = manifest["vectorizer"]
    if "leaf_weights" in arrays:
        tree._assigner = MixtureAssigner(
            TopicParameters(arrays["leaf_weights"], arrays["leaf_centers"])
        )
    else:
        rules = zip(arrays["rule_coefs"], arrays["rule_intercepts"], strict=False)
        tree._assigner = RuleAssigner(
            tuple(LinearRule(coef, float(intercept)) for coef, intercept in rules),
            arrays["rule_children"],
        )
    nodes: list[TreeNode] = []
    for i, (record, center) in enumerate(zip(manifest["nodes"], arrays["centers"], strict=True)):
        parent = None if record["parent"] is None else nodes[record["parent"]]
        fields = {key: record[key] for key in _NODE_FIELDS}
        node = TreeNode(center=center, node_id=i, parent=parent, **fields)
        if node.leaf_id is not None:
            node._samples = np.flatnonzero(tree.labels_ == node.leaf_id)
        if parent is not None:
            parent.children.append(node)
        nodes.append(node)
    return nodes[0]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A fixed date, so that the same tree gives the same bytes.
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)
