"""Summarize groups of measurements as a plain dictionary, the complete content of their page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._validation import check_integer
from momentree.naming.words import choose_distinct
from momentree.report import estimators, relations, tables
from momentree.report.disclosure import Disclosure
from momentree.report.groups import Groups
from momentree.report.measurements import charts
from momentree.report.measurements.features import (
    Feature,
    describe_features,
    differences,
    is_clear,
    phrase,
)
from momentree.report.outcomes import outcomes_in_order

if TYPE_CHECKING:
    from momentree.datasets import Measurements

MAX_BOXES = 60
"""Maximum number of features in the chart of distributions."""
MAX_ROWS = 400
"""Maximum number of rows in the table of means."""
_CANDIDATES = 12
"""Features from which a name is chosen."""


def summarize_measurements(
    estimator: Any,
    table: Measurements,
    *,
    proba: Any = None,
    outcome: str | None = None,
    n_features: int = 20,
    min_cell: int = 5,
    include_records: bool = False,
    title: str | None = None,
    made_with: Mapping[str, object] | None = None,
    quality: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Summarize groups of measurements as a dictionary for `render_html`.

    Parameters
    ----------
    estimator : ClusterTree, GaussianMixture or MixedMixture
        Estimator fitted to the records of `table` with any known value, ``table.enough``.
    table : Measurements
        Records as returned by `momentree.datasets.read_measurements`.
    proba : ndarray of shape (n, k), optional
        Probability of each group for the fitted records. By default
        ``estimator.predict_proba(table.to_matrix()[table.enough])``.
    outcome : str, optional
        Name of the outcome to show first; all others follow in the order of ``table.outcomes``.
    n_features : int, default=20
        Number of differences in the chart of a group, >= 1.
    min_cell : int, default=5
        Suppress nonzero counts of records below this number, and the numbers they could be derived
        from; >= 1, and 1 hides nothing. Means and quantiles of fewer records are hidden too.
    include_records : bool, default=False
        Whether the pair plot shows up to 2,000 individual records as points.
    title : str, optional
        Heading of the page; "Groups of records" by default.
    made_with : mapping of str to object, optional
        Further lines for the section on how the page was made.
    quality : mapping of str to object, optional
        Measures to show; see `summarize_records`.

    Returns
    -------
    dict
        Ready for JSON. ``kind`` ("measurements-tree" or "measurements-flat"), ``title``,
        ``n_records`` (fitted), ``n_left_out`` (without any known value; "<5" if few),
        ``n_features``, ``n_leaves``, ``min_cell``, ``include_records``;
        ``features``: ``name``, ``kind``, ``unit``, ``missing`` (k), ``classes`` and ``numbers`` as
        in `momentree.report.records.count_outcomes`, ``separation`` (share of the variance between
        groups), ``boxes`` and ``stacks`` (positions in the charts of distributions, or None);
        ``order``: features by descending separation; ``profile``: means and shares of the first
        400 rows of ``n_rows`` as text, all records and each group;
        ``groups``: ``sizes`` (k; small ones suppressed) and ``estimated``;
        ``nodes`` in pre-order, with the keys of `summarize_records` except those of codes, and
        ``differences`` from all other records: ``feature``, ``class``, ``d``, ``low``, ``high``,
        ``here``, ``here_low``, ``here_high``, ``rest``, ``all``, ``estimated``;
        ``pairs``: the pair plot, or None; ``outcomes``, ``quality``, ``certainty``, ``corrected``,
        ``fits``, ``table_one``, ``notes``, ``given_names`` and ``made`` as in `summarize_records`.

    Raises
    ------
    InvalidDataError
        If the records are not those of the fit, they have no outcome named `outcome`, or all groups
        are smaller than `min_cell`.
    InvalidParameterError
        If `n_features` or `min_cell` is below 1.
    NotFittedError
        If the estimator is not fitted.

    Notes
    -----
    The standardized difference of a number is (m1 - m2) / sqrt((s1² + s2²) / 2), where 1 are the
    records of the group and 2 all others; that of a share p has s² = p (1 - p). Its interval has
    the standard error sqrt(1/n1 + 1/n2 + d² / (2 (n1 + n2))) for numbers. Groups were formed to
    differ in these features, so the intervals describe them and test nothing. Time: one pass over
    the data per feature. Memory: O(n k + d k).

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import ClusterTree
    >>> from momentree.datasets import MeasurementCoder, Measurements
    >>> from momentree.report import summarize_measurements
    >>> rng = np.random.default_rng(0)
    >>> age = np.r_[rng.normal(75.0, 5.0, 30), rng.normal(30.0, 5.0, 20)]
    >>> columns = {"age": age, "sodium": rng.normal(140.0, 2.0, 50)}
    >>> coder = MeasurementCoder({"age": "number", "sodium": "number"})
    >>> ids = [str(i) for i in range(50)]
    >>> table = Measurements(columns, coder, ids, np.ones(50, dtype=bool))
    >>> tree = ClusterTree(2, data="real").fit(table.to_matrix())
    >>> summary = summarize_measurements(tree, table)
    >>> [node["name"] for node in summary["nodes"]]
    ['All records', 'high age', 'low age']
    """
    check_integer("n_features", n_features, at_least=1)
    disclosure = Disclosure(min_cell)
    estimators.check_fitted(estimator, "labels_")
    shape = (len(estimator.labels_),)
    estimators.check_of_fit("table", (int(table.enough.sum()),), shape)
    if proba is None:
        proba = estimator.predict_proba(table.to_matrix()[table.enough])
    outcomes = outcomes_in_order(table, outcome)
    groups = Groups.of(estimator, np.asarray(proba), disclosure)
    features = describe_features(table, groups)
    nodes = _describe_nodes(features, groups, n_features)
    shared = relations.describe_groups(
        estimator,
        "measurements",
        table,
        groups,
        nodes,
        outcomes,
        quality,
        title=title,
        made_with=made_with,
        suppressed=(
            any(one["total"] < 0 for f in features for one in f.entry["classes"]),
            any(feature.suppressed for feature in features),
        ),
    )
    shared["quality"]["residuals"] = _residuals(features, table, groups)
    order = sorted(range(len(features)), key=lambda j: (-features[j].entry["separation"], j))
    profile = charts.describe_profile(features, order, groups)
    _add_charts(features, order, profile, groups.k)
    summary = {
        **shared,
        "n_features": len(table.columns),
        "n_shown": n_features,
        "include_records": include_records,
        "default_lambda": 0.5,
        "features": [feature.entry for feature in features],
        "order": order,
        "profile": profile[:MAX_ROWS],
        "n_rows": len(profile),
        "groups": {
            "sizes": groups.sizes.tolist(),
            "estimated": np.round(groups.estimates, 3).tolist(),
        },
        "pairs": charts.pairs(features, table, groups, include_records=include_records),
    }
    return {**summary, "table_one": tables.describe_characteristics(summary)}


