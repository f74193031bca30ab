"""C sampler that captures raw stacks of this process without holding the GIL.

One capture at a time, from any thread::

    reason = _native.supported()          # None: everything below works
    _native.start("cpu", period_us=10_000)
    _native.wait(10.0)                    # without the GIL; time.sleep works as well
    raw = _native.stop()
    stacks = flamewatch.stacks.read_stacks(raw, names)

This module computes no lines: `stacks.py` does that after the capture, from the line tables.
"""

from collections.abc import Sequence
from contextvars import Context, ContextVar
from types import CodeType
from typing import Literal, TypedDict

Kind = Literal["cpu", "wall", "threads", "contention"]

class Counts(TypedDict):
    """Statistics of a capture. Every sample that is missing in `stacks` is counted here."""

    ticks: int  # iterations of the sampler thread
    samples: int  # samples included in `stacks`
    reused: int  # of these: threads that had not moved, so their last stack was counted again
    torn: int  # samples dropped because the stack changed while it was read
    no_slot: int  # CPU samples dropped because too many threads were interrupted at once
    table_full: int  # samples dropped because `max_bytes` was used up
    cut: int  # samples of stacks deeper than `max_depth`
    unarmed: int  # threads without a CPU timer (limit of timers, or error of the kernel)
    signal_taken: int  # 1: the host replaced the SIGURG handler; the CPU capture ended there
    # CPU samples taken by the sampler thread: the thread's timer did not interrupt it, or a new
    # thread had no timer yet. As in WALL, the thread may have run while it was read.
    overdue: int
    labels_full: int  # samples without their labels: more than 256 distinct sets
    lost: int  # sum of the values of dropped samples, in the unit of the value
    tried: int  # contention: locks that did not look free, and were tried without waiting
    idle: int  # contention: waits left out because of `idle`
    gil_waits: int  # wall: samples of threads that were found waiting for the GIL

class Raw(TypedDict):
    """Columns of one capture. Values are nanoseconds; for "threads": threads."""

    kind: Kind
    period_ns: int
    started_ns: int  # Unix time
    duration_ns: int  # by the monotonic clock
    sampler_cpu_ns: int  # CPU time of the sampler thread, and of the host's threads for samples
    memory_bytes: int  # largest size of the capture's tables
    # int64[n, 8], row: native thread id, value, count, first frame, number of frames, cut (0 or 1),
    # labels (0: none; else index into `labels`, from 1), waits for the GIL (0 or 1; wall only)
    stacks: bytes
    # int32[m, 2], row: index into `codes`, offset of the instruction in bytes (negative: not
    # begun). The frames of a stack are consecutive rows, the leaf first.
    frames: bytes
    # (qualified name, file, first line, line table: see PEP 626 and CPython's locations.md)
    codes: list[tuple[str, str, int, bytes]]
    labels: list[bytes]  # distinct encoded label sets, see label_text.py
    counts: Counts

class HeapCounts(TypedDict):
    """Statistics of allocation samples."""

    samples: int  # blocks that were sampled and stored, including freed ones
    torn: int  # dropped because the thread's stack could not be read
    foreign: int  # dropped because another interpreter (a subinterpreter) allocated them
    table_full: int  # dropped because the tables were full of blocks in use
    cut: int  # samples of stacks deeper than `max_depth`
    forgotten: int  # allocation sites evicted to make room, because none of their blocks was in use
    lost: int  # bytes that the dropped samples represent
    spent_ns: int  # CPU time of allocating threads for samples since the previous read

class RawHeap(TypedDict):
    """Memory by the stacks that allocated it; `stacks`, `frames`, `codes` as in `Raw`.

    The value of a stack is its bytes in use ("heap") or allocated ("heap_alloc").
    """

    kind: Literal["heap", "heap_alloc"]
    mean_bytes: int  # mean distance between samples, as configured
    since_ns: int  # Unix time; earlier allocations are unknown
    started_ns: int  # Unix time of the read ("heap") or of the mark ("heap_alloc")
    duration_ns: int  # 0 for "heap"
    table_bytes: int  # memory that the tables use
    stacks: bytes
    frames: bytes
    codes: list[tuple[str, str, int, bytes]]
    labels: list[bytes]  # empty
    # int64[n, 4], parallel to `stacks`: objects and bytes allocated, objects and bytes in use.
    # Estimates: each sampled block is scaled by the inverse of its sampling probability.
    memory: bytes
    counts: HeapCounts

def supported() -> str | None:
    """Return the reason why this interpreter cannot be sampled, or None if it can.

    The first call checks by reading the caller's own stack and comparing it with the interpreter's.
    The reason is a phrase for a log.
    """

def contention_supported() -> str | None:
    """Return the reason why waits for locks cannot be captured here, or None if they can."""

def gil_waits_supported() -> str | None:
    """Return the reason why wall captures do not show waits for the GIL, or None if they do."""

