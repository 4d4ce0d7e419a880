"""Agreement with the truth: components, separated sources, and trees with known classes."""

from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from momentree._types import Floats, Ints
from momentree._validation import as_floats, check_choice, check_shape
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.metrics._checks import check_list

Metric = Literal["l1", "l2"]

_DISTANCES: dict[str, Literal["cityblock", "euclidean"]] = {"l1": "cityblock", "l2": "euclidean"}


def match_components(found: ArrayLike, truth: ArrayLike, metric: Metric = "l1") -> Ints:
    """Match components with the true ones by minimizing the sum of distances.

        order = argmin over permutations p of  sum_j ||found[p(j)] - truth[j]||

    Parameters
    ----------
    found, truth : array-like of shapes (n_found, n_features) and (n_components, n_features)
        Components in rows, in any order, and at least one true component.
    metric : {"l1", "l2"}, default="l1"
        Sum of absolute differences, or Euclidean distance.

    Returns
    -------
    ndarray of intp of shape (n_components,)
        The row of `found` that is matched with each row of `truth`, so that ``found[order]`` is in
        the order of `truth`. If there are too few rows, -1 stands for no match, and the sum also
        counts the norms of the unmatched true components; extra rows are ignored.

    Raises
    ------
    InvalidDataError
        If `found` and `truth` are not tables of finite numbers with the same number of columns, or
        `truth` has no rows.
    InvalidParameterError
        If `metric` is neither "l1" nor "l2".

    Notes
    -----
    Exact solution of the assignment problem [1]. Time O(k^2 d + k^3) for k components.

    References
    ----------
    .. [1] D. F. Crouse. On implementing 2D rectangular assignment algorithms. IEEE Transactions
       on Aerospace and Electronic Systems 52, 2016.

    Examples
    --------
    >>> from momentree.metrics import match_components
    >>> match_components([[0.1, 0.9], [0.8, 0.2]], [[1.0, 0.0], [0.0, 1.0]])
    array([1, 0])
    >>> match_components([[0.1, 0.9]], [[1.0, 0.0], [0.0, 1.0]])
    array([-1,  0])
    """
    return _match(found, truth, metric)[0]


def recovery_error(found: ArrayLike, truth: ArrayLike, metric: Metric = "l1") -> float:
    """Return the mean distance between found and true components, after matching.

        min over permutations p of  (1 / k) sum_j ||found[p(j)] - truth[j]||

    Parameters
    ----------
    found, truth : array-like of shapes (n_found, n_features) and (n_components, n_features)
        Components in rows, in any order, and at least one true component.
    metric : {"l1", "l2"}, default="l1"
        Sum of absolute differences, or Euclidean distance.

    Returns
    -------
    float
        In the units of the components; 0 = perfect. With "l1" it is at most 2 for topics (rows >= 0
        with sum 1). An unmatched true component contributes its norm; extra rows of `found`
        are ignored.

    See Also
    --------
    match_components : The matching itself, with the same errors and cost.

    Examples
    --------
    >>> from momentree.metrics import recovery_error
    >>> round(recovery_error([[0.1, 0.9], [0.8, 0.2]], [[1.0, 0.0], [0.0, 1.0]]), 6)
    0.3
    """
    return float(_match(found, truth, metric)[1].mean())


def _match(found: ArrayLike, truth: ArrayLike, metric: Metric) -> tuple[Ints, Floats]:
    """Return the row of `found` for each row of `truth`, or -1, and their distances."""
    check_choice("metric", metric, get_args(Metric))
    A = _finite_matrix("found", found, ("n_components", "n_features"))
    B = _finite_matrix("truth", truth, ("n_components", A.shape[1]))
    if not len(B):
        raise InvalidDataError(
            "[no_true_components] truth has no rows; give at least one true component"
        )
    # The distance between a true component and a row of zeros is its norm.
    missing = np.zeros((max(0, len(B) - len(A)), B.shape[1]))
    distances = cdist(np.vstack([A, missing]), B, _DISTANCES[metric])
    rows, columns = linear_sum_assignment(distances)
    order = np.empty(len(B), dtype=np.intp)
    order[columns] = rows
    return np.where(order < len(A), order, -1), distances[order, np.arange(len(B))]


