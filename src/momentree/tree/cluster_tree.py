"""ClusterTree: the estimator for records and other samples, with no model assumed."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from momentree._fit import all_or_nothing
from momentree._logging import console_logging
from momentree._validation import check_sample_weight, check_something, check_values
from momentree.assignment.assigners import Assigner, MixtureAssigner, reading_gaps
from momentree.backends import RowBlocks, in_canonical_order, single_threaded_blas
from momentree.exceptions import ConvergenceWarning, InvalidDataError
from momentree.objects import IncompleteBernoulliParameters
from momentree.preprocessing import FeatureMap, Kind
from momentree.tree import build, regroup
from momentree.tree import exports as export
from momentree.tree._base import TreeEstimator
from momentree.tree._parameters import Limits, check_parameters
from momentree.tree.dsidiwo_split import EARLY, DirectSplitter
from momentree.tree.growth import Branch, Growth, grow
from momentree.tree.node import TreeNode
from momentree.tree.page import RecordsPage
from momentree.tree.stopping import Stop, always, bic_of
from momentree.tree.topic_split import EXACT, SPLIT_ITER

__all__ = ["ClusterTree", "Refine"]

Floats = NDArray[np.float64]
Refine = Literal["em", "splits", "leaves"]

log = logging.getLogger("momentree.tree")


class ClusterTree(RecordsPage, TreeEstimator):  # type: ignore[misc] # its own to_html
    """Grow a tree of clusters with no model assumed, from the moments of the data themselves.

    The samples are split by the discriminators d_1, d_2 that SIDIWO recovers from the raw moments
    M2 = sum x x^T / n and M3 = sum x (x) x (x) x / n, and each side is split again (D-SIDIWO):

        side(x) = argmax_j |d_j . x + c_j|,

    with a constant c that comes of a feature that all samples share. No random restarts: the same
    data give the same tree on every run, in any order of rows.

    Parameters
    ----------
    max_leaf_nodes : int >= 1 or None, default=8
        Number of leaves (clusters) at which growth stops. None lets `stop` decide.
    max_depth : int >= 0 or None, default=None
        Most splits on the way from the root to a leaf. None sets no limit; for
        ``growth="depth"`` it stands for the least depth that can hold `max_leaf_nodes` leaves.
    n_components : int >= 1 or None, default=None
        Split all samples once, into this many clusters, by as many discriminators: a flat
        clustering. Fewer, with a warning, where the moments show fewer or some are too small.
        `max_leaf_nodes`, `max_depth` and `growth` are then not used.
    min_samples_leaf : int or float > 0, default=5
        Fewest samples in a leaf, counted by their sample weight.
    growth : {"best_first", "depth"}, default="best_first"
        "best_first" splits next the leaf whose split gains most log-likelihood. "depth" splits
        every leaf down to `max_depth`, as the thesis does; `max_leaf_nodes` is then no limit.
        ``growth="depth", refine=None, scaling=None, min_samples_leaf=1, exact=True`` is T Algorithm
        5.
    refine : {"em", "splits", "leaves", None}, default="em"
        "splits" runs 15 steps of EM after each split, "leaves" runs EM over all leaves in the end,
        which may move samples between branches, "em" does both. None leaves what the moments
        give: D-SIDIWO, the most stable answer.
    data : {"auto", "binary", "counts", "non_negative", "real"}, default="auto"
        What the data are; "auto" takes the first of these kinds that fits, but values of zero or
        more that are seldom zero for real ones. Gains and EM are those of a mixture: of
        independent Bernoulli variables for binary data, of independent Poisson variables for
        counts, else of spherical Gaussians.
    scaling : {"auto", None}, default="auto"
        What the moments see. "auto": of data of zero or more, each sample with a constant beside
        it, scaled to length 1, so that a record of many codes counts no more than one of few; of
        real data, columns of mean 0 and variance 1, and a constant of sqrt(n_features). The
        constant (of the size of a typical value: 1 in binary data) lets a split separate samples
        by how much they hold, and not only by what they hold. None takes the data as they are, as
        T Algorithm 5 does; on records of patients it is less stable (see ``docs/choices.md``).
    smoothing : float > 0, default=1.0
        Average samples that are added to each cluster in EM.
    exact : bool, default=False
        Whiten each split to rounding error. False ends the eigen-solver of M2 after 2 k + 4
        products for a split into k, where sampling error moves the eigenvectors further than more
        products do: labels then differ a little from those of the published algorithm where there
        are more than 64 features. True costs up to one product with the data for each feature and
        split.
    stop : {"bic"}, default="bic"
        What ends growth when neither `max_leaf_nodes` nor `max_depth` is given: a split of n
        samples is made while a mixture of the two sides gains more than (p + 1)/2 log n nats over
        one group, the Bayesian information criterion, p being the number of features that occur
        in them. Gaussians are compared along the line through the two means.
    max_iter : int >= 1, default=100
        Most steps of the EM over all leaves.
    tol : float >= 0, default=1e-5
        That EM stops when a step raises the log-likelihood, plus the log prior that `smoothing`
        stands for, by no more than this share.
    random_state : int, RandomState or None, default=None
        Not used: nothing is drawn. Here because all estimators have it.
    verbose : bool or int, default=False
        Tell the progress on standard error. The same messages always go to the logger
        ``momentree.tree``.

    Attributes
    ----------
    tree_ : TreeNode
        The root; see :class:`momentree.tree.TreeNode`. Centers are means of the samples.
    leaves_ : list of TreeNode
        From left to right.
    n_leaves_ : int
        Number of leaves.
    labels_ : ndarray of int of shape (n_samples,)
        Leaf of each sample. The largest child comes first, so that numbers do not depend on the
        order of rows.
    data_ : str
        The kind that the data were taken for.
    vocabulary_ : ndarray of str of shape (n_features,)
        Names of the columns: `feature_names` of ``fit``, else the columns of a data frame, else
        "0", "1", ...
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Only where X is a data frame with names.
    n_iter_ : int
        Rounds in which all samples were assigned to leaves: the steps of the EM over all leaves,
        or 1 without it.
    converged_ : bool
        Whether that EM met its tolerance; True without it.

    Notes
    -----
    T Algorithm 5, section 6.3; T Theorem 6.2.1 gives the meaning of d_1 and d_2. Beyond it: the
    rotation is exact instead of scanned; growth is best first; samples are scaled; more than two
    sides at once; whitening ends early unless `exact`. Where the best line between groups is no
    axis of their spread, as for four groups at the corners of a square, second and third moments
    do not show it, and only EM finds them. Missing values (NaN, in binary data) are left out of
    EM, and of the moments by inverse rates of observation. Time O(nnz) a level of the tree,
    O(nnz n_leaves) a step of the last EM; memory beyond X: at most 12 bytes a stored value for the
    group at hand.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, 2018. Chapter 6.

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

    def __init__(
        self,
        max_leaf_nodes: int | None = 8,
        *,
        max_depth: int | None = None,
        n_components: int | None = None,
        min_samples_leaf: float = 5,
        growth: Growth = "best_first",
        refine: Refine | None = "em",
        data: Literal["auto"] | Kind = "auto",
        scaling: Literal["auto"] | None = "auto",
        smoothing: float = 1.0,
        exact: bool = False,
        stop: Stop = "bic",
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.n_components = n_components
        self.min_samples_leaf = min_samples_leaf
        self.growth = growth
        self.refine = refine
        self.data = data
        self.scaling = scaling
        self.smoothing = smoothing
        self.exact = exact
        self.stop = stop
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002 - the convention of scikit-learn
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> ClusterTree:
        """Grow the tree.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Numbers, one sample a row. NaN marks a missing value of binary data.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0: a weight of 2 is the same as the sample twice.
        feature_names : sequence of str of shape (n_features,), default=None
            Names of the columns, for names and reports.

        Returns
        -------
        ClusterTree
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X is no matrix of finite numbers of the kind that `data` says, values are missing
            that are not binary, or weights or names do not fit it.
        EmptyCorpusError
            If no sample of positive weight holds a value other than zero.
        InvalidParameterError
            If a parameter is out of its range.
        """
        self._check_parameters()
        X, missing, self.vocabulary_ = check_values(self, X, feature_names, reset=True)
        weight = check_sample_weight(sample_weight, X.shape[0])
        check_something(X, weight)
        with console_logging(log, bool(self.verbose)), single_threaded_blas():
            space = FeatureMap.from_data(X, missing, weight, self.data, scaled=self.scaling is not None)
            rows, at = in_canonical_order(space.rows(X, missing), weight)
            ordered = weight[at]
            branches = self._grow(space, rows, ordered)
            self._feature_map, self.data_ = space, space.kind
            self._assigner, self.n_iter_, self.converged_ = self._refined(
                branches, space, rows, ordered
            )
            labels = build.leaf_labels(branches)
            self.labels_ = np.empty_like(labels)
            self.labels_[at] = labels
            if len(branches.leaves()) < (self.n_components or 0):
                k = len(branches.leaves())
                reason = branches.reason or "the moments show no more of min_samples_leaf or more"
                msg = f"{k} of {self.n_components} clusters: {reason}"
                warnings.warn(msg, ConvergenceWarning, stacklevel=3)
            tree = self._nodes(branches, space, rows, RowBlocks(X), ordered, at)
        self._set_tree(tree)
        return self

    def _grow(self, space: FeatureMap, rows: RowBlocks, weight: Floats) -> Branch:
        limits = Limits.of(self)
        k = self.n_components
        splitter = DirectSplitter(
            n_sides=k or 2,
            min_samples_leaf=self.min_samples_leaf,
            refine_iter=SPLIT_ITER if self.refine in ("em", "splits") else 0,
            smoothing=self.smoothing,
            family=space.family,
            view=space.moment_scale,
            constant=space.constant,
            whiten=EXACT if self.exact else EARLY,
        )
        return grow(
            rows,
            weight,
            space.row_scale(rows),
            splitter,
            max_leaves=k or limits.leaves,
            max_depth=1 if k else limits.depth,
            growth="best_first" if k else self.growth,
            worth=always if k or not limits.stops_itself else partial(bic_of, space.family),
        )

    def _refined(
        self, branches: Branch, space: FeatureMap, rows: RowBlocks, weight: Floats
    ) -> tuple[Assigner, int, bool]:
        # A split into many is refined over its leaves, which are all there are.
        over_leaves = self.refine in ("em", "leaves") or (self.refine and self.n_components)
        if not over_leaves:
            return build.rules(branches), 1, True
        log.info("refining %d leaves", len(branches.leaves()))
        parameters, n_iter, converged = build.refine_leaves(
            branches,
            rows,
            weight,
            family=space.family,
            smoothing=self.smoothing,
            min_samples_leaf=self.min_samples_leaf,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        parameters = parameters.reordered(build.order(branches, weight))
        return MixtureAssigner.of(parameters), n_iter, converged

    def _nodes(
        self,
        branches: Branch,
        space: FeatureMap,
        rows: RowBlocks,
        values: RowBlocks,
        weight: Floats,
        at: NDArray[np.intp],
    ) -> TreeNode:
        labels, k = build.leaf_labels(branches), len(branches.leaves())
        sums = build.group_sums(rows, labels, k, weight)
        sizes = np.bincount(labels, weights=weight, minlength=k)
        family, d = space.family, len(self.vocabulary_)
        if space.kind in ("binary", "counts"):
            of_values = sums[:d]
        else:
            in_order = np.empty_like(weight)
            in_order[at] = weight
            of_values = build.group_sums(values, self.labels_, k, in_order)

        def center(leaves: list[int]) -> Floats:
            gaps = sums[d:, leaves].sum(axis=1) if space.incomplete else 0.0
            observed = np.maximum(sizes[leaves].sum() - gaps, np.finfo(float).tiny)
            return np.asarray(of_values[:, leaves].sum(axis=1) / observed)

        def gain(sides: list[list[int]]) -> float:
            S = np.stack([sums[:, side].sum(axis=1) for side in sides], axis=1)
            N = np.array([sizes[side].sum() for side in sides])
            whole = family.maximized_log_likelihood(S.sum(axis=1), N.sum())
            return float(family.maximized_log_likelihood(S, N).sum() - whole)

        tree = build.build_nodes(branches, weight, at, center=center, gain=gain)
        if space.kind == "real":
            build.name_by_difference(tree, self.vocabulary_, space.scale)
        else:
            build.name_groups(tree, self.vocabulary_)
        return tree

    def split_group(
        self, X: Any, group: int, n_groups: int = 2, *, sample_weight: ArrayLike | None = None
    ) -> ClusterTree:
        """Divide one leaf further, and leave all else as it is (T Remark 4.4.1).

        The leaf is split as the tree was, with the same parameters; EM over the new leaves moves
        no record into or out of them.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            The samples of ``fit``, in the same order.
        group : int
            Number of the leaf.
        n_groups : int >= 2, default=2
            Into how many; fewer where no part can be split further.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of ``fit``.

        Returns
        -------
        ClusterTree
            A new fitted tree; this one stays as it is. The new leaves stand in the place of the
            old, and the leaves after it move on.

        Raises
        ------
        InvalidDataError
            If the leaf cannot be split, with the reason, or X is not like the data of ``fit``.
        InvalidParameterError
            If there is no such leaf, or `n_groups` is less than 2.
        """
        return regroup.split_group(self, X, group, n_groups, sample_weight)

    def merge_groups(
        self, X: Any, groups: Sequence[int], *, sample_weight: ArrayLike | None = None
    ) -> ClusterTree:
        """Make one leaf of several, and leave all else as it is.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            The samples of ``fit``, in the same order.
        groups : sequence of int
            Numbers of two leaves or more.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of ``fit``.

        Returns
        -------
        ClusterTree
            A new fitted tree; this one stays as it is. The merged leaf stands in the place of the
            largest of them; a sibling that is left alone takes the place of their parent. Leaves
            are numbered anew, the larger child first.

        Raises
        ------
        InvalidDataError
            If X is not like the data of ``fit``.
        InvalidParameterError
            If `groups` are not two different leaves or more.
        """
        return regroup.merge_groups(self, X, groups, sample_weight)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dictionaries of plain values, ready for JSON."""
        check_is_fitted(self, "tree_")
        scale = self._feature_map.scale if self.data_ == "real" else None
        return export.to_dict(self.tree_, self.vocabulary_, scale=scale)

    def scoring(self) -> dict[str, Any]:
        """Return how a 0/1 record is assigned, as plain arrays: for use outside Python.

        Returns
        -------
        dict
            With EM over the leaves ``{"kind": "mixture", "coef": (m, d), "intercept": (m,),
            "group": (m,)}``: component probabilities are softmax(coef @ x + intercept), and
            "group" is the leaf of each. Without it ``{"kind": "rules", "nodes": [...]}``, one
            inner node each in pre-order, with "coef" (s, d), "intercept" (s,) and "children": the
            side of largest (coef @ x + intercept)^2 is taken (for ``refine="splits"``, node kind
            "linear", of largest coef @ x + intercept), and leads to inner node j >= 0 or leaf i as
            -1 - i. After :meth:`split_group` ``{"kind": "nested", "base": ..., "parts": [...]}``:
            "base" is again one of these, and for each of its leaves stands the number of the leaf
            in the whole or ``{"scoring": ..., "leaves": [...]}``, by which its records are divided.

        Raises
        ------
        InvalidDataError
            If the tree was not fitted on binary data.
        """
        check_is_fitted(self, "tree_")
        if self.data_ != "binary":
            msg = f"the tree was fitted on {self.data_} data; only binary records can be scored so"
            raise InvalidDataError(msg)
        return export.scoring(self._assigner, len(self.vocabulary_))

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            {
                "growth": get_args(Growth),
                "refine": (*get_args(Refine), None),
                "data": ("auto", *get_args(Kind)),
                "scaling": ("auto", None),
                "stop": get_args(Stop),
            },
        )

    def _ready(self, X: Any) -> tuple[Assigner, RowBlocks]:
        X, missing, _ = check_values(self, X, None, reset=False)
        self._feature_map.check(X, missing)
        if missing is not None and not self._feature_map.incomplete:
            # The fit had no gaps: a likelihood leaves them out, scores take them for zeros.
            rows = RowBlocks(IncompleteBernoulliParameters.statistics(X, missing))
            return reading_gaps(self._assigner), rows
        return self._assigner, self._feature_map.rows(X, missing)
