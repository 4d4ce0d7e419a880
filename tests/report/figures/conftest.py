"""Figures are drawn without a screen, and closed."""

import matplotlib as mpl
import pytest


@pytest.fixture(autouse=True)
def agg():
    import matplotlib.pyplot as plt

    before = mpl.get_backend()
    plt.switch_backend("agg")
    yield plt
    plt.close("all")
    plt.switch_backend(before)
