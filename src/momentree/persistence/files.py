"""Write fitted estimators to files, and read them: one format for all kinds."""

import json
import warnings
from os import PathLike
from typing import Any

import numpy as np

from momentree._validation import check_shape
from momentree._version import __version__
from momentree.core.container import Arrays, reading, write_container
from momentree.exceptions import InvalidDataError, InvalidParameterError, ReadError
from momentree.messages import wording
from momentree.persistence.values import Encoder, check_finite, decoded

FORMAT = "momentree"
FORMAT_VERSION = 4
_FIELDS: dict[str, Any] = {"kind": str, "params": dict, "vectorizer": dict | None, "state": dict}

_KINDS: dict[str, type[Any]] = {}


def register(kind: type[Any]) -> None:
    """Let files contain estimators of a class, which they name."""
    _KINDS[kind.__name__] = kind


def write(
    estimator: Any,
    path: str | PathLike[str],
    params: dict[str, Any],
    config: dict[str, Any] | None,
) -> None:
    """Write a fitted estimator to a file, with plain parameters and settings of texts."""
    try:
        json.dumps(config)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            "[not_plain_values] {parameters.vectorizer_config} contains a value that JSON cannot "
            "represent: {error}",
            error=str(error),
        ) from error
    encoder = Encoder()
    state = sorted(_state(estimator).items())
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "momentree": __version__,
        "kind": type(estimator).__name__,
        "params": {name: encoder.encoded(v, name) for name, v in params.items()},
        "vectorizer": config,
        "state": {name: encoder.encoded(value, name) for name, value in state},
    }
    write_container(path, manifest, encoder.arrays)


def _state(estimator: Any) -> dict[str, Any]:
    """Return the attributes that ``fit`` set, in the form in which they are saved."""
    saved = {name for name, field in estimator._fields.items() if field.saved}
    state = {name: value for name, value in vars(estimator).items() if name in saved}
    packed: dict[str, Any] = estimator._pack(state)
    return packed


def load(path: str | PathLike[str]) -> Any:
    """Load a fitted tree or model of any kind from a file written by its ``save`` method.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        Predicts as the saved one; ``vectorizer_config_`` is the saved one, or None.

    Raises
    ------
    ReadError
        If the file is missing, damaged, or of another format version.
    InvalidParameterError
        If `path` is not a path.

    Examples
    --------
    >>> import tempfile
    >>> from momentree import PoissonMixture, load
    >>> from momentree.datasets import make_poisson_mixture
    >>> X = make_poisson_mixture(200, 10, 2, random_state=0).X
    >>> model = PoissonMixture(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/groups.mt")
    ...     again = load(f"{folder}/groups.mt")
    >>> bool((again.predict(X) == model.labels_).all())
    True
    """
    return read(path)


def read(path: str | PathLike[str], cls: type[Any] | None = None) -> Any:
    """Return the estimator in a file, of any kind or of a class."""
    codes = {
        "unreadable": "[unreadable_model] cannot read the model {path}: {error}",
        "damaged": "[damaged_model] {path} is not a momentree model, or it is damaged ({error})",
    }
    with reading(path, **codes) as (manifest, arrays):
        _check_format(manifest, path)
        kind = manifest["kind"]
        found = _KINDS.get(kind)
        if found is None and cls is None:
            raise ReadError(
                "[unknown_model] {path} contains a {kind!r}, which momentree {version} does not "
                "have; upgrade",
                path=str(path),
                kind=kind,
                version=__version__,
            )
        if found is None or not issubclass(found, cls or found):
            expected = "" if cls is None else cls.__name__
            raise ReadError(
                "[other_model] {path} contains a {found}, not a {expected}",
                path=str(path),
                found=kind,
                expected=expected,
            )
        return _restored(found, manifest, arrays)


def _check_format(manifest: dict[str, Any], path: str | PathLike[str]) -> None:
    version = manifest.get("format_version")
    if manifest.get("format") != FORMAT:
        raise ReadError(
            "[other_format] {path} contains {found!r}, not a momentree model",
            path=str(path),
            found=str(manifest.get("format")),
        )
    if type(version) is not int or version < 1:
        raise InvalidDataError(wording.BAD_ENTRY, name="format_version", value=version)
    if version != FORMAT_VERSION:
        raise ReadError(
            (
                "[newer_format] {path} has format version {found}, but momentree {version} reads "
                "version {known}; it was written by momentree {writer}: upgrade momentree"
            )
            if version > FORMAT_VERSION
            else (
                "[older_format] {path} has format version {found}, but momentree {version} reads "
                "version {known}; fit and save the model again"
            ),
            path=str(path),
            found=version,
            known=FORMAT_VERSION,
            version=__version__,
            writer=str(manifest.get("momentree")),
        )
    for name, expected in _FIELDS.items():
        if not isinstance(manifest[name], expected):
            raise InvalidDataError(wording.BAD_ENTRY, name=name, value=manifest[name])


def _restored(cls: type[Any], manifest: dict[str, Any], arrays: Arrays) -> Any:
    params = {name: decoded(value, arrays) for name, value in manifest["params"].items()}
    estimator = cls(**cls._loaded_params(params))
    estimator._check_parameters()
    state = {name: decoded(value, arrays) for name, value in manifest["state"].items()}
    fields = estimator._fields
    for name, value in state.items():
        if name not in fields:
            raise InvalidDataError("{name!r} is not an attribute of a fitted estimator", name=name)
        if fields[name].saved:  # others were saved by earlier versions
            setattr(estimator, name, value)
    if missing := [name for name, f in fields.items() if f.required and name not in state]:
        raise InvalidDataError(wording.BAD_ENTRY, name=missing[0], value=None)
    estimator.vectorizer_config_ = manifest["vectorizer"]
    estimator._unpack()
    _check(estimator)
    return estimator


def _check(estimator: Any) -> None:
    """Raise an error if the parts of an estimator do not match: compiled code trusts shapes."""
    sizes = estimator._sizes()
    k = sizes["k"]
    for name, value in list(vars(estimator).items()):
        if name in estimator._fields:
            estimator._fields[name].check(name, value, sizes)
    estimator._check_consistent()
    if not estimator._assigns_groups:
        return
    # Try a sample of zeros and one of ones: valid numbers may overflow in combination.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", UserWarning)  # samples without column names
        samples = estimator._trial_samples()
        for method, shape in (("predict_proba", (2, k)), ("score_samples", (2,))):
            if hasattr(estimator, method):
                found = np.asarray(getattr(estimator, method)(samples))
                check_shape(method, found, shape)
                check_finite(method, found)
