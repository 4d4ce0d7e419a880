"""Power method and alternating least squares: the tensor identities that they use."""

import numpy as np
import pytest
import tensorly

from momentree.datasets import make_poisson_mixture
from momentree.decomposition import als, sidiwo, tensor_power_method
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments import PoissonMoments, PopulationMoments, SingleTopicMoments
from momentree.whitening import whiten
from tests.raising import raises


def model(k=4, d=30, seed=0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(5 * np.ones(k)), rng.dirichlet(0.5 * np.ones(d), size=k)


def test_eigenvalues_of_the_tensor_are_inverse_roots_of_the_weights():
    w, mu = model()
    found = tensor_power_method(SingleTopicMoments.from_parameters(w, mu), 4)
    values = found.diagnostics["eigenvalues_of_tensor"]
    np.testing.assert_allclose(values, np.sort(w)[::-1] ** -0.5, rtol=1e-8)
    np.testing.assert_allclose(found.weights, values**-2.0, rtol=1e-12)


def test_components_are_fixed_points_of_the_power_iteration_on_the_deflated_tensor():
    rng = np.random.default_rng(3)
    mu = rng.dirichlet(np.ones(20), size=5)
    moments = SingleTopicMoments.from_data(rng.multinomial(40, mu[rng.integers(5, size=500)]))
    found = tensor_power_method(moments, 3, max_iter=1000)
    white = whiten(moments, 3)
    T = moments.whitened_tensor(white.W)
    values = found.diagnostics["eigenvalues_of_tensor"]
    V = white.W @ found.centers / values
    np.testing.assert_allclose(np.linalg.norm(V, axis=0), 1.0, rtol=1e-9)
    # Some order of deflation made each a fixed point in its turn: the first one of T itself.
    residuals = [
        np.linalg.norm(np.einsum("abc,b,c->a", T, v, v) - value * v)
        for v, value in zip(V.T, values, strict=True)
    ]
    assert min(residuals) < 1e-8
    residual = T - np.einsum("i,ai,bi,ci->abc", values, V, V, V)
    assert found.diagnostics["residual_m3"] == pytest.approx(
        np.linalg.norm(residual) / np.linalg.norm(T), rel=1e-9
    )


def test_more_restarts_find_no_smaller_first_eigenvalue():
    rng = np.random.default_rng(4)
    X = rng.multinomial(15, rng.dirichlet(np.ones(40), size=300))
    moments = SingleTopicMoments.from_data(X)
    white = whiten(moments, 6)
    T = moments.whitened_tensor(white.W)
    starts = rng.standard_normal((6, 2000))
    starts /= np.linalg.norm(starts, axis=0)
    best = np.einsum("abc,al,bl,cl->l", T, starts, starts, starts, optimize=True).max()
    found = tensor_power_method(moments, 6, n_restarts=50)
    assert found.diagnostics["eigenvalues_of_tensor"].max() >= best


def test_a_third_moment_of_zero_holds_no_components():
    """Components in pairs of opposite sign: M2 is whole, M3 is nothing."""
    M = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 2.0, -2.0], [0.0, 0.0, 0.0, 0.0]])
    found = tensor_power_method(PopulationMoments(np.ones(4), M), 2)
    assert found.n_components == 0
    assert found.diagnostics["reason"].code == "tensor_has_fewer_components"