def _add_charts(
    features: Sequence[Feature],
    order: Sequence[int],
    profile: Sequence[Mapping[str, Any]],
    k: int,
) -> None:
    """Add the charts of the distributions of the first features."""
    for place, j in enumerate(order):
        entry = features[j].entry
        entry["boxes"] = entry["stacks"] = None
        if place < MAX_BOXES and features[j].moments is not None:
            entry["boxes"] = charts.boxes(features[j])
        elif place < MAX_BOXES:
            entry["stacks"] = charts.stacked(profile, j, k)


def _describe_nodes(
    features: Sequence[Feature], groups: Groups, n_features: int
) -> list[dict[str, Any]]:
    """Describe every node, in pre-order, with its largest differences from all other records."""
    compared = [differences(features, leaves, groups) for leaves in groups.below]
    names = _names(features, compared)
    nodes = groups.describe(names, names, "(no clear differences)")
    for node, entries in zip(nodes, compared, strict=True):
        node["differences"] = entries[:n_features]
    return nodes


def _names(
    features: Sequence[Feature], compared: Sequence[Sequence[dict[str, Any]]]
) -> list[list[str]]:
    """Choose up to three phrases for each node, clear differences first, no two nodes alike."""
    ranked, n_leading = [], []
    for entries in compared:
        clear_first = sorted(entries, key=lambda entry: not is_clear(entry))
        phrases = [(e, phrase(features[e["feature"]], e)) for e in clear_first]
        kept = [(e, words) for e, words in phrases if words is not None][:_CANDIDATES]
        ranked.append([words for _, words in kept])
        n_leading.append(sum(is_clear(entry) for entry, _ in kept))
    return choose_distinct(ranked, n_leading)


def _residuals(
    features: Sequence[Feature], table: Measurements, groups: Groups
) -> dict[str, Any] | None:
    """Return the largest residuals, unless numbers may depend on each other within groups."""
    if table.only_numbers or groups.sizes.min() < 0:
        return None
    compared = [feature for feature in features if not (feature.suppressed or feature.merged)]
    return relations.largest_residuals(
        table.frame[np.asarray(table.enough, dtype=bool)],
        groups.proba,
        [feature.entry["name"] for feature in compared],
        groups.disclosure,
        np.array([feature.column for feature in compared], dtype=np.intp),
    )
