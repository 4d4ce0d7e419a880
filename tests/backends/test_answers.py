"""Sums over rows in files are kept, and read again only if they answer the same question."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.backends import FileRows, answers_kept
from momentree.backends.products import Stored, Total, TransposedProduct
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
            ROWS.sum(kernel, *(() if kernel == Stored() else (ROWS.ones(),))) for kernel in kernels
        ]


def test_a_repeated_computation_continues_after_its_last_sum(tmp_path, asked):
    first = answers(tmp_path, Stored(), TransposedProduct())
    again = answers(tmp_path, Stored(), TransposedProduct(), Total())
    assert asked == [Stored(), TransposedProduct(), Total()]
    for one, other in zip(first, again, strict=False):
        np.testing.assert_array_equal(one, other)


def test_after_another_question_all_are_asked(tmp_path, asked):
    answers(tmp_path, Stored(), TransposedProduct())
    answers(tmp_path, Total(), TransposedProduct())
    assert asked == [Stored(), TransposedProduct(), Total(), TransposedProduct()]


def test_a_file_that_is_not_complete_is_written_again(tmp_path, asked):
    answers(tmp_path, Stored())
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for size in (0, 20, len(whole) - 1):
        file.write_bytes(whole[:size])
        answers(tmp_path, Stored())
        assert file.read_bytes() == whole
    assert len(asked) == 4


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
        answers(tmp_path, Stored())
    assert not list(tmp_path.iterdir())
