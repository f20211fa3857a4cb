"""The examples of ``docs/python.md`` run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_examples_of_the_page_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "python.md").read_text(), flags=re.M | re.S)
    assert len(blocks) >= 4
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert 0.5 < float(printed[0].split()[0]) <= 1
    assert printed[1] == "packets"
    assert printed[-1].startswith("links.bottleneck.rate write `10 Mbit/s`")
