"""The report of flat models: summary and page."""

import copy
import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import momentree as mt
from momentree import LatentDirichletAllocation, PoissonMixture, SingleTopicModel
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.metrics import npmi_coherence, umass_coherence
from momentree.report import render_html, summarize, write_html
from momentree.report.topics import topic_names
from tests.raising import raises

from ..pages import ALLOWED_SCRIPTS, ATTACKS, read, read_data

MODELS = {
    "single-topic": lambda: SingleTopicModel(4),
    "moments": lambda: SingleTopicModel(4, refine=None),
    "lda": lambda: LatentDirichletAllocation(4),
    "poisson": lambda: PoissonMixture(4),
    "one": lambda: SingleTopicModel(1),
}


@pytest.fixture(scope="module")
def flat_case(make_case):
    return make_case()


@pytest.fixture(scope="module", params=MODELS)
def model(request, flat_case):
    words = flat_case.estimator.vocabulary_
    return MODELS[request.param]().fit(flat_case.X, feature_names=words)


@pytest.fixture(scope="module")
def topics(flat_case):
    return SingleTopicModel(4).fit(flat_case.X, feature_names=flat_case.estimator.vocabulary_)


def summary_of(model, case, **options):
    return summarize(model, case.X, **{**case.arguments, **options})


@pytest.fixture(scope="module")
def summary(model, flat_case):
    return summary_of(model, flat_case)


def test_the_summary_mirrors_the_model(model, flat_case, summary):
    k = len(model.weights_)
    leaves = [node for node in summary["nodes"] if node["leaf"] is not None]
    assert summary["kind"] == "flat"
    assert (summary["n_leaves"], len(leaves)) == (k, k)
    assert len(summary["nodes"]) == (k + 1 if k > 1 else 1)
    P = model.components_ / model.components_.sum(axis=1, keepdims=True)
    words = np.array(summary["words"]["word"])
    assert [node["share"] for node in leaves] == sorted((n["share"] for n in leaves), reverse=True)
    assert sorted(node["leaf"] for node in leaves) == list(range(k))
    for node in leaves:
        j = node["leaf"]
        assert node["share"] == node["n_samples"] / summary["n_documents"]
        assert node["n_samples"] == np.sum(model.labels_ == j)
        columns = [np.flatnonzero(model.vocabulary_ == w)[0] for w in words[node["words"]["index"]]]
        np.testing.assert_allclose(node["words"]["p"], P[j, columns], rtol=1e-8)
        column = {word: at for at, word in enumerate(model.vocabulary_)}
        top = [[column[words[i]] for i in node["top"][:10]]]
        assert node["coherence"]["npmi"] == pytest.approx(
            npmi_coherence(top, flat_case.X)[0], abs=1e-6
        )
        assert node["coherence"]["umass"] == pytest.approx(
            umass_coherence(top, flat_case.X)[0], abs=1e-6
        )
        shown = [words[i] for i in node["top"]]
        if k > 1:
            assert shown[:5] == model.top_words(5)[j]
        rows = [summary["documents"]["items"][at]["row"] for at in node["documents"]]
        assert (model.labels_[rows] == j).all()


def test_documents_have_their_proportions(model, flat_case, summary):
    proportions = model.transform(flat_case.X)
    for item in summary["documents"]["items"]:
        exact = proportions[item["row"]]
        assert item["proportions"][0][0] == int(exact.argmax())
        for j, share in item["proportions"]:
            assert share / 1000 == pytest.approx(exact[j], abs=5.1e-4)
        assert sum(share for _, share in item["proportions"]) > 900


def test_the_summary_is_json_and_the_same_every_time(model, flat_case, summary):
    first = json.dumps(summary, allow_nan=False)
    assert first == json.dumps(summary_of(model, flat_case), allow_nan=False)
    assert json.loads(first) == summary


def test_topics_are_ordered_by_their_share_of_documents(topics, flat_case):
    topics = copy.copy(topics)
    topics.labels_ = np.repeat([0, 1, 2, 3], [20, 50, 10, 40])
    proportions = np.eye(4)[topics.labels_]
    summary = summarize(topics, topic_proportions=proportions, **flat_case.arguments)
    nodes = [node for node in summary["nodes"] if node["leaf"] is not None]
    assert [node["leaf"] for node in nodes] == [1, 3, 0, 2]
    assert [node["share"] for node in nodes] == [50 / 120, 40 / 120, 20 / 120, 10 / 120]
    names = topic_names(topics)
    for node in nodes:
        assert node["name"] == names[node["leaf"]]
        assert node["n_samples"] == (topics.labels_ == node["leaf"]).sum()
    # Everything that names a topic by its number finds it.
    items = re.findall(
        r'<span class="number">(\d)</span> '
        r'<a href="#node-\d" data-named="\d" dir="auto">([^<]*)</a>: ([\d.]+)',
        render_html(summary),
    )
    assert [(int(j), name) for j, name, _ in items] == [(n["leaf"], n["name"]) for n in nodes]
    for (_, _, percent), node in zip(items, nodes, strict=True):
        assert float(percent) == pytest.approx(100 * node["share"], abs=0.051)


