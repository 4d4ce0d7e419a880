"""Flat models that learn from batches: close to a fit of everything, with labels that stay."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from momentree import (
    BernoulliMixture,
    ClusterTree,
    GaussianMixture,
    LatentDirichletAllocation,
    MixedMixture,
    MultiviewMixture,
    PoissonMixture,
    SingleTopicModel,
    compare_models,
    load,
)
from momentree.datasets import make_lda
from momentree.exceptions import EmptyCorpusError, InvalidDataError, MomentreeWarning
from momentree.metrics import recovery_error

from ..raising import raises

K, D = 5, 50
TOPICS = (np.kron(np.eye(K), np.ones(D // K)) * 0.7 + 0.3 * K / D) / (D // K * 0.7 + 0.3 * K)
WORDS = [f"word{i}" for i in range(D)]


def documents(topics, n, seed=0, *, length=30):
    """Documents of topics in turn, and their topics."""
    rng = np.random.default_rng(seed)
    which = rng.choice(topics, size=n)
    return rng.multinomial(length, TOPICS[which]), which


KINDS = {
    "single-topic": SingleTopicModel(K),
    "without log scaling": SingleTopicModel(K, log_scaling=None),
    "poisson": PoissonMixture(K),
    "bernoulli": BernoulliMixture(K),
}


def data_of(model, topics, n, seed=0):
    X, which = documents(topics, n, seed)
    return (X > 0 if isinstance(model, BernoulliMixture) else X), which


def fresh(name):
    return type(KINDS[name])(**KINDS[name].get_params())


@pytest.mark.parametrize("name", KINDS)
def test_batches_give_almost_what_a_fit_of_all_samples_gives(name):
    """The difference is small against the sampling error, here less than a fifth of it."""
    model = fresh(name)
    X, _ = data_of(model, range(K), 2000)
    for batch in np.split(X, 4):
        model.partial_fit(batch)
    whole = fresh(name).fit(X)
    half = fresh(name).fit(X[:1000])
    # Between a fit of half of the samples and of all there is about one standard error.
    error = recovery_error(half.components_, whole.components_)
    assert recovery_error(model.components_, whole.components_) < 0.2 * error
    assert np.abs(np.sort(model.weights_) - np.sort(whole.weights_)).max() < 0.002
    assert model.n_samples_seen_ == 2000
    assert {group.status for group in model.changes_} == {"stayed"}


def test_batches_of_topics_that_overlap_stay_within_the_sampling_error():
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(40, 0.3), size=3)
    topics = 0.5 * topics + 0.5 * topics.mean(axis=0)
    which = rng.choice(3, size=6000)
    X = rng.multinomial(15, topics[which])
    model = SingleTopicModel(3, log_scaling=None)
    for batch in np.split(X, 6):
        model.partial_fit(batch)
    whole = SingleTopicModel(3, log_scaling=None).fit(X)
    # An L1 error of 1.5 times the error of all samples together is within the error of a half.
    best = recovery_error(whole.components_, topics)
    assert recovery_error(model.components_, topics) < 1.5 * best


@pytest.mark.long
def test_topics_of_mixed_documents_improve_with_each_batch():
    sample = make_lda(2000, 60, 3, alpha=0.6, length=60, random_state=0)
    model = LatentDirichletAllocation(3)
    errors = []
    for batch in np.split(sample.X.toarray(), 4):
        model.partial_fit(batch)
        errors.append(recovery_error(model.components_, sample.components))
    whole = LatentDirichletAllocation(3).fit(sample.X)
    assert errors[-1] < 0.75 * errors[0]
    # Four times the samples halve the error; inference from one batch at a time costs a part.
    assert errors[-1] < 1.5 * recovery_error(whole.components_, sample.components)


@pytest.mark.parametrize("name", ["single-topic", "bernoulli"])
def test_the_order_of_rows_in_a_batch_has_no_effect(name):
    X, _ = data_of(KINDS[name], range(K), 800)
    order = np.random.default_rng(1).permutation(400)
    one, other = fresh(name), fresh(name)
    for at in (slice(0, 400), slice(400, 800)):
        one.partial_fit(X[at])
        other.partial_fit(X[at][order])
    assert np.array_equal(one.components_, other.components_)
    assert np.array_equal(one.labels_[order], other.labels_)


def test_a_fit_is_continued():
    X, _ = documents(range(K), 2000)
    model = SingleTopicModel(K).fit(X[:1000])
    before = model.components_
    model.partial_fit(X[1000:])
    assert model.n_samples_seen_ == 2000
    assert np.abs(model.components_ - before).sum(axis=1).max() < 0.1
    assert model.fit(X[:1000]).n_samples_seen_ == 1000
    assert np.array_equal(model.components_, before)


@pytest.mark.parametrize(
    ("name", "half_life"),
    [("single-topic", 1.0), ("without log scaling", None), ("poisson", 1.0), ("bernoulli", None)],
)
def test_a_topic_appears_and_another_vanishes(name, half_life):
    model = fresh(name).set_params(n_components=4, half_life=half_life)
    for seed in range(2):
        X, which = data_of(model, [0, 1, 2, 3], 500, seed)
        model.partial_fit(X)
    gone = int(np.bincount(model.labels_[which == 3]).argmax())
    names = model.names_
    X, which = data_of(model, [0, 1, 2, 4], 500, 9)
    model.partial_fit(X)
    changes = model.changes_
    assert [group.new for group in changes.of("appeared")] == [gone]
    assert [group.old for group in changes.of("vanished")] == [gone]
    assert len(changes.of("stayed")) == 3
    assert np.bincount(model.labels_[which == 4]).argmax() == gone
    kept = [j for j in range(4) if j != gone]
    assert [model.names_[j] for j in kept] == [names[j] for j in kept]
    assert model.names_[gone] != names[gone]
    assert "appeared" in str(changes)
    assert "vanished" in str(changes)


def test_an_absent_topic_is_reported_and_kept():
    model = SingleTopicModel(4)
    for seed in range(2):
        model.partial_fit(documents([0, 1, 2, 3], 500, seed)[0])
    before = model.components_
    model.partial_fit(documents([0, 1, 2], 500, 5)[0])
    (gone,) = model.changes_.of("vanished")
    assert gone.new == gone.old
    assert np.abs(model.components_[gone.new] - before[gone.new]).sum() < 0.02


def test_samples_unlike_all_topics_are_reported():
    model = SingleTopicModel(3)
    model.partial_fit(documents([0, 1, 2], 600)[0])
    with pytest.warns(MomentreeWarning, match="unlike all 3 groups"):
        model.partial_fit(documents([0, 1, 2, 3], 800, 1)[0])


def test_forgetting_halves_the_weight_of_earlier_batches():
    one, two = (documents([0, 1], 400, seed)[0] for seed in (0, 1))
    model = PoissonMixture(2, half_life=1).partial_fit(one[:300]).partial_fit(two)
    weighted = PoissonMixture(2).fit(
        np.vstack([one[:300], two]), sample_weight=np.repeat([0.5, 1.0], [300, 400])
    )
    assert recovery_error(model.components_, weighted.components_) < 1e-6 * D
    assert model.n_samples_seen_ == 700


def test_small_first_batches_are_kept_until_they_suffice():
    X, _ = documents(range(3), 350)
    model = SingleTopicModel(3, start="tree", log_scaling=None)
    with pytest.warns(MomentreeWarning, match="kept"):
        model.partial_fit(X[:1])
    assert not hasattr(model, "labels_")
    assert model.n_samples_seen_ == 1
    with pytest.warns(MomentreeWarning, match="kept"):
        model.partial_fit(X[1:2])
    for at in range(2, 22, 4):
        model.partial_fit(X[at : at + 4])
        assert len(model.labels_) == 4
    model.partial_fit(X[22:200])
    assert len(model._kept.weight) == 200
    model.partial_fit(X[200:350])
    assert model._kept is None
    assert recovery_error(model.components_, clone(model).fit(X).components_) < 1e-9
    assert model.n_samples_seen_ == 350


@pytest.mark.parametrize(
    ("name", "n"), [("single-topic", 600), ("poisson", 40), ("bernoulli", 40), ("bernoulli", 600)]
)
def test_a_loaded_model_continues_exactly(name, n, tmp_path):
    X, _ = data_of(KINDS[name], range(K), n + 300)
    model = fresh(name).partial_fit(X[:n])
    model.save(tmp_path / "model.mt")
    loaded = load(tmp_path / "model.mt")
    assert loaded.n_samples_seen_ == n
    for one in (model, loaded):
        one.partial_fit(X[n:])
    assert np.array_equal(model.components_, loaded.components_)
    assert np.array_equal(model.labels_, loaded.labels_)


BATCHES = {
    "no rows": (np.zeros((0, D)), InvalidDataError),
    "zeros": (np.zeros((3, D)), EmptyCorpusError),
    "negative": (-np.ones((3, D)), InvalidDataError),
    "NaN": (np.full((3, D), np.nan), InvalidDataError),
    "other columns": (np.ones((3, D + 1)), InvalidDataError),
}


def test_a_bad_batch_changes_nothing_and_one_row_is_learned():
    model = SingleTopicModel(3).partial_fit(documents(range(3), 400)[0])
    before = model.components_
    for X, error in BATCHES.values():
        with pytest.raises(error):
            model.partial_fit(X)
        assert model.components_ is before
        assert model.n_samples_seen_ == 400
    model.partial_fit(documents([0], 1)[0])
    assert model.n_samples_seen_ == 401
    assert len(model.labels_) == 1


def test_other_columns_by_name_are_refused():
    import pandas as pd

    X, _ = documents(range(3), 400)
    model = SingleTopicModel(3).partial_fit(pd.DataFrame(X, columns=WORDS))
    with pytest.raises(InvalidDataError):
        model.partial_fit(pd.DataFrame(X, columns=WORDS[::-1]))
    assert model.feature_names_in_.tolist() == WORDS


def test_parameters_without_sums_have_no_partial_fit():
    for model in (
        SingleTopicModel(3, refine=None),
        LatentDirichletAllocation(3, refine=None),
    ):
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError) as caught:
            model.partial_fit(np.eye(3))
        assert caught.value.__cause__.code == "no_sums_without_em"


def test_missing_values_may_come_later():
    rng = np.random.default_rng(0)
    means = np.kron(np.eye(3), np.ones(8)) * 0.7 + 0.1
    X = (rng.random((3000, 24)) < means[rng.choice(3, size=3000)]).astype(float)
    gaps = rng.random(X.shape) < 0.2
    gaps[:1000] = False
    X[gaps] = np.nan
    model = BernoulliMixture(3)
    for batch in np.split(X, 3):
        model.partial_fit(batch)
    whole = BernoulliMixture(3).fit(X)
    assert recovery_error(model.means_, whole.means_) < 0.02


def test_texts_and_their_unknown_words():
    fish, ships = "herring cod salmon fishing net", "sail mast anchor harbor deck"
    texts = [fish, ships] * 60
    model = SingleTopicModel(2).partial_fit(texts)
    n_words = len(model.vocabulary_)
    model.partial_fit([fish + " submarine", ships, fish + " submarine"] * 30)
    assert len(model.vocabulary_) == n_words
    (note,) = [note for note in model.notes_ if note.code == "unknown_words"]
    assert note.values["examples"] == ["submarine"]
    assert model.n_samples_seen_ == 210
    model.partial_fit(texts)
    assert "unknown_words" not in [note.code for note in model.notes_]
    assert model.predict([fish, ships]).tolist() == model.predict([fish, ships]).tolist()


def test_labels_stay_in_another_fit():
    old = SingleTopicModel(4).fit(documents([0, 0, 0, 1, 1, 2, 3], 700, 0)[0], feature_names=WORDS)
    old = old.rename({0: "First"})
    new = SingleTopicModel(4).fit(documents([0, 1, 1, 1, 2, 2, 4], 700, 1)[0], feature_names=WORDS)
    same = new.relabeled(old)
    X, _ = documents([0, 1, 2], 300, 7)
    assert np.array_equal(same.predict(X), old.predict(X))
    assert not np.array_equal(new.predict(X), old.predict(X))
    assert same.names_[0] == "First"
    stayed = [group.new for group in same.changes_.of("stayed")]
    assert len(stayed) == 3
    assert [same.names_[j] for j in stayed] == [old.names_[j] for j in stayed]
    assert len(same.changes_.of("appeared")) == len(same.changes_.of("vanished")) == 1
    continued = same.partial_fit(X)
    assert np.array_equal(continued.labels_, old.predict(X))
    with raises(InvalidDataError, "relabeled_like_other"):
        new.relabeled(PoissonMixture(2).fit(X))


def test_models_of_other_words_are_compared_by_name():
    X, _ = documents([0, 1, 2], 600)
    old = SingleTopicModel(3).fit(X[:, :40], feature_names=WORDS[:40])
    order = np.random.default_rng(0).permutation(D)
    new = SingleTopicModel(3).fit(X[:, order], feature_names=[WORDS[i] for i in order])
    changes = compare_models(old, new)
    assert {group.status for group in changes} == {"stayed"}
    assert len(changes.to_frame()) == 3
    other = SingleTopicModel(3).fit(X, feature_names=[f"{word}_" for word in WORDS])
    with raises(InvalidDataError, "no_common_columns"):
        compare_models(old, other)


def numbers(seed, groups, n=450):
    """Return samples of groups of deviation 1; all but the first columns are noise in all."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 8)) + 6 * np.eye(3, 8)[rng.choice(groups, n)]


