"""Figures of groups show the right numbers, in the documented order, inside the figure."""

import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse as sp

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import group_profiles, outcome_rates
from momentree.report import (
    group_colors,
    plot_code_frequencies,
    plot_group_sizes,
    plot_outcome_rates,
    plot_record_heatmap,
    plot_relative_risk,
    plot_stability,
    summarize_records,
)
from momentree.report.layout import leaf_color, spread_hue
from tests.raising import raises

from ..records.cases import flat_case, tree_case

INK = "#20242a"
PANEL = 0.86  # share of a column that the top of its scale fills


def make(n=200, d=30, k=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    X = (rng.random((n, d)) < rng.beta(0.5, 2.0, size=(k, d))[labels]).astype(float)
    return X, labels, [f"$code_{j}$ {'that is long ' * (j % 7)}" for j in range(d)]


def shown(axis):
    """Labels of the ticks in view; a locator makes some beyond it, which are not drawn."""
    low, high = sorted(axis.get_view_interval())
    ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
    return [label for at, label in ticks if low <= at <= high]


def inside(ax):
    """Whether all texts that are shown are inside the figure."""
    figure = ax.figure
    figure.draw_without_rendering()
    frame = figure.bbox
    texts = [*ax.texts, *shown(ax.xaxis), ax.xaxis.label]
    for each in figure.axes:
        texts += shown(each.yaxis)
    boxes = [text.get_window_extent() for text in texts if text.get_visible() and text.get_text()]
    return all(
        box.x0 >= -1 and box.y0 >= -1 and box.x1 <= frame.x1 + 1 and box.y1 <= frame.y1 + 1
        for box in boxes
    )


def clashes(labels):
    """Pairs of neighbors of which one is drawn on the other."""
    boxes = [label.get_window_extent() for label in labels if label.get_text()]
    return [
        (a, b)
        for i, a in enumerate(boxes)
        for b in boxes[i + 1 :]
        if a.shrunk(0.9, 0.8).overlaps(b)
    ]


@pytest.mark.parametrize("k", [1, 16])
def test_frequencies_are_those_of_the_most_common_codes(k):
    X, labels, names = make(k=k)
    profiles = group_profiles(X, labels, n_groups=k)
    ax = plot_code_frequencies(profiles, names, n_codes=7, min_cell=None)
    common = np.argsort(-X.mean(axis=0), kind="stable")[:7]
    drawn = [label.get_text().replace("\\$", "$") for label in ax.get_yticklabels()]
    assert all(names[c].startswith(text.rstrip("…")) for text, c in zip(drawn, common, strict=True))
    assert len(ax.patches) == 7 * k
    top = profiles.frequencies[:, common].max()
    scale = ax.patches[0].get_width() / profiles.frequencies[0, common[0]]
    assert top * scale <= PANEL * 1.001
    for g in range(k):
        for row, c in enumerate(common):
            bar = ax.patches[7 * g + row]
            assert bar.get_x() == g
            assert bar.get_width() == pytest.approx(profiles.frequencies[g, c] * scale)
            assert bar.get_facecolor()[:3] == pytest.approx(leaf_color(spread_hue(g)))
    marks = [c for c in ax.collections if np.allclose(c.get_color()[0], mpl.colors.to_rgba(INK))]
    for g, lines in enumerate(marks):
        at = [segment[0, 0] for segment in lines.get_segments()]
        np.testing.assert_allclose(at, g + profiles.overall[common] * scale)
    assert len(marks) == k
    assert inside(ax)
    assert not clashes(ax.get_xticklabels())
    assert not clashes(ax.texts)


def test_empty_groups_and_codes_that_never_occur_are_drawn():
    X, labels, names = make(d=8)
    X[:, 3:] = 0
    profiles = group_profiles(X, labels, n_groups=5)
    for ax in (
        plot_code_frequencies(profiles, names),
        plot_group_sizes(profiles),
        plot_relative_risk(profiles, 0, names),
        plot_relative_risk(profiles, 4, names),
        plot_record_heatmap(X, labels, names),
        plot_outcome_rates(outcome_rates(labels, labels == 0, n_groups=5)),
    ):
        assert inside(ax)


def test_risks_are_sorted_by_their_lower_limits():
    X, labels, names = make(d=12)
    X[labels == 1, 0], X[labels != 1, 0] = 1, 0  # infinite
    X[labels == 1, 1] = 0  # zero
    X[:, 2] = 0  # unknown
    profiles = group_profiles(X, labels)
    ax = plot_relative_risk(profiles, 1, names, n_codes=12, min_cell=None)
    assert ax.get_xscale() == "log"
    low = profiles.relative_risk_intervals[1, :, 0]
    order = [int(t.get_text().split("_")[1].split("\\$")[0]) for t in ax.get_yticklabels()]
    assert order[0] == 0
    assert sorted(order) == [j for j in range(12) if j != 2]
    np.testing.assert_array_equal(low[order], np.sort(low[order])[::-1])
    points = ax.collections[1].get_offsets()
    first, last = ax.get_xlim()
    shown = [j for j in order if first <= profiles.relative_risk[1, j] <= last]
    np.testing.assert_allclose(points[:, 0], profiles.relative_risk[1, shown])
    ends = np.array([line[:, 0] for line in ax.collections[0].get_segments()])
    limits = np.clip(profiles.relative_risk_intervals[1, order], first, last)
    np.testing.assert_allclose(ends, limits)
    assert inside(ax)
    side = ax.figure.axes[1]
    others = X[labels != 1].mean(axis=0)
    for text, j in zip(side.get_yticklabels()[1:], order, strict=True):
        for part, share in zip(
            text.get_text().split(":"), (X[labels == 1, j].mean(), others[j]), strict=True
        ):
            assert float(part.strip(" %")) == pytest.approx(100 * share, abs=0.51)


def cells(ax, n_lines, m):
    """The color at the middle of each cell of a heat map."""
    image = ax.images[0].get_array()
    rows = (np.arange(n_lines) + 0.5) * image.shape[0] / n_lines
    columns = (np.arange(m) + 0.5) * image.shape[1] / m
    return np.asarray(image)[np.ix_(rows.astype(int), columns.astype(int))] / 255.0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_heat_map_shows_each_record_in_its_group(form):
    X, labels, names = make(n=90, d=12)
    X[4, :] = np.nan
    ax = plot_record_heatmap(form(X), labels, names, n_codes=10)
    common = np.argsort(-np.nan_to_num(np.nanmean(X, axis=0)), kind="stable")[:10]
    order = np.concatenate([np.flatnonzero(labels == g) for g in range(3)])
    dark = mpl.colors.to_rgb(INK)
    found = cells(ax, 90, 10)
    for line, i in enumerate(order):
        ground = 1 - 0.5 * (1 - np.array(leaf_color(spread_hue(labels[i]))))
        for column, c in enumerate(common):
            expected = np.ones(3) if np.isnan(X[i, c]) else dark if X[i, c] else ground
            assert np.abs(found[line, column] - expected).max() < 0.003
    sizes = np.bincount(labels)
    texts = [label.get_text() for label in ax.get_yticklabels()]
    assert texts == [f"{g}  ({sizes[g]})" for g in range(3)]


def test_lines_of_many_records_are_as_dark_as_their_share():
    """Sums of darkness over the lines of a group give its frequencies back."""
    X, labels, names = make(n=5000, d=8, k=4)
    labels[labels == 3] = np.where(np.arange((labels == 3).sum()) < 2, 3, 0)  # a group of two
    ax = plot_record_heatmap(X, labels, names, n_codes=8, max_rows=100)
    common = np.argsort(-X.mean(axis=0), kind="stable")
    lines = np.maximum(1, np.bincount(labels) * 100 // 5000)
    found = cells(ax, lines.sum(), 8)
    dark = np.array(mpl.colors.to_rgb(INK))
    ends = np.cumsum(lines)
    for g in range(4):
        ground = 1 - 0.5 * (1 - np.array(leaf_color(spread_hue(g))))
        part = found[ends[g] - lines[g] : ends[g]].mean(axis=0)
        share = ((ground - part) / (ground - dark)).mean(axis=1)
        # Lines differ by one record of 40 or more, and colors by a part in 255.
        np.testing.assert_allclose(share, X[labels == g][:, common].mean(axis=0), atol=0.02)


def test_names_of_small_groups_do_not_cover_each_other():
    X, labels, names = make(n=3000, d=8, k=16)
    labels[labels >= 8] = np.where(
        np.random.default_rng(0).random((labels >= 8).sum()) < 0.9, 0, labels[labels >= 8]
    )
    ax = plot_record_heatmap(X, labels, names)
    assert inside(ax)
    assert not clashes(ax.get_yticklabels())


def test_sizes_are_written_beside_their_bars():
    X, labels, _ = make(n=4000, k=5)
    profiles = group_profiles(X, labels)
    ax = plot_group_sizes(profiles, group_names=["a", "b", "c", "d", "$e$"])
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], 100 * profiles.proportions)
    assert [text.get_text() for text in ax.texts] == [f"{s}" for s in np.bincount(labels)]
    ends = np.array([line[:, 0] for line in ax.collections[0].get_segments()])
    np.testing.assert_allclose(ends, 100 * profiles.proportion_intervals)
    assert inside(ax)


