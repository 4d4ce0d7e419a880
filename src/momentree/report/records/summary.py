"""Summarize groups of coded records as a plain dictionary, the complete content of their page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._validation import check_integer
from momentree.estimators.names import CODE_LAMBDA
from momentree.exceptions import InvalidDataError
from momentree.metrics import group_profiles
from momentree.report.disclosure import SMALL, Disclosure
from momentree.report.estimators import check_fitted
from momentree.report.groups import Groups
from momentree.report.outcomes import outcomes_in_order
from momentree.report.records.codes import (
    PublishedTable,
    describe_codes,
    describe_nodes,
    draw_heat_map,
)
from momentree.report.relations import describe_groups, largest_residuals
from momentree.report.statistics import code_statistics
from momentree.report.tables import describe_characteristics
from momentree.report.text import names_of_codes

if TYPE_CHECKING:
    from momentree.datasets import Records

_MAX_COMPARED = 200
"""Number of codes whose pairs are compared, most common first."""
_AT_ONCE = 1 << 16
"""Records that are counted at a time."""


def summarize_records(
    estimator: Any,
    records: Records,
    *,
    outcome: str | None = None,
    n_codes: int = 20,
    heat_codes: int = 40,
    min_cell: int = 5,
    include_records: bool = False,
    title: str | None = None,
    made_with: Mapping[str, object] | None = None,
    quality: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Summarize groups of records as a dictionary for `render_html`.

    Parameters
    ----------
    estimator : ClusterTree or BernoulliMixture
        Estimator fitted to ``records.X[records.enough]``.
    records : Records
        Records as returned by `momentree.datasets.read_records`.
    outcome : str, optional
        Name of the outcome to show first; all others follow in the order of ``records.outcomes``.
    n_codes : int, default=20
        Number of codes in charts of frequencies and lists of relevant codes, >= 1.
    heat_codes : int, default=40
        Number of codes in the heat map, most common first, >= 1.
    min_cell : int, default=5
        Suppress nonzero counts of records below this number, which appear as "<5", and the counts
        they could be derived from; >= 1, and 1 hides nothing.
    include_records : bool, default=False
        Whether the heat map shows up to 2,000 individual records with their ids. Readers can then
        count small cells there.
    title : str, optional
        Heading of the page; "Groups of records" by default.
    made_with : mapping of str to object, optional
        Further lines for the section on how the page was made.
    quality : mapping of str to object, optional
        Measures to show: ``"stability"``, scores of repeats; ``"predictive_power"``, a
        `momentree.metrics.PredictivePower` for each outcome, of which only the rough AUC is shown
        if small counts could be derived from it; ``"recurrence"``, the similarity of each group to
        its match in resampled records, in [0, 1]; ``"fits"``, the table of
        `momentree.models.compare_fits`; and anything printable.

    Returns
    -------
    dict
        Ready for JSON. ``kind`` ("records-tree" or "records-flat"), ``title``, ``n_records``
        (fitted), ``n_left_out`` (with too few codes; "<5" if few), ``n_features``, ``n_leaves``,
        ``n_codes``, ``min_cell``, ``rollup`` (system used to roll up codes, or None),
        ``default_lambda``;
        ``codes``: ``code``, ``name``, ``short`` (the name, shortened), ``total``, ``rate`` and
        ``estimated`` (whether the rate is an estimate from suppressed counts) of the d codes with
        zero or at least `min_cell` records;
        ``groups``: ``sizes`` (k; small ones suppressed), ``estimated`` (estimates of all sizes),
        ``counts`` and ``missing`` (k, d; ``missing`` is None if no value is missing);
        ``nodes`` in pre-order: ``id``, ``parent``, ``children``, ``depth``, ``leaf``, ``leaves``
        (groups at or below it), ``name``, ``name_parts`` (the names of codes in it),
        ``long_name_parts`` (their full names), ``automatic_parts`` (those without a given name),
        ``n_samples`` (estimated if ``exact`` is false), ``size`` (as text), ``share``,
        ``share_interval`` (centered on the counted share; None for the root and if ``exact`` is
        false), ``codes_per_record``, ``residual`` (whether it is a residual group: few codes, and
        none in half of the records), ``top``, ``top_rates`` and ``top_estimated`` (codes by
        descending relevance, their rates, and whether these are estimates), ``outcome_rates``
        (text, for binary outcomes), ``cell`` (position in the icicle);
        ``common``: codes by descending frequency; ``outcomes`` (see
        `momentree.report.records.count_outcomes`); ``heat``; ``scoring`` (the numbers that assign a
        record, from the published counts); ``quality``, with ``residuals`` or None: of the 200 most
        common codes without suppressed numbers, the ``pairs`` with the largest dependence within
        groups (``items``, ``residual`` as in `momentree.metrics.bivariate_residuals`), and the
        ``limit`` of what is chance;
        ``codes_per_record`` (means and quartiles), ``table_one`` (``columns`` and ``rows``; see
        `table_one`), ``certainty`` (relative ``entropy``, and ``mean_posterior`` (k, k) by assigned
        group), ``corrected`` (``outcomes`` and ``covariates`` by the three-step method; None for
        one group), ``fits`` (``columns``, ``rows``, ``numbers``, ``lowest``, ``open``; or None);
        ``notes`` (text); ``given_names``: names given by hand, by the number of a leaf or the first
        and last number below a node ("0-3"); ``made``. Counts of -1 are small; counts of -2 are
        hidden to protect them.

    Raises
    ------
    InvalidDataError
        If the records are not those of the fit, they have no outcome named `outcome`, or all groups
        are smaller than `min_cell`.
    InvalidParameterError
        If `n_codes`, `heat_codes` or `min_cell` is below 1.
    NotFittedError
        If the estimator is not fitted.

    Notes
    -----
    The charts are those of [1], section 4.6.3, and relevance is its equation 4.12. The summary
    contains no counts of inner nodes, and no totals from which a small count could be derived by
    subtraction. Time: one pass over the data per node, and ``predict_proba``. Memory:
    O(n k + k d).

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications. PhD
       thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    Thirty records have the first two codes, twenty the other two, and three have an extra one:

    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> import momentree as mt
    >>> from momentree.datasets import RecordCoder, Records
    >>> from momentree.report import summarize_records
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], [30, 20], axis=0)
    >>> X[:3, 3] = 1
    >>> codes = ["401", "428", "650", "V27"]
    >>> ids = [f"patient {i}" for i in range(50)]
    >>> enough = np.ones(50, dtype=bool)
    >>> coder = RecordCoder(codes)
    >>> records = Records(sp.csr_array(X * 1.0), np.array(codes), {}, ids, enough, coder)
    >>> summary = summarize_records(mt.ClusterTree(max_leaf_nodes=2).fit(X), records)
    >>> [[codes[j] for j in node["top"]] for node in summary["nodes"][1:]]
    [['401', '428'], ['650', 'V27']]
    >>> summary["groups"]["sizes"], summary["groups"]["counts"]
    ([30, 20], [[30, 30, 0, -1], [0, 0, 20, 20]])
    """
    check_integer("n_codes", n_codes, at_least=1)
    check_integer("heat_codes", heat_codes, at_least=1)
    disclosure = Disclosure(min_cell)
    X, labels = _fitted_rows(estimator, records)
    outcomes = outcomes_in_order(records, outcome)
    groups = Groups.of(estimator, labels, estimator.predict_proba(X), disclosure)
    profiles = group_profiles(X, labels, n_groups=groups.k, proba=groups.proba)
    table = PublishedTable.of(profiles, groups)
    names = names_of_codes(records.codes, records.names or {})
    # The name of a rare code could identify the records that have it.
    named = np.flatnonzero(table.counts.totals != SMALL)
    published = table.of_codes(named)
    codes = describe_codes(published, names, named)
    common = np.array(codes["common"], dtype=np.intp)
    nodes = describe_nodes(table, names, n_codes=max(n_codes, 10))  # for the cards
    for node in nodes:
        node["top"] = np.searchsorted(named, node["top"]).tolist()
    shared = describe_groups(
        estimator,
        "records",
        records,
        groups,
        nodes,
        outcomes,
        quality,
        title=title,
        made_with=made_with,
        suppressed=(table.counts.totals.min(initial=0) < 0, table.counts.counts.min(initial=0) < 0),
    )
    compared = named[common[published.known()[common]][:_MAX_COMPARED]]
    shared["quality"]["residuals"] = largest_residuals(
        X, groups.proba, [names["short"][j] for j in compared], disclosure, compared
    )
    drawn, ids = common[:heat_codes], None
    if include_records and records.ids is not None:
        ids = np.asarray(records.ids, dtype=object)[np.asarray(records.enough, dtype=bool)]
    heat = draw_heat_map(X, groups, named[drawn], ids=ids, single=include_records)
    summary = {
        **shared,
        "n_features": X.shape[1],
        "n_codes": n_codes,
        "rollup": getattr(getattr(records, "coder", None), "rollup", None),
        "default_lambda": CODE_LAMBDA,
        **codes,
        "codes_per_record": _codes_per_record(X, table, nodes),
        "heat": {"codes": drawn.tolist(), **heat},
    }
    return {**summary, "table_one": describe_characteristics(summary)}


