"""A corpus on disk equals the one in memory, for each reader and any batches."""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from momentree.datasets import load_docstrings, read_corpus, stream_documents
from momentree.exceptions import (
    EmptyCorpusError,
    InvalidParameterError,
    MomentreeError,
    ReadError,
)
from momentree.readers.stored import corpus as stages
from momentree.readers.tables import grid
from momentree.readers.text import selection
from tests.raising import raises


@pytest.fixture(scope="module")
def texts():
    found = load_docstrings().texts[:150]
    found[5] = found[7] = found[9]  # copies
    found[11], found[12] = "", "<p>Le chat et le chien</p> https://x.org"
    return found


def folder(path, texts):
    for i, text in enumerate(texts):
        place = path / "letters" / f"part{i % 3}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i:03}.txt").write_text(text, encoding="utf-8")
    return path / "letters"


def csv(path, texts):
    frame(texts).to_csv(path / "t.csv", index=False)
    return path / "t.csv"


def json_lines(path, texts):
    with gzip.open(path / "t.jsonl.gz", "wt", encoding="utf-8") as file:
        for row in frame(texts).to_dict("records"):
            file.write(json.dumps(row) + "\n")
    return path / "t.jsonl.gz"


def parquet(path, texts):
    frame(texts).to_parquet(path / "t.parquet", row_group_size=40)
    return path / "t.parquet"


def shards(path, texts):
    (path / "shards").mkdir()
    for i in range(3):
        frame(texts[50 * i : 50 * i + 50]).to_parquet(path / "shards" / f"{i}.parquet")
    return path / "shards"


def frame(texts):
    return pd.DataFrame({"id": [f"d{i}" for i in range(len(texts))], "text": texts})


def assert_equal(stored, whole):
    assert stored.vocabulary.tolist() == whole.vocabulary.tolist()
    np.testing.assert_array_equal(stored.X.toarray(), whole.X.toarray())
    for name in ("ids", "texts", "labels"):
        one, other = getattr(stored, name), getattr(whole, name)
        assert (one if one is None else list(one)) == other
    assert stored.vectorizer.to_dict() == whole.vectorizer.to_dict()
    assert notes_of(stored) == notes_of(whole)
    if whole.weights is None:
        assert stored.weights is None
    else:
        np.testing.assert_array_equal(stored.weights, whole.weights)
    if whole.passages is None:
        assert stored.passages is None
    else:
        np.testing.assert_array_equal(stored.passages.document_of, whole.passages.document_of)
        assert list(stored.passages.ids) == whole.passages.ids


def notes_of(corpus):
    """The notes but for that on copies: near copies are found only in memory."""
    return [str(note) for note in corpus.notes if not note.code.startswith("copies")]


@pytest.mark.parametrize(
    "form",
    [
        folder,
        *(
            pytest.param(form, marks=pytest.mark.long)
            for form in (csv, json_lines, parquet, shards)
        ),
    ],
)
def test_a_stored_corpus_equals_one_in_memory(tmp_path, texts, form, monkeypatch):
    source = form(tmp_path, texts)
    monkeypatch.setattr(grid, "PART_BYTES", 10_000)
    monkeypatch.setattr(stages, "BATCH_BYTES", 7_000)
    assert_equal(read_corpus(source, folder=tmp_path / "work"), read_corpus(source))


@pytest.mark.parametrize(
    "options",
    [
        {"unique": False, "passages": 50, "label_column": "id"},
        pytest.param({"max_features": 30, "lowercase": False}, marks=pytest.mark.long),
        {"language": None, "raw": True, "min_df": 1, "max_df": 1.0, "ngram_range": (1, 2)},
    ],
)
def test_options_have_the_same_effect(tmp_path, texts, options, monkeypatch):
    monkeypatch.setattr(stages, "BATCH_BYTES", 7_000)
    source = csv(tmp_path, texts)
    assert_equal(
        read_corpus(source, folder=tmp_path / "work", **options), read_corpus(source, **options)
    )


@pytest.mark.parametrize("unique", [True, "auto"])
def test_copies_have_the_same_weights(tmp_path, unique, monkeypatch):
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefgh", k=4)) for _ in range(90)]
    texts = [" ".join(draw.sample(words, 15)) for _ in range(100)]
    texts[1:80:8] = [texts[0].upper()] * 10
    texts[3::30] = [texts[2]] * 4
    source = csv(tmp_path, [*texts, ""])
    monkeypatch.setattr(stages, "BATCH_BYTES", 500)
    stored = read_corpus(source, folder=tmp_path / "work", unique=unique)
    whole = read_corpus(source, unique=unique)
    assert_equal(stored, whole)
    assert list(map(str, stored.notes)) == list(map(str, whole.notes))
    assert stored.weights.sum() == pytest.approx(88)


