"""Commands as functions: what the command finds, without a process and without a file of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from penstock import _native
from penstock._errors import ScenarioError
from penstock._native import Scenario, Table
from penstock._run import scenario_of


def text_of(scenario: Scenario | str | os.PathLike[str]) -> tuple[str, str]:
    """Return the path and the resolved text of a scenario of one cell."""
    scenario = scenario_of(scenario)
    text = scenario.resolved()
    return os.fspath(scenario.parts()[1]), text


def ask(words: Sequence[str], options: Mapping[str, object], texts: Mapping[str, str] | None = None) -> Any:
    """Run a command and return its JSON. ``options`` are its own; None, False and empty ones are left out."""
    return answer(words, options, texts)[0]


def answer(
    words: Sequence[str], options: Mapping[str, object], texts: Mapping[str, str] | None = None
) -> tuple[Any, list[str], int]:
    """Run a command and return its JSON, its notes and its exit status."""
    arguments = ["penstock", *words, "--json"]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif isinstance(value, (list, tuple)):
            if value:
                arguments += [option, ",".join(str(one) for one in value)]
        elif value is not None and value is not False:
            arguments.append(f"{option}={value}")
    try:
        return _native.answer(arguments, dict(texts or {}))
    except ScenarioError as error:
        # A function has arguments in the place of options.
        message = str(error).split("\n\nUsage:")[0].removeprefix("error: ")
        message = message.replace("<FILE>", "scenario")
        message = re.sub(r"--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), message)
        if message == str(error):
            raise
        raise type(error)(message) from None


def names(argument: str, value: str | Sequence[str] | None) -> list[str]:
    """Return names that were given as one or as several."""
    given = [] if value is None else [value] if isinstance(value, str) else list(value)
    for one in given:
        if not isinstance(one, str):
            raise TypeError(f"{argument} has an object of class {type(one).__name__}: write names")
    return given


def named(law: object) -> str:
    """Return the name of a law, or of a law with settings, which may be a class that was registered."""
    if isinstance(law, type):
        return str(getattr(law, "name", "") or law.__name__.lower())
    if not isinstance(law, str):
        raise TypeError(f"a law is of class {type(law).__name__}: give its name, or a class that was registered")
    return law


def frame(name: str, rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> Table:
    """Return rows as a table, with null where a row has no such column."""
    return Table.of_rows(name, list(columns), [[row.get(column) for column in columns] for row in rows])
