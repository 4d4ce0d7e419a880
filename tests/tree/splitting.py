"""The split of a single group of samples."""

from types import SimpleNamespace

import numpy as np

from momentree.tree.split import SampleGroups, Split


def split_one(splitter, rows, weight, factor):
    """Return the split with the side of each sample, or the reason if there is none."""
    splits = splitter(SampleGroups.one(rows, weight, factor))
    (found,) = splits.found
    if not isinstance(found, Split):
        return found
    return SimpleNamespace(**vars(found), side=np.asarray(splits.side))
