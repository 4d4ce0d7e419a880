"""Saved cluster trees, of every kind of data and of assigner: the same again, or told."""

import numpy as np
import pandas as pd
import pytest

from momentree import ClusterTree, TopicTree
from momentree.assignment.assigners import Division, NestedAssigner
from momentree.exceptions import ReadError
from momentree.tree.assigner_files import assigner_of, assigner_state, check_assigner

from .cluster_data import PAIRS, REFINE, of_kind
from .test_persistence import rewritten


def nested(tree, X):
    """Divided twice, merged from afar, and divided again: assigners three deep."""
    tree = tree.split_group(X, 0, 2).split_group(X, 0, 2)
    return tree.merge_groups(X, [0, tree.n_leaves_ - 1]).split_group(X, 0, 3)


def assert_same(again, tree, X, tmp_path):
    for method in ("predict", "predict_proba", "apply"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(tree, method)(X))
    assert again.to_dict() == tree.to_dict()
    pd.testing.assert_frame_equal(again.to_frame(), tree.to_frame())
    for node, other in zip(again.tree_.nodes(), tree.tree_.nodes(), strict=True):
        np.testing.assert_array_equal(node.center, other.center)
        np.testing.assert_array_equal(node.samples, other.samples)
    np.testing.assert_array_equal(again.labels_, tree.labels_)
    assert again.get_params() == tree.get_params()
    for name in ("data_", "n_leaves_", "n_features_in_", "n_iter_", "converged_"):
        assert getattr(again, name) == getattr(tree, name)
    again.save(tmp_path / "again.mt")
    assert (tmp_path / "again.mt").read_bytes() == (tmp_path / "tree.mt").read_bytes()


@pytest.mark.parametrize(("kind", "refine"), PAIRS)
def test_a_round_trip_changes_nothing(kind, refine, tmp_path):
    X, _ = of_kind(kind)
    tree = ClusterTree(3, refine=refine).fit(X)
    for found in (tree, nested(tree, X)):
        found.save(tmp_path / "tree.mt")
        assert_same(ClusterTree.load(tmp_path / "tree.mt"), found, X, tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {"n_components": 3},
        {"n_components": 3, "refine": None},
        {"max_leaf_nodes": 1},
        {"max_leaf_nodes": 1, "refine": None},
        {"max_leaf_nodes": None},
        {"scaling": None},
    ],
    ids=str,
)
def test_a_round_trip_with_other_options(options, tmp_path):
    X, _ = of_kind("binary")
    tree = ClusterTree(**options).fit(X)
    tree.save(tmp_path / "tree.mt")
    assert_same(ClusterTree.load(tmp_path / "tree.mt"), tree, X, tmp_path)


def test_a_loaded_tree_is_edited_as_the_saved_one(tmp_path):
    X, _ = of_kind("real")
    tree = nested(ClusterTree(3).fit(X), X)
    tree.save(tmp_path / "tree.mt")
    again = ClusterTree.load(tmp_path / "tree.mt")
    one, other = tree.split_group(X, 0), again.split_group(X, 0)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_tree_of_another_class_is_told(tmp_path):
    X, _ = of_kind("binary")
    ClusterTree(2).fit(X).save(tmp_path / "tree.mt")
    with pytest.raises(ReadError, match=r"holds 'momentree.ClusterTree', not a momentree.TopicTr"):
        TopicTree.load(tmp_path / "tree.mt")


# --- damage --------------------------------------------------------------------------------------


def first(kind):
    """The first assigner of a kind in a manifest."""

    def find(state):
        if state["kind"] == kind:
            return state
        inner = [p["assigner"] for p in state.get("parts", []) if isinstance(p, dict)]
        found = (find(part) for part in [*inner, *([state["base"]] if "base" in state else [])])
        return next((part for part in found if part), None)

    return lambda manifest: find(manifest["assigner"])


def division(manifest):
    return next(p for p in manifest["assigner"]["parts"] if isinstance(p, dict))