def test_a_folder_bounds_the_memory_of_read_corpus(tmp_path, texts):
    source = csv(tmp_path, texts)
    assert_equal(read_corpus(source, folder=tmp_path / "work", memory="1GB"), read_corpus(source))
    with raises(InvalidParameterError, "not_in_parts", parameter="phrases"):
        read_corpus(source, folder=tmp_path / "other", phrases=True)


def test_documents_come_in_batches(tmp_path, texts, monkeypatch):
    monkeypatch.setattr(grid, "PART_BYTES", 10_000)
    for form in (csv, json_lines, parquet, shards):
        stream = stream_documents(form(tmp_path, texts))
        sizes = [len(batch) for batch in stream]
        assert len(sizes) > 2
        assert sum(sizes) == 150


def test_rare_words_are_forgotten_with_a_note_when_memory_is_short(tmp_path, monkeypatch):
    draw = random.Random(0)
    common = [f"common{i}".translate(str.maketrans("0123456789", "abcdefghij")) for i in range(9)]
    texts = [
        " ".join([*draw.sample(common, 5), "".join(draw.choices("abcdefgh", k=9))])
        for _ in range(400)
    ]
    source = csv(tmp_path, texts)
    monkeypatch.setattr(stages, "BATCH_BYTES", 1_000)
    monkeypatch.setattr(selection, "BYTES_PER_WORD", 1_000_000)  # room for 150 words
    stored = read_corpus(source, folder=tmp_path / "work", max_df=1.0, language=None, unique=False)
    whole = read_corpus(source, max_df=1.0, language=None, unique=False)
    assert stored.vocabulary.tolist() == whole.vocabulary.tolist() == common
    np.testing.assert_array_equal(stored.X.toarray(), whole.X.toarray())
    assert [note.code for note in stored.notes] == ["rare_words_forgotten"]


def test_work_is_continued_after_each_stage(tmp_path, texts, monkeypatch):
    source = csv(tmp_path, texts)
    whole = read_corpus(source)
    for stage in ("count", "choose", "corpus"):
        with monkeypatch.context() as patch:
            patch.setattr(stages.Stages, stage, interrupted)
            with pytest.raises(KeyboardInterrupt):
                read_corpus(source, folder=tmp_path / "work", resume=True)
        with raises(InvalidParameterError, "unfinished_work"):
            read_corpus(source, folder=tmp_path / "work")
    # The finished stages are not repeated.
    monkeypatch.setattr(stages.Stages, "count", interrupted)
    assert_equal(read_corpus(source, folder=tmp_path / "work", resume=True), whole)


def interrupted(*_):
    raise KeyboardInterrupt


def test_changed_input_or_options_are_refused(tmp_path, texts):
    source = csv(tmp_path, texts)
    read_corpus(source, folder=tmp_path / "work")
    with raises(InvalidParameterError, "resume_changed") as info:
        read_corpus(source, folder=tmp_path / "work", resume=True, min_df=3)
    (change,) = info.value.message.values["changes"]
    assert (change.code, change.values["parameter"]) == ("option_changed", "min_df")
    csv(tmp_path, texts[1:])
    with raises(InvalidParameterError, "resume_changed") as info:
        read_corpus(source, folder=tmp_path / "work", resume=True)
    assert [change.code for change in info.value.message.values["changes"]] == ["input_changed"]


