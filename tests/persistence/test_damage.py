"""Damaged model files are refused: nothing in them is trusted."""

import json
import math
import pickle
import zipfile

import numpy as np
import pytest

import momentree as mt
from momentree.exceptions import ReadError

from ..raising import raises
from .cases import case, rewritten, saved

TOPICS, RULES = "topics", "topics by rules"
NESTED = "edited clusters of binary data, refine=em"
NESTED_RULES = "edited clusters of binary data, refine=None"
LINEAR = "edited clusters of binary data, refine=splits"
SPHERES, DIAGONAL = "spherical clusters", "diag clusters"
ELLIPSES, OUTLIERS = "full clusters", "clusters of data with outliers"
DIRECTIONS = "clusters of directions"
REAL = "edited clusters of real data, refine=em"
FLAT, BERNOULLI = "topic model", "Bernoulli by moments"


def objects(value, kind):
    """The values of all objects of a class in a manifest."""
    if isinstance(value, list):
        return [found for entry in value for found in objects(entry, kind)]
    if not isinstance(value, dict):
        return []
    own = [value["values"]] if value.get("object") == kind else []
    return own + [found for entry in value.values() for found in objects(entry, kind)]


def values(kind, /, **entries):
    """Change the values of the last object of a class."""
    return lambda m, a: objects(m["state"], kind)[-1].update(entries)


def entry(kind, name, change):
    """Change an entry of the last object of a class in place."""
    return lambda m, a: change(objects(m["state"], kind)[-1][name])


def array(kind, name, change):
    """Change an array of the last object of a class."""

    def damage(m, a):
        key = objects(m["state"], kind)[-1][name]["array"]
        a[key] = np.asarray(change(a[key]))

    return damage


def of_model(name, change):
    """Change an array that is an attribute of the model."""
    return lambda m, a: a.update({name: np.asarray(change(a[name]))})


def state(**entries):
    return lambda m, a: m["state"].update(entries)


def full(value):
    return lambda x: np.full_like(x, value)