@pytest.mark.parametrize(("classes", "k"), [(1, 2), (4, 16)])
def test_rates_are_points_in_their_intervals(classes, k):
    _, labels, _ = make(n=600, k=k)
    rng = np.random.default_rng(1)
    outcome = rng.random(600) < 0.2
    if classes > 1:
        outcome = np.array(["home", "nursing home, long stay unit", "died", "hospital"])[
            rng.integers(4, size=600)
        ]
    rates = outcome_rates(labels, outcome)
    ax = plot_outcome_rates(rates, outcome="discharge to $", min_cell=None)
    points = [c for c in ax.collections if len(c.get_offsets()) == k and hasattr(c, "get_sizes")]
    lines = [c for c in ax.collections if c not in points]
    assert len(points) == len(lines) == classes
    ends = np.array([line[:, 0] for line in lines[0].get_segments()])
    scale = (ends / rates.intervals[:, 0])[0, 1]
    for j in range(classes):
        np.testing.assert_allclose(points[j].get_offsets()[:, 0], j + rates.rates[:, j] * scale)
        ends = np.array([line[:, 0] for line in lines[j].get_segments()])
        np.testing.assert_allclose(ends, j + rates.intervals[:, j] * scale)
        assert ends.max() <= j + PANEL * 1.001
    assert inside(ax)
    assert not clashes(ax.get_xticklabels())
    assert not clashes(ax.texts)