def test_a_truncated_file_leaves_no_stage(tmp_path, texts):
    source = parquet(tmp_path, texts)
    content = bytearray(source.read_bytes())
    content[len(content) // 3 : len(content) // 3 + 400] = bytes(400)  # the footer is sound
    source.write_bytes(content)
    with raises(ReadError, "unreadable_parquet"):
        read_corpus(source, folder=tmp_path / "work")
    source.write_bytes(content[: len(content) // 2])
    with raises(ReadError, "unreadable_parquet"):
        read_corpus(source, folder=tmp_path / "other")
    assert list(tmp_path.iterdir()) == [source]


def test_a_full_disk_leaves_finished_stages_or_nothing(tmp_path, texts, monkeypatch):
    source, work = csv(tmp_path, texts), tmp_path / "t.work"
    write = os.fsync

    def full(descriptor):
        manifest = work / "run.json"
        if manifest.is_file() and ("1-texts" in manifest.read_text()) is finished:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        finished = False
        with raises(MomentreeError, "cannot_store", path=str(work / "1-texts")):
            read_corpus(source, folder=work)
        assert list(tmp_path.iterdir()) == [source]
        finished = True
        with raises(MomentreeError, "cannot_store", path=str(work / "2-words")):
            read_corpus(source, folder=work)
    assert len(read_corpus(source, folder=work, resume=True)) == len(texts)


def test_full_temporary_files_are_not_those_of_the_folder(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("py3langid.rank", full)
    texts = [f"of a boat at sea number {i}" for i in range(9)]  # whose language was not asked for
    with raises(MomentreeError, "no_scratch", path=tempfile.gettempdir()):
        read_corpus(csv(tmp_path, texts), folder=tmp_path / "work")


@pytest.mark.parametrize("stage", ["corpus", pytest.param("choose", marks=pytest.mark.long)])
def test_a_damaged_file_is_named_with_the_folder(tmp_path, texts, monkeypatch, stage):
    source, work = csv(tmp_path, texts), tmp_path / "work"
    with monkeypatch.context() as patch:
        patch.setattr(stages.Stages, stage, interrupted)
        with pytest.raises(KeyboardInterrupt):
            read_corpus(source, folder=work)
    files = {path.relative_to(work) for path in work.rglob("*") if path.is_file()}
    unused = ("labels", "documents", "document_labels", "document_of")  # no text was cut
    for name in {name for name in files - {Path("lock")} if name.stem not in unused}:
        for missing in (False, True)[: len(name.parts)]:
            damaged = shutil.copytree(work, tmp_path / "damaged")
            content = (damaged / name).read_bytes()
            (damaged / name).unlink()
            if not missing and content:
                (damaged / name).write_bytes(content[:-1])
            with raises(ReadError, "work_damaged", path=str(damaged)) as info:
                read_corpus(source, folder=damaged, resume=True)
            assert str(info.value.message.values["name"]).startswith(name.parts[0])
            shutil.rmtree(damaged)


def test_notes_that_are_nested_too_deeply_are_damaged(tmp_path, texts):
    source, work = csv(tmp_path, texts), tmp_path / "work"
    read_corpus(source, folder=work)
    (work / "run.json").write_text("[" * 100_000)
    with raises(ReadError, "work_damaged", path=str(work)):
        read_corpus(source, folder=work, resume=True)


def test_changed_texts_are_found(tmp_path, texts):
    corpus = read_corpus(csv(tmp_path, texts), folder=tmp_path / "work")
    for name in ("ids.npy", "ids.bin"):
        path = tmp_path / "work" / "1-texts" / name
        content = path.read_bytes()
        path.write_bytes(content[:128] + b"\xff" * (len(content) - 128))
        with raises(ReadError, "stored_file_damaged"):
            list(corpus.ids)
        path.write_bytes(content)


@pytest.mark.parametrize(
    ("memory", "code"),
    [("100MB", "too_little_memory"), ("lots", "not_a_size"), (-1, "not_a_size")],
)
def test_an_amount_of_memory_is_checked(tmp_path, texts, memory, code):
    with raises(InvalidParameterError, code):
        read_corpus(csv(tmp_path, texts), folder=tmp_path / "work", memory=memory)


def test_texts_without_words_are_refused(tmp_path):
    with raises(EmptyCorpusError, "no_word_in_texts"):
        read_corpus(csv(tmp_path, ["1 2 3", "4 5"]), folder=tmp_path / "work", text_column="text")
    with raises(EmptyCorpusError, "no_word_in_texts"):
        read_corpus(csv(tmp_path, ["the of", "and"]), folder=tmp_path / "other", text_column="text")


def test_names_of_files_that_are_not_unicode_are_noted(tmp_path, texts):
    folder = tmp_path / "texts"
    folder.mkdir()
    for i, text in enumerate(texts[:9]):
        (folder / f"{i}.txt").write_text(text)
    (folder / os.fsdecode(b"\xff.txt")).write_bytes(b"\x00\x01")
    assert len(read_corpus(folder, folder=tmp_path / "work")) == len(texts[:9])
