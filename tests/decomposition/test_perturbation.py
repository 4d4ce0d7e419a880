"""The perturbation bound of SVTD: its formula, each step of its proof, and what SVTD does."""

import itertools

import numpy as np
import pytest
from numpy.linalg import norm
from scipy.stats import ortho_group

from momentree.decomposition import svtd_perturbation_bound
from momentree.decomposition.perturbation import ProofSteps
from momentree.exceptions import InvalidDataError, InvalidParameterError
from tests.raising import raises


def model(seed, d=5, k=3):
    """Weights and components (k, d) that are well apart."""
    rng = np.random.default_rng(seed)
    mu = np.eye(k, d) + np.eye(k, d, 1) + 0.3 * rng.random((k, d))
    return rng.dirichlet(np.full(k, 5.0)), mu / mu.sum(axis=1, keepdims=True)


def dense_moments(w, mu):
    return np.einsum("i,ia,ib->ab", w, mu, mu), np.einsum("i,ia,ib,ic->abc", w, mu, mu, mu)


def dense_svtd(M2, M3, k, r):
    """T Algorithm 1, word by word, and what its proof speaks of."""
    U, s, _ = np.linalg.svd(M2)
    E = U[:, :k] * np.sqrt(s[:k])
    inverse = np.linalg.pinv(E)
    H = np.array([inverse @ M3[i] @ inverse.T for i in range(len(M3))])
    O = np.linalg.svd(H[r])[0]  # noqa: E741
    rows = np.array([np.diag(O.T @ H_i @ O) for H_i in H])
    return {"M": rows, "E": E, "inverse": inverse, "H": H, "O": O}


def perturbed(M2, M3, epsilon, rng):
    """Symmetric perturbations of norm epsilon."""
    A = rng.normal(size=M2.shape)
    B = rng.normal(size=M3.shape)
    A = A + A.T
    B = sum(B.transpose(p) for p in itertools.permutations(range(3)))
    return M2 + epsilon * A / norm(A), M3 + epsilon * B / norm(B)


def aligned(A, B):
    """The columns of B with the signs of A."""
    return B * np.sign(np.sum(A * B, axis=0))


def literal_bound(w, mu, epsilon, r):
    """The proof of T section 2.2.1 with dense matrices; Weyl's bound for what is perturbed."""
    k, d = mu.shape
    M2, M3 = dense_moments(w, mu)
    out = dense_svtd(M2, M3, k, r)
    s = np.linalg.svd(M2)[1]
    s[k:] = 0
    alpha_m2 = min(s[i] ** 2 - (s[i + 1] ** 2 if i + 1 < d else 0) for i in range(k))
    alpha_r = min(abs(mu[i, r] - mu[j, r]) for i in range(k) for j in range(i))
    E, inverse, O = out["E"], out["inverse"], out["O"]  # noqa: E741
    U, low = E / np.sqrt(s[:k]), s[:k] - epsilon
    delta_u = np.sqrt(8 * k) * (2 * norm(M2) * epsilon + epsilon**2) / alpha_m2
    delta_s = epsilon / (np.sqrt(s[k - 1]) + np.sqrt(s[k - 1] - epsilon))
    f = delta_u * norm(np.sqrt(s[:k])) + norm(U) * delta_s + delta_u * delta_s
    tau = norm(1 / np.sqrt(low)) * norm(inverse) + norm(1 / low) * norm(np.eye(d) - E @ inverse)
    p, a = f * tau, norm(inverse)

    def h(i):
        m = norm(M3[i])
        return 2 * p * a * m + a**2 * epsilon + 2 * p * a * epsilon + p**2 * (m + epsilon)

    g = 2 * np.sqrt(2) * h(r) / alpha_r
    c = norm(out["H"][r]) * (1 + np.sqrt(1 - 1 / k))
    limit = alpha_r**2 / (np.sqrt(2) * (2 * c + np.sqrt(alpha_r**2 + 4 * c**2)))
    rows = [
        2 * norm(O) * g * norm(H) + norm(O) ** 2 * h(i) + 2 * norm(O) * g * h(i)
        + g**2 * (norm(H) + h(i))
        for i, H in enumerate(out["H"])
    ]  # fmt: skip
    return max(rows), h(r) / limit, alpha_r, alpha_m2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [2, 3])
