"""The figure of a choice has a panel for each criterion, and marks what was chosen."""

from __future__ import annotations

import numpy as np
import pytest

from momentree.datasets import make_single_topic
from momentree.exceptions import InvalidParameterError
from momentree.models import choose_n_components
from momentree.report import plot_n_components
from tests.raising import raises

CRITERIA = ("completion", "spectrum")


@pytest.fixture(scope="module")
def choice():
    """A choice with both criteria, candidates with gaps, and some that no fit reaches."""
    X = make_single_topic(200, 60, 4, length=60, random_state=0).X
    return choose_n_components(X, candidates=[1, 2, 3, 4, 6, 30])


def test_a_panel_for_each_criterion(choice):
    panels = plot_n_components(choice)
    assert len({panel.get_title(loc="left") for panel in panels}) == len(CRITERIA)
    panels[0].figure.draw_without_rendering()


def test_the_answer_is_marked_in_every_panel(choice):
    for panel, name in zip(plot_n_components(choice), CRITERIA, strict=True):
        straight = [line for line in panel.lines if len(set(line.get_xdata())) == 1]
        assert {float(line.get_xdata()[0]) for line in straight} == {
            float(choice.n_components),
            float(choice.by_criterion[name][0]),
        }
        band = panel.patches[0]
        low, high = choice.interval
        assert (band.get_x(), band.get_x() + band.get_width()) == (low - 0.5, high + 0.5)


def test_the_ring_lies_on_its_curve(choice):
    panel = plot_n_components(choice)[0]
    curve, ring = panel.lines[-2:]
    at = list(curve.get_xdata()).index(choice.by_criterion["completion"][0])
    assert ring.get_ydata()[0] == curve.get_ydata()[at]
    np.testing.assert_array_equal(curve.get_ydata(), choice.table["completion"].dropna())


def test_the_headline_contains_the_answer_and_the_interval(choice):
    text = plot_n_components(choice)[0].texts[-1].get_text()
    assert text.startswith("4 components")
    low, high = choice.interval
    assert (f"({low} to {high})" in text) == (low < high)


def test_given_axes_are_used(agg, choice):
    _, axes = agg.subplots(1, 2)
    assert plot_n_components(choice, ax=axes) == list(axes.ravel())
    assert len(agg.get_fignums()) == 1


def test_wrong_number_of_axes_is_refused(agg, choice):
    with raises(InvalidParameterError, "axes_not_one_per_panel", found=1, needed=2):
        plot_n_components(choice, ax=agg.subplots()[1])


def test_one_component_is_named_in_the_singular():
    X = make_single_topic(60, 20, 1, random_state=0).X
    first, second = plot_n_components(choose_n_components(X, candidates=[1, 2]))
    assert first.texts[-1].get_text() == "1 component"
    assert second.get_yscale() == "log"


def test_a_choice_without_any_criterion_has_no_panel():
    choice = choose_n_components(np.ones((8, 3)), candidates=[2, 3])
    assert plot_n_components(choice) == []