def start(
    kind: Kind,
    *,
    period_us: int = 10_000,
    max_depth: int = 512,
    max_threads: int = 128,
    max_bytes: int = 8 << 20,
    per_thread: bool = True,
    exclude: Sequence[int] = (),
    idle: tuple[tuple[CodeType, CodeType | None], ...] = (),
) -> None:
    """Start a capture and return at once.

    - cpu: each thread is interrupted after about `period_us` of its own CPU time.
    - wall: all threads are sampled about every `period_us`, at most `max_threads` of them in one
      round (more threads take turns; each sample counts for the time since the last one).
    - threads: all threads are sampled once, now; `stop()` only fetches the result.
    - contention: until `stop()`, a thread that finds a lock taken (`threading.Lock`, `RLock`, and
      objects built on them) records its stack and the time that it waits. Above about 500 waits a
      second a random sample is recorded and weighted. `period_us` and `max_threads` are ignored.

    `max_depth` (1..2048): deeper stacks keep the frames nearest the leaf and are marked cut.
    `max_bytes` (256 KiB..1 GiB): bound on the tables of one capture. `per_thread=False` merges the
    stacks of all threads (thread id 0). `exclude`: up to 16 native ids of threads to leave out (the
    agent's). `idle`: up to 32 pairs of code objects; contention leaves out waits in a frame of the
    first code object that the second one called (None: any caller).

    Raise RuntimeError if the interpreter is unsupported, if a capture is running, or if the kernel
    denies a required call (the message says which); ValueError for arguments out of range.
    """

def stop() -> Raw:
    """End the capture and return it. Wait at most 1 s, without the GIL, for the sampler thread.

    The signal's previous handler is restored unless the host replaced the sampler's. Raise
    RuntimeError if no capture is running.
    """

def running() -> bool:
    """Return whether a capture is running."""

def wait(seconds: float) -> bool:
    """Sleep without the GIL, regardless of monkey-patching.

    Return True if `wake()` ended the sleep early.
    """

def wake() -> None:
    """End the current `wait()` of another thread, or the next one if no thread is waiting."""

def after_fork_child() -> None:
    """Discard the parent's capture in a forked child, in which no sampler thread exists."""

def read_labels_of(
    variable: ContextVar[bytes], context: Context, alone: Context, value: bytes
) -> str | None:
    """Calibrate label reading: later samples carry the text that `variable` has in their context.

    Call this in `context`, in which `variable` is set to `value` among 32 or more others; in
    `alone` it is set to the same value, as the only variable. Return the reason why labels cannot
    be read here, or None.
    """

def read_tasks_of(
    awaited: object, waiting: object, outer: object, inner: object, name: str, current: object
) -> str | None:
    """Calibrate task reading: later samples show the asyncio task in which they were taken.

    The frames of the tasks that await the running task follow its own, and its name, if it was
    given one, is the label "task". The arguments are examples: `awaited` is the thread's current
    task, and `waiting` the only task that awaits it; `outer` is the coroutine of `awaited`, and
    `inner` the coroutine that `outer` awaits; `name` is the name of `awaited`, and `current` the
    dictionary of current tasks (before 3.14). Return the reason why tasks cannot be read here, or
    None.
    """

def thread_id() -> int:
    """Return the calling thread's native id, as in `Raw.stacks` and `exclude`."""

def read_own_stack(max_depth: int = 512) -> Raw:
    """Read the caller's stack as the sampler does. For tests and diagnosis."""

def heap_start(
    *,
    mean_bytes: int = 512 << 10,
    raw: bool = False,
    max_depth: int = 512,
    max_bytes: int = 4 << 20,
    samples_per_second: int = 500,
) -> bool:
    """Install hooks in Python's allocators and count memory. Return False if it is counted already.

    One byte in `mean_bytes` is sampled at random, together with its block. Above
    `samples_per_second` the mean distance between samples grows for a while. `raw`: also count the
    raw domain. If the hooks were removed by other code, so that allocations were missed, counting
    restarts and the result is True. Raise RuntimeError if hooks cannot be installed (the message
    says why), ValueError for arguments out of range.
    """

def heap_stop() -> None:
    """Stop counting and restore the allocators.

    If other code hooked the allocators later, the hooks stay and only pass calls through.
    """

def heap_running() -> bool:
    """Return whether memory is counted."""

def heap_apart() -> None:
    """Exclude the calling thread's allocations from now on."""

def heap_mark() -> None:
    """Begin the interval that `heap_read("heap_alloc")` reports."""

def heap_read(kind: Literal["heap", "heap_alloc"]) -> RawHeap:
    """Read the counts. Raise RuntimeError if memory is not counted.

    heap: allocations since counting began. heap_alloc: allocations since the mark, and the part of
    them that is in use now.
    """
