"""Writes the notebooks of this folder as .ipynb files, which Jupyter opens.

The notebooks are scripts in the percent format: ``# %%`` begins a cell of code and ``# %% [markdown]`` one of text.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat

HERE = Path(__file__).resolve().parent
NAMES = [
    "first-run",
    "fast-against-reno",
    "is-it-stable",
    "own-law",
    "ten-thousand-cells",
    "a-papers-figure",
]


def notebook(name: str) -> nbformat.NotebookNode:
    """Return the notebook of that name, without outputs."""
    cells = []
    for part in re.split(r"^# %%", (HERE / f"{name}.py").read_text(), flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        if head.strip() == "[markdown]":
            text = re.sub(r"^# ?", "", body.strip(), flags=re.M)
            cells.append(nbformat.v4.new_markdown_cell(text, id=f"{name}-{len(cells)}"))
        else:
            cells.append(nbformat.v4.new_code_cell(body.strip(), id=f"{name}-{len(cells)}"))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


if __name__ == "__main__":
    for name in NAMES:
        path = Path(sys.argv[1] if len(sys.argv) > 1 else HERE) / f"{name}.ipynb"
        nbformat.write(notebook(name), path)
        print(path)
