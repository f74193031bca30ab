"""Bytes of query results, for a result cache that several processes share.

The bytes are the length of a header, the header in JSON, which describes the value, and the aligned
buffers of its arrays and strings, all in one zstd frame. Only scalars, containers, arrays and
`encodable` classes can be encoded; decoding creates nothing else.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from profiles.engine.calltree.functions import TreeFunctions
from profiles.engine.calltree.peek import Neighbour, Peek
from profiles.engine.calltree.tree import Frames, Label, LabelledSelf, Tree
from profiles.engine.coverage import Coverage, Missing, Reason, ScanStats
from profiles.engine.encoding.compression import DAMAGE, compress, decompress
from profiles.engine.metrics import Metric
from profiles.engine.stats.spread import MeasuredSum, Spread
from profiles.engine.string_table import StringTable
from projects.profile_types import ProfileType

T = TypeVar("T")

VERSION = 8  # of the format; part of the keys of shared caches
_ALIGNMENT = 8  # bytes: of each buffer, and the size of the header's length
_CLASSES: dict[str, type[Any]] = {
    each.__name__: each
    for each in (
        *(Tree, Frames, LabelledSelf, Label, Metric, TreeFunctions, Spread, MeasuredSum),
        *(Coverage, Missing, ScanStats, Peek, Neighbour),
    )
}
_ENUMS: dict[str, type[Enum]] = {each.__name__: each for each in (Reason, ProfileType)}
# Classes with fields of scalars only: collections of their instances are stored as columns.
_ROW_CLASSES: dict[str, type[Any]] = {}
_DTYPES = {"<i8", "<i4", "<u8", "<f8", "|u1", "|b1"}


class UnknownFormat(Exception):
    """Value that cannot be encoded, or bytes that are not an encoded value of this version."""


def encodable(kind: type[T]) -> type[T]:
    """Decorate a dataclass, named tuple or enum whose instances can be encoded.

    Every process that reads the shared cache must have imported the class's module.
    """
    if issubclass(kind, Enum):
        _ENUMS[kind.__name__] = kind
    else:
        _CLASSES[kind.__name__] = kind
    return kind


def encodable_row(kind: type[T]) -> type[T]:
    """Decorate a class as `encodable` does, with fields of scalars only; there may be many."""
    _ROW_CLASSES[kind.__name__] = kind
    return encodable(kind)


def encode(value: object) -> bytes:
    """Encode a value. Raise UnknownFormat if it contains a value of an unsupported type."""
    buffers: list[bytes] = []
    header = _dumps([_describe(value, buffers), [len(buffer) for buffer in buffers]])
    parts = [len(header).to_bytes(_ALIGNMENT, "little")]
    for part in (header, *buffers):
        parts += [part, bytes(-len(part) % _ALIGNMENT)]
    return compress(b"".join(parts))


def digest(key: object) -> str:
    """Return a hash of a key, the same in every process. Raise UnknownFormat like `encode`."""
    return hashlib.blake2b(_dumps(_describe(key, [])), digest_size=16).hexdigest()


def _dumps(form: object) -> bytes:
    try:
        return orjson.dumps(form)
    except TypeError as error:  # for example an integer of more than 64 bits
        raise UnknownFormat(str(error)) from error


def decode(data: bytes) -> Any:
    """Decode the bytes of `encode`. Raise UnknownFormat."""
    try:
        body = memoryview(bytearray(decompress(data)))  # compiled loops take writable arrays
        length = int.from_bytes(body[:_ALIGNMENT], "little")
        offset = _ALIGNMENT + length
        form, sizes = orjson.loads(body[_ALIGNMENT:offset])
        buffers = []
        for size in sizes:
            offset += -offset % _ALIGNMENT
            if offset + size > len(body):
                raise ValueError("a buffer is cut short")
            buffers.append(body[offset : offset + size])
            offset += size
        return _build(form, buffers)
    except (*DAMAGE, AttributeError) as error:
        raise UnknownFormat(str(error)) from error


def _describe(value: Any, buffers: list[bytes]) -> Any:
    """Return the JSON form of a value: scalars as they are, everything else as [tag, ...]."""
    if isinstance(value, Enum):
        return ["enum", type(value).__name__, value.value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    describe = _DESCRIPTIONS.get(type(value))
    if describe is not None:
        return describe(value, buffers)
    name = type(value).__name__
    if _CLASSES.get(name) is not type(value):
        raise UnknownFormat(f"{type(value)} cannot be encoded.")
    return ["class", name, [_describe(each, buffers) for each in _members(value)]]


def _describe_array(value: NDArray[Any], buffers: list[bytes]) -> list[Any]:
    if value.dtype.str not in _DTYPES:
        raise UnknownFormat(f"Arrays of {value.dtype} cannot be encoded.")
    buffers.append(np.ascontiguousarray(value).tobytes())
    return ["array", value.dtype.str, list(value.shape), len(buffers) - 1]


def _describe_strings(value: StringTable, buffers: list[bytes]) -> list[Any]:
    buffers.append(bytes(value.data))
    return ["strings", len(buffers) - 1, _describe(value.ends, buffers)]


def _describe_collection(value: Collection[Any], buffers: list[bytes]) -> list[Any]:
    """Return the items, or columns if all of them are rows of one kind."""
    kinds = {type(each) for each in value}
    if len(kinds) == 1 and (kind := kinds.pop()) in _ROW_CLASSES.values():
        columns = [*zip(*map(_members, value), strict=True)]
        return ["rows", type(value).__name__, kind.__name__, columns]
    return [type(value).__name__, [_describe(each, buffers) for each in value]]


def _describe_dict(value: dict[Any, Any], buffers: list[bytes]) -> list[Any]:
    return ["dict", [_describe(item, buffers) for item in value.items()]]


def _members(value: Any) -> Sequence[Any]:
    """Return the fields of a dataclass, or the items of a named tuple."""
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    items: tuple[Any, ...] = value
    return items


_DESCRIPTIONS: dict[type, Callable[[Any, list[bytes]], list[Any]]] = {
    np.ndarray: _describe_array,
    StringTable: _describe_strings,
    dict: _describe_dict,
    **dict.fromkeys((tuple, list, set, frozenset), _describe_collection),
    datetime: lambda value, _: ["datetime", value.isoformat()],
    timedelta: lambda value, _: ["timedelta", value // timedelta(microseconds=1)],
}


def _build(form: Any, buffers: Sequence[memoryview]) -> Any:
    if not isinstance(form, list):
        return form
    tag, *rest = form
    return _BUILDERS[tag](buffers, *rest)


def _build_all(forms: Iterable[Any], buffers: Sequence[memoryview]) -> Iterator[Any]:
    return (_build(each, buffers) for each in forms)


def _build_array(
    buffers: Sequence[memoryview], dtype: str, shape: Sequence[int], buffer_index: int
) -> NDArray[Any]:
    if dtype not in _DTYPES:
        raise ValueError(f"arrays of {dtype} cannot be decoded")
    return np.frombuffer(buffers[buffer_index], dtype).reshape(shape)


def _build_strings(buffers: Sequence[memoryview], buffer_index: int, ends: Any) -> StringTable:
    return StringTable(bytes(buffers[buffer_index]), _build(ends, buffers))


_CONTAINERS: dict[str, Callable[[Iterable[Any]], Any]] = {
    "tuple": tuple,
    "list": list,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
}
_BUILDERS: dict[str, Callable[..., Any]] = {
    "enum": lambda _, name, value: _ENUMS[name](value),
    "class": lambda buffers, name, forms: _CLASSES[name](*_build_all(forms, buffers)),
    "array": _build_array,
    "strings": _build_strings,
    "rows": lambda _, container, name, columns: _CONTAINERS[container](
        map(_ROW_CLASSES[name], *columns)
    ),
    "datetime": lambda _, text: datetime.fromisoformat(text),
    "timedelta": lambda _, micros: timedelta(microseconds=micros),
    **{
        name: lambda buffers, forms, make=make: make(_build_all(forms, buffers))
        for name, make in _CONTAINERS.items()
    },
}
