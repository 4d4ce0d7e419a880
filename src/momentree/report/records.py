"""Groups of coded records as a plain dictionary: all that their page shows, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import group_profiles
from momentree.report.documents import clean_text
from momentree.report.provenance import provenance
from momentree.report.records_cells import few_codes, heat_bands, heat_records
from momentree.report.records_nodes import group_nodes, tree_of_groups
from momentree.report.records_notes import shown_left_out, shown_notes
from momentree.report.records_outcomes import count_outcomes, rate_texts, why_no_classes
from momentree.report.records_privacy import SMALL
from momentree.report.records_quality import shown_quality
from momentree.report.records_scoring import shown_scoring
from momentree.report.records_table import shown_table
from momentree.tree.naming import CODE_LAMBDA

__all__ = ["CodedRecords", "FittedGroups", "summarize_records"]

_CARD_CODES = 10
"""Codes on the card of a group, which also make its name."""

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class FittedGroups(Protocol):
    """What the report needs of an estimator of groups, besides ``tree_`` or ``weights_``."""

    labels_: Ints
    vocabulary_: NDArray[Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        ...

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each group for each record."""
        ...

    def scoring(self) -> dict[str, Any]:
        """Return how a record is assigned, as plain arrays."""
        ...


class CodedRecords(Protocol):
    """What the report needs of records; ``names`` may hold any of the codes."""

    @property
    def X(self) -> Any:  # noqa: N802 - as datasets call it
        """Zeros and ones, a row a record."""
        ...

    @property
    def codes(self) -> NDArray[Any]:
        """The code of each column."""
        ...

    @property
    def names(self) -> Mapping[str, str]:
        """Names of codes."""
        ...

    @property
    def ids(self) -> Any:
        """Names of records."""
        ...

    @property
    def enough(self) -> NDArray[np.bool_]:
        """Which records were fitted."""
        ...

    @property
    def outcomes(self) -> Mapping[str, Any]:
        """Values of each outcome."""
        ...

    @property
    def outcome_names(self) -> Mapping[str, tuple[str, str]]:
        """What 0 and 1 stand for."""
        ...

    @property
    def name(self) -> str:
        """Where the records come from."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What the reader repaired."""
        ...


