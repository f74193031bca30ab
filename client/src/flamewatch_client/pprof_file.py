"""Files in pprof, read without a library: the costs of functions in one of their values.

Format: https://github.com/google/pprof/blob/main/proto/profile.proto
"""

import gzip
import io
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flamewatch_client.errors import RequestFailed

MAX_BYTES = 512 * 2**20  # of a file, unpacked
_FOLDERS = re.compile(r".*[/\\]")
_GZIP = b"\x1f\x8b"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types
_SKIPPED = {_FIXED64: 8, _FIXED32: 4}  # bytes

# Name, and file without its folders: two checkouts may be in different ones.
FunctionName = tuple[str, str]


class _Malformed(Exception):
    """The bytes are no profile; the text says why."""


@dataclass(slots=True)
class FileCosts:
    """Costs of the functions of one file, in one of its values."""

    metric: str
    unit: str
    total: float = 0
    self_costs: dict[FunctionName, float] = field(default_factory=lambda: defaultdict(float))
    total_costs: dict[FunctionName, float] = field(default_factory=lambda: defaultdict(float))


def read_costs(path: Path, metric: str = "") -> FileCosts:
    """Sum the samples of a file by function.

    The value is that of the name, or else the file's default, or else its last one, which `go tool
    pprof` shows. A function that calls itself counts once in its total. Raise RequestFailed.
    """
    try:
        return _sum_samples(_unpack(path.read_bytes()), metric)
    except OSError as error:
        raise RequestFailed(f"Cannot read {path}: {error.strerror or error}.") from None
    except (_Malformed, zlib.error, EOFError) as error:
        raise RequestFailed(f"{path} is no profile in pprof: {error}.") from None


def _unpack(data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data
    with gzip.open(io.BytesIO(data)) as file:
        unpacked = file.read(MAX_BYTES + 1)
    if len(unpacked) > MAX_BYTES:
        raise _Malformed(f"it has more than {MAX_BYTES:,} bytes, unpacked")
    return unpacked


@dataclass(slots=True)
class _Tables:
    """Tables of a profile, which samples name by ids."""

    strings: list[str] = field(default_factory=list)
    values: list[tuple[int, int]] = field(default_factory=list)  # strings of name and unit
    default: int = 0  # string
    functions: dict[int, tuple[int, int]] = field(default_factory=dict)  # strings of name and file
    locations: dict[int, list[int]] = field(default_factory=dict)  # functions, innermost first
    addresses: dict[int, int] = field(default_factory=dict)
    samples: list[bytes] = field(default_factory=list)


def _sum_samples(data: bytes, metric: str) -> FileCosts:
    tables = _read_tables(data)
    index, costs = _choose_value(tables, metric)
    names = {location: _name_frames(tables, location) for location in tables.locations}
    for sample in tables.samples:
        locations, values = _read_sample(sample)
        if len(values) != len(tables.values):
            raise _Malformed(f"a sample has {len(values)} values, not {len(tables.values)}")
        value = values[index]
        try:
            stack = [name for location in locations for name in names[location]]
        except KeyError as missing:
            raise _Malformed(f"a sample names the location {missing}, which it has not") from None
        costs.total += value
        if stack:
            costs.self_costs[stack[0]] += value
        for name in set(stack):
            costs.total_costs[name] += value
    return costs


def _read_tables(data: bytes) -> _Tables:
    tables = _Tables()
    for number, value in _read_fields(data):
        if number == 14:
            tables.default = _require_number(value)
        elif number in {1, 2, 4, 5, 6}:
            content = _require_bytes(value)
            if number == 1:
                name, unit = _read_numbers(content, 1, 2)
                tables.values.append((name, unit))
            elif number == 2:
                tables.samples.append(content)
            elif number == 4:
                _read_location(content, tables)
            elif number == 5:
                identity, name, file = _read_function(content)
                tables.functions[identity] = name, file
            else:
                tables.strings.append(content.decode("utf-8", "replace"))
    if not tables.values or not tables.strings:
        raise _Malformed("it has no sample types")
    return tables


def _choose_value(tables: _Tables, metric: str) -> tuple[int, FileCosts]:
    found = [(_text(tables, name), _text(tables, unit)) for name, unit in tables.values]
    names = [name for name, _ in found]
    chosen = metric or _text(tables, tables.default)
    if chosen not in names:
        if metric:
            raise RequestFailed(f"There is no value {metric}; there are {', '.join(names)}.")
        chosen = names[-1]
    index = names.index(chosen)
    return index, FileCosts(*found[index])


def _text(tables: _Tables, index: int) -> str:
    if not 0 <= index < len(tables.strings):
        raise _Malformed(f"it names the string {index}, which it has not")
    return tables.strings[index]


def _name_frames(tables: _Tables, location: int) -> list[FunctionName]:
    """Return the functions of a location, innermost first; its address without any."""
    names = []
    for function in tables.locations[location]:
        if function not in tables.functions:
            raise _Malformed(f"it names the function {function}, which it has not")
        name, file = tables.functions[function]
        names.append((_text(tables, name), _FOLDERS.sub("", _text(tables, file))))
    return names or [(f"{tables.addresses[location]:#x}", "")]


def _read_location(content: bytes, tables: _Tables) -> None:
    identity, address = _read_numbers(content, 1, 3)
    lines = [_require_bytes(value) for number, value in _read_fields(content) if number == 4]
    tables.locations[identity] = [_read_numbers(line, 1)[0] for line in lines]
    tables.addresses[identity] = address


def _read_function(content: bytes) -> tuple[int, int, int]:
    identity, name, file = _read_numbers(content, 1, 2, 4)
    return identity, name, file


def _read_sample(content: bytes) -> tuple[list[int], list[int]]:
    """Return location ids and values, which are packed or one a field."""
    found: dict[int, list[int]] = {1: [], 2: []}
    for number, value in _read_fields(content):
        if number in found:
            found[number] += [value] if isinstance(value, int) else _unpack_varints(value)
    return found[1], [_to_signed(value) for value in found[2]]


def _read_numbers(content: bytes, *numbers: int) -> tuple[int, ...]:
    """Return the values of fields that are numbers, 0 for those that are absent."""
    found = dict.fromkeys(numbers, 0)
    for number, value in _read_fields(content):
        if number in found:
            found[number] = _require_number(value)
    return tuple(found.values())


def _read_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of each field of a message."""
    position = 0
    while position < len(data):
        key, position = _read_varint(data, position)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, position = _read_varint(data, position)
            yield number, value
            continue
        if wire == _BYTES:
            length, position = _read_varint(data, position)
        elif wire in _SKIPPED:
            length = _SKIPPED[wire]
        else:
            raise _Malformed(f"a field has the wire type {wire}")
        if position + length > len(data):
            raise _Malformed("it ends within a field")
        if wire == _BYTES:
            yield number, data[position : position + length]
        position += length


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise _Malformed("it ends within a number")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
    raise _Malformed("a number has more than 64 bits")


def _unpack_varints(data: bytes) -> Sequence[int]:
    found, position = [], 0
    while position < len(data):
        value, position = _read_varint(data, position)
        found.append(value)
    return found


def _to_signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _require_number(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise _Malformed("a number is a text")
    return value


def _require_bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise _Malformed("a message is a number")
    return value
