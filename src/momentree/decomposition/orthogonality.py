"""How far a symmetric tensor is from an orthogonal decomposition."""

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import as_floats, check_shape
from momentree.exceptions import InvalidDataError
from momentree.messages import wording


def orthogonal_defect(T: ArrayLike) -> float:
    r"""Return how far a symmetric tensor is from an orthogonal decomposition.

    A symmetric tensor is orthogonally decomposable, :math:`T = \sum_i \lambda_i o_i^{\otimes 3}`
    with orthonormal vectors, if and only if its slices commute [1]_. The defect is

    .. math:: \frac{1}{\|T\|^2} \Big( \sum_{a, b} \| T_a T_b - T_b T_a \|^2 \Big)^{1/2}.

    Exact moments of k components, whitened with k directions, give such a tensor. With fewer
    directions they do not (H appendix A), except for special parameters: then no rotation makes all
    slices diagonal, and the answers are pseudo-centers.

    Parameters
    ----------
    T : array-like of shape (k, k, k)
        Symmetric tensor, such as ``moments.whitened_tensor(W)``.

    Returns
    -------
    float
        0 if and only if T is orthogonally decomposable, up to rounding error of about 1e-15;
        at most sqrt(2). For k = 2, its only equation is that of H Lemma A.1.

    Raises
    ------
    InvalidDataError
        If T is not a finite, symmetric tensor.

    Notes
    -----
    Sampling error makes the defect of estimated moments positive. Time O(k^5), memory O(k^3).

    References
    ----------
    .. [1] A. Boralevi, J. Draisma, E. Horobet, E. Robeva. Orthogonal and unitary tensor
       decomposition from an algebraic perspective. Israel Journal of Mathematics 222, 223-260,
       2017. doi:10.1007/s11856-017-1588-6

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import orthogonal_defect
    >>> T = np.zeros((2, 2, 2))
    >>> T[0, 0, 0], T[1, 1, 1] = 3.0, 2.0
    >>> orthogonal_defect(T)
    0.0
    >>> T[0, 1, 1] = T[1, 0, 1] = T[1, 1, 0] = 1.0
    >>> round(orthogonal_defect(T), 2)
    0.25
    """
    tensor = as_floats("T", T)
    k = len(tensor) if tensor.ndim else 0
    check_shape("T", tensor, (k, k, k))
    if not np.isfinite(tensor).all():
        raise InvalidDataError(wording.NOT_FINITE, parameter="T")
    size = float(np.abs(tensor).max(initial=0.0))
    for order in ((1, 0, 2), (0, 2, 1)):
        if np.abs(tensor - tensor.transpose(order)).max(initial=0.0) > 1e-8 * size:
            raise InvalidDataError(
                "[not_symmetric] {parameters.T} is not symmetric; average it over the orders of "
                "its axes"
            )
    if size == 0.0:
        return 0.0
    slices: Floats = tensor / np.linalg.norm(tensor)
    total = 0.0
    for a in range(k):
        product = slices[a] @ slices[a + 1 :]
        # Slices are symmetric, so that T_b T_a is the transpose of T_a T_b.
        total += 2.0 * float(np.square(product - product.transpose(0, 2, 1)).sum())
    return float(np.sqrt(total))
