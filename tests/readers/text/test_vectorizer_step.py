"""TextVectorizer as a step of scikit-learn's pipelines and searches."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from momentree.datasets import TextVectorizer, vectorize
from momentree.exceptions import EmptyCorpusError, InvalidDataError, InvalidParameterError

from ...raising import raises

TEXTS = ["The sea, the sea!", "A boat at sea", "Bread and butter", "Butter in a boat"]


def test_fit_remembers_the_words_and_leaves_the_parameters_alone():
    vectorizer = TextVectorizer(max_df=0.9)
    X = vectorizer.fit_transform(TEXTS)
    learned, counts = TextVectorizer(max_df=0.9).learn(TEXTS)
    assert isinstance(X, sp.csr_array)
    np.testing.assert_array_equal(X.toarray(), counts.toarray())
    np.testing.assert_array_equal(vectorizer.transform(TEXTS).toarray(), counts.toarray())
    assert X.feature_names == learned.vocabulary == tuple(vectorizer.get_feature_names_out())
    assert (vectorizer.vocabulary, vectorizer.language) == (None, "auto")
    assert vectorizer.learned.to_dict() == vectorizer.to_dict() == learned.to_dict()
    assert X[1:].feature_names is None  # arrays computed from it may have other columns
    assert pickle.loads(pickle.dumps(X)).feature_names == X.feature_names


def test_a_given_vocabulary_is_kept():
    vectorizer = TextVectorizer(vocabulary=("sea", "snow")).fit(TEXTS)
    assert vectorizer.transform(["snow at sea"]).toarray().tolist() == [[1, 1]]
    assert vectorizer.get_feature_names_out().tolist() == ["sea", "snow"]


@pytest.mark.parametrize("form", [pd.Series, np.array, lambda texts: pd.DataFrame({"a": texts})])
def test_columns_of_texts(form):
    expected = vectorize(TEXTS).X.toarray()
    np.testing.assert_array_equal(TextVectorizer().fit_transform(form(TEXTS)).toarray(), expected)


def test_parameters():
    vectorizer = TextVectorizer("IT, EN", stop_words=["mare"], vocabulary=["a", "b"])
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    assert vectorizer.language == "it,en"
    fitted = TextVectorizer().fit(TEXTS)
    check_is_fitted(fitted)
    again = pickle.loads(pickle.dumps(fitted))
    assert (
        again.transform(["sea"]).toarray().tolist() == fitted.transform(["sea"]).toarray().tolist()
    )
    for unfitted in (clone(fitted), fitted.set_params(min_df=1, max_df=1.0)):
        with raises(InvalidParameterError, "vectorizer_has_not_learned"):
            unfitted.transform(TEXTS)
    assert fitted.min_df == 1
    with raises(InvalidParameterError, "not_a_document_frequency"):
        fitted.set_params(min_df=-1)
    with raises(InvalidParameterError, "unknown_settings", names=["size"]):
        fitted.set_params(size=3)
    assert repr(fitted) == "TextVectorizer(max_df=1.0, min_df=1)"


def test_in_a_pipeline_with_another_model():
    pipeline = make_pipeline(TextVectorizer(), MultinomialNB()).fit(TEXTS, [0, 0, 1, 1])
    assert pipeline.predict(["boat at sea"]).tolist() == [0]
    features = pipeline[:-1].set_output(transform="pandas").transform(TEXTS)
    assert sp.issparse(features)  # counts stay sparse


@pytest.mark.parametrize(
    ("texts", "error", "code"),
    [
        ("the sea", InvalidDataError, "one_string"),
        (["a", None], InvalidDataError, "text_not_a_string"),
        (np.eye(3), InvalidDataError, "texts_not_a_column"),
        (None, InvalidDataError, "texts_not_a_column"),
        ([], EmptyCorpusError, "no_documents"),
    ],
)
def test_what_is_no_list_of_texts(texts, error, code):
    with raises(error, code):
        TextVectorizer().fit(texts)
    with raises(error, code):
        TextVectorizer(vocabulary=("a",)).transform(texts)
