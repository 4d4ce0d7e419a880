"""Save and load flat models: their fitted attributes as plain values and arrays."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import fields
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree import decomposition, models
from momentree import objects as parameter_classes
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
from momentree.assignment.assigners import MixtureAssigner, NestedAssigner
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.objects import BernoulliParameters, LDAParameters, MixtureParameters
from momentree.objects.mixtures import check_sums
from momentree.tree import ClusterTree, TopicTree
from momentree.tree.assigner_files import (
    assigner_of,
    assigner_state,
    check_assigner,
    parameters_of,
)
from momentree.tree.persistence import FORMAT_VERSION as TREE_VERSION
from momentree.tree.persistence import FORMATS as TREE_FORMATS

if TYPE_CHECKING:
    from momentree.models._base import FlatModel

__all__ = ["load", "load_any", "save"]

FORMAT = "momentree.FlatModel"
FORMAT_VERSION = 1
_CONFIG = "vectorizer_config_"
# What a value that JSON does not know is written as: an object with one of these keys.
_ARRAY, _WORDS, _ITEMS, _MAPPING, _PARAMETERS = "array", "words", "items", "mapping", "parameters"
_ASSIGNER = "assigner"

# What a fitted attribute is that is neither an array nor parameters.
_FIELDS = {
    "n_features_in_": int,
    "n_iter_": int,
    "converged_": bool,
    "mean_count_": float | int,
    "diagnostics_": dict,
}
_DIAGNOSTICS = {"warnings": list, "start": str}


def save(model: FlatModel, path: str | PathLike[str], config: dict[str, Any] | None) -> None:
    """Write a fitted model to a file; see ``FlatModel.save``."""
    params = plain_params(model.get_params())
    if callable(model.decomposition):
        name = getattr(model.decomposition, "__name__", "")
        if getattr(decomposition, name, None) is not model.decomposition:
            msg = (
                "decomposition is a function of your own, which a file without code cannot hold; "
                "set it to the name of one of momentree.decomposition before you save"
            )
            raise InvalidParameterError(msg)
        params["decomposition"] = name
    arrays: dict[str, NDArray[Any]] = {}
    state = {
        name: _encoded(value, name, arrays)
        for name, value in sorted(vars(model).items())
        if name not in params and name != _CONFIG
    }
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "momentree": __version__,
        "kind": type(model).__name__,
        "params": params,
        "vectorizer": config,
        "state": state,
    }
    write_container(path, manifest, arrays)


def load(path: str | PathLike[str]) -> FlatModel:
    """Read a flat model of any kind from a file; see ``FlatModel.load``."""
    with reading(path, {FORMAT: FORMAT_VERSION}) as (manifest, arrays):
        return _restored(manifest, arrays, path)


def load_any(path: str | PathLike[str]) -> TopicTree | ClusterTree | FlatModel:
    """Read a tree or a flat model, whichever a file holds.

    Raises
    ------
    ReadError
        If the file is missing, damaged, or of a newer format.
    """
    trees = dict.fromkeys(TREE_FORMATS.values(), TREE_VERSION)
    with reading(path, {**trees, FORMAT: FORMAT_VERSION}) as (manifest, arrays):
        if manifest["format"] == FORMAT:
            return _restored(manifest, arrays, path)
    kind = TopicTree if manifest["format"] == TREE_FORMATS["TopicTree"] else ClusterTree
    return kind.load(path)


# --- from values to JSON and back ----------------------------------------------------------------


def _encoded(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return a value as JSON knows it; arrays go into `arrays`, each once."""
    value = plain(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "OU":
            return {_WORDS: [str(word) for word in value]}
        return {_ARRAY: _place(value, name, arrays)}
    if isinstance(value, list | tuple):
        return {_ITEMS: [_encoded(v, f"{name}.{i}", arrays) for i, v in enumerate(value)]}
    if isinstance(value, Mapping):
        return {_MAPPING: {str(k): _encoded(v, f"{name}.{k}", arrays) for k, v in value.items()}}
    if isinstance(value, MixtureParameters | LDAParameters):
        parts = {f.name: getattr(value, f.name) for f in fields(value)}
        content = {k: _encoded(v, f"{name}.{k}", arrays) for k, v in parts.items()}
        return {_PARAMETERS: type(value).__name__, **content}
    if isinstance(value, MixtureAssigner | NestedAssigner):
        return {_ASSIGNER: assigner_state(value, arrays, f"{name}.")}
    msg = f"{name} is a {type(value).__name__}, which the file of a model cannot hold"
    raise TypeError(msg)


def _place(value: NDArray[Any], name: str, arrays: dict[str, NDArray[Any]]) -> str:
    """Return the name under which an array is kept: that of an equal one where there is one."""
    for known, array in arrays.items():
        same = array.dtype == value.dtype and array.strides == value.strides
        if same and array.shape == value.shape and np.array_equal(array, value, equal_nan=False):
            return known
    arrays[name] = value
    return name


def _decoded(value: Any, arrays: Arrays) -> Any:
    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return arrays[value[_ARRAY]]
    if _WORDS in value:
        words = value[_WORDS]
        if not (isinstance(words, list) and all(isinstance(word, str) for word in words)):
            msg = "words are no strings"
            raise TypeError(msg)
        return np.array(words, dtype=object)
    if _ITEMS in value:
        return [_decoded(item, arrays) for item in value[_ITEMS]]
    if _MAPPING in value:
        return {key: _decoded(item, arrays) for key, item in value[_MAPPING].items()}
    if _ASSIGNER in value:
        return assigner_of(value[_ASSIGNER], arrays)
    kind = getattr(parameter_classes, value[_PARAMETERS])
    if not issubclass(kind, MixtureParameters | LDAParameters):
        msg = f"{value[_PARAMETERS]!r} is no class of parameters"
        raise TypeError(msg)
    return parameters_of(kind, {f.name: _decoded(value[f.name], arrays) for f in fields(kind)})


def _restored(manifest: dict[str, Any], arrays: Arrays, path: str | PathLike[str]) -> FlatModel:
    kind = manifest["kind"]
    if kind not in models.__all__ or not hasattr(getattr(models, kind), "_check_parameters"):
        msg = f"{path} holds a model {kind!r} that this momentree ({__version__}) does not know"
        raise ReadError(msg)
    model: FlatModel = getattr(models, kind)(**manifest["params"])
    model._check_parameters()
    for name, value in manifest["state"].items():
        if hasattr(type(model), name) or name.startswith("__"):
            msg = f"{name!r} is no attribute of a fitted model"
            raise ValueError(msg)
        setattr(model, name, _decoded(value, arrays))
    setattr(model, _CONFIG, manifest["vectorizer"])
    _check(model)
    return model


def _check(model: Any) -> None:
    """Refuse a model whose parts do not fit: compiled code trusts their shapes."""
    check_types(vars(model), _FIELDS)
    found = model.diagnostics_
    check_types(found, {name: kind for name, kind in _DIAGNOSTICS.items() if name in found})
    d, k = len(model.vocabulary_), len(model.weights_)
    check_shape("vocabulary_", model.vocabulary_, (d,))
    check_numbers("weights_", model.weights_, (k,))
    check_numbers("components_", model.components_, (k, d))
    check_shape("labels_", model.labels_, (len(model.labels_),))
    if hasattr(model, "feature_names_in_"):
        check_shape("feature_names_in_", model.feature_names_in_, (d,))
    if model.n_features_in_ != d:
        msg = f"n_features_in_ is {model.n_features_in_}, with {d} words"
        raise ValueError(msg)
    if (
        model.labels_.dtype.kind not in "iu"
        or not ((model.labels_ >= 0) & (model.labels_ < k)).all()
    ):
        msg = f"labels lie outside 0 to {k - 1}"
        raise ValueError(msg)
    for name, value in vars(model).items():
        if isinstance(value, MixtureParameters | LDAParameters):
            check_numbers(f"centers of {name}", value.centers, (d, k))
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
            check_numbers(name, value, value.shape)
    check_sums("weights_", model.weights_.sum())
    if (model.weights_ < 0).any() or (model.components_ < 0).any():
        msg = "weights or components below zero"
        raise ValueError(msg)
    if hasattr(model, "_edited"):
        if not isinstance(model._edited, MixtureAssigner | NestedAssigner):
            msg = f"groups are edited by a {type(model._edited).__name__}"
            raise ValueError(msg)
        check_assigner(model._edited, BernoulliParameters, d, k)
    # A sample without counts and one with all: whatever else prediction needs is there.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", UserWarning)  # that the samples have no names of columns
        samples = sp.csr_array(np.repeat([[0], [1]], d, axis=1))
        shares, values = model.predict_proba(samples), model.score_samples(samples)
    check_numbers("the shares of a sample", shares, (2, k))
    check_numbers("the likelihood of a sample", values, (2,))
    check_shape("weights of posterior_", model.posterior_.weights, (k,))
