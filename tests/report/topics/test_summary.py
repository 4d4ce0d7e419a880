"""The summary dictionary: structure, numbers, limits and bad input."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import npmi_coherence, relevance, umass_coherence
from momentree.report import render_html, summarize
from momentree.report.topics.evidence import Evidence
from tests.raising import raises


def summary_of(case, **options):
    return summarize(case.estimator, case.X, **{**case.arguments, **options})


def test_nodes_mirror_the_tree(case):
    summary = summary_of(case)
    nodes = list(case.estimator.tree_.nodes())
    assert [entry["id"] for entry in summary["nodes"]] == list(range(7))
    for entry, node in zip(summary["nodes"], nodes, strict=True):
        assert entry["parent"] == (None if node.parent is None else node.parent.node_id)
        assert entry["children"] == [child.node_id for child in node.children]
        assert entry["depth"] == node.depth
        assert entry["leaf"] == node.leaf_id
        assert entry["n_samples"] == node.n_samples
        assert entry["share"] == pytest.approx(node.weight)
        assert entry["gain"] == pytest.approx(node.gain)
        assert entry["reason"] == str(node.reason or "")
    assert summary["nodes"][0]["name"] == "All documents"
    assert summary["nodes"][2]["name"] == nodes[2].name
    assert (summary["n_documents"], summary["n_features"], summary["n_leaves"]) == (120, 240, 4)


def test_words_are_the_most_relevant_for_every_lambda(case):
    summary = summary_of(case, n_words=12)
    words, base = np.array(summary["words"]["word"]), np.array(summary["words"]["p"])
    root = case.estimator.tree_
    for entry, node in zip(summary["nodes"], root.nodes(), strict=True):
        index, p = np.array(entry["words"]["index"]), np.array(entry["words"]["p"])
        with np.errstate(divide="ignore"):
            for lam in np.linspace(0, 1, 21):
                exact = np.asarray(relevance(node.center[np.newaxis], root.center, lam))[0]
                best = np.sort(exact)[::-1][:12]
                shipped = np.log(p) - (1 - lam) * np.log(base[index])
                # Shipped probabilities have nine digits.
                np.testing.assert_allclose(np.sort(shipped)[::-1][:12], best, atol=4e-9)
        columns = [np.flatnonzero(case.estimator.vocabulary_ == w)[0] for w in words[index]]
        np.testing.assert_allclose(p, node.center[columns], rtol=1e-8)
        exact = np.log(node.center[columns]) - 0.3 * np.log(root.center[columns])
        top = [words[j] for j in entry["top"]]
        assert top == [words[index[j]] for j in np.lexsort((-p, -np.round(exact, 9)))[:12]]


def test_labels_are_counted_per_node(case):
    labels = list(case.labels)
    labels[0] = None
    labels[1:4] = ["rare"] * 3
    summary = summary_of(case, labels=labels)
    for entry, node in zip(summary["nodes"], case.estimator.tree_.nodes(), strict=True):
        mine = [labels[i] for i in node.samples if labels[i] is not None]
        expected = {name: mine.count(name) for name in set(mine)}
        assert {summary["labels"][code]: n for code, n in entry["labels"]} == expected
        assert [n for _, n in entry["labels"]] == sorted(expected.values(), reverse=True)
        assert entry["other_labels"] == 0
    known = [i for i, label in enumerate(labels) if label is not None]
    truth, found = [labels[i] for i in known], case.estimator.labels_[known]
    pairs = Counter(zip(found, truth, strict=True))
    largest = sum(max(n for (leaf, _), n in pairs.items() if leaf == j) for j in set(found))
    assert summary["agreement"] == {
        "n_labeled": len(known),
        "nmi": pytest.approx(normalized_mutual_info_score(truth, found), abs=1e-4),
        "ari": pytest.approx(adjusted_rand_score(truth, found), abs=1e-4),
        "purity": pytest.approx(largest / len(known), abs=1e-4),
    }


def test_many_labels_are_listed_up_to_a_limit(make_case):
    case = make_case(400)
    summary = summary_of(case, labels=[f"label {i}" for i in range(400)])
    root = summary["nodes"][0]
    assert len(root["labels"]) == 40
    assert root["other_labels"] == 360


def test_coherence_is_that_of_the_ten_words_shown(case):
    summary = summary_of(case)
    words = summary["words"]["word"]
    column = {word: j for j, word in enumerate(case.estimator.vocabulary_)}
    for entry in summary["nodes"]:
        top = [[column[words[i]] for i in entry["top"][:10]]]
        assert entry["coherence"]["umass"] == pytest.approx(umass_coherence(top, case.X)[0])
        assert entry["coherence"]["npmi"] == pytest.approx(npmi_coherence(top, case.X)[0], abs=1e-6)


def test_typical_documents_belong_to_their_node(case):
    summary = summary_of(case, n_documents=3)
    items = summary["documents"]["items"]
    for entry, node in zip(summary["nodes"], case.estimator.tree_.nodes(), strict=True):
        rows = [items[at]["row"] for at in entry["documents"]]
        assert len(rows) == len(set(rows)) == 3
        assert set(rows) <= set(node.samples.tolist())
    item = next(item for item in items if item["row"] == 7)
    assert item == {**item, "row": 7, "id": "doc-00007", "leaf": 0}
    assert summary["labels"][item["label"]] == "planet"
    assert case.texts[7].startswith(item["text"][:40])


def test_few_labels_have_no_agreement(case):
    """As in a table whose first rows alone have a label: random ones would seem to agree."""
    labels = [None if i % 10 else label for i, label in enumerate(case.labels)]
    summary = summarize(case.estimator, case.X, labels=labels)
    assert summary["agreement"] is None
    assert "12 documents" in summary["no_agreement"]
    assert summary["no_agreement"] in summary["notes"]
    # One label each is a name, not a group.
    ids = [str(i) for i in range(len(case.labels))]
    assert summarize(case.estimator, case.X, labels=ids)["agreement"] is None
    half = [label if i % 2 else None for i, label in enumerate(case.labels)]
    assert summarize(case.estimator, case.X, labels=half)["agreement"]["n_labeled"] == 60


def test_equal_labels_have_no_agreement(case):
    """As in a folder with one sub-folder: an agreement of 0 would be read as bad topics."""
    labels = ["news" if i % 2 else None for i in range(case.X.shape[0])]
    summary = summarize(case.estimator, case.X, labels=labels)
    assert summary["labels"] == ["news"]
    assert summary["agreement"] is None


def test_without_data_there_are_words_only(case):
    summary = summarize(case.estimator)
    assert all(entry["coherence"] is None for entry in summary["nodes"])
    assert all(entry["documents"] == [] for entry in summary["nodes"])
    assert summary["labels"] is None
    assert summary["agreement"] is None
    assert summary["documents"]["items"][5] == {
        "row": 5,
        "id": "5",
        "label": None,
        "leaf": 0,
        "text": "",
    }
    assert "Topics of 120 documents" in render_html(summary)


def test_count_data_shows_the_words_of_a_document(case):
    summary = summarize(case.estimator, case.X)
    item = next(item for item in summary["documents"]["items"] if item["row"] == 0)
    words = [part.split(" ")[0] for part in item["text"].split(", ")]
    row = case.X[[0]]
    assert set(words) <= set(case.estimator.vocabulary_[row.indices])


@pytest.mark.parametrize(
    "convert",
    [lambda X: X.toarray(), sp.csc_array, sp.csr_matrix, lambda X: pd.DataFrame(X.toarray())],
    ids=["dense", "csc", "matrix", "frame"],
)
def test_any_form_of_the_counts_gives_the_same_summary(case, convert):
    other = summarize(case.estimator, convert(case.X), **case.arguments)
    assert other == summary_of(case)


def test_inputs_are_not_changed(case):
    before, labels = case.X.copy(), list(case.labels)
    summary_of(case)
    assert (before != case.X).nnz == 0
    assert case.labels == labels


def test_provenance_says_how_it_was_made(case):
    made = summary_of(case, made_with={"input": "a.csv", "seconds": np.float64(0.5), "n": 3})[
        "made"
    ]
    assert made["parameters"] == {
        "estimator": "FittedTree",
        "log_scaling": None,
        "max_leaf_nodes": 4,
    }
    assert set(made["versions"]) == {"momentree", "numpy", "scipy", "scikit-learn", "python"}
    assert made["notes"] == {"input": "a.csv", "seconds": 0.5, "n": 3}


def test_the_summary_is_json_and_the_same_every_time(case):
    first = json.dumps(summary_of(case), allow_nan=False)
    assert first == json.dumps(summary_of(case), allow_nan=False)
    assert json.loads(first) == summary_of(case)


def test_a_page_lists_as_many_documents_as_requested(make_case):
    case = make_case(1000, length=30)
    for wanted, shown in (
        (0, {0}),
        (200, range(200, 200 + 7 * 8)),
        (1000, {1000}),
        ("all", {1000}),
    ):
        documents = summary_of(case, documents=wanted)["documents"]
        assert documents["shown"] == len(documents["items"])
        assert documents["shown"] in shown
        assert documents["sampled"] == (documents["shown"] < 1000)
        assert documents["total"] == 1000
        leaves = [item["leaf"] for item in documents["items"]]
        assert leaves == sorted(leaves)
        if wanted:
            np.testing.assert_allclose(np.bincount(leaves) / len(leaves), 0.25, atol=0.03)
        assert all(case.ids[item["row"]] == item["id"] for item in documents["items"])


def test_documents_of_a_leaf_are_in_the_order_of_their_scores_after_the_typical_ones(case):
    summary = summary_of(case, n_documents=3)
    items, root = summary["documents"]["items"], case.estimator.tree_
    evidence = Evidence.of(case.X, root.center)
    for entry, node in zip(summary["nodes"], root.nodes(), strict=True):
        if entry["leaf"] is not None:
            mine = [at for at, item in enumerate(items) if item["leaf"] == entry["leaf"]]
            assert mine[:3] == entry["documents"]
            scores = evidence.scores(node.center)[[items[at]["row"] for at in mine[3:]]]
            assert (np.diff(scores) <= 1e-12).all()


@pytest.mark.parametrize(
    ("n", "searched"), [(3000, 320), pytest.param(13_000, 120, marks=pytest.mark.long)]
)
def test_the_page_of_many_documents_stays_under_4_mb(make_case, n, searched):
    case = make_case(n, length=20)
    # Letters at random, of three bytes each, are hardly compressed.
    letters = np.random.default_rng(0).integers(0x4E00, 0x9F00, n * 400, dtype=np.uint32)
    text = letters.astype("<u4").tobytes().decode("utf-32-le")
    summary = summary_of(case, texts=[text[400 * i : 400 * (i + 1)] for i in range(n)])
    assert summary["documents"]["searched"] == searched
    assert summary["documents"]["sampled"] == (searched == 120)
    page = render_html(summary).encode()
    assert searched == 320 or len(page) > 3_300_000  # it uses the room
    assert len(page) < 4_000_000


def test_a_single_leaf_and_an_empty_text(make_case):
    case = make_case(8, groups=0)
    summary = summary_of(case, texts=["", None, *case.texts[2:]])
    assert summary["n_leaves"] == 1
    assert summary["nodes"][0]["name"] == case.estimator.tree_.name
    texts = {item["row"]: item["text"] for item in summary["documents"]["items"]}
    assert [texts[0], texts[1]] == ["", ""]


@pytest.mark.parametrize("name", ["ids", "texts", "labels"])
def test_wrong_lengths_are_refused(case, name):
    with raises(InvalidDataError, "not_one_each", parameter=name, found=3, needed=120):
        summarize(case.estimator, **{name: ["a", "b", "c"]})


def test_another_matrix_is_refused(case):
    with raises(InvalidDataError, "not_of_fit", data="X", shape="(120, 239)"):
        summarize(case.estimator, case.X[:, :-1])


@pytest.mark.parametrize(
    "options",
    [
        {"n_words": 0},
        {"n_documents": -1},
        {"n_words": 2.5},
        {"documents": -1},
        {"documents": "some"},
        {"documents": 0.5},
    ],
)
def test_bad_parameters_are_refused(case, options):
    with pytest.raises(InvalidParameterError):
        summarize(case.estimator, **options)
