"""Program of a worker process: run the jobs of its parent one after another, within their limits.

`python -m common.worker_processes.worker LIFELINE CONFIGURATION [CONTROL]`. With a control socket,
this process only forks workers, each of which takes the descriptors that were sent for it. The
lifeline is the read end of a
pipe whose write end only the parent has. When the parent ends, however it does, the kernel closes
the pipe and terminates this process by SIGIO: also in a loop of compiled code that holds the GIL,
where a thread that watches the pipe would not run.

At the limit of CPU time the kernel ends the process by SIGXCPU, at that of memory an allocation
fails. The parent watches the wall time.
"""

import contextlib
import fcntl
import gc
import importlib
import math
import os
import resource
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import orjson

from common.memory_allocator import release_freed_memory
from common.worker_processes.messages import (
    CANCEL_SIGNAL,
    REPLY_HEADER,
    JobControl,
    JobLimits,
    JobRequest,
    Reply,
    ReplyKind,
    decode_request,
    encode_reply,
    read_parts,
)

_MAX_TRACEBACK_CHARACTERS = 8_000
# The kernel's choice when memory runs out: a worker before the server.
_OOM_SCORE = "800"
_MAX_CONFIGURATION_BYTES = 2**16  # of one worker, JSON
IDLE_SECONDS = 5.0  # without a job, after which freed memory is released
_STATM = Path("/proc/self/statm")


def main() -> None:
    control = int(sys.argv[3]) if len(sys.argv) > 3 else None
    _run_program(int(sys.argv[1]), sys.argv[2], control)


def become_fork_server(lifeline: int, configuration: str, control: int) -> NoReturn:
    """Serve as the process that forks workers, in a fork of one that has no other thread.

    The modules are imported with the first message, because they may need what the parent does
    until then.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with open(os.devnull, "rb", buffering=0) as nothing:
        os.dup2(nothing.fileno(), 0)
    first, last = sorted((lifeline, control))
    os.closerange(3, first)
    os.closerange(first + 1, last)
    os.closerange(last + 1, os.sysconf("SC_OPEN_MAX"))
    try:
        _end_with_parent(lifeline)
        _set_name(orjson.loads(configuration)["name"])
        select.select([control], (), ())
        _run_program(lifeline, configuration, control)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _run_program(lifeline: int, program: str, control: int | None) -> None:
    configuration = orjson.loads(program)
    _end_with_parent(lifeline)
    if control is not None:
        os.dup2(2, 1)  # what is printed goes to the standard error
    else:
        pipes = _take_pipes()
    _set_name(configuration["name"])
    for number in (signal.SIGINT, signal.SIGTERM):  # sent to the whole group: the parent decides
        signal.signal(number, signal.SIG_IGN)
    nice = configuration["nice"]
    os.nice(nice)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for module in configuration["preload"]:
        importlib.import_module(module)
    _find_classes(configuration)  # imports their modules
    gc.collect()
    gc.freeze()
    if control is not None:
        pipes, configuration = _fork_workers(control)
        _set_name(configuration["name"])
        os.nice(configuration["nice"] - nice)
    classes = _find_classes(configuration)
    for module in configuration["preload_in_worker"]:
        importlib.import_module(module)
    requests, replies = pipes
    _Worker(requests, replies, classes, configuration["max_growth_bytes"]).serve()


def _end_with_parent(lifeline: int) -> None:
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(lifeline, select.POLLIN)
    if poll.poll(0):  # it ended before
        os._exit(1)


def _set_name(name: str) -> None:
    """Set the name that `ps` shows: the command line of a fork is that of the server."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name)


