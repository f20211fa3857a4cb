"""The memory of a law beside its declared state, which the fluid world and the analysis do not follow."""

from __future__ import annotations

import builtins
import collections
import enum
import functools
import inspect
import numbers
import sys
import types
from collections.abc import Iterator
from typing import Any

from penstock import _identity
from penstock._native import Dual

_MOST = 20_000
"""The most numbers that are compared."""
_SWITCH = "a counter or a switch"
"""Stands for whole numbers, texts and all else that is no number with a derivative. One may become another."""
_SWITCHES = (int, str, bytes, type(None), enum.Enum, type, types.ModuleType, types.BuiltinFunctionType)
_METHODS = (types.FunctionType, staticmethod, classmethod, property, type, types.MemberDescriptorType)
_DECLARED = ("_parameters", "_state")
_INSTALLED = ("site-packages", "dist-packages")

Content = dict[str, object]
"""The numbers that were found, by the expression that has them."""


class Memory:
    """Numbers that events of a law could change unseen.

    They are in objects and containers among its attributes, in slots, and in all that objects of the law share:
    globals, closures, defaults of arguments, and attributes of classes and of functions. A number that is itself an
    attribute of the law is not among them: the host compares those.
    """

    def __init__(self, law: type[Any], declared: tuple[str, ...]) -> None:
        """Find what all objects of this class share. ``declared`` are its parameters and its state."""
        self._declared = frozenset(declared)
        self._slots = [name for name in _slots(law) if name not in self._declared]
        self._home = law.__module__.partition(".")[0]
        self._globals: dict[tuple[int, str], tuple[str, dict[str, Any]]] = {}
        self._classes: list[type[Any]] = []
        self._functions: list[types.FunctionType] = []
        self._modules: set[str] = set()
        waiting: list[object] = [law]
        visited: set[int] = set()
        while waiting:
            thing = waiting.pop()
            if id(thing) not in visited:
                visited.add(id(thing))
                waiting += self._parts(thing)

    def content(self, law: object) -> Content:
        """Return all these numbers as they are now."""
        waiting = [(name, getattr(law, name, None)) for name in self._slots]
        own: dict[str, Any] = getattr(law, "__dict__", {})
        waiting += [
            (name, thing)
            for name, thing in own.items()
            if name not in self._declared and not isinstance(thing, (float, int, str, type(None), Dual))
        ]
        waiting += [(label, space[name]) for (_, name), (label, space) in self._globals.items() if name in space]
        for kept in self._classes:
            waiting += [
                (f"{kept.__name__}.{name}", thing)
                for name, thing in vars(kept).items()
                if not name.startswith("__") and name not in _DECLARED and not isinstance(thing, _METHODS)
            ]
        for function in self._functions:
            if function.__closure__ or function.__defaults__ or function.__kwdefaults__ or function.__dict__:
                waiting += _of_function(function.__qualname__, function)
        return _content(waiting, {id(law), *map(id, self._functions)})

    def changed(self, law: object, before: Content) -> str | None:
        """Return the expression of a number that is not as it was before, if there is one."""
        after = self.content(law)
        if after == before:
            return None
        # A counter that begins is no number, nor is a switch that ends.
        differs = (name for name in {**before, **after} if before.get(name, _SWITCH) != after.get(name, _SWITCH))
        return min(differs, default=None)

    def _parts(self, thing: object) -> Iterator[object]:
        """Note the shared things in a class or function, and yield the classes and functions that it leads to."""
        if isinstance(thing, type):
            if thing.__module__ == "penstock._law" or not self._is_own(thing.__module__):
                return
            self._classes.append(thing)
            yield from thing.__mro__[1:]
            yield from vars(thing).values()
        elif isinstance(thing, types.FunctionType):
            self._functions.append(thing)
            yield getattr(thing, "__wrapped__", None)
            yield from (content for _, content in _of_function("", thing))
            module = thing.__globals__.get("__name__", "")
            if self._is_own(module):
                yield from self._named(set(_identity.names_of(thing.__code__)), thing.__globals__, module)
        elif isinstance(thing, property):
            yield from (thing.fget, thing.fset)
        elif isinstance(thing, (staticmethod, classmethod, types.MethodType)):
            yield thing.__func__
        elif isinstance(thing, (functools.partial, functools.partialmethod, functools.cached_property)):
            yield thing.func

    def _named(self, names: set[str], space: dict[str, Any], module: str) -> Iterator[object]:
        """Note the globals of these names."""
        for name in sorted(names):
            thing = space.get(name)
            if isinstance(thing, types.ModuleType):
                if self._is_own(thing.__name__) and thing.__name__ not in self._modules:
                    self._modules.add(thing.__name__)
                    yield from self._named(names, vars(thing), thing.__name__)
            elif isinstance(thing, (type, types.FunctionType)):
                yield thing
            elif name in space or not hasattr(builtins, name):
                self._globals[id(space), name] = f"{name} of {module}", space
                yield type(thing)

    def _is_own(self, module: str) -> bool:
        """Whether a module is the user's: neither of Python nor installed."""
        root = module.partition(".")[0]
        if root == self._home:
            return True
        if root == "penstock" or (root in sys.stdlib_module_names and root != "__main__"):
            return False
        file = getattr(sys.modules.get(root), "__file__", None) or ""
        return not any(part in file for part in _INSTALLED)


