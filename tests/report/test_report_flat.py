"""The report of flat models: summary, page, figures."""

import json
import re

import matplotlib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from momentree import LatentDirichletAllocation, PoissonMixture, SingleTopicModel
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import npmi_coherence, umass_coherence
from momentree.report import (
    plot_topic_shares,
    plot_topic_words,
    render_html,
    summarize,
    write_html,
)
from momentree.report._fitted import fitted

from .test_report_html import ALLOWED_SCRIPTS, ATTACKS, read

matplotlib.use("Agg")

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


def test_the_summary_mirrors_the_model(model, flat_case):
    summary = summary_of(model, flat_case)
    k = len(model.weights_)
    leaves = [node for node in summary["nodes"] if node["leaf"] is not None]
    assert summary["kind"] == "flat"
    assert (summary["n_leaves"], len(leaves)) == (k, k)
    assert len(summary["nodes"]) == (k + 1 if k > 1 else 1)
    P = model.components_ / model.components_.sum(axis=1, keepdims=True)
    words = np.array(summary["words"]["word"])
    means = model.transform(flat_case.X).mean(axis=0)
    assert [node["share"] for node in leaves] == sorted((n["share"] for n in leaves), reverse=True)
    assert sorted(node["leaf"] for node in leaves) == list(range(k))
    for node in leaves:
        j = node["leaf"]
        assert node["share"] == pytest.approx(means[j], abs=1e-12)
        assert node["n_samples"] == np.sum(model.labels_ == j)
        columns = [np.flatnonzero(model.vocabulary_ == w)[0] for w in words[node["words"]["index"]]]
        np.testing.assert_allclose(node["words"]["p"], P[j, columns], rtol=1e-8)
        top = np.argsort(-P[j], kind="stable")[np.newaxis, :10]
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


def test_documents_carry_their_shares(model, flat_case):
    summary = summary_of(model, flat_case)
    shares = model.transform(flat_case.X)
    for item in summary["documents"]["items"]:
        exact = shares[item["row"]]
        assert item["shares"][0][0] == int(exact.argmax())
        for j, share in item["shares"]:
            assert share / 1000 == pytest.approx(exact[j], abs=5.1e-4)
        assert sum(share for _, share in item["shares"]) > 900


def test_the_summary_is_json_and_the_same_every_time(model, flat_case):
    first = json.dumps(summary_of(model, flat_case), allow_nan=False)
    assert first == json.dumps(summary_of(model, flat_case), allow_nan=False)
    assert json.loads(first) == summary_of(model, flat_case)


def test_topics_come_by_the_share_that_documents_have(topics, flat_case):
    shares = np.random.default_rng(0).dirichlet([1.0, 4.0, 0.5, 2.0], size=120)
    summary = summarize(topics, shares=shares, **flat_case.arguments)
    nodes = [node for node in summary["nodes"] if node["leaf"] is not None]
    assert [node["leaf"] for node in nodes] == [1, 3, 0, 2]
    assert [node["share"] for node in nodes] == pytest.approx(shares.mean(axis=0)[[1, 3, 0, 2]])
    names = [leaf.name for leaf in fitted(topics).root.leaves()]
    for node in nodes:
        assert node["name"] == names[node["leaf"]]
        assert node["n_samples"] == (topics.labels_ == node["leaf"]).sum()
    # Everything that names a topic by its number finds it.
    items = re.findall(
        r'<span class="number">(\d)</span> <a href="#node-\d" dir="auto">([^<]*)</a>: ([\d.]+)',
        render_html(summary),
    )
    assert [(int(j), name) for j, name, _ in items] == [(n["leaf"], n["name"]) for n in nodes]
    for (_, _, percent), node in zip(items, nodes, strict=True):
        assert float(percent) == pytest.approx(100 * node["share"], abs=0.051)


def test_weights_stand_in_for_shares_that_are_not_known(flat_case):
    model = MODELS["lda"]().fit(flat_case.X)
    nodes = summarize(model)["nodes"][1:]
    assert [node["share"] for node in nodes] == pytest.approx(model.weights_)
    text = " ".join(" ".join(read(render_html(summarize(model))).text).split())
    assert "what the model expects a document to have of it" in text
    text = " ".join(" ".join(read(render_html(summarize(model, flat_case.X))).text).split())
    assert "what a document has of it on average" in text


