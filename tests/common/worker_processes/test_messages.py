"""Replies of a worker that need not be trusted, and requests with long bytes."""

import io
import os
import pickle

import pytest

from common.worker_processes.messages import (
    MIN_PART_BYTES,
    JobLimits,
    JobRequest,
    Reply,
    ReplyKind,
    decode_reply,
    decode_request,
    encode_reply,
    encode_request,
    read_parts,
)
from tests.common.worker_processes import jobs

LIMITS = JobLimits(cpu_seconds=1, wall_seconds=1, memory_bytes=2**20, result_bytes=2**20)


class ForgedCall:
    """Value that calls a function with arguments where it is unpickled."""

    def __init__(self, function: object, *args: object) -> None:
        self.function, self.args = function, args

    def __reduce__(self) -> tuple[object, ...]:
        return self.function, self.args


@pytest.mark.parametrize(
    "forged",
    [
        ForgedCall(os.system, "true"),
        ForgedCall(getattr, "text", "upper"),
        ForgedCall(eval, "1"),
        io.BytesIO,
    ],
    ids=["os.system", "getattr", "eval", "class"],
)
def test_a_reply_names_no_function_and_no_other_class(forged: object) -> None:
    data = pickle.dumps((ReplyKind.DONE.value, forged), 5)
    with pytest.raises(pickle.UnpicklingError, match="A reply of a worker names"):
        decode_reply(data, jobs.CLASSES)


def test_a_reply_cannot_change_a_listed_class() -> None:
    """Check that attributes are not set on the class, which BUILD of pickle would do."""
    name = jobs.Pair.__qualname__
    head = b"\x80\x02c" + f"{jobs.__name__}\n{name}\n".encode()
    state = pickle.dumps((None, {"first": 7}), 2)[2:-1]
    data = head + state + b"b."
    done = b"\x80\x02" + pickle.dumps("done", 2)[2:-1] + data[2:-1] + b"\x86."
    before = dict(vars(jobs.Pair))
    decode_reply(done, jobs.CLASSES)
    assert dict(vars(jobs.Pair)) == before


def test_values_and_listed_classes_are_the_same_after_decoding() -> None:
    values = {
        "a": [1, 2.5, None, True, b"bytes"],
        "b": {3},
        "point": jobs.Point(1, jobs.Colour.RED),
    }
    data = encode_reply(Reply(ReplyKind.DONE, values), jobs.CLASSES)
    assert decode_reply(data, jobs.CLASSES) == Reply(ReplyKind.DONE, values)


def test_long_bytes_of_a_request_are_not_copied() -> None:
    body, short = bytes(MIN_PART_BYTES), b"short"
    buffers = encode_request(JobRequest(jobs.length, (body, short), LIMITS))
    assert [buffer.obj is body for buffer in buffers].count(True) == 1
    parts = read_parts(io.BytesIO(b"".join(buffers)))
    assert parts is not None
    assert decode_request(parts) == JobRequest(jobs.length, (body, short), LIMITS)


def test_closed_pipe_is_read_as_no_request() -> None:
    assert read_parts(io.BytesIO()) is None
