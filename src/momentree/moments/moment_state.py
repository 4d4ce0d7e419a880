"""States of moments: the sums behind M1, M2 and M3, in two rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from momentree._fit import converging, warn_caller
from momentree._types import Bools, Floats
from momentree._validation import (
    as_floats,
    check_choice,
    check_counts,
    check_integer,
    check_missing,
    check_number,
    check_ones,
    check_sample_weight,
    check_shape,
)
from momentree.backends import RowBlocks, Rows, single_threaded_blas
from momentree.backends.products import TransposedProduct
from momentree.core.choices import LogScaling, StateModel
from momentree.core.ties import signed
from momentree.exceptions import (
    ConvergenceWarning,
    InvalidDataError,
    InvalidParameterError,
)
from momentree.moments._subspaces import RitzPairs, largest_eigenvectors
from momentree.moments.factorial import FactorialMoments
from momentree.moments.lda import check_alpha0
from momentree.moments.pairs import WeightedGram, diagonal_places, packed, unpacked
from momentree.moments.state import ROUNDING, State
from momentree.moments.state_moments import (
    SecondMoments,
    SubspaceMoments,
    spherical_moments,
    subspace_lda,
)
from momentree.moments.weighting import DocumentSizes, DocumentWeights, SizeTotals
from momentree.preprocessing import log_scale

StateWeighting = Literal["length", "uniform"]

WHOLE_FEATURES = 1024
"""Up to this d, the first round has all of M2: d (d + 1) / 2 numbers, 4 MB at most."""
DIRECTIONS = 48
"""Products of M2 in the first round of more columns."""
MOST_SLICES = 21
"""From this many components, the last round has the whitened tensor instead of the slices."""
TINY = 1e-300
LIGHTEST = 1e-12
"""Fraction of the mean weight of rows below which a row does not decide about sums."""
_MANY_ROWS = 30
"""From this many rows, chance does not turn M3 against M2."""
ACCURATE = 1e-3
"""Residual of the eigenpairs of M2, relative to the largest eigenvalue, at which a subspace is
used; the error of estimated moments is larger."""


class MomentState(State):
    """The sums behind the moments of a model: add rows, merge, subtract, save, decompose.

    Two rounds over the rows, wherever they are, give what a decomposition of the pooled rows gives:

    1. A state of the first round has the number of rows, the sums of the columns and M2: all of it
       up to 1,024 columns, and otherwise its products with 48 directions, which are a function of
       the names of the columns. :meth:`next_round` finds the subspace of k components.
    2. A state of the last round has the slices of M3 in this subspace, and :meth:`moments` are
       moments for any function of :mod:`momentree.decomposition`.

    With more than 1,024 columns, rounds in between make the subspace more precise.

    Parameters
    ----------
    columns : int >= 1 or sequence of str
        Number or names of the columns.
    model : {"single-topic", "lda", "poisson", "bernoulli", "gaussian"}, default="single-topic"
        The model of the moments: :class:`SingleTopicMoments`, :class:`LDAMoments`,
        :class:`PoissonMoments`, :class:`BernoulliMoments` (of complete rows) or
        :class:`SphericalGaussianMoments` with one variance (up to 1,024 columns).
    weighting : {"length", "uniform"}, default="length"
        Weights of documents, for the first two models.
    log_scaling : {"log1p", None}, default=None
        Scaling of counts, for the first three models; see
        :func:`momentree.preprocessing.log_scale`.
    alpha0 : float > 0, default=1.0
        Total concentration, for "lda".
    third : bool, default=False
        Whether this is a state of the last round.
    variance : float >= 0, default=0.0
        For "gaussian" and `third`: the variance, from the first round.
    subspace : ndarray of shape (d, m), default=None
        The subspace of this round, with orthonormal columns; from :meth:`next_round`.

    Notes
    -----
    Time O(nnz) per direction, and O(sum of squared row lengths) with all of M2; memory and bytes
    8 d^2 or 8 d m in the first round, 4 d k^2 in the last round.

    Sums of whole counts are exact up to 2^53, in the first round.

    Examples
    --------
    Three hospitals, two rounds:

    >>> import numpy as np
    >>> from momentree.decomposition import sidiwo
    >>> from momentree.moments import MomentState
    >>> rng = np.random.default_rng(0)
    >>> topics = np.array([[0.6, 0.2, 0.1, 0.1], [0.1, 0.1, 0.2, 0.6]])
    >>> sites = [rng.multinomial(40, topics[rng.choice(2, size=700)]) for _ in range(3)]
    >>> first = sum(MomentState(4).update(X) for X in sites)
    >>> question = first.next_round(2)
    >>> last = sum(question.empty().update(X) for X in sites)
    >>> bool(np.abs(np.sort(sidiwo(last.moments(), 2).centers) - np.sort(topics.T)).max() < 0.02)
    True

    A batch is forgotten:

    >>> rest = first - MomentState(4).update(sites[2])
    >>> rest.n_rows, bool(np.allclose(rest.m1, MomentState(4).update(np.vstack(sites[:2])).m1))
    (1400, True)
    """

    _by_column: ClassVar[tuple[str, ...]] = ("first", "products", "slices")
    _not_negative: ClassVar[tuple[str, ...]] = ("occurrences", "pair_rows")
    _unreleased: ClassVar[tuple[str, ...]] = ("occurrences", "pair_rows")

    def __init__(
        self,
        columns: int | Sequence[str] | NDArray[Any],
        *,
        model: StateModel = "single-topic",
        weighting: StateWeighting = "length",
        log_scaling: LogScaling | None = None,
        alpha0: float = 1.0,
        third: bool = False,
        variance: float = 0.0,
        subspace: Floats | None = None,
    ) -> None:
        check_choice("model", model, get_args(StateModel))
        check_choice("weighting", weighting, get_args(StateWeighting))
        check_choice("log_scaling", log_scaling, (*get_args(LogScaling), None))
        check_number("variance", variance, at_least=0)
        settings = {
            "model": model,
            "weighting": weighting,
            "log_scaling": log_scaling,
            "alpha0": check_alpha0(alpha0),
            "third": bool(third),
            "variance": float(variance),
        }
        fixed = {} if subspace is None else {"subspace": as_floats("subspace", subspace)}
        super().__init__(columns, settings, fixed, {})
        d = len(self.columns)
        if model in ("bernoulli", "gaussian") and log_scaling is not None:
            raise InvalidParameterError("log_scaling_of_state", model=model, log_scaling=None)
        if model == "gaussian" and d > WHOLE_FEATURES:
            raise InvalidDataError("gaussian_state_too_wide", n_features=d, most=WHOLE_FEATURES)
        self._sums |= {name: np.zeros(shape) for name, shape in self._shapes(d).items()}

    def _shapes(self, d: int) -> dict[str, tuple[int, ...]]:
        shapes: dict[str, tuple[int, ...]] = {
            "totals": (5,),  # weights, the divisors of M1, M2 and M3, and the sum of all values
            "first": (d,),
            "occurrences": (d,),
        }
        if self.whole:
            n_pairs = d * (d + 1) // 2
            return {**shapes, "pairs": (n_pairs,), "pair_rows": (n_pairs,)}
        Q = self._fixed.get("subspace")
        if Q is not None:
            check_shape("subspace", Q, (d, "m"))
        elif self.third:
            raise InvalidParameterError("no_subspace")
        m = DIRECTIONS if Q is None else Q.shape[1]
        shapes["products"] = (d, m)
        if self.third and m < MOST_SLICES:
            shapes["slices"] = (d, m * (m + 1) // 2)
        elif self.third:
            shapes["tensor"] = (m, m, m)
        return shapes

    @property
    def model(self) -> str:
        """The model of the moments."""
        return str(self.settings["model"])

    @property
    def third(self) -> bool:
        """Whether this is a state of the last round."""
        return bool(self.settings["third"])

    @property
    def whole(self) -> bool:
        """Whether the state has all of M2."""
        return not self._fixed and not self.third and len(self.columns) <= WHOLE_FEATURES

    @property
    def n_directions(self) -> int:
        """Dimension of the subspace; 0 in the first round."""
        return self._fixed["subspace"].shape[1] if self._fixed else 0

    @property
    def is_counts(self) -> bool:
        """Whether the model is one of counts, whose moments are factorial."""
        return self.model in ("single-topic", "lda", "poisson")

    # --- sums -------------------------------------------------------------------------------------

    def _counted(self, X: Any, sample_weight: ArrayLike | None) -> Mapping[str, Floats]:
        X = self._checked(X)
        n, d = X.shape
        v = check_sample_weight(sample_weight, n)
        occurrences = np.bincount(X.indices, minlength=d).astype(np.float64)
        pattern = sp.csr_array((np.ones(X.nnz), X.indices, X.indptr), X.shape)
        one: Any = float(self.is_counts)
        rows: Rows = RowBlocks(X)
        if self.settings["log_scaling"]:
            scaled = log_scale(X, self.settings["log_scaling"])
            rows, one = scaled.rows, scaled.count_per_token
        with single_threaded_blas():
            r, totals = self._row_weights(rows, v, one)
            raw = FactorialMoments(rows, r, one)
            added = {
                "rows": np.array([float(n)]),
                "totals": np.array([v.sum(), *totals, v @ rows.row_sums]),
                "first": raw.m1,
                "occurrences": occurrences,
            }
            if self.whole:
                added["pairs"] = packed(rows.sum(WeightedGram(d), r[:, 1]))
                if self.is_counts:
                    repeats = rows.sum(TransposedProduct(), r[:, 1] * one)
                    added["pairs"][diagonal_places(d)] -= repeats
                added["pair_rows"] = packed(RowBlocks(pattern).sum(WeightedGram(d), np.ones(n)))
                return added
            directions = self._directions()
            added["products"] = np.asarray(raw.m2 @ directions)
            if "slices" in self._sums:
                a, b = np.triu_indices(directions.shape[1])
                added["slices"] = raw.whitened_slices(directions.T)[:, a, b]
            elif "tensor" in self._sums:
                added["tensor"] = raw.whitened_tensor(directions.T)
        return added

    def _row_weights(self, rows: Rows, v: Floats, one: Any) -> tuple[Floats, Floats]:
        """Return r1, r2, r3 (n, 3) without their divisors, which add up over batches, and these."""
        if self.model not in ("single-topic", "lda"):
            return np.repeat(v[:, None], 3, axis=1), np.full(3, v.sum())
        uniform = self.settings["weighting"] == "uniform"
        given = () if isinstance(one, float) else (one,)
        sizes = rows.map(DocumentSizes(uniform, 1.0), rows.row_sums, *given)
        weights = np.asarray(rows.map(DocumentWeights(uniform, np.ones(3)), sizes, v))
        return weights, rows.sum(SizeTotals(uniform), sizes, v)

    def _checked(self, X: Any) -> Any:
        if self.is_counts:
            return check_counts(X)
        X, missing = check_missing(X)
        if missing is not None:
            row, column = (int(part[0]) for part in missing.nonzero())
            raise InvalidDataError("missing_in_moments", row=row, column=column)
        if self.model == "bernoulli":
            check_ones(X)
        return X

    def _directions(self) -> Floats:
        """Return the subspace, or signs that depend on the names of columns, shape (d, m)."""
        if "subspace" in self._fixed:
            return self._fixed["subspace"]
        digests = b"".join(
            blake2b(
                str(name).encode("utf-8", "surrogatepass"), digest_size=DIRECTIONS // 8
            ).digest()
            for name in self.columns
        )
        bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8)).reshape(-1, DIRECTIONS)
        return 2.0 * bits.astype(np.float64) - 1.0

    def _restore(self, sums: dict[str, Floats], *, released: bool) -> None:
        super()._restore(sums, released=released)
        slack = 10.0 if self.settings["log_scaling"] else 1.0 + 1e-6  # scaled counts below u
        for name, limit in self._limits().items():
            # Entries of directions are at most 1, so a contraction is no larger than the sum.
            sizes = np.abs(sums.get(name, np.zeros(1)))
            found = sizes.max() if name == "tensor" else sizes.sum(axis=0).max()
            self._require(found <= slack * limit + 1e-6, name)
        if self.model != "gaussian":
            first, whole = sums["first"], not (self.settings["log_scaling"] or self.suppressed[0])
            self._require(first.min() >= -ROUNDING * first.max() - 1e-6, "first")
            same = np.isclose(first.sum(), self._limits()["first"], rtol=1e-6, atol=1e-6)
            self._require(same or not whole, "first")
        with np.errstate(over="ignore", invalid="ignore"):
            if "pairs" in sums:
                self._check_pairs(unpacked(sums["pairs"]))
            elif self.third:
                self._check_third(self._fixed["subspace"])

    def _check_pairs(self, pairs: Floats) -> None:
        """Refuse sums of squares and products that no rows can have."""
        squares, first = pairs.diagonal(), self._sums["first"]
        if self.model in ("bernoulli", "gaussian"):
            root = np.sqrt(np.maximum(squares, 0.0))
            most = (1.0 + 1e-6) * root * np.sqrt(max(self.weight, 0.0))
            self._require((np.abs(first) <= most + 1e-6).all(), "pairs")
            most = (1.0 + 1e-6) * np.multiply.outer(root, root)
            self._require((np.abs(pairs) <= most + 1e-6).all(), "pairs")
        elif len(first) > 1:
            others = pairs - np.diag(squares)
            self._require(others.min() >= -ROUNDING * others.max() - 1e-6, "pairs")

    def _check_third(self, Q: Floats) -> None:
        """Check that M3 does not contradict M2 and M1, all in the subspace."""
        pairs, first = Q.T @ self._sums["products"], Q.T @ self._sums["first"]
        name = "slices" if "slices" in self._sums else "tensor"
        sums = self._sums[name]
        if self.model == "gaussian":
            if any(self.suppressed):
                return
            excess = pairs - np.multiply.outer(first, first) / max(self.weight, TINY)
            low, high = np.linalg.eigvalsh((excess + excess.T) / 2)[[0, -1]]
            size = max(np.trace(pairs), 0.0)
            self._require(low >= -1e-6 * (high + size + 1.0), "products")
            cubes = Q.T @ sums if name == "slices" else sums
            longest = np.sqrt(size * self._per_lightest)
            self._require(np.abs(cubes).max() <= (1.0 + 1e-6) * size * longest + 1e-6, name)
            return
        # Sums over columns of M3 weigh the rows of M2 by their lengths, which changes no sign.
        triples = unpacked(sums.sum(axis=0)) if name == "slices" else first @ sums
        size = np.linalg.norm(pairs) * np.linalg.norm(triples)
        if np.linalg.eigvalsh(pairs)[0] > 0 and np.vdot(pairs, triples) < -0.5 * size:
            inside = 2.0 * np.linalg.norm(first) > np.linalg.norm(self._sums["first"])
            sure = self.n_rows >= _MANY_ROWS or (inside and first @ triples @ first < 0)
            # Of fractions that add up to less than two, factorial moments are negative.
            fractions = self.model == "poisson" and self.mean_count < 3.0
            self._require(fractions or not sure, name)

    @property
    def _per_lightest(self) -> float:
        """One over the weight of the lightest row that is expected."""
        return self.n_rows / max(LIGHTEST * self.weight, TINY)

    @staticmethod
    def _require(sound: Any, name: str) -> None:
        if not sound:
            raise InvalidDataError("sums_beyond_totals", name=name)

    def _limits(self) -> dict[str, float]:
        """Return the largest sum over columns of each array, given the totals."""
        _, first, pairs, triples, mass = (float(total) for total in self._sums["totals"])
        d = len(self.columns)
        names = ("first", "pairs", "products", "slices", "tensor")
        if self.model == "bernoulli":
            values = [mass, *2 * [d * mass], *2 * [d * d * mass]]
        elif self.model == "poisson":
            heaviest = mass * self._per_lightest  # of a row with all the mass
            values = [mass, *2 * [mass + mass * heaviest], *2 * [mass + mass * heaviest**2]]
        else:
            values = [first, *2 * [pairs], *2 * [triples]]
        return {} if self.model == "gaussian" else dict(zip(names, values, strict=False))

    def _suppress(self, rare: Bools, min_count: int) -> int:
        """Suppress pairs of columns that few rows have."""
        if not self.whole:
            return 0
        found = self._sums["pair_rows"]
        few = (found > 0) & (found < min_count)
        a, b = np.triu_indices(len(rare))
        of_rare = rare[a] | rare[b]
        self._sums["pairs"][few | of_rare] = 0.0
        del self._sums["pair_rows"]
        return int(np.count_nonzero(few & ~of_rare))

    def on_columns(self, columns: Sequence[str] | NDArray[Any]) -> MomentState:
        """Return the state of the same rows with other columns, in the first round.

        Parameters
        ----------
        columns : sequence of str
            All columns of the state, and others, in any order: these are zero in all rows.

        Returns
        -------
        MomentState
            A new state.

        Raises
        ------
        InvalidDataError
            If a column of the state is missing, or the state is of a later round.
        """
        if self._fixed:
            raise InvalidDataError("columns_are_fixed")
        settings: dict[str, Any] = self.settings
        out = MomentState(columns, **settings)
        place = {name: i for i, name in enumerate(out.columns)}
        missing = [str(name) for name in self.columns if name not in place]
        if missing:
            raise InvalidDataError("columns_dropped", names=missing)
        at = np.array([place[name] for name in self.columns])
        if self.whole != out.whole:
            raise InvalidDataError("too_many_columns_for_pairs", most=WHOLE_FEATURES)
        for name, value in self._sums.items():
            if name in ("pairs", "pair_rows"):
                whole = np.zeros((len(out.columns), len(out.columns)))
                whole[np.ix_(at, at)] = unpacked(value)
                out._sums[name] = packed(whole)
            elif name in (*self._by_column, "occurrences"):
                out._sums[name][at] = value
            else:
                out._sums[name] = value
        out._sums = {name: out._sums[name] for name in self._sums}
        out.released, out._parts = self.released, self._content_parts
        out.reader = self.reader
        return out

    # --- moments ----------------------------------------------------------------------------------

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return self._sums["first"] / self._divisor(1)

    @property
    def weight(self) -> float:
        """Sum of the sample weights."""
        return float(self._sums["totals"][0])

    @property
    def mean_count(self) -> float:
        """Mean sum of a row."""
        return float(self._sums["totals"][4]) / self._divisor(0)

    def _divisor(self, order: int) -> float:
        total = float(self._sums["totals"][order])
        if not total > 0:
            raise InvalidDataError("state_too_short" if self.n_rows else "empty_state", order=order)
        return total

    def _whole_m2(self) -> Floats:
        """Return M2 of the model, but for the variance of Gaussians, shape (d, d)."""
        return self._corrected(unpacked(self._sums["pairs"]) / self._divisor(2), None)

    def _corrected(self, second: Floats, directions: Floats | None) -> Floats:
        """Return the products of M2 of LDA, given those of the moments of words."""
        if self.model != "lda":
            return second
        a, m = self.settings["alpha0"], self.m1
        right = m if directions is None else m @ directions
        return np.asarray((a + 1.0) * second - a * np.multiply.outer(m, right))

    def moments(self) -> SecondMoments | SubspaceMoments:
        """Return the moments, for :func:`momentree.whitening.whiten` and decompositions.

        Returns
        -------
        moments
            In the first round, M1 and M2 alone; in the last one, M1, M2 and M3 in the subspace,
            which any decomposition into at most k components accepts.

        Raises
        ------
        InvalidDataError
            If no rows, or no long enough documents, were added, or for a round that has only
            products with M2.
        """
        if self.whole:
            return SecondMoments(self.m1, self._whole_m2())
        if not self.third:
            raise InvalidDataError("products_alone")
        Q = self._fixed["subspace"]
        products = self._sums["products"] / self._divisor(2)
        H = T = None
        if "slices" in self._sums:
            k = Q.shape[1]
            a, b = np.triu_indices(k)
            H = np.empty((len(Q), k, k))
            H[:, a, b] = H[:, b, a] = self._sums["slices"] / self._divisor(3)
        else:
            T = self._sums["tensor"] / self._divisor(3)
        found = SubspaceMoments(self.m1, Q, products, H, T)
        if self.model == "lda":
            return subspace_lda(found, self.settings["alpha0"])
        if self.model == "gaussian":
            return spherical_moments(found, self.settings["variance"])
        return found

    # --- rounds -----------------------------------------------------------------------------------

    @converging()
    def next_round(self, n_components: int, *, tol: float = ACCURATE) -> MomentState:
        """Return the empty state of the next round, whose subspace this round determines.

        Parameters
        ----------
        n_components : int >= 1
            Number of components k.
        tol : float >= 0, default=0.001
            With more than 1,024 columns: the last round begins when the residuals of the first k
            eigenpairs of M2 are at most this, relative to the largest eigenvalue; inf is the second
            round.

        Returns
        -------
        MomentState
            Usually the state of the last round; see ``third``.

        Raises
        ------
        InvalidDataError
            If M2 has no positive eigenvalue, or no rows were added.

        Warns
        -----
        ConvergenceWarning
            If M2 supports fewer than k components, so that the next round has fewer.
        MomentreeWarning
            If this round has another number of rows than the one before.
        """
        check_integer("n_components", n_components, at_least=1)
        check_number("tol", tol, at_least=0)
        if self.third:
            raise InvalidDataError("last_round")
        settings: dict[str, Any] = dict(self.settings)
        Y = None if self.whole else self._products()
        if Y is None:
            Q = largest_eigenvectors(self._whole_m2(), n_components)
            settings["third"] = True
            if self.model == "gaussian":
                settings["variance"] = self._variance(n_components)
        elif self.accuracy(n_components) > tol:
            Q = np.linalg.qr(Y)[0]
        else:
            ritz = self._ritz()
            k = int(np.count_nonzero(ritz.values[:n_components] > 0))
            Q = np.linalg.qr(Y @ ritz.vectors[:, : max(k, 1)])[0]
            settings["third"] = True
        if settings["third"] and (found := Q.shape[1]) < n_components:
            warn_caller(ConvergenceWarning("fewer_directions", found=found, requested=n_components))
        return self._asks(MomentState(self.columns, **settings, subspace=signed(Q)))

    def accuracy(self, n_components: int) -> float:
        """Return the residual of the first k eigenpairs of M2, relative to the largest eigenvalue.

        Parameters
        ----------
        n_components : int >= 1
            Number of components k.

        Returns
        -------
        float
            0 with all of M2; infinite after the first round of products.
        """
        if self.whole or self.third:
            return 0.0
        return self._ritz().residual(n_components) if self._fixed else np.inf

    def _products(self) -> Floats:
        directions = self._directions()
        return self._corrected(self._sums["products"] / self._divisor(2), directions)

    def _ritz(self) -> RitzPairs:
        return RitzPairs.of(self._fixed["subspace"], self._products())

    def _variance(self, n_components: int) -> float:
        """Return the mean of the smallest eigenvalues of the covariance matrix."""
        m, d = self.m1, len(self.columns)
        covariance = self._whole_m2() - np.multiply.outer(m, m)
        k = min(n_components, d)
        values = np.linalg.eigvalsh(covariance)[: d - k + 1]
        return float(max(values.mean(), 0.0))