def _take_pipes() -> tuple[BinaryIO, int]:
    """Return the pipes of requests and replies; what is printed goes to the standard error."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(requests, "rb"), replies


def _fork_workers(control: int) -> tuple[tuple[BinaryIO, int], dict[str, Any]]:
    """Fork a worker for each message, and return in the worker; return its pipes.

    A message has the configuration of the worker, which is returned too. The worker's parent ends
    at once, so that the server adopts it.
    """
    connection = socket.socket(fileno=control)
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, _MAX_CONFIGURATION_BYTES, 3)
        if not message:
            os._exit(0)
        parent = os.fork()
        if parent == 0:
            parent = os.getpid()
            if os.fork():
                os._exit(0)
            connection.close()
            while os.getppid() == parent:
                time.sleep(0.0005)
            requests, replies, lifeline = descriptors
            _end_with_parent(lifeline)
            return (os.fdopen(requests, "rb"), replies), orjson.loads(message)
        os.waitpid(parent, 0)
        for descriptor in descriptors:
            os.close(descriptor)


def _find_classes(configuration: Mapping[str, Any]) -> list[type]:
    return [_find_class(name) for name in configuration["classes"]]


def _find_class(name: str) -> type:
    module, _, qualified = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in qualified.split("."):
        found = getattr(found, part)
    cls: type = found
    return cls


class _Worker:
    def __init__(
        self, requests: BinaryIO, replies: int, classes: Sequence[type], max_growth: int
    ) -> None:
        self._requests, self._replies, self._classes = requests, replies, frozenset(classes)
        self._max_growth = max_growth
        self._has_worked = False  # since it released freed memory
        self._address_space, self._memory = _sizes()
        # Made now: afterwards there may be no memory.
        self._out_of_memory = encode_reply(Reply(ReplyKind.MEMORY_LIMIT), ())
        self._control = JobControl(self._send_part, threading.Event())
        signal.signal(CANCEL_SIGNAL, lambda *_: self._control.cancelled.set())

    def serve(self) -> None:
        """Run jobs until the parent closes the pipe, or this process has grown too much."""
        ready = encode_reply(Reply(ReplyKind.READY, os.getpid()), ())
        self._send(ready, cpu_seconds=time.process_time())
        while (parts := self._next_request()) is not None:
            self._control.cancelled.clear()
            began = time.process_time()
            reply = self._perform(parts)
            seconds = time.process_time() - began
            del parts
            is_last = reply is self._out_of_memory or self._has_grown(len(reply))
            self._send(reply, is_last=is_last, cpu_seconds=seconds)
            del reply
            if is_last:
                os._exit(0)  # at once: nothing is to be cleaned up

    def _next_request(self) -> list[bytes] | None:
        """Return the parts of the next request; release freed memory if it takes long to come.

        Nothing of a request is buffered: it is sent after the last reply.
        """
        if self._has_worked and not select.select([self._requests], (), (), IDLE_SECONDS)[0]:
            gc.collect()
            release_freed_memory()
            self._has_worked = False
        parts = read_parts(self._requests)
        self._has_worked = True
        return parts

    def _perform(self, parts: list[bytes]) -> bytes:
        """Run the job of a request and return the encoded reply."""
        try:
            request = decode_request(parts)
            parts.clear()
            most = request.limits.result_bytes
            with _apply_limits(request.limits, self._address_space):
                reply = encode_reply(_run(request, self._control, self._classes), self._classes)
        except MemoryError:
            return self._out_of_memory
        except Exception as error:  # the result, or the request, cannot be pickled
            return encode_reply(_failure(error), ())
        if len(reply) > most:
            return encode_reply(Reply(ReplyKind.RESULT_LIMIT, len(reply)), ())
        return reply

    def _has_grown(self, reply_bytes: int) -> bool:
        """Return True if this process has more memory than it should have without a job."""
        allowed = self._memory + self._max_growth + reply_bytes
        if _sizes()[1] <= allowed:
            return False
        gc.collect()
        release_freed_memory()
        return _sizes()[1] > allowed

    def _send_part(self, content: object) -> None:
        self._send(encode_reply(Reply(ReplyKind.PART, content), self._classes))

    def _send(self, reply: bytes, *, is_last: bool = False, cpu_seconds: float = 0.0) -> None:
        for data in (REPLY_HEADER.pack(len(reply), is_last, cpu_seconds), reply):
            left = memoryview(data)
            while left:
                left = left[os.write(self._replies, left) :]


@contextlib.contextmanager
def _apply_limits(limits: JobLimits, address_space: int) -> Iterator[None]:
    """Limit CPU time and, beyond a number of bytes, the address space inside the block."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = used.ru_utime + used.ru_stime + limits.cpu_seconds
    _set_soft_limit(resource.RLIMIT_CPU, math.ceil(seconds))
    if address_space:
        _set_soft_limit(resource.RLIMIT_AS, address_space + limits.memory_bytes)
    try:
        yield
    finally:
        for kind in (resource.RLIMIT_CPU, resource.RLIMIT_AS):
            _set_soft_limit(kind, resource.RLIM_INFINITY)


def _run(request: JobRequest, control: JobControl, classes: Collection[type]) -> Reply:
    args = (control, *request.args) if request.is_controlled else request.args
    try:
        return Reply(ReplyKind.DONE, request.function(*args))
    except MemoryError:
        raise
    except Exception as error:
        if type(error) in classes:
            error.__context__ = error.__cause__ = None
            return Reply(ReplyKind.REJECTED, error.with_traceback(None))
        return _failure(error)


def _failure(error: Exception) -> Reply:
    text = "".join(traceback.format_exception(error, limit=-20))
    return Reply(ReplyKind.FAILED, text[-_MAX_TRACEBACK_CHARACTERS:])


def _set_soft_limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY and (value == resource.RLIM_INFINITY or value > hard):
        value = hard
    resource.setrlimit(kind, (value, hard))


def _sizes() -> tuple[int, int]:
    """Return the bytes of address space, and of memory of this process alone; 0 if unknown."""
    try:
        pages = [int(number) for number in _STATM.read_bytes().split()[:3]]
    except OSError:
        return 0, 0
    size = resource.getpagesize()
    return pages[0] * size, (pages[1] - pages[2]) * size


if __name__ == "__main__":
    main()