def test_lemma_5_2_1_the_whitened_counter_example_is_not_orthogonally_decomposable():
    """T section 5.2: an orthogonally decomposable 2 x 2 x 2 tensor satisfies eq. (5.6)."""

    def defect(T):
        left = T[0, 0, 0] * T[1, 1, 0] + T[1, 0, 0] * T[1, 1, 1]
        return left - T[1, 0, 0] ** 2 - T[1, 1, 0] ** 2

    w, mu = model(2, 10)
    proper = SingleTopicMoments.from_parameters(w, mu)
    assert abs(defect(proper.whitened_tensor(whiten(proper, 2).W))) < 1e-10
    M = np.array([[1.0, 0, 1], [0, 1, 1], [0, 0, 1]])
    moments = PopulationMoments(np.ones(3), M)
    T = moments.whitened_tensor(whiten(moments, 2).W)
    zero = [T[0, 0, 1], T[1, 1, 1]]  # the entries that the thesis says are zero
    np.testing.assert_allclose(zero, 0, atol=1e-12)
    # So eq. (5.6) reads T_111 = T_221, and its defect is T_221 (T_111 - T_221).
    assert defect(T) == pytest.approx(T[1, 1, 0] * (T[0, 0, 0] - T[1, 1, 0]))
    assert abs(defect(T)) > 0.1
    # No answer explains such a tensor.
    assert tensor_power_method(moments, 2).diagnostics["residual_m3"] > 0.1
    assert sidiwo(moments, 2).diagnostics["off_diagonal_share"] > 0.1


@pytest.mark.parametrize(("k", "d"), [(1, 30), (3, 20), (6, 30), (20, 80)])
def test_als_of_m3_itself(k, d):
    w, mu = model(k, d, seed=k)
    found = als(SingleTopicMoments.from_parameters(w, mu), k, of="m3")
    order = np.argsort(-w)
    np.testing.assert_allclose(found.weights, w[order], rtol=1e-6)
    error = np.linalg.norm(found.centers.T - mu[order], axis=1)
    assert (error < 1e-6 * np.linalg.norm(mu[order], axis=1)).all()
    assert found.diagnostics["residual"] < 1e-6


def test_als_keeps_the_smallest_residual_of_its_starts():
    rng = np.random.default_rng(5)
    moments = SingleTopicMoments.from_data(rng.multinomial(8, np.full(30, 1 / 30), size=100))
    residuals = [
        als(moments, 5, n_restarts=n, max_iter=30).diagnostics["residual"] for n in (0, 2, 6)
    ]
    assert residuals[0] >= residuals[1] >= residuals[2]
    assert residuals[2] < residuals[0]


def test_als_skips_starts_whose_components_become_collinear(monkeypatch):
    moments = PoissonMoments.from_data(make_poisson_mixture(400, 60, 5, random_state=0).X)
    fit, failed = tensorly.decomposition.parafac, []

    def parafac(*args, **options):
        try:
            return fit(*args, **options)
        except np.linalg.LinAlgError:
            failed.append(True)
            raise

    monkeypatch.setattr(tensorly.decomposition, "parafac", parafac)
    assert als(moments, 22).diagnostics["residual"] < 1
    assert failed

    def singular(*args, **options):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(tensorly.decomposition, "parafac", singular)
    with raises(InvalidDataError, "als_failed", n_components=22):
        als(moments, 22)


def test_als_leaves_the_backend_of_tensorly_alone():
    w, mu = model()
    before = tensorly.get_backend()
    als(SingleTopicMoments.from_parameters(w, mu), 4)
    assert tensorly.get_backend() == before


def test_als_of_m3_refuses_what_it_cannot_hold():
    w, mu = model(2, 201)
    with raises(InvalidParameterError, "m3_too_large", found=201, most=200):
        als(SingleTopicMoments.from_parameters(w, mu), 2, of="m3")

    class NoDense:
        inner = SingleTopicMoments.from_parameters(*model(2, 10))
        m1, m2 = inner.m1, inner.m2
        whitened_slices, whitened_tensor = inner.whitened_slices, inner.whitened_tensor

    with raises(InvalidParameterError, "no_dense_m3", type="NoDense"):
        als(NoDense(), 2, of="m3")


@pytest.mark.parametrize(
    ("method", "option"),
    [
        (tensor_power_method, {"n_restarts": 0}),
        (tensor_power_method, {"max_iter": 0}),
        (als, {"of": "M2"}),
        (als, {"n_restarts": -1}),
        (als, {"max_iter": True}),
        (als, {"tol": -1e-3}),
    ],
)
def test_refuses_options_out_of_range(method, option):
    code = "not_a_choice" if "of" in option else "not_a_number"
    with raises(InvalidParameterError, code, parameter=next(iter(option))):
        method(SingleTopicMoments.from_parameters(*model(2, 10)), 2, **option)