def test_shares_are_those_of_documents_by_their_main_topic(flat_case):
    model = MODELS["lda"]().fit(flat_case.X)
    shares = np.sort(np.bincount(model.labels_) / len(model.labels_))[::-1]
    # Documents are counted in the same way without the data.
    for data in ((), (flat_case.X,)):
        nodes = summarize(model, *data)["nodes"][1:]
        assert [node["share"] for node in nodes] == pytest.approx(shares)


def test_the_page_reads_without_scripts(model, summary):
    reader = read(render_html(summary))
    text = " ".join(" ".join(reader.text).split())
    assert f"{len(model.weights_)} topic" in text
    for words in model.top_words(3):
        assert all(word in text for word in words)
    # Each topic has an entry with its mean and its highest proportion.
    items = [a for tag, a in reader.tags if tag == "li" and "id" not in a]
    entries = [a["data-node"] for a in items if "data-node" in a]
    assert len(entries) == len(set(entries)) == len(model.weights_)
    ids = [a["id"] for _, a in reader.tags if "id" in a]
    assert len(ids) == len(set(ids))
    links = {a["href"][1:] for t, a in reader.tags if t == "a" and a["href"].startswith("#")}
    assert links <= set(ids)
    for _, attributes in reader.tags:
        for name in ("aria-controls", "aria-labelledby", "aria-describedby", "for"):
            if name in attributes:
                assert attributes[name] in ids


def test_hostile_text_stays_text(flat_case):
    n = len(flat_case.ids)
    turn = [ATTACKS[i % len(ATTACKS)] for i in range(n)]
    words = flat_case.estimator.vocabulary_.astype(object)
    words[: len(ATTACKS)] = ATTACKS
    model = SingleTopicModel(3).fit(flat_case.X, feature_names=words)
    model.diagnostics_ = {
        **model.diagnostics_,
        "warnings": [Message(ATTACKS[0])],
        ATTACKS[1]: ATTACKS[2],
    }

    class Named(list):
        name = ATTACKS[2]

    page = model.to_html(
        X=flat_case.X, ids=turn, texts=turn, labels=turn, order=Named(range(n)), title=ATTACKS[0]
    )
    page.encode("utf-8")
    reader = read(page)
    assert len(reader.scripts) == ALLOWED_SCRIPTS
    assert not any(tag == "img" for tag, _ in reader.tags)
    assert not any(name[:2] == "on" for _, a in reader.tags for name in a)
    assert json.loads(reader.scripts[1])["title"] == ATTACKS[0]


