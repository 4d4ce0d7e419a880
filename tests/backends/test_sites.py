"""Sites share sums, never rows: the results of pooled rows, and refusals of anything else."""

from __future__ import annotations

import ast
import io
import multiprocessing
import zipfile
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import momentree
from momentree import (
    BernoulliMixture,
    ClusterTree,
    LatentDirichletAllocation,
    PoissonMixture,
    SingleTopicModel,
    Site,
    Sites,
    TopicTree,
    choose_n_components,
)
from momentree.backends import products
from momentree.backends.kernels import KERNELS
from momentree.backends.questions import decoded, encoded
from momentree.exceptions import InvalidDataError, MomentreeWarning, ReadError

from ..raising import raises, warns

K, D, N = 3, 20, 240


def records(seed=0):
    """Draw coded records: zeros and ones."""
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet(np.full(D, 0.2), K)
    return (rng.multinomial(30, rates[rng.choice(K, size=N)]) > 0) * 1.0


def at_sites(X, *, min_count=1, cuts=(50, 130)):
    return Sites([Site(part, min_count=min_count) for part in np.split(X, cuts)])


TREES = {
    "clusters": ClusterTree(3),
    "clusters without EM": ClusterTree(3, refine=None),
    "topics": TopicTree(3, search="none"),
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_three_hospitals_grow_the_tree_of_pooled_records(tree):
    X = records()
    sites = at_sites(X)
    found, pooled = clone(tree).fit(sites), clone(tree).fit(X)
    assert found.n_leaves_ == pooled.n_leaves_ == 3
    for a, b in zip(found.leaves_, pooled.leaves_, strict=True):
        np.testing.assert_allclose(a.center, b.center, rtol=0, atol=1e-9)
        assert a.weight == pytest.approx(b.weight)
        assert a.n_samples == b.n_samples
        assert len(a.samples) == 0  # they stay at the sites
        # The words of topics that are shown depend on the documents, which stay at the sites.
        assert a.name == b.name or isinstance(tree, TopicTree)
    assert found.tree_.gain == pytest.approx(pooled.tree_.gain)
    np.testing.assert_array_equal(found.predict(X), pooled.labels_)
    assert len(found.labels_) == 0  # labels stay at the sites
    assert found.to_frame().n_samples.tolist() == pooled.to_frame().n_samples.tolist()
    assert [leaf.n_samples for leaf in found.cut(2).leaves_] == [
        leaf.n_samples for leaf in pooled.cut(2).leaves_
    ]
    # Every site sends sums of d or k numbers in each round, whatever its number of rows.
    assert max(sites.bytes_sent_) < 1.2 * min(sites.bytes_sent_)


def test_three_hospitals_with_patients_of_diabetes130(shared_data):
    X = sp.csr_array(sp.load_npz(shared_data / "diabetes130" / "X_patient_3digit.npz"))[::8]
    part = np.random.default_rng(0).integers(0, 3, size=X.shape[0])
    sites = Sites([Site(X[np.flatnonzero(part == i)], min_count=1) for i in range(3)])
    found, pooled = ClusterTree(4).fit(sites), ClusterTree(4).fit(X)
    assert found.n_leaves_ == 4
    np.testing.assert_array_equal(found.predict(X), pooled.labels_)
    for a, b in zip(found.leaves_, pooled.leaves_, strict=True):
        np.testing.assert_allclose(a.center, b.center, rtol=0, atol=1e-9)
    assert not any(sites.suppressed_.values())


def test_a_saved_tree_of_sites_keeps_its_numbers_of_samples(tmp_path):
    tree = ClusterTree(3).fit(at_sites(records()))
    tree.save(tmp_path / "tree.mt")
    loaded = ClusterTree.load(tmp_path / "tree.mt")
    assert [leaf.n_samples for leaf in loaded.leaves_] == [leaf.n_samples for leaf in tree.leaves_]
    assert loaded.tree_.n_samples == N


def test_trees_that_need_single_rows_are_refused():
    sites = at_sites(records())
    with raises(InvalidDataError, "rows_needed_here"):
        ClusterTree("auto").fit(sites)
    with raises(InvalidDataError, "rows_always_needed_here"):
        ClusterTree(3, data="real").fit(sites)


def test_only_fit_accepts_sites():
    sites = at_sites(records())
    model = PoissonMixture(K).fit(sites)
    for call in (model.partial_fit, model.predict, model.score, choose_n_components):
        with raises(InvalidDataError, "rows_are_for_fit", type="Sites"):
            call(sites)


MIXTURES = {
    "topics": SingleTopicModel(K, start="moments"),
    "counts": PoissonMixture(K, start="moments"),
    "records": BernoulliMixture(K, start="moments"),
    "without EM": PoissonMixture(K, start="moments", refine=None),
    "allocation": LatentDirichletAllocation(K, start="moments", refine=None),
}


@pytest.mark.parametrize("model", MIXTURES.values(), ids=MIXTURES)
def test_three_hospitals_fit_the_mixture_of_pooled_rows(model):
    X = records()
    found, pooled = clone(model).fit(at_sites(X)), clone(model).fit(X)
    np.testing.assert_allclose(found.components_, pooled.components_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.weights_, pooled.weights_, rtol=0, atol=1e-9)
    assert found.n_iter_ == pooled.n_iter_


def test_the_division_into_sites_has_no_effect():
    X = records()
    first = PoissonMixture(K).fit(at_sites(X, cuts=(80, 160)))
    for cuts in ((1,), (30, 60, 90, 200)):
        again = PoissonMixture(K).fit(at_sites(X, cuts=cuts))
        np.testing.assert_allclose(again.components_, first.components_, rtol=0, atol=1e-9)


def serve(rows, pipe):
    """A site in a process of its own, which reads and writes bytes only."""
    site = Site(rows, min_count=1)
    while (question := pipe.recv_bytes()) != b"":
        pipe.send_bytes(site.answer(question))


def test_sites_in_other_processes():
    X = sp.csr_array(records())
    context = multiprocessing.get_context("fork")
    pipes, processes = [], []
    for part in (X[:100], X[100:]):
        ours, theirs = context.Pipe()
        processes.append(context.Process(target=serve, args=(part, theirs), daemon=True))
        processes[-1].start()
        pipes.append(ours)

    def transport(pipe):
        def ask(question):
            pipe.send_bytes(question)
            return pipe.recv_bytes()

        return ask

    sites = Sites([transport(pipe) for pipe in pipes])
    total = sites.sum(products.transposed_product, np.ones(N))
    np.testing.assert_array_equal(total, X.sum(axis=0))
    for pipe, process in zip(pipes, processes, strict=True):
        pipe.send_bytes(b"")
        process.join(10)


def test_rows_stay():
    sites = at_sites(records())
    scores = sites.map(partial(products.product, V=np.ones(D)))
    assert len(scores) == N
    with raises(InvalidDataError, "rows_stay"):
        np.asarray(scores)
    with raises(InvalidDataError, "rows_stay"):
        list(sites.pieces())
    one = np.zeros(N)
    one[3] = 1  # a weight that is zero but for one row would ask for that row
    with raises(InvalidDataError, "row_arrays_stay"):
        sites.sum(products.transposed_product, one)
    with raises(InvalidDataError, "row_arrays_stay"):
        TopicTree(4, search="none").fit(sites, sample_weight=one + 1)


def test_row_arrays_that_nobody_needs_are_forgotten():
    site = Site(records(), min_count=1)
    sites = Sites([site])
    for _ in range(20):
        sites.total(sites.map(partial(products.product, V=np.ones(D))))
    assert site.n_kept_ <= 2


def test_maps_go_with_the_next_sum_and_again_if_a_site_was_out_of_reach():
    X = records()
    first, second = Site(X[:99], min_count=1), Site(X[99:], min_count=1)
    down = []

    def transport(question):
        if down:
            raise ConnectionError(down.pop())
        return second(question)

    sites = Sites([first, transport])
    groups = sites.map(
        products.largest_column, sites.map(partial(products.product, V=np.eye(D)[:, :2]))
    )
    assert sites.rounds_ == 0
    down.append("no answer")
    with pytest.raises(ConnectionError):
        sites.sum(partial(products.group_sizes, n_groups=2), groups, np.ones(N))
    sizes = sites.sum(partial(products.group_sizes, n_groups=2), groups, np.ones(N))
    assert sizes.tolist() == [(X[:, 0] >= X[:, 1]).sum(), (X[:, 0] < X[:, 1]).sum()]
    assert sites.rounds_ == 1


@dataclass(frozen=True)
class Smuggler:
    """Not one of the questions."""

    def __call__(self, B, *arrays):
        return B.dot(np.eye(D))


def test_only_the_closed_list_is_answered():
    sites = at_sites(records())
    for kernel in (Smuggler(), lambda B: B.tdot(np.ones(3))):
        with raises(InvalidDataError, "not_in_a_question"):
            sites.sum(kernel)
    site = Site(records(), min_count=1)
    question = {
        "do": "sum",
        "round": 2,
        "kernel": products.total,
        "arrays": [{"entry": np.ones(())}],
    }
    good = encoded(question)
    assert "sum" in decoded(site.answer(good))
    changes = {
        b"backends.products.total": b"os.system",
        b'"do"': b'"da"',
        b'"sum"': b'"all"',
        b'"arrays"': b'"orrays"',
    }
    for old, new in changes.items():
        answer = decoded(site.answer(changed(good, old, new)))
        assert list(answer) == ["refused"]
    for bad in (b"", b"PK", good[: len(good) // 2], encoded({"do": "map"})):
        assert list(decoded(site.answer(bad))) == ["refused"]
    with raises(ReadError, "damaged_question"):
        decoded(good[:30])


def changed(content, old, new):
    """Return an archive with other bytes in its members."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(out, "w") as copy:
        members = {name: archive.read(name) for name in archive.namelist()}
        assert any(old in value for value in members.values())
        for name, value in members.items():
            copy.writestr(name, value.replace(old, new))
    return out.getvalue()


def test_the_questions_exist_and_cannot_change():
    for name, question in KERNELS.items():
        module, _, kind = name.rpartition(".")
        assert getattr(import_module(f"momentree.{module}"), kind) is question, name
        if isinstance(question, type):
            assert question.__dataclass_params__.frozen, name


# Kernels of what needs single rows, or of sums made at a site itself.
NOT_ASKED = {
    "inference.lda.VariationalBound",
    "moments.pairs.PairRows",
}


def test_every_kernel_is_a_question():
    package = Path(momentree.__file__).parent
    found = set()
    for path in package.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        module = ".".join(path.relative_to(package).with_suffix("").parts)
        if "def __call__(self, B" in source:
            found |= {f"{module}.{name}" for name in unregistered(source)}
    assert found == NOT_ASKED
    assert not [name for name in KERNELS if "._" in name]


def unregistered(source):
    """Yield the public classes that are called with a block first and are not registered."""
    for one in ast.parse(source).body:
        if not isinstance(one, ast.ClassDef) or one.name.startswith("_"):
            continue
        registered = any(
            "kernel" in (getattr(decorator, "id", ""), getattr(decorator, "attr", ""))
            for decorator in one.decorator_list
        )
        calls = [f for f in one.body if isinstance(f, ast.FunctionDef) and f.name == "__call__"]
        if calls and [a.arg for a in calls[0].args.args[1:2]] == ["B"] and not registered:
            yield one.name


def test_rare_columns_and_small_groups_are_suppressed():
    X = records().astype(np.int8)  # SciPy warns of some products with small types
    X[:, 0] = 0
    X[[1, 2, 60, 61, 62, 63, 64], 0] = 1  # two at the first site, five at the second
    with warns(MomentreeWarning, "sites_suppress"):
        sites = at_sites(X, min_count=5)
    ones = np.ones(N)
    total = sites.sum(products.transposed_product, ones)
    assert total[0] == 5
    assert sites.suppressed_["columns"] >= 1
    # The second site leaves out its three rows without the groups' most frequent code.
    X = np.ones((60, 2))
    X[:3, 1] = 0
    X[30:50, 1] = 0
    two = Sites([Site(X[:30], min_count=5), Site(X[30:], min_count=5)])
    largest = two.map(
        products.largest_column,
        two.map(partial(products.product, V=np.array([[0.5, 0.0], [0.0, 1.0]]))),
    )
    with warns(MomentreeWarning, "sites_suppress"):
        sums = two.sum(partial(products.group_sizes, n_groups=2), largest, np.ones(60))
    assert sums.tolist() == [20, 37]
    assert two.suppressed_ == {"columns": 0, "rows": 3, "sums": 0}


def test_bad_sites():
    X = records()
    with raises(InvalidDataError, "no_sites"):
        Sites([])
    with raises(InvalidDataError, "too_few_rows_to_release"):
        Site(X[:4])
    with raises(InvalidDataError, "missing_in_moments"):
        Site(np.where(X > 0, np.nan, 0))
    names = [f"c{i}" for i in range(D)]
    frame = pd.DataFrame(X, columns=names)
    with raises(InvalidDataError, "sites_with_other_columns"):
        Sites([Site(frame, min_count=1), Site(frame[names[::-1]], min_count=1)])
    sites = Sites([Site(frame[:99], min_count=1), Site(frame[99:], min_count=1)])
    tree = TopicTree(3, search="none").fit(sites)
    assert tree.feature_names_in_.tolist() == names

    with raises(InvalidDataError, "not_a_site"):
        Sites([frame])
    with raises(InvalidDataError, "same_site_twice"):
        Sites([Site(frame[:99]), Site(frame[99:]), Site(frame[:99])])


ANSWERS = {
    "nothing": None,
    "text": "hello",
    "no bytes": b"",
    "other bytes": b"hello",
    "another answer": encoded({"x": 1}),
    "a list": encoded([1, 2]),
    "words": encoded({"sum": "many", "left_out": 0}),
    "no number": encoded({"sum": np.array(np.nan), "left_out": 0}),
    "another shape": encoded({"sum": np.ones(3), "left_out": 0}),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_bad_answers(answer):
    X = records()
    good, bad = Site(X[:99], min_count=1), Site(X[99:], min_count=1)
    with raises(InvalidDataError, "bad_answer"):
        Sites([good, lambda _: answer])
    sites = Sites([good, lambda question: bad(question) if bad.bytes_sent_ == 0 else answer])
    with raises(InvalidDataError, "bad_answer"):
        sites.sum(products.transposed_product, np.ones(N))
    with raises(InvalidDataError, "site_refuses"):
        Sites([lambda _: encoded({"refused": "not today"})])
