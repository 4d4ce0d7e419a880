"""Topics of function words are noticed, whatever the reason, and good topics are not."""

from __future__ import annotations

import gzip
import json

import pytest

from momentree import SingleTopicModel, TopicTree
from momentree.datasets import read_corpus, read_documents, vectorize
from momentree.report.topics import notes_on_function_words, summarize


def fit(corpus, n_leaves=8):
    return TopicTree(n_leaves, refine=None).fit(corpus.X, feature_names=corpus.vocabulary)


@pytest.fixture(scope="module")
def manuals(shared_data):
    def texts(code):
        path = shared_data / "languages" / f"man_{code}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return [json.loads(line)["text"] for line in file][::2]

    return texts


@pytest.mark.parametrize("code", ["fr", pytest.param("ru", marks=pytest.mark.long)])
def test_a_wrong_language_is_noticed(manuals, code):
    texts = manuals(code)
    [note] = notes_on_function_words(fit(vectorize(texts, language="en")))
    assert note.code == "topics_of_stop_words"
    assert note.values["language"] == code
    # The remedy helps.
    assert notes_on_function_words(fit(vectorize(texts))) == []


@pytest.mark.parametrize(
    "code",
    [
        "zh_CN",
        pytest.param("ja", marks=pytest.mark.long),
        pytest.param("ko", marks=pytest.mark.long),
    ],
)
def test_other_scripts_have_no_topics_of_function_words(manuals, code):
    assert notes_on_function_words(fit(vectorize(manuals(code)))) == []


def test_all_words_kept(shared_data):
    """Flat topics are checked in the same way, and counts in the same way as texts."""
    texts = read_documents(shared_data / "reuters_r8" / "docs.jsonl.gz").texts[::8]
    corpus = vectorize(texts, language=None)
    model = SingleTopicModel(8, refine=None).fit(corpus.X, feature_names=corpus.vocabulary)
    [note] = notes_on_function_words(model)
    assert note.values["language"] == "en"
    summary = summarize(model, notes=[note])
    assert len(summary["notes"]) == 2
    assert "English" in summary["notes"][0]


@pytest.mark.long
def test_words_of_a_related_language_are_not_its_function_words(shared_data):
    """Dante's "son, dio, sé, tal" are on the Spanish list, too."""
    with gzip.open(shared_data / "divina_commedia" / "docs.jsonl.gz", "rt") as file:
        book = "\n\n".join(json.loads(line)["text"] for line in file)
    corpus = vectorize([book])
    tree = TopicTree(4).fit(corpus.X, feature_names=corpus.vocabulary)
    assert "topics_of_stop_words" not in {note.code for note in notes_on_function_words(tree)}


@pytest.mark.parametrize(
    "name", [pytest.param("divina_commedia/docs.jsonl.gz", marks=pytest.mark.long), "m10", "re1"]
)
def test_good_topics_are_not_noticed(shared_data, name):
    corpus = read_corpus(shared_data / name)
    for n_leaves in (2, 8):
        assert notes_on_function_words(fit(corpus, n_leaves)) == []


def test_few_words_or_one_topic():
    corpus = vectorize(["la le", "un le", "la un"], language=None, min_df=1, max_df=1.0)
    assert notes_on_function_words(TopicTree(2).fit(corpus.X)) == []