STRINGS = {"strings": ["x"] * 30}
DAMAGE = {
    "version in words": (TOPICS, lambda m, a: m.update(format_version="one")),
    "version below one": (TOPICS, lambda m, a: m.update(format_version=-5)),
    "version true": (TOPICS, lambda m, a: m.update(format_version=True)),
    "version not a number": (TOPICS, lambda m, a: m.update(format_version=math.nan)),
    "settings as a list": (TOPICS, lambda m, a: m.update(vectorizer=["records"])),
    "no state": (TOPICS, lambda m, a: m.pop("state")),
    "unknown parameter": (TOPICS, lambda m, a: m["params"].update(colour="red")),
    "parameter out of range": (TOPICS, lambda m, a: m["params"].update(log_scaling="sqrt")),
    "n_components beyond whole numbers": (FLAT, lambda m, a: m["params"].update(n_components=1e9)),
    "an unknown scaling": (TOPICS, state(log_scaling_="sqrt")),
    "a method replaced": (TOPICS, state(predict=3)),
    "a double underscore": (TOPICS, state(__class__=3)),
    "vocabulary as an array": (TOPICS, state(vocabulary_={"array": "labels_"})),
    "other number of features": (FLAT, state(n_features_in_=29)),
    "names of other columns": (FLAT, state(feature_names_in_={"strings": ["x"]})),
    "no arrays": (TOPICS, lambda m, a: a.clear()),
    "labels beyond the leaves": (TOPICS, of_model("labels_", full(9))),
    "labels below zero": (TOPICS, of_model("labels_", full(-2))),
    "labels as fractions": (TOPICS, of_model("labels_", lambda x: x + 0.5)),
    "a given name of another leaf": (TOPICS, state(_given_names={"mapping": {"99": "x"}})),
    "an empty given name": (FLAT, state(_given_names={"mapping": {"0": " "}})),
    "languages in a word": (TOPICS, state(_languages="en")),
    # --- trees ---
    "no nodes": (TOPICS, array("StoredTree", "parents", lambda x: x[:0])),
    "a circle of nodes": (TOPICS, array("StoredTree", "parents", lambda x: x + 1)),
    "a parent after its child": (TOPICS, array("StoredTree", "parents", lambda x: x[::-1])),
    "node centers below zero": (TOPICS, array("StoredTree", "centers", lambda x: -x)),
    "a word that the root lacks": (
        TOPICS,
        array("StoredTree", "centers", lambda x: x * (np.arange(len(x)) > 0)[:, None]),
    ),
    "a reason whose values do not fit": (
        TOPICS,
        entry(
            "StoredTree",
            "reasons",
            lambda x: x.__setitem__(1, {"message": "{n}", "values": {"least": "?"}}),
        ),
    ),
    # --- assigners ---
    "an object of another class": (NESTED, state(_assigner={"array": "labels_"})),
    "no base": (NESTED, lambda m, a: m["state"]["_assigner"]["values"].pop("base")),
    "a leaf left out": (
        NESTED,
        entry("Division", "groups", lambda x: x.__setitem__(slice(None), [x[0]] * len(x))),
    ),
    "group numbers beyond": (NESTED, array("MixtureAssigner", "group", lambda x: x + 5)),
    "another scaling": (NESTED, values("FeatureMap", scaled=False)),
    "centers below zero": (NESTED, array("BernoulliParameters", "centers", lambda x: -x)),
    "weights below zero": (
        NESTED,
        array("BernoulliParameters", "weights", lambda x: np.array([2.0, -1, *[0] * (len(x) - 2)])),
    ),
    "a weight too many": (TOPICS, array("TopicParameters", "weights", lambda x: np.full(5, 0.2))),
    "variances below zero": (SPHERES, array("GaussianParameters", "variances", lambda x: -x)),
    "covariances below zero": (
        ELLIPSES,
        array("FullGaussianParameters", "covariances", lambda x: -x),
    ),
    "another kind of covariances": (ELLIPSES, values("LeafMixture", covariance_type="diag")),
    "columns beyond the last": (ELLIPSES, array("LeafMixture", "columns", lambda x: x + 1)),
    "concentrations below zero": (
        DIRECTIONS,
        array("VonMisesFisherParameters", "concentrations", lambda x: -x),
    ),
    # --- rules ---
    "a side too many": (NESTED_RULES, array("ScoreRule", "constant", lambda x: np.append(x, 0))),
    "an intercept in words": (LINEAR, values("LinearRule", intercept="0")),
    "an intercept without end": (LINEAR, values("LinearRule", intercept=math.inf)),
    "a circle of rules": (
        RULES,
        entry("RuleAssigner", "children", lambda x: x.__setitem__(-1, [0, -1])),
    ),
    # --- feature maps ---
    "scales not above zero": (REAL, array("FeatureMap", "scale", lambda x: -x)),
    "data of an unknown kind": (REAL, values("FeatureMap", kind="colours")),
    "data of another kind": (NESTED, values("FeatureMap", kind="counts")),
    "no feature map": (NESTED, state(_feature_map=None)),
    # --- flat models ---
    "labels of no component": (FLAT, of_model("labels_", full(4))),
    "a weight too many of a model": (FLAT, of_model("weights_", lambda x: np.append(x, 0.0))),
    "weights that do not sum to 1": (FLAT, of_model("weights_", lambda x: x / 2)),
    "components below zero": (FLAT, of_model("components_", lambda x: -x)),
    "components too large": (FLAT, of_model("components_", full(1e250))),
    "of another class": (BERNOULLI, lambda m, a: m.update(kind="SingleTopicModel")),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_contents_are_refused(name, tmp_path):
    kind, damage = DAMAGE[name]
    path = tmp_path / "model.mt"
    path.write_bytes(saved(kind))
    rewritten(path, damage)
    with raises(ReadError, "damaged_model", path=str(path)):
        mt.load(path)


# How any list can be damaged.
LISTS = {
    "one too few": lambda x: x.pop(),
    "one too many": lambda x: x.append(x[-1]),
    "half": lambda x: x.__setitem__(-1, 0.5),
    "below the first": lambda x: x.__setitem__(-1, -99),
    "beyond the last": lambda x: x.__setitem__(-1, 99),
    "of another class": lambda x: x.__setitem__(0, {"object": "Path", "values": {}}),
}
# How any array can be damaged, and the arrays that may be so.
OF_ANY_LENGTH = {"labels_", "words", "_words", "counts", "statistics"}
ARRAYS = {
    "a row too few": (lambda x: x[1:], OF_ANY_LENGTH | {"centers of Merges"}),
    "narrower": (lambda x: x[..., 1:] if x.ndim > 1 else x[:0], OF_ANY_LENGTH),
    "another dimension": (lambda x: x[..., None], {"moment_scale"}),
    "text": (lambda x: x.astype(str), ()),
    "complex": (lambda x: x + 1j, ()),
    "not finite": (lambda x: np.full(x.shape, math.nan), ()),
    "without end": (lambda x: np.full(x.shape, math.inf), {"scale"}),
}
VALUES = [3.5, {"strings": [1]}, ["x"], {"object": "Path", "values": {}}]
MAY_BE_A_NUMBER = {"_n_words", "_smoothing", "mean_count_", "n_passes_"}
MAY_LACK = {
    *("_described", "_given_names", "_incomplete", "_leaf_sums", "_names", "_spread"),
    *("_sums", "_words", "choice_", "covariance_type_", "n_passes_", "notes_"),
}


def arrays_of(value, name="", kind=""):
    """(name, key) of all arrays in a manifest."""
    if isinstance(value, dict) and "array" in value:
        yield (f"{name} of {kind}" if kind == "Merges" else name), value["array"]
    elif isinstance(value, dict):
        for field, part in value.get("values", value).items():
            yield from arrays_of(part, field, value.get("object", ""))
    elif isinstance(value, list):
        for part in value:
            yield from arrays_of(part, name, kind)


def content_of(manifest):
    """The attributes in a manifest, but for those that may be anything."""
    free = ("diagnostics_", "notes_")
    return {name: value for name, value in manifest["state"].items() if name not in free}


def lists_of(value, name=""):
    """(name, list) of all lists in a manifest that are not empty."""
    if isinstance(value, list) and value:
        yield name, value
        for part in value:
            yield from lists_of(part, name)
    elif isinstance(value, dict) and not {"array", "message"} & value.keys():
        for field, part in value.get("values", value).items():
            yield from lists_of(part, name if field == "strings" else field)


def in_list(number, change):
    """Change one of the lists of a manifest in place."""
    return lambda m, a: change([*lists_of(content_of(m))][number][1])


def damages(manifest, arrays):
    """All ways to damage each array, list and attribute of a file, with a name for each."""
    content = content_of(manifest)
    for number, (name, _) in enumerate(lists_of(content)):
        yield [(f"{name}: {how}", in_list(number, change)) for how, change in LISTS.items()]
    for name, key in arrays_of(content):
        ways = {how: damage for how, (damage, may_be) in ARRAYS.items() if name not in may_be}
        if arrays[key].size:
            yield [
                (
                    f"{name}: {how}",
                    lambda m, a, key=key, damage=damage: a.update({key: damage(a[key])}),
                )
                for how, damage in ways.items()
            ]
    for name in manifest["state"]:
        values = VALUES[1:] if name in MAY_BE_A_NUMBER else VALUES
        ways = [(f"{name} is {value}", state(**{name: value})) for value in values]
        if name not in MAY_LACK:
            ways.append((f"no {name}", lambda m, a, name=name: m["state"].pop(name)))
        yield ways


SHORT = (TOPICS, NESTED_RULES, ELLIPSES, BERNOULLI)


@pytest.mark.parametrize(
    ("kind", "every"),
    [
        *((kind, False) for kind in SHORT),
        *(
            pytest.param(kind, True, marks=pytest.mark.long)
            for kind in sorted({kind for kind, _ in DAMAGE.values()})
        ),
    ],
)
def test_any_damaged_array_list_or_attribute_is_refused(kind, every, tmp_path):
    """One damage of each in turn, or every damage of each."""
    path, content, read, codes = tmp_path / "model.mt", [], [], []
    path.write_bytes(saved(kind))
    rewritten(path, lambda m, a: content.append((m, dict(a))))
    for number, ways in enumerate(damages(*content[0])):
        start = number % len(ways)
        for name, damage in ways if every else ways[start : start + 1]:
            path.write_bytes(saved(kind))
            rewritten(path, damage)
            try:
                mt.load(path)
            except ReadError as error:
                codes.append(error.code)
            else:
                read.append(name)
    assert read == []
    assert len(codes) > 20
    assert {*codes} == {"damaged_model"}


@pytest.mark.parametrize(
    "name", [TOPICS, RULES, NESTED, NESTED_RULES, LINEAR, REAL, FLAT, BERNOULLI]
)
def test_a_file_written_again_without_changes_is_read(name, tmp_path):
    (tmp_path / "model.mt").write_bytes(saved(name))
    rewritten(tmp_path / "model.mt", lambda m, a: None)
    np.testing.assert_array_equal(mt.load(tmp_path / "model.mt").labels_, case(name)[0].labels_)


@pytest.mark.parametrize("name", [TOPICS, NESTED_RULES])
def test_every_cut_and_any_flipped_byte_is_refused_or_harmless(name, tmp_path):
    path = tmp_path / "model.mt"
    model, X = case(name)
    content, harmless = saved(name), 0
    rng = np.random.default_rng(0)
    for cut in rng.integers(0, len(content), size=10):
        path.write_bytes(content[:cut])
        with pytest.raises(ReadError):
            mt.load(path)
    for at in rng.integers(0, len(content), size=30):
        flipped = bytearray(content)
        flipped[at] ^= int(rng.integers(1, 256))
        path.write_bytes(flipped)
        try:
            found = mt.load(path)
        except ReadError:
            continue
        # A date, say; what is checked by CRC is intact.
        np.testing.assert_array_equal(found.predict_proba(X[:5]), model.predict_proba(X[:5]))
        harmless += 1
    assert harmless < 18


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(f"{name}.json", content)


FOREIGN = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("not a model", encoding="utf-8"),
    "pickle": lambda path: path.write_bytes(pickle.dumps({"a": 1})),
    "npz": lambda path: np.savez(path.open("wb"), data=np.eye(3)),
    "another program's zip": lambda path: archive(path, manifest=json.dumps({"format": "other"})),
    "a list for a manifest": lambda path: archive(path, manifest="[1, 2]"),
    "a deep manifest": lambda path: archive(path, manifest="[" * 100_000),
    "a folder": lambda path: path.mkdir(),
    "nothing": lambda path: None,
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kind", FOREIGN)
def test_files_of_another_kind_are_refused(kind, tmp_path):
    path = tmp_path / "x.mt"
    FOREIGN[kind](path)
    with pytest.raises(ReadError) as caught:
        mt.load(path)
    assert caught.value.message.values["path"] == str(path)


@pytest.mark.parametrize(
    ("change", "code", "found"),
    [
        ({"format_version": 99, "momentree": "9.1"}, "newer_format", {"found": 99}),
        ({"format_version": 1}, "older_format", {"found": 1}),
        ({"format": "momentree.TopicTree"}, "other_format", {"found": "momentree.TopicTree"}),
        ({"kind": "NewModel"}, "unknown_model", {"kind": "NewModel"}),
    ],
)
def test_files_of_other_versions_are_refused(change, code, found, tmp_path):
    path = tmp_path / "x.mt"
    path.write_bytes(saved(TOPICS))
    rewritten(path, lambda m, a: m.update(change))
    with raises(ReadError, code, path=str(path), **found):
        mt.load(path)


def test_arrays_that_are_not_used_cost_nothing(tmp_path):
    path = tmp_path / "x.mt"
    path.write_bytes(saved(TOPICS))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("more.npy", bytes(100_000_000))
    np.testing.assert_array_equal(mt.load(path).labels_, case(TOPICS)[0].labels_)


def test_arrays_that_unfold_without_end_are_refused(tmp_path):
    path = tmp_path / "x.mt"
    path.write_bytes(saved(TOPICS))
    with zipfile.ZipFile(path) as file:
        content = {name: file.read(name) for name in file.namelist()}
    header = content["labels_.npy"][:128].replace(b"(150,)", b"(9999999,)")
    content["labels_.npy"] = header[:128] + bytes(70_000_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in content.items():
            file.writestr(name, data)
    with raises(ReadError, "file_too_large", path=str(path)):
        mt.load(path)
