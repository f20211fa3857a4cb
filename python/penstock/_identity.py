"""The identity of a law: a hash of what it computes, which is the same for the same law in every process.

The class of a law alone says little. A function that it calls may have a dict, an object or a network of weights in its
closure. So the hash goes through all that the class and its functions name, as pickling does.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import sysconfig
import types
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_ATOMS = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))
_MOST = 100_000
"""The most objects that a hash goes through. More of them take long, and a law names no more."""
_SILENT = {
    # Attributes that a class has whatever it computes.
    "__abstractmethods__",
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__qualname__",
    "__slotnames__",
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
}
_OF_PROGRAM = 1 << 9
"""The flag of a class that a program made, and not Python itself (``Py_TPFLAGS_HEAPTYPE``)."""
_CACHE = type(functools.lru_cache(lambda: None))
_LIBRARIES = tuple(
    Path(place) for name in ("stdlib", "platstdlib", "purelib", "platlib") if (place := sysconfig.get_path(name))
)


class _Unknown(Exception):
    """Something has no content that could be compared."""


def content_of(law: type[Any], ends: tuple[type[Any], ...]) -> str:
    """Identify what a law computes, as it is now: its methods, its declarations, and all that they name.

    Laws with the same text compute the same. A law that holds what nobody can compare, such as a lock or an open file,
    has another text each time.

    Args:
        law: The class of the law.
        ends: Classes above it that are part of this package.
    """
    try:
        return _Content(law, ends, code_alone=False).of(law).hex()
    except (_Unknown, RecursionError):
        return f"unknown-{uuid.uuid4().hex}"


def program_of(law: type[Any], ends: tuple[type[Any], ...]) -> str:
    """Identify the program of a law: as ``content_of``, but without objects, lists and dicts that runs may change.

    It is the same on machines where Python has the same version, wherever libraries are.
    """
    try:
        return _Content(law, ends, code_alone=True).of(law).hex()
    except (_Unknown, RecursionError):
        return ""


class _Content:
    """Hashes of what objects consist of."""

    def __init__(self, law: type[Any], ends: tuple[type[Any], ...], code_alone: bool) -> None:
        self._ends = (*ends, object)
        self._code_alone = code_alone
        above = {base.__module__.partition(".")[0] for base in law.__mro__ if base not in self._ends}
        self._own = above - {"builtins", "penstock"}
        self._known: dict[int, tuple[object, bytes]] = {}
        """Hashes by identity, with the objects: one that is gone would give its identity to another."""
        self._within: list[int] = []

    def of(self, thing: object) -> bytes:
        """Return the hash of an object."""
        if type(thing) in _ATOMS:
            return self._hash(type(thing).__name__, repr(thing))
        known = self._known.get(id(thing))
        if known is not None:
            return known[1]
        if id(thing) in self._within:
            return self._hash("above", str(len(self._within) - self._within.index(id(thing))))
        if len(self._known) >= _MOST:
            raise _Unknown
        self._within.append(id(thing))
        found = self._hash(type(thing).__name__, *self._parts(thing))
        self._within.pop()
        self._known[id(thing)] = thing, found
        return found

    @staticmethod
    def _hash(*parts: str | bytes) -> bytes:
        digest = hashlib.sha256()
        for part in parts:
            data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)
        return digest.digest()

    def _each(self, things: Iterable[object]) -> Iterator[bytes]:
        yield from map(self.of, things)

    def _parts(self, thing: Any) -> Iterator[str | bytes]:
        if isinstance(thing, type):
            yield from self._of_class(thing)
        elif isinstance(thing, types.FunctionType):
            yield from self._of_function(thing)
        elif isinstance(thing, types.CodeType):
            yield from self._of_code(thing)
        elif isinstance(thing, types.ModuleType):
            yield from self._of_library(thing.__name__)
        elif isinstance(thing, types.CellType):
            yield from self._of_cell(thing)
        elif isinstance(thing, (staticmethod, classmethod)):
            yield self.of(thing.__func__)
        elif isinstance(thing, property):
            yield from self._each((thing.fget, thing.fset, thing.fdel))
        elif isinstance(thing, types.MethodType):
            yield from self._each((thing.__func__, thing.__self__))
        elif isinstance(thing, types.BuiltinFunctionType):
            yield thing.__name__
            # The method of an object, such as ``table.get``.
            if not (thing.__self__ is None or isinstance(thing.__self__, types.ModuleType)):
                yield self.of(thing.__self__)
        elif isinstance(thing, _CACHE):
            # The results that it holds follow from the function.
            yield self.of(thing.__wrapped__)
        elif isinstance(thing, functools.cached_property):
            yield self.of(thing.func)
        elif type(thing).__module__ == "penstock._law":
            # A declaration, or a requirement.
            yield repr(thing)
        elif type(thing) is tuple:
            yield from self._each(thing)
        elif type(thing) is frozenset:
            yield from sorted(self._each(thing))
        elif self._code_alone:
            # Runs may change it, and the class says which.
            yield type(thing).__qualname__
        elif type(thing) is list:
            yield from self._each(thing)
        elif type(thing) is set:
            yield from sorted(self._each(thing))
        elif type(thing) in (dict, types.MappingProxyType):
            for key, value in thing.items():
                yield from self._each((key, value))
        else:
            yield from self._of_object(thing)

    def _of_class(self, thing: type[Any]) -> Iterator[str | bytes]:
        yield thing.__qualname__
        if thing in self._ends or self._is_of_library(thing):
            yield from self._of_library(thing.__module__)
            return
        for base in thing.__mro__[1:]:
            if base not in self._ends:
                yield self.of(base)
        for name in sorted(set(vars(thing)) - _SILENT):
            yield name
            yield self.of(vars(thing)[name])

    def _of_function(self, thing: types.FunctionType) -> Iterator[str | bytes]:
        if self._is_of_library(thing):
            yield thing.__qualname__
            yield from self._of_library(thing.__module__)
            return
        yield from self._each((thing.__code__, thing.__defaults__, thing.__kwdefaults__))
        names = sorted(set(names_of(thing.__code__)))
        for name in names:
            if name in thing.__globals__:
                yield name
                yield from self._of_global(thing.__globals__[name], names)
        yield from self._each(thing.__closure__ or ())
        yield from self._each(thing.__dict__.values())

    def _of_global(self, thing: Any, names: list[str]) -> Iterator[str | bytes]:
        """Go through what a function names: of a module of the user's, the attributes that the function names."""
        yield self.of(thing)
        if isinstance(thing, types.ModuleType) and not self._is_library(thing.__name__):
            if id(thing) in self._within:
                return
            self._within.append(id(thing))
            for name in names:
                if name in vars(thing):
                    yield name
                    yield from self._of_global(vars(thing)[name], names)
            self._within.pop()

    def _of_code(self, thing: types.CodeType) -> Iterator[str | bytes]:
        yield thing.co_code
        yield getattr(thing, "co_exceptiontable", b"")
        yield repr((thing.co_names, thing.co_argcount, thing.co_kwonlyargcount, thing.co_flags))
        yield from self._each(thing.co_consts)

    def _of_cell(self, thing: types.CellType) -> Iterator[str | bytes]:
        try:
            contents = thing.cell_contents
        except ValueError:
            yield "empty"
        else:
            yield self.of(contents)

    def _of_object(self, thing: Any) -> Iterator[str | bytes]:
        """Go through what pickling would write of an object."""
        if hasattr(thing, "detach") and hasattr(thing, "numpy"):
            # A tensor of torch: pickling would write its place in memory.
            try:
                thing = thing.detach().cpu().numpy()
            except Exception as error:
                raise _Unknown from error
        if hasattr(thing, "dtype") and hasattr(thing, "tobytes") and not getattr(thing.dtype, "hasobject", False):
            yield f"{thing.dtype}{getattr(thing, 'shape', ())}"
            yield thing.tobytes()
            return
        if isinstance(thing, (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType)):
            yield thing.__qualname__
            return
        try:
            reduced = thing.__reduce_ex__(4)
            if isinstance(reduced, str):
                yield reduced
                return
            made, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
            items, pairs = list(items or ()), list(pairs or ())
        except Exception as error:
            raise _Unknown from error
        yield from self._each((type(thing), made, arguments, state, items, pairs))

    def _is_of_library(self, thing: Any) -> bool:
        """Whether it is a class or a function of a library, which is known by its name."""
        if isinstance(thing, type) and not thing.__flags__ & _OF_PROGRAM:
            return True
        # A program without a name, as ``exec`` runs it, has the name of this module.
        return thing.__module__ not in (None, "builtins") and self._is_library(thing.__module__)

    def _is_library(self, module: str) -> bool:
        if module.partition(".")[0] in self._own:
            return False
        if module in ("penstock.math", "penstock._native"):
            return True
        if module.partition(".")[0] == "penstock":
            # A law of this package is a law, and so is what it names; the package itself has a version.
            return module.startswith("penstock._")
        file = getattr(sys.modules.get(module), "__file__", None)
        if file is None:
            return module not in ("__main__", "__mp_main__") and module in sys.builtin_module_names
        above = Path(file).parents
        return any(place in above for place in _LIBRARIES) or any(
            folder.name in ("site-packages", "dist-packages") for folder in above
        )

    def _of_library(self, module: str) -> Iterator[str | bytes]:
        """Name a module. Another version of a library may compute something else."""
        if not self._is_library(module):
            # A notebook and a worker have different names for a module that is the main program.
            return
        yield module
        if self._code_alone:
            return
        top = sys.modules.get(module.partition(".")[0])
        yield str(getattr(top, "__version__", ""))
        if top is sys.modules.get("penstock"):
            # Results on disk name the code of this package besides.
            return
        try:
            about = Path(getattr(sys.modules.get(module), "__file__", None) or "").stat()
        except OSError:
            return
        yield f"{about.st_size} {about.st_mtime_ns}"


def names_of(code: types.CodeType) -> Iterator[str]:
    """Yield the names that a function and those within look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_of(constant)
