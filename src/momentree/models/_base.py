"""Base class of the flat models of counts and records."""

import logging
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from momentree import _validation as checks
from momentree import backends
from momentree._fit import warn_of_single_samples
from momentree._types import Floats, Ints
from momentree._validation import rules
from momentree.backends import RowArray, Rows, as_rows, contents, products, sources
from momentree.core import choices, ties
from momentree.estimators import base, batches, changes, groups, names, node
from momentree.exceptions import ConvergenceWarning, InvalidDataError, InvalidParameterError
from momentree.inference import log_multinomial
from momentree.messages import Message, wording
from momentree.metrics.words import word_probabilities
from momentree.models._steps import Decomposer, FitResult, check_decomposition, decomposed
from momentree.models.selection import FEW_SAMPLES, MAX_COMPONENTS, guard_search
from momentree.naming import choose_shown_words
from momentree.objects import Decomposition, LDAParameters, MixtureParameters, MixtureSums, Moments
from momentree.persistence import fields
from momentree.tree.selection import ComponentChoice, choose_n_components

_TOO_FEW_NONZERO_SAMPLES = (
    "[too_few_nonzero_samples] {n_rows:~sample} {n_rows:?has/have} a positive weight and a count "
    "above zero, fewer than {parameters.n_components:{n_components}}; lower it or add {samples}"
)


log = logging.getLogger("momentree.models")


def _check_posterior(name: str, value: Any, sizes: fields.Sizes) -> None:
    if not isinstance(value, MixtureParameters | LDAParameters):
        raise InvalidDataError(wording.BAD_ENTRY, name=name, value=value)
    checks.check_shape(f"{name}.centers", value.centers, (sizes["d"], sizes["k"]))


def _check_words(name: str, value: Any, sizes: fields.Sizes) -> None:  # noqa: ARG001
    node.check_columns(value, sizes["k"], sizes["d"])


class FlatModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, base.Estimator):  # type: ignore[misc]
    """Base class of models with a list of components instead of a tree.

    A subclass implements :meth:`_fit_components`, :meth:`_updated` and the inference.
    """

    _auto_model: ClassVar[choices.TopicModel | None] = None
    """The model for which ``n_components="auto"`` chooses the number of topics; None for BIC."""

    _warns_of_single_samples: ClassVar[bool] = False
    """Whether `fit` warns of components of one sample or none."""

    _counts_orders: ClassVar[bool] = False
    """Whether `score_samples` includes the multinomial coefficient."""

    _leaves_out_empty: ClassVar[bool] = False
    """Whether samples without values are in no component."""

    _unlike: ClassVar[str] = (
        "[batch_unlike_groups] {fraction:.0%} of the {samples} of this batch are unlike all "
        "{n_groups:~group}, none of which has vanished to make room; fit() a new model with more "
        "groups"
    )
    _zeros_are_values: ClassVar[bool] = False
    """Whether there is something to learn from a batch that contains only zeros."""

    _rules: ClassVar[rules.Rules] = {
        "n_components": rules.whole(1, words=("auto",)),
        "decomposition": check_decomposition,
        "smoothing": rules.number(above=0),
        "max_iter": rules.whole(1),
        "half_life": rules.number(above=0, optional=True),
        "verbose": rules.check_verbose,
    }
    _fields: ClassVar[fields.Fields] = {
        **base.Estimator._fields,
        **base.GROUPS,
        **names.FIELDS,
        **batches.FIELDS,
        "weights_": fields.simplex("k"),
        "components_": fields.array("k", "d", at_least=0.0),
        "posterior_": fields.Field(_check_posterior),
        "mean_count_": fields.NUMBER,
        "diagnostics_": fields.DIAGNOSTICS,
        "choice_": fields.choice(None).optional,  # saved as None, of no use for new samples
        "_chosen": fields.INTEGER.optional,  # the number of components, if it was not given
        "_words": fields.Field(_check_words).optional,  # columns that are shown, see `pack`
    }

    n_components: int | Literal["auto"]
    decomposition: Decomposer
    refine: str | None
    smoothing: float
    max_iter: int
    tol: float | None
    half_life: float | None
    random_state: int | np.random.RandomState | None
    verbose: bool | int

    components_: Floats
    posterior_: Any
    diagnostics_: Mapping[str, Any]
    mean_count_: float
    choice_: ComponentChoice | None
    _chosen: int | None
    changes_: changes.ModelChanges
    _names: list[str] | None
    _given_names: dict[str, str] | None
    _words: Ints | None
    _sums: MixtureSums | None

    fit = groups.fit
    fit_predict = groups.fit_predict
    transform = groups.transform
    score = groups.score
    bic = groups.bic
    partial_fit = batches.partial_fit
    relabeled = batches.relabeled
    n_samples_seen_ = batches.n_samples_seen_
    names_, given_names_, rename = names.names_, names.given_names_, names.rename
    top_words = names.top_words
    _copied_root, _set_names = names.root_of_components, names.set_component_names

    # --- what a subclass implements ---------------------------------------------------------------

    @abstractmethod
    def _fit_components(self, samples: Any, weight: RowArray) -> tuple[FitResult, Ints | None]:
        """Fit checked samples; return the result in canonical order, and this order if any.

        Samples that are counts are given as rows.
        """

    @abstractmethod
    def _updated(
        self, X: Any, missing: Any | None, weight: Floats, before: MixtureSums
    ) -> tuple[FitResult, Ints | None, batches.BatchUpdate]:
        """Learn from a batch, given sums of earlier ones; return the order of rows as well."""

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability or proportion of each component, shape (n_samples, k)."""

    @abstractmethod
    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each sample, shape (n_samples,)."""

    def _name(self, root: node.TreeNode) -> None:
        """Choose the names of components."""
        names.name_by_words(root, self.vocabulary_)

    @property
    def _profiles(self) -> Floats:
        """P[feature | component] in rows."""
        return word_probabilities(self.components_)

    @property
    def _n_parameters(self) -> int:
        """Number of free parameters: those of k weights and k unconstrained centers."""
        return int(self.components_.size + len(self.weights_) - 1)

    # --- fit --------------------------------------------------------------------------------------

    def _check_samples(self, X: Any, **given: Any) -> tuple[Any, int]:
        samples, counts, weight = self._check_table(X, **given)
        rows = as_rows(counts)  # one object, which keeps what is known of the rows
        if self._leaves_out_empty:
            weight = contents.filled_weights(rows, weight)
        self.choice_ = None
        if self._is_auto and self._auto_model:
            self.choice_ = choose_n_components(
                counts,
                model=self._auto_model,
                sample_weight=weight,
                random_state=self.random_state,
            )
            self._chosen = int(self.choice_.n_components)
        return (rows if samples is counts else samples, rows, weight), rows.shape[0]

    def _check_table(
        self, X: Any, sample_weight: Any, feature_names: Any
    ) -> tuple[Any, Any, RowArray]:
        """Check the data of ``fit``; return samples, their non-negative values, and weights."""
        if isinstance(X, Rows):
            weight = contents.row_weights(X, sample_weight)
            found, self.vocabulary_ = contents.checked_rows(self, X, weight, feature_names)
            self._check_enough(_TOO_FEW_NONZERO_SAMPLES, int(found.rows_usable))
            return X, X, weight
        counts, self.vocabulary_ = checks.check_features(self, X, feature_names, reset=True)
        weight = checks.check_sample_weight(sample_weight, counts.shape[0])
        checks.check_something(counts, weight)
        usable = (weight > 0) & (np.diff(counts.indptr) > 0)
        self._check_enough(_TOO_FEW_NONZERO_SAMPLES, int(np.count_nonzero(usable)))
        return counts, counts, weight

    def _check_enough(self, code: str, found: int) -> None:
        if found < self._wanted:
            raise InvalidDataError(code, n_rows=found, n_components=self._wanted)

    def _learn(self, samples: Any) -> tuple[FitResult, Ints | None]:
        values, rows, weight = samples
        if not self._is_auto or self._auto_model:
            return self._fit_components(values, weight)
        n = float(rows.total(weight))

        def fit(k: int) -> tuple[tuple[FitResult, Ints | None], float, Floats]:
            log.info("trying %d", k)
            self._chosen = k
            found, order = self._fit_components(values, weight)
            p = found.centers.size + len(found.weights) - 1
            bic = p * np.log(n) - 2.0 * found.diagnostics["log_likelihood"]
            return (found, order), float(bic), n * found.weights

        (best, order), _, bics = guard_search(
            fit, range(1, min(MAX_COMPONENTS, rows.shape[0]) + 1), FEW_SAMPLES
        )
        self._chosen = len(best.weights)
        return replace(best, diagnostics={**best.diagnostics, "bic": bics}), order

    def _finish(self, samples: Any, result: Any) -> Iterable[Warning]:
        _, rows, weight = samples
        fit, order = result
        if (k := len(fit.weights)) < self._wanted:
            reason = fit.diagnostics.get("reason") or Message(wording.MOMENTS_SHOW_NO_MORE)
            yield ConvergenceWarning(
                wording.FEWER_COMPONENTS, found=k, requested=self._wanted, reason=reason
            )
        self._set_result(fit, order, rows)
        if rows.gives_rows:
            self._choose_words(rows, np.asarray(weight))
        tokens = float(rows.sum(products.dot, rows.row_sums, weight))
        self.mean_count_ = tokens / float(rows.total(weight))
        if rows.gives_rows and self._warns_of_single_samples:
            warn_of_single_samples(self.labels_, np.asarray(weight), k)

    def _set_result(self, fit: FitResult, order: Ints | None, rows: Rows) -> None:
        """Set the attributes of a fit to rows whose labels are in the order `order`."""
        self.posterior_, self.weights_ = fit.parameters, fit.weights
        self.components_ = fit.centers.T.copy()
        self.labels_ = np.empty(0, dtype=np.intp)
        if rows.gives_rows:
            labels = backends.in_given_order(fit.labels, order)
            labels = contents.filled_labels(rows, labels) if self._leaves_out_empty else labels
            self.labels_ = np.asarray(labels)
        self.n_iter_, self.converged_ = fit.n_iter, fit.converged
        self.diagnostics_, self._sums = fit.diagnostics, fit.sums
        for name, value in fit.attributes.items():
            setattr(self, name, value)

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.n_components, str) and self.n_components == "auto"

    @property
    def _wanted(self) -> int:
        """The number of components that was given or chosen."""
        return (self._chosen or 1) if isinstance(self.n_components, str) else int(self.n_components)

    def _decompose(self, moments: Moments) -> Decomposition:
        return decomposed(moments, self._wanted, self.decomposition, self.random_state)

    # --- batches ----------------------------------------------------------------------------------

    def _check_online(self) -> None:
        """Raise InvalidParameterError if parameters do not allow ``partial_fit``."""
        if self.refine != "em":
            raise InvalidParameterError(
                "[no_sums_without_em] {kind} learns from batches by expected statistics of EM, "
                "which {parameters.refine:=refine} does not compute; use "
                "{parameters.refine:=instead}, or fit() all {samples} together",
                refine=self.refine,
                instead="em",
                kind=type(self).__name__,
            )

    def _check_batch(self, X: Any, feature_names: Any, *, reset: bool) -> tuple[Any, Any, Any]:
        """Return checked samples, missing values, and column names."""
        counts, columns = checks.check_features(self, X, feature_names, reset=reset)
        return counts, None, columns

    def _update(
        self, X: Any, missing: Any | None, weight: Floats, before: MixtureSums
    ) -> batches.BatchUpdate:
        """Learn from checked samples."""
        rows = as_rows(X)
        if self._leaves_out_empty:
            weight = np.asarray(contents.filled_weights(rows, weight))
        fit, order, update = self._updated(X, missing, weight, before)
        self._set_result(fit, order, rows)
        assert fit.sums is not None  # noqa: S101 - for the type checker
        self.mean_count_ = fit.sums.total / fit.sums.weight
        last = None if self._words is None else self._shown_words
        self._choose_words(rows, weight)
        if last is not None:  # the last batch may not contain all components
            chosen = self._shown_words
            for j, row in enumerate(chosen):
                if not len(row) and j < len(last):
                    chosen[j] = last[j]
            self._words = node.pack(chosen)
        return update

    def _keep_names_of(self, before: Self, changed: changes.ModelChanges) -> None:
        """Keep names, and words that are shown, of components that stayed."""
        old = {g.new: g.old for g in changed if g.status != "appeared" and g.new is not None}
        stayed = {g.new for g in changed if g.status in ("stayed", "vanished")} & set(old)
        if before._words is not None:
            chosen = self._shown_words  # none after a fit to sums
            for j in stayed:
                chosen[j] = node.unpack(before._words[old[j]])  # type: ignore[index]
            self._words = node.pack(chosen)
        given, last = before.given_names_, before.names_
        self._names = self._given_names = None
        chosen_names = self.names_
        by_hand = {j: given[str(i)] for j, i in old.items() if str(i) in given}
        kept = {j: last[old[j]] for j in stayed} | by_hand  # type: ignore[index]
        self._given_names = {str(j): name for j, name in by_hand.items()} or None
        used = set(kept.values())
        result: list[str] = []
        for j, name in enumerate(chosen_names):
            result.append(kept[j] if j in kept else _unused(name, used))
            used.add(result[-1])
        self._names = result

    def _relabel(self, like: Self) -> None:
        """Take over the numbers and names that the same components have in another model."""
        changed = changes.compare_models(like, self)
        k = len(self.weights_)
        order = np.full(k, -1, dtype=np.intp)
        for group in changed:
            if group.old is not None and group.new is not None and group.old < k:
                order[group.old] = group.new
        rest = iter(sorted(set(range(k)) - set(order.tolist())))
        for j in np.flatnonzero(order < 0):
            order[j] = next(rest)
        self._reorder(order)
        self.changes_ = changes.compare_models(like, self)
        reference = like._copy()
        if list(like.vocabulary_) != list(self.vocabulary_):
            reference._words = None  # columns differ, so words must be chosen from the new ones
        self._keep_names_of(reference, self.changes_)

    def _reorder(self, order: Ints) -> None:
        """Reorder the components, given the old number of each."""
        self.posterior_ = self.posterior_.reordered(order)
        self.weights_, self.components_ = self.weights_[order], self.components_[order]
        self.labels_ = np.append(np.argsort(order), -1)[self.labels_]  # -1 stays -1
        self._words = None if self._words is None else self._words[order]
        self._names = None if self._names is None else [self._names[j] for j in order]
        self._sums = None if self._sums is None else self._sums.reordered(order)

    # --- results ----------------------------------------------------------------------------------

    def _counts(self, X: Any) -> Any:
        """Return the counts of new samples; topic models count the words of texts."""
        return X

    def _new_counts(self, X: Any) -> Any:
        """Return the checked counts of new samples."""
        check_is_fitted(self, "components_")
        return checks.check_features(self, self._counts(X), None, reset=False)[0]

    @sources.by_partition
    def predict(self, X: Any) -> Ints:
        """Return the component with the largest probability or proportion for each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Component numbers; equal to ``labels_`` for the data of ``fit``. Topic models, other
            than :class:`PoissonMixture`, give documents without words the number -1.
        """
        X = self._counts(X)
        labels = self._likeliest(X)
        if self._leaves_out_empty:
            labels = np.asarray(contents.filled_labels(as_rows(self._new_counts(X)), labels))
        return labels

    def _likeliest(self, X: Any) -> Ints:
        return np.asarray(ties.largest(self.predict_proba(X)), dtype=np.intp)

    def perplexity(self, X: Any, y: object = None) -> float:  # noqa: ARG002 - scikit-learn's way
        """Return the perplexity, the effective number of equally likely words.

            exp(-sum_i log P[x_i] / sum_i c_i),   c_i the sum of sample i

        For topic models, P[x_i] is the probability of the sequence of words, without the
        multinomial coefficient that :meth:`score_samples` includes.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``; or texts, after a fit to texts.
        y : None
            Ignored.

        Returns
        -------
        float
            At least 1; smaller is better; NaN if all counts are zero. For
            :class:`LatentDirichletAllocation` an upper bound on the perplexity.
        """
        X = self._counts(X)
        counts = self._new_counts(X)
        words = float(counts.sum())
        total = float(self.score_samples(X).sum())
        if self._counts_orders:
            total -= float(log_multinomial(counts).sum())
        return float(np.exp(-total / words)) if words else float("nan")

    def _choose_words(self, counts: Any, weight: Floats) -> None:
        """Choose the words to show for each component from its word counts."""
        each = [[j] for j in range(len(self.weights_))]
        self._words = node.pack(
            choose_shown_words(counts, self.labels_, each, self.vocabulary_, weight)
        )

    @property
    def _shown_words(self) -> list[Ints]:
        none = np.empty((len(self.weights_), 0), dtype=np.intp)
        return [node.unpack(row) for row in (none if self._words is None else self._words)]

    def _unnamed_root(self) -> node.TreeNode:
        shares = self.weights_
        return node.one_level(self._profiles, shares, self.labels_, shares, self._shown_words)

    def _pack(self, state: dict[str, Any]) -> dict[str, Any]:
        return {**state, "choice_": None}

    def _check_consistent(self) -> None:
        names.check_given_names(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _unused(name: str, used: set[str]) -> str:
    """Return a name that is not yet used, with a number if necessary."""
    found, n = name, 2
    while found in used:
        found, n = f"{name} ({n})", n + 1
    return found
