"""OTLP's JSON encoding of messages, converted to their binary encoding.

It differs from protobuf's JSON in the ids, which are hexadecimal. Names of fields may be
lowerCamelCase or those of the proto files; unknown fields are skipped.
"""

import binascii
import re
import struct
from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pybase64

from ingest.formats.json_document import spend_json
from ingest.formats.otlp.revision import Revision
from ingest.formats.work_budget import WorkBudget
from profiles.engine.errors import BadProfile
from profiles.engine.pprof.varint import bytes_field, varint

_MOST_LEVELS = 32  # of messages in messages
_INT64 = range(-(2**63), 2**64)  # signed and unsigned numbers
_FIXED64 = 1  # wire type
_HEXADECIMAL_LENGTHS = (16, 32)  # characters of a span id and of a trace id

Encoder = Callable[[Any], bytes]


class _BadValue(Exception):
    """Invalid value; `path` leads to it, from the outermost field."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path: list[str] = []


def from_json(body: bytes) -> tuple[bytes, Revision]:
    """Return the binary encoding of a JSON message, and its revision.

    OTLP 1.8 and 1.9 have the same names as 1.10, as which they are encoded. Raise `BadProfile` if
    the body is no such message, `TooLarge` if its values would take too much memory.
    """
    spend_json(body, WorkBudget(len(body)))
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadProfile(f"The body is not valid JSON: {error}.") from None
    revision = _revision(message)
    try:
        return _encode(_SCHEMAS[revision], "Request", message, 0), revision
    except _BadValue as error:
        path = ".".join(error.path) or "The body"
        raise BadProfile(f"{path}: {error.reason}") from None


def _revision(message: Any) -> Revision:
    """Tell the revision by names that Profile had up to OTLP 1.7."""
    for resource in _messages(message, "resourceProfiles"):
        for scope in _messages(resource, "scopeProfiles"):
            for profile in _messages(scope, "profiles"):
                if _OLD_NAMES & {_camel(name) for name in profile}:
                    return Revision.UP_TO_1_7
    return Revision.SINCE_1_10


def _messages(parent: Any, name: str) -> list[dict[str, Any]]:
    """Return the messages of a repeated field; [] if it has another type, an error of `_encode`."""
    if not isinstance(parent, dict):
        return []
    found = [value for key, value in parent.items() if _camel(key) == name]
    values = found[-1] if found and isinstance(found[-1], list) else []
    return [value for value in values if isinstance(value, dict)]


_OLD_NAMES = {"sample", "locationIndices", "timeNanos", "durationNanos"}


def _encode(schemas: "Schemas", name: str, message: Any, level: int) -> bytes:
    if not isinstance(message, dict):
        raise _BadValue("must be an object.")
    if level > _MOST_LEVELS:
        raise _BadValue(f"is nested deeper than {_MOST_LEVELS} levels.")
    parts = []
    for key, value in message.items():
        field = schemas[name].get(_camel(key))
        if field is None or value is None:
            continue
        number, kind = field
        try:
            parts.append(_field(schemas, number, kind, value, level + 1))
        except _BadValue as error:
            error.path.insert(0, key[:80])
            raise
    return b"".join(parts)


def _field(schemas: "Schemas", number: int, kind: str, value: Any, level: int) -> bytes:
    if kind == "int" and isinstance(value, list):
        return bytes_field(number, b"".join([varint(_integer(item)) for item in value]))
    if kind == "fixed64" and isinstance(value, list):
        return bytes_field(number, b"".join([_eight_bytes(item) for item in value]))
    values = value if isinstance(value, list) else [value]
    return b"".join([_single(schemas, number, kind, item, level) for item in values])


def _single(schemas: "Schemas", number: int, kind: str, value: Any, level: int) -> bytes:
    if kind == "int":
        return varint(number << 3) + varint(_integer(value))
    if kind == "fixed64":
        return varint(number << 3 | _FIXED64) + _eight_bytes(value)
    if kind == "double":
        return varint(number << 3 | _FIXED64) + struct.pack("<d", _number(value))
    encoder = _ENCODERS.get(kind)
    content = encoder(value) if encoder else _encode(schemas, kind, value, level)
    return bytes_field(number, content)


def _integer(value: Any) -> int:
    """Return a 64-bit integer, which is a string in protobuf's JSON."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,20}", value, re.ASCII):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or value not in _INT64:
        raise _BadValue("must be a 64-bit integer.")
    return value  # True and False are 1 and 0, as in the binary encoding


def _eight_bytes(value: Any) -> bytes:
    return struct.pack("<Q", _integer(value) & (2**64 - 1))


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _BadValue("must be a number.") from None


def _text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise _BadValue("must be a string.")
    return value.encode("utf-8", "replace")


