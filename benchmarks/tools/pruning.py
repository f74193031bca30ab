"""Extract parts of a protobuf profile, without the symbols that they do not use."""

from collections.abc import Callable, Iterable
from typing import Any


def copy_of(message: Any) -> Any:
    return type(message).FromString(message.SerializeToString())


def keep(entries: Any, indexes: Iterable[int]) -> None:
    """Keep only the entries of a repeated field with these indexes."""
    copies = [copy_of(entries[i]) for i in indexes]
    del entries[:]
    entries.extend(copies)


def prune(message: Any, spare: int) -> None:
    """Drop the locations that no sample uses, except the first `spare`, and their symbols."""
    used = {location for sample in message.sample for location in sample.location_id}
    indexes = range(len(message.location))
    unused = [i for i in indexes if message.location[i].id not in used][spare:]
    keep(message.location, sorted(set(indexes) - set(unused)))
    functions = {line.function_id for location in message.location for line in location.line}
    keep(message.function, [i for i, f in enumerate(message.function) if f.id in functions])
    _prune_strings(message)


def _prune_strings(message: Any) -> None:
    strings, moved = list(message.string_table), {0: 0}

    def new_index(string: int) -> int:
        return moved.setdefault(string, len(moved))

    del message.comment[:]
    message.default_sample_type = new_index(message.default_sample_type)
    for kind in [*message.sample_type, message.period_type]:
        _move(kind, ("type", "unit"), new_index)
    for function in message.function:
        _move(function, ("name", "system_name", "filename"), new_index)
    for mapping in message.mapping:
        _move(mapping, ("filename", "build_id"), new_index)
    for label in (label for sample in message.sample for label in sample.label):
        _move(label, ("key", "str", "num_unit"), new_index)
    del message.string_table[:]
    message.string_table.extend(strings[i] for i in moved)


def _move(message: Any, fields: Iterable[str], new_index: Callable[[int], int]) -> None:
    for field in fields:
        setattr(message, field, new_index(getattr(message, field)))