def texts_of(ax):
    return [text.get_text() for text in ax.texts]


def test_small_numbers_are_not_drawn():
    labels = np.repeat([0, 1, 2], [50, 40, 3])
    X = np.zeros((93, 3))
    X[:20, 0], X[50:54, 0] = 1, 1  # 20, 4 and none
    X[:4, 1], X[50:60, 1] = 1, 1  # 4, 10 and none
    X[[0, 90], 2] = 1  # two in all
    profiles = group_profiles(X, labels)
    hidden = plot_code_frequencies(profiles)
    assert hidden.get_yticklabels()[0].get_text() == "0"
    bars = [(bar.get_x(), bar.get_y() + bar.get_height() / 2) for bar in hidden.patches]
    np.testing.assert_allclose(bars, [(0, 0), (1, 1), (1, 2), (2, 0), (2, 1)])
    # The group of three, and the smallest other, from which it could be derived.
    assert [text for text in texts_of(hidden) if "\n" in text] == ["0\n54%", "1\n*", "2\n<5"]
    assert texts_of(hidden).count("<5") == 4
    assert "<5" not in texts_of(plot_code_frequencies(profiles, min_cell=None))
    sizes = plot_group_sizes(profiles)
    assert texts_of(sizes) == ["50", "*", "<5"]
    assert [bar.get_width() > 0 for bar in sizes.patches] == [True, False, False]
    assert texts_of(plot_group_sizes(profiles, min_cell=None)) == ["50", "40", "3"]
    risks = plot_relative_risk(profiles, 0)
    assert [text.get_text() for text in risks.get_yticklabels()] == []
    drawn = plot_relative_risk(profiles, 0, min_cell=4).get_yticklabels()
    assert {text.get_text() for text in drawn} == {"0", "1"}
    rates = plot_outcome_rates(outcome_rates(labels, X[:, 0] > 0))
    points = [c.get_offsets() for c in rates.collections if c.get_offsets().shape[0] == 2]
    assert points[-1][:, 1].tolist() == [0, 2]
    assert texts_of(rates) == ["<5"]
    for ax in (hidden, sizes, risks, rates):
        assert inside(ax)


