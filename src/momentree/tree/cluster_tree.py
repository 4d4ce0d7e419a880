"""ClusterTree: a tree of clusters without a model (D-SIDIWO, an extension of T Algorithm 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

import momentree.tree.exports as export
from momentree import _validation as checks
from momentree import backends
from momentree._fit import all_or_nothing
from momentree._types import Floats, Ints
from momentree._validation import rules
from momentree.assignment.posteriors import IncompleteAssigner, MixtureAssigner
from momentree.assignment.rules import Assigner, check_assigner
from momentree.backends import contents, sources
from momentree.core import choices, sparse
from momentree.estimators import editing, groups, names, node, page, texts
from momentree.exceptions import InvalidDataError
from momentree.inference import log_joint, log_posterior
from momentree.messages import wording
from momentree.objects import BernoulliParameters, IncompleteBernoulliParameters, MixtureSums
from momentree.persistence import fields
from momentree.preprocessing import FeatureMap, kinds
from momentree.tree import cluster_growth, cluster_leaves, online_tree
from momentree.tree._base import BY_MOMENTS_ALONE, TreeEstimator
from momentree.tree.growth import Branch, Limits


def _is_described(tree: Any) -> bool:
    return bool(tree._described)


def _is_binary(tree: Any) -> bool:
    return getattr(tree, "data_", "binary") == "binary"


@dataclass(eq=False, repr=False)
class ClusterTree(TreeEstimator):
    """Grow a tree of clusters without a model, from the moments of the data.

    SIDIWO recovers discriminators d_1, d_2 from the raw moments M2 = sum x x^T / n and
    M3 = sum x (x) x (x) x / n. They split the samples in two, and each side is split again
    (D-SIDIWO):

        side(x) = argmax_j |d_j . x + c_j|,

    where c_j is the coefficient of a constant feature appended to all samples. The same data give
    the same tree on every run, in any order of rows.

    Parameters
    ----------
    max_leaf_nodes : int >= 1, "auto", "aic3" or None, default=8
        Number of leaves (clusters) at which growth stops. "auto" uses the Bayesian information
        criterion: a split of n samples is accepted if a mixture of the two sides gains more than
        (p + 1)/2 log n nats over one group, where p is the number of features that occur. Counts
        are negative binomial for this, with the dispersion of each column estimated, so that
        independent counts are one group however much they vary. Leaves of binary data and counts
        are then merged while BIC falls, if EM runs over them. Gaussians are compared along the line
        through the two means, whatever `covariance_type` is, so elongated groups side by side may
        not be separated. For directions the `counts` of ``fit`` determine the number, by
        :func:`choose_n_components`; without counts, ``fit`` refuses. "aic3" grows eight leaves, and
        then merges leaves of binary data and counts while AIC3 falls, whose penalty is 3 (p + 1)/2
        nats: BIC charges many rare features more than they can gain (``docs/how_many.md``). None
        sets no limit but `max_depth`.
    max_depth : int >= 0 or None, default=None
        Largest number of splits between the root and a leaf. None sets no limit; with
        ``growth="depth"`` it is the smallest depth at which there can be `max_leaf_nodes` leaves.
    min_samples_leaf : int or float > 0, default=5
        Smallest total sample weight of a leaf.
    growth : {"best_first", "depth"}, default="best_first"
        "best_first" always splits the leaf whose split gains most log-likelihood. "depth" splits
        every leaf of a level before those below, the one that gains most first, down to `max_depth`
        or until there are `max_leaf_nodes` leaves. With ``max_leaf_nodes=None`` and a `max_depth`,
        it splits every leaf, as the thesis does; see :meth:`as_published`.
    refine : {"em", "splits", "leaves", None}, default="em"
        "splits" runs 15 steps of EM after each split; "leaves" runs EM over all leaves at the end,
        which may move samples between branches; "em" does both. None keeps the splits found from
        the moments (D-SIDIWO), and is the most stable choice.
    data : {"auto", "binary", "counts", "non_negative", "real", "directions"}, default="auto"
        Kind of the data. "auto" uses the first of these kinds that fits, but treats non-negative
        values that are rarely zero as real. Real data are directions, such as embeddings, if all
        rows have unit length, or if ``fit`` receives `counts`; their lengths are not used. Gains
        and EM use a mixture: of independent Bernoulli variables for binary data, of independent
        Poisson variables for counts, of von Mises-Fisher distributions with equal weights and one
        concentration for directions, and otherwise of Gaussians.
    scaling : {"auto", None}, default="auto"
        Scaling of samples in the moments. "auto" appends a constant feature to samples of non-
        negative data and scales them to unit length, so that records with many and with few codes
        have equal weight; it standardizes columns of real data, without outliers, and appends a
        constant of sqrt(n_features). The constant (the size of a typical value: 1 for binary data)
        lets splits distinguish samples by how much they contain, not only by what. Directions have
        unit length and no constant. None leaves the data unscaled, like T Algorithm 5; on patient
        records this is less stable (``docs/choices.md``).
    covariance_type : {"auto", "spherical", "diag", "tied", "full"}, default="auto"
        Covariances of the Gaussians in EM over the leaves of real data: one variance for each leaf,
        one for each feature and leaf, one covariance matrix for all leaves, or one for each. "auto"
        chooses by BIC, but uses covariances under which EM loses a leaf only if all others do so,
        too. Splits use spherical Gaussians in any case (``docs/choices.md``). Any other value than
        "auto" requires real data and EM over the leaves.

    Attributes
    ----------
    tree_ : TreeNode
        The root; see :class:`momentree.tree.TreeNode`. Centers are means of the samples, for real
        data without their outliers, or word distributions if ``fit`` received `counts`.
    leaves_ : list of TreeNode
        The leaves from left to right.
    n_leaves_ : int
        Number of leaves.
    labels_ : ndarray of int of shape (n_samples,)
        Leaf of each sample. The largest child comes first, so the numbering does not depend on the
        order of rows.
    data_ : str
        Kind of the data.
    covariance_type_ : str or None
        Covariances of the mixture over the leaves; None if there is none, or the data are not real.
    vocabulary_ : ndarray of str of shape (n_features,) or (n_words,)
        Column names of X, or of `counts`; "0", "1", ... if there are none.
    vectorizer_ : TextVectorizer
        Counts new texts, for :meth:`to_html`, after a fit to texts in `counts`.
    notes_ : list of Message
        What was stripped, dropped or found twice in texts, and whether counts had no column names,
        after a fit with `counts`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Column names, if X was a data frame.
    n_iter_ : int
        Steps of EM over all leaves, `max_iter` at most, also if EM drops leaves; 1 without EM.
    n_passes_ : float
        Passes over the data: how often a row was read, on average.
    converged_ : bool
        Whether this EM reached its tolerance; True without EM.
    choice_ : ComponentChoice or None
        How the number of groups of directions was chosen from `counts`; None if it was not, and in
        a loaded model.

    Other Parameters
    ----------------
    smoothing : float > 0, default=1.0
        Number of average samples added to each cluster in EM.
    exact : bool, default=False
        Whether to whiten each split to rounding error, with up to one product with the data per
        feature. False stops the eigen-solver of M2 after eight products,
        because sampling error is larger; with more than 64 features, labels may then differ
        slightly from those of the published algorithm.
    max_iter : int >= 1, default=100
        Maximum number of steps of EM over all leaves.
    tol : float >= 0, default=1e-5
        EM over all leaves stops when a step raises the log-likelihood, plus the log prior of
        `smoothing`, by no more than this fraction.
    half_life : float > 0 or None, default=None
        Number of batches after which samples count half in :meth:`partial_fit`; None forgets none.
    random_state : int, RandomState or None, default=None
        Ignored, because nothing is random; present in all estimators.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.tree`` always gets it.

    Notes
    -----
    Implements T Algorithm 5 (section 6.3); T Theorem 6.2.1 explains d_1 and d_2.
    ``ClusterTree.as_published("thesis")`` is this algorithm and nothing else. Extensions: the
    rotation is exact, growth is best first, samples are scaled, and whitening stops early unless
    `exact`. After EM over all leaves, chains of splits that
    separate about equally become one node, except with ``growth="depth"``. Moments cannot separate
    groups arranged like the corners of a square, where no axis of the spread separates them; EM
    can. EM ignores missing values (NaN, in binary and real data), and the moments correct for them
    by inverse observation rates; with covariances "tied" and "full" there may be none.

    In real data, a value is an outlier if it is far beyond the range of the others in its column;
    it counts as the end of this range, in ``fit`` and for new samples (see ``docs/models.md``).
    Samples that a split separates in numbers too small for a leaf are left out, and the split is
    computed again. Outliers remain as they are with ``scaling=None``.

    A tree of directions with `max_leaf_nodes` and EM over the leaves grows twice as many leaves,
    and merges those that lose least likelihood (``docs/embeddings.md``). A row of zeros has no
    direction: all groups have the same probability, and it joins the first.
    Time: O(nnz) per level of the tree and O(nnz n_leaves) per step of the final EM. Memory beyond
    X: up to 12 bytes per stored value for the current group.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications. PhD
       thesis, Universitat Politècnica de Catalunya, 2019. Chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import ClusterTree
    >>> rng = np.random.default_rng(0)
    >>> profiles = np.kron(np.eye(4), np.ones(5)) * 0.6 + 0.05
    >>> truth = np.repeat([0, 1, 2, 3], 50)
    >>> X = rng.random((200, 20)) < profiles[truth]
    >>> tree = ClusterTree(max_leaf_nodes=4).fit(X)
    >>> agree = [np.bincount(truth[leaf.samples]).max() for leaf in tree.leaves_]
    >>> bool(sum(agree) > 190)
    True
    """

    max_leaf_nodes: int | Literal["auto", "aic3"] | None = 8
    _: KW_ONLY
    max_depth: int | None = None
    min_samples_leaf: float = 5
    growth: choices.Growth = "best_first"
    refine: cluster_growth.Refine | None = "em"
    data: Literal["auto"] | kinds.Kind = "auto"
    scaling: Literal["auto"] | None = "auto"
    covariance_type: Literal["auto"] | choices.CovarianceType = "auto"
    smoothing: float = 1.0
    exact: bool = False
    max_iter: int = 100
    tol: float = 1e-5
    half_life: float | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    _published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "thesis": BY_MOMENTS_ALONE | {"scaling": None}
    }
    _rules: ClassVar[rules.Rules] = {
        **TreeEstimator._rules,
        "max_leaf_nodes": rules.whole(1, optional=True, words=("auto", "aic3")),
        "refine": (*get_args(cluster_growth.Refine), None),
        "data": ("auto", *get_args(kinds.Kind)),
        "scaling": ("auto", None),
        "covariance_type": ("auto", *get_args(choices.CovarianceType)),
    }
    _fields: ClassVar[fields.Fields] = {
        **TreeEstimator._fields,
        "data_": fields.choice(*get_args(kinds.Kind)),
        "covariance_type_": fields.choice(*get_args(choices.CovarianceType), None).optional,
        "vectorizer_": fields.DERIVED,
        "_feature_map": fields.of_type(FeatureMap),
        "_spread": fields.array("d").optional,  # not in older files
        "_incomplete": fields.of_type(IncompleteAssigner).optional,  # of binary data
        "_described": fields.FLAG.optional.kept,  # whether words name the nodes
        "_words_of_fit": fields.DERIVED.kept,  # only during a fit with counts
    }

    split_group, merge_groups = editing.split_group, editing.merge_groups
    predict_incomplete = groups.predict_incomplete
    predict_incomplete_proba = groups.predict_incomplete_proba
    scoring = groups.scoring
    name_topics, languages_ = available_if(_is_described)(names.name_topics), names.languages_
    _prepared, _split, _merge = (
        cluster_leaves.prepare_edit,
        cluster_leaves.split_leaf,
        cluster_leaves.merge_leaves,
    )

    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002 - the convention of scikit-learn
        *,
        counts: Any = None,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            One sample per row: numbers of the kind `data`, with NaN for missing values of binary
            data.
        y : None
            Ignored.
        counts : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_words), \
{sequence, array or column} of str of shape (n_samples,), or Corpus, default=None
            Counts >= 0 of the words of each sample, or its text, as for
            :meth:`momentree.TopicTree.fit`. They take no part in the tree, but name and describe
            its nodes, whose centers are then word distributions. See ``docs/embeddings.md``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; a weight of 2 has the effect of two copies of the sample. With None, many
            copies of a text in `counts` together have the weight of one.
        feature_names : sequence of str of shape (n_features,) or (n_words,), default=None
            Codes, words or other names of the columns of `counts`, or of X without `counts`. None
            uses the column names of a data frame, or the words of texts.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X or `counts` contains other values, or they, the weights or the names do not match.
        EmptyCorpusError
            If no sample of positive weight has a nonzero value, or no word of texts is kept.
        InvalidParameterError
            If a parameter is invalid, or `feature_names` are given with texts.
        """
        with all_or_nothing(self):
            self._described = counts is not None
            if counts is None:
                return self._fit(X, sample_weight=sample_weight, feature_names=feature_names)
            corpus, vectorizer = texts.corpus_of(counts, None, weighted=sample_weight is not None)
            if corpus is not None:
                counts, sample_weight, feature_names = texts.of_fit(
                    corpus, sample_weight, feature_names
                )
            words = getattr(counts, "columns", None) if feature_names is None else feature_names
            counts = sparse.as_csr(checks.check_counts(counts))
            n = X.shape[0] if hasattr(X, "shape") else len(X)
            if counts.shape[0] != n:
                raise InvalidDataError(
                    "[counts_of_other_rows] counts has {found:~row} for {needed:~sample}; give the "
                    "words of each sample, in the same order",
                    found=counts.shape[0],
                    needed=n,
                )
            d = counts.shape[1]
            columns = np.asarray(np.arange(d).astype(str) if words is None else words, dtype=object)
            if columns.shape != (d,):
                raise InvalidDataError(wording.WRONG_NUMBER_OF_NAMES, found=columns.size, needed=d)
            self._words_of_fit = counts
            self._fit(X, sample_weight=sample_weight, feature_names=None)
            self._forget("_words_of_fit")
            self._words_of_fit = None
            self.vocabulary_ = columns
            weight = checks.check_sample_weight(sample_weight, n)
            center = cluster_leaves.describe(self.tree_, counts, weight)
            self._merges = self._merges.described(d, center)
            names.choose_words_of(self.tree_, counts, self.labels_, columns, weight)
            self._name(self.tree_)
            texts.keep_words(self, corpus, vectorizer)
            return self

    def _check_table(self, X: Any, feature_names: Any, *, reset: bool) -> tuple[Any, Any, Any]:
        return checks.check_values(self, X, feature_names, reset=reset)

    def _learn(self, samples: tuple[Any, Any | None, backends.RowArray]) -> node.TreeNode:
        X, missing, weight = samples
        growth = self._growth
        feature_map = growth.map_features(X, missing, weight, described=bool(self._described))
        growth.check_covariances(feature_map)
        self.choice_ = growth.choose_leaves(feature_map.kind, self._words_of_fit, weight)
        statistics = X if isinstance(X, backends.Rows) else feature_map.rows(X, missing)
        rows, in_order, at = backends.ordered(statistics, weight)
        feature_map, grown, refined = self._growth.fit(feature_map, rows, in_order)
        self._assigner, labels, self.n_iter_, self.converged_, *_ = refined
        self._feature_map, self.data_ = feature_map, feature_map.kind
        leaves = feature_map.leaves
        self.covariance_type_ = None if leaves is None else leaves.covariance_type
        self.labels_ = np.empty(0, dtype=np.intp)
        if rows.gives_rows:
            self.labels_ = np.asarray(backends.in_given_order(labels, at))
        tree = self._nodes(grown.root, labels, rows, backends.as_rows(X), in_order, weight)
        assert self._leaf_sums is not None  # noqa: S101 - for the type checker
        self._sums = refined.expected_sums(self._leaf_sums)
        if self._described or feature_map.kind == "directions":
            self._sums = self._leaf_sums = None  # no sums suffice for these
        return tree

    def _for_sums_alone(self, rows: backends.Rows) -> Mapping[str, Any] | None:
        kind = contents.Contents.of(rows, rows.ones()).kind
        fits = self.data in ("auto", kind) or (self.data == "counts" and kind == "binary")
        if kind == "other" or not fits or self._described:
            return None
        return {"max_leaf_nodes": 8} if Limits.of(self).by_criterion else {}

    @property
    def _growth(self) -> cluster_growth.ClusterGrowth:
        return cluster_growth.ClusterGrowth(self, Limits.of(self))

    def _nodes(
        self,
        root: Branch,
        labels: backends.RowArray,
        rows: backends.Rows,
        values: backends.Rows,
        weight: backends.RowArray,
        in_given: backends.RowArray,
    ) -> node.TreeNode:
        """Count codes by leaf, and return the finished tree.

        `values` and `in_given`, the weights, are in the order of the data, the others in canonical
        order.
        """
        feature_map, k = self._feature_map, len(root.leaves())
        sums, sizes = rows.group_sums(labels, k, weight)
        self._spread = None
        if feature_map.kind == "real":
            self._spread = cluster_leaves.spread_within(
                rows, weight, sums, sizes, feature_map, self.n_features_in_
            )
        self._leaf_sums = self._sums_of_leaves(values, sums, sizes, in_given)
        return self._nodes_of(root, self._leaf_sums)

    def _sums_of_leaves(
        self, values: backends.Rows, sums: Floats, sizes: Floats, weight: backends.RowArray
    ) -> MixtureSums:
        """Return sums over leaves; `values` and `weight` are in the order of the data."""
        kind, k, n = self._feature_map.kind, len(sizes), values.shape[0]
        of_values = np.empty((0, k))
        if kind not in ("binary", "counts", "real"):  # statistics are of scaled values
            of_values, _ = values.group_sums(self.labels_, k, weight)
        total = float(values.total(weight))
        return MixtureSums(n, sums, sizes, of_values, self.smoothing, 0.0, total)

    def _nodes_of(self, root: Branch, leaves: MixtureSums) -> node.TreeNode:
        """Return the finished tree, given sums over the leaves."""
        feature_map, d = self._feature_map, self.n_features_in_
        self._incomplete = None
        if feature_map.kind == "binary":
            sums = leaves.statistics
            gaps = sums[-d:] if feature_map.incomplete else None
            self._incomplete = IncompleteAssigner.from_sums(sums[:d], gaps, leaves.sizes)
        tree, self._merges = cluster_leaves.tree_of_clusters(
            root, self.labels_, leaves, feature_map, d
        )
        self._name_by_values(tree)
        return tree

    def _check_batch(self, X: Any, feature_names: Any, *, reset: bool) -> tuple[Any, Any, Any]:
        X, missing, columns = self._check_table(X, feature_names, reset=reset)
        if hasattr(self, "labels_"):
            self._feature_map.check(X, missing)
            if missing is not None and not self._feature_map.incomplete:
                raise InvalidDataError(
                    "this batch has missing values, but the first one had none; fit() all "
                    "{samples} together, or begin with a batch that has missing values"
                )
        return X, missing, columns

    @property
    def _zeros_are_values(self) -> bool:
        return getattr(self, "data_", None) in ("binary", "real")  # after a first batch

    def _batch(self, X: Any, missing: Any | None, weight: Floats) -> online_tree.TreeBatch:
        feature_map = self._feature_map
        in_order = weight
        rows, at = backends.in_canonical_order(feature_map.rows(X, missing), weight)
        weight = weight[at]

        def sums_of(labels: Ints, k: int) -> MixtureSums:
            self.labels_ = np.empty_like(labels)
            self.labels_[at] = labels
            sums, sizes = rows.group_sums(labels, k, weight)
            return self._sums_of_leaves(backends.RowBlocks(X), sums, sizes, in_order)

        known = feature_map.kind in ("binary", "counts")
        batch = online_tree.TreeBatch(
            rows,
            rows,
            weight,
            self.smoothing,
            self.smoothing,
            feature_map.moment_scale if known else None,
            feature_map.family,
            sums_of,
        )
        leaves = feature_map.leaves
        if leaves is None:
            return batch
        values, _ = feature_map.standardized(rows)
        return replace(
            batch,
            rows=backends.collected(feature_map.leaf_rows(rows)),
            continued=lambda p, n: leaves.continued(p, n, values, weight),
            stored=leaves.stored,
        )

    def _describe_batch(self, tree: node.TreeNode, X: Any, weight: Floats) -> None:  # noqa: ARG002
        self._name_by_values(tree)

    def _merge_leaves(self, to: Ints) -> None:
        super()._merge_leaves(to)
        self._incomplete = None if self._incomplete is None else self._incomplete.merged(to)

    @property
    def _groups_assigner(self) -> Assigner:
        return self._assigner

    @property
    def _fitted_with_missing(self) -> bool:
        return self._feature_map.incomplete

    def _name(self, root: node.TreeNode) -> None:
        if self._described:
            names.name_by_words(root, self.vocabulary_, languages=self.languages_)
        else:
            self._name_by_values(root)

    @property
    def _within(self) -> Floats | None:
        """Unit of columns in differences of leaves; None for counts and records.

        The deviation within leaves of real columns; directions vary by the same in all columns.
        """
        if not self._described and self._feature_map.kind == "directions":
            return np.ones(self.n_features_in_)
        if self._described or self._feature_map.kind != "real":
            return None
        return self._feature_map.scale if self._spread is None else self._spread

    def _name_by_values(self, root: node.TreeNode) -> None:
        if self._feature_map.kind == "directions":
            names.name_by_number(root)
        elif self._within is not None:
            names.name_by_difference(root, self.vocabulary_, self._within)
        else:
            names.name_by_codes(root, self.vocabulary_)

    @available_if(_is_binary)  # type: ignore[untyped-decorator]
    @sources.by_partition
    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each binary sample under the mixture of the leaves.

        With EM over the leaves, this is the mixture that EM has fitted. Otherwise its weights and
        frequencies are those of the samples in each leaf.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1, with the columns of ``fit``; NaN for missing values, which are ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
            log P[x] in nats. Only trees of binary data have this method.
        """
        check_is_fitted(self, "tree_")
        X, missing, _ = checks.check_values(self, X, None, reset=False)
        self._feature_map.check(X, missing)
        assigner = self._assigner
        if isinstance(assigner, MixtureAssigner):
            weights, centers = assigner.parameters.weights, assigner.parameters.centers
        else:
            weights = np.array([leaf.weight for leaf in self.leaves_])
            centers = np.column_stack([leaf.center for leaf in self.leaves_])
        if missing is None:
            return log_posterior(
                log_joint(backends.RowBlocks(X), BernoulliParameters(weights, centers))
            )[1]
        rows = backends.RowBlocks(IncompleteBernoulliParameters.statistics(X, missing))
        return log_posterior(log_joint(rows, IncompleteBernoulliParameters(weights, centers)))[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dictionaries of plain values, ready for JSON."""
        check_is_fitted(self, "tree_")
        differences = self.data_ in ("real", "directions") and not self._described
        scale = self._feature_map.scale if differences else None
        return export.to_dict(self.tree_, self.vocabulary_, scale=scale)

    def to_html(
        self, path: str | PathLike[str] | None = None, X: Any = None, **options: Any
    ) -> str | Path:
        """Write the report as one HTML page that works offline.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write the page to; None returns the page.
        X : Records, or {ndarray, sparse matrix or array, data frame}, default=None
            The records of ``fit``, or its `counts`, also as texts or Corpus.
        **options
            For a tree described by counts, those of :meth:`momentree.TopicTree.to_html`: `ids`,
            `texts`, `labels`, `order`, `title`, `documents`. For a tree of records, those of
            :meth:`momentree.BernoulliMixture.to_html`.

        Returns
        -------
        Path or str
            `path`, or the page as text if it is None.

        Raises
        ------
        InvalidDataError
            If X is missing or differs from the data of ``fit``, if options do not match it, or if
            the data of ``fit`` were neither binary nor described by counts.
        OSError
            If the file cannot be written; no partial file remains.
        """
        write = page.topics_to_html if self._described else page.records_to_html
        return write(self, path, X, **options)

    @property
    def _n_names(self) -> int:
        return len(self.vocabulary_) if self._described else self.n_features_in_

    def _unpack(self) -> None:
        super()._unpack()
        if self._described:
            texts.restore_vectorizer(self)

    def _check_consistent(self) -> None:
        super()._check_consistent()
        k, feature_map, d = self._n_groups, self._feature_map, self.n_features_in_
        if self.data_ != feature_map.kind:
            raise InvalidDataError(wording.BAD_ENTRY, name="data_", value=self.data_)
        checks.check_shape("shift", feature_map.shift, (d,))
        checks.check_shape("scale", feature_map.scale, (d,))
        columns = None if feature_map.leaves is None else feature_map.leaves.columns
        consistent = (
            feature_map.scaled == (self.scaling is not None)
            and (feature_map.scale > 0).all()
            and feature_map.family.n_features(len(feature_map.moment_scale)) == d
            and (columns is None or np.array_equal(columns, np.unique(columns % d)))
        )
        if not consistent:
            raise InvalidDataError("the feature map does not fit the data")
        for name, bound in vars(feature_map.bounds).items() if feature_map.bounds else ():
            checks.check_shape(name, bound, (d,))
        if self._described or feature_map.kind not in ("real", "directions"):
            self._check_profiles()
        check_assigner(self._assigner, feature_map.leaf_family, feature_map.n_leaf_statistics, k)
        groups.check_incomplete(self, k, d, expected=feature_map.kind == "binary")

    def _ready(self, X: Any) -> tuple[Assigner, backends.Rows]:
        X, missing, _ = checks.check_values(self, X, None, reset=False)
        self._feature_map.check(X, missing)
        feature_map = self._feature_map
        if missing is None or feature_map.incomplete:
            return self._assigner, feature_map.leaf_rows(feature_map.rows(X, missing))
        # The fit had no missing values: likelihoods ignore them.
        if feature_map.kind == "binary":  # and scores treat them as zeros
            rows = backends.RowBlocks(IncompleteBernoulliParameters.statistics(X, missing))
            return self._assigner.for_missing_values(), rows
        found = feature_map.for_missing_values()
        if found is None:
            row, column = (int(part[0]) for part in missing.nonzero())
            raise InvalidDataError(
                "[missing_not_assigned] Input X contains NaN: row {row}, column {column} is "
                "missing. The data used in fit had no missing values, and the groups of this tree "
                "need all values; fill missing values first, or fit with "
                "{parameters.covariance_type:=instead}",
                row=row,
                column=column,
                instead="diag",
            )
        assigner = self._assigner.for_missing_values()
        return assigner, found.leaf_rows(found.rows(X, missing))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