def narrowed(arrays, end, axis=0):
    (name, *_) = (name for name in arrays if name.endswith(end) and len(name) > len(end))
    arrays[name] = np.delete(arrays[name], 0, axis)


NESTED_DAMAGE = {
    "no assigner": lambda m, a: m.pop("assigner"),
    "an assigner in words": lambda m, a: m.update(assigner="mixture"),
    "an unknown kind": lambda m, a: m["assigner"].update(kind="random"),
    "no base": lambda m, a: m["assigner"].pop("base"),
    "a part too few": lambda m, a: m["assigner"]["parts"].pop(),
    "a part too many": lambda m, a: m["assigner"]["parts"].append(0),
    "a part in words": lambda m, a: m["assigner"]["parts"].insert(0, "0"),
    "a part below zero": lambda m, a: m["assigner"]["parts"].__setitem__(1, -1),
    "a part in halves": lambda m, a: m["assigner"]["parts"].__setitem__(1, 0.5),
    "a leaf that is not": lambda m, a: division(m)["leaves"].__setitem__(0, 99),
    "a leaf left out": lambda m, a: division(m).update(
        leaves=[division(m)["leaves"][0]] * len(division(m)["leaves"])
    ),
    "leaves too few": lambda m, a: division(m)["leaves"].pop(),
    "leaves too many": lambda m, a: division(m)["leaves"].append(0),
    "no leaves": lambda m, a: division(m).pop("leaves"),
    "an inner one of another place": lambda m, a: first("mixture")(m).update(prefix="x."),
    "another family": lambda m, a: first("mixture")(m).update(family="PoissonParameters"),
    "a family that is none": lambda m, a: first("mixture")(m).update(family="Decomposition"),
    "a family that is abstract": lambda m, a: first("mixture")(m).update(
        family="MixtureParameters"
    ),
    "inner centers too narrow": lambda m, a: narrowed(a, "leaf_centers"),
    "an inner center too few": lambda m, a: narrowed(a, "leaf_centers", 1),
    "inner leaves too few": lambda m, a: narrowed(a, "leaf_of"),
}


@pytest.fixture(scope="module")
def pieces():
    X, _ = of_kind("binary")
    return {refine: nested(ClusterTree(3, refine=refine).fit(X), X) for refine in REFINE}


@pytest.mark.parametrize("name", NESTED_DAMAGE)
def test_nested_assigners_that_do_not_fit_are_told(name, pieces, tmp_path):
    path = tmp_path / "tree.mt"
    pieces["em"].save(path)
    rewritten(path, lambda m, a: NESTED_DAMAGE[name](m, a) and None)
    with pytest.raises(ReadError, match=r"tree\.mt is not a momentree model, or it is damaged"):
        ClusterTree.load(path)


def test_an_honest_rewriting_is_read(pieces, tmp_path):
    pieces["em"].save(tmp_path / "tree.mt")
    rewritten(tmp_path / "tree.mt", lambda m, a: None)
    assert ClusterTree.load(tmp_path / "tree.mt").n_leaves_ == pieces["em"].n_leaves_


VALUES = {
    "centers that are no numbers": ("em", "leaf_centers", lambda x: np.full_like(x, np.nan)),
    "centers below zero": ("em", "leaf_centers", lambda x: -x),
    "weights below zero": ("em", "leaf_weights", lambda x: np.array([2.0, -1.0])),
    "centers in words": ("em", "leaf_centers", lambda x: x.astype(str)),
    "rules that are no numbers": (None, "rule_coefs", lambda x: np.full_like(x, np.inf)),
    "rules too narrow": (None, "rule_coefs", lambda x: x[1:]),
    "a linear rule with three sides": ("splits", "rule_sides", lambda x: x + 1),
    "children that are not": ("splits", "rule_children", lambda x: x + 5),
    "a circle": (None, "rule_children", lambda x: np.zeros_like(x)),
}


