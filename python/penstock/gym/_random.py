"""Domain randomisation: distributions for keys of a scenario."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Value = str | int | float | bool
"""A value of a key of a scenario."""

Distribution = Callable[[np.random.Generator], Any]
"""A function that draws a value: one of the classes here, or any other."""


class Uniform:
    """Uniform between two numbers, with a unit: ``Uniform(5, 50, "Mbit/s")``."""

    def __init__(self, least: float, most: float, unit: str = "") -> None:
        self.least, self.most, self.unit = _range(least, most, unit)

    def __call__(self, rng: np.random.Generator) -> Value:
        """Draw a value."""
        return _with_unit(float(rng.uniform(self.least, self.most)), self.unit)

    def __repr__(self) -> str:
        """Show how to make it."""
        return f"{type(self).__name__}({self.least!r}, {self.most!r}, {self.unit!r})"


class LogUniform(Uniform):
    """Uniform in the logarithm between two positive numbers, with a unit: ``LogUniform(10, 200, "ms")``."""

    def __init__(self, least: float, most: float, unit: str = "") -> None:
        super().__init__(least, most, unit)
        if least <= 0:
            raise ValueError(f"the logarithm of {least} is no number: write a positive one")

    def __call__(self, rng: np.random.Generator) -> Value:
        """Draw a value."""
        return _with_unit(math.exp(rng.uniform(math.log(self.least), math.log(self.most))), self.unit)


class Integers(Uniform):
    """A whole number between two, which are included: ``Integers(1, 8)``."""

    def __init__(self, least: float, most: float, unit: str = "") -> None:
        super().__init__(least, most, unit)
        for number in (least, most):
            if number != int(number) or abs(number) > 2**53:
                raise ValueError(f"Integers: {number} is no whole number up to 2**53: write one")

    def __call__(self, rng: np.random.Generator) -> Value:
        """Draw a value."""
        drawn = int(rng.integers(int(self.least), int(self.most), endpoint=True))
        return f"{drawn} {self.unit}" if self.unit else drawn


class Choice:
    """One of several values, each as likely: ``Choice("0.5 bdp", "2 bdp")``."""

    def __init__(self, *values: Value) -> None:
        if not values:
            raise ValueError("there is nothing to choose from: write the values")
        self.values: Sequence[Value] = values

    def __call__(self, rng: np.random.Generator) -> Value:
        """Draw a value."""
        return self.values[int(rng.integers(len(self.values)))]

    def __repr__(self) -> str:
        """Show how to make it."""
        return f"Choice({', '.join(map(repr, self.values))})"


def _range(least: float, most: float, unit: str) -> tuple[float, float, str]:
    for number in (least, most):
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise TypeError(f"{number!r} is of class {type(number).__name__}: write a number, and the unit behind both")
    if not (math.isfinite(least) and math.isfinite(most) and least <= most):
        raise ValueError(f"nothing is between {least} and {most}: write the smaller number first")
    return least, most, unit


def _with_unit(number: float, unit: str) -> Value:
    # Exact powers of ten would not fit: the reader takes as many digits as a picosecond or a bit a second has.
    return f"{number:.9g} {unit}" if unit else number


def checked(randomize: Mapping[str, Distribution] | None) -> dict[str, Distribution]:
    """Return the distributions by key, if each is one."""
    if randomize is None:
        return {}
    if not isinstance(randomize, Mapping):
        raise TypeError(f"randomize is of class {type(randomize).__name__}: give a dict of keys and distributions")
    for key, distribution in randomize.items():
        if not callable(distribution):
            raise TypeError(f"randomize: {key}: give a distribution such as Uniform(5, 50, 'Mbit/s'), or Choice(...)")
        if isinstance(key, str) and key.strip() == "seed":
            raise ValueError(
                "randomize: seed: an episode has a seed of its own: leave it out, or call reset(options={'seed': ...})"
            )
    return dict(randomize)


def drawn(randomize: Mapping[str, Distribution], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw each key, in order, and return its value as a scenario has it."""
    return [(key, text(key, distribution(rng))) for key, distribution in randomize.items()]


def text(key: str, value: Any) -> str:
    """Return a value as the text of a scenario."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    raise TypeError(f"{key}: a value is of class {type(value).__name__}: write a str, a number or a bool")
