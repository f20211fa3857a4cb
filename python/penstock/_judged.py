"""Comparisons, criteria, searches and papers: frames of what the command judges."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from penstock._ask import answer, ask, frame, named, names, text_of
from penstock._errors import ScenarioError
from penstock._law import Aqm, Controller
from penstock._native import Scenario, Table

AnyLaw = str | type[Controller] | type[Aqm]


def compare(
    scenario: Scenario | str | os.PathLike[str],
    *,
    worlds: Sequence[str] = (),
    laws: Sequence[AnyLaw] = (),
    seed: int | None = None,
) -> Table:
    """Run a scenario in several worlds, or with several laws, and return the numbers beside each other.

    Args:
        scenario: A scenario of one cell, or the path of its file.
        worlds: A list of two or more, ``packets`` and ``fluid`` by default. Each is compared with the first.
        laws: A list of two or more. Each in turn is the law of every group of flows, or of every AQM.
        seed: The seed. None is the scenario's own.

    Returns:
        One row a measure. A world or a law has a column of its values. ``NAME.relative`` is the difference of a
        world from the first, relative to it. ``NAME.difference`` is the difference of a law from the first, in the
        unit of the measure.

    Raises:
        ScenarioError: The scenario is wrong, a world or a law is unknown, or there is one alone.
    """
    # A name alone is a list of one, not of its letters.
    chosen = [named(law) for law in ([laws] if isinstance(laws, (str, type)) else laws)]
    where = names("worlds", worlds)
    for argument, several, as_in in [
        ("laws", chosen, '["cubic", "newreno"]'),
        ("worlds", where, '["packets", "fluid"]'),
    ]:
        if len(several) == 1:
            message = f"{argument} has `{several[0]}` alone: name two or more to compare, as in {argument}={as_in}"
            raise ScenarioError(message)
    path, text = text_of(scenario)
    options = {"worlds": where, "laws": chosen, "seed": seed}
    data = ask(["compare", path], options, {path: text})
    rows: list[dict[str, object]] = []
    if chosen:
        labels = [case["name"] for case in data["cases"]]
        for row in data["rows"]:
            one: dict[str, object] = {"where": row["of"], "measure": row["measure"], "unit": row["unit"]}
            for label, value, difference in zip(labels, row["values"], row["differences"], strict=True):
                one[label] = None if value is None else value["mean"]
                if label != labels[0]:
                    one[f"{label}.difference"] = None if difference is None else difference["mean"]
            rows.append(one)
        columns = ["where", "measure", "unit", *labels, *(f"{label}.difference" for label in labels[1:])]
        return frame("comparison", rows, columns)
    labels = data["worlds"]
    for row in data["rows"]:
        one = {"span": row["span"], "where": row["entity"], "measure": row["measure"], "unit": row["unit"]}
        one.update(zip(labels, row["values"], strict=True))
        one.update(zip((f"{label}.relative" for label in labels[1:]), row["differences"], strict=True))
        rows.append(one)
    columns = ["span", "where", "measure", "unit", *labels, *(f"{label}.relative" for label in labels[1:])]
    return frame("comparison", rows, columns)


class Evaluation:
    """The criteria of the IETF's documents for a law, each with its verdict."""

    def __init__(self, data: dict[str, Any], notes: list[str]) -> None:
        self.data = data
        """All of it, as ``evaluation.json`` has it."""
        self.notes = notes
        """The lines that the command writes to standard error."""

    @property
    def law(self) -> str:
        """The law."""
        return str(self.data["law"])

    @property
    def criteria(self) -> Table:
        """One row a criterion: ``id``, ``title``, ``document``, ``section``, ``level``, ``verdict``."""
        return frame("criteria", self.data["criteria"], ["id", "title", "document", "section", "level", "verdict"])

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each criterion by its ``id``."""
        return {one["id"]: one["verdict"] for one in self.data["criteria"]}

    def __repr__(self) -> str:
        """Count the verdicts."""
        counts: dict[str, int] = {}
        for verdict in self.verdicts.values():
            counts[verdict] = counts.get(verdict, 0) + 1
        shown = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        return f"<penstock.Evaluation of {self.law}: {shown}>"


def evaluate(
    law: AnyLaw,
    extent: Literal["quick", "standard", "full"] = "quick",
    *,
    only: str | Sequence[str] = (),
    against: str | None = None,
    world: str = "packets",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
) -> Evaluation:
    """Measure a law by the criteria of RFC 9743, RFC 9331 and RFC 7928, beside baselines.

    Args:
        law: The name of a law, with settings as in ``"fast alpha=50"``, or a class that was registered.
        extent: ``quick`` takes minutes, ``standard`` half an hour, ``full`` hours.
        only: The ids of the criteria to judge. By default all.
        against: Another baseline, or a ``verdicts.json`` to compare with.
        world: The world.
        out: A directory for the page and the runs, where a later call continues. None keeps nothing.
        jobs: Threads, one a processor by default. A law of Python computes on one at a time.

    Raises:
        ScenarioError: No law, criterion or baseline has this name.
        Exception: An exception of a law of Python.
    """
    if extent not in ("quick", "standard", "full"):
        raise ValueError(f"extent is {extent!r}: write quick, standard or full")
    with _directory(out) as directory:
        options: dict[str, object] = {extent: True, "only": names("only", only), "against": against, "world": world}
        data, notes, _ = answer(["evaluate", named(law)], {**options, "out": directory, "jobs": jobs})
    return Evaluation(data, notes)


class Failures:
    """Scenarios in which a law fails, found by a search."""

    def __init__(self, data: dict[str, Any], texts: dict[str, str], notes: list[str]) -> None:
        self.data = data
        """All of it, as ``break.json`` has it."""
        self.notes = notes
        """The lines that the command writes to standard error."""
        self._texts = texts

    @property
    def failures(self) -> Table:
        """One row a failure: ``objective``, ``file``, ``headline``, ``score``, ``score_at_least``."""
        rows = [
            {
                "objective": objective["objective"],
                "file": failure["file"],
                "headline": failure["headline"],
                "score": failure["confirmed"]["score"],
                "score_at_least": failure["confirmed"]["score_at_least"],
            }
            for objective in self.data["objectives"]
            for failure in objective["failures"]
        ]
        return frame("failures", rows, ["objective", "file", "headline", "score", "score_at_least"])

    @property
    def scenarios(self) -> dict[str, Scenario]:
        """The scenario of each failure, by ``file``."""
        return {name: Scenario.parse(text, name) for name, text in self._texts.items()}

    def __len__(self) -> int:
        """Count the failures."""
        return len(self._texts)

    def __repr__(self) -> str:
        """Count the failures."""
        return f"<penstock.Failures of {self.data['law']}: {len(self)}>"


def find_failures(
    law: AnyLaw,
    *,
    objective: str | Sequence[str] = (),
    space: str = "wifi",
    budget: int = 3000,
    seed: int = 1,
    failures: int = 3,
    jitter: str | None = None,
    loss: float | None = None,
    swing: float | None = None,
    threshold: float | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
) -> Failures:
    """Search for scenarios in which a law fails, as the command ``penstock break`` does.

    Args:
        law: The name of a law, with settings, or a class that was registered.
        objective: The kind of failure, such as ``underuse`` or ``starve``. By default all that apply.
        space: The scenarios that are searched: a name or a file.
        budget: Runs, over all objectives.
        seed: The seed of the search.
        failures: The most failures of an objective.
        jitter: The adversary's bound on delays, as in ``"10 ms"``.
        loss: The adversary's bound on the share of packets lost.
        swing: The adversary's bound on the factor by which a rate changes.
        threshold: The least score that counts as a failure, 0 to 1.
        out: A directory for the failures, where a later call continues. None keeps nothing.
        jobs: Threads, one a processor by default. A law of Python computes on one at a time.

    Raises:
        ScenarioError: No law, objective or space has this name, or a bound is out of range.
        Exception: An exception of a law of Python.
    """
    with _directory(out) as directory:
        options: dict[str, object] = {
            "objective": names("objective", objective),
            "space": space,
            "budget": budget,
            "seed": seed,
            "failures": failures,
            "jitter": jitter,
            "loss": loss,
            "swing": swing,
            "threshold": threshold,
            "out": directory,
            "jobs": jobs,
        }
        data, notes, _ = answer(["break", named(law)], options)
        wanted = [failure["file"] for objective in data["objectives"] for failure in objective["failures"]]
        texts = {file.name: file.read_text() for file in sorted(Path(directory).glob("*/failure-*.toml"))}
    return Failures(data, {name: texts[name] for name in wanted}, notes)


def paper(
    what: str,
    *,
    short: bool = True,
    papers: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
) -> Table:
    """Run figures of a paper and return its claims, each with its verdict.

    Args:
        what: A paper's key, or a figure of it: ``fast-tcp/fig1``.
        short: Whether few cells run, in the place of all.
        papers: The directory of the papers. By default the nearest one named ``papers``.
        out: A directory for the page and the runs, where a later call continues. None keeps nothing.
        jobs: Threads, one a processor by default.

    Returns:
        One row a claim: ``paper``, ``claim``, ``text``, ``verdict``, ``recorded``, ``measured``, ``bound``, ``unit``.
    """
    with _directory(out) as directory:
        where = None if papers is None else os.fspath(papers)
        data = ask(["paper", what], {"short": short, "papers": where, "out": directory, "jobs": jobs})
    outcomes = data if isinstance(data, list) else [data]
    rows = [{"paper": outcome["key"], **claim} for outcome in outcomes for claim in outcome["claims"]]
    return frame("claims", rows, _claims(rows))


def _claims(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the columns that are plain values in every row, in order."""
    columns: dict[str, None] = {}
    for row in rows:
        columns.update(dict.fromkeys(row))
    plain = (str, int, float, type(None))
    return [column for column in columns if all(isinstance(row.get(column), plain) for row in rows)]


@contextmanager
def _directory(out: str | os.PathLike[str] | None) -> Iterator[str]:
    """Give the directory that was asked for, or one that is gone afterwards."""
    if out is not None:
        yield os.fspath(out)
        return
    with tempfile.TemporaryDirectory(prefix="penstock-") as directory:
        yield directory
