"""JSON schemas of TypedDicts."""

from datetime import date, datetime
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

Schema = dict[str, Any]

_SIMPLE: dict[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    object: {},
}


def build_schema(kind: Any) -> Schema:
    """Return the schema of a TypedDict, of a list, dict or union of such, or of a simple type.

    Raise TypeError for any other type.
    """
    if kind in _SIMPLE:
        return dict(_SIMPLE[kind])
    if is_typeddict(kind):
        fields = get_type_hints(kind)
        properties = {name: build_schema(each) for name, each in fields.items()}
        return {"type": "object", "properties": properties, "required": [*properties]}
    if get_origin(kind) is list:
        return {"type": "array", "items": build_schema(get_args(kind)[0])}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": build_schema(get_args(kind)[1])}
    if isinstance(kind, UnionType):
        [one] = (each for each in get_args(kind) if each is not NoneType)
        schema = build_schema(one)
        return schema | {"type": [schema["type"], "null"]}
    raise TypeError(f"No schema for {kind!r}")
