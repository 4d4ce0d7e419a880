"""3V-MoM and 3V-TPM: the papers' algorithms literally, exact recovery, and the rate in n."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from momentree.decomposition import (
    tensor_power_method,
    three_view_mom,
    three_view_tpm,
)
from momentree.exceptions import InvalidParameterError
from momentree.moments import BernoulliMoments, MultiviewMoments, split_views
from momentree.whitening import whiten
from tests.raising import raises

METHODS = [three_view_mom, three_view_tpm]
both = pytest.mark.parametrize("method", METHODS)


def model(seed, k, sizes):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(k, 20.0)), [rng.random((k, d)) for d in sizes]


def sample(seed, n, w, mu):
    rng = np.random.default_rng(seed)
    y = rng.choice(len(w), size=n, p=w)
    return [(rng.random((n, part.shape[1])) < part[y]).astype(float) for part in mu]


def errors(found, w, mu):
    """Largest error of an entry of the centers, and of a weight, in the best order."""
    true = np.hstack(mu)
    cost = np.linalg.norm(found.centers.T[:, None] - true, axis=2)
    order = linear_sum_assignment(cost)[1]
    center = np.abs(found.centers.T - true[order]).max()
    return center, np.abs(found.weights - w[order]).max()


@both
@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize(("k", "sizes"), [(1, (3, 2, 4)), (2, (2, 3, 2)), (4, (9, 7, 70))])
def test_exact_moments_give_the_means_of_all_views_back(method, k, sizes, seed):
    w, mu = model(k, k, sizes)
    found = method(MultiviewMoments.from_parameters(w, mu), k, random_state=seed)
    assert found.centers.shape == (sum(sizes), k)
    assert max(errors(found, w, mu)) < 1e-6
    assert not found.diagnostics["reason"]
    assert found.diagnostics["residual_m3"] < 1e-6


def literal_algorithm_b(views, k, theta):
    """Algorithm B of Anandkumar, Hsu and Kakade 2012 with dense moments, as printed."""
    x1, x2, x3 = views
    n = len(x1)
    P12, P13 = x1.T @ x2 / n, x1.T @ x3 / n
    P123 = np.einsum("na,nb,nc->abc", x1, x2, x3) / n
    U, _, Vt = np.linalg.svd(P12)
    U1, U2, U3 = U[:, :k], Vt[:k].T, np.linalg.svd(P13)[2][:k].T
    # An orthogonal Theta with the given first row.
    Theta = np.linalg.qr(np.column_stack([theta, np.eye(k)[:, : k - 1]]))[0].T
    base = np.linalg.inv(U1.T @ P12 @ U2)

    def B(row):
        return U1.T @ np.tensordot(P123, U3 @ row, 1) @ U2 @ base

    R = np.linalg.eig(B(Theta[0]))[1]
    L = np.array([np.diag(np.linalg.inv(R) @ B(row) @ R) for row in Theta])
    return U3 @ np.linalg.inv(Theta) @ L


@pytest.mark.parametrize("seed", range(2))
def test_three_view_mom_is_algorithm_b(seed):
    """Up to its choice of theta, which is drawn in the basis U_3 that has free signs."""
    w, mu = model(9, 3, (5, 6, 7))
    views = sample(seed, 20_000, w, mu)
    moments = MultiviewMoments.from_data(views, n_components=3)
    found = three_view_mom(moments, 3, random_state=seed)
    assert found.diagnostics["complex_eigenvalues"] == 0
    theta = np.random.RandomState(seed).standard_normal(3 * found.diagnostics["draws"])[-3:]
    U3 = np.linalg.svd(views[0].T @ views[2])[2][:3].T
    M3 = literal_algorithm_b(views, 3, U3.T @ moments.third_basis @ theta)
    omega = np.linalg.lstsq(M3, views[2].mean(axis=0), rcond=None)[0]
    order = np.argsort(-omega)
    np.testing.assert_allclose(found.centers[11:], M3[:, order], atol=1e-8)
    np.testing.assert_allclose(found.weights, omega[order], atol=1e-8)
    # The other views by the linear solve E[x_v x_3^T] = M_v diag(omega) M_3^T.
    for x, at in zip(views, (slice(0, 5), slice(5, 11)), strict=False):
        solved = np.linalg.lstsq(M3, views[2].T @ x / 20_000, rcond=None)[0].T / omega
        np.testing.assert_allclose(found.centers[at], solved[:, order], atol=1e-8)


def test_three_view_tpm_is_the_tensor_power_method_on_the_third_view():
    w, mu = model(9, 3, (5, 6, 7))
    moments = MultiviewMoments.from_data(sample(0, 5_000, w, mu), n_components=3)
    found, base = three_view_tpm(moments, 3), tensor_power_method(moments, 3)
    np.testing.assert_array_equal(found.centers[11:], base.centers)
    np.testing.assert_array_equal(found.weights, base.weights)
    again = three_view_tpm(moments, 3, whitening=whiten(moments, 3))
    np.testing.assert_array_equal(again.centers, found.centers)


@pytest.mark.long
@both
def test_the_error_falls_as_the_root_of_n(method):
    """Root mean square over seeds; 16 times the samples, a quarter of the error.

    The mean of 12 squares has a relative standard error of 0.12 at most, so the ratio of two roots
    one of 0.085: five of them are a factor of 1.5.
    """
    w, mu = model(3, 2, (6, 6, 6))
    found = []
    for n in (2_000, 32_000):
        squares = []
        for seed in range(12):
            moments = MultiviewMoments.from_data(sample(seed, n, w, mu), n_components=2)
            squares.append(max(errors(method(moments, 2), w, mu)) ** 2)
        found.append(np.sqrt(np.mean(squares)))
    assert 4 / 1.5 < found[0] / found[1] < 4 * 1.5
    assert found[1] < 0.02


@both
def test_views_split_from_one_matrix(method):
    """Columns of the answer, put back, are those of the matrix."""
    rng = np.random.default_rng(0)
    w, mu = np.array([0.6, 0.4]), rng.random((2, 15))
    X = rng.random((30_000, 15)) < mu[rng.choice(2, size=30_000, p=w)]
    split = split_views(15, 3)
    moments = MultiviewMoments.from_data([X[:, part] for part in split], n_components=2)
    found = method(moments, 2)
    back = found.centers[np.argsort(np.concatenate(split))].T
    # Few features, of which a view may distinguish components poorly: a column in the wrong place
    # would be off by a third in the mean.
    assert np.abs(back - mu).mean() < 0.08
    np.testing.assert_allclose(found.weights, w, atol=0.1)


@both
def test_answers_repeat_and_follow_the_order_of_samples(method):
    w, mu = model(9, 3, (5, 6, 7))
    views = sample(0, 4_000, w, mu)
    at = np.random.default_rng(0).permutation(4_000)
    one, two, moved = (
        method(MultiviewMoments.from_data(x, n_components=3), 3)
        for x in (views, views, [x[at] for x in views])
    )
    np.testing.assert_array_equal(one.centers, two.centers)
    if method is three_view_tpm:  # 3V-MoM draws in a basis of free signs
        np.testing.assert_allclose(one.centers, moved.centers, atol=1e-6)


@both
def test_fewer_components_come_back_with_the_reason(method):
    w, mu = model(1, 2, (5, 5, 5))
    doubled = np.concatenate([w / 2, w / 2]), [np.concatenate([part, part]) for part in mu]
    found = method(MultiviewMoments.from_parameters(*doubled), 4)
    assert found.n_components == 2
    assert max(errors(found, w, mu)) < 1e-6
    assert found.diagnostics["reason"]


@both
def test_views_that_have_nothing_in_common(method):
    views = [np.eye(3), np.zeros((3, 2)), np.eye(3)]
    found = method(MultiviewMoments.from_data(views, n_components=2), 2)
    assert found.centers.shape == (8, 0)
    assert found.diagnostics["reason"]


@both
def test_fewer_components_than_the_moments_were_made_for(method):
    w, mu = model(9, 3, (5, 6, 7))
    moments = MultiviewMoments.from_data(sample(0, 4_000, w, mu), n_components=3)
    found = method(moments, 2)
    assert found.centers.shape == (18, 2)
    assert np.isfinite(found.centers).all()


def noise(seed=0):
    """Views without components: contractions have complex eigenvalues for many draws."""
    rng = np.random.default_rng(seed)
    return MultiviewMoments.from_data(rng.normal(size=(3, 40, 8)), n_components=8)


def test_complex_eigenvalues_are_drawn_again_or_give_a_warning():
    found = three_view_mom(noise(), 8)
    assert found.diagnostics["complex_eigenvalues"] == 0
    assert found.diagnostics["draws"] > 1
    assert "complex_eigenvalues" not in [w.code for w in found.diagnostics["warnings"]]
    found = three_view_mom(noise(3), 8)
    assert found.diagnostics["draws"] == 20
    assert found.diagnostics["complex_eigenvalues"] in (2, 4, 6)
    assert "complex_eigenvalues" in [w.code for w in found.diagnostics["warnings"]]
    assert np.isfinite(found.centers).all()
    assert np.isrealobj(found.centers)


def test_a_component_without_weight_has_the_mean_of_the_other_views():
    found = three_view_mom(noise(), 8)
    empty = found.weights == 0
    assert empty.any()
    assert found.diagnostics["clipped_weights"] == np.count_nonzero(empty)
    for column in found.centers[:16, empty].T:
        np.testing.assert_array_equal(column, noise().means[:16])


@both
def test_diagnostics_are_those_of_all_views(method):
    found = method(noise(), 8)
    below = np.maximum(-found.centers, 0).sum(axis=0) / np.abs(found.centers).sum(axis=0)
    np.testing.assert_allclose(found.diagnostics["negative_mass"], below)
    warnings = [w for w in found.diagnostics["warnings"] if w.code == "negative_components"]
    assert [w.values["found"] for w in warnings] == [np.count_nonzero(below > 0.1)]
    assert found.diagnostics["singular_values"].shape == (8,)


@both
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"moments": BernoulliMoments.from_data(np.eye(3))}, "not_multiview_moments"),
        ({"n_components": 4}, "multiview_moments_too_small"),
        ({"n_components": np.int64(4)}, "multiview_moments_too_small"),
        ({"n_components": 0}, "not_a_number"),
        ({"random_state": "a"}, "not_a_random_state"),
    ],
)
def test_bad_input_is_refused(method, change, code):
    w, mu = model(0, 3, (5, 5, 5))
    arguments = {"moments": MultiviewMoments.from_parameters(w, mu), "n_components": 3, **change}
    white = whiten(MultiviewMoments.from_parameters(w, mu), 3)
    with raises(InvalidParameterError, code):
        method(**arguments, whitening=white)
