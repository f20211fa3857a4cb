"""Write ``penstock/summary.py`` from the types that the summary of a run has in Rust.

``python generate.py`` writes the file with the installed package. A test compares it.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

from penstock import _native

HEAD = '''"""The summary of a run, typed.

``python/generate.py`` writes this file, in one piece: it is as long as the summary has numbers. A name ends in the unit
of its number; a number without a unit is a plain one.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping


class _Named(dict[str, typing.Any]):
    """Parts of a summary by name. A name that is missing gives those that there are."""

    def __missing__(self, name: object) -> typing.NoReturn:
        known = f": there are {', '.join(self)}" if self else ", nor any"
        raise KeyError(f"there is no {name!r}{known}")
'''

TAIL = '''

def summary_of(values: Mapping[str, typing.Any]) -> Summary:
    """Make a summary of the values of ``summary.json``."""
    return typing.cast(Summary, _made(Summary, values))


@functools.cache
def _fields(kind: type) -> dict[str, typing.Any]:
    return typing.get_type_hints(kind)


def _made(kind: typing.Any, value: typing.Any) -> typing.Any:
    if dataclasses.is_dataclass(kind):
        known = _fields(typing.cast(type, kind))
        return typing.cast(type, kind)(**{name: _made(known[name], of) for name, of in value.items() if name in known})
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _made(inner[0], value)
    if origin is tuple:
        return tuple(_made(inner[0], one) for one in value)
    if origin is Mapping:
        return _Named((name, _made(inner[1], one)) for name, one in value.items())
    return float(value) if kind is float else value
'''


def kind_of(schema: dict[str, Any]) -> str:
    """Return the annotation of a field."""
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[1])
    if "anyOf" in schema:
        return " | ".join(kind_of(one) for one in schema["anyOf"])
    kind = schema["type"]
    if isinstance(kind, list):
        return " | ".join(kind_of({**schema, "type": one}) for one in kind)
    if kind == "array":
        return f"tuple[{kind_of(schema['items'])}, ...]"
    if kind == "object":
        return f"Mapping[str, {kind_of(schema['additionalProperties'])}]"
    return {"number": "float", "integer": "int", "string": "str", "boolean": "bool", "null": "None"}[kind]


def sentence(text: str, indent: str) -> str:
    """Return a docstring of lines that fit."""
    lines = textwrap.wrap(" ".join(text.split()).replace("\\", "\\\\"), 110 - len(indent))
    if len(lines) == 1:
        return f'{indent}"""{lines[0]}"""\n'
    return "".join(f"{indent}{line}\n" for line in [f'"""{lines[0]}', *lines[1:], '"""'])


def written(name: str, schema: dict[str, Any]) -> str:
    """Return a class."""
    text = f"\n\n@dataclasses.dataclass(frozen=True, kw_only=True)\nclass {name}:\n"
    first = schema.get("description", "A part of the summary.")
    # One line: up to the first full stop, colon or parenthesis.
    first = re.split(r"\. |:| \(|;", " ".join(first.split()))[0].rstrip(".") + "."
    text += sentence(first, "    ")
    required = set(schema.get("required", []))
    for field, about in schema["properties"].items():
        kind = kind_of(about)
        if field not in required:
            if kind.startswith("Mapping"):
                default = " = dataclasses.field(default_factory=_Named)"
            elif kind.startswith("tuple"):
                default = " = ()"
            else:
                kind, default = kind if kind.endswith("| None") else f"{kind} | None", " = None"
        else:
            default = ""
        text += f"\n    {field}: {kind}{default}\n" + sentence(about.get("description", field), "    ")
    return text


def page() -> str:
    """Return the file."""
    schema = json.loads(_native.summary_schema())
    classes = "".join(written(name, about) for name, about in schema["$defs"].items())
    return HEAD + classes + written("Summary", schema) + TAIL


if __name__ == "__main__":
    Path(__file__).with_name("penstock").joinpath("summary.py").write_text(page())
