"""Run the tutorial and draw its pictures: python docs/tutorial_pictures.py [FOLDER]."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from momentree.report import plot_tree

PAGE = Path(__file__).with_name("tutorial.md")
BLUE, RED, GREEN, YELLOW, GREY = "#3b6ea5", "#b5442e", "#4f8a5b", "#d9b44a", "#b9c4d0"


def run(page: Path = PAGE) -> tuple[dict[str, Any], int]:
    """Run the examples of the page; return their variables and the number of failures."""
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    test = parser.get_doctest(page.read_text(encoding="utf-8"), {}, page.name, str(page), 0)
    runner.run(test, clear_globs=False)
    return test.globs, runner.failures


def draw_fibres(_: dict[str, Any]) -> None:
    """Draw the fibres of the three modes of a tensor as bars of one color."""
    _, axes = plt.subplots(1, 3, figsize=(8, 2.8), subplot_kw={"projection": "3d"})
    shape = (4, 3, 2)
    i, j, k = np.indices(shape)
    shades = np.array([BLUE, GREY, GREEN, YELLOW])
    # The two fixed indices give a fibre its color, different from its neighbors.
    fibres = {
        "mode 1: columns": j + 2 * k,
        "mode 2: rows": i + 2 * k,
        "mode 3: tubes": i + 2 * j,
    }
    # x, y and z of the picture are the second, third and first index, the first from the top.
    for ax, (title, fibre) in zip(axes, fibres.items(), strict=True):
        colors = shades[fibre % 4][::-1].transpose(1, 2, 0)
        ax.voxels(np.ones(colors.shape, bool), facecolors=colors, edgecolor="white", linewidth=0.4)
        ax.set_title(title, fontsize=10)
        ax.set_box_aspect(colors.shape)
        ax.set_axis_off()
        ax.view_init(elev=22, azim=-55)


def draw_spectrum(names: dict[str, Any]) -> None:
    """Draw the eigenvalues of the covariance, and the variance of the noise."""
    values = names["eigenvalues"][::-1]
    _, ax = plt.subplots(figsize=(5, 2.6))
    ax.bar(np.arange(1, len(values) + 1), values, color=[BLUE] * 2 + [GREY] * (len(values) - 2))
    ax.axhline(1.0, color=RED, linewidth=1)
    ax.annotate("σ²", (len(values) + 1.0, 1.0), color=RED, va="center", annotation_clip=False)
    ax.set(xlabel="direction", ylabel="variance", xticks=np.arange(1, len(values) + 1))


def draw_whitening(_: dict[str, Any]) -> None:
    """Draw two means before and after whitening."""
    weights, means = np.array([0.6, 0.4]), np.array([[3.0, 1.0], [2.4, 2.2]])
    S, U = np.linalg.eigh((weights * means.T) @ means)
    W = (U / np.sqrt(S)).T
    white = (np.sqrt(weights) * (W @ means.T)).T
    white *= np.sign(white.sum(axis=0))  # eigenvectors have no sign
    _, axes = plt.subplots(1, 2, figsize=(6.5, 3))
    for ax, arrows, title in (
        (axes[0], means, "the means"),
        (axes[1], white, "after whitening: √ω W μ"),
    ):
        for (x, y), color in zip(arrows, (BLUE, RED), strict=True):
            ax.annotate(
                "", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": color, "lw": 2}
            )
        limit = 1.15 * np.abs(arrows).max()
        ax.set(xlim=(min(0.0, 1.2 * arrows[:, 0].min()) - 0.1, limit), aspect="equal", title=title)
        ax.set_ylim(min(0.0, 1.2 * arrows[:, 1].min()) - 0.1, limit)


def draw_errors(names: dict[str, Any]) -> None:
    """Draw the errors of three algorithms against the number of documents."""
    _, ax = plt.subplots(figsize=(5, 3))
    sizes = np.array(names["sizes"])
    styles = zip(names["errors"].items(), (BLUE, RED, GREEN), ("-", "--", ":"), strict=True)
    for (method, errors), color, style in styles:
        ax.loglog(sizes, errors, style, color=color, marker="o", markersize=4, label=method)
    line = 0.7 * names["errors"]["sidiwo"][0] * np.sqrt(sizes[0] / sizes)
    ax.loglog(sizes, line, color=GREY, label="slope −½")
    ax.set(xlabel="documents", ylabel="L1 error of a topic")
    ax.legend(frameon=False, fontsize=8)


def draw_tree(names: dict[str, Any]) -> None:
    """Draw the tree of the documentation."""
    _, ax = plt.subplots(figsize=(8, 4))
    plot_tree(names["tree"], ax, n_words=5)


PICTURES = {
    "tutorial-fibres.png": draw_fibres,
    "tutorial-spectrum.png": draw_spectrum,
    "tutorial-whitening.png": draw_whitening,
    "tutorial-errors.png": draw_errors,
    "tutorial-tree.png": draw_tree,
}


def draw(names: dict[str, Any], folder: Path) -> None:
    """Draw all pictures into a folder."""
    spines = {"axes.spines.top": False, "axes.spines.right": False}
    with mpl.rc_context({**spines, "figure.constrained_layout.use": True}):
        for file, picture in PICTURES.items():
            picture(names)
            plt.savefig(folder / file, dpi=150, metadata={"Software": None})
            plt.close()


if __name__ == "__main__":
    mpl.use("Agg")
    variables, failures = run()
    draw(variables, Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE.with_name("images"))
    sys.exit(failures > 0)
