"""Saved trees: the same after a round trip, and damage is told, never guessed at."""

import io
import json
import math
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from momentree import ClusterTree, TopicTree, _container, _limits
from momentree.datasets import make_single_topic
from momentree.exceptions import ReadError

CONFIGURATIONS = [
    {},
    {"log_scaling": None},
    {"refine": None},
    {"refine": None, "log_scaling": None, "growth": "depth", "max_depth": 2},
    {"max_leaf_nodes": None, "min_samples_leaf": 7.5},
    {"max_leaf_nodes": 1},
    {"max_leaf_nodes": 1, "refine": None},
    {"weighting": "uniform", "random_state": 3, "verbose": False},
    {"weighting": "three_words", "log_scaling": None, "random_state": np.random.RandomState(0)},
]


@pytest.fixture(scope="module")
def X():
    return make_single_topic(150, 30, 4, length=40, exponent=0.5, random_state=0).X


@pytest.fixture
def saved(X, tmp_path):
    path = tmp_path / "tree.mt"
    TopicTree(4).fit(X).save(path)
    return path


@pytest.mark.parametrize("options", CONFIGURATIONS, ids=" ".join)
def test_a_round_trip_changes_nothing(X, tmp_path, options):
    names = ["città", *(f"word {j}" for j in range(1, 30))]
    tree = TopicTree(**options).fit(X[:100], feature_names=names)
    tree.save(tmp_path / "tree.mt")
    again = TopicTree.load(tmp_path / "tree.mt")
    for method in ("predict", "predict_proba", "apply"):
        np.testing.assert_array_equal(getattr(tree, method)(X), getattr(again, method)(X))
    assert again.to_dict() == tree.to_dict()
    assert again.to_newick() == tree.to_newick()
    pd.testing.assert_frame_equal(again.to_frame(), tree.to_frame())
    for node, other in zip(tree.tree_.nodes(), again.tree_.nodes(), strict=True):
        np.testing.assert_array_equal(node.center, other.center)
        np.testing.assert_array_equal(node.samples, other.samples)
    np.testing.assert_array_equal(tree.labels_, again.labels_)
    np.testing.assert_array_equal(tree.vocabulary_, again.vocabulary_)
    expected = tree.get_params()
    if not isinstance(expected["random_state"], int):
        expected["random_state"] = None
    assert again.get_params() == expected
    fitted = {name for name in vars(tree) if name.endswith("_")}
    assert fitted <= {name for name in vars(again) if name.endswith("_")}
    for name in ("n_leaves_", "n_features_in_", "n_iter_", "converged_"):
        assert getattr(tree, name) == getattr(again, name)
    again.save(tmp_path / "again.mt")
    assert (tmp_path / "again.mt").read_bytes() == (tmp_path / "tree.mt").read_bytes()


