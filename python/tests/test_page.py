"""The examples of ``docs/python.md`` and ``docs/tutorial.md`` run."""

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


def test_the_law_of_the_tutorial_prints_what_the_tutorial_shows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text()
    (block,) = re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
    shown = text.split("    python3 delay.py\n")[1].splitlines()[1:3]
    (tmp_path / "my.toml").write_text((ROOT / "scenarios" / "bufferbloat.toml").read_text())
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "docs/tutorial.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [line.strip() for line in shown]
