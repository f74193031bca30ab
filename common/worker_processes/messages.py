"""Messages between a process and its workers: parts with their lengths, the first one a pickle.

A worker trusts its requests. It may run code of an attacker, who found a bug in a library that
reads files: its replies are plain values, and instances of listed classes that the receiver makes
by calling these classes.
"""

import pickle
import signal
import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum, StrEnum
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

# Longer bytes of a request are parts of their own, which pickle does not copy.
MIN_PART_BYTES = 64 * 2**10
CANCEL_SIGNAL = signal.SIGUSR1  # sets `JobControl.cancelled` in the worker
_COUNT, _LENGTH = struct.Struct("<I"), struct.Struct("<Q")
# Length, True if the worker ends and is to be replaced, and the CPU seconds of the job.
REPLY_HEADER = struct.Struct("<Q?d")


@dataclass(frozen=True, slots=True)
class JobLimits:
    """Limits of one job; memory is what it may take beyond the worker's own."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int
    result_bytes: int


class JobRequest(NamedTuple):
    function: Callable[..., object]
    args: tuple[object, ...]
    limits: JobLimits
    is_controlled: bool = False  # the function gets its JobControl as its first argument


class JobControl(NamedTuple):
    """Running job, as its function in the worker process sees it."""

    send: Callable[[object], None]  # a part of the result, to the caller at once
    cancelled: threading.Event  # set when the caller no longer needs the result


class ReplyKind(StrEnum):
    READY = "ready"  # content: process id of the worker
    PART = "part"  # content: part of a result, before its end
    DONE = "done"  # content: result of the function
    REJECTED = "rejected"  # content: exception of a listed class
    FAILED = "failed"  # content: traceback of another exception
    MEMORY_LIMIT = "memory limit"
    RESULT_LIMIT = "result limit"  # content: bytes of the result


class Reply(NamedTuple):
    kind: ReplyKind
    content: Any = None


def encode_request(request: JobRequest) -> list[memoryview]:
    """Return the message as buffers; long bytes among the arguments are not copied."""
    buffers: list[pickle.PickleBuffer] = []
    args = tuple(
        pickle.PickleBuffer(arg) if isinstance(arg, bytes) and len(arg) >= MIN_PART_BYTES else arg
        for arg in request.args
    )
    head = pickle.dumps(request._replace(args=args), 5, buffer_callback=buffers.append)
    parts = [memoryview(head), *(buffer.raw() for buffer in buffers)]
    lengths = b"".join(_LENGTH.pack(len(part)) for part in parts)
    return [memoryview(_COUNT.pack(len(parts)) + lengths), *parts]


def read_parts(file: BinaryIO) -> list[bytes] | None:
    """Read the parts of a request; None at the end of the file."""
    count = file.read(_COUNT.size)
    if len(count) < _COUNT.size:
        return None
    lengths = [_LENGTH.unpack(file.read(_LENGTH.size))[0] for _ in range(_COUNT.unpack(count)[0])]
    return [file.read(length) for length in lengths]


def decode_request(parts: Sequence[bytes]) -> JobRequest:
    request: JobRequest = pickle.loads(parts[0], buffers=parts[1:])  # noqa: S301  from the parent
    return request


def encode_reply(reply: Reply, classes: Iterable[type]) -> bytes:
    """Return the reply without its header. Raise PicklingError for instances of other classes."""
    file = BytesIO()
    pickler = _ReplyPickler(file, 5)
    pickler.classes = frozenset(classes)
    pickler.dump((reply.kind.value, reply.content))
    return file.getvalue()


def decode_reply(data: bytes, classes: Iterable[type]) -> Reply:
    """Return the reply of a worker that need not be trusted.

    Raise UnpicklingError for another class, and any exception for bytes that no worker writes.
    """
    unpickler = _ReplyUnpickler(BytesIO(data))
    unpickler.classes = {(each.__module__, each.__qualname__): each for each in classes}
    kind, content = unpickler.load()
    return Reply(ReplyKind(kind), content)


class _ReplyPickler(pickle.Pickler):
    """Writes an instance of a listed class as a call of the class."""

    classes: frozenset[type]

    def reducer_override(self, obj: object) -> Any:
        if isinstance(obj, type) and obj in self.classes:
            return NotImplemented
        if type(obj) in self.classes:
            return type(obj), _arguments(obj)
        raise pickle.PicklingError(f"A result must not contain {type(obj)}.")


def _arguments(obj: object) -> tuple[object, ...]:
    """Return the arguments with which the class of an object makes an equal one."""
    if isinstance(obj, Enum):
        return (obj.value,)
    if isinstance(obj, tuple):
        return (*obj,)
    if is_dataclass(obj):
        return tuple(getattr(obj, field.name) for field in fields(obj))
    arguments: tuple[object, ...] = obj.__reduce__()[1]  # type: ignore[assignment]  # exceptions
    return arguments


class _ReplyUnpickler(pickle.Unpickler):
    classes: Mapping[tuple[str, str], type]

    def find_class(self, module: str, name: str) -> Any:
        found = self.classes.get((module, name))
        if found is None:
            raise pickle.UnpicklingError(f"A reply of a worker names {module}.{name}.")

        def construct(*args: object) -> object:
            """Call the class: pickle can set attributes of what it gets, so not of the class."""
            return found(*args)

        return construct
