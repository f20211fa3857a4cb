"""Commands as functions: what the command finds, without a process and without a file of its own."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock import _native
from penstock._arguments import text
from penstock._errors import ScenarioError
from penstock._law import registered_name
from penstock._native import Scenario, Table
from penstock._run import scenario_of


def text_of(scenario: Scenario | str | os.PathLike[str]) -> tuple[str, str]:
    """Return the path and the resolved text of a scenario of one cell."""
    scenario = scenario_of(scenario)
    text = scenario.resolved()
    return os.fspath(scenario.parts()[1]), text


def ask(
    words: Sequence[str],
    options: Mapping[str, object],
    texts: Mapping[str, str] | None = None,
    given: Sequence[str] = (),
) -> Any:
    """Run a command and return its JSON. ``options`` are its own; None, False and empty ones are left out."""
    return answer(words, options, texts, given)[0]


def answer(
    words: Sequence[str],
    options: Mapping[str, object],
    texts: Mapping[str, str] | None = None,
    given: Sequence[str] = (),
) -> tuple[Any, list[str], int]:
    """Run a command and return its JSON, its notes and its exit status.

    Args:
        words: Its name, and the name of its part.
        options: Its options. One with a dict is written once for each of its pairs.
        texts: The contents of files, by path.
        given: Arguments that stand without an option, whatever they begin with.
    """
    arguments = ["penstock", *words, "--json"]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif isinstance(value, Mapping):
            arguments += [f"{option}={key}={one}" for key, one in value.items()]
        elif isinstance(value, tuple):
            arguments += [option, *value]
        elif isinstance(value, list):
            if value:
                arguments.append(f"{option}={','.join(value)}")
        elif value is not None and value is not False:
            arguments.append(f"{option}={value}")
    if any("\0" in argument for argument in (*arguments, *given)):
        raise ValueError("an argument has a character of code zero: leave it out")
    try:
        return _native.answer([*arguments, "--", *given], dict(texts or {}))
    except ScenarioError as error:
        # A function has arguments in the place of options.
        message = str(error).split("\n\nUsage:")[0].split("\n\nFor more information")[0].removeprefix("error: ")
        message = message.replace("<FILE>", "scenario")
        message = re.sub(r"(?<!`)--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), message)
        if message == str(error):
            raise
        raise type(error)(message) from None


def names(argument: str, value: str | Sequence[str] | None) -> list[str]:
    """Return names that were given as one or as several."""
    if not (value is None or isinstance(value, (str, Iterable))):
        raise TypeError(f"{argument} is of class {type(value).__name__}: write a list of names")
    given = [] if value is None else [value] if isinstance(value, str) else list(value)
    for one in given:
        if not isinstance(one, str):
            raise TypeError(f"{argument} has an object of class {type(one).__name__}: write names")
    return given


def named(law: object) -> str:
    """Return a law as a command takes it: a name, or a table of a law and its parameters.

    Raises:
        TypeError: It is no name, no dict and no class.
        ValueError: It is a class that is not registered, or not any longer.
    """
    if isinstance(law, type):
        return registered_name(law)
    if isinstance(law, Mapping):
        if "law" not in law:
            raise ValueError('a law is a dict without the key `law`: write {"law": "fast", "alpha": "20 packets"}')
        pairs = [(text("a key of a law", key, "a text"), value) for key, value in law.items()]
        return "{ " + ", ".join(f"{_key(key)} = {_value(key, value)}" for key, value in pairs) + " }"
    if not isinstance(law, str):
        raise TypeError(
            f"a law is of class {type(law).__name__}: give its name, a dict, or a class that was registered"
        )
    if "{" not in law and "=" in law:
        name = law.split()[0]
        raise ScenarioError(
            f'`{law}` is no name of a law: write parameters as in {{"law": "{name}", "alpha": "20 packets"}}'
        )
    return law


def titled(law: object) -> str:
    """Return the text of a law in the name of a column: ``fast alpha=20 packets``."""
    if isinstance(law, Mapping):
        return " ".join([str(law["law"]), *(f"{key}={value}" for key, value in law.items() if key != "law")])
    return named(law)


def _key(key: str) -> str:
    """Write a key of TOML."""
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else json.dumps(key)


def _value(key: str, value: Any) -> str:
    """Write a parameter of a law as TOML."""
    if isinstance(value, type):
        return json.dumps(registered_name(value))
    if hasattr(value, "item") and not isinstance(value, (str, bool, int, float)):
        # A number of numpy.
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return repr(value)
    raise TypeError(f"{key} is of class {type(value).__name__}: write a number, a bool or a text")


def frame(name: str, rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> Table:
    """Return rows as a table, with null where a row has no such column."""
    return Table.of_rows(name, list(columns), [[row.get(column) for column in columns] for row in rows])
