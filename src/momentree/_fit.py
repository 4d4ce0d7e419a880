"""Fitting: restore an estimator when a fit fails, and warn where the caller sees it."""

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree._validation.rules import generator
from momentree.exceptions import ConvergenceWarning, InvalidDataError


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Restore all attributes of an estimator if its fit raises an error.

    Checks and fits set attributes one by one. An estimator with some attributes of a failed fit
    would predict nonsense. The fit must not change any attribute in place.
    """
    attributes: dict[str, Any] = vars(estimator)
    before = dict(attributes)
    try:
        generator(getattr(estimator, "random_state", None))
        yield
    except BaseException as error:
        attributes.clear()
        attributes.update(before)
        if isinstance(error, np.linalg.LinAlgError):
            raise InvalidDataError(
                "[no_convergence] the numbers are too large, too small or too far apart for "
                "computations with matrices ({error}); bring the columns to comparable units",
                error=str(error),
            ) from error
        raise


def warn_caller(warning: Warning) -> None:
    """Issue a warning that points to the line outside of this package that led to it."""
    package = __name__.partition(".")[0]
    level, frame = 2, inspect.currentframe()
    frame = frame and frame.f_back
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def warn_of_single_samples(labels: Ints, weight: Floats, k: int) -> None:
    """Warn if some of k > 1 components have one sample of positive weight, or none."""
    sizes = np.bincount(labels[weight > 0], minlength=k)
    few = np.flatnonzero(sizes <= 1)
    if k > 1 and len(few):
        warn_caller(
            ConvergenceWarning(
                "[components_of_one_sample] {n_few:~component} {n_few:?has/have} one sample or "
                "none (number {components:and}; {n_few:?size/sizes} {sizes:and}) and "
                "{n_few:?describes/describe} no group: use fewer components, or check the data for "
                "outliers",
                n_few=len(few),
                components=few.tolist(),
                sizes=sizes[few].tolist(),
            )
        )
