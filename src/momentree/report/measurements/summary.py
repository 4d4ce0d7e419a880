"""Summarize groups of measurements as a plain dictionary, the complete content of their page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._validation import check_integer
from momentree.exceptions import InvalidDataError
from momentree.report._estimators import FittedGroups, check_fitted
from momentree.report._provenance import provenance
from momentree.report.disclosure import Disclosure
from momentree.report.measurements.charts import boxes, choose_pairs, pairs
from momentree.report.measurements.features import describe_features, sizes_of
from momentree.report.measurements.nodes import describe_nodes
from momentree.report.measurements.profile import describe_profile, stacked
from momentree.report.records._groups import tree_of_groups
from momentree.report.records._quality import largest_residuals
from momentree.report.records.fits import hide_certain
from momentree.report.records.notes import notes_shown
from momentree.report.records.outcomes import rate_texts
from momentree.report.records.relations import describe_relations, outcomes_in_order
from momentree.report.records.table_one import describe_characteristics
from momentree.report.text import clean_text, for_readers

if TYPE_CHECKING:
    from momentree.datasets import Measurements

MOST_BOXES = 60
"""Maximum number of features in the chart of distributions."""
MOST_ROWS = 400
"""Maximum number of rows in the table of means."""


def summarize_measurements(
    estimator: FittedGroups,
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
    labels, probabilities = _assigned(estimator, table, proba)
    enough = np.asarray(table.enough, dtype=bool)
    outcomes = outcomes_in_order(table, outcome, enough)
    tree = hasattr(estimator, "tree_")
    fitted: Any = estimator
    k = len(list(fitted.tree_.leaves())) if tree else len(fitted.weights_)
    sizes, estimates = sizes_of(labels, k, disclosure)
    features = describe_features(table, labels, k, estimates, disclosure)
    root = tree_of_groups(estimator, estimates)
    given = getattr(estimator, "given_names_", {})
    nodes = describe_nodes(
        root,
        features,
        sizes,
        estimates,
        labels,
        probabilities,
        disclosure,
        spread=not tree,
        n_features=n_features,
        given=given,
    )
    relations, omitted = describe_relations(
        table, outcomes, labels, probabilities, sizes, estimates, quality, disclosure
    )
    relations["quality"]["residuals"] = None
    if relations["fits"]:
        classes = [one for f in features for one in f.entry["classes"]]
        counts = [n for f in features for n in f.entry["missing"]]
        counts += [n for one in classes for n in one["counts"]]
        hide_certain(
            relations["fits"],
            totals=any(one["total"] < 0 for one in classes),
            counts=any(n < 0 for n in counts),
        )
    if not table.only_numbers:  # those may depend on each other within groups
        names = [feature.entry["name"] for feature in features]
        relations["quality"]["residuals"] = largest_residuals(
            table.frame[enough], probabilities, names, disclosure
        )
    for node in nodes:
        node["outcome_rates"] = rate_texts(
            relations["outcomes"], node["leaves"], estimates, disclosure
        )
    order = sorted(range(len(features)), key=lambda j: (-features[j].entry["separation"], j))
    for place, j in enumerate(order):
        features[j].entry["stacks"] = None
        drawn = features[j].moments is not None and place < MOST_BOXES
        features[j].entry["boxes"] = boxes(features[j], k) if drawn else None
    profile = describe_profile(features, order, k, estimates, disclosure)
    for j in order[:MOST_BOXES]:
        if features[j].moments is None:
            features[j].entry["stacks"] = stacked(profile, j, k)
    summary = {
        "kind": "measurements-tree" if tree else "measurements-flat",
        "title": clean_text(title or "Groups of records"),
        "n_records": len(labels),
        "n_left_out": disclosure.count(int((~enough).sum())),
        "n_features": len(table.columns),
        "n_leaves": k,
        "n_shown": n_features,
        "min_cell": min_cell,
        "include_records": include_records,
        "default_lambda": 0.5,
        "features": [feature.entry for feature in features],
        "order": order,
        "profile": profile[:MOST_ROWS],
        "n_rows": len(profile),
        "groups": {"sizes": sizes.tolist(), "estimated": np.round(estimates, 3).tolist()},
        "nodes": nodes,
        "pairs": pairs(
            features,
            choose_pairs(features, table),
            table,
            labels,
            k,
            disclosure,
            include_records=include_records,
        ),
        **relations,
        "notes": [for_readers(note) for note in (*notes_shown(table, min_cell), *omitted)],
        "given_names": dict(given),
        "made": provenance(fitted, made_with),
    }
    return {**summary, "table_one": describe_characteristics(summary)}


def _assigned(estimator: Any, table: Measurements, proba: Any) -> tuple[Any, Any]:
    """Return the groups of the fitted records, and their probabilities."""
    check_fitted(estimator, "labels_")
    labels = np.asarray(estimator.labels_)
    n = int(table.enough.sum())
    if len(labels) != n:
        raise InvalidDataError("measurements_not_of_fit", n_records=n, fitted_records=len(labels))
    if proba is None:
        proba = estimator.predict_proba(table.to_matrix()[table.enough])
    return labels, np.asarray(proba)
