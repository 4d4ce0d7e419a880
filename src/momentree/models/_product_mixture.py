"""Base class of mixtures of independent columns of different kinds."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, get_args

import numpy as np
import pandas as pd

from momentree._types import Floats, Ints
from momentree._validation import rules
from momentree.backends import RowBlocks
from momentree.core import choices, ties
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.inference import log_joint, log_posterior
from momentree.messages import Message, wording
from momentree.models._density import DensityFit, DensityModel, log
from momentree.models._product_starts import (
    MAX_FEATURES,
    ProductData,
    ProductStart,
    from_moments,
    from_splits,
    most_likely,
    smoothed,
)
from momentree.models._steps import decomposed
from momentree.objects import ProductColumns, ProductParameters
from momentree.persistence import fields
from momentree.preprocessing.mixed_columns import Encoded
from momentree.refinement import Refined, em

BRIEF = 30
"""Maximum number of EM steps from each start during the search for the number of components."""
SAME = 1e-9
"""Values that differ by at most this fraction of their range are equal."""
ON_GRID = 0.01
"""Largest distance of a value from a multiple of the step, in steps."""
AT_FLOOR = 1.001
"""A variance below this multiple of its floor is at the floor."""


@dataclass
class Unencoded:
    """Samples of a fit, whose columns are not known yet."""

    parts: Any
    encoded: Encoded | None = None
    rounding: Floats | float = 0.0


class ColumnCoder(Protocol):
    """Columns as :class:`momentree.preprocessing.MixedColumns`."""

    @property
    def labels(self) -> list[tuple[str, str, str]]: ...
    @property
    def units(self) -> tuple[Floats, Floats]: ...
    @property
    def category_of(self) -> Ints: ...


def family_of(coder: ColumnCoder, gaps: Ints, reg_covar: float) -> ProductColumns:
    """Return the columns of the product family, with missing values in `gaps`."""
    kinds = [kind for _, kind, _ in coder.labels]
    _, scale = coder.units
    least = reg_covar * np.minimum(1.0, 1.0 / scale**2)
    return ProductColumns(
        len(scale), kinds.count("yes_no"), kinds.count("count"), coder.category_of, gaps, least
    )


class ProductMixture(DensityModel):
    """Base class of mixtures whose columns are independent within a component.

    A subclass implements the abstract methods of :class:`DensityModel` that concern data, and
    those below.
    """

    _rules: ClassVar[rules.Rules] = {
        **DensityModel._rules,
        "refine": rules.REFINE,
        "start": get_args(ProductStart),
        "reg_covar": rules.number(above=0),
        "smoothing": rules.number(above=0),
    }
    _fields: ClassVar[fields.Fields] = {
        **DensityModel._fields,
        "_centers": fields.array("n_features", "k"),
        "_variances": fields.array(wording.N_NUMBERS, "k", above=0.0),
        "_all_means": fields.array("k", "n_features"),
        "variances_": fields.array("k", wording.N_NUMBERS, above=0.0),
    }

    n_components: int | Literal["auto"]
    refine: choices.Refine | None
    start: ProductStart
    reg_covar: float
    smoothing: float
    random_state: int | np.random.RandomState | None

    variances_: Floats
    _all_means: Floats  # of encoded columns, numbers in their own units, (k, d)
    _centers: Floats  # of encoded columns, (d, k)
    _variances: Floats  # of standardized numbers, (n_numbers, k)

    # --- what a subclass implements ---------------------------------------------------------------

    @property
    @abstractmethod
    def _coder(self) -> ColumnCoder:
        """The encoded columns: numbers, yes/no, counts, levels."""

    @abstractmethod
    def _learned(self, parts: Any, weight: Floats) -> Encoded:
        """Learn the columns from checked samples of a fit, and return encoded samples."""

    @property
    @abstractmethod
    def _groups(self) -> Ints:
        """Group of each encoded column, whose moments with the same group are not used."""

    # --- fit --------------------------------------------------------------------------------------

    def _family(self, gaps: Ints, reg_covar: float = 0.0) -> ProductColumns:
        """Return the columns; only a fit needs the floor of variances."""
        return family_of(self._coder, gaps, reg_covar)

    def _fit_mixture(
        self, samples: Unencoded, weight: Floats, n_components: int, *, brief: bool = False
    ) -> DensityFit:
        if samples.encoded is None:
            samples.encoded = self._learned(samples.parts, weight)
            samples.rounding = _rounding(samples.encoded, weight, len(self._coder.units[0]))
        encoded = samples.encoded
        columns = self._family(_gaps_of(encoded.missing), self.reg_covar)
        least = np.maximum(columns.least_variance, samples.rounding)
        columns = replace(columns, least_variance=least)
        data, at = ProductData.prepared(columns, encoded.X, encoded.missing, weight)
        refined, diagnostics = self._refined(data, n_components, brief=brief)
        found = refined.parameters
        content = np.vstack([found.centers, found.variances])
        found = found.reordered(ties.largest_first(found.weights, content))
        joint = log_joint(data.rows, found)
        labels = np.empty(len(at), dtype=np.intp)
        labels[at] = ties.largest(joint)
        total = float(weight[at] @ log_posterior(joint)[1] + weight @ encoded.log_base)
        k = found.n_components
        shift, scale = self._coder.units
        a = columns.n_numbers
        means = found.centers.copy()
        means[:a] = shift[:, None] + scale[:, None] * means[:a]
        attributes = {
            "weights_": found.weights,
            "_all_means": means.T.copy(),
            "variances_": (found.variances * scale[:, None] ** 2).T.copy(),
            "_centers": found.centers,
            "_variances": found.variances,
        }
        notes = [*encoded.notes, *self._variance_notes(found)]
        free = columns.n_features + a - columns.n_categories
        return DensityFit(
            attributes,
            labels,
            total,
            k * free + k - 1,
            refined.n_iter,
            refined.converged,
            {**diagnostics, "log_likelihood": total, "notes": notes},
            brief=brief,
        )

    def _refined(
        self, data: ProductData, k: int, *, brief: bool
    ) -> tuple[Refined[ProductParameters], dict[str, Any]]:
        """Return the most likely result of all starts, or a start without EM."""
        parameters, diagnostics = self._started(data, k)
        if not self.refine:
            return Refined(parameters[0][0], 0.0, 1, converged=True), diagnostics
        starts = [start for start, _ in parameters]
        log.info("refining %d components from %d starts", k, len(starts))

        def run(start: ProductParameters) -> Refined[ProductParameters]:
            return em(
                data.rows,
                start,
                sample_weight=data.weight,
                smoothing=self.smoothing,
                max_iter=min(self.max_iter, BRIEF) if brief else self.max_iter,
                tol=self.tol,
            )

        refined, best = most_likely(starts, data.whole, run, self.smoothing, brief=brief)
        return refined, {**diagnostics, "start": parameters[best][1]}

    def _started(
        self, data: ProductData, k: int
    ) -> tuple[list[tuple[ProductParameters, str]], dict[str, Any]]:
        """Return starts with their names, and diagnostics."""
        found: list[tuple[ProductParameters, str]] = []
        diagnostics: dict[str, Any] = {"start": "moments", "reason": None, "warnings": []}
        if self.refine and self.start in ("auto", "search"):
            log.info("searching for %d components", k)
            found = [(start, "search") for start in from_splits(data, k, self.smoothing)]
        few = data.columns.n_features + data.columns.n_numbers <= MAX_FEATURES
        if self.start == "moments" or not self.refine or (self.start == "auto" and few and k > 1):
            start = from_moments(
                data,
                self._for_moments(data),
                self._groups,
                k,
                lambda moments: decomposed(moments, k, self.decomposition, self.random_state),
            )
            if start is None and not found:
                raise InvalidParameterError(
                    "[no_moments] moments require three columns that are independent within a "
                    "component; there {found:?is/are} {found}; use {parameters.start:'search'} and "
                    "{parameters.refine:'em'}",
                    found=len(np.unique(self._groups)),
                )
            if start is not None:
                parameters, result = start
                if not found:
                    diagnostics = {**result.diagnostics, "start": "moments"}
                if not found or parameters.n_components == k:
                    use = smoothed(parameters, data.whole) if self.refine else parameters
                    found.append((use, "moments"))
        return found, diagnostics

    def _for_moments(self, data: ProductData) -> Any:
        """Return encoded columns (n, d) whose means within components are the parameters."""
        return data.rows.matrix[:, : data.columns.n_features]

    def _variance_notes(self, found: ProductParameters) -> list[Message]:
        """Return a note on numbers whose variance in a component is at its floor."""
        floor = found.columns.least_variance[:, None]
        low = (found.variances <= AT_FLOOR * floor) & (found.weights > 0)
        if not low.any():
            return []
        labels = self._coder.labels
        names = [labels[i][0] for i in np.flatnonzero(low.any(axis=1))]
        n = int(low.any(axis=0).sum())
        auto = self.n_components == "auto"
        code = (
            (
                "[variances_at_floor_of_auto] {found:~component} {found:?has/have} almost no "
                "variance in {columns:list}: {found:?it describes/they describe} few rows, or many "
                "with the same value, and may mean nothing; give these columns the kind 'category' "
                "or 'count' in {parameters.kinds}, or raise {parameters.reg_covar} above "
                "{reg_covar:g}"
            )
            if auto
            else (
                "[variances_at_floor] {found:~component} {found:?has/have} almost no variance in "
                "{columns:list}: {found:?it describes/they describe} few rows, or many with the "
                "same value, and may mean nothing; lower {parameters.n_components}, give these "
                "columns the kind 'category' or 'count' in {parameters.kinds}, or raise "
                "{parameters.reg_covar} above {reg_covar:g}"
            )
        )
        # In squared units of the column, and as a fraction of its variance.
        least = (floor * np.maximum(1.0, self._coder.units[1][:, None] ** 2))[low.any(axis=1)]
        return [Message(code, columns=names, found=n, reg_covar=float(least.max()))]

    # --- results ----------------------------------------------------------------------------------

    def _parameters(self, gaps: Ints) -> ProductParameters:
        return ProductParameters(self.weights_, self._centers, self._variances, self._family(gaps))

    def _log_joint(self, samples: Encoded) -> Floats:
        parameters = self._parameters(_gaps_of(samples.missing))
        rows = RowBlocks(parameters.columns.statistics(samples.X, samples.missing))
        return np.asarray(log_joint(rows, parameters) + samples.log_base[:, None])

    @property
    def _profiles(self) -> Floats:
        return self._all_means

    @property
    def _profile_names(self) -> list[str]:
        return self.mean_names_

    @property
    def _totals(self) -> Sequence[int] | int:
        """Sum of the levels of each category in a sample."""
        return 1

    @property
    def _within(self) -> Floats:
        """Standard deviation of each encoded column within components; that of rates is over all.

        Within components, a rate of 0 or 1 has no deviation.
        """
        columns = self._family(np.empty(0, dtype=np.intp))
        numbers, _, counts, levels = columns.parts
        means = self.weights_ @ self._all_means
        variances = np.maximum(means * (1 - means), 0.0)
        variances[numbers] = self.weights_ @ self.variances_
        variances[counts] = means[counts]
        totals = np.broadcast_to(self._totals, columns.n_categories)
        variances[levels] /= totals[columns.category_of]
        return np.asarray(np.sqrt(variances))

    @property
    def mean_names_(self) -> list[str]:
        """Names of the columns of ``means_``; "column=value" for a level of a category."""
        return [f"{name}={level}" if level else name for name, _, level in self._coder.labels]

    @property
    def parameters_(self) -> pd.DataFrame:
        """The parameters in long form, one row per column or level, and component."""
        k, a = len(self.weights_), self.variances_.shape[1]
        table = []
        for i, (name, kind, level) in enumerate(self._coder.labels):
            for j in range(k):
                variance = self.variances_[j, i] if i < a else np.nan
                table.append((name, kind, level, j, self._all_means[j, i], variance))
        names = ["column", "kind", "value", "component", "estimate", "variance"]
        return pd.DataFrame(table, columns=names)

    def _drawn(self, labels: Ints, rng: np.random.RandomState) -> Floats:
        """Return encoded samples (n, d), numbers in their own units."""
        c = self._family(np.empty(0, dtype=np.intp))
        numbers, yes_no, counts, levels = c.parts
        mu, (shift, scale) = self._centers[:, labels].T, self._coder.units
        out = np.zeros((len(labels), c.n_features))
        noise = rng.standard_normal((len(labels), c.n_numbers))
        z = mu[:, numbers] + noise * np.sqrt(self._variances[:, labels].T)
        out[:, numbers] = shift + scale * z
        out[:, yes_no] = rng.random_sample((len(labels), c.n_yes_no)) < mu[:, yes_no]
        out[:, counts] = rng.poisson(mu[:, counts])
        many = np.broadcast_to(self._totals, c.n_categories)
        for j in np.unique(labels):
            here = np.flatnonzero(labels == j)
            for g in range(c.n_categories):
                at = levels.start + np.flatnonzero(c.category_of == g)
                p = self._centers[at, j]
                out[np.ix_(here, at)] = rng.multinomial(int(many[g]), p / p.sum(), size=len(here))
        return out

    def _sizes(self) -> dict[str, int]:
        columns = self._family(np.empty(0, dtype=np.intp))
        own = {"n_features": columns.n_features, "n_numbers": columns.n_numbers}
        return {**super()._sizes(), **own}

    def _check_consistent(self) -> None:
        super()._check_consistent()
        columns = self._family(np.empty(0, dtype=np.intp))
        if (self._centers[columns.n_numbers :] < 0).any():
            raise InvalidDataError(wording.BELOW_ZERO, name="_centers")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _rounding(samples: Encoded, weight: Floats, n_numbers: int) -> Floats:
    """Return the variance that rounding adds to each standardized number, 0 if it is exact.

    A number is rounded if all differences of its values are multiples of the smallest, the step. Of
    a step above the standard deviation, that deviation counts, so that a column of few values keeps
    its groups.
    """
    here = np.flatnonzero(weight > 0)
    X = samples.X[here][:, :n_numbers].toarray()
    if samples.missing is not None:
        X[samples.missing[here][:, :n_numbers].toarray() > 0] = np.nan
    return np.array([min(_step(x[~np.isnan(x)]), 1.0) ** 2 / 12.0 for x in X.T])


def _step(values: Floats) -> float:
    """Return the step of the grid on which all values are, or 0 if there is none."""
    values = np.unique(values)
    if len(values) < 2:  # others may be too far from the rest
        return 0.0
    steps, whole = np.diff(values), float(np.ptp(values))
    # The range is more accurate than a difference of neighbors, such as of single precision.
    step = whole / round(whole / float(steps[steps > SAME * whole].min()))
    multiples = (values - values[0]) / step
    return step if np.abs(multiples - multiples.round()).max() <= ON_GRID else 0.0


def _gaps_of(missing: Any | None) -> Ints:
    """Return the columns with missing values, ascending."""
    if missing is None:
        return np.empty(0, dtype=np.intp)
    return np.unique(missing.indices).astype(np.intp)
