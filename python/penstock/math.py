"""Functions for laws: of floats in a run, of dual numbers in the analysis.

Results have the same bits on every machine. Outside of its domain a function gives NaN, and the run then ends with a
``LawError``.
"""

from __future__ import annotations

from penstock._native import clamp, exp, log, max, min, pow, sqrt

__all__ = ["clamp", "exp", "log", "max", "min", "pow", "sqrt"]
