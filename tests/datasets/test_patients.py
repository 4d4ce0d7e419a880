"""The sampler of patient records draws from the model that it returns."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from momentree.datasets import make_hospital_visits, make_patient_records
from momentree.exceptions import InvalidParameterError
from tests.raising import raises


def test_records_are_a_mixture_in_families():
    sample = make_patient_records(40_000, 300, 9, 8.0, random_state=3)
    assert sample.families.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert sample.weights @ sample.means.sum(axis=1) == pytest.approx(8)
    assert 0 < sample.means.min() <= sample.means.max() <= 0.9
    for i, mu in enumerate(sample.means):
        X = sample.X[np.flatnonzero(sample.labels == i)].toarray()
        z = (X.mean(axis=0) - mu) / np.sqrt(mu * (1 - mu) / len(X))
        # The normal approximation is poor for counts below ten.
        assert np.abs(z[mu * len(X) >= 10]).max() < 5
    # Groups of a family are nearer to each other than to groups of other families.
    near = np.corrcoef(np.log(sample.means / sample.means.mean(axis=0)))
    same = sample.families[:, None] == sample.families
    assert near[same & ~np.eye(9, dtype=bool)].min() > near[~same].max()


def test_frequencies_of_codes_have_a_long_tail():
    frequencies = np.sort(make_patient_records(20_000, random_state=0).X.mean(axis=0))[::-1]
    assert frequencies[0] > 0.1
    assert np.median(frequencies) < 0.01
    assert frequencies[:250].sum() > 0.8 * frequencies.sum()


def test_small_samples_and_many_codes():
    assert make_patient_records(1, 4, 1, 1.0).X.shape == (1, 4)
    assert make_patient_records(2, 12_000, 2).codes[[0, -1]].tolist() == ["C00001", "C12000"]
    full = make_patient_records(5, 40, 3, 10.0)
    assert full.weights @ full.means.sum(axis=1) == pytest.approx(10)


def test_samples_are_clean_frozen_and_repeat_with_the_seed():
    a, b, c, d = (
        make_patient_records(200, 40, 4, random_state=seed)
        for seed in (5, 5, np.random.default_rng(5), 6)
    )
    assert a.X.format == "csr"
    assert a.X.dtype == np.int64
    assert a.X.indices.dtype == a.X.indptr.dtype == np.int32
    assert a.X.has_canonical_format
    assert (a.X.data > 0).all()
    for field in dataclasses.fields(a):
        first, *same, other = (
            getattr(s, field.name).toarray() if field.name == "X" else getattr(s, field.name)
            for s in (a, b, c, d)
        )
        for again in same:
            np.testing.assert_array_equal(first, again)
        if field.name not in {"families", "codes"}:
            assert (first != other).any()
    with pytest.raises(dataclasses.FrozenInstanceError):
        a.X = None


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"n_codes": 0}, "not_a_number"),
        ({"n_groups": -1}, "not_a_number"),
        ({"codes_per_record": 0}, "not_a_number"),
        ({"codes_per_record": 176}, "too_many_codes_per_record"),
        ({"codes_per_record": np.nan}, "not_a_number"),
    ],
)
def test_bad_parameters_are_refused(change, code):
    with raises(InvalidParameterError, code):
        make_patient_records(**change)


def test_visits_are_as_their_groups_say():
    sample = make_hospital_visits(20_000, random_state=2)
    names = sample.names.tolist()
    table = sample.table
    assert table["visit_id"].is_unique
    births = table[sample.labels == names.index("deliveries")]
    assert set(births["sex"]) == {"female"}
    failing = table[sample.labels == names.index("heart failure")]
    has = (failing.filter(like="DX") == "I50.9").any(axis=1).mean()
    assert abs(has - 0.85) < 5 * np.sqrt(0.85 * 0.15 / len(failing))
    died = (failing["died"] == "yes").mean()
    assert abs(died - 0.07) < 5 * np.sqrt(0.07 * 0.93 / len(failing))
    assert (table["DX1"] != "").all()


def test_visits_are_drawn_again_by_the_same_seed():
    first, again = (make_hospital_visits(50, random_state=7).table for _ in range(2))
    assert first.equals(again)
    with raises(InvalidParameterError, "not_a_number"):
        make_hospital_visits(0)
