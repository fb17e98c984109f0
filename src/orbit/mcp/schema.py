"""JSON Schemas of tools, short enough to be read by a model at every start.

What goes in is described in full, less what the name of a parameter already says. What comes out is described one level deep: the keys that are always there,
and which of them are lists or objects. The whole schemas of the answers would take more than everything else together, and every client pays for them at every
start whether it calls or not; the whole schema of each is a resource instead, read on demand.
"""

from __future__ import annotations

from typing import Any

import msgspec

_ALIASES = {"import_resolved", "fuzzy_name"}  # second spellings of a confidence: accepted, not advertised
_PLAIN = ("type", "enum", "const")


def input_schema(
    params: type[msgspec.Struct], hidden: frozenset[str], required: tuple[str, ...], notes: dict[str, str], defaults: dict[str, Any]
) -> dict[str, Any]:
    """An object with the parameters of an operation; what a tool requires or defaults to besides comes first."""
    top, components = _resolve(params)
    properties: dict[str, Any] = {}
    for name, found in top.get("properties", {}).items():
        if name in hidden:
            continue
        short = _short(found, components)
        default = defaults.get(name, found.get("default"))
        if default not in (None, [], ""):
            short["default"] = default
        if name in notes:
            short["description"] = notes[name]
        properties[name] = short
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if needed := list(dict.fromkeys((*top.get("required", ()), *required))):
        schema["required"] = needed
    return schema


def output_schema(answer: type[msgspec.Struct]) -> dict[str, Any]:
    """The keys of an answer. Those it always has are required; those it may lack are named in the full schema only."""
    top, components = _resolve(answer)
    needed = [name for name in top.get("properties", {}) if name in top.get("required", ()) or name == "fresh"]
    types: dict[str, Any] = {name: _kind(top["properties"][name], components) for name in needed}
    return {"type": "object", "properties": {name: kind for name, kind in types.items() if kind}, "required": needed}


def full_schema(answer: type[msgspec.Struct]) -> dict[str, Any]:
    """The whole shape of an answer, with an object at the top."""
    top, components = _resolve(answer)
    return {**top, "$defs": components} if components else top


def _resolve(struct: type[msgspec.Struct]) -> tuple[dict[str, Any], dict[str, Any]]:
    (schema,), components = msgspec.json.schema_components([struct], ref_template="#/$defs/{name}")
    return _follow(schema, components), components


def _follow(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema
    while "$ref" in found:
        found = components[found["$ref"].rpartition("/")[2]]
    return found


def _variants(schema: dict[str, Any], components: dict[str, Any]) -> list[dict[str, Any]]:
    """The ways a value may look, without null."""
    found = _follow(schema, components)
    parts = [variant for part in found["anyOf"] for variant in _variants(part, components)] if "anyOf" in found else [found]
    return [part for part in parts if part.get("type") != "null"]


def _short(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    variants = _variants(schema, components)
    if len(variants) != 1:
        return {}
    short = {key: value for key, value in variants[0].items() if key in _PLAIN}
    if "enum" in short:
        short = {"enum": [value for value in short["enum"] if value is not None and value not in _ALIASES]}
    if short.get("type") == "array":
        short["items"] = _short(variants[0].get("items", {}), components)
    return short


def _kind(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """Array or object; nothing of a plain value, whose key says enough, or where it may be null."""
    found = _follow(schema, components)
    return {"type": found["type"]} if found.get("type") in ("array", "object") else {}