def directions(seed, groups):
    X = numbers(seed, groups)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


OF_NUMBERS = {
    "GaussianMixture": (GaussianMixture(3), numbers),
    "MixedMixture": (MixedMixture(3), numbers),
    "MultiviewMixture": (MultiviewMixture(3, views=[[7, 6, 0], [1, 5], [2, 3, 4]]), numbers),
    "ClusterTree": (ClusterTree(3), numbers),
    "ClusterTree-directions": (ClusterTree(3, data="directions"), directions),
}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_groups_of_numbers_stay_though_other_columns_are_noise(name):
    model, sample = OF_NUMBERS[name]
    old, new = (clone(model).fit(sample(seed, range(3))) for seed in range(2))
    changes = compare_models(old, new)
    assert {group.status for group in changes} == {"stayed"}
    assert max(group.distance for group in changes) < 0.1 * changes.separation
    size = "max_leaf_nodes" if hasattr(model, "max_leaf_nodes") else "n_components"
    other = clone(model).set_params(**{size: 2}).fit(sample(2, range(2)))
    assert len(compare_models(old, other).of("vanished")) == 1


def mixed(seed, shift=0.0):
    """Return a table of several kinds; `salary` has the same mean in all groups."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, 900)
    return pd.DataFrame(
        {
            "age": 40 + 20.0 * group + rng.standard_normal(900),
            "salary": 5000 + 1000 * rng.standard_normal(900) + 1000 * shift,
            "ill": rng.random(900) < np.array([0.1, 0.5, 0.9])[group],
            "kind": np.array(["u", "v", "w"])[group],
        }
    )


def test_groups_of_mixed_columns_are_compared_in_their_own_units():
    old = MixedMixture(3).fit(mixed(0))
    same = compare_models(old, MixedMixture(3).fit(mixed(1)))
    assert {group.status for group in same} == {"stayed"}
    # All groups earn more: a model that standardizes its columns does not show this by itself.
    more = compare_models(old, MixedMixture(3).fit(mixed(2, shift=6)))
    assert {group.status for group in more} == {"moved"}
    assert all("salary" in group.rose for group in more)
    assert min(group.distance for group in more) == pytest.approx(6, rel=0.1)
    # Columns that only one model knows are left out.
    table = mixed(3).rename(columns={"salary": "income"})
    other = compare_models(old, MixedMixture(3).fit(table))
    assert {group.status for group in other} == {"stayed"}


def test_names_of_other_columns_are_refused():
    X, _ = documents(range(3), 400)
    model = SingleTopicModel(3, start="tree").partial_fit(X, feature_names=WORDS)
    model.partial_fit(X, feature_names=WORDS)
    with raises(InvalidDataError, "names_of_other_batch"):
        model.partial_fit(X, feature_names=WORDS[::-1])
    assert model.vocabulary_.tolist() == WORDS
