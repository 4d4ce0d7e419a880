"""Save fitted estimators to files and load them, with methods that all estimators share."""

from __future__ import annotations

import json
import warnings
from os import PathLike
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from momentree._validation import are_labels, check_shape
from momentree._version import __version__
from momentree.core.container import Arrays, reading, write_container
from momentree.exceptions import InvalidDataError, InvalidParameterError, ReadError
from momentree.persistence._values import Encoder, check_finite, decoded

FORMAT = "momentree"
FORMAT_VERSION = 4
_CONFIG = "vectorizer_config_"
_FIELDS: dict[str, Any] = {"kind": str, "params": dict, "vectorizer": dict | None, "state": dict}

_KINDS: dict[str, type[SavedEstimator]] = {}

E = TypeVar("E", bound="SavedEstimator")


class SavedEstimator:
    """Base of estimators that can be saved to a file; subclasses are registered by name.

    A file contains the parameters and every attribute that ``fit`` set, as JSON and arrays.
    """

    _assigns_groups: ClassVar[bool] = True
    """Whether the estimator finds the group of any sample, and names its columns."""

    vectorizer_config_: dict[str, Any] | None
    n_features_in_: int
    n_iter_: int
    converged_: bool
    labels_: np.ndarray[Any, Any]
    vocabulary_: np.ndarray[Any, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _KINDS[cls.__name__] = cls

    def save(
        self, path: str | PathLike[str], *, vectorizer_config: dict[str, Any] | None = None
    ) -> None:
        """Save the fitted estimator to a file; on an error, no partial file remains.

        Parameters
        ----------
        path : str or path-like
            The file, usually ".mt": a ZIP archive of JSON and .npy arrays, without pickle.
        vectorizer_config : dict, default=None
            Settings that convert text to counts, from ``TextVectorizer.to_dict()``. None saves
            those of ``vectorizer_`` after a fit to texts.

        Raises
        ------
        InvalidParameterError
            If a parameter is a function or a vectorizer that is not part of momentree, or
            `vectorizer_config` has a value that JSON cannot represent.
        InvalidDataError
            If an attribute has a value that cannot be stored.
        OSError
            If the file cannot be written, as on a full disk; the error names it.
        """
        check_is_fitted(self, "labels_" if self._assigns_groups else "n_iter_")
        params = self._saved_params()
        if vectorizer_config is None:
            vectorizer_config = self._vectorizer_config()
        try:
            json.dumps(vectorizer_config)
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(
                "not_plain_values", parameter="vectorizer_config", error=str(error)
            ) from error
        encoder = Encoder()
        state = sorted(self._state().items())
        manifest = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "momentree": __version__,
            "kind": type(self).__name__,
            "params": {key: encoder.encoded(v, key) for key, v in params.items()},
            "vectorizer": vectorizer_config,
            "state": {name: encoder.encoded(value, name) for name, value in state},
        }
        write_container(path, manifest, encoder.arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load a fitted estimator from a file written by :meth:`save`.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        estimator
            Predicts exactly as before; ``vectorizer_config_`` is the saved value or None.

        Raises
        ------
        ReadError
            If the file is missing, damaged, of another kind or of another format version.
        """
        return _loaded(path, cls)

    @property
    def _n_names(self) -> int:
        """Number of names in ``vocabulary_``."""
        return self.n_features_in_

    def _saved_params(self) -> dict[str, Any]:
        """Return the parameters; the state of a random generator is not saved."""
        params: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        if not isinstance(params["random_state"], int | np.integer):
            params["random_state"] = None
        return params

    def _state(self) -> dict[str, Any]:
        """Return the attributes that ``fit`` set."""
        # Metadata requests are of scikit-learn, and not part of the result.
        known = {*self.get_params(deep=False), _CONFIG, "_metadata_request"}  # type: ignore[attr-defined]
        return {name: value for name, value in vars(self).items() if name not in known}

    def _restore(self, state: dict[str, Any]) -> None:
        """Set the attributes that ``fit`` set."""
        for name, value in state.items():
            if hasattr(type(self), name) or name.startswith("__"):
                raise InvalidDataError("unknown_attribute", name=name)
            setattr(self, name, value)

    def _vectorizer_config(self) -> dict[str, Any] | None:
        """Return the settings that convert text to counts; None if there are none."""
        return None

    def _restore_vectorizer(self) -> None:
        """Set what converts text to counts, from ``vectorizer_config_``."""

    @classmethod
    def _loaded_params(cls, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that :meth:`_saved_params` converted to plain values."""
        return params

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is out of range."""
        raise NotImplementedError

    def _trial_samples(self) -> Any:
        """Return two samples, which a restored estimator must be able to use."""
        return sp.csr_array(np.repeat([[0], [1]], self.n_features_in_, axis=1))

    def _check_restored(self) -> int:
        """Check that the attributes match each other, and return the number of groups."""
        raise NotImplementedError


def load(path: str | PathLike[str]) -> SavedEstimator:
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
    return _loaded(path, SavedEstimator)


def _loaded(path: str | PathLike[str], cls: type[E]) -> E:
    codes = {"unreadable": "unreadable_model", "damaged": "damaged_model"}
    with reading(path, **codes) as (manifest, arrays):
        _check_format(manifest, path)
        kind = manifest["kind"]
        found = _KINDS.get(kind)
        if found is None or not issubclass(found, cls):
            if found is None and cls is SavedEstimator:
                raise ReadError("unknown_model", path=str(path), kind=kind, version=__version__)
            raise ReadError("other_model", path=str(path), found=kind, expected=cls.__name__)
        return _restored(found, manifest, arrays)


def _check_format(manifest: dict[str, Any], path: str | PathLike[str]) -> None:
    version = manifest.get("format_version")
    if manifest.get("format") != FORMAT:
        raise ReadError("other_format", path=str(path), found=str(manifest.get("format")))
    if type(version) is not int or version < 1:
        raise InvalidDataError("bad_entry", name="format_version", value=version)
    if version != FORMAT_VERSION:
        raise ReadError(
            "newer_format" if version > FORMAT_VERSION else "older_format",
            path=str(path),
            found=version,
            known=FORMAT_VERSION,
            version=__version__,
            writer=str(manifest.get("momentree")),
        )
    for name, expected in _FIELDS.items():
        if not isinstance(manifest[name], expected):
            raise InvalidDataError("bad_entry", name=name, value=manifest[name])


def _restored(cls: type[E], manifest: dict[str, Any], arrays: Arrays) -> E:
    params = {name: decoded(value, arrays) for name, value in manifest["params"].items()}
    estimator = cls(**cls._loaded_params(params))
    estimator._check_parameters()
    estimator._restore({name: decoded(v, arrays) for name, v in manifest["state"].items()})
    setattr(estimator, _CONFIG, manifest["vectorizer"])
    estimator._restore_vectorizer()
    _check(estimator)
    return estimator


def _check(estimator: Any) -> None:
    """Raise an error if the parts of an estimator do not match: compiled code trusts shapes."""
    for name, expected in (("n_features_in_", int), ("n_iter_", int), ("converged_", bool)):
        if type(getattr(estimator, name)) is not expected:
            raise InvalidDataError("bad_entry", name=name, value=getattr(estimator, name))
    d = estimator.n_features_in_
    for name, size in (("vocabulary_", estimator._n_names), ("feature_names_in_", d)):
        required = name == "vocabulary_" and estimator._assigns_groups
        if not required and not hasattr(estimator, name):
            continue  # the data had no names
        names = getattr(estimator, name)
        check_shape(name, names, (size,))
        if names.dtype != object:
            raise InvalidDataError("not_strings", name=name)
    for name, value in vars(estimator).items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            check_finite(name, value)
    k = estimator._check_restored()
    if not estimator._assigns_groups:
        return
    labels = estimator.labels_
    check_shape("labels_", labels, ("n_samples",))
    if not are_labels(labels, k):
        raise InvalidDataError("labels_beyond_groups", last=k - 1)
    # Try a sample of zeros and one of ones: valid numbers may overflow in combination.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", UserWarning)  # samples without column names
        samples = estimator._trial_samples()
        for method, shape in (("predict_proba", (2, k)), ("score_samples", (2,))):
            if hasattr(estimator, method):
                found = np.asarray(getattr(estimator, method)(samples))
                check_shape(method, found, shape)
                check_finite(method, found)
