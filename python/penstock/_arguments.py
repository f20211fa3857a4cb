"""Checks of arguments: a wrong one raises an exception that names it, and the value that would do."""

from __future__ import annotations

import operator
from typing import Any


def switch(name: str, value: object) -> bool:
    """Return a bool, also one of numpy. A text such as ``no`` is none: it would count as True."""
    kind = type(value)
    if isinstance(value, bool) or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_")):
        return bool(value)
    raise TypeError(f"{name} is of class {kind.__name__}: write True or False")


def _integer(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is of class {type(value).__name__}: write an int")
    return operator.index(value)


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number, also one of numpy, within its bounds."""
    number = _integer(name, value)
    if number < least:
        raise ValueError(f"{name} is {number}: write {least} or more")
    if most is not None and number > most:
        raise ValueError(f"{name} is {number}: write {most} or less")
    return number


def seed_of(value: Any, name: str = "seed") -> int | None:
    """Return a seed."""
    if value is None:
        return None
    number = _integer(name, value)
    if not 0 <= number < 2**63:
        raise ValueError(f"{name} is {number}: write a number from 0 to 2**63 - 1")
    return number


def jobs_of(value: Any) -> int | None:
    """Return a number of threads."""
    return None if value is None else whole("jobs", value, 1)


def text(name: str, value: object, instead: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is of class {type(value).__name__}: write {instead}")
    return value


def number(name: str, value: Any) -> float | None:
    """Return a number, also one of numpy, or None."""
    if value is None:
        return None
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} is of class {type(value).__name__}: write a number")
    return float(value)