@pytest.mark.parametrize("name", VALUES)
def test_numbers_that_cannot_be_are_told(name, pieces, tmp_path):
    refine, end, change = VALUES[name]
    path = tmp_path / "tree.mt"
    pieces[refine].save(path)

    def damage(manifest, arrays):
        at = next(key for key in arrays if key.endswith(end) and arrays[key].size)
        arrays[at] = change(arrays[at])

    rewritten(path, damage)
    with pytest.raises(ReadError, match="damaged"):
        ClusterTree.load(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("shift", lambda x: x[1:]),
        ("scale", lambda x: x[1:]),
        ("view", lambda x: x[1:]),
        ("leaf_variances", lambda x: x[1:]),
        ("leaf_variances", lambda x: -x),
    ],
)
def test_scales_of_real_data_that_do_not_fit_are_told(name, change, tmp_path):
    X, _ = of_kind("real")
    path = tmp_path / "tree.mt"
    ClusterTree(3).fit(X).save(path)
    rewritten(path, lambda m, a: a.update({name: change(a[name])}))
    with pytest.raises(ReadError, match="damaged"):
        ClusterTree.load(path)


@pytest.mark.parametrize("data", ["counts", "real", "colours", None])
def test_data_of_another_kind_are_told(data, pieces, tmp_path):
    pieces["em"].save(tmp_path / "tree.mt")
    rewritten(tmp_path / "tree.mt", lambda m, a: m.update(data=data))
    with pytest.raises(ReadError, match="damaged"):
        ClusterTree.load(tmp_path / "tree.mt")


def test_rules_without_their_kind_of_data_are_told(pieces, tmp_path):
    pieces[None].save(tmp_path / "tree.mt")
    rewritten(tmp_path / "tree.mt", lambda m, a: m.update(data=None))
    with pytest.raises(ReadError, match="damaged"):
        ClusterTree.load(tmp_path / "tree.mt")


def test_every_cut_and_any_flipped_byte_is_told_or_harmless(pieces, tmp_path):
    path = tmp_path / "tree.mt"
    pieces[None].save(path)
    content, harmless = path.read_bytes(), 0
    before = ClusterTree.load(path).to_dict()
    rng = np.random.default_rng(0)
    for cut in rng.integers(0, len(content), size=20):
        path.write_bytes(content[:cut])
        with pytest.raises(ReadError):
            ClusterTree.load(path)
    for at in rng.integers(0, len(content), size=100):
        flipped = bytearray(content)
        flipped[at] ^= int(rng.integers(1, 256))
        path.write_bytes(flipped)
        try:
            found = ClusterTree.load(path)
        except ReadError:
            continue
        assert found.to_dict() == before  # a date, say; what is checked by CRC is intact
        harmless += 1
    assert harmless < 40


# --- assigners of any model ----------------------------------------------------------------------


@pytest.mark.parametrize("refine", REFINE)
def test_a_state_is_the_assigner_again(pieces, refine):
    assigner, arrays = pieces[refine]._assigner, {}
    state = assigner_state(assigner, arrays, "mine.")
    assert all(name.startswith("mine.") for name in arrays)
    again = assigner_of(state, arrays)
    assert_equal(again, assigner)
    space, k = pieces[refine]._feature_map, pieces[refine].n_leaves_
    p = len(space.moment_scale)
    check_assigner(again, space.family, p, k)
    with pytest.raises(ValueError, match="its leaves are"):
        check_assigner(again, space.family, p, k + 1)
    with pytest.raises(ValueError, match="has shape"):
        check_assigner(again, space.family, p + 1, k)


def assert_equal(a, b):
    assert type(a) is type(b)
    if isinstance(a, NestedAssigner):
        assert_equal(a.base, b.base)
        for one, other in zip(a.parts, b.parts, strict=True):
            if isinstance(one, Division):
                assert one.leaves == other.leaves
                assert_equal(one.assigner, other.assigner)
            else:
                assert one == other
    else:
        assert repr(a) == repr(b)
