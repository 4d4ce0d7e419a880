"""TopicTree: a tree of topics (an extension of H Algorithm 2)."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_features, rules
from momentree.assignment.rules import Assigner, check_assigner
from momentree.backends import RowArray, RowBlocks, Rows, as_rows, collected, contents, sources
from momentree.core.choices import AutoLogScaling, Growth, LogScaling, Refine, Search, Weighting
from momentree.estimators import names, node, page, texts
from momentree.exceptions import InvalidParameterError
from momentree.inference import log_joint, log_multinomial, log_posterior
from momentree.messages import wording
from momentree.objects import MixtureSums, TopicParameters
from momentree.objects.mixtures import sums_over
from momentree.persistence import fields
from momentree.preprocessing import log_scale
from momentree.tree import online_tree, topic_growth
from momentree.tree._base import BY_MOMENTS_ALONE, TreeEstimator
from momentree.tree.growth import Branch, Limits
from momentree.tree.leaves import build_tree, word_shares
from momentree.tree.selection import choose_n_components


@dataclass(eq=False, repr=False)
class TopicTree(TreeEstimator):
    """Grow a tree of topics from word counts by the method of moments.

    SIDIWO recovers two pseudo-centers from the moments M1, M2, M3 of a single-topic model. They
    split the documents in two, and each side is split again:

        side(x) = argmax_j log omega_j + sum_w x_w log mu_wj,   j = 1, 2.

    The same data give the same tree on every run, in any order of rows.

    Parameters
    ----------
    max_leaf_nodes : int >= 1, "auto", "bic" or None, default=8
        Number of leaves (topics) at which growth stops. "auto" chooses it from held-out words by
        :func:`momentree.choose_n_components`, in the time of a few fits; the choice with its
        interval is ``choice_``. "bic", the Bayesian information criterion, accepts a split of n
        documents if it gains more than u p/2 log n nats, where p is the number of different words
        in them and u the (log-scaled) count of one token: few leaves for long documents, and many
        for vocabularies of a dozen words or without log scaling. None sets no limit but
        `max_depth`.
    max_depth : int >= 0 or None, default=None
        Largest number of splits between the root and a leaf. None sets no limit; with
        ``growth="depth"`` it is the smallest depth at which there can be `max_leaf_nodes` leaves.
    min_samples_leaf : int or float > 0, default=5
        Smallest total sample weight of a leaf.
    growth : {"best_first", "depth"}, default="best_first"
        "best_first" always splits the leaf whose split gains most log-likelihood (with EM, of a
        mixture of two multinomials against one multinomial). "depth" splits every leaf of a
        level before those below, the one that gains most first, down to `max_depth` or until there
        are `max_leaf_nodes` leaves. With ``max_leaf_nodes=None`` and a `max_depth`, it splits every
        leaf, as the papers do; see :meth:`as_published`.
    refine : {"em", None}, default="em"
        "em" runs 15 steps of EM after each split, and EM over all leaves at the end, which may move
        documents between branches. None keeps the splits found from the moments.
    search : {"starts", "none"}, default="starts"
        "starts" improves the leaves before the last EM: it merges two leaves and splits another,
        and moves single documents, as long as this raises the likelihood; does the same from groups
        by tf-idf; and keeps the more likely answer. The nodes above the leaves are then made by
        merging the most similar ones. It applies only with `max_leaf_nodes`, ``refine="em"`` and
        without a limit by depth or ``growth="depth"``. "none" keeps the leaves and nodes from
        the splits; it takes about a third of the time.
    log_scaling : {"auto", "log1p", None}, default="auto"
        "log1p" scales counts x to log2(1 + x), because the words of texts are bursty rather than
        independent; the weight of a document then grows with the square root of its length. None
        uses raw counts, as the papers do. "auto" is "log1p" if words repeat within the documents
        of a leaf at least 1.5 times as often as independent words would; see
        :func:`momentree.preprocessing.repetition` and :func:`momentree.preprocessing.log_scale`.
    vectorizer : TextVectorizer or None, default=None
        Counts the words of texts given to :meth:`fit`: their language, stop words and frequencies.
        None is ``TextVectorizer()``. Other vectorizers with scikit-learn's interface, such as
        ``CountVectorizer``, are accepted too; a model with one cannot be saved to a file.

    Attributes
    ----------
    tree_ : TreeNode
        The root; see :class:`momentree.tree.TreeNode`.
    leaves_ : list of TreeNode
        The leaves from left to right.
    n_leaves_ : int
        Number of leaves.
    labels_ : ndarray of int of shape (n_samples,)
        Leaf of each document; -1 for documents without words, which are in no leaf. The larger
        child comes first, so the numbering does not depend on the order of rows.
    vocabulary_ : ndarray of str of shape (n_features,)
        Column names; "0", "1", ... if there are none.
    vectorizer_ : TextVectorizer
        Counts new texts, after a fit to texts.
    notes_ : list of Message
        What was stripped, dropped or found twice in texts; and whether counts had no column names.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Column names, if X was a data frame.
    choice_ : ComponentChoice or None
        How the number of leaves was chosen: the number, its interval, the reason and the curve; see
        :func:`momentree.choose_n_components`. None if it was given. Not saved in files.
    n_iter_ : int
        Steps of EM over all leaves, `max_iter` at most, also if EM drops leaves; 1 without EM.
    n_passes_ : float
        Passes over the data: how often a row was read, on average.
    converged_ : bool
        Whether this EM reached its tolerance; True without EM.
    log_scaling_ : {"log1p", None}
        The scaling of counts that was used.

    Other Parameters
    ----------------
    weighting : {"length", "uniform", "three_words"}, default="length"
        Weights of documents in the moments; see :class:`momentree.moments.SingleTopicMoments`.
    smoothing : float > 0, default=1.0
        Pseudo-count of every word in every topic, in tokens; 1 is Laplace smoothing. It is at most
        n_tokens / (4 d k), for a vocabulary of d words and k leaves requested, so that all
        pseudo-counts of a topic are at most a quarter of the tokens of an average topic.
    exact : bool, default=False
        Whether to whiten each split to rounding error, with up to one product with the data per
        word, and to grow the tree by all documents however many. False stops the eigen-solver of M2
        after a few products, because sampling error is larger; with more than 64 words, labels may
        then differ slightly from those of the published algorithm.
    max_iter : int >= 1, default=100
        Maximum number of steps of EM over all leaves.
    tol : float >= 0, default=1e-5
        EM over all leaves stops when a step raises the log-likelihood, plus the log prior of
        `smoothing`, by no more than this fraction.
    half_life : float > 0 or None, default=None
        Number of batches after which samples count half in :meth:`partial_fit`; None forgets none.
    random_state : int, RandomState or None, default=None
        Seed for ``weighting="three_words"``; everything else is deterministic.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.tree`` always gets it.

    Notes
    -----
    Implements Algorithms 1 and 2 of [1] with the moments of [2], Theorem 1;
    ``TopicTree.as_published("sidiwo")`` is these algorithms and nothing else. Extensions: the
    rotation for two components is exact, growth is best first, EM refines the splits, counts are
    log-scaled, whitening stops early unless `exact`, and `smoothing` removes zeros from the topics.
    After EM over all leaves, chains of splits that separate about equally become one node with
    several children, except with ``growth="depth"``; see ``docs/choices.md``.
    Of 80,000 documents or more, the search works on a systematic sample of 20,000, or 1,000 for
    each leaf, and of a million stored values or more by the 4,096 most frequent words. Without a
    search, a tree of 400,000 documents or more is grown by these words of a sample of 100,000, or
    10,000 for each leaf, unless `exact`; EM or rules between the topics of both sides of each
    split, with all words, then assign all documents.
    Time: O(nnz) per level of the tree and O(nnz n_leaves) per step of the final EM. Memory beyond
    X: O(d n_leaves), some numbers per document, the counts of frequent words in a search, and
    4 bytes per stored value if log-scaled counts are not whole numbers. Up to four million values
    are sorted, in a copy.

    References
    ----------
    .. [1] M. Ruffini, G. Rabusseau, B. Balle. Hierarchical methods of moments. Advances in Neural
       Information Processing Systems 30, 2017.
    .. [2] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import TopicTree
    >>> rng = np.random.default_rng(0)
    >>> topics = np.kron(np.eye(4), np.ones(5)) * 0.15 + 0.0125
    >>> truth = np.repeat([0, 1, 2, 3], 25)
    >>> X = rng.multinomial(60, topics[truth])
    >>> tree = TopicTree(max_leaf_nodes=4).fit(X)
    >>> sorted(sorted(set(truth[leaf.samples].tolist())) for leaf in tree.leaves_)
    [[0], [1], [2], [3]]
    """

    max_leaf_nodes: int | Literal["auto", "bic"] | None = 8
    _: KW_ONLY
    max_depth: int | None = None
    min_samples_leaf: float = 5
    growth: Growth = "best_first"
    refine: Refine | None = "em"
    search: Search = "starts"
    log_scaling: AutoLogScaling | None = "auto"
    vectorizer: texts.Vectorizer | None = None
    weighting: Weighting = "length"
    smoothing: float = 1.0
    exact: bool = False
    max_iter: int = 100
    tol: float = 1e-5
    half_life: float | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    _leaves_out_empty: ClassVar[bool] = True
    _published: ClassVar[Mapping[str, Mapping[str, Any]]] = dict.fromkeys(
        ("sidiwo", "thesis"), BY_MOMENTS_ALONE | {"search": "none", "log_scaling": None}
    )
    _rules: ClassVar[rules.Rules] = {
        **TreeEstimator._rules,
        "refine": rules.REFINE,
        "search": get_args(Search),
        "log_scaling": (*get_args(AutoLogScaling), None),
        "weighting": get_args(Weighting),
        "max_leaf_nodes": rules.whole(1, optional=True, words=("auto", "bic")),
        "vectorizer": texts.check_vectorizer,
    }
    _fields: ClassVar[fields.Fields] = {
        **TreeEstimator._fields,
        "log_scaling_": fields.choice(*get_args(LogScaling), None),
        "vectorizer_": fields.DERIVED,
        "_n_words": fields.POSITIVE,
        "_smoothing": fields.POSITIVE,
    }

    fit = texts.fit
    partial_fit = texts.partial_fit
    set_params = texts.set_params
    to_html = page.topics_to_html
    name_topics, languages_ = names.name_topics, names.languages_
    _counts = texts.counts_of

    def _check_table(self, X: Any, feature_names: Any, *, reset: bool) -> tuple[Any, Any, Any]:
        X, columns = check_features(self, X, feature_names, reset=reset)
        return X, None, columns

    def _for_sums_alone(self, rows: Rows) -> Mapping[str, Any]:
        instead: dict[str, Any] = {}
        growth = self._growth
        if growth.limits.by_criterion:
            instead["max_leaf_nodes"] = 8
        elif growth.searches and not topic_growth.is_sampled(rows, growth.n_topics):
            instead["search"] = "none"
        if self.weighting == "three_words":
            instead["weighting"] = "length"
        return instead

    def _learn(self, samples: tuple[Any, Any | None, RowArray]) -> node.TreeNode:
        X, _, weight = samples
        counts = as_rows(X)
        filled = contents.filled_weights(counts, weight)
        if self.max_leaf_nodes == "auto":
            self.choice_ = choose_n_components(
                X, sample_weight=filled, random_state=self.random_state
            )
        growth = self._growth
        self.log_scaling_, data, grown = growth.start(counts, filled)
        refined = growth.refine_leaves(data, grown)
        self._assigner, labels, self.n_iter_, self.converged_, *_ = refined
        in_order = data.in_given_order(labels)
        self.labels_ = np.empty(0, dtype=np.intp)
        if counts.gives_rows:
            self.labels_ = np.asarray(contents.filled_labels(counts, in_order))
        known = None if self.refine else grown.sums_and_sizes
        k = len(grown.root.leaves())
        self._leaf_sums = self._sums_of_leaves(counts, weight, in_order, data, labels, k, known)
        self._sums = refined.expected_sums(self._leaf_sums)
        tree = self._nodes_of(grown.root, self._leaf_sums)
        if counts.gives_rows:
            names.choose_words_of(tree, counts, self.labels_, self.vocabulary_, np.asarray(weight))
        self._name(tree)
        return tree

    def _sums_of_leaves(
        self,
        counts: Rows,
        weight: RowArray,
        in_order: RowArray,
        data: topic_growth.ScaledCounts,
        labels: RowArray,
        k: int,
        known: tuple[Floats, Floats] | None = None,
    ) -> MixtureSums:
        """Return the sums of counts, log-scaled and not, over the documents of each leaf.

        Those of log-scaled counts, and the sizes of leaves, may be known.
        """
        if known is None:
            known = data.rows.group_sums(labels, k, data.weight)
        raw = counts.group_sums(in_order, k, weight)[0] if self.log_scaling_ else np.empty((0, k))
        return sums_over(counts, weight, *known, raw, data.asked_smoothing)

    def _nodes_of(self, root: Branch, leaves: MixtureSums) -> node.TreeNode:
        """Return the nodes without names, given the sums of the leaves."""
        scaled = leaves.statistics
        sums = leaves.counts if len(leaves.counts) else scaled
        self._n_words = leaves.total
        shape = len(sums), self._growth.n_topics
        limited = TopicParameters.limited_smoothing(self.smoothing, leaves.total, shape)
        self._smoothing = float(limited)

        tree, self._merges = build_tree(
            root, self.labels_, scaled, leaves.sizes, TopicParameters, word_shares(sums)
        )
        return tree

    def _batch(self, X: Any, missing: Any | None, weight: Floats) -> online_tree.TreeBatch:  # noqa: ARG002
        counts = as_rows(X)
        filled = contents.filled_weights(counts, weight)
        data = self._growth.scale(counts, filled, self.log_scaling_)

        def sums_of(labels: Ints, k: int) -> MixtureSums:
            in_order = data.in_given_order(labels)
            self.labels_ = np.asarray(contents.filled_labels(counts, in_order))
            return self._sums_of_leaves(counts, weight, in_order, data, labels, k)

        return online_tree.TreeBatch(
            collected(data.rows),
            collected(data.rows),
            data.weight,
            data.asked_smoothing,
            self.smoothing,
            np.ones(data.rows.shape[1]),
            TopicParameters,
            sums_of,
        )

    def _describe_batch(self, tree: node.TreeNode, X: Any, weight: Floats) -> None:
        names.choose_words_of(tree, as_rows(X), self.labels_, self.vocabulary_, weight)
        self._name(tree)

    @property
    def _growth(self) -> topic_growth.TopicGrowth:
        return topic_growth.TopicGrowth(self, Limits.of(self))

    def _name(self, root: node.TreeNode) -> None:
        names.name_by_words(root, self.vocabulary_, languages=self.languages_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.weighting == "three_words" and self.log_scaling == "log1p":
            raise InvalidParameterError(
                wording.THREE_WORDS_AFTER_LOG_SCALING, weighting=self.weighting, log_scaling=None
            )

    def _unpack(self) -> None:
        super()._unpack()
        texts.restore_vectorizer(self)

    def _check_consistent(self) -> None:
        super()._check_consistent()
        self._check_profiles()
        check_assigner(self._assigner, TopicParameters, self.n_features_in_, self._n_groups)

    def _ready(self, X: Any) -> tuple[Assigner, Rows]:
        X, _ = check_features(self, self._counts(X), None, reset=False)
        return self._assigner, log_scale(X, self.log_scaling_).rows

    @sources.by_partition
    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each document under the mixture of the leaves.

        The weights of the mixture are those of the leaves, and its topics the word distributions of
        the documents in them, with `smoothing`.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts with the columns of ``fit``, or texts; counts are not log-scaled.

        Returns
        -------
        ndarray of shape (n_samples,)
            log P[x] in nats, of the counts given their sum, including the multinomial coefficient
            as in :meth:`SingleTopicModel.score_samples`.
        """
        check_is_fitted(self, "tree_")
        X, _ = check_features(self, self._counts(X), None, reset=False)
        weights = np.array([leaf.weight for leaf in self.leaves_])
        words = np.column_stack([leaf.center for leaf in self.leaves_])
        topics = TopicParameters.m_step(words * weights * self._n_words, weights, self._smoothing)
        return log_posterior(log_joint(RowBlocks(X), topics))[1] + log_multinomial(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
