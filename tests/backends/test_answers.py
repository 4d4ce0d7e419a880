"""Sums over rows in files are kept, and read again only if they answer the same question."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree import SingleTopicModel
from momentree.backends import FileRows, RowBlocks, answers_kept, products
from momentree.datasets import make_single_topic, store_counts
from momentree.exceptions import MomentreeError
from tests.raising import raises

ROWS = FileRows(sp.csr_array(np.arange(12.0).reshape(4, 3)))


@pytest.fixture
def asked(monkeypatch):
    """The questions that rows are asked."""
    found = []
    ask = ROWS.blocks.sum
    monkeypatch.setattr(
        ROWS.blocks, "sum", lambda kernel, *arrays: found.append(kernel) or ask(kernel, *arrays)
    )
    return found


def answers(folder, *kernels):
    with answers_kept(str(folder)):
        return [
            ROWS.sum(kernel, *(() if kernel == products.stored_values else (ROWS.ones(),)))
            for kernel in kernels
        ]


def test_a_repeated_computation_continues_after_its_last_sum(tmp_path, asked):
    first = answers(tmp_path, products.stored_values, products.transposed_product)
    again = answers(tmp_path, products.stored_values, products.transposed_product, products.total)
    assert asked == [products.stored_values, products.transposed_product, products.total]
    for one, other in zip(first, again, strict=False):
        np.testing.assert_array_equal(one, other)


def test_after_another_question_all_are_asked(tmp_path, asked):
    answers(tmp_path, products.stored_values, products.transposed_product)
    answers(tmp_path, products.total, products.transposed_product)
    assert asked == [
        products.stored_values,
        products.transposed_product,
        products.total,
        products.transposed_product,
    ]


def test_other_rows_are_asked(tmp_path):
    X = sp.csr_array(np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 0.0]]))
    other_value, other_column, wider = X.copy(), X.copy(), sp.csr_array(X, shape=(2, 4))
    other_value.data[1] = 2.0
    other_column.indices[2] = 1
    every = [
        *map(RowBlocks, (X, other_value, other_column, wider)),
        RowBlocks(X, values=[0.0, 2.0, 3.0, 5.0]),
        RowBlocks(X, row_factor=[1.0, 0.5]),
    ]
    expected = [rows.sum(products.transposed_product, np.ones(2)) for rows in every]
    for _ in range(2):
        for rows, total in zip(every, expected, strict=True):
            with answers_kept(tmp_path):
                found = FileRows(rows).sum(products.transposed_product, np.ones(2))
            np.testing.assert_array_equal(found, total)
    assert len(list(tmp_path.iterdir())) == len(every)


def test_other_row_arrays_are_asked(tmp_path, asked):
    weights = (ROWS.ones(), np.arange(4.0), np.arange(4), np.arange(8.0).reshape(4, 2))
    expected = [ROWS.blocks.sum(products.total, one) for one in weights]
    asked.clear()
    for _ in range(2):
        for one, total in zip(weights, expected, strict=True):
            with answers_kept(tmp_path):
                np.testing.assert_array_equal(ROWS.sum(products.total, one), total)
    assert len(asked) == len(weights)


def test_a_folder_from_other_data_or_weights_does_not_change_a_model(tmp_path, monkeypatch):
    monkeypatch.setattr("momentree.backends.sources.SORTED_NNZ", 0)
    one, other = (
        store_counts(make_single_topic(500, 12, 2, length=20, random_state=i).X, tmp_path / str(i))
        for i in range(2)
    )
    weight = np.linspace(0.1, 2, 500)
    for X, given in ((one.X, None), (other.X, None), (other.X, weight), (other.X, weight[::-1])):
        model = SingleTopicModel(2, refine=None)
        expected = model.fit(X, sample_weight=given).components_
        with answers_kept(tmp_path / "passes"):
            found = model.fit(X, sample_weight=given).components_
        np.testing.assert_array_equal(found, expected)
    assert list((tmp_path / "passes").iterdir())


def test_a_damaged_file_is_written_again(tmp_path, asked):
    (expected,) = answers(tmp_path, products.transposed_product)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    damaged = [whole[:size] for size in (0, 20, len(whole) - 1)]
    for at in range(0, len(whole), 7):  # also the header
        changed = bytearray(whole)
        changed[at] ^= 1
        damaged.append(bytes(changed))
    for content in damaged:
        file.write_bytes(content)
        np.testing.assert_array_equal(answers(tmp_path, products.transposed_product), [expected])
    assert len(asked) > 0.9 * len(damaged)  # "=f8" has the meaning of "<f8"


def test_a_question_without_a_name_is_always_asked(tmp_path, asked):
    for _ in range(2):
        answers(tmp_path, lambda B, v: B.tdot(v))
    assert len(asked) == 2
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_one_error(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("momentree.backends.answers.np.save", full)
    with raises(MomentreeError, "cannot_store"):
        answers(tmp_path, products.stored_values)
    assert not list(tmp_path.iterdir())
