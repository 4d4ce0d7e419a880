"""Topic models that are fitted to texts: forms of texts, pipelines, searches, files, errors."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.metrics import adjusted_rand_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import momentree as mt
from momentree import (
    BernoulliMixture,
    ClusterTree,
    LatentDirichletAllocation,
    PoissonMixture,
    SingleTopicModel,
    TopicTree,
)
from momentree.datasets import Documents, TextVectorizer, vectorize
from momentree.exceptions import (
    ConvergenceWarning,
    EmptyCorpusError,
    InvalidDataError,
    InvalidParameterError,
)

from ..raising import raises

THEMES = ("sea boat fish harbor wave anchor", "bread butter oven flour yeast dough")
RNG = np.random.default_rng(0)
TRUTH = np.arange(60) % 2
TEXTS = [" ".join(RNG.choice(THEMES[theme].split(), 8)) for theme in TRUTH]
NAMES = [*THEMES[0].split(), *THEMES[1].split()]

MODELS = [
    TopicTree(2),
    SingleTopicModel(2),
    PoissonMixture(2),
    LatentDirichletAllocation(2, max_iter=3),
]
FORMS = {
    "tuple": tuple,
    "array": np.array,
    "array of objects": lambda texts: np.array(texts, dtype=object),
    "array of one column": lambda texts: np.array(texts, dtype=object)[:, None],
    "pandas": lambda texts: pd.Series(texts, index=range(7, 67), dtype=object),
    "pandas strings": lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
    "pandas category": lambda texts: pd.Series(texts, dtype="category"),
    "pandas index": pd.Index,
    "data frame": lambda texts: pd.DataFrame({"text": texts}),
    "Polars": pl.Series,
    "Polars frame": lambda texts: pl.DataFrame({"text": texts}),
    "PyArrow": pa.array,
    "PyArrow chunks": lambda texts: pa.chunked_array([texts[:9], texts[9:]]),
    "PyArrow table": lambda texts: pa.table({"text": texts}),
    "documents": lambda texts: Documents(list(texts), [""] * len(texts)),
}


@pytest.fixture(scope="module")
def tree():
    return TopicTree(2).fit(TEXTS)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_model_of_texts_is_that_of_their_counts(model):
    found = clone(model).fit(TEXTS)
    corpus = vectorize(TEXTS)
    counted = clone(model).fit(corpus.X, feature_names=corpus.vocabulary).name_topics(corpus)
    assert adjusted_rand_score(TRUTH, found.labels_) == 1
    assert found.names_ == counted.names_
    assert sorted(found.vocabulary_) == sorted(NAMES)
    np.testing.assert_array_equal(found.labels_, counted.labels_)
    new = ["A boat on the sea", "Butter", "", "unknown"]
    X = found.vectorizer_.transform(new)
    for method in ("predict", "predict_proba", "transform", "score_samples", "score"):
        np.testing.assert_array_equal(getattr(found, method)(new), getattr(counted, method)(X))
    np.testing.assert_array_equal(found.predict(TEXTS), found.labels_)
    np.testing.assert_array_equal(clone(model).fit_predict(TEXTS), found.labels_)
    np.testing.assert_array_equal(clone(model).fit_transform(TEXTS), found.transform(corpus.X))
    np.testing.assert_array_equal(clone(model).fit(corpus).predict(corpus), found.labels_)


@pytest.mark.parametrize("form", FORMS)
def test_texts_come_in_any_column(tree, form):
    found = TopicTree(2).fit(FORMS[form](TEXTS))
    np.testing.assert_array_equal(found.labels_, tree.labels_)
    np.testing.assert_array_equal(found.predict(FORMS[form](TEXTS)), tree.labels_)
    assert found.names_ == tree.names_


def test_the_vectorizer_sets_what_counts_as_a_word():
    stop = TextVectorizer(stop_words=("sea", "oven"))
    model = TopicTree(2, vectorizer=stop).fit(TEXTS)
    assert sorted(model.vocabulary_) == sorted({*NAMES} - {"sea", "oven"})
    assert stop.vocabulary is None
    assert model.vectorizer_.vocabulary == tuple(model.vocabulary_)
    given = TopicTree(2, vectorizer=TextVectorizer(vocabulary=("sea", "oven"))).fit(TEXTS)
    assert given.vocabulary_.tolist() == ["sea", "oven"]
    # Passages would be other samples than the texts.
    whole = TopicTree(2, vectorizer=TextVectorizer(passages=2)).fit(TEXTS)
    assert len(whole.labels_) == len(TEXTS)


def test_other_vectorizers_name_the_topics_by_their_words():
    model = TopicTree(2, vectorizer=CountVectorizer()).fit(TEXTS)
    assert sorted(model.vocabulary_) == sorted(NAMES)
    assert adjusted_rand_score(TRUTH, model.predict(TEXTS)) == 1
    assert model.notes_ == []
    hashed = HashingVectorizer(n_features=32, alternate_sign=False, norm=None)
    model = TopicTree(2, vectorizer=hashed).fit(TEXTS)
    assert [note.code for note in model.notes_] == ["columns_without_names"]


def test_copies_have_the_weight_of_one():
    copied = [*TEXTS, *["one two three four five six seven eight nine ten eleven twelve"] * 30]
    keep = TextVectorizer(language=None, min_df=1, max_df=1.0)
    tree = TopicTree(2, vectorizer=keep).fit(copied)
    assert [note.code for note in tree.notes_] == ["copies_weighted"]
    assert "sample_weight=1" in str(tree.notes_[0])
    corpus = vectorize(copied, language=None, min_df=1, max_df=1.0)
    same = TopicTree(2).fit(corpus.X, sample_weight=corpus.weights)
    np.testing.assert_array_equal(tree.labels_, same.labels_)
    every = TopicTree(2, vectorizer=keep).fit(copied, sample_weight=1)
    assert [note.code for note in every.notes_] == ["copies_counted_in_fit"]
    assert every.leaves_[every.labels_[-1]].n_samples == 30


def test_a_fit_to_counts_forgets_the_vectorizer(tree):
    again = clone(tree).fit(TEXTS).fit(sp.csr_array(np.eye(12)[np.arange(60) % 12]))
    assert not hasattr(again, "vectorizer_")
    with raises(InvalidDataError, "fitted_to_counts"):
        again.predict(TEXTS)


def test_a_warning_points_to_the_line_of_the_fit():
    same = ["boat sea fish", "bread oven flour"] * 20
    with pytest.warns(ConvergenceWarning) as found:
        SingleTopicModel(9).fit(same, sample_weight=1)
    assert [warning.filename for warning in found] == [__file__]


# --- scikit-learn -------------------------------------------------------------------------------


def test_names_travel_through_a_pipeline():
    tree = make_pipeline(TextVectorizer(), TopicTree(2)).fit(TEXTS)[-1]
    assert sorted(tree.vocabulary_) == sorted(NAMES)
    assert {word for name in tree.names_ for word in name.split(", ")} <= {*NAMES}
    assert tree.notes_ == []


def test_counts_without_names_are_noted_and_can_be_named_later():
    pipeline = make_pipeline(CountVectorizer(), TopicTree(2)).fit(TEXTS)
    tree = pipeline[-1]
    assert [note.code for note in tree.notes_] == ["columns_without_names"]
    assert str(tree.notes_[0]) in tree._repr_html_()
    words = pipeline[:-1].get_feature_names_out()
    named = tree.name_topics(feature_names=words)
    assert {word for name in named.names_ for word in name.split(", ")} <= {*NAMES}
    assert named.notes_ == []
    assert tree.names_ != named.names_
    with raises(InvalidDataError, "wrong_number_of_names"):
        tree.name_topics(feature_names=words[1:])
    with raises(InvalidParameterError, "names_and_corpus"):
        tree.name_topics(vectorize(TEXTS), feature_names=words)


def test_names_are_routed_as_metadata(tmp_path):
    with sklearn.config_context(enable_metadata_routing=True):
        tree = TopicTree(2).set_fit_request(feature_names=True)
        vectorizer = CountVectorizer(vocabulary=NAMES)
        pipeline = make_pipeline(vectorizer, tree).fit(TEXTS, feature_names=NAMES)
    assert pipeline[-1].vocabulary_.tolist() == NAMES
    pipeline[-1].save(tmp_path / "m.mt")


def test_a_search_over_words_and_leaves():
    grid = {"max_leaf_nodes": [1, 2], "vectorizer__min_df": [2, 3]}
    search = GridSearchCV(TopicTree(), grid, cv=2).fit(TEXTS)
    assert search.best_params_ == {"max_leaf_nodes": 2, "vectorizer__min_df": 2}
    assert search.best_estimator_.vectorizer_.min_df == 2
    agreement = make_scorer(adjusted_rand_score)
    model = SingleTopicModel(2, vectorizer=TextVectorizer())
    grid = {"vectorizer__stop_words": [(), tuple(NAMES[1:6])]}
    found = GridSearchCV(model, grid, scoring=agreement, cv=2).fit(pd.Series(TEXTS), TRUTH)
    assert found.best_params_ == {"vectorizer__stop_words": ()}
    assert cross_val_score(TopicTree(2), TEXTS, TRUTH, scoring=agreement, cv=3).tolist() == [1] * 3


def test_parameters_of_the_vectorizer():
    model = TopicTree().set_params(vectorizer__min_df=3)
    assert model.vectorizer.min_df == clone(model).vectorizer.min_df == 3
    assert model.get_params()["vectorizer__min_df"] == 3
    assert repr(model) == "TopicTree(vectorizer=TextVectorizer(min_df=3))"
    with raises(InvalidParameterError, "unknown_settings"):
        model.set_params(vectorizer__size=3)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_output_in_data_frames(model):
    texts = pd.Series(TEXTS, index=[f"d{i}" for i in range(60)])
    frame = clone(model).set_output(transform="pandas").fit_transform(texts)
    name = type(model).__name__.lower()
    assert frame.index.tolist() == texts.index.tolist()
    assert frame.columns.tolist() == [f"{name}0", f"{name}1"]
    np.testing.assert_allclose(frame.sum(axis=1), 1)
    pipeline = make_pipeline(TextVectorizer(), clone(model)).set_output(transform="polars")
    assert pipeline.fit(TEXTS).transform(TEXTS).columns == [f"{name}0", f"{name}1"]
    assert list(pipeline.get_feature_names_out()) == [f"{name}0", f"{name}1"]


def test_a_page_from_a_model_with_output_in_data_frames(tmp_path):
    model = SingleTopicModel(2).set_output(transform="pandas").fit(TEXTS)
    page = model.to_html(tmp_path / "a.html", TEXTS).read_text(encoding="utf-8")
    assert any(text in page for text in TEXTS)
    corpus = vectorize(Documents(TEXTS, [f"id {i}" for i in range(60)], [""] * 60))
    page = TopicTree(2).fit(corpus).to_html(X=corpus)
    assert any(f"id {i}" in page for i in range(60))
    assert any(text in page for text in TEXTS)


def test_the_score_of_a_tree_is_a_likelihood():
    X = sp.csr_array([[2, 1, 0], [1, 2, 0], [0, 1, 3]] * 10)
    for tree in (TopicTree(2).fit(X), TopicTree(2, refine=None).fit(X)):
        every = [[a, b, 4 - a - b] for a in range(5) for b in range(5 - a)]
        assert np.exp(tree.score_samples(every)).sum() == pytest.approx(1)
        assert tree.score(X) == tree.score_samples(X).mean()
    # Two copies of a document are one of weight 2.
    twice = TopicTree(2).fit(sp.vstack([X, X]))
    assert twice.score(X) == pytest.approx(TopicTree(2).fit(X, sample_weight=2).score(X))
    rows = RNG.permutation(30)
    assert TopicTree(2).fit(X[rows]).score_samples(X).tolist() == (
        TopicTree(2).fit(X).score_samples(X).tolist()
    )
    assert TopicTree(2).fit(X).score(X) > TopicTree(1).fit(X).score(X)
    assert ClusterTree(2).fit(X > 0).score(X > 0) == ClusterTree(2).fit(X > 0).score_samples(
        X > 0
    ).mean(axis=0)
    assert not hasattr(ClusterTree(2).fit(X.toarray() - 0.5), "score")


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_files_and_pickles_hold_the_vectorizer(model, tmp_path):
    model = clone(model).set_params(vectorizer__min_df=3).set_output(transform="pandas")
    model.fit(TEXTS).save(tmp_path / "m.mt")
    for again in (mt.load(tmp_path / "m.mt"), pickle.loads(pickle.dumps(model))):
        assert again.vectorizer_.to_dict() == model.vectorizer_.to_dict()
        assert again.vectorizer.to_dict() == model.vectorizer.to_dict()
        assert (again.notes_, again.names_) == (model.notes_, model.names_)
        pd.testing.assert_frame_equal(again.transform(TEXTS), model.transform(TEXTS))
    mt.load(tmp_path / "m.mt").save(tmp_path / "again.mt")
    assert (tmp_path / "again.mt").read_bytes() == (tmp_path / "m.mt").read_bytes()


def test_a_vectorizer_of_others_is_in_pickles_only(tmp_path):
    model = TopicTree(2, vectorizer=CountVectorizer()).fit(TEXTS)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(TEXTS), model.labels_)
    with raises(InvalidParameterError, "own_vectorizer", parameter="vectorizer"):
        model.save(tmp_path / "m.mt")
    assert list(tmp_path.iterdir()) == []


# --- bad input ----------------------------------------------------------------------------------

NOT_STRING, NOT_LISTED = "text_not_a_string", "not_listed"
BAD = {
    "numbers among texts": (["a", 3, None], NOT_STRING, {"place": 1, "type": "int"}),
    "a number first": ([3, "a"], NOT_STRING, {"place": 0, "type": "int"}),
    "None": (["a", None], NOT_STRING, {"place": 1, "type": "NoneType"}),
    "only None": ([None, None], NOT_STRING, {"place": 0}),
    "NaN": (pd.Series(["a", np.nan], dtype=object), NOT_STRING, {"place": 1, "type": "float"}),
    "NA": (pd.Series(["a", None], dtype="string[python]"), NOT_STRING, {"place": 1}),
    "null of Arrow": (pa.array(["a", None]), NOT_STRING, {"place": 1}),
    "null of Polars": (pl.Series(["a", None]), NOT_STRING, {"place": 1}),
    "one column with NaN": (np.array([["a"], [np.nan]], dtype=object), NOT_STRING, {"place": 1}),
    "bytes": ([b"a", b"b"], NOT_STRING, {"place": 0, "type": "bytes"}),
    "array of bytes": (np.array([b"a", b"b"]), NOT_STRING, {"place": 0, "type": "bytes"}),
    "a list among texts": (["a", ["b"]], NOT_STRING, {"place": 1, "type": "list"}),
    "lists of words": ([["a", "b"], ["c"]], "lists_of_words", {}),
    "one string": ("the sea", "one_string", {}),
    "bytes of a file": (b"the sea", "one_string", {}),
    "a generator": ((text for text in TEXTS), NOT_LISTED, {"type": "generator"}),
    "a mapping": (dict(enumerate(TEXTS)), NOT_LISTED, {"type": "dict"}),
    "a set": (set(TEXTS), NOT_LISTED, {"type": "set"}),
    "several columns": (
        pd.DataFrame({"id": [1, 2], "text": ["a", "b"]}),
        "column_of_texts",
        {"column": "text"},
    ),
    "no texts": ([], "no_documents", {}),
    "an empty column": (pd.Series([], dtype=object), "no_documents", {}),
    "one text": (["the sea"], "one_text", {"n_words": 2}),
    "empty texts": (["", " ", ""], "settings_of_vectorizer", {}),
    "stop words": (["the and of"] * 5, "settings_of_vectorizer", {}),
    "copies of one text": ([" ".join(NAMES)] * 20, "all_copies", {"parameter": "sample_weight"}),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_texts(name):
    X, code, values = BAD[name]
    with raises(InvalidDataError, code, **values):
        TopicTree().fit(X)


@pytest.mark.parametrize("name", [name for name in BAD if BAD[name][1] != "one_text"][:-3])
def test_bad_new_texts(tree, name):
    X, code, values = BAD[name]
    X = (text for text in TEXTS) if name == "a generator" else X
    with raises(InvalidDataError, code, **values):
        tree.predict(X)


@pytest.mark.parametrize(
    ("entry", "remedy"),
    [
        (None, "fill_text"),
        (float("nan"), "fill_text"),
        (pd.NaT, "fill_text"),
        (b"a", "decode_text"),
        (["a"], "join_words"),
        (3, "make_string"),
    ],
)
def test_the_remedy_depends_on_what_was_found(entry, remedy):
    with raises(InvalidDataError, "text_not_a_string") as info:
        TopicTree().fit(["a", entry])
    assert info.value.message.values["remedy"].code == remedy


def test_a_failed_fit_changes_nothing(tree):
    model = clone(tree).fit(TEXTS)
    before = dict(vars(model))
    with pytest.raises(EmptyCorpusError):
        model.fit(["the", "and"])
    assert vars(model) == before


def test_other_bad_arguments(tree):
    with raises(InvalidParameterError, "names_of_texts"):
        TopicTree().fit(TEXTS, feature_names=NAMES)
    for value in ("english", TextVectorizer, 3):
        with raises(InvalidParameterError, "not_a_vectorizer", value=value):
            TopicTree(vectorizer=value).fit(TEXTS)
    with raises(InvalidDataError, "corpus_of_other_words"):
        tree.predict(vectorize([text.replace("a", "e") for text in TEXTS]))
    for Model in (ClusterTree, BernoulliMixture):
        with raises(InvalidDataError, "texts_not_counts"):
            Model().fit(TEXTS)


def test_empty_and_long_texts_among_others(tree):
    long = " ".join(NAMES) * 20_000
    model = TopicTree(2).fit([*TEXTS, "", long])
    assert adjusted_rand_score(TRUTH, model.labels_[:60]) == 1
    assert model.labels_[60] == -1
    assert model.tree_.n_samples == 61
    assert "documents_without_words" in [note.code for note in model.notes_]
    assert np.isfinite(model.predict_proba([long, ""])).all()