def test_names_of_a_data_frame_are_kept(X, tmp_path):
    frame = pd.DataFrame(X.toarray(), columns=[f"w{j}" for j in range(30)])
    TopicTree(3).fit(frame).save(tmp_path / "tree.mt")
    again = TopicTree.load(tmp_path / "tree.mt")
    assert again.feature_names_in_.tolist() == frame.columns.tolist()
    again.predict(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(frame.rename(columns={"w0": "other"}))


def test_what_makes_counts_is_kept_beside_the_tree(X, tmp_path):
    config = {"vocabulary": ["a", "è"], "lowercase": True, "n": None}
    TopicTree(2).fit(X).save(tmp_path / "tree.mt", vectorizer_config=config)
    assert TopicTree.load(tmp_path / "tree.mt").vectorizer_config_ == config


def test_the_same_tree_gives_the_same_bytes(X, tmp_path):
    paths = [tmp_path / name for name in ("a.mt", "b.mt")]
    for path in paths:
        TopicTree(4).fit(X).save(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_there_is_no_pickle_inside(saved):
    with zipfile.ZipFile(saved) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".npy"):
                np.load(io.BytesIO(content), allow_pickle=False)
            else:
                assert name == "manifest.json"
                json.loads(content)


def rewritten(path, change):
    """Write a saved tree anew, with its manifest and arrays changed."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(content.pop("manifest.json"))
    arrays = {name[:-4]: np.load(io.BytesIO(data)) for name, data in content.items()}
    change(manifest, arrays)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array)
            archive.writestr(f"{name}.npy", buffer.getvalue())


def test_an_honest_rewriting_is_read(saved):
    rewritten(saved, lambda manifest, arrays: None)
    assert TopicTree.load(saved).n_leaves_ == 4


def test_a_newer_format_says_so(saved):
    rewritten(saved, lambda manifest, arrays: manifest.update(format_version=2, momentree="9.1"))
    with pytest.raises(ReadError, match=r"format version 2.*written by momentree 9\.1: upgrade"):
        TopicTree.load(saved)


DAMAGE = {
    "no vocabulary": lambda m, a: m.pop("vocabulary"),
    "a word too few": lambda m, a: m["vocabulary"].pop(),
    "unknown parameter": lambda m, a: m["params"].update(colour="red"),
    "parameter out of range": lambda m, a: m["params"].update(log_scaling="sqrt"),
    "no nodes": lambda m, a: m.update(nodes=[]),
    "a node too few": lambda m, a: m["nodes"].pop(),
    "a parent below its child": lambda m, a: m["nodes"][1].update(parent=2),
    "a leaf number twice": lambda m, a: m["nodes"][-1].update(leaf_id=0),
    "version in words": lambda m, a: m.update(format_version="one"),
    "no arrays": lambda m, a: a.clear(),
    "centers too narrow": lambda m, a: a.update(leaf_centers=a["leaf_centers"][:-1]),
    "centers of other width": lambda m, a: a.update(centers=a["centers"][:, 1:]),
    "centers as text": lambda m, a: a.update(leaf_centers=a["leaf_centers"].astype(str)),
    "centers not finite": lambda m, a: a["leaf_centers"].fill(np.nan),
    "a weight too many": lambda m, a: a.update(leaf_weights=np.full(5, 0.2)),
    "labels beyond the leaves": lambda m, a: a["labels"].fill(9),
    "labels below zero": lambda m, a: a["labels"].fill(-1),
    "a version below one": lambda m, a: m.update(format_version=-5),
    "a version that is no number": lambda m, a: m.update(format_version=math.nan),
    "a version that is true": lambda m, a: m.update(format_version=True),
    "a version as text": lambda m, a: m.update(format_version="1"),
    "a word that is a number": lambda m, a: m["vocabulary"].__setitem__(0, 3),
    "vocabulary as text": lambda m, a: m.update(vocabulary="x" * len(m["vocabulary"])),
    "settings as a list": lambda m, a: m.update(vectorizer=["records"]),
    "a count in words": lambda m, a: m.update(n_iter="3"),
    "a weight that is no number": lambda m, a: m["nodes"][1].update(weight=math.nan),
    "a gain without end": lambda m, a: m["nodes"][0].update(gain=math.inf),
    "a depth that is not": lambda m, a: m["nodes"][1].update(depth=7),
    "a depth that is true": lambda m, a: m["nodes"][1].update(depth=True),
    "a name that is a number": lambda m, a: m["nodes"][1].update(name=3),
    "a reason that is a list": lambda m, a: m["nodes"][1].update(reason=[]),
    "node centers not finite": lambda m, a: a["centers"].fill(np.nan),
    "a word that the root lacks": lambda m, a: a["centers"][0].fill(0.0),
    "node centers below zero": lambda m, a: a.update(centers=-a["centers"]),
    "node centers complex": lambda m, a: a.update(centers=a["centers"] + 1j),
    "labels as fractions": lambda m, a: a.update(labels=a["labels"] + 0.5),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_contents_that_do_not_fit_are_told(saved, name):
    rewritten(saved, lambda manifest, arrays: DAMAGE[name](manifest, arrays) and None)
    with pytest.raises(ReadError, match=r"tree\.mt is not a momentree model, or it is damaged"):
        TopicTree.load(saved)


RULE_DAMAGE = {
    "coefs too narrow": lambda a: a.update(rule_coefs=a["rule_coefs"][:, 1:]),
    "a rule too few": lambda a: a.update(rule_coefs=a["rule_coefs"][1:]),
    "an intercept too few": lambda a: a.update(rule_intercepts=a["rule_intercepts"][1:]),
    "a child that is not": lambda a: a["rule_children"].fill(7),
    "a leaf that is not": lambda a: a["rule_children"].fill(-9),
    "a circle": lambda a: a["rule_children"].fill(0),
}


@pytest.mark.parametrize("name", RULE_DAMAGE)
def test_rules_that_do_not_fit_are_told(X, tmp_path, name):
    path = tmp_path / "tree.mt"
    TopicTree(4, refine=None).fit(X).save(path)
    rewritten(path, lambda manifest, arrays: RULE_DAMAGE[name](arrays))
    with pytest.raises(ReadError, match="damaged"):
        TopicTree.load(path)


def test_every_cut_and_any_flipped_byte_is_told_or_harmless(saved):
    content, harmless = saved.read_bytes(), 0
    before = TopicTree.load(saved).to_dict()
    rng = np.random.default_rng(0)
    for cut in rng.integers(0, len(content), size=60):
        saved.write_bytes(content[:cut])
        with pytest.raises(ReadError):
            TopicTree.load(saved)
    for at in rng.integers(0, len(content), size=300):
        flipped = bytearray(content)
        flipped[at] ^= int(rng.integers(1, 256))
        saved.write_bytes(flipped)
        try:
            found = TopicTree.load(saved)
        except ReadError:
            continue
        assert found.to_dict() == before  # a date, say; what is checked by CRC is intact
        harmless += 1
    assert harmless < 100


def foreign(path: Path, kind: str) -> None:
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "text":
        path.write_text("not a model", encoding="utf-8")
    elif kind == "pickle":
        path.write_bytes(pickle.dumps({"a": 1}))
    elif kind == "npz":
        with path.open("wb") as file:
            np.savez(file, data=np.eye(3))
    elif kind == "another program's zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("manifest.json", json.dumps({"format": "other"}))
    elif kind == "list for a manifest":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("manifest.json", "[1, 2]")
    elif kind == "deep manifest":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("manifest.json", "[" * 100_000)


@pytest.mark.parametrize(
    "kind",
    [
        "empty",
        "text",
        "pickle",
        "npz",
        "another program's zip",
        "list for a manifest",
        "deep manifest",
    ],
)
def test_files_of_another_kind_are_told(tmp_path, kind):
    foreign(tmp_path / "x.mt", kind)
    with pytest.raises(ReadError, match=r"x\.mt"):
        TopicTree.load(tmp_path / "x.mt")


def test_arrays_that_are_not_used_cost_nothing(saved):
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.npy", bytes(1 << 28))
    assert TopicTree.load(saved).n_leaves_ == 4


def test_arrays_that_unfold_without_end_are_refused(saved, monkeypatch):
    monkeypatch.setattr(_limits, "FLOOR", 1 << 16)
    monkeypatch.setattr(_container, "FLOOR", 1 << 16)
    tree = TopicTree.load(saved)
    tree.labels_ = np.zeros(1 << 18, dtype=np.int64)
    tree.save(saved)
    assert len(TopicTree.load(saved).labels_) == 1 << 18  # what is saved is read
    with zipfile.ZipFile(saved) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    with pytest.raises(ReadError, match=r"labels\.npy would take .* of memory"):
        TopicTree.load(saved)


def test_missing_files_and_folders_are_told(X, tmp_path):
    with pytest.raises(ReadError, match=r"cannot read .*none\.mt: there is no such file"):
        TopicTree.load(tmp_path / "none.mt")
    with pytest.raises(ReadError, match="cannot read the model"):
        TopicTree.load(tmp_path)
    with pytest.raises(OSError, match="none"):
        TopicTree(2).fit(X).save(tmp_path / "none" / "tree.mt")
    with pytest.raises(OSError):
        TopicTree(2).fit(X).save(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_an_unwritable_folder_is_told(X, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        TopicTree(2).fit(X).save(tmp_path / "tree.mt")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_leaves_the_old_file(saved, X, monkeypatch, error):
    before = saved.read_bytes()
    add = _container._add

    def fails_at_arrays(archive, name, content):
        if name.endswith(".npy"):
            raise error
        add(archive, name, content)

    monkeypatch.setattr(_container, "_add", fails_at_arrays)
    with pytest.raises(error):
        TopicTree(2).fit(X).save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_values_that_json_does_not_know_leave_no_file(X, tmp_path):
    with pytest.raises(TypeError):
        TopicTree(2).fit(X).save(tmp_path / "tree.mt", vectorizer_config={"a": object()})
    assert list(tmp_path.iterdir()) == []


def test_a_saved_file_has_the_usual_permissions(saved, tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert saved.stat().st_mode == plain.stat().st_mode


def test_a_constant_column_of_real_data_comes_back(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 4))
    X[:20] += 5
    X[:, 2] = 3
    tree = ClusterTree(max_leaf_nodes=2).fit(X)
    tree.save(tmp_path / "t.mt")
    again = ClusterTree.load(tmp_path / "t.mt")
    np.testing.assert_array_equal(again.predict_proba(X), tree.predict_proba(X))
