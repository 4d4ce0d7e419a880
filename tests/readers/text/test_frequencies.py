"""Document frequencies add up in any order, and forget words only within their bound."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from momentree.datasets import DocumentFrequencies


@pytest.fixture(scope="module")
def batches():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(12):
        words = sorted({f"w{j}" for j in rng.zipf(1.3, 60) % 500})
        found.append((words, rng.poisson(0.4, (20, len(words)))))
    return found


def truth(batches):
    df, total = Counter(), Counter()
    for words, X in batches:
        for word, column in zip(words, X.T, strict=True):
            df[word] += int((column > 0).sum())
            total[word] += int(column.sum())
    return df, total


def counted(batches, most_words=None):
    found = DocumentFrequencies(most_words)
    for words, X in batches:
        found.update(words, X)
    return found


def test_sums_are_those_of_all_documents_together(batches):
    df, total = truth(batches)
    whole = counted(batches)
    one, other = counted(batches[5:]), counted(batches[:5])
    one.merge(other)
    for found in (whole, one):
        assert found.words == sorted(df)
        assert found.documents.tolist() == [df[word] for word in found.words]
        assert found.occurrences.tolist() == [total[word] for word in found.words]
        assert (found.n_documents, found.error, len(found)) == (240, 0, len(df))


@pytest.mark.parametrize("merged", [False, True])
def test_forgetting_is_within_its_bound(batches, merged):
    df, _ = truth(batches)
    found = counted(batches, 60)
    if merged:
        found = counted(batches[:7], 60)
        found.merge(counted(batches[7:], 60))
    assert 0 < found.error < max(df.values())
    assert len(found) <= 60
    known = dict(zip(found.words, found.documents.tolist(), strict=True))
    for word, n in df.items():
        assert n - found.error <= known.get(word, 0) <= n


def test_numbers_stay_the_same(batches):
    found = DocumentFrequencies()
    numbers = {}
    for words, X in batches:
        for word, number in zip(words, found.update(words, X).tolist(), strict=True):
            assert numbers.setdefault(word, number) == number
    assert sorted(numbers.values()) == list(range(len(numbers)))
    assert [numbers[word] for word in found.words] == found.numbers.tolist()