def test_the_bound_is_the_formula(seed, k):
    w, mu = model(seed, k=k)
    found = svtd_perturbation_bound(w, mu, 1e-12)
    for epsilon in (0.01 * found.gamma, 0.99 * found.gamma):
        bound, of_limit, alpha_r, alpha_m2 = literal_bound(w, mu, epsilon, found.feature)
        again = svtd_perturbation_bound(w, mu, epsilon)
        assert again.bound == pytest.approx(bound, rel=1e-9)
        assert again.alpha_r == pytest.approx(alpha_r, rel=1e-12)
        assert again.alpha_m2 == pytest.approx(alpha_m2, rel=1e-9)
        assert of_limit < 1
    # gamma is where (2.6) holds with equality.
    assert literal_bound(w, mu, found.gamma, found.feature)[1] == pytest.approx(1, rel=1e-9)
    assert svtd_perturbation_bound(w, mu, found.gamma).bound == np.inf


@pytest.mark.parametrize("seed", range(4))
def test_svtd_stays_below_the_bound_and_so_does_each_step_of_the_proof(seed):
    """Ten perturbations of each of four models."""
    w, mu = model(seed)
    r = svtd_perturbation_bound(w, mu, 1e-12).feature
    steps = ProofSteps(w, mu.T, r, svtd_perturbation_bound(w, mu, 1e-12).alpha_r)
    epsilon = 0.999 * steps.gamma()
    bound = svtd_perturbation_bound(w, mu, epsilon).bound
    M2, M3 = dense_moments(w, mu)
    exact = dense_svtd(M2, M3, 3, r)
    np.testing.assert_allclose(exact["M"], mu.T[:, np.argsort(-mu[:, r])], atol=1e-12)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        found = dense_svtd(*perturbed(M2, M3, epsilon, rng), 3, r)
        E = aligned(exact["E"], found["E"])
        signs = np.sign(np.sum(exact["E"] * found["E"], axis=0))
        assert norm(E - exact["E"]) < steps.whitening(epsilon)
        assert norm(signs[:, None] * found["inverse"] - exact["inverse"]) < steps.inverse(epsilon)
        errors = norm(signs[:, None] * found["H"] * signs - exact["H"], axis=(1, 2))
        assert (errors < steps.slices(epsilon)).all()
        O = aligned(exact["O"], signs[:, None] * found["O"])  # noqa: E741
        assert norm(O - exact["O"]) < steps.rotation(epsilon)
        assert norm(found["M"] - exact["M"], axis=1).max() < bound


def test_the_step_of_the_inverse_holds_for_large_perturbations_too():
    """Close to s_k, where the first-order form of the thesis fails."""
    s, epsilon = np.array([1.0, 0.3]), 0.25
    steps = ProofSteps(s, np.eye(2), 0, 1.0)
    M2, low = np.diag(s), np.diag(s - [0, epsilon])
    exact, found = (dense_svtd(A, np.zeros((2, 2, 2)), 2, 0) for A in (M2, low))
    # Without its part of the vectors, which do not move here: f = ||U|| delta_s.
    moved = norm(exact["E"] - found["E"])
    published = epsilon / (2 * np.sqrt(0.3))
    assert moved > published
    mended = epsilon / (np.sqrt(0.3) + np.sqrt(0.3 - epsilon))
    assert moved == pytest.approx(mended, rel=1e-12)
    change = norm(exact["inverse"] - found["inverse"])
    tau = norm(exact["inverse"]) ** 2
    assert change > moved * tau
    assert change <= moved * steps.inverse(epsilon) / steps.whitening(epsilon)


