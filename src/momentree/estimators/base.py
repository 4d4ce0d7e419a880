"""The life cycle that all estimators share: check, fit, name, save and load."""

import copy
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from momentree import decomposition
from momentree._fit import all_or_nothing, warn_caller
from momentree._types import Floats, Ints
from momentree._validation import rules
from momentree.backends import Rows, counted_passes, single_threaded_blas, sources
from momentree.core.progress import console_logging
from momentree.estimators import texts
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.persistence import fields, files

GROUPS: fields.Fields = {"labels_": fields.LABELS, "vocabulary_": fields.strings("names")}
"""Attributes of estimators that assign each sample to a group."""


class Estimator(BaseEstimator, ABC):  # type: ignore[misc]
    """Base of all estimators.

    A subclass declares its parameters as fields of a dataclass, the rules they follow, and the
    attributes that a fit sets. It implements :meth:`_check_samples` and :meth:`_learn`; what
    texts, batches, names, editing and pages add are functions of this room, which the class names.
    """

    _rules: ClassVar[rules.Rules] = {}
    """Rules of the parameters, by name."""

    _fields: ClassVar[fields.Fields] = {
        "n_features_in_": fields.INTEGER,
        "feature_names_in_": fields.strings("d").optional.kept,
        "n_iter_": fields.INTEGER,
        "converged_": fields.FLAG,
        "n_passes_": fields.NUMBER.optional,
        "notes_": fields.MESSAGES.optional,
        "vectorizer_config_": fields.DERIVED,
        "_sklearn_output_config": fields.of_type(dict).optional.kept,  # of `set_output`
    }
    """The attributes of a fitted estimator, by name."""

    _assigns_groups: ClassVar[bool] = True
    """Whether the estimator finds the group of any sample, and names its columns."""

    _dense: ClassVar[bool] = False
    """Whether all rows must be in memory, as an array."""

    _log: ClassVar[logging.Logger] = logging.getLogger("momentree")

    n_features_in_: int
    weights_: Floats
    labels_: Ints
    vocabulary_: np.ndarray[Any, Any]
    n_iter_: int
    converged_: bool
    vectorizer_config_: dict[str, Any] | None
    notes_: list[Message]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        files.register(cls)
        for name, field in cls._fields.items():
            if name.startswith("_") and field.of_one_fit and not hasattr(cls, name):
                setattr(cls, name, None)  # what not every fit sets

    # --- fit --------------------------------------------------------------------------------------

    def _fit(self, X: Any, /, **given: Any) -> Self:
        """Fit to checked samples: the steps of every fit; on an error, nothing has changed."""
        with all_or_nothing(self):
            self._check_parameters()
            self._forget()
            X, brought = self._gather(X)
            samples, n_rows = self._check_samples(X, **given)
            self.notes_ = []
            with (
                console_logging(self._log, bool(getattr(self, "verbose", False))),
                single_threaded_blas(),
                counted_passes() as read,
            ):
                result = self._learn(samples)
            self.n_passes_ = read.n_rows / n_rows
            for warning in self._finish(samples, result):
                warn_caller(warning)
            self.notes_ += brought
            return self

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is out of range."""
        rules.check(self, self._rules)

    def _forget(self, *names: str) -> None:
        """Discard attributes of the last fit that not every fit sets, or those given."""
        of_last_fit = (name for name, field in self._fields.items() if field.of_one_fit)
        for name in names or of_last_fit:
            if name in vars(self):
                delattr(self, name)

    def _gather(self, X: Any) -> tuple[Any, list[Message]]:
        """Return rows that the fit can use where they are, or bring them here, with a note."""
        return sources.in_reach(X, type(self).__name__, self._for_sums_alone)

    def _for_sums_alone(self, rows: Rows) -> Mapping[str, Any] | None:  # noqa: ARG002
        """Parameters with which sums over rows suffice: none if they do, None if they never do."""
        return None

    @abstractmethod
    def _check_samples(self, X: Any, **given: Any) -> tuple[Any, int]:
        """Return checked samples in the form that :meth:`_learn` expects, and their number."""

    @abstractmethod
    def _learn(self, samples: Any) -> Any:
        """Fit checked samples, and return the result."""

    @abstractmethod
    def _finish(self, samples: Any, result: Any) -> Iterable[Warning]:
        """Set the attributes of a result, and return what to warn of."""

    def _count_copies(self) -> None:
        """Count copies of a text in full in shares, though they weighed less in the fit."""

    def _copy(self) -> Self:
        """Return a copy to change; shared attributes are never changed in place."""
        return copy.copy(self)

    # --- files ------------------------------------------------------------------------------------

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
        vectorizer = getattr(self, "vectorizer_", None)
        if vectorizer_config is None and vectorizer is not None:
            vectorizer_config = vectorizer.to_dict()
        files.write(self, path, params, vectorizer_config)

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
        estimator: Self = files.read(path, cls)
        return estimator

    @property
    def _n_groups(self) -> int:
        """Number of groups of the fitted estimator."""
        return len(self.weights_)

    @property
    def _n_features_out(self) -> int:
        return self._n_groups

    @property
    def _n_names(self) -> int:
        """Number of names in ``vocabulary_``."""
        return self.n_features_in_

    def _saved_params(self) -> dict[str, Any]:
        """Return the parameters as plain values; the state of a random generator is not saved."""
        params: dict[str, Any] = self.get_params(deep=False)
        if not isinstance(params["random_state"], int | np.integer):
            params["random_state"] = None
        method = params.get("decomposition")
        if callable(method):
            params["decomposition"] = getattr(method, "__name__", "")
            if getattr(decomposition, params["decomposition"], None) is not method:
                raise InvalidParameterError(
                    "[own_decomposition] {parameters.decomposition} is a custom function, which "
                    "cannot be saved; set it to the name of a function in momentree.decomposition "
                    "before saving"
                )
        return texts.pack_vectorizer(params)

    @classmethod
    def _loaded_params(cls, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that :meth:`_saved_params` converted to plain values."""
        return texts.unpack_vectorizer(params)

    def _pack(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return the attributes of a fit in the form in which they are saved."""
        return state

    def _unpack(self) -> None:
        """Restore what :meth:`_pack` has changed, and what follows from other attributes."""

    def _sizes(self) -> dict[str, int]:
        """Return the known lengths of axes of the attributes."""
        return {"k": self._n_groups, "d": self.n_features_in_, "names": self._n_names}

    def _check_consistent(self) -> None:
        """Raise an error if attributes from a file do not match each other."""

    def _trial_samples(self) -> Any:
        """Return two samples, which a restored estimator must be able to use."""
        return sp.csr_array(np.repeat([[0], [1]], self.n_features_in_, axis=1))
