"""Flat models that learn from batches: sums, stable numbers and names of components."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree.backends import Rows, as_rows
from momentree.backends.contents import filled_weights
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.models._fit_result import FitResult
from momentree.objects import MixtureSums
from momentree.tree.changes import ModelChanges, compare_models
from momentree.tree.node import pack, unpack
from momentree.tree.online import BatchUpdate, FitsBatches


class OnlineModel(FitsBatches):
    """A flat model with ``partial_fit``; a subclass implements :meth:`_updated`."""

    refine: str | None
    posterior_: Any
    weights_: Floats
    components_: Floats
    mean_count_: float

    _words: Ints
    _names: list[str]

    def _updated(
        self,
        X: Any,
        missing: Any | None,
        weight: Floats,
        before: MixtureSums,
    ) -> tuple[FitResult, Ints | None, BatchUpdate]:
        """Return the result with the components in place, the order of samples, and the update."""
        raise NotImplementedError

    if TYPE_CHECKING:  # other bases implement them
        _shown_words: list[Ints]

        def _choose_words(self, counts: Any, weight: Floats) -> None: ...

        _leaves_out_empty: ClassVar[bool]

        def _set_result(self, result: FitResult, at: Ints | None, rows: Rows) -> None: ...

    def _check_online(self) -> None:
        if self.refine not in ("em", "variational"):
            raise InvalidParameterError(
                "no_sums_without_em", refine=self.refine, instead="em", kind=type(self).__name__
            )

    def _update(
        self, X: Any, missing: Any | None, weight: Floats, before: MixtureSums
    ) -> BatchUpdate:
        rows = as_rows(X)
        if self._leaves_out_empty:
            weight = np.asarray(filled_weights(rows, weight))
        result, at, update = self._updated(X, missing, weight, before)
        self._set_result(result, at, rows)
        assert result.sums is not None  # noqa: S101 - for the type checker
        self.mean_count_ = result.sums.total / result.sums.weight
        words = vars(self).get("_words")
        self._choose_words(rows, weight)
        if words is not None:  # of the last batch, which may not contain all components
            chosen = [unpack(row) for row in self._words]
            old = [unpack(row) for row in words]
            for j, row in enumerate(chosen):
                if not len(row) and j < len(old):
                    chosen[j] = old[j]
            self._words = pack(chosen)
        return update

    def _keep_names_of(self, before: Self, changes: ModelChanges) -> None:
        """Keep the words and names of components that stayed, and names given by hand."""
        here = {g.new: g.old for g in changes if g.status != "appeared" and g.new is not None}
        stayed = {g.new for g in changes if g.status in ("stayed", "vanished")}
        old_words: Any = vars(before).get("_words")
        if old_words is not None:
            chosen = self._shown_words  # none after a fit to sums
            for j in stayed & set(here):
                chosen[j] = unpack(old_words[here[j]])  # type: ignore[index]
            self._words = pack(chosen)
        vars(self).pop("_names", None)
        given = before.given_names_
        self._given_names = {}
        names = self.names_
        kept = {j: before.names_[here[j]] for j in stayed & set(here)}  # type: ignore[index]
        for j, i in here.items():
            if str(i) in given:
                kept[j] = given[str(i)]
        self._given_names = {str(j): given[str(i)] for j, i in here.items() if str(i) in given}
        if not self._given_names:
            del self._given_names
        used = set(kept.values())
        result = []
        for j, name in enumerate(names):
            result.append(kept[j] if j in kept else _unused(name, used))
            used.add(result[-1])
        self._names = result

    def _relabel(self, before: Self) -> None:
        vars(self).update(vars(self.relabeled(before)))

    def relabeled(self, like: Self) -> Self:
        """Return this model with the numbers and names that its components have in another model.

        Labels then stay the same after a fit to the documents of another month. Components are
        matched as by :func:`momentree.compare_models`: one that is in both models has the number
        and the name that it has in the other one; new components have the numbers that remain.

        Parameters
        ----------
        like : fitted estimator
            A model of the same class, whose numbers and names are kept.

        Returns
        -------
        estimator
            A new fitted estimator; this one is unchanged. ``changes_`` compares the two. Its
            weights are not sorted.

        Raises
        ------
        InvalidDataError
            If the other model is of another class, or has no columns in common.

        Examples
        --------
        >>> import numpy as np
        >>> from momentree import SingleTopicModel
        >>> topics = np.kron(np.eye(2), np.ones(3))
        >>> january = SingleTopicModel(2).fit(topics[[0] * 30 + [1] * 20])
        >>> february = SingleTopicModel(2).fit(topics[[0] * 20 + [1] * 30])
        >>> february.relabeled(january).predict(topics), january.predict(topics)
        (array([0, 1]), array([0, 1]))
        """
        check_is_fitted(self, "components_")
        if not isinstance(like, type(self)):
            raise InvalidDataError(
                "relabeled_like_other", found=type(like).__name__, expected=type(self).__name__
            )
        check_is_fitted(like, "components_")
        changes = compare_models(like, self)
        k = len(self.weights_)
        order = np.full(k, -1, dtype=np.intp)
        for group in changes:
            if group.old is not None and group.new is not None and group.old < k:
                order[group.old] = group.new
        rest = iter(sorted(set(range(k)) - set(order.tolist())))
        for j in np.flatnonzero(order < 0):
            order[j] = next(rest)
        out = self._reordered(order)
        changes = compare_models(like, out)
        same_words = list(like.vocabulary_) == list(out.vocabulary_)
        reference = copy.copy(like)
        if not same_words:  # columns differ, so words must be chosen from the new ones
            vars(reference).pop("_words", None)
        out._keep_names_of(reference, changes)
        out.changes_ = changes
        return out

    def _reordered(self, order: Ints) -> Self:
        """Return a copy with component `order[j]` at position j."""
        out = copy.copy(self)
        place = np.argsort(order)
        out.posterior_ = self.posterior_.reordered(order)
        out.weights_, out.components_ = self.weights_[order], self.components_[order]
        out.labels_ = np.append(place, -1)[self.labels_]  # -1 stays -1
        if "_words" in vars(self):
            out._words = self._words[order]
        if "_names" in vars(self):
            out._names = [self._names[j] for j in order]
        if (sums := vars(self).get("_sums")) is not None:
            out._sums = sums.reordered(order)
        return out


def _unused(name: str, used: set[str]) -> str:
    """Return the name, with a number if another component has it."""
    found, n = name, 2
    while found in used:
        found, n = f"{name} ({n})", n + 1
    return found
