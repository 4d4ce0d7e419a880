"""Writing model files: whole or not at all, with the usual permissions, of any size."""

import errno
import os
import re
import zipfile

import numpy as np
import pytest

import momentree as mt
from momentree import TopicTree
from momentree.exceptions import InvalidDataError, InvalidParameterError

from ..raising import raises
from .cases import case
from .cases import saved as content


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "tree.mt"
    path.write_bytes(content("topics"))
    return path


def test_what_is_saved_is_read_however_well_it_compresses(saved):
    tree = TopicTree.load(saved)
    tree.labels_ = np.resize(np.arange(tree.n_leaves_), 5_000_000)
    tree.save(saved)
    np.testing.assert_array_equal(mt.load(saved).labels_, tree.labels_)


def test_folders_that_are_missing_or_taken(tmp_path):
    tree = case("topics")[0]
    with pytest.raises(FileNotFoundError):
        tree.save(tmp_path / "none" / "tree.mt")
    with pytest.raises(OSError):
        tree.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        case("topics")[0].save(tmp_path / "tree.mt")


def test_a_full_disk_leaves_the_old_file_and_names_it(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as write does, without a name

    monkeypatch.setattr(zipfile.ZipFile, "open", full)
    with pytest.raises(OSError, match=re.escape(str(saved))) as caught:
        case("topics by rules")[0].save(saved)
    assert caught.value.errno == errno.ENOSPC
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_leaves_the_old_file(saved, monkeypatch, error):
    before, opened = saved.read_bytes(), zipfile.ZipFile.open

    def fails_in_the_middle(archive, *args, **options):
        if len(archive.namelist()) == 3:
            raise error
        return opened(archive, *args, **options)

    monkeypatch.setattr(zipfile.ZipFile, "open", fails_in_the_middle)
    with pytest.raises(error):
        case("topics by rules")[0].save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.parametrize("value", [object(), np.arange(3)])
def test_settings_that_json_does_not_know_leave_no_file(value, tmp_path):
    with raises(InvalidParameterError, "not_plain_values", parameter="vectorizer_config"):
        case("topics")[0].save(tmp_path / "tree.mt", vectorizer_config={"a": value})
    assert list(tmp_path.iterdir()) == []


def test_attributes_that_a_file_cannot_hold_are_named(tmp_path):
    tree = TopicTree(2).fit(case("topics")[1])
    tree._languages = [object()]
    with raises(InvalidDataError, "not_storable", name="_languages.0", type="object"):
        tree.save(tmp_path / "tree.mt")
    assert list(tmp_path.iterdir()) == []


def test_a_saved_file_has_the_usual_permissions(saved, tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert saved.stat().st_mode == plain.stat().st_mode
