"""Summarize groups of coded records as a plain dictionary, the complete content of their page."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_integer
from momentree.assignment.posteriors import IncompleteAssigner
from momentree.estimators.names import CODE_LAMBDA, choose_codes, most_relevant
from momentree.metrics import group_profiles
from momentree.report import estimators, relations, statistics, text
from momentree.report.disclosure import SMALL, Disclosure, Published
from momentree.report.groups import DIGITS, Groups
from momentree.report.outcomes import outcomes_in_order
from momentree.report.tables import describe_characteristics

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
    estimators.check_fitted(estimator, "labels_")
    X, shape = records.fitted, (len(estimator.labels_), len(estimator.vocabulary_))
    estimators.check_of_fit("records", X.shape, shape)
    outcomes = outcomes_in_order(records, outcome)
    groups = Groups.of(estimator, estimator.predict_proba(X), disclosure)
    table = PublishedTable.of(X, groups)
    names = text.names_of_codes(records.codes, records.names or {})
    # The name of a rare code could identify the records that have it.
    named = np.flatnonzero(table.counts.totals != SMALL)
    published = table.of_codes(named)
    codes = describe_codes(published, names, named)
    common = np.array(codes["common"], dtype=np.intp)
    nodes = describe_nodes(table, names, n_codes=max(n_codes, 10))  # for the cards
    for node in nodes:
        node["top"] = np.searchsorted(named, node["top"]).tolist()
    shared = relations.describe_groups(
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
    shared["quality"]["residuals"] = relations.largest_residuals(
        X, groups.proba, [names["short"][j] for j in compared], disclosure, compared
    )
    drawn = common[:heat_codes]
    heat = draw_heat_map(X, groups, named[drawn], records if include_records else None)
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
    return statistics.code_statistics(
        n_codes,
        table.groups,
        np.array([means[group] for group in range(table.groups.k)]),
        nodes[0]["codes_per_record"],
        (table.counts.counts < 0).sum(axis=1),
    )


_FEW_CODES = 2 / 3
_COMMON = 0.5
"""In a residual group, records have fewer codes than this fraction of the overall mean, and no code
occurs in half of them. Births also have few codes, but they have the same ones."""
_MAX_RECORDS = 2_000
_LEVELS = 10
_UNPACKED_AT_ONCE = 1 << 14
"""Records that are unpacked at a time."""


@dataclass(frozen=True)
class PublishedTable:
    """Published counts of k groups and d codes, from which the page computes everything else.

    `expected` and `observed` (k, d) estimate the counts, and the records where a code is known.
    """

    groups: Groups
    counts: Published
    missing: Published | None
    expected: Floats
    observed: Floats

    @classmethod
    def of(cls, X: Any, groups: Groups) -> PublishedTable:
        """Count the codes of the fitted records in groups, and suppress small counts."""
        profiles = group_profiles(X, groups.labels, n_groups=groups.k, proba=groups.proba)
        disclosure, sizes, estimates = groups.disclosure, groups.sizes, groups.estimates
        whole = np.rint(profiles.n_records).astype(np.int64)
        # Round, because a code that all records of a hidden group have would disclose its size.
        ones = np.rint(profiles.counts).astype(np.int64)
        unknown = whole[:, None] - np.rint(profiles.observed).astype(np.int64)
        share = estimates / (2.0 if unknown.any() else 1.0)
        ones, unknown = (disclosure.round_counts(n, sizes, share) for n in (ones, unknown))
        # Both are at most the whole group: of each, leave room for any small number of the other.
        most = np.where(sizes < 0, whole.sum(), whole - disclosure.min_cell)[:, None]
        ones = np.where(disclosure.is_small(unknown), np.minimum(ones, most), ones)
        unknown = np.where(unknown < whole[:, None], np.minimum(unknown, most), unknown)
        counts = disclosure.suppress(ones)
        missing = disclosure.suppress(unknown) if unknown.any() else None
        lacking = 0.0 if missing is None else disclosure.estimate(missing)
        observed = np.maximum(estimates[:, None] - lacking, 0.0) + np.zeros(ones.shape)
        return cls(groups, counts, missing, disclosure.estimate(counts), observed)

    @property
    def tables(self) -> list[Published]:
        """The counts of ones, and of missing values if there are any."""
        return [table for table in (self.counts, self.missing) if table is not None]

    def rates(self, groups: Sequence[int]) -> Floats:
        """Return the frequency of each code in the union of some groups; 0 if nothing is known."""
        at = list(groups)
        known = self.observed[at].sum(axis=0)
        ones = np.minimum(self.expected[at].sum(axis=0), known)
        return np.asarray(ones / np.where(known > 0, known, 1.0))

    def disclosed(self, groups: Sequence[int]) -> NDArray[np.bool_]:
        """Return the codes whose published counts in some groups outweigh the suppressed ones."""
        counts = self.counts.counts[list(groups)]
        shown = np.where(counts > 0, counts, 0).sum(axis=0)
        guessed = np.where(counts < 0, self.expected[list(groups)], 0.0).sum(axis=0)
        return np.asarray((shown > guessed) & (shown > 0))

    def estimated(self, groups: Sequence[int]) -> NDArray[np.bool_]:
        """Return the codes whose frequency in some groups depends on a suppressed number.

        It does not if these groups include all suppressed numbers and their sum is known.
        """
        inside, hidden = np.zeros(self.groups.k, dtype=bool), self.groups.sizes < 0
        inside[list(groups)] = True
        parted = (hidden & inside).any() and (hidden & ~inside).any()
        unknown = np.full(self.counts.totals.shape, parted)
        for table in self.tables:
            hidden = table.counts < 0
            whole = (table.totals >= 0) & ~hidden[~inside].any(axis=0)
            unknown |= hidden[inside].any(axis=0) & ~whole
        return unknown

    def known(self) -> NDArray[np.bool_]:
        """Return the codes of which no number is suppressed, in any group."""
        shown = [(one.counts >= 0).all(axis=0) & (one.totals >= 0) for one in self.tables]
        return np.asarray(np.all(shown, axis=0) & (self.groups.sizes >= 0).all())

    def of_codes(self, columns: Ints) -> PublishedTable:
        """Return the table of some of the codes."""
        return replace(
            self,
            counts=self.counts.only(columns),
            missing=None if self.missing is None else self.missing.only(columns),
            expected=self.expected[:, columns],
            observed=self.observed[:, columns],
        )


def describe_codes(
    published: PublishedTable, names: Mapping[str, list[str]], columns: Ints
) -> dict[str, Any]:
    """Return the sections ``codes``, ``groups``, ``common`` and ``scoring`` of some columns.

    The assigner of incomplete records comes from the published counts alone. A suppressed count is
    replaced by its estimate, so no small count can be derived from the probabilities. If nothing is
    suppressed, they are those of ``predict_incomplete_proba``.
    """
    groups, everyone = published.groups, range(published.groups.k)
    base, observed = published.rates(everyone), published.observed
    counts, *missing = [
        {"counts": table.counts.tolist(), "totals": table.totals.tolist()}
        for table in published.tables
    ]
    expected = published.expected.clip(max=observed).round(4)
    return {
        "codes": {
            **{key: [texts[j] for j in columns] for key, texts in names.items()},
            "total": counts["totals"],
            "rate": np.round(base, DIGITS).tolist(),
            "estimated": published.estimated(everyone).tolist(),
        },
        "groups": {
            "sizes": groups.sizes.tolist(),
            "estimated": groups.estimates.tolist(),
            "counts": counts["counts"],
            "missing": missing[0] if missing else None,
        },
        "common": np.lexsort((np.arange(len(base)), -np.round(base, DIGITS))).tolist(),
        "scoring": IncompleteAssigner(expected, observed.round(4), groups.estimates).to_dict(),
    }


def describe_nodes(
    table: PublishedTable, names: Mapping[str, list[str]], n_codes: int
) -> list[dict[str, Any]]:
    """Describe every node for `summarize_records`, in pre-order, with at most `n_codes` codes."""
    groups = table.groups
    base = table.rates(range(groups.k))
    all_rates = [table.rates(leaves) for leaves in groups.below]
    disclosed = [table.disclosed(leaves) for leaves in groups.below]
    parents = [0 if node.parent is None else node.parent.node_id for node in groups.root.nodes()]
    named = choose_codes(all_rates, parents, names["name"], disclosed)
    parts = {key: [[texts[j] for j in codes] for codes in named] for key, texts in names.items()}
    nodes = groups.describe(parts["short"], parts["name"], "(no common codes)")
    for node, rates, shown in zip(nodes, all_rates, disclosed, strict=True):
        top, per_record = most_relevant(rates, base, shown)[:n_codes], float(rates.sum())
        few = per_record < _FEW_CODES * base.sum() and rates.max() < _COMMON
        node.update(
            {
                "codes_per_record": round(per_record, DIGITS),
                "residual": bool(node["leaf"] is not None and few),
                "top": top.tolist(),
                "top_rates": np.round(rates[top], DIGITS).tolist(),
                "top_estimated": table.estimated(node["leaves"])[top].tolist(),
            }
        )
    return nodes


def draw_heat_map(
    X: sp.csr_array[Any], groups: Groups, columns: Ints, records: Records | None
) -> dict[str, Any]:
    """Return ``bands`` of similar records and, if they are given, ``records`` of some codes."""
    codes = _Bits.of(X, columns)
    return {
        "bands": _bands(codes, groups),
        "records": None if records is None else _single_records(codes, groups, records),
    }


def _bands(codes: _Bits, groups: Groups) -> list[dict[str, Any]]:
    """Divide each group into bands of similar records, and compute the density of each code.

    A band has at least 10 `min_cell` records, so that one level spans `min_cell` of them. ``parts``
    is the number of equally large bands of a group; ``levels`` contains one digit per code,
    floor(10 density), at most 9, or is None for a group with one band.
    """
    bands: list[dict[str, Any]] = []
    for leaf, rows in _members(groups):
        most = max(1, round(120 * len(rows) / max(len(groups.labels), 1)))
        parts = min(most, len(rows) // (_LEVELS * groups.disclosure.min_cell))
        if parts < 2 or groups.sizes[leaf] < 0:
            bands.append({"leaf": leaf, "parts": 1, "levels": None})
            continue
        block = codes.rows(rows)
        for band in np.array_split(block[_lexicographic(block)], parts):
            levels = np.minimum(_LEVELS * band.mean(axis=0), _LEVELS - 1).astype(int)
            bands.append({"leaf": leaf, "parts": parts, "levels": "".join(map(str, levels))})
    return bands


def _single_records(codes: _Bits, groups: Groups, records: Records) -> dict[str, Any]:
    """Return the individual records, at most 2,000, spread evenly over the groups.

    In ``bits``, in base64, each record is a row of one bit per column, padded to whole bytes.
    """
    n = len(groups.labels)
    places: list[Ints] = []
    for _, rows in _members(groups):
        if n > _MAX_RECORDS and len(rows):
            keep = max(1, _MAX_RECORDS * len(rows) // n)
            rows = rows[np.linspace(0, len(rows) - 1, keep).astype(np.intp)]
        places.append(rows[_lexicographic(codes.rows(rows))])
    rows = np.concatenate(places)
    place = np.flatnonzero(np.asarray(records.enough, dtype=bool))[rows]
    ids = rows.tolist() if records.ids is None else [records.ids[i] for i in place]
    return {
        "ids": list(map(text.clean_text, ids)),
        "leaf": groups.labels[rows].tolist(),
        "total": n,
        "bits": base64.b64encode(codes.packed[rows].tobytes()).decode("ascii"),
    }


def _members(groups: Groups) -> Iterator[tuple[int, Ints]]:
    """Yield the records of each group, in the order of the page."""
    for leaf in groups.root.leaves():
        yield int(leaf.leaf_id or 0), np.flatnonzero(groups.labels == (leaf.leaf_id or 0))


@dataclass(frozen=True)
class _Bits:
    """Which records have which of some codes, one bit each."""

    packed: NDArray[np.uint8]
    n_columns: int

    @classmethod
    def of(cls, X: sp.csr_array[Any], columns: Ints) -> _Bits:
        """Read the records in parts, since there may be many."""
        packed = [np.empty((0, -(-len(columns) // 8)), np.uint8)]
        for start in range(0, X.shape[0], _UNPACKED_AT_ONCE):
            part = sp.csr_array(X[start : start + _UNPACKED_AT_ONCE])[:, columns].toarray()
            packed.append(np.packbits(part == 1, axis=1))
        return cls(np.concatenate(packed), len(columns))

    def rows(self, rows: Ints) -> NDArray[np.bool_]:
        """Return some records, of shape (n_rows, n_columns)."""
        return np.unpackbits(self.packed[rows], axis=1, count=self.n_columns).astype(bool)


def _lexicographic(block: NDArray[np.bool_]) -> Ints:
    """Return an order that puts records with the most frequent code first, and so on."""
    codes = np.argsort(-block.sum(axis=0), kind="stable")
    every = np.zeros(len(block), dtype=np.bool_)  # a key, also where there are no codes
    return np.lexsort((every, *(~block[:, j] for j in codes[::-1])))
