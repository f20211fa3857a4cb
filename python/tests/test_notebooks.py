"""The notebooks run from the first cell to the last, each in a kernel of its own."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import nbclient
import pytest

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
# The others take longer: `pytest -m slow` runs them.
CHEAP = ("first-run", "fast-against-reno")
# Fewer cells than a reader would run.
SMALL = {"PENSTOCK_CELLS": "48", "PENSTOCK_CAPACITIES": "155 Mbit/s"}


def converter() -> Any:
    spec = importlib.util.spec_from_file_location("convert", FOLDER / "convert.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


convert = converter()


def run(name: str) -> list[Any]:
    """Run a notebook, and return the pictures that it shows."""
    book = convert.notebook(name)
    client = nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": str(FOLDER)}})
    client.execute(env={**os.environ, **SMALL})
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    kept = os.environ.get("PENSTOCK_NOTEBOOKS")
    if kept:
        convert.nbformat.write(book, Path(kept) / f"{name}.ipynb")
    assert not [output for output in outputs if output.get("name") == "stderr"], outputs
    return [output for output in outputs if "image/png" in output.get("data", {})]


@pytest.mark.parametrize("name", CHEAP)
def test_a_notebook_runs(name: str) -> None:
    assert run(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in convert.NAMES if name not in CHEAP])
def test_a_longer_notebook_runs(name: str) -> None:
    assert run(name)


def test_every_notebook_is_listed() -> None:
    assert sorted(convert.NAMES) == sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "convert")
    page = (FOLDER.parent.parent / "docs" / "python.md").read_text()
    assert all(f"{name}.py" in page for name in convert.NAMES)
