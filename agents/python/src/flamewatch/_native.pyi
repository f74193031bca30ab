"""The C sampler: it captures raw stacks of this process without holding the GIL.

One capture at a time, from any thread::

    reason = _native.supported()          # None: everything below works
    _native.start("cpu", period_us=10_000)
    _native.wait(10.0)                    # without the GIL; or time.sleep, or anything else
    raw = _native.stop()
    stacks = flamewatch.stacks.read_stacks(raw, names)

Lines are not computed here: `stacks.py` does it after the capture, from the line tables.
"""

from collections.abc import Sequence
from contextvars import Context, ContextVar
from types import CodeType
from typing import Literal, TypedDict

Kind = Literal["cpu", "wall", "threads", "contention"]

class Counts(TypedDict):
    """What happened to the samples. Everything that is not in `stacks` is in one of these."""

    ticks: int  # rounds of the sampler thread
    samples: int  # samples that are in `stacks`
    reused: int  # of these: threads that had not moved, so their last stack was counted again
    torn: int  # samples dropped because the stack changed while it was read
    no_slot: int  # CPU samples dropped because too many threads were interrupted at once
    table_full: int  # samples dropped because `max_bytes` was used up
    cut: int  # samples of stacks deeper than `max_depth`
    unarmed: int  # threads that got no CPU timer (limit of timers, or refused by the kernel)
    signal_taken: int  # 1: the host took SIGURG over during a CPU capture, which ended there
    overdue: int  # CPU samples taken from outside, of threads that their timers didn't interrupt
    labels_full: int  # samples that lost their labels: more than 256 distinct sets
    lost: int  # sum of the values of dropped samples, in the unit of the value
    tried: int  # contention: locks that did not look free, and were tried without waiting
    idle: int  # contention: waits that were left out, by `idle`

class Raw(TypedDict):
    """One capture, as compact columns. The unit of values: nanoseconds; for "threads": threads."""

    kind: Kind
    period_ns: int
    started_ns: int  # Unix time
    duration_ns: int  # by the monotonic clock
    sampler_cpu_ns: int  # CPU time of the sampler thread, and of the host's threads for samples
    memory_bytes: int  # of the capture's tables, at their largest
    # int64[n, 7], row: native thread id, value, count, first frame, number of frames, cut (0 or 1),
    # labels (0: none; else index into `labels`, from 1)
    stacks: bytes
    # int32[m, 2], row: index into `codes`, offset of the instruction in bytes (negative: not begun)
    # Frames of a stack are consecutive rows, the leaf first.
    frames: bytes
    # (qualified name, file, first line, line table: see PEP 626 and CPython's locations.md)
    codes: list[tuple[str, str, int, bytes]]
    labels: list[bytes]  # distinct label texts; see label_text.py
    counts: Counts

class HeapCounts(TypedDict):
    """What happened to the samples of allocations."""

    samples: int  # blocks that were chosen and are in the tables, or were
    torn: int  # dropped because the thread's stack could not be read
    foreign: int  # dropped because another interpreter (a subinterpreter) allocated them
    table_full: int  # dropped because the tables were full of what is in use
    cut: int  # samples of stacks deeper than `max_depth`
    forgotten: int  # places in the code left out, to make room, as nothing of theirs was in use
    lost: int  # bytes that the dropped samples stood for
    spent_ns: int  # CPU time of the threads that allocated, for samples since the read before

class RawHeap(TypedDict):
    """Memory, by the stacks that allocated it; `stacks`, `frames`, `codes` as in `Raw`.

    The value of a stack is its bytes in use ("heap") or allocated ("heap_alloc").
    """

    kind: Literal["heap", "heap_alloc"]
    mean_bytes: int  # between samples, as was asked
    since_ns: int  # Unix time: what was allocated before is not known
    started_ns: int  # Unix time of this moment ("heap"), or of the mark ("heap_alloc")
    duration_ns: int  # 0 for "heap"
    table_bytes: int  # memory that the tables use
    stacks: bytes
    frames: bytes
    codes: list[tuple[str, str, int, bytes]]
    labels: list[bytes]  # none
    # int64[n, 4], row for row with `stacks`: objects and bytes allocated, objects and bytes in use.
    # Estimates: each sampled block counts for as many as it stands for.
    memory: bytes
    counts: HeapCounts

