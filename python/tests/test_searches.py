"""bench/searches.py: the pairs that no change of the search went by, and what counts; the searches are made up here."""

from __future__ import annotations

import itertools
import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import bench_script

ROOT = Path(__file__).resolve().parents[2]

# A search that finds a candidate at once with FAST, late with the guided search of others, and has no lead-lag.
COMMAND = """#!/bin/sh
law=$2 plain=no
for each; do if [ "$each" = --plain-sampler ]; then plain=yes; fi; done
case "$law" in *leadlag*) exit 3 ;; esac
if [ "$law" = fast ] || [ "$plain" = no ]; then first=', "first_candidate_evaluations": 7'; fi
echo "{\\"objectives\\": [{\\"evaluations\\": 5, \\"phases\\": [{\\"best\\": 0.5}]$first}]}"
"""


@pytest.fixture(scope="module")
def searches() -> Any:
    return bench_script("searches")


def name(law: str) -> str:
    # The package has Python 3.10, whose library reads no TOML.
    table = re.search(r'\blaw = "([^"]+)"', law)
    return table[1] if table is not None else law


def test_unseen_pairs_were_not_searched_before(searches: Any) -> None:
    before = {(name(law), objective) for law, objective, *_ in searches.PAIRS}
    before |= {(name(near.law), near.objective) for near in searches.NEAR}
    for path in (ROOT / "failures").glob("*.toml"):
        command = re.match(r"# penstock break ('[^']*'|\S+) --objective (\S+)", path.read_text())
        if command is not None:
            before.add((name(command[1].strip("'")), command[2]))
    assert len(before) > 60
    unseen = [(name(law), objective) for law, objective, *_ in searches.UNSEEN]
    assert len(set(unseen)) == len(unseen) == 30
    assert not before & set(unseen)
    # By the rule: the laws go round in the order of the alphabet.
    rounds = sum(a >= b for (a, _), (b, _) in itertools.pairwise(unseen))
    assert rounds == 1


def test_unseen_pairs_are_compared_in_their_order(
    searches: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = tmp_path / "penstock"
    command.write_text(COMMAND)
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(
        sys, "argv", ["searches.py", "pairs", "--unseen", "--penstock", str(command), "--together", "1"]
    )
    assert searches.main() == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith("| `")]
    assert rows[0][0] == "| `ccp`"
    fast = next(row for row in rows if row[0] == "| `fast`")
    assert (fast[3], fast[-1]) == ("7 of 200", "not counted |")
    leadlag = next(row for row in rows if "leadlag" in row[0])
    assert (leadlag[3], leadlag[-1]) == ("not searched", "not counted |")
    assert lines[-1] == "The search is better in 10 of 10."
