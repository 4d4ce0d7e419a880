"""The rule for incomplete records, transcribed literally."""

import numpy as np


def probabilities(scoring, X):
    """P[group | record] of a scoring, record by record, without logarithms."""
    counts, sizes = np.array(scoring["counts"], float), np.array(scoring["sizes"], float)
    known = np.repeat(sizes[:, None], counts.shape[1], axis=1)
    if scoring["observed"] is not None:
        known = np.array(scoring["observed"], float)
    mean = counts.sum(axis=0) / np.maximum(known.sum(axis=0), 1e-300)
    mu = np.clip((counts + mean) / (known + 1), 1e-9, 1 - 1e-9)
    out = []
    for x in X:
        likelihood = [
            np.prod(np.where(np.isnan(x), 1.0, np.where(x == 1, r * mu, 1 - r * mu)), axis=1)
            for r in (5.0 ** (-i / 5) for i in range(6))
        ]
        joint = sizes * np.mean(likelihood, axis=0)
        out.append(joint / joint.sum())
    return np.array(out)


def group_of(scoring, x):
    """The group that is named for a record, or -1."""
    counts, p = np.array(scoring["counts"]), probabilities(scoring, [x])[0]
    held = np.flatnonzero(x == 1)
    for group in range(len(p)):
        enough = (counts[group, held] >= 5).any()
        foreign = ((counts[group, held] == 0) & (counts[:, held] > 0).any(axis=0)).any()
        if p[group] > 0.5 and enough and not foreign:
            return group
    return -1
