"""Readers of OTLP's responses, apart from the code that writes them."""

from typing import NamedTuple

from tests.fuzz.protobuf import split_fields


class PartialSuccess(NamedTuple):
    rejected: int
    message: str


class RpcStatus(NamedTuple):
    code: int
    message: str
    details: list[bytes]


def fields(data: bytes) -> dict[int, list[int | bytes]]:
    found: dict[int, list[int | bytes]] = {}
    split = split_fields(data)
    assert split is not None, data
    for number, value in split:
        found.setdefault(number, []).append(value)
    return found


def partial_success(data: bytes) -> PartialSuccess | None:
    """Read ExportProfilesServiceResponse; None if it has no partial_success."""
    response = fields(data)
    if not response:
        return None
    (inner,) = response[1]
    assert isinstance(inner, bytes)
    partial = fields(inner)
    (rejected,), (message,) = partial.get(1, [0]), partial[2]
    assert isinstance(rejected, int)
    assert isinstance(message, bytes)
    return PartialSuccess(rejected, message.decode())


def status(data: bytes) -> RpcStatus:
    """Read google.rpc.RpcStatus."""
    found = fields(data)
    (code,), (message,) = found[1], found[2]
    assert isinstance(code, int)
    assert isinstance(message, bytes)
    return RpcStatus(
        code, message.decode(), [item for item in found.get(3, []) if isinstance(item, bytes)]
    )