def test_many_classes_are_in_blocks():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=2000)
    rates = outcome_rates(
        labels, np.array([f"class {j:02}" for j in range(14)])[rng.integers(14, size=2000)]
    )
    ax = plot_outcome_rates(rates)
    assert ax.figure.get_size_inches()[0] < 12
    points = [
        c.get_offsets() for c in ax.collections if hasattr(c, "get_sizes") and len(c.get_sizes())
    ]
    assert [(int(p[0, 0]), p[0, 1]) for p in points] == [(j % 5, 5.0 * (j // 5)) for j in range(14)]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["0", "1", "2"] * 3
    assert texts_of(ax) == list(rates.classes)
    assert inside(ax)
    assert not clashes(ax.texts)


def test_points_at_zero_are_whole():
    labels = np.repeat([0, 1], 20)
    ax = plot_outcome_rates(outcome_rates(labels, labels == 0))
    assert not any(c.get_clip_on() for c in ax.collections if hasattr(c, "get_sizes"))


def test_names_are_looked_up_by_code():
    X, labels, _ = make(d=3)
    profiles = group_profiles(X, labels)
    codes = np.array(["250", "401", "428"], dtype=object)
    known = {"401": "hypertension", "428": "heart failure", "999": "not here"}
    wanted = {"250", "hypertension", "heart failure"}
    for ax in (
        plot_code_frequencies(profiles, known, codes=codes),
        plot_relative_risk(profiles, 0, known, codes=codes),
    ):
        assert {label.get_text() for label in ax.get_yticklabels()} == wanted
    ax = plot_record_heatmap(X, labels, known, codes=codes)
    assert {label.get_text() for label in ax.get_xticklabels()} == wanted
    ax = plot_record_heatmap(X, labels, codes=codes)
    assert {label.get_text() for label in ax.get_xticklabels()} == set(codes)


@pytest.mark.parametrize("case", [flat_case, tree_case])
def test_colors_are_those_of_the_page(case):
    model, records = case()
    nodes = summarize_records(model, records)["nodes"]
    hues = {node["leaf"]: node["cell"]["hue"] for node in nodes}
    colors = group_colors(model)
    assert colors == [leaf_color(hues[group]) for group in range(4)]
    X = records.X[np.flatnonzero(records.enough)]
    ax = plot_group_sizes(group_profiles(X, model.labels_), colors=colors)
    assert [bar.get_facecolor()[:3] for bar in ax.patches] == [pytest.approx(c) for c in colors]


def test_stability_is_sorted_with_mean_and_deviation():
    ax = plot_stability({"low": [0.1, 0.3], "high": [0.9, 1.0], "none": [-0.1]})
    assert [label.get_text() for label in ax.get_yticklabels()] == ["high", "low", "none"]
    assert [t.get_text() for t in ax.texts] == ["0.95 ± 0.05", "0.20 ± 0.10", "-0.10 ± 0.00"]
    assert ax.get_xlim()[0] <= -0.1
    assert inside(ax)


def test_given_axes_are_used(agg):
    X, labels, names = make(d=8)
    profiles = group_profiles(X, labels)
    _, grid = agg.subplots(2, 3, figsize=(20, 12))
    axes = list(grid.ravel())
    assert plot_code_frequencies(profiles, names, axes[0]) is axes[0]
    assert plot_relative_risk(profiles, 1, names, axes[1]) is axes[1]
    assert plot_record_heatmap(X, labels, names, axes[2]) is axes[2]
    assert plot_group_sizes(profiles, axes[3]) is axes[3]
    assert plot_outcome_rates(outcome_rates(labels, labels == 0), axes[4]) is axes[4]
    assert plot_stability({"a": [0.5]}, axes[5]) is axes[5]
    assert len(agg.get_fignums()) == 1


@pytest.mark.parametrize(
    ("draw", "code", "values"),
    [
        (
            lambda X, g, p: plot_code_frequencies(p, ["a"]),
            "not_one_each",
            {"parameter": "names", "found": 1, "needed": 30},
        ),
        (
            lambda X, g, p: plot_group_sizes(p, group_names=["a"]),
            "not_one_each",
            {"parameter": "group_names", "needed": 3},
        ),
        (
            lambda X, g, p: plot_relative_risk(p, 0, codes=["a"]),
            "not_one_each",
            {"parameter": "codes", "needed": 30},
        ),
        (
            lambda X, g, p: plot_group_sizes(p, colors=["red"]),
            "not_one_each",
            {"parameter": "colors", "needed": 3},
        ),
        (
            lambda X, g, p: plot_code_frequencies(p, {str(j): "name" for j in range(30)}),
            "names_need_codes",
            {"parameter": "names", "found": 30},
        ),
        (
            lambda X, g, p: plot_outcome_rates(outcome_rates(g, [None] * 200)),
            "no_known_outcome",
            {},
        ),
        (lambda X, g, p: plot_stability({}), "no_scores", {}),
        (lambda X, g, p: plot_stability({"a": []}), "no_scores", {}),
        (lambda X, g, p: plot_record_heatmap([1, 0], [0, 0]), None, {}),
        (lambda X, g, p: plot_record_heatmap(X + 1, g), None, {}),
        (lambda X, g, p: plot_record_heatmap(X, g[1:]), None, {}),
    ],
)
def test_bad_data_are_refused(draw, code, values):
    X, labels, _ = make()
    expected = pytest.raises(InvalidDataError) if code is None else None
    with expected or raises(InvalidDataError, code, **values):
        draw(X, labels, group_profiles(X, labels))


@pytest.mark.parametrize(
    "draw",
    [
        lambda X, g, p: plot_code_frequencies(p, n_codes=0),
        lambda X, g, p: plot_relative_risk(p, 3),
        lambda X, g, p: plot_relative_risk(p, -1),
        lambda X, g, p: plot_record_heatmap(X, g, max_rows=0),
        lambda X, g, p: plot_group_sizes(p, min_cell=0),
    ],
)
def test_bad_parameters_are_refused(draw):
    X, labels, _ = make()
    with pytest.raises(InvalidParameterError):
        draw(X, labels, group_profiles(X, labels))