def _finite_matrix(parameter: str, values: ArrayLike, shape: tuple[int | str, ...]) -> Floats:
    matrix = as_floats(parameter, values)
    check_shape(parameter, matrix, shape)
    if not np.isfinite(matrix).all():
        raise InvalidDataError(wording.NOT_FINITE, parameter=parameter)
    return matrix


def amari_distance(components: ArrayLike, mixing: ArrayLike) -> float:
    r"""Return the Amari distance of an unmixing matrix from the inverse of a mixing matrix.

    With :math:`P = |B A|`, a permuted diagonal matrix if the sources are separated, it is

    .. math:: \frac{1}{2 k (k - 1)} \left[ \sum_i \left( \frac{\sum_j P_{ij}}{\max_j P_{ij}} - 1
              \right) + \sum_j \left( \frac{\sum_i P_{ij}}{\max_i P_{ij}} - 1 \right) \right].

    Parameters
    ----------
    components : array-like of shape (k, d)
        Unmixing matrix B, such as ``components_`` of :class:`momentree.IndependentComponents` or of
        scikit-learn's FastICA.
    mixing : array-like of shape (d, k)
        True mixing matrix A.

    Returns
    -------
    float
        From 0 (perfect) to 1; the order, signs and scales of sources do not matter. 0 for one
        source.

    Raises
    ------
    InvalidDataError
        If shapes do not match, values are not finite, or B A has a row or column of zeros.

    References
    ----------
    .. [1] S. Amari, A. Cichocki, H. H. Yang. A new learning algorithm for blind signal separation.
       Advances in Neural Information Processing Systems 8, 1996.

    Examples
    --------
    >>> from momentree.metrics import amari_distance
    >>> amari_distance([[0, 2], [-1, 0]], [[1, 0], [0, 1]])
    0.0
    >>> amari_distance([[1, 1], [1, -1]], [[1, 0], [0, 1]])
    1.0
    """
    B = _finite_matrix("components", components, ("k", "d"))
    A = _finite_matrix("mixing", mixing, B.shape[::-1])
    P = np.abs(B @ A)
    k = len(P)
    if not (P.any(axis=0).all() and P.any(axis=1).all()):
        raise InvalidDataError(
            "[sources_not_matched] components times mixing contains a row or column of zeros; each "
            "source must have a component"
        )
    if k < 2:
        return 0.0
    rows = (P / P.max(axis=1, keepdims=True)).sum() - k
    columns = (P / P.max(axis=0)).sum() - k
    return float((rows + columns) / (2 * k * (k - 1)))


_LABELS_NOT_OF_TREE = (
    "[labels_not_of_tree] labels has {n_rows:~entry/entries}, but the tree has {samples:~sample}; "
    "give the labels of the samples that it was fitted to, in the same order"
)


