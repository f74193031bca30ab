"""Handwritten description of pprof's message Profile, with the numbers of its profile.proto.

Strings are bytes here, so that strings that are not UTF-8 can be written and read.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_INT, _UINT, _BYTES, _MESSAGE, _BOOL = "INT64", "UINT64", "BYTES", "MESSAGE", "BOOL"

# message: {field: (number, type or message, repeated)}
_MESSAGES: dict[str, dict[str, tuple[int, str, bool]]] = {
    "ValueType": {"type": (1, _INT, False), "unit": (2, _INT, False)},
    "Label": {
        "key": (1, _INT, False),
        "str": (2, _INT, False),
        "num": (3, _INT, False),
        "num_unit": (4, _INT, False),
    },
    "Sample": {
        "location_id": (1, _UINT, True),
        "value": (2, _INT, True),
        "label": (3, "Label", True),
    },
    "Mapping": {
        "id": (1, _UINT, False),
        "memory_start": (2, _UINT, False),
        "memory_limit": (3, _UINT, False),
        "file_offset": (4, _UINT, False),
        "filename": (5, _INT, False),
        "build_id": (6, _INT, False),
        "has_functions": (7, _BOOL, False),
    },
    "Line": {"function_id": (1, _UINT, False), "line": (2, _INT, False)},
    "Location": {
        "id": (1, _UINT, False),
        "mapping_id": (2, _UINT, False),
        "address": (3, _UINT, False),
        "line": (4, "Line", True),
    },
    "Function": {
        "id": (1, _UINT, False),
        "name": (2, _INT, False),
        "system_name": (3, _INT, False),
        "filename": (4, _INT, False),
        "start_line": (5, _INT, False),
    },
    "Profile": {
        "sample_type": (1, "ValueType", True),
        "sample": (2, "Sample", True),
        "mapping": (3, "Mapping", True),
        "location": (4, "Location", True),
        "function": (5, "Function", True),
        "string_table": (6, _BYTES, True),
        "time_nanos": (9, _INT, False),
        "duration_nanos": (10, _INT, False),
        "period_type": (11, "ValueType", False),
        "period": (12, _INT, False),
        "comment": (13, _INT, True),
        "default_sample_type": (14, _INT, False),
    },
}


def _file(packed: bool) -> descriptor_pb2.FileDescriptorProto:
    package = "packed" if packed else "unpacked"
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package}.proto", package=package, syntax="proto3"
    )
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, repeated) in fields.items():
            made = message.field.add(name=field, number=number)
            made.label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
            if kind in _MESSAGES:
                made.type = kinds.TYPE_MESSAGE
                made.type_name = f".{package}.{kind}"
            else:
                made.type = kinds.Type.Value(f"TYPE_{kind}")
                if repeated and kind != _BYTES:
                    made.options.packed = packed
    return file


_pool = descriptor_pool.DescriptorPool()


def _profile_class(packed: bool) -> Any:
    _pool.Add(_file(packed))
    name = f"{'packed' if packed else 'unpacked'}.Profile"
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(name))


Profile = _profile_class(packed=True)
UnpackedProfile = _profile_class(packed=False)  # writes lists unpacked