def test_the_data_survive_and_the_bytes_are_the_same(topics, flat_case, tmp_path):
    summary = summary_of(topics, flat_case)
    assert read_data(render_html(summary)) == summary
    for name in ("a.html", "b.html"):
        write_html(summary_of(topics, flat_case), tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_to_html_writes_the_page_that_it_returns_without_a_path(topics, flat_case, tmp_path):
    given = {**flat_case.arguments, "order": list(range(len(flat_case.ids)))[::-1]}
    page = topics.to_html(None, flat_case.X, **given)
    assert topics.to_html(tmp_path / "r.html", flat_case.X, **given).read_text("utf-8") == page
    assert page == render_html(summary_of(topics, flat_case, order=given["order"]))
    areas = summary_of(topics, flat_case, order=given["order"])["areas"]
    assert areas["names"][0] == "0: doc-00119"


def test_without_data_there_are_words_and_similarities_only(topics):
    summary = summarize(topics)
    assert summary["areas"] is None
    assert summary["relations"]["correlation"] is None
    assert "proportions" not in summary["documents"]["items"][0]
    assert summary["title"] == "Topics of 120 documents"
    page = render_html(summary)
    assert 'id="tab-proportions"' not in page
    assert 'id="tab-relations"' in page
    assert "Correlation of" not in page


def test_a_tree_gets_the_chart_when_it_is_given_an_order(case):
    assert summarize(case.estimator, case.X)["areas"] is None
    summary = summarize(case.estimator, case.X, **case.arguments, order=range(120))
    proportions = np.array(summary["areas"]["proportions"])
    assert (proportions.argmax(axis=0) == case.estimator.labels_).all()
    page = render_html(summary)
    assert 'id="tab-proportions"' in page
    assert 'id="tab-relations"' not in page


@pytest.mark.long
def test_many_topics_and_documents_keep_the_page_small(large_case):
    rng = np.random.default_rng(0)
    model = SingleTopicModel(4).fit(large_case.X)
    model.components_ = rng.dirichlet(np.full(240, 0.1), size=60)
    model.weights_ = np.full(60, 1 / 60)
    del model._words
    model.transform = lambda X: rng.dirichlet(np.full(60, 0.05), size=X.shape[0])
    page = render_html(summarize(model, large_case.X, texts=["x " * 300] * 4500))
    assert len(page.encode()) < 3_000_000
    assert "Similar words" in page
    assert '<section class="matrix">' not in page


def test_diagnostics_are_worded(flat_case):
    model = SingleTopicModel(4, refine=None).fit(flat_case.X)
    few = Message("[too_few_samples]", found=7, needed=10)
    model.diagnostics_ = {**model.diagnostics_, "warnings": [few], "reason": few}
    summary = summary_of(model, flat_case)
    found = summary["diagnostics"]
    assert str(few) in found["warnings"][0]
    assert found["warnings"][1:] == [str(few)]
    assert found["values"]["reason"] == str(few)
    assert len(found["values"]["eigenvalues"]) >= 4
    for sentence in found["warnings"]:
        assert sentence in " ".join(read(render_html(summary)).text)


def test_warnings_on_the_start_are_not_on_the_refined_result(flat_case):
    model = SingleTopicModel(4).fit(flat_case.X)
    few = Message("[too_few_samples]", found=7, needed=10)
    model.diagnostics_ = {**model.diagnostics_, "warnings": [few]}
    found = summary_of(model, flat_case)["diagnostics"]
    assert any(str(few) in sentence for sentence in found["words"])
    assert found["warnings"] == []


def test_the_page_knows_how_much_of_a_text_can_be_searched(topics, flat_case):
    texts = ["word " * 20] * 120
    assert summarize(topics, texts=texts)["documents"]["searched"] is None
    texts[7] = "word " * 200
    found = summarize(topics, texts=texts)["documents"]
    assert found["searched"] == 320
    assert 300 < max(len(item["text"]) for item in found["items"]) <= 320


def test_bad_input_is_refused(topics, flat_case):
    with raises(InvalidDataError, "not_one_each", parameter="ids", found=1, needed=120):
        summarize(topics, flat_case.X, ids=["a"])
    with raises(InvalidDataError, "not_of_fit", data="X"):
        summarize(topics, flat_case.X[:, :-1])
    with raises(InvalidDataError, "not_one_each", parameter="order", found=3):
        summarize(topics, flat_case.X, order=[1, 2, 3])
    with pytest.raises(NotFittedError):
        summarize(SingleTopicModel(2))


@pytest.mark.parametrize(
    "model",
    [
        mt.MixedMixture(2),
        mt.GaussianMixture(2),
        mt.ClusterTree(2),
        mt.CategoricalHMM(2),
        mt.GaussianHMM(2),
        mt.MultiviewMixture(2, views=[[0], [1], [2]]),
        mt.IndependentComponents(2),
        mt.MixtureOfRegressions(2),
    ],
)
def test_models_without_topics_are_refused_with_the_right_functions(model):
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0], [9.0]], 60, axis=0) + rng.normal(size=(120, 3))
    with pytest.raises(NotFittedError):
        summarize(model)
    if isinstance(model, mt.CategoricalHMM):
        model.fit(rng.integers(3, size=(120, 1)))
    elif isinstance(model, mt.MixtureOfRegressions):
        model.fit(X, X[:, 0])
    else:
        model.fit(X)
    with raises(InvalidDataError, "not_of_topics", type=type(model).__name__) as info:
        summarize(model)
    assert "summarize_measurements" in str(info.value)
    assert "summarize_sequences" in str(info.value)


@pytest.mark.parametrize("convert", [lambda X: X.toarray(), sp.csc_array, sp.csr_matrix])
def test_any_form_of_the_counts_gives_the_same_summary(topics, flat_case, convert):
    other = summarize(topics, convert(flat_case.X), **flat_case.arguments)
    assert other == summary_of(topics, flat_case)
