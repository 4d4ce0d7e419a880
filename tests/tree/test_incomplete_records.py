"""Groups of real discharges, found again after most of the codes are removed."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree import ClusterTree
from momentree.datasets import read_records

N_SEEDS = 4


@pytest.fixture(scope="module")
def discharges(shared_data):
    table = shared_data / "vermont_icd9" / "vermont_dx.csv.gz"
    read = read_records(table, code_columns="DX*", rollup="icd9")
    X = sp.csr_array(read.X)[np.flatnonzero(read.enough)]
    return X, ClusterTree(6, data="binary").fit(X, feature_names=read.codes)


def thinned(X, keep, seed):
    """Records with some of their codes; those with none are left out."""
    X = X.copy()
    X.data = (np.random.default_rng(seed).random(len(X.data)) < keep).astype(float)
    X.eliminate_zeros()
    rows = np.flatnonzero(np.diff(X.indptr))
    return X[rows], rows


def calibration_error(P, labels):
    top, right = P.max(axis=1), P.argmax(axis=1) == labels
    bins = np.minimum((10 * top).astype(int), 9)
    return np.abs(np.bincount(bins, weights=top - right, minlength=10)).sum() / len(top)


@pytest.mark.parametrize(("keep", "least"), [(0.5, 0.851), (0.25, 0.729)])
def test_the_group_of_the_whole_record_is_found_again(discharges, keep, least):
    """As often as by the best simple rule (docs/records.md), give or take two standard errors."""
    X, tree = discharges
    found, errors, named, right = [], [], [], []
    for seed in range(N_SEEDS):
        part, rows = thinned(X, keep, seed)
        labels = tree.labels_[rows]
        P, group = tree.predict_incomplete_proba(part), tree.predict_incomplete(part)
        found.append((P.argmax(axis=1) == labels).mean())
        errors.append(calibration_error(P, labels))
        named.append((group >= 0).mean())
        right.append((group == labels)[group >= 0].mean())
        assert found[-1] > (tree.predict(part) == labels).mean() + 0.05
    standard_error = np.sqrt(least * (1 - least) / (N_SEEDS * len(rows)))
    assert np.mean(found) > least - 2 * standard_error
    assert np.mean(errors) < 0.05
    assert 0.75 < np.mean(named) < 0.99
    assert np.mean(right) > np.mean(found) + 0.01


def test_long_records_keep_their_group(discharges):
    X, tree = discharges
    long = np.flatnonzero(np.diff(X.indptr) >= np.median(np.diff(X.indptr)))
    group = tree.predict_incomplete(X[long])
    assert (group == tree.labels_[long]).mean() > 0.98
