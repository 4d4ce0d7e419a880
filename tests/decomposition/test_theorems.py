"""Statements of the papers that no single function computes, as identities on exact moments."""

from __future__ import annotations

import numpy as np
import pytest

from momentree.decomposition.sidiwo import two_component_rotation

D, K = 7, 4


@pytest.fixture
def model():
    """Centers in columns and weights of a model in general position."""
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(D), size=K).T, rng.dirichlet(np.full(K, 5.0))


def rotation(rng, k):
    return np.linalg.qr(rng.normal(size=(k, k)))[0]


def tensor(M, omega):
    return np.einsum("ir,jr,kr,r->ijk", M, M, M, omega)


def whitening(M, omega, k):
    """E_k = U_k S_k^(1/2) of M2."""
    values, vectors = np.linalg.eigh(M * omega @ M.T)
    return vectors[:, -k:] * np.sqrt(values[-k:])


def objective(rows, M3):
    """H eq. 5: the sum over i != j of the norm over r of (D M3,r D^T)_ij."""
    slices = np.einsum("ia,abc,jc->bij", rows, M3, rows)
    norms = np.sqrt((slices**2).sum(axis=0))
    return norms.sum() - np.trace(norms)


def test_two_moments_do_not_identify_a_model(model):
    """T Theorem 1.2.2: rotated parameters with the same M1 and M2."""
    M, omega = model
    R = rotation(np.random.default_rng(1), K)
    root = R.T @ np.sqrt(omega)
    other, weights = M * np.sqrt(omega) @ R / root, root**2
    assert not np.allclose(np.sort(weights), np.sort(omega))
    np.testing.assert_allclose(other @ weights, M @ omega, atol=1e-12)
    np.testing.assert_allclose(other * weights @ other.T, M * omega @ M.T, atol=1e-12)


def test_only_the_true_rotation_diagonalizes_all_slices(model):
    """H Lemma 3.1 (T Lemma 5.3.1): (M Omega^(1/2))^+ has objective 0, other rotations do not."""
    M, omega = model
    M3 = tensor(M, omega)
    E = whitening(M, omega, K)
    true = np.linalg.pinv(M * np.sqrt(omega))
    np.testing.assert_allclose((true @ E) @ (true @ E).T, np.eye(K), atol=1e-9)  # it is feasible
    assert objective(true, M3) < 1e-12
    rng = np.random.default_rng(2)
    assert min(objective(np.linalg.pinv(E @ rotation(rng, K)), M3) for _ in range(100)) > 1e-3


def test_pseudo_centers_span_the_best_subspace_and_are_no_selection_of_topics(model):
    """H Theorem 3.1 (T Theorem 5.3.1), its three points, for l < k."""
    M, omega = model
    E = whitening(M, omega, 2)
    rows = np.linalg.pinv(E @ rotation(np.random.default_rng(3), 2))
    assert (np.abs(rows @ M).max(axis=1) > 1e-3).all()  # point 1
    centers = np.linalg.pinv(rows)
    in_span = E @ np.linalg.pinv(E)
    np.testing.assert_allclose(in_span @ centers, centers, atol=1e-12)  # point 2
    for pair in ([0, 1], [0, 2], [1, 2], [2, 3]):  # point 3
        block = (M * np.sqrt(omega))[:, pair]
        assert np.abs(in_span @ block - block).max() > 1e-3
        part = np.linalg.pinv(M * np.sqrt(omega))[pair]
        assert np.abs(part @ in_span - part).max() > 1e-3


def test_the_objective_is_a_supremum_over_weighted_centers(model):
    """H Theorem 3.2 (T Theorem 5.3.2): sup_v sum_h <d_i, mu_h> <d_j, mu_h> w_h v_h."""
    M, omega = model
    M3 = tensor(M, omega)
    rng = np.random.default_rng(4)
    rows = np.linalg.pinv(whitening(M, omega, 2) @ rotation(rng, 2))
    products = np.prod(rows @ M, axis=0) * omega  # of rows 1 and 2, one entry a center
    best = M @ products / np.linalg.norm(M @ products)
    reached = best @ M @ products
    assert 2 * reached == pytest.approx(objective(rows, M3), rel=1e-10)
    alpha = rng.normal(size=(1000, D))
    alpha /= np.linalg.norm(alpha, axis=1, keepdims=True)
    assert (alpha @ M @ products).max() <= reached


@pytest.mark.parametrize("length", [2, 3])
def test_the_objective_is_the_supremum_form(model, length):
    """H Theorem 3.2, literally: for each pair, maximize over alpha by ascent on the ball."""
    M, omega = model
    M3 = tensor(M, omega)
    rng = np.random.default_rng(5)
    rows = np.linalg.pinv(whitening(M, omega, length) @ rotation(rng, length))
    total = 0.0
    for i in range(length):
        for j in range(length):
            if i == j:
                continue

            def inner(alpha, i=i, j=j):
                v = alpha @ M  # a point of V_M
                return sum(
                    (rows[i] @ M[:, h]) * (rows[j] @ M[:, h]) * omega[h] * v[h] for h in range(K)
                )

            slope = np.array([inner(e) for e in np.eye(D)])  # the supremand is linear in alpha
            alpha = rng.normal(size=D)
            for _ in range(60):  # projected ascent, which needs no formula of the maximum
                alpha = alpha + 10.0 * slope / np.linalg.norm(slope)
                alpha /= max(1.0, np.linalg.norm(alpha))
            total += inner(alpha)
    assert total == pytest.approx(objective(rows, M3), rel=1e-6)


def test_the_coefficients_of_theorem_3_3_give_the_objective_of_each_angle(model):
    """H Theorem 3.3 (T Theorem 5.3.3): c_1 to c_5, and the minimum that the closed form finds."""
    M, omega = model
    M3 = tensor(M, omega)
    inverse = np.linalg.pinv(whitening(M, omega, 2))
    H = np.einsum("ia,rab,jb->rij", inverse, M3, inverse)
    h, f = H[:, 0, 1], H[:, 0, 0] - H[:, 1, 1]
    c1, c2, c3, c4, c5 = (
        np.sum(c) for c in (4 * h**2 - f**2, -4 * f * h, 2 * f * h, f**2 - 4 * h**2, h**2)
    )

    def F(a):
        root = np.sqrt(1 - a**2)
        return c1 * a**4 + c2 * a**3 * root + c3 * a * root + c4 * a**2 + c5

    def directly(a):
        root = np.sqrt(1 - a**2)
        turn = np.array([[root, a], [-a, root]])
        return sum((turn.T @ H_r @ turn)[0, 1] ** 2 for H_r in H)

    grid = np.linspace(-1, 1, 2001)
    np.testing.assert_allclose(F(grid[::100]), [directly(a) for a in grid[::100]], rtol=1e-10)
    _, value = two_component_rotation(H)
    assert value == pytest.approx(2 * np.sqrt(F(grid).min()), rel=1e-4)
    assert value <= 2 * np.sqrt(F(grid).min()) + 1e-12