def dendrogram_purity(tree: Any, labels: ArrayLike) -> float:
    """Measure how well a whole tree agrees with known classes, at all of its levels.

    For all pairs of samples i, j of the same class, find the smallest node that contains both. Its
    purity is the fraction of its samples that have this class:

        purity = mean over pairs of |class(i, j) and node(i, j)| / |node(i, j)|.

    It is 1 if and only if a node contains all samples of each class and no others, at whatever
    depth, so no number of clusters has to be chosen. For labels with several levels, compute it
    once for each level.

    Parameters
    ----------
    tree : TopicTree, ClusterTree, TreeNode, or array-like of shape (n_samples - 1, 4)
        A fitted tree or the root of one; or a linkage matrix in SciPy's format, such as that of
        Ward's method, whose leaves are samples.
    labels : array-like of shape (n_samples,)
        Class of each sample of ``fit``: numbers or strings.

    Returns
    -------
    float
        In (0, 1]. Even a tree of a single node is above 0, by an amount that depends on the labels,
        so compare trees on the same labels only.

    Raises
    ------
    InvalidDataError
        If `labels` is not a list with one label for each sample, no two samples have the same
        label, or `tree` is neither a tree nor a linkage matrix.

    Notes
    -----
    The measure of [1], exact rather than estimated from random pairs: the number of pairs of a
    class whose smallest common node is v is C(v) (C(v) - 1) / 2 minus the same for each child of v,
    where C(v) counts the class in v. The smallest common node of two samples in one leaf is that
    leaf. Nodes may have any number of children. Time O(n_nodes n_classes) after counting, and
    O(n_samples n_classes) memory for a linkage matrix.

    References
    ----------
    .. [1] K. A. Heller, Z. Ghahramani. Bayesian hierarchical clustering. International Conference
       on Machine Learning 22, 2005. doi:10.1145/1102351.1102389

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.cluster.hierarchy import linkage
    >>> from momentree.metrics import dendrogram_purity
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> dendrogram_purity(linkage(X, "ward"), ["a", "a", "b", "b"])
    1.0
    >>> round(dendrogram_purity(linkage(X, "ward"), ["a", "a", "a", "b"]), 3)
    0.833

    A fitted tree of topics:

    >>> from momentree import TopicTree
    >>> X = np.repeat(np.kron(np.eye(3), np.ones(4)), [30, 20, 10], axis=0)
    >>> dendrogram_purity(TopicTree(3).fit(X), np.repeat([0, 1, 2], [30, 20, 10]))
    1.0
    """
    names = check_list("labels", labels)
    codes = np.unique(names, return_inverse=True)[1]
    pairs = float(_pairs(np.bincount(codes)).sum())
    if not pairs:
        raise InvalidDataError(
            "[no_two_of_a_class] no two of the {n_rows:~label} are the same; dendrogram purity "
            "compares pairs of samples of a class",
            n_rows=len(codes),
        )
    root = getattr(tree, "tree_", tree)
    is_node = hasattr(root, "children") and hasattr(root, "samples")
    total = 0.0
    for own, children in (_of_tree if is_node else _of_linkage)(root, codes):
        common = _pairs(own) - sum(map(_pairs, children))
        total += float(common @ own) / max(float(own.sum()), 1.0)
    return total / pairs


def _pairs(counts: Any) -> Floats:
    return np.asarray(counts * (counts - 1.0) / 2.0)


def _of_tree(root: Any, codes: Ints) -> Iterator[tuple[Floats, list[Floats]]]:
    """Yield the number of samples of each class in every node, and in its children."""
    samples = root.samples
    if len(samples) != len(codes) or not np.array_equal(np.sort(samples), np.arange(len(codes))):
        raise InvalidDataError(_LABELS_NOT_OF_TREE, n_rows=len(codes), samples=len(samples))
    k = int(codes.max()) + 1
    stack = [(root, np.bincount(codes, minlength=k).astype(np.float64))]
    while stack:
        node, own = stack.pop()
        below = [
            np.bincount(codes[child.samples], minlength=k).astype(np.float64)
            for child in node.children
        ]
        yield own, below
        stack.extend(zip(node.children, below, strict=True))


def _of_linkage(linkage: Any, codes: Ints) -> Iterator[tuple[Floats, list[Floats]]]:
    """Yield the number of samples of each class in every cluster of a linkage, and in its parts."""
    merges, n = _check_linkage(linkage), len(codes)
    if len(merges) != n - 1:
        raise InvalidDataError(_LABELS_NOT_OF_TREE, n_rows=n, samples=len(merges) + 1)
    clusters: dict[int, Floats] = {}
    k = int(codes.max()) + 1
    for t, pair in enumerate(merges.tolist()):
        parts = [np.eye(1, k, codes[i])[0] if i < n else clusters.pop(i) for i in pair]
        clusters[n + t] = parts[0] + parts[1]
        yield clusters[n + t], parts


def _check_linkage(linkage: Any) -> Ints:
    """Return the two clusters of each merge of a linkage matrix, each of which occurs once."""
    try:
        array = np.asarray(linkage, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if np.isfinite(array).all() and is_valid_linkage(array):
        merges = array[:, :2].astype(np.intp)
        if (merges == array[:, :2]).all():
            return merges
    raise InvalidDataError(
        "[not_a_tree] tree is a {type}; expected a fitted tree, its tree_, or a linkage matrix of "
        "SciPy, with one row for each merge and 4 columns",
        type=type(linkage).__name__,
    )