def summarize_records(
    estimator: FittedGroups,
    records: CodedRecords,
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
        Fitted on ``records.X[records.enough]``.
    records : Records
        From `momentree.datasets.read_records` or alike.
    outcome : str, optional
        Name of the outcome that stands first; by default their order is that of
        ``records.outcomes``. All of them are shown.
    n_codes : int, default=20
        Codes in a chart of frequencies and in a list of relevant codes, >= 1.
    heat_codes : int, default=40
        Most common codes in the heat map, >= 1.
    min_cell : int, default=5
        The smallest number of records above zero that is shown, >= 1; 1 hides nothing. Smaller
        numbers stand as "<5", and what would tell them is hidden too.
    include_records : bool, default=False
        Whether records themselves, with their ids, go into the heat map: at most 2,000 of them.
        Small counts can then be counted there.
    title : str, optional
        Heading of the page; by default the name of the records.
    made_with : mapping of str to object, optional
        Further lines for "how it was made".
    quality : mapping of str to object, optional
        How far to trust the groups: ``"stability"``, scores of repeats;
        ``"predictive_power"``, for each outcome a `momentree.metrics.PredictivePower`;
        ``"recurrence"``, for each group how often it came back, in [0, 1]; and anything else that
        can be printed.

    Returns
    -------
    dict
        JSON-able. ``kind`` ("records-tree" or "records-flat"), ``title``, ``n_records`` (fitted),
        ``n_left_out`` (with too few codes; "<5" where few), ``n_features``, ``n_leaves``,
        ``n_codes``, ``min_cell``, ``few_codes`` (most records hold that many or more),
        ``rollup`` (what codes were rolled up by, or None), ``default_lambda``;
        ``codes``: ``code``, ``name``, ``total``, ``rate`` and ``about`` (whether hidden numbers
        have a part in the rate) of each of d, which are those of no record or of `min_cell` and
        more;
        ``groups``: ``sizes`` and ``about`` (k: sizes with small ones hidden, and what they may be
        taken for), ``counts`` and ``missing`` (k, d; ``missing`` None where nothing is);
        ``nodes`` in pre-order: ``id``, ``parent``, ``children``, ``depth``, ``leaf``,
        ``leaves`` (groups at or below it), ``name``, ``long_name`` (in which no name of a code is
        cut), ``n_samples`` (rounded where ``exact`` is false), ``size`` (as text), ``share``,
        ``share_interval`` (None for the root and where
        ``exact`` is false; it is centred on the share that is counted), ``codes_per_record``,
        ``rest`` (whether it is what fits nowhere else: few codes, and none that most share),
        ``top``, ``top_rates`` and ``top_about`` (codes by relevance, best first, how common they
        are, and whether that is an estimate), ``outcome_rates`` (as text, of outcomes of yes and
        no), ``cell`` (place in the icicle);
        ``common``: codes from the most common; ``outcomes`` (see
        `momentree.report.records_outcomes.count_outcomes`); ``heat``; ``scoring``;
        ``quality``; ``notes``; ``made``. Counts of -1 are small, those of -2 hidden to protect
        them.

    Raises
    ------
    InvalidDataError
        When the records are not those of the fit, `outcome` is none of theirs, or all groups
        are smaller than `min_cell`.
    InvalidParameterError
        When `n_codes`, `heat_codes` or `min_cell` is below 1.
    NotFittedError
        If the estimator is not fitted yet.

    Notes
    -----
    The charts are those of [1], section 4.6.3, and relevance is its equation 4.12. No count of a
    group above others is shipped, and no total that would tell a small count of a group as the
    rest of the others, so the page holds nothing to subtract from. Time is one pass over the
    data for each node, and that of ``predict_proba``; memory O(n k + k d).

    References
    ----------
    .. [1] M. Ruffini. Methods of moments for learning latent variable models: algorithms and
       applications. PhD thesis, Universitat Politecnica de Catalunya, 2018.

    Examples
    --------
    Thirty records have the first two codes and twenty the others, but for three:

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
    for name, value in (("n_codes", n_codes), ("heat_codes", heat_codes), ("min_cell", min_cell)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            msg = f"{name}={value!r}; expected a whole number of at least 1"
            raise InvalidParameterError(msg)
    X, labels, enough = _fitted_rows(estimator, records)
    vocabulary = [clean_text(code) for code in records.codes]
    tree = hasattr(estimator, "tree_")
    fitted: Any = estimator
    k = len(list(fitted.tree_.leaves())) if tree else len(fitted.weights_)
    proba = estimator.predict_proba(X)
    profiles = group_profiles(X, labels, n_groups=k, proba=proba)
    table = shown_table(profiles, min_cell)
    root = tree_of_groups(estimator, table.about)
    known = {str(code): clean_text(name) for code, name in (records.names or {}).items()}
    names = [known.get(code) or code for code in vocabulary]
    # The name of a code of few records may be all that a reader needs to know who they are.
    named = np.flatnonzero(table.counts.totals != SMALL)
    shown = table.of_codes(named)
    base = shown.rates(range(k))
    common = np.lexsort((np.arange(len(base)), -np.round(base, 9)))
    columns = named[common[:heat_codes]]
    order = np.array([leaf.leaf_id or 0 for leaf in root.leaves()], dtype=np.intp)
    heat: dict[str, Any] = {
        "codes": common[:heat_codes].tolist(),
        "bands": heat_bands(X, labels, order, columns, min_cell),
        "records": None,
    }
    if include_records:
        heat["records"] = heat_records(X, labels, order, columns, _kept(records.ids, enough))
    nodes = group_nodes(
        root,
        table,
        names,
        labels,
        proba,
        spread=not tree,
        n_codes=max(n_codes, _CARD_CODES),
    )
    ordered = _outcomes(records, outcome, enough)
    reasons = {name: why_no_classes(values) for name, values in ordered.items()}
    told = {name: values for name, values in ordered.items() if not reasons[name]}
    outcomes = count_outcomes(told, labels, k, min_cell, records.outcome_names)
    for node in nodes:
        node["top"] = np.searchsorted(named, node["top"]).tolist()
        node["outcome_rates"] = rate_texts(outcomes, node["leaves"], table.about, min_cell)
    n_left_out = int((~enough).sum())
    return {
        "kind": "records-tree" if tree else "records-flat",
        "title": clean_text(title or getattr(records, "name", "") or "Groups of records"),
        "n_records": len(labels),
        "n_left_out": shown_left_out(n_left_out, min_cell),
        "n_features": len(vocabulary),
        "n_leaves": k,
        "n_codes": n_codes,
        "min_cell": min_cell,
        "few_codes": few_codes(X),
        "rollup": getattr(getattr(records, "coder", None), "rollup", None),
        "default_lambda": CODE_LAMBDA,
        "codes": {
            "code": [vocabulary[j] for j in named],
            "name": [names[j] for j in named],
            "total": shown.counts.totals.tolist(),
            "rate": np.round(base, 9).tolist(),
            "about": shown.estimated(range(k)).tolist(),
        },
        "groups": shown.as_json(),
        "nodes": nodes,
        "common": common.tolist(),
        "outcomes": outcomes,
        "heat": heat,
        "scoring": shown_scoring(estimator.scoring(), shown, named),
        "quality": shown_quality(quality or {}, k, min_cell),
        "notes": [
            *shown_notes(records.notes or (), len(labels), n_left_out, min_cell),
            *(
                clean_text(f"outcome {name!r} is not shown: {reason}")
                for name, reason in reasons.items()
                if reason
            ),
        ],
        "made": provenance(fitted, made_with),
    }


def _fitted_rows(estimator: Any, records: CodedRecords) -> tuple[Any, Any, Any]:
    """Return the records that were fitted, their groups, and which of all they are."""
    if not hasattr(estimator, "labels_"):
        msg = f"this {type(estimator).__name__} is not fitted yet; call fit first"
        raise NotFittedError(msg)
    enough, labels = np.asarray(records.enough, dtype=bool), np.asarray(estimator.labels_)
    if int(enough.sum()) != len(labels):
        msg = (
            f"records has {int(enough.sum())} rows with enough codes, but the estimator was fitted "
            f"on {len(labels)}. Give the records that it was fitted on."
        )
        raise InvalidDataError(msg)
    X = sp.csr_array(records.X)[np.flatnonzero(enough)]
    d = len(estimator.vocabulary_)
    if X.shape[1] != d:
        msg = (
            f"records has {X.shape[1]} codes, but the estimator was fitted on {d}. Give the "
            f"records that it was fitted on."
        )
        raise InvalidDataError(msg)
    return X, labels, enough


def _kept(values: Any, enough: NDArray[np.bool_]) -> Any:
    return None if values is None else np.asarray(values, dtype=object)[enough]


def _outcomes(
    records: CodedRecords, first: str | None, enough: NDArray[np.bool_]
) -> dict[str, Any]:
    names = list(records.outcomes)
    if first is not None and first not in names:
        msg = f"outcome={first!r} is none of the outcomes of the records: {names}. Name one."
        raise InvalidDataError(msg)
    return {
        name: np.asarray(records.outcomes[name])[enough]
        for name in sorted(names, key=lambda name: name != first)
    }
