"""Models of rows elsewhere are those of the same rows in memory."""

import numpy as np
import pytest
from sklearn.base import clone

from momentree import (
    BernoulliMixture,
    GaussianHMM,
    GaussianMixture,
    IndependentComponents,
    LatentDirichletAllocation,
    MixedMixture,
    PoissonMixture,
    SingleTopicModel,
    load,
)
from momentree.datasets import make_single_topic
from momentree.exceptions import EmptyCorpusError, InvalidDataError
from tests.parts import Parts
from tests.raising import raises

MODELS = {
    "moments": SingleTopicModel(3, start="moments", refine=None),
    "uniform": SingleTopicModel(3, start="moments", refine=None, weighting="uniform"),
    "em": SingleTopicModel(3, start="moments", log_scaling=None),
    "log scaling": SingleTopicModel(3, start="moments", log_scaling="log1p"),
    "chosen scaling": SingleTopicModel(3, start="moments"),
    "poisson": PoissonMixture(3),
    "lda": LatentDirichletAllocation(3, refine=None),
}


@pytest.fixture(scope="module")
def documents():
    return make_single_topic(300, 12, 3, length=30, concentration=0.5, random_state=0).X


def fitted(model, X):
    return model.__class__(**model.get_params()).fit(
        X, sample_weight=np.linspace(0.5, 1.5, X.shape[0])
    )


def brought(model):
    """Notes that rows were brought to this machine."""
    return [note for note in vars(model).get("notes_", []) if note.code == "rows_brought_here"]


def assert_same(found, expected):
    np.testing.assert_allclose(found.weights_, expected.weights_, rtol=1e-8)
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.mean_count_, expected.mean_count_, rtol=1e-12)
    assert found.top_words(4) == expected.top_words(4)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_of_parts_is_that_of_the_whole(model, documents):
    whole = fitted(model, documents)
    rows = Parts(documents)
    parts = fitted(model, rows)
    assert_same(parts, whole)
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    assert not brought(parts)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_needs_no_row_of_a_site(model, documents):
    whole = fitted(model, documents)
    site = fitted(model, Parts(documents, site=True))
    np.testing.assert_allclose(site.weights_, whole.weights_, rtol=1e-8)
    np.testing.assert_allclose(site.components_, whole.components_, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(site.predict(documents), whole.labels_)


COLLECTED = {
    "search": (SingleTopicModel(3), {"start": "tree"}),
    "three words": (
        SingleTopicModel(3, start="moments", weighting="three_words"),
        {"weighting": "length"},
    ),
    "lda": (LatentDirichletAllocation(3, max_iter=3), {"refine": None}),
}


@pytest.mark.parametrize(("model", "instead"), COLLECTED.values(), ids=COLLECTED)
def test_rows_that_are_needed_are_brought_with_a_note(model, instead, documents):
    whole, parts = fitted(model, documents), fitted(model, Parts(documents))
    np.testing.assert_array_equal(parts.components_, whole.components_)
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    (note,) = brought(parts)
    options = {
        option.values["parameter"]: option.values["value"] for option in note.values["options"]
    }
    assert options == instead
    alone = fitted(model.__class__(**{**model.get_params(), **options}), Parts(documents))
    assert not brought(alone)
    with raises(InvalidDataError, "rows_needed_here"):
        fitted(model, Parts(documents, site=True))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (-1, "negative_count"),
        (1e31, "huge_count"),
        (1e-31, "tiny_count"),
        (np.nan, "missing_count"),
    ],
)
def test_values_are_checked_as_in_memory(value, code, documents):
    X = documents.toarray().astype(float)
    X[200, 5] = value
    model = SingleTopicModel(3, start="moments")
    with raises(InvalidDataError, code, row=200, column=5):
        model.fit(X)
    with raises(InvalidDataError, code, row=200, column=5):
        model.fit(Parts(X))
    with raises(InvalidDataError, "bad_values_elsewhere"):
        model.fit(Parts(X, site=True))


