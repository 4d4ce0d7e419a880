"""BernoulliMixture: a mixture of independent binary variables, for coded records (T chapter 4)."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_ones, check_sample_weight, check_values, rules
from momentree.assignment.posteriors import IncompleteAssigner, MixtureAssigner
from momentree.assignment.rules import check_assigner
from momentree.backends import RowArray, RowBlocks, Rows, as_rows, collected
from momentree.backends.contents import Contents, checked_rows, row_weights
from momentree.backends.sources import by_partition
from momentree.core.choices import Refine
from momentree.estimators import groups, names, node, page
from momentree.estimators.batches import BatchUpdate
from momentree.exceptions import InvalidDataError
from momentree.inference import log_joint, log_posterior
from momentree.messages import wording
from momentree.models import _product_starts as product_starts
from momentree.models._base import FlatModel, log
from momentree.models._binary_data import BinaryData, counted
from momentree.models._steps import Decomposer, FitResult, Initialization, draw_rows
from momentree.objects import BernoulliParameters, IncompleteBernoulliParameters, MixtureSums
from momentree.objects.mixtures import sums_over
from momentree.persistence import fields
from momentree.refinement import Refined, em, renewing_em
from momentree.refinement.em import Convergence, log_likelihood

Start = Literal[
    "auto",
    "search",
    "moments",
    "raw_moments",
    "clusters",
    "tree",
    "three_view_mom",
    "three_view_tpm",
]

TOLERANCES: dict[Convergence, float] = {"likelihood": 1e-7, "weights": 1e-2, "centers": 1e-4}


@dataclass(eq=False, repr=False)
class BernoulliMixture(FlatModel):
    """Cluster binary records by a mixture of independent Bernoulli variables.

        Y ~ Discrete(omega),   x_w | Y = j ~ Bernoulli(mu_jw), independent     (T section 4.2)

    Parameters
    ----------
    n_components : int >= 1 or "auto", default=8
        Number of components k. "auto" fits 1, 2, ... components, up to 30, until BIC has not fallen
        three times in a row, and keeps the fit of lowest BIC without a component of fewer than five
        samples, which may be outliers.
    decomposition : str or callable, default="sidiwo"
        "sidiwo", "svtd", "tensor_power_method", "als", "svd_method", "eigendecomposition",
        "jennrich" or "random_projections" from ``momentree.decomposition``, or a function with the
        same signature.
        "svtd" with ``start="raw_moments"`` is ASVTD (T Algorithm 2).
    refine : {"em", None}, default="em"
        "em" refines the start by expectation-maximization, which removes the bias of raw moments.
        None returns the start.
    start : {"auto", "search", "moments", "raw_moments", "clusters", "tree", "three_view_mom", \
"three_view_tpm"}, default="auto"
        "search" searches for the most likely mixture: it divides components along the principal
        directions of their records, merges similar ones and runs EM, as long as this raises the
        posterior; see :class:`momentree.refinement.MixtureSearch`. With at least 1000 k^2 ones, the
        components of raw moments are another start; if not, up to 1000 records are searched again
        with features of equal deviation, as :class:`MixedMixture` does.
        "raw_moments" decomposes the raw moments, as the thesis does. "moments" then subtracts the
        bias that the estimated parameters predict and decomposes again, three times; see
        :class:`momentree.moments.CorrectedMoments`.
        "clusters" and "tree" group the records by D-SIDIWO, in one split into k or in a tree of k
        leaves; see :class:`momentree.ClusterTree`. "three_view_mom" and "three_view_tpm" divide
        the features into three random views, whose cross moments are unbiased but noisy (T section
        4.3.1).
        "auto" is "search" with EM and "moments" without it. With EM and another `decomposition`
        than the default, it runs EM from "raw_moments" and from "moments", and keeps the second if
        its log-likelihood is higher by n_components / 2 log n_samples.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        omega, descending, sum 1. If the data support fewer than `n_components` components, ``fit``
        warns and returns fewer.
    means_ : ndarray of shape (n_components, n_features)
        mu in rows: the frequency of each feature in each component, from 0 to 1.
    components_ : ndarray of shape (n_components, n_features)
        The same array, under the name that all flat models use.
    posterior_ : BernoulliParameters
        Parameters used to assign records: those above. If moments are not refined by EM, the
        frequencies are 0.95 ``means_`` plus 0.05 times the mean of all records.
    labels_ : ndarray of int of shape (n_samples,)
        Component of each record (T eq. 4.2).
    n_iter_ : int
        Number of EM steps; 1 without EM.
    n_passes_ : float
        Passes over the data: how often a row was read, on average.
    converged_ : bool
        Whether EM reached its tolerance; True without EM.
    diagnostics_ : mapping
        See :class:`momentree.objects.Decomposition`; also "start"; "m2_bias_bound", the largest
        bias of an entry of raw M2 by T Theorem 4.3.1 (for all bounds, see
        :func:`momentree.moments.bernoulli_bias_bounds`); after EM, "log_likelihood"; "bic", with
        ``n_components="auto"``: the BIC of 1, 2, ... components.
    mean_count_ : float
        Mean number of ones per record.
    vocabulary_ : ndarray of str of shape (n_features,)
        Column names; "0", "1", ... if there are none.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Column names, if X was a data frame.

    Other Parameters
    ----------------
    convergence : {"likelihood", "weights", "centers"}, default="likelihood"
        "likelihood": EM stops when a step raises the log-likelihood, plus the log prior of
        `smoothing`, by no more than the fraction `tol` of its size. "weights", "centers": when it
        moves omega (T section 4.5) or the centers M (T section 6.4.1) by no more than `tol` in
        norm.
    smoothing : float > 0, default=1.0
        Strength of the prior, in samples: the number of average samples added to every component,
        so that no probability is 0.
    max_iter : int >= 1, default=200
        Maximum number of EM steps.
    tol : float >= 0 or None, default=None
        Threshold of `convergence`. None means 1e-7, 0.01 and 0.0001 for its three values; the last
        two are those of the thesis.
    half_life : float > 0 or None, default=None
        Number of batches after which samples count half in :meth:`partial_fit`; None forgets none.
    random_state : int, RandomState or None, default=None
        Seed for the three views and for random decompositions. None means seed 0.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.models`` always gets it.

    Notes
    -----
    Implements T chapter 4. EM ignores missing values (NaN, also in a sparse matrix); the moments
    correct for them by inverse observation rates. Both assume that values are missing at random.
    Time: O(nnz k) per EM step, of which "search" takes between 20 and 100 in all, and O(nnz k^2)
    for the moments. Memory beyond X: O(d k + n k), with moments O(d k^2 + n k), 12 bytes per stored
    value, and a dense copy of X of up to 128 MB if at least a twelfth of its values are 1.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import BernoulliMixture
    >>> rng = np.random.default_rng(0)
    >>> means = np.array([[0.9, 0.8, 0.9, 0.1, 0.2, 0.1], [0.1, 0.2, 0.1, 0.9, 0.8, 0.9]])
    >>> truth = rng.choice(2, size=5000, p=[0.7, 0.3])
    >>> model = BernoulliMixture(2).fit(rng.random((5000, 6)) < means[truth])
    >>> bool(np.abs(model.means_ - means).max() < 0.04)
    True
    """

    _warns_of_single_samples = True
    _zeros_are_values = True

    n_components: int | Literal["auto"] = 8
    _: KW_ONLY
    decomposition: Decomposer = "sidiwo"
    refine: Refine | None = "em"
    start: Start = "auto"
    convergence: Convergence = "likelihood"
    smoothing: float = 1.0
    max_iter: int = 200
    tol: float | None = None
    half_life: float | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    _rules: ClassVar[rules.Rules] = {
        **FlatModel._rules,
        "refine": rules.REFINE,
        "start": get_args(Start),
        "convergence": get_args(Convergence),
        "tol": rules.number(at_least=0, optional=True),
    }

    _fields: ClassVar[fields.Fields] = {
        **FlatModel._fields,
        "_incomplete": fields.of_type(IncompleteAssigner).optional,
    }

    sample = groups.sample
    predict_incomplete = groups.predict_incomplete
    predict_incomplete_proba = groups.predict_incomplete_proba
    scoring = groups.scoring
    to_html = page.records_to_html

    def _check_table(
        self, X: Any, sample_weight: Any, feature_names: Any
    ) -> tuple[Any, Any, RowArray]:
        if isinstance(X, Rows):
            weight = row_weights(X, sample_weight)
            contents, self.vocabulary_ = checked_rows(
                self, X, weight, feature_names, binary=True, filled=False
            )
            self._check_samples_of(int(contents.rows_weighted), X.shape[1])
            return (X, None), X, weight
        ones, missing, self.vocabulary_ = check_values(self, X, feature_names, reset=True)
        check_ones(ones)
        weight = check_sample_weight(sample_weight, ones.shape[0])
        self._check_samples_of(int(np.count_nonzero(weight)), ones.shape[1])
        return (ones, missing), ones, weight

    def _check_samples_of(self, n_weighted: int, d: int) -> None:
        self._check_enough(wording.TOO_FEW_WEIGHTED_SAMPLES, n_weighted)
        if self.start.startswith("three_view") and d < 3:
            raise InvalidDataError(
                "[too_few_views] X has {found:~feature}, but {parameters.start:=start} divides the "
                "features into three views; use {parameters.start:'auto'}",
                found=d,
                start=self.start,
            )

    def _for_sums_alone(self, rows: Rows) -> Mapping[str, Any] | None:
        if Contents.of(rows, rows.ones()).kind != "binary":
            return None
        by_moments = self.start in ("moments", "raw_moments", "tree", "clusters")
        if by_moments or (self.start == "auto" and not self.refine):
            return {}
        return {"start": "moments"}

    def _fit_components(
        self, samples: tuple[Any, Any | None], weight: RowArray
    ) -> tuple[FitResult, Ints | None]:
        values, missing = samples
        at: Ints | None = None
        if isinstance(values, Rows):
            data = BinaryData.of_rows(values, weight)
        else:
            data, at = BinaryData.prepared(values, missing, weight)
        start, refined = self._most_likely(data)
        diagnostics = {**start.diagnostics, "m2_bias_bound": data.bias_bound}
        fitted = data.family(start.weights, start.parameters.centers)
        result = FitResult(fitted, fitted.weights, start.centers, diagnostics)
        if refined is not None:
            fitted = refined.parameters
            diagnostics["log_likelihood"] = refined.log_likelihood
            sums = self._sums_of(data, refined.sums, refined.sizes)
            result = FitResult(
                fitted,
                fitted.weights,
                fitted.centers,
                diagnostics,
                refined.n_iter,
                refined.converged,
                sums,
            )
        elif self._is_auto:
            diagnostics["log_likelihood"] = log_likelihood(data.rows, fitted, data.weight)
        result = result.largest_first(lambda p: MixtureAssigner.of(p).labels(data.rows))
        incomplete = counted(data, result.labels, len(result.weights))
        return replace(result, attributes={"_incomplete": incomplete}), at

    def _sums_of(self, data: BinaryData, statistics: Floats, sizes: Floats) -> MixtureSums:
        none = np.empty((0, len(sizes)))
        return sums_over(as_rows(data.ones), data.weight, statistics, sizes, none, self.smoothing)

    def _check_batch(
        self, X: Any, feature_names: Any, *, reset: bool
    ) -> tuple[Any, Any | None, NDArray[Any]]:
        ones, missing, names = check_values(self, X, feature_names, reset=reset)
        check_ones(ones)
        return ones, missing, names

    def _updated(
        self, X: Any, missing: Any | None, weight: Floats, before: MixtureSums
    ) -> tuple[FitResult, Ints, BatchUpdate]:
        data, at = BinaryData.prepared(X, missing, weight)
        by_likelihood = self.convergence == "likelihood"
        last: BernoulliParameters = self.posterior_
        rows, scale, d = data.rows, data.feature_map.moment_scale, X.shape[1]
        incomplete = len(before.statistics) > d or missing is not None
        if incomplete:  # values may be missing in this batch, or were in earlier ones
            rows = RowBlocks(IncompleteBernoulliParameters.statistics(data.ones, data.missing))
            scale = np.concatenate([scale[:d], np.zeros(d)])
            last = IncompleteBernoulliParameters(last.weights, last.centers)
            if len(before.statistics) == d:
                none = np.zeros_like(before.statistics)
                before = replace(before, statistics=np.vstack([before.statistics, none]))
        found = renewing_em(
            collected(rows),
            last,
            before,
            column_scale=scale,
            most=self._wanted,
            sample_weight=data.weight,
            smoothing=self.smoothing,
            unit=1.0,
            max_iter=self.max_iter,
            tol=self.tol if self.tol and by_likelihood else TOLERANCES["likelihood"],
        )
        fitted = found.parameters
        batch = self._sums_of(data, found.statistics, found.sizes)
        sums = found.before.plus(batch)
        gaps = sums.statistics[d:] if incomplete else None
        incomplete = IncompleteAssigner.from_sums(sums.statistics[:d], gaps, sums.sizes)
        result = FitResult(
            fitted,
            fitted.weights,
            fitted.centers,
            self.diagnostics_,
            found.n_iter,
            found.converged,
            sums,
            labels=MixtureAssigner.of(fitted).labels(rows),
            attributes={"_incomplete": incomplete},
        )
        shares = found.sizes / found.sizes.sum()
        return result, at, BatchUpdate(found.to, shares, float(weight.sum()), found.unlike)

    def _reorder(self, order: Ints) -> None:
        super()._reorder(order)
        incomplete: Any = vars(self).get("_incomplete")
        if incomplete is not None:
            self._incomplete = incomplete.merged(np.argsort(order))

    def _most_likely(
        self, data: BinaryData
    ) -> tuple[Initialization[BernoulliParameters], Refined[BernoulliParameters] | None]:
        """Return the chosen start, and the result of EM if any."""
        starts = self._starts(data)
        if not self.refine:
            return starts[-1], None

        def run(parameters: BernoulliParameters) -> Refined[BernoulliParameters]:
            log.info("refining %d components", parameters.n_components)
            return em(
                data.rows,
                parameters,
                sample_weight=data.weight,
                smoothing=self.smoothing,
                max_iter=self.max_iter,
                tol=TOLERANCES[self.convergence] if self.tol is None else self.tol,
                convergence=self.convergence,
            )

        if starts[0].diagnostics["start"] == "search":
            whole = data.family(np.ones(1), np.clip(data.moments.m1, 0.0, 1.0)[:, None])
            alone = [start.parameters for start in starts]
            refined, at = product_starts.most_likely(alone, whole, run, self.smoothing)
            return starts[at], refined
        runs = [(start, run(start.parameters)) for start in starts]
        # Raw moments assume least, so corrected ones must gain the BIC penalty of one parameter
        # per component.
        margin = 0.5 * self._wanted * np.log(max(float(data.rows.total(data.weight)), 2.0))
        best, *others = runs
        for one in others:
            if one[1].log_likelihood > best[1].log_likelihood + margin:
                best = one
        return best

    def _starts(self, data: BinaryData) -> list[Initialization[BernoulliParameters]]:
        k, start = self._wanted, self.start
        if start == "auto" and self.refine and self.decomposition == "sidiwo":
            start = "search"
        log.info("starting from %s", start)
        if start == "search":
            return product_starts.starts_from_splits(
                data, k, self.smoothing, self._decompose, brief=not self.refine
            )
        if start in ("auto", "moments", "raw_moments"):
            starts = product_starts.starts_from_moments(data, self._decompose)
            return {"auto": starts, "raw_moments": starts[:1], "moments": starts[-1:]}[start]
        if start in ("three_view_mom", "three_view_tpm"):
            return [product_starts.start_from_views(data, k, start, self.random_state)]
        return [
            product_starts.start_from_tree(
                data, k, flat=start == "clusters", refine=bool(self.refine)
            )
        ]

    # --- results ----------------------------------------------------------------------------------

    @property
    def means_(self) -> Floats:
        """Frequencies of the components, shape (n_components, n_features)."""
        return self.components_

    def _new_counts(self, X: Any) -> Any:
        return self._values(X)[0]

    def _values(self, X: Any) -> tuple[Any, Any | None]:
        check_is_fitted(self, "components_")
        ones, missing, _ = check_values(self, X, None, reset=False)
        check_ones(ones)
        return ones, missing

    def _ready(self, X: Any) -> tuple[MixtureAssigner, RowBlocks]:
        """Return the assigner, and the checked samples as rows for it."""
        ones, missing = self._values(X)
        assigner = MixtureAssigner.of(self._without_missing)
        if missing is None:
            return assigner, RowBlocks(ones)
        rows = RowBlocks(IncompleteBernoulliParameters.statistics(ones, missing))
        return assigner.for_missing_values(), rows

    @property
    def _without_missing(self) -> BernoulliParameters:
        """The parameters for samples without missing values."""
        return BernoulliParameters(self.posterior_.weights, self.posterior_.centers)

    @by_partition
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each component for each sample (T eq. 4.1).

            P[j | x] = omega_j P[x | mu_j] / sum_i omega_i P[x | mu_i],
            P[x | mu_j] = prod_w mu_wj^x_w (1 - mu_wj)^(1 - x_w)

        omega and mu are the weights and centers of ``posterior_``, with mu clipped to [1e-9,
        1 - 1e-9]; with EM they are ``weights_`` and ``components_``. The product omits missing
        values.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1, with the columns of ``fit``; NaN for missing values.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1.
        """
        assigner, rows = self._ready(X)
        return np.asarray(assigner.proba(rows))

    @by_partition
    def predict(self, X: Any) -> Ints:
        """Return the most probable component of each sample (T eq. 4.2).

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1, with the columns of ``fit``; NaN for missing values.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Component numbers; equal to ``labels_`` for the data of ``fit``.
        """
        assigner, rows = self._ready(X)
        return np.asarray(assigner.labels(rows))

    @by_partition
    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each sample under ``weights_`` and ``components_``.

        Without EM these may contain zeros and ones; the likelihood then uses ``posterior_``, which
        is smoothed.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1, with the columns of ``fit``; NaN for missing values, which are ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
            log P[x] in nats.
        """
        assigner, rows = self._ready(X)
        return log_posterior(log_joint(rows, assigner.parameters))[1]

    @property
    def _profiles(self) -> Floats:
        return self.components_

    def _choose_words(self, counts: Any, weight: Floats) -> None:
        """Leave codes to their relevance: a record has too few of them to occur together."""

    def _name(self, root: node.TreeNode) -> None:
        names.name_by_codes(root, self.vocabulary_)

    def _draw(self, labels: Ints, rng: np.random.RandomState) -> Any:
        d = self.components_.shape[1]

        def draw(at: slice) -> Any:
            here = labels[at]
            return (rng.random_sample((len(here), d)) < self.components_[here]).astype(np.int64)

        return draw_rows(len(labels), d, draw)

    def _check_consistent(self) -> None:
        super()._check_consistent()
        k, d = self._n_groups, self.n_features_in_
        check_assigner(MixtureAssigner.of(self._without_missing), BernoulliParameters, d, k)
        groups.check_incomplete(self, k, d, expected=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
