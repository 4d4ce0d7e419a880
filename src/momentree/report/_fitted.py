"""What the report reads of an estimator: any fitted tree that has it can be reported."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from momentree.tree.node import TreeNode

__all__ = ["FittedTree", "fitted_root"]


class FittedTree(Protocol):
    """What the report needs of a fitted tree estimator."""

    tree_: TreeNode
    labels_: NDArray[np.intp]
    vocabulary_: NDArray[np.str_]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        ...


def fitted_root(estimator: FittedTree) -> TreeNode:
    """Return the root of a fitted tree.

    Raises
    ------
    NotFittedError
        If there is none yet.
    """
    if not hasattr(estimator, "tree_"):
        msg = f"this {type(estimator).__name__} is not fitted yet; call fit first"
        raise NotFittedError(msg)
    return estimator.tree_