def test_rows_without_words_are_refused():
    model = SingleTopicModel(3, start="moments")
    with raises(EmptyCorpusError, "all_empty"):
        model.fit(Parts(np.zeros((9, 4))))
    with raises(EmptyCorpusError, "all_weighted_empty"):
        model.fit(Parts(np.eye(9, 8)), sample_weight=np.eye(9)[8])
    with raises(InvalidDataError, "too_few_nonzero_samples", n_rows=2):
        model.fit(Parts(np.eye(9)[:2]))


def test_names_of_columns_come_with_the_rows(documents):
    rows = Parts(documents)
    rows.feature_names = tuple("abcdefghijkl")
    model = SingleTopicModel(3, start="moments").fit(rows)
    assert list(model.feature_names_in_) == list("abcdefghijkl") == list(model.vocabulary_)
    assert model.n_features_in_ == 12


BINARY = {
    "moments": BernoulliMixture(3, start="moments"),
    "raw moments": BernoulliMixture(3, start="raw_moments", convergence="centers"),
    "tree": BernoulliMixture(3, start="tree"),
    "clusters": BernoulliMixture(3, start="clusters"),
    "without EM": BernoulliMixture(3, refine=None),
}


@pytest.mark.parametrize("model", BINARY.values(), ids=BINARY)
def test_a_mixture_of_binary_parts_is_that_of_the_whole(model, documents):
    X = (documents.toarray() > 1).astype(float)
    whole, parts = fitted(model, X), fitted(model, Parts(X))
    assert_same(parts, whole)
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    assert parts.notes_ == []
    np.testing.assert_allclose(parts.predict_incomplete(X[:9]), whole.predict_incomplete(X[:9]))
    site = fitted(model, Parts(X, site=True))
    np.testing.assert_allclose(site.components_, whole.components_, rtol=1e-8, atol=1e-12)


def test_binary_rows_are_brought_to_be_searched_or_completed(documents):
    X = (documents.toarray() > 1).astype(float)
    model = fitted(BernoulliMixture(3), Parts(X))
    (note,) = brought(model)
    assert note.values["options"][0].values == {"parameter": "start", "value": "moments"}
    np.testing.assert_array_equal(model.labels_, fitted(BernoulliMixture(3), X).labels_)
    X[5, 5] = np.nan
    model = fitted(BernoulliMixture(3, start="moments"), Parts(X))
    assert [note.code for note in model.notes_] == ["rows_always_brought_here"]
    X[200, 5] = 2.0
    with raises(InvalidDataError, "not_binary", row=200, column=5):
        fitted(BernoulliMixture(3, start="moments"), Parts(X))


REAL = {
    "gaussian": GaussianMixture(2),
    "mixed": MixedMixture(2),
    "components": IndependentComponents(2),
    "sequences": GaussianHMM(2, tol=1e-2),
}


@pytest.mark.parametrize("model", REAL.values(), ids=REAL)
def test_models_of_single_rows_bring_them(model):
    rng = np.random.default_rng(0)
    X = rng.laplace(size=(80, 3)) + np.repeat([[0.0], [9.0]], 40, axis=0)
    whole, parts = clone(model).fit(X), clone(model).fit(Parts(X))
    method = "predict" if hasattr(whole, "predict") else "transform"
    np.testing.assert_array_equal(getattr(parts, method)(X), getattr(whole, method)(X))
    assert "rows_always_brought_here" in [note.code for note in parts.notes_]
    with raises(InvalidDataError, "rows_always_needed_here"):
        clone(model).fit(Parts(X, site=True))


def test_a_model_with_a_note_can_be_saved(documents, tmp_path):
    for model in (SingleTopicModel(3), BernoulliMixture(3)):
        found = fitted(model, Parts((documents > 1).astype(float)))
        found.save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert again.notes_ == found.notes_
