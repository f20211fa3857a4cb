"""Exceptions."""

from __future__ import annotations


class ScenarioError(ValueError):
    """A scenario, or something else that was given, is wrong.

    The message has a line for each error of the file. The attributes are those of the first error.
    """

    file: str | None = None
    """The file, or the name that was given to the text."""
    line: int | None = None
    """The line, counted from one. It is None where the text does not come from a file."""
    column: int | None = None
    """The column in characters, counted from one."""
    key: str | None = None
    """The dotted key."""
    found: str | None = None
    """The text or value that is wrong."""
    remedy: str | None = None
    """A value or a step that would be right."""
    errors: tuple[ScenarioError, ...] = ()
    """All errors of the scenario in the order of the file, at most 100. Each has the attributes above."""


class UnsupportedError(RuntimeError):
    """The world or the machine cannot do it. The message says what is missing."""


class LawError(RuntimeError):
    """A law gave an output that no host can act on, such as a window that is not a number."""


class BugError(RuntimeError):
    """Penstock broke one of its own rules. Please report it with the scenario."""
