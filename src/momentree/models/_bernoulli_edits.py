"""Edits by hand of the groups of a mixture of binary variables (T Remark 4.4.1)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from momentree._logging import console_logging
from momentree._validation import check_sample_weight
from momentree.assignment import editing as edit
from momentree.assignment.assigners import Assigner, MixtureAssigner
from momentree.backends import single_threaded_blas
from momentree.models._base import package_log
from momentree.models._bernoulli_data import BinaryData
from momentree.objects import BernoulliParameters, IncompleteBernoulliParameters

if TYPE_CHECKING:
    from momentree.models._bernoulli_groups import BernoulliGroups

__all__ = ["merge_groups", "split_group"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Model = TypeVar("Model", bound="BernoulliGroups")


def split_group(
    model: Model, X: Any, group: int, n_groups: int, sample_weight: ArrayLike | None
) -> Model:
    """Divide a component of a fitted model; see ``BernoulliMixture.split_group``."""
    check_is_fitted(model, "components_")
    group, n_groups = edit.check_group(group, len(model.weights_)), edit.check_n_groups(n_groups)
    again = Again.of(model, X, sample_weight)
    part = again.data.take(np.flatnonzero(again.labels == group))
    usable = int(np.count_nonzero(part.weight > 0))
    if usable < 2:
        edit.refuse_split(group, f"it holds {usable} sample(s) of positive weight")
    inner = clone(model).set_params(n_components=min(n_groups, usable), warm_start=False)
    with console_logging(package_log, bool(model.verbose)), single_threaded_blas():
        run = inner._run(part)
        labels = MixtureAssigner.of(run.parameters).labels(part.rows)
        sizes = np.bincount(labels, weights=part.weight, minlength=run.parameters.n_components)
        kept = np.flatnonzero(sizes > 0)
        if len(kept) < 2:
            reason = run.diagnostics.get("reason") or "one part is the likeliest for all of it"
            edit.refuse_split(group, reason)
        weights = run.parameters.weights[kept] / run.parameters.weights[kept].sum()
        likely, centers = run.parameters.centers[:, kept], run.centers[:, kept]
        if part.missing is not None:
            # Of a feature that no record of the group has a value of, the group says all.
            unseen = part.missing.T @ part.weight > (1 - 1e-12) * part.weight.sum()
            likely[unseen] = model.posterior_.centers[unseen, group, None]
            centers[unseen] = model.components_[group, unseen, None]
        parts = MixtureAssigner.of(type(run.parameters)(weights, likely))
        within = parts.labels(part.rows)
    # Records without missing values are what an assigner of the model reads.
    plain = MixtureAssigner.of(BernoulliParameters(weights, likely))
    edited = edit.split(model._assigner, again.labels, group, plain, within)
    before, after = slice(group), slice(group + 1, None)
    w = model.weights_

    def divided(of_all: Floats, of_parts: Floats) -> Floats:
        return np.hstack([of_all[:, before], of_parts, of_all[:, after]])

    return _edited(
        model,
        again,
        *edited,
        np.concatenate([w[before], w[group] * weights, w[after]]),
        divided(model.posterior_.centers, likely),
        divided(model.components_.T, centers),
        converged=model.converged_ and run.converged,
    )


def merge_groups(
    model: Model, X: Any, groups: Sequence[int], sample_weight: ArrayLike | None
) -> Model:
    """Make one component of several; see ``BernoulliMixture.merge_groups``."""
    check_is_fitted(model, "components_")
    k = len(model.weights_)
    groups = edit.check_groups(groups, k)
    again = Again.of(model, X, sample_weight)
    weight, w = again.data.weight, model.weights_
    edited = edit.merged(model._assigner, again.labels, groups, weight)
    place = edit.largest(groups, np.bincount(again.labels, weights=weight, minlength=k))
    to = edit.new_numbers(k, groups, place)
    weights = np.bincount(to, weights=w).astype(np.float64)
    # Components without weight count alike where there are no others.
    share = np.where(weights[to] > 0, w, 1.0)
    share /= np.bincount(to, weights=share)[to]
    union = share[:, None] * (to[:, None] == np.arange(len(weights)))
    return _edited(
        model,
        again,
        *edited,
        weights,
        np.clip(model.posterior_.centers @ union, 0.0, 1.0),
        np.clip(model.components_.T @ union, 0.0, 1.0),
        converged=model.converged_,
    )


@dataclass(frozen=True)
class Again:
    """The data of a fit once more.

    Attributes
    ----------
    data : BinaryData
        In canonical order.
    at, labels : ndarray of intp of shape (n,)
        Row in X and component of each sample.
    """

    data: BinaryData
    at: Ints
    labels: Ints

    @classmethod
    def of(cls, model: BernoulliGroups, X: Any, sample_weight: ArrayLike | None) -> Again:
        """Return checked data of a fitted model."""
        ones, missing = model._values(X)
        edit.check_same_rows(ones.shape[0], model.labels_)
        held_gaps = isinstance(model.posterior_, IncompleteBernoulliParameters)
        edit.check_same_gaps(missing, held_gaps=held_gaps)
        weight = check_sample_weight(sample_weight, ones.shape[0])
        data, at = BinaryData.prepared(ones, missing, weight)
        return cls(data, at, model.labels_[at])


def _edited(
    model: Model,
    again: Again,
    assigner: Assigner,
    labels: Ints,
    weights: Floats,
    likely: Floats,
    centers: Floats,
    *,
    converged: bool,
) -> Model:
    order = np.argsort(-weights, kind="stable")
    out = copy.copy(model)  # nothing that the two share is written to
    out._edited, labels = edit.renumbered(assigner, labels, order)
    out.labels_ = np.empty_like(labels)
    out.labels_[again.at] = labels
    out.posterior_ = type(model.posterior_)(weights[order], likely[:, order])
    out.weights_, out.components_ = out.posterior_.weights, centers[:, order].T.copy()
    out.converged_ = converged
    # The likelihood was that of the model before.
    known = model.diagnostics_.items()
    out.diagnostics_ = {key: value for key, value in known if key != "log_likelihood"}
    return out
