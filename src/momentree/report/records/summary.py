"""Summarize groups of coded records as a plain dictionary, the complete content of their page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._validation import check_integer
from momentree.estimators.names import CODE_LAMBDA
from momentree.exceptions import InvalidDataError
from momentree.metrics import group_profiles
from momentree.report._estimators import FittedGroups, check_fitted
from momentree.report._provenance import provenance
from momentree.report.disclosure import SMALL, Disclosure
from momentree.report.records._groups import describe_groups, tree_of_groups
from momentree.report.records._heat_map import bands, single_records
from momentree.report.records._quality import largest_residuals
from momentree.report.records._scoring import summarize_scoring
from momentree.report.records._short_titles import short_titles
from momentree.report.records._table import PublishedTable
from momentree.report.records.fits import hide_certain
from momentree.report.records.notes import notes_shown
from momentree.report.records.outcomes import rate_texts
from momentree.report.records.relations import describe_relations, outcomes_in_order
from momentree.report.records.statistics import code_statistics
from momentree.report.records.table_one import describe_characteristics
from momentree.report.text import clean_text, for_readers

if TYPE_CHECKING:
    from momentree.datasets import Records

_MOST_COMPARED = 200
"""Number of codes whose pairs are compared, most common first."""
_AT_ONCE = 1 << 16
"""Records that are counted at a time."""


def summarize_records(
    estimator: FittedGroups,
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
        ``long_name_parts`` (their full names),
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
    X, labels, enough = _fitted_rows(estimator, records)
    outcomes = outcomes_in_order(records, outcome, enough)
    vocabulary = [clean_text(code) for code in records.codes]
    tree = hasattr(estimator, "tree_")
    fitted: Any = estimator
    k = len(list(fitted.tree_.leaves())) if tree else len(fitted.weights_)
    proba = estimator.predict_proba(X)
    table = PublishedTable.of(group_profiles(X, labels, n_groups=k, proba=proba), disclosure)
    root = tree_of_groups(estimator, table.size_estimates)
    known = {str(code): clean_text(name) for code, name in (records.names or {}).items()}
    names = [known.get(code) or code for code in vocabulary]
    shorts = short_titles(vocabulary, names)
    # The name of a rare code could identify the records that have it.
    named = np.flatnonzero(table.counts.totals != SMALL)
    published = table.of_codes(named)
    base = published.rates(range(k))
    common = np.lexsort((np.arange(len(base)), -np.round(base, 9)))
    columns = named[common[:heat_codes]]
    order = np.array([leaf.leaf_id or 0 for leaf in root.leaves()], dtype=np.intp)
    shows_ids = include_records and records.ids is not None
    ids = np.asarray(records.ids, dtype=object)[enough] if shows_ids else None
    nodes = describe_groups(
        root,
        table,
        names,
        shorts,
        labels,
        proba,
        spread=not tree,
        n_codes=max(n_codes, 10),  # for the cards
        given=getattr(estimator, "given_names_", {}),
    )
    relations, omitted = describe_relations(
        records, outcomes, labels, proba, table.sizes, table.size_estimates, quality, disclosure
    )
    if relations["fits"]:
        hide_certain(
            relations["fits"],
            totals=bool((table.counts.totals < 0).any()),
            counts=bool((table.counts.counts < 0).any()),
        )
    compared = named[common[published.known()[common]][:_MOST_COMPARED]]
    relations["quality"]["residuals"] = largest_residuals(
        X, proba, [shorts[j] for j in compared], disclosure, compared
    )
    counted = relations["outcomes"]
    for node in nodes:
        node["top"] = np.searchsorted(named, node["top"]).tolist()
        node["outcome_rates"] = rate_texts(
            counted, node["leaves"], table.size_estimates, disclosure
        )

    n_left_out = int((~enough).sum())
    notes = [*notes_shown(records, min_cell), *omitted]
    n_codes_of = _numbers_of_codes(X)
    in_groups = {
        node["leaf"]: node["codes_per_record"] for node in nodes if node["leaf"] is not None
    }
    means = np.array([in_groups[j] for j in range(k)])
    summary = {
        "kind": "records-tree" if tree else "records-flat",
        "title": clean_text(title or "Groups of records"),
        "n_records": len(labels),
        "n_left_out": disclosure.count(n_left_out),
        "n_features": len(vocabulary),
        "n_leaves": k,
        "n_codes": n_codes,
        "min_cell": min_cell,
        "rollup": getattr(getattr(records, "coder", None), "rollup", None),
        "default_lambda": CODE_LAMBDA,
        "codes": {
            "code": [vocabulary[j] for j in named],
            "name": [names[j] for j in named],
            "short": [shorts[j] for j in named],
            "total": published.counts.totals.tolist(),
            "rate": np.round(base, 9).tolist(),
            "estimated": published.estimated(range(k)).tolist(),
        },
        "groups": published.as_json(),
        "nodes": nodes,
        "common": common.tolist(),
        **relations,
        "codes_per_record": code_statistics(
            n_codes_of,
            labels,
            table.sizes,
            means,
            nodes[0]["codes_per_record"],
            (table.counts.counts < 0).sum(axis=1),
            disclosure,
        ),
        "heat": {
            "codes": common[:heat_codes].tolist(),
            "bands": bands(X, labels, order, columns, table.sizes, disclosure),
            "records": single_records(X, labels, order, columns, ids) if include_records else None,
        },
        "scoring": summarize_scoring(published),
        "notes": [for_readers(note) for note in notes],
        "given_names": dict(getattr(estimator, "given_names_", {})),
        "made": provenance(fitted, made_with),
    }
    return {**summary, "table_one": describe_characteristics(summary)}


def _numbers_of_codes(X: Any) -> Any:
    """Return the number of codes of each record, read in parts, since there may be many."""
    parts = (X[start : start + _AT_ONCE] for start in range(0, X.shape[0], _AT_ONCE))
    return np.concatenate([np.asarray((part == 1).sum(axis=1)).ravel() for part in parts])


def _fitted_rows(estimator: Any, records: Records) -> tuple[Any, Any, Any]:
    """Return the fitted records, their groups, and a mask of them among all records."""
    check_fitted(estimator, "labels_")
    enough, labels = np.asarray(records.enough, dtype=bool), np.asarray(estimator.labels_)
    X = records.fitted
    expected = (len(labels), len(estimator.vocabulary_))
    if X.shape != expected:
        raise InvalidDataError(
            "records_not_of_fit",
            n_records=X.shape[0],
            n_codes=X.shape[1],
            fitted_records=expected[0],
            fitted_codes=expected[1],
        )
    return X, labels, enough