def test_the_page_reads_without_scripts(model, flat_case):
    reader = read(render_html(summary_of(model, flat_case)))
    text = " ".join(" ".join(reader.text).split())
    assert f"{len(model.weights_)} topic" in text
    for words in model.top_words(3):
        assert all(word in text for word in words)
    assert "In words" in text
    assert "on average, most at" in text
    assert "How it went" in text
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
    model.diagnostics_ = {**model.diagnostics_, "advice": [ATTACKS[0]], ATTACKS[1]: ATTACKS[2]}

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
    assert json.loads(read(render_html(summary)).scripts[1]) == summary
    for name in ("a.html", "b.html"):
        write_html(summary_of(topics, flat_case), tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_to_html_writes_the_page_it_returns(topics, flat_case, tmp_path):
    order = list(range(len(flat_case.ids)))[::-1]
    page = topics.to_html(tmp_path / "r.html", flat_case.X, **flat_case.arguments, order=order)
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page
    assert page == render_html(summary_of(topics, flat_case, order=order))
    areas = summary_of(topics, flat_case, order=order)["areas"]
    assert areas["names"][0] == "0: doc-00119"


def test_without_data_there_are_words_and_similarities_only(topics):
    summary = summarize(topics)
    assert summary["areas"] is None
    assert summary["relations"]["correlation"] is None
    assert "shares" not in summary["documents"]["items"][0]
    assert summary["title"] == "Topics"
    page = render_html(summary)
    assert 'id="tab-shares"' not in page
    assert 'id="tab-relations"' in page
    assert "Correlation of shares" not in page


def test_a_tree_gets_the_chart_when_it_is_given_an_order(case):
    assert summarize(case.estimator, case.X)["areas"] is None
    summary = summarize(case.estimator, case.X, **case.arguments, order=range(120))
    shares = np.array(summary["areas"]["shares"])
    assert (shares.argmax(axis=0) == case.estimator.labels_).all()
    page = render_html(summary)
    assert 'id="tab-shares"' in page
    assert 'id="tab-relations"' not in page


def test_many_topics_and_documents_keep_the_page_small(make_case):
    case = make_case(4000, length=30)
    rng = np.random.default_rng(0)
    model = SingleTopicModel(4).fit(case.X)
    model.components_ = rng.dirichlet(np.full(240, 0.1), size=60)
    model.weights_ = np.full(60, 1 / 60)
    model.transform = lambda X: rng.dirichlet(np.full(60, 0.05), size=X.shape[0])
    page = render_html(summarize(model, case.X, texts=["x " * 300] * 4000))
    assert len(page.encode()) < 3_000_000
    assert "Alike in their words" in page
    assert '<section class="matrix">' not in page


def test_diagnostics_are_told_in_words(flat_case):
    model = SingleTopicModel(6, refine=None).fit(flat_case.X)
    summary = summary_of(model, flat_case)
    found = summary["diagnostics"]
    assert any("No refinement" in sentence for sentence in found["words"])
    assert found["advice"] == model.diagnostics_["advice"]
    assert len(found["values"]["eigenvalues"]) >= 6
    for sentence in found["advice"]:
        assert sentence in " ".join(read(render_html(summary)).text)


def test_advice_on_the_start_is_no_advice_on_what_was_refined(flat_case):
    model = SingleTopicModel(4).fit(flat_case.X)
    model.diagnostics_ = {**model.diagnostics_, "advice": ["Mind the gap."]}
    found = summary_of(model, flat_case)["diagnostics"]
    assert "Before the refinement: Mind the gap." in found["words"]
    assert found["advice"] == []


def test_the_page_knows_how_much_of_a_text_can_be_searched(topics, flat_case):
    texts = ["word " * 20] * 120
    assert summarize(topics, texts=texts)["documents"]["searched"] is None
    texts[7] = "word " * 200
    found = summarize(topics, texts=texts)["documents"]
    assert found["searched"] == 320
    assert 300 < len(found["items"][7]["text"]) <= 320


def test_bad_input_is_refused(topics, flat_case):
    with pytest.raises(InvalidDataError, match="the model was fitted on 120 documents"):
        summarize(topics, flat_case.X, ids=["a"])
    with pytest.raises(InvalidDataError, match="240 words"):
        summarize(topics, flat_case.X[:, :-1])
    with pytest.raises(InvalidDataError, match="order has 3 entries"):
        summarize(topics, flat_case.X, order=[1, 2, 3])
    with pytest.raises(NotFittedError, match="not fitted"):
        summarize(SingleTopicModel(2))


@pytest.mark.parametrize("convert", [lambda X: X.toarray(), sp.csc_array, sp.csr_matrix])
def test_any_form_of_the_counts_gives_the_same_summary(topics, flat_case, convert):
    other = summarize(topics, convert(flat_case.X), **flat_case.arguments)
    assert other == summary_of(topics, flat_case)


def test_the_figure_of_shares_holds_the_shares(topics, flat_case):
    shares = topics.transform(flat_case.X)
    ax = plot_topic_shares(topics, flat_case.X)
    assert len(ax.collections) == 4
    assert ax.get_xlim() == (0, 120)
    # The area of each topic in the figure is the sum of its shares.
    for j, collection in enumerate(ax.collections):
        x, y = collection.get_paths()[0].vertices.T
        area = 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
        assert area == pytest.approx(shares[:, j].sum(), abs=0.2)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0].startswith("0  ")
    same = plot_topic_shares(shares, ax=ax)
    assert same is ax
    assert len(ax.collections) == 8
    matplotlib.pyplot.close("all")


def test_the_figure_of_words_holds_the_words(topics):
    ax = plot_topic_words(topics, n_words=5)
    texts = [text.get_text() for text in ax.texts]
    for words in topics.top_words(5):
        at = texts.index(words[0])
        assert texts[at : at + 5] == words
    assert len(ax.patches) == 20
    assert max(patch.get_width() for patch in ax.patches) <= 0.9
    matplotlib.pyplot.close("all")


def test_figures_refuse_bad_input(topics, flat_case):
    with pytest.raises(InvalidDataError, match="X is missing"):
        plot_topic_shares(topics)
    with pytest.raises(InvalidDataError, match="sum to 1"):
        plot_topic_shares(np.ones((3, 2)))
    with pytest.raises(InvalidDataError, match="expected"):
        plot_topic_shares([0.5, 0.5])
    with pytest.raises(InvalidDataError, match="no array of numbers"):
        plot_topic_shares("shares")
    with pytest.raises(InvalidParameterError, match="n_words"):
        plot_topic_words(topics, n_words=0)
    with pytest.raises(InvalidParameterError, match="lam"):
        plot_topic_words(topics, lam=2.0)
