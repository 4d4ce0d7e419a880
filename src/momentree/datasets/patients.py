"""Sampler of artificial patient records."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats
from momentree._validation import check_number
from momentree.datasets._sampling import RandomState, check_sizes, draw_labels, generator
from momentree.datasets.mixtures import draw_ones
from momentree.datasets.samples import PatientSample
from momentree.exceptions import InvalidParameterError

HIGHEST = 0.9
"""Maximum frequency of a code in a group, so that no code is in every record."""


def make_patient_records(
    n_samples: int = 10_000,
    n_codes: int = 700,
    n_groups: int = 16,
    codes_per_record: float = 10.0,
    *,
    random_state: RandomState = None,
) -> PatientSample:
    """Draw artificial patient records from groups nested in families.

        means[i, j] = min(c s_i f_j u_{family(i), j} v_ij, 0.9),   f_j = 1 / (j + 10)

    with gamma variables s, u and v of shapes 10, 1/2 and 1, all with mean 1, and c such that a
    record has `codes_per_record` codes on average.

    Parameters
    ----------
    n_samples : int, >= 1, default=10_000
        Number of records.
    n_codes : int, >= 1, default=700
        Number of different codes.
    n_groups : int, >= 1, default=16
        Number of groups of patients, divided evenly into about sqrt(n_groups) families whose groups
        share codes: a tree of two levels.
    codes_per_record : float, > 0, at most a quarter of n_codes, default=10.0
        Expected number of codes per record.
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    PatientSample
        Records, their groups, frequencies of the codes in each group, families and names.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    A mixture of independent Bernoulli variables with these means, as in section 4.6.2 of [1].
    Frequencies of codes have a long tail; groups differ in size (the smallest has about a fifth of
    the mean size) and in the number of codes. Time O(nnz log nnz + n + k d), memory
    O(nnz + n + k d); never dense.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> from momentree.datasets import make_patient_records
    >>> sample = make_patient_records(2000, random_state=0)
    >>> sample.X.shape, sample.codes[:2].tolist(), len(set(sample.families))
    ((2000, 700), ['C001', 'C002'], 4)
    >>> bool(abs(sample.X.sum() / 2000 - 10) < 0.5)
    True
    """
    n, d, k = check_sizes(n_samples=n_samples, n_codes=n_codes, n_groups=n_groups)
    check_number("codes_per_record", codes_per_record, above=0)
    size = float(codes_per_record)
    if size > d / 4:
        raise InvalidParameterError("too_many_codes_per_record", value=size, d=d)
    rng = generator(random_state)
    w = 0.25 + rng.standard_exponential(k)
    w /= w.sum()
    families = np.arange(k) * max(round(k**0.5), 1) // k
    of_family = rng.gamma(0.5, 2.0, (families[-1] + 1, d))
    # With a minimum frequency, scaling can reach any number of codes up to the limit.
    spread = np.maximum(of_family[families] * rng.standard_exponential((k, d)), 1e-3)
    mu = rng.gamma(10, 0.1, (k, 1)) * spread / (np.arange(d) + 10.0)
    mu = _scaled(mu, w, size)
    labels = draw_labels(w, n, rng)
    width = max(len(str(d)), 3)
    codes = np.array([f"C{j:0{width}d}" for j in range(1, d + 1)])
    return PatientSample(draw_ones(mu, labels, rng), labels, w, mu, families, codes)


def _scaled(mu: Floats, w: Floats, size: float) -> Floats:
    """Return min(c mu, HIGHEST) with c such that the expected sum of a row is `size`."""
    low, high = 0.0, 1.0
    while w @ np.minimum(high * mu, HIGHEST).sum(axis=1) < size:
        low, high = high, 2 * high
    for _ in range(60):  # bisection to the last bit
        middle = (low + high) / 2
        if w @ np.minimum(middle * mu, HIGHEST).sum(axis=1) < size:
            low = middle
        else:
            high = middle
    return np.minimum(high * mu, HIGHEST)
