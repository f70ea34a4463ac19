"""The JSON schema of claims.json, made from the dataclasses whose objects the file holds.

`python -m confee.claims.schema` writes it to claims.schema.json beside this file, for whoever reads
claims.json with other tools. `check` holds a value to it without another library.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import re
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from confee.claims.judging.finding import Finding

FILE = Path(__file__).with_name("claims.schema.json")
VERSION = 3

DERIVED = ("severity", "reason", "mended", "gloss", "breaks")
"""Properties of a Finding that claims.json holds as well, so that its readers need no rule."""

KINDS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    types.NoneType: "null",
}

EVIDENCE = {
    "type": "array",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["file"],
        "properties": {
            "file": {"type": "string"},
            "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        },
    },
    "description": "The files that the finding rests on; none for arithmetic.",
}


def schema() -> dict[str, Any]:
    """Return the schema of claims.json."""
    finding = of_class(Finding)
    finding["properties"]["evidence"] = EVIDENCE
    for name in DERIVED:
        getter = getattr(Finding, name).fget
        kind = of_type(get_type_hints(getter, include_extras=True)["return"])
        finding["properties"][name] = kind | {"description": " ".join(getter.__doc__.split())}
    finding["required"] = list(finding["properties"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "claims.json of confee",
        "description": "The findings of an experiment, in the order of the claims.",
        "type": "object",
        "additionalProperties": False,
        "required": ["version", "experiment", "toy", "code", "claims"],
        "properties": {
            "version": {"const": VERSION},
            "experiment": {"type": "string"},
            "toy": {"type": "boolean"},
            "code": {"type": "string", "description": "The hash of the code."},
            "overrides": {
                "type": "string",
                "description": "The overrides of the workflow, as a shell would split them.",
            },
            "claims": {"type": "array", "items": finding},
        },
    }


def of_class(kind: type) -> dict[str, Any]:
    """Return the schema of a dataclass; its docstring describes the fields."""
    hints, texts = get_type_hints(kind, include_extras=True), descriptions(kind)
    properties = {}
    for field in dataclasses.fields(kind):
        text = {"description": texts[field.name]} if field.name in texts else {}
        properties[field.name] = of_type(hints[field.name]) | text
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def of_type(kind: Any) -> dict[str, Any]:
    """Return the schema of a field's type. What `Annotated` adds to it are words of the schema."""
    if get_origin(kind) is Annotated:
        plain, *more = get_args(kind)
        return of_type(plain) | {word: value for words in more for word, value in words.items()}
    if isinstance(kind, types.UnionType):
        (inner,) = (part for part in get_args(kind) if part is not types.NoneType)
        plain_type = of_type(inner)
        return plain_type | {"type": [plain_type["type"], "null"]}
    if get_origin(kind) is tuple:
        first, *rest = get_args(kind)
        array = {"type": "array", "items": of_type(first)}
        size = 1 + len(rest)
        return array if rest == [...] else array | {"minItems": size, "maxItems": size}
    return {"type": KINDS[kind]} if kind in KINDS else of_class(kind)


def descriptions(kind: type) -> dict[str, str]:
    """Field -> its text in the section `Parameters` of a class's docstring."""
    _, _, section = (inspect.getdoc(kind) or "").partition("Parameters\n----------\n")
    texts: dict[str, str] = {}
    for names, text in re.findall(r"^(\S.*)\n((?:[ ]+.*\n?)+)", section, re.MULTILINE):
        texts |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return texts


def check(value: Any, schema: Mapping[str, Any], where: str = "") -> None:
    """Hold a value to the words of JSON Schema that `schema` uses.

    Raises
    ------
    TypeError, OverflowError
        If the value does not follow it, or a number is not finite.
    """
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(value, kind) for kind in kinds):
        raise TypeError(f"{where}={value}: must be {' or '.join(kinds)}")
    if value is None:
        return
    if "enum" in schema and value not in schema["enum"]:
        raise TypeError(f"{where}={value}: must be one of {schema['enum']}")
    if not schema.get("minimum", -math.inf) <= _size(value) <= schema.get("maximum", math.inf):
        raise TypeError(f"{where}={value}: out of range")
    if len(value if isinstance(value, str) else "") < schema.get("minLength", 0):
        raise TypeError(f"{where}: empty")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        raise TypeError(f"{where}={value}: must match {schema['pattern']}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
            raise TypeError(f"{where}: {len(value)} items")
        for item in value:
            check(item, schema["items"], where)
    if isinstance(value, dict) and "properties" in schema:
        properties, missing = schema["properties"], {*schema["required"]} - {*value}
        if missing or not {*value} <= {*properties}:
            raise TypeError(f"{where}: {sorted(value)}")
        for name, item in value.items():
            check(item, properties[name], f"{where}.{name}")


def _is(value: Any, kind: str) -> bool:
    """Whether a value read from JSON is of a type of JSON Schema, and finite if it is a number."""
    if kind == "array":
        return isinstance(value, list)
    if kind == "number":
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and math.isfinite(float(value))
    return any(type(value) is python for python, name in KINDS.items() if name == kind)


def _size(value: Any) -> float:
    return value if isinstance(value, int | float) else 0.0


def text() -> str:
    """Return the content of claims.schema.json."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