def _content(waiting: list[tuple[str, Any]], visited: set[int]) -> Content:
    """Go through objects and containers, each once."""
    found: Content = {}
    alive = []
    while waiting and len(found) < _MOST:
        name, thing = waiting.pop()
        if isinstance(thing, float):
            found[name] = _same(thing)
        elif isinstance(thing, Dual):
            found[name] = _same(thing.value), _same(thing.slope), _same(thing.kink)
        elif isinstance(thing, _SWITCHES):
            found[name] = _SWITCH
        elif id(thing) not in visited:
            visited.add(id(thing))
            # Another object would take the place of one that ends meanwhile.
            alive.append(thing)
            try:
                waiting += _inside(name, thing, found)
            except Exception:
                # An object that cannot be read is not compared.
                continue
    return found


def _inside(name: str, thing: Any, found: Content) -> list[tuple[str, Any]]:
    """Return the parts of an object, by their expressions."""
    parts: list[tuple[str, Any]] = []
    if hasattr(thing, "tobytes"):
        # Arrays and numbers of numpy, and arrays of Python.
        kind = getattr(getattr(thing, "dtype", None), "kind", "")
        if kind == "O":
            return [(name, thing.tolist())]
        whole = kind in "iub" and getattr(thing, "shape", None) == ()
        found[name] = _SWITCH if kind and whole else (getattr(thing, "shape", len(thing)), hash(thing.tobytes()))
        return parts
    if hasattr(thing, "detach") and hasattr(thing, "numpy"):
        # A tensor of torch.
        return [(name, thing.detach().cpu().numpy())]
    if isinstance(thing, bytearray):
        found[name] = bytes(thing)
    elif isinstance(thing, numbers.Number):
        found[name] = repr(thing)
    elif isinstance(thing, collections.abc.Mapping):
        parts += [(f"{name}[{key!r}]", value) for key, value in thing.items()]
    elif isinstance(thing, (list, tuple, collections.deque)):
        found[f"len({name})"] = len(thing)
        parts += [(f"{name}[{at}]", value) for at, value in enumerate(thing)]
    elif isinstance(thing, (set, frozenset)):
        found[name] = frozenset(thing)
    elif isinstance(thing, types.FunctionType):
        parts += _of_function(name, thing)
    elif isinstance(thing, types.MethodType):
        parts += [(f"{name}.__self__", thing.__self__), (name, thing.__func__)]
    elif isinstance(thing, types.GeneratorType):
        parts += [(f"{name}: {local}", value) for local, value in inspect.getgeneratorlocals(thing).items()]
    elif isinstance(thing, functools.partial):
        parts += [(f"{name}.func", thing.func), (f"{name}.args", thing.args), (f"{name}.keywords", thing.keywords)]
    root = type(thing).__module__.partition(".")[0]
    if root not in sys.stdlib_module_names or root == "__main__":
        parts += [(f"{name}.{slot}", getattr(thing, slot, None)) for slot in _slots(type(thing))]
        parts += [(f"{name}.{attribute}", value) for attribute, value in getattr(thing, "__dict__", {}).items()]
    return parts


def _of_function(name: str, function: types.FunctionType) -> list[tuple[str, Any]]:
    """Return what a function keeps: closure, defaults and attributes."""
    parts: list[tuple[str, Any]] = []
    for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            parts.append((f"{variable} of {name}", cell.cell_contents))
        except ValueError:
            # It has no value yet.
            continue
    parts += [(f"default {at} of {name}", value) for at, value in enumerate(function.__defaults__ or ())]
    parts += [(f"default {at} of {name}", value) for at, value in (function.__kwdefaults__ or {}).items()]
    parts += [(f"{name}.{attribute}", value) for attribute, value in vars(function).items()]
    return parts


def _slots(of: type[Any]) -> list[str]:
    """Return the names of slots, those of classes above too."""
    kind = types.MemberDescriptorType
    return [name for base in of.__mro__ for name, thing in vars(base).items() if isinstance(thing, kind)]


def _same(number: float) -> object:
    """Return a number that equals itself, which NaN does not."""
    return number if number == number else "nan"