def test_the_limit_of_2_6_is_that_of_theorem_2_2_3():
    """At the limit sqrt(2) h / alpha = 1 / (2 g + sqrt(1 + 4 g^2)), g = c / alpha."""
    w, mu = model(0)
    found = svtd_perturbation_bound(w, mu, 1e-12)
    steps = ProofSteps(w, mu.T, found.feature, found.alpha_r)
    k, alpha = len(w), found.alpha_r
    g = norm(mu[:, found.feature]) / alpha * (1 + np.sqrt(1 - 1 / k))
    eps_b = np.sqrt(2) * steps.slices(found.gamma)[found.feature] / alpha
    assert eps_b == pytest.approx(1 / (2 * g + np.sqrt(1 + 4 * g**2)), rel=1e-9)
    # There (2.8) is at most 2 sqrt(2) h / alpha, the g of the proof, and needs all its conditions.
    inner = 1 - eps_b**2 - 4 * g * eps_b
    assert inner == pytest.approx(0, abs=1e-9)
    attained = np.sqrt(2) * eps_b / np.sqrt(1 - 2 * g * eps_b + np.sqrt(max(inner, 0)))
    assert attained <= steps.rotation(found.gamma)


def test_singular_vectors_move_less_than_corollary_2_2_1_says():
    rng = np.random.default_rng(0)
    for _ in range(50):
        Q = ortho_group.rvs(3, random_state=rng)
        values = np.array([0.9, 0.5, 0.2])
        B, alpha = (Q * values) @ Q.T, 0.3
        c = norm(B) * (1 + np.sqrt(2 / 3))
        limit = alpha**2 / (np.sqrt(2) * (2 * c + np.sqrt(alpha**2 + 4 * c**2)))
        D = rng.normal(size=(3, 3))
        D *= 0.999 * limit / norm(D)
        O, moved = np.linalg.svd(B)[0], np.linalg.svd(B + D)[0]  # noqa: E741
        assert norm(O - aligned(O, moved)) < 2 * np.sqrt(2) * norm(D) / alpha


def test_the_bound_is_linear_for_small_perturbations():
    w, mu = model(1)
    one, ten = (svtd_perturbation_bound(w, mu, e).bound for e in (1e-13, 1e-12))
    assert ten / one == pytest.approx(10, rel=1e-4)


def test_the_order_of_components_does_not_matter():
    w, mu = model(2)
    a, b = svtd_perturbation_bound(w, mu, 1e-10), svtd_perturbation_bound(w[::-1], mu[::-1], 1e-10)
    assert a.bound == pytest.approx(b.bound, rel=1e-9)
    assert a.gamma == pytest.approx(b.gamma, rel=1e-9)


def test_another_feature_is_worse():
    w, mu = model(3)
    best = svtd_perturbation_bound(w, mu, 1e-12)
    gaps = [svtd_perturbation_bound(w, mu, 1e-12, feature=r).alpha_r for r in range(5)]
    assert best.alpha_r == max(gaps)
    assert best.feature == np.argmax(gaps)


@pytest.mark.parametrize(
    ("w", "mu", "why"),
    [
        ([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], "the same component twice"),
        ([0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]], "equal singular values of M2"),
        ([0.5, 0.5], [[0.2], [0.7]], "more components than features"),
        ([0.6, 0.4], [[0.5, -0.3], [0.5, 0.3]], "the same sizes in each feature"),
    ],
)
def test_models_that_svtd_cannot_distinguish(w, mu, why):
    found = svtd_perturbation_bound(w, mu, 1e-9)
    assert (found.gamma, found.bound) == (0, np.inf), why


@pytest.mark.parametrize(
    ("change", "error", "code"),
    [
        ({"epsilon": 0}, InvalidParameterError, "not_a_number"),
        ({"epsilon": "a"}, InvalidParameterError, "not_a_number"),
        ({"feature": 2}, InvalidParameterError, "not_a_number"),
        ({"feature": -1}, InvalidParameterError, "not_a_number"),
        ({"weights": [1.0]}, InvalidDataError, "wrong_shape"),
        ({"weights": [1.0, 0.0]}, InvalidDataError, "not_positive"),
        ({"components": [[1.0, np.nan], [0, 1]]}, InvalidDataError, "not_finite"),
        ({"components": [["a"]]}, InvalidDataError, "not_numbers"),
        ({"components": [0.5, 0.5]}, InvalidDataError, "wrong_shape"),
    ],
)
def test_bad_input_is_refused(change, error, code):
    arguments = {"weights": [0.6, 0.4], "components": [[0.9, 0.1], [0.2, 0.8]], "epsilon": 1e-6}
    with raises(error, code):
        svtd_perturbation_bound(**{**arguments, **change})
