"""Comparisons, criteria, searches and papers: frames of what the command judges."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from penstock import _native
from penstock._arguments import jobs_of, number, seed_of, switch, text, whole
from penstock._ask import answer, ask, frame, named, names, text_of, titled
from penstock._errors import ScenarioError
from penstock._law import Aqm, Controller, refresh
from penstock._native import Scenario, Table
from penstock._run import world_of

AnyLaw = str | Mapping[str, Any] | type[Controller] | type[Aqm]
"""A name, a law with parameters as ``{"law": "fast", "alpha": "20 packets"}``, or a class that was registered."""


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
        laws: A list of two or more: names, dicts of a law and its parameters, or classes that were registered. Each in
            turn is the law of every group of flows, or of every AQM.
        seed: The seed. None is the scenario's own.

    Returns:
        One row a measure. A world or a law has a column of its values. ``NAME.relative`` is the difference of a
        world from the first, relative to it. ``NAME.difference`` is the difference of a law from the first, in the
        unit of the measure.

    Raises:
        ScenarioError: The scenario is wrong, a world or a law is unknown, or there is one alone.
    """
    laws = _listed("laws", laws)
    chosen = [named(law) for law in laws]
    where = names("worlds", worlds)
    for argument, several, as_in in [
        ("laws", chosen, '["cubic", "newreno"]'),
        ("worlds", where, '["packets", "fluid"]'),
    ]:
        if len(several) == 1:
            message = f"{argument} has `{several[0]}` alone: name two or more to compare, as in {argument}={as_in}"
            raise ScenarioError(message)
        twice = [one for at, one in enumerate(several) if one in several[:at]]
        if twice:
            raise ScenarioError(f"{argument} has `{twice[0]}` twice: name each once")
    for world in where:
        world_of(world)
    path, resolved = text_of(scenario)
    options: dict[str, object] = {"worlds": where, "laws": chosen, "seed": seed_of(seed)}
    data = ask(["compare"], options, {path: resolved}, [path])
    rows: list[dict[str, object]] = []
    if chosen:
        labels = [titled(law) for law in laws]
        # The command leaves out a run that it has done.
        if len(data["cases"]) != len(labels):
            raise ScenarioError("two of laws make the same scenario: name each once")
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


def _listed(argument: str, laws: AnyLaw | Sequence[AnyLaw]) -> list[AnyLaw]:
    """Return laws that were given as one or as several."""
    # A name alone is a list of one, not of its letters.
    if isinstance(laws, (str, type, Mapping)):
        return [laws]
    if not isinstance(laws, Iterable):
        raise TypeError(f"{argument} is of class {type(laws).__name__}: write a list of laws")
    return list(laws)


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
    against: AnyLaw | None = None,
    world: str = "packets",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
) -> Evaluation:
    """Measure a law by the criteria of RFC 9743, RFC 9331 and RFC 7928, beside baselines.

    Args:
        law: The name of a law, a dict of a law and its parameters, as in ``{"law": "fast", "alpha": "20 packets"}``, or
            a class that was registered.
        extent: ``quick`` takes minutes, ``standard`` half an hour, ``full`` hours.
        only: The ids of the criteria to judge. By default all.
        against: Another baseline, or a ``verdicts.json`` to compare with.
        world: The world.
        out: A directory for the page and the runs, where a later call continues. A law that computes something else
            than before runs again. None keeps nothing.
        jobs: Threads, one a processor by default. A law of Python computes on one at a time.

    Raises:
        ScenarioError: No law, criterion or baseline has this name.
        Exception: An exception of a law of Python.
    """
    if extent not in ("quick", "standard", "full"):
        raise ValueError(f"extent is {extent!r}: write quick, standard or full")
    for one in text("world", world, "packets, fluid or linux").split(","):
        world_of(one)
    options: dict[str, object] = {extent: True, "only": names("only", only), "world": world, "jobs": jobs_of(jobs)}
    options["against"] = None if against is None else named(against)
    subject = named(law)
    with _directory(out) as directory:
        data, notes, _ = answer(["evaluate"], {**options, "out": directory}, given=[subject])
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
    baseline: AnyLaw | Sequence[AnyLaw] = (),
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
        law: The name of a law, a dict of a law and its parameters, or a class that was registered.
        objective: The kind of failure, such as ``underuse`` or ``starve``. By default all that apply.
        baseline: Laws to compare with, besides the baselines of the objective. A law fails where one of all of them
            does well.
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
        ScenarioError: No law, objective or space has this name, a baseline changes nothing, or a bound is out of range.
        Exception: An exception of a law of Python.
    """
    options: dict[str, object] = {
        "objective": names("objective", objective),
        "baseline": [named(one) for one in _listed("baseline", baseline)],
        "space": text("space", space, "the name of a space, or a file"),
        "budget": whole("budget", budget, 1),
        "seed": seed_of(seed),
        "failures": whole("failures", failures, 0),
        "jitter": None if jitter is None else text("jitter", jitter, 'a time, as in "10 ms"'),
        "loss": number("loss", loss),
        "swing": number("swing", swing),
        "threshold": number("threshold", threshold),
        "jobs": jobs_of(jobs),
    }
    subject = named(law)
    with _directory(out) as directory:
        data, notes, _ = answer(["break"], {**options, "out": directory}, given=[subject])
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
        papers: The directory of the papers. By default the nearest one named ``papers``, here or above; where there is
            none, the papers that this package brings.
        out: A directory for the page and the runs, where a later call continues. None keeps nothing.
        jobs: Threads, one a processor by default.

    Returns:
        One row a claim: ``paper``, ``claim``, ``text``, ``verdict``, ``recorded``, ``measured``, ``bound``, ``unit``.
    """
    options: dict[str, object] = {"short": switch("short", short), "jobs": jobs_of(jobs)}
    given = [text("what", what, "the key of a paper, or of a figure of it: fast-tcp/fig1")]
    with _directory(out) as directory, _papers(papers) as where:
        data = ask(["paper"], {**options, "papers": where, "out": directory}, given=given)
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
def _papers(papers: str | os.PathLike[str] | None) -> Iterator[str | None]:
    """Give the directory that was asked for; None where the command finds one; or else the papers of this package."""
    if papers is not None:
        yield os.fspath(papers)
        return
    here = Path.cwd()
    if any(next((folder / "papers").glob("*/paper.toml"), None) for folder in (here, *here.parents)):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="penstock-") as home:
        lab = Path(home) / "lab"
        _native.init(lab)
        yield str(lab / "papers")


@contextmanager
def _directory(out: str | os.PathLike[str] | None) -> Iterator[str]:
    """Give the directory that was asked for, or one that is gone afterwards."""
    if out is not None:
        # Results that are there count for laws that still compute the same.
        refresh()
        yield os.fspath(out)
        return
    with tempfile.TemporaryDirectory(prefix="penstock-") as directory:
        yield directory
