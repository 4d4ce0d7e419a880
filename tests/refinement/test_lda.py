"""The Dirichlet distribution fitted to mean logarithms."""

import numpy as np
import pytest
from scipy.special import psi

from momentree.refinement.lda import dirichlet_from_logs


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("start", [0.001, 1.0, 100.0])
def test_alpha_of_exact_logs(scale, start):
    alpha = scale * np.array([0.2, 1.0, 3.0, 0.5])
    found = dirichlet_from_logs(psi(alpha) - psi(alpha.sum()), np.full(4, start), max_iter=200)
    np.testing.assert_allclose(found, np.maximum(alpha, 1e-3), rtol=1e-5)
