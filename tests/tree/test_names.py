"""Names of trees and flat models: chosen from texts, given by hand, kept in files and by edits."""

import numpy as np
import pytest

import momentree as mt
from momentree.datasets import make_bernoulli_mixture, vectorize
from momentree.estimators.names import nodes_by_number
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.report import summarize
from momentree.report.topics import topic_names

from ..raising import raises

TEXTS = [
    *["Climate change and the oceans", "Oceans rise, climate change", "The climate change report"],
    *["Tax laws and a vote", "Voting on tax laws", "The vote on a tax law, the law"],
    *["A game of rugby", "Rugby games and players", "The player won the game"],
] * 6
TOPICS = {
    "tree": mt.TopicTree(3),
    "rules": mt.TopicTree(3, refine=None),
    "single topic": mt.SingleTopicModel(3),
    "lda": mt.LatentDirichletAllocation(3),
    "poisson": mt.PoissonMixture(3),
}


@pytest.fixture(scope="module")
def corpus():
    return vectorize(TEXTS, min_df=1, max_df=1.0)


@pytest.fixture(scope="module", params=list(TOPICS))
def model(request, corpus):
    fitted = TOPICS[request.param]
    return fitted.fit(corpus.X, feature_names=corpus.vocabulary)


@pytest.fixture(scope="module", params=["tree", "flat"])
def groups(request):
    """Estimators of four groups of records, and the records."""
    X = make_bernoulli_mixture(400, 24, 4, random_state=0).X
    kinds = {"tree": mt.ClusterTree(4), "flat": mt.BernoulliMixture(4)}
    return kinds[request.param].fit(X), X


def shown(model):
    """The names of leaves in a summary, by number."""
    nodes = summarize(model)["nodes"]
    return [n["name"] for n in sorted(nodes, key=lambda n: n["leaf"] or 0) if n["leaf"] is not None]


def test_names_from_texts_have_phrases_and_one_form_of_each_word(model, corpus):
    before = list(model.names_)
    named = model.name_topics(corpus)
    assert model.names_ == before
    assert sorted(name.split(", ")[0] for name in named.names_) >= ["climate change"]
    words = [word for name in named.names_ for word in name.split(", ")]
    assert not {"games", "players", "law"} & set(words) or "game" not in words
    assert len(set(map(frozenset, (name.split(", ") for name in named.names_)))) == 3
    assert topic_names(named) == named.names_ == shown(named)


def test_a_row_order_has_no_effect_on_names(corpus):
    order = np.random.default_rng(0).permutation(len(TEXTS))
    again = vectorize([TEXTS[i] for i in order], min_df=1, max_df=1.0)
    names = [
        mt.TopicTree(3).fit(c.X, feature_names=c.vocabulary).name_topics(c).names_
        for c in (corpus, again)
    ]
    assert names[0] == names[1]


def test_inflections_are_those_of_the_language(corpus):
    tree = mt.TopicTree(3).fit(corpus.X, feature_names=corpus.vocabulary)
    assert tree.languages_ == ("en",)
    assert tree.name_topics(corpus, language="it").languages_ == ("it",)
    assert tree.name_topics(corpus, language=["en", "fr"]).languages_ == ("en", "fr")


def test_what_is_no_corpus_is_refused(model, corpus):
    for other in (corpus.X, corpus.texts, None):
        with raises(InvalidDataError, "not_a_corpus", type=type(other).__name__):
            model.name_topics(other)


def test_another_corpus_is_refused(model, corpus):
    for other in (
        vectorize(TEXTS[:9], min_df=1, max_df=1.0),
        vectorize([*TEXTS[1:], "zebra giraffe"], min_df=1, max_df=1.0),
    ):
        with raises(InvalidDataError, "corpus_not_of_fit"):
            model.name_topics(other)


def test_given_names_are_shown_and_the_others_stay(model, tmp_path, corpus):
    before = list(model.names_)
    renamed = model.rename(1, " My  topic ")
    assert model.names_ == before
    assert renamed.names_ == [before[0], "My topic", before[2]]
    assert renamed.given_names_ == {"1": "My topic"}
    assert topic_names(renamed) == renamed.names_ == shown(renamed)
    renamed.save(tmp_path / "model.mt")
    loaded = mt.load(tmp_path / "model.mt")
    assert loaded.names_ == renamed.names_
    assert loaded.given_names_ == renamed.given_names_
    assert "My topic" in loaded.to_html()
    assert renamed.name_topics(corpus).names_[1] == "My topic"
    both = loaded.rename({"0": "Other"})
    assert both.names_ == ["Other", "My topic", before[2]]


def test_one_name_after_another(model):
    renamed = model.rename(0, "A")
    with raises(InvalidParameterError, "same_name", name="A", numbers=["0", "1"]):
        renamed.rename(1, "A")
    assert renamed.rename({0: "B", 1: "A"}).names_[:2] == ["B", "A"]


def test_a_fit_forgets_names(corpus):
    for model in (mt.TopicTree(2), mt.SingleTopicModel(2)):
        named = model.fit(corpus.X, feature_names=corpus.vocabulary).rename(0, "A")
        named.fit(corpus.X, feature_names=corpus.vocabulary)
        assert named.given_names_ == {}
        assert "A" not in named.names_


@pytest.mark.parametrize(
    ("names", "code"),
    [({9: "A"}, "no_number_to_name"), ({"0-9": "A"}, "no_number_to_name"), ({0: ""}, "bad_name")],
)
def test_wrong_names_are_refused(model, names, code):
    with raises(InvalidParameterError, code):
        model.rename(names)


def test_inner_nodes_have_the_numbers_of_their_leaves(corpus):
    tree = mt.TopicTree(3, growth="depth").fit(corpus.X, feature_names=corpus.vocabulary)
    (inner,) = (n for n in tree.tree_.nodes() if not n.is_leaf and n.parent is not None)
    numbers = [leaf.leaf_id for leaf in inner.leaves()]
    renamed = tree.rename({f"{numbers[0]}-{numbers[-1]}": "Both"})
    assert [n.name for n in renamed.tree_.nodes()].count("Both") == 1
    assert "Both" in renamed.to_newick()
    assert "Both" in renamed._repr_html_()
    assert tree.to_newick() != renamed.to_newick()
    assert "0-2" not in nodes_by_number(tree.tree_)  # the root is all documents


@pytest.mark.parametrize("groups", ["tree"], indirect=True)
def test_edits_keep_the_names_of_other_groups(groups):
    model, X = groups
    renamed = model.rename({0: "First", 1: "Second", 3: "Last"})
    split = renamed.split_group(X, 0)
    merged = split.merge_groups(X, [0, 1])
    for edited in (split, merged):
        for number, name in edited.given_names_.items():
            (old,) = (int(k) for k, v in renamed.given_names_.items() if v == name)
            first, _, last = number.partition("-")
            here = np.arange(int(first), int(last or first) + 1)
            np.testing.assert_array_equal(
                np.flatnonzero(np.isin(edited.labels_, here)),
                np.flatnonzero(renamed.labels_ == old),
            )
            assert last or edited.names_[int(number)] == name
    # In a tree, the group that was split is now an inner node.
    assert sorted(split.given_names_.values()) == ["First", "Last", "Second"]
    assert "First" not in split.names_


def test_the_page_of_records_shows_given_names(groups):
    model, X = groups
    assert "My group" in model.rename(1, "My group").to_html(X=X)


def test_names_of_records_differ(groups):
    names = [set(name.split(", ")) for name in groups[0].names_]
    assert all(name not in names[:i] for i, name in enumerate(names))