def _id(value: Any) -> bytes:
    """Return the bytes of an id: hexadecimal, or of another length base64 as in protobuf's JSON."""
    text = _text(value)
    if len(text) not in _HEXADECIMAL_LENGTHS:
        return _base64(value)
    try:
        return binascii.unhexlify(text)
    except binascii.Error:
        raise _BadValue("must be hexadecimal.") from None


def _base64(value: Any) -> bytes:
    try:
        return pybase64.b64decode(_text(value), validate=True)
    except binascii.Error:
        raise _BadValue("must be base64.") from None


def _camel(name: str) -> str:
    if "_" not in name:
        return name
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


_ENCODERS: Mapping[str, Encoder] = {"text": _text, "id": _id, "bytes": _base64}

# Number and kind of each field of each message.
Schemas = Mapping[str, Mapping[str, tuple[int, str]]]

_VALUE_TYPE = {"typeStrindex": (1, "int"), "unitStrindex": (2, "int")}
_COMMON: Schemas = {
    "Request": {"resourceProfiles": (1, "ResourceProfiles"), "dictionary": (2, "Dictionary")},
    "ResourceProfiles": {"resource": (1, "Resource"), "scopeProfiles": (2, "ScopeProfiles")},
    "Resource": {"attributes": (1, "KeyValue")},
    "ScopeProfiles": {"profiles": (2, "Profile")},
    "KeyValue": {"key": (1, "text"), "value": (2, "AnyValue"), "keyStrindex": (3, "int")},
    "AnyValue": {
        "stringValue": (1, "text"),
        "boolValue": (2, "int"),
        "intValue": (3, "int"),
        "doubleValue": (4, "double"),
        "arrayValue": (5, "ArrayValue"),
        "kvlistValue": (6, "KeyValueList"),
        "bytesValue": (7, "bytes"),
        "stringValueStrindex": (8, "int"),
    },
    "ArrayValue": {"values": (1, "AnyValue")},
    "KeyValueList": {"values": (1, "KeyValue")},
    "ValueType": _VALUE_TYPE,
    "Mapping": {
        "memoryStart": (1, "int"),
        "memoryLimit": (2, "int"),
        "fileOffset": (3, "int"),
        "filenameStrindex": (4, "int"),
        "attributeIndices": (5, "int"),
    },
    "Location": {
        "mappingIndex": (1, "int"),
        "address": (2, "int"),
        "line": (3, "Line"),
        "lines": (3, "Line"),
    },
    "Line": {"functionIndex": (1, "int"), "line": (2, "int")},
    "Function": {
        "nameStrindex": (1, "int"),
        "systemNameStrindex": (2, "int"),
        "filenameStrindex": (3, "int"),
        "startLine": (4, "int"),
    },
    "Link": {"traceId": (1, "id"), "spanId": (2, "id")},
}
_TABLES = {
    "mappingTable": (1, "Mapping"),
    "locationTable": (2, "Location"),
    "functionTable": (3, "Function"),
    "linkTable": (4, "Link"),
    "stringTable": (5, "text"),
}
_SCHEMAS: Mapping[Revision, Schemas] = {
    Revision.UP_TO_1_7: {
        **_COMMON,
        "Dictionary": {**_TABLES, "attributeTable": (6, "KeyValue")},
        "Profile": {
            "sampleType": (1, "ValueType"),
            "sample": (2, "Sample"),
            "locationIndices": (3, "int"),
            "timeNanos": (4, "int"),
            "durationNanos": (5, "int"),
            "periodType": (6, "ValueType"),
            "period": (7, "int"),
        },
        "Sample": {
            "locationsStartIndex": (1, "int"),
            "locationsLength": (2, "int"),
            "value": (3, "int"),
            "attributeIndices": (4, "int"),
            "linkIndex": (5, "int"),
            "timestampsUnixNano": (6, "int"),
        },
    },
    Revision.SINCE_1_10: {
        **_COMMON,
        "Dictionary": {
            **_TABLES,
            "attributeTable": (6, "KeyValueAndUnit"),
            "stackTable": (7, "Stack"),
        },
        "KeyValueAndUnit": {
            "keyStrindex": (1, "int"),
            "value": (2, "AnyValue"),
            "unitStrindex": (3, "int"),
        },
        "Stack": {"locationIndices": (1, "int")},
        "Profile": {
            "sampleType": (1, "ValueType"),
            "samples": (2, "Sample"),
            "timeUnixNano": (3, "fixed64"),
            "durationNano": (4, "int"),
            "periodType": (5, "ValueType"),
            "period": (6, "int"),
            "attributeIndices": (11, "int"),
        },
        "Sample": {
            "stackIndex": (1, "int"),
            "attributeIndices": (2, "int"),
            "linkIndex": (3, "int"),
            "values": (4, "int"),
            "timestampsUnixNano": (5, "fixed64"),
        },
    },
}
