"""The Python examples of docs/records.md run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "records.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_blocks_are_there():
    assert len(BLOCKS) == 2


@pytest.mark.parametrize("block", BLOCKS, ids=["groups", "figures"])
def test_python_of_the_page_runs(block, tmp_path, monkeypatch, capsys):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    try:
        exec(compile(block, "records.md", "exec"), {})
    finally:
        plt.close("all")
    assert capsys.readouterr().out
    drawn = [path.name for path in tmp_path.iterdir()]
    assert drawn == (["stability.pdf"] if "plot_" in block else [])