def supported() -> str | None:
    """Why this interpreter cannot be sampled, or None if it can.

    Checked once, on the first call, by reading the caller's own stack and comparing it with what
    the interpreter says. The reason is a sentence for a log.
    """

def contention_supported() -> str | None:
    """Why waits for locks cannot be seen here, or None if they can."""

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
    """Begin a capture; returns at once.

    cpu: each thread is interrupted after about `period_us` of its own CPU time.
    wall: all threads are looked at about every `period_us`, `max_threads` of them at most in one
        round (then in turns; each visit counts for the time since the last one).
    threads: all threads are looked at once, now; `stop()` only fetches the result.
    contention: until `stop()`, a thread that finds a lock taken (`threading.Lock`, `RLock`, and
        what is made of them) notes its stack and how long it waits. Over about 500 a second, some
        stand for all. `period_us` and `max_threads` mean nothing here.

    `max_depth` (1..2048): deeper stacks keep their leaf-most frames and are marked cut.
    `max_bytes` (256 KiB..1 GiB): bound on the tables of one capture. `per_thread=False` merges the
    stacks of all threads (thread id 0). `exclude`: up to 16 native ids of threads that are not to
    be seen (the agent's). `idle`: up to 32 pairs of code objects; contention leaves out waits
    in a frame of the first that the second called (None: whoever called it).

    Raises RuntimeError when unsupported, when a capture is running, or when the kernel refuses
    what is needed (the message says what); ValueError for arguments out of range.
    """

def stop() -> Raw:
    """End the capture and return it. Waits at most 1 s (without the GIL) for the sampler thread.

    The signal's previous handler is back unless somebody else replaced ours. Raises RuntimeError
    when no capture is running.
    """

def running() -> bool:
    """Is a capture running?"""

def wait(seconds: float) -> bool:
    """Sleep without the GIL, whatever has been monkey-patched. True if `wake()` ended it early."""

def wake() -> None:
    """End the current `wait()` of another thread, or the next one if none is waiting."""

def after_fork_child() -> None:
    """To be called in the child after a fork: forget the parent's capture. Nothing runs here."""

def read_labels_of(
    variable: ContextVar[bytes], context: Context, alone: Context, value: bytes
) -> str | None:
    """From now on samples carry the text that `variable` holds in the running context.

    To be called in `context`, where `variable` is set to `value` among 32 or more others; in
    `alone` it is set to the same, alone. Returns why that cannot be done here, or None.
    """

def read_tasks_of(
    awaited: object, waiting: object, outer: object, inner: object, name: str, current: object
) -> str | None:
    """From now on samples show the asyncio tasks that they were taken in.

    The frames of the tasks that await it follow those of the running one, and its name, if it was
    given one, is the label "task". The examples: a task that is the thread's current one and
    another that awaits it alone; the first one's coroutine, and the coroutine that that awaits; its
    name; the dictionary of current tasks (before 3.14). Returns why that cannot be done here, or
    None.
    """

def thread_id() -> int:
    """The calling thread's native id, as in `Raw.stacks` and `exclude`."""

def read_own_stack(max_depth: int = 512) -> Raw:
    """The caller's stack by the sampler's own means: for tests and diagnosis."""

def heap_start(
    *,
    mean_bytes: int = 512 << 10,
    raw: bool = False,
    max_depth: int = 512,
    max_bytes: int = 4 << 20,
    samples_per_second: int = 500,
) -> bool:
    """Begin to count memory: hooks go into Python's allocators. False: it is counted already.

    One byte in `mean_bytes` is sampled, at random, with the block that it is in. More than
    `samples_per_second` make the distance larger for a while. `raw`: the raw domain, too.
    What went by unseen (somebody took our hooks out) begins anew; then the answer is True, too.

    Raises RuntimeError where that is not possible (the message says why), ValueError for arguments
    out of range.
    """

def heap_stop() -> None:
    """End it. The allocators are as before; if somebody else hooked after us, ours pass through."""

def heap_running() -> bool:
    """Is memory counted?"""

def heap_apart() -> None:
    """The calling thread's allocations are not counted from now on."""

def heap_mark() -> None:
    """Begin the interval that `heap_read("heap_alloc")` tells of."""

def heap_read(kind: Literal["heap", "heap_alloc"]) -> RawHeap:
    """heap: everything since counting began. heap_alloc: what was allocated since the mark, and
    what of that is in use now. Raises RuntimeError when memory is not counted."""