def _codes_per_record(
    X: Any, table: PublishedTable, nodes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Describe the number of codes of each record, read in parts, since there may be many."""
    parts = (X[start : start + _AT_ONCE] for start in range(0, X.shape[0], _AT_ONCE))
    n_codes = np.concatenate([np.asarray((part == 1).sum(axis=1)).ravel() for part in parts])
    means = {node["leaf"]: node["codes_per_record"] for node in nodes}
    return code_statistics(
        n_codes,
        table.groups,
        np.array([means[group] for group in range(table.groups.k)]),
        nodes[0]["codes_per_record"],
        (table.counts.counts < 0).sum(axis=1),
    )


def _fitted_rows(estimator: Any, records: Records) -> tuple[Any, Any]:
    """Return the fitted records, and their groups."""
    check_fitted(estimator, "labels_")
    X, labels = records.fitted, np.asarray(estimator.labels_)
    expected = (len(labels), len(estimator.vocabulary_))
    if X.shape != expected:
        n_records, n_codes = X.shape
        fitted = {"fitted_records": expected[0], "fitted_codes": expected[1]}
        raise InvalidDataError(
            "[records_not_of_fit] records has {n_records:~row} with enough codes, and "
            "{n_codes:~code}; the estimator was fitted to {fitted_records:~row} and "
            "{fitted_codes:~code}. Pass the records used in fit",
            n_records=n_records,
            n_codes=n_codes,
            **fitted,
        )
    return X, labels
