"""Threads, generators, coroutines, code objects and frames, created and freed as fast as possible.

Every function here has one allowed set of callers, and the file name of generated code contains the
function's name, so that wrong stacks can be detected.
"""

import asyncio
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from types import CodeType

from flamewatch import _native
from flamewatch.capture.stacks import Stack, read_stacks

HERE = __file__
CALLERS = {
    "fib": {"fib", "calls"},
    "calls": {"Thread.run"},
    "tree": {"tree", "generators"},
    "generators": {"Thread.run"},
    "step": {"step", "Handle._run", "coroutine.<locals>.<genexpr>"},
    # `coroutines` calls it, and the frame of the call is replaced by the coroutine's own.
    "coroutine": {"Handle._run", "coroutines"},
    "coroutines": {"Thread.run"},
    "made": {"makers"},
    "makers": {"Thread.run"},
    "short": {"Thread.run"},
    "threads": {"Thread.run"},
    "Node.__init__": {"Node.__init__", "objects"},
    "objects": {"Thread.run"},
}
SUFFIXES = ["plain", "\u00e9", "\u0436\u6f22", "\U00010400"]  # one, two and four bytes a character
done = threading.Event()


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def calls() -> None:
    while not done.is_set():
        fib(12)


def tree(n: int) -> Iterator[int]:
    if n:
        yield from tree(n - 1)
        yield n
        yield from tree(n - 2 if n > 1 else 0)


def generators() -> None:
    while not done.is_set():
        sum(tree(8))
        next(tree(3))  # freed before it is exhausted


async def step(n: int) -> int:
    if n:
        return 1 + await step(n - 1)
    await asyncio.sleep(0)
    return 0


async def coroutine() -> None:
    while not done.is_set():
        await asyncio.gather(*(step(n) for n in range(1, 6)))


def coroutines() -> None:
    asyncio.run(coroutine())


def makers() -> None:
    n = 0
    while not done.is_set():
        n += 1
        name = f"made_{n}_{SUFFIXES[n % len(SUFFIXES)]}"
        space: dict[str, object] = {}
        source = (
            "\n" * (n % 40) + f"def {name}(n):\n  x = 0\n  for i in range(n): x += i\n  return x"
        )
        exec(compile(source, f"<{name}>", "exec"), space)
        space[name](50)  # type: ignore[operator]


def short(n: int) -> None:
    sum(range(n))


def threads() -> None:
    while not done.is_set():
        some = [threading.Thread(target=short, args=(2000,)) for _ in range(5)]
        for thread in some:
            thread.start()
        for thread in some:
            thread.join()


class Node:
    def __init__(self, n: int) -> None:
        self.below = Node(n - 1) if n else None


def objects() -> None:
    while not done.is_set():
        Node(15)


def codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def own_lines() -> dict[tuple[str, int], set[int]]:
    """Return the lines of this file's functions, by name and first line."""
    with open(HERE, encoding="utf-8") as file:
        module = compile(file.read(), HERE, "exec")
    found = {}
    for code in codes_in(module):
        lines = {line for *_, line in code.co_lines() if line is not None}
        found[code.co_qualname, code.co_firstlineno] = lines | {0, code.co_firstlineno}
    return found


LINES = own_lines()


def frame_faults(stack: Stack) -> Iterator[str]:
    for frame in stack.frames:
        if frame.function == "[freed code]":
            freed[0] += stack.count
        elif frame.function.startswith("made_"):
            if frame.file != f"<{frame.function}>":
                yield f"{frame.function} in {frame.file}"
            elif frame.first_line != int(frame.function.split("_")[1]) % 40 + 1:
                yield f"{frame.function} begins at {frame.first_line}"
        elif frame.file == HERE:
            lines = LINES.get((frame.function, frame.first_line))
            if lines is None or frame.line not in lines:
                yield f"{frame.function}:{frame.line} of {frame.first_line}"


def edge_faults(stack: Stack) -> Iterator[str]:
    names = ["made" if f.function.startswith("made_") else f.function for f in stack.frames]
    for name, caller in zip(names, [*names[1:], ""], strict=True):
        if name in CALLERS and caller not in CALLERS[name] and not (caller == "" and stack.cut):
            yield f"{name} called by {caller!r}"


kind, seconds = sys.argv[1], float(sys.argv[2])
work = [calls, generators, coroutines, makers, threads, objects]
running = [threading.Thread(target=function) for function in work]
for thread in running:
    thread.start()
freed = [0]
faults: Counter[str] = Counter()
edges: Counter[str] = Counter()
examples: list[list[str]] = []  # stacks with a wrong edge
samples = torn = lost = wrong = overdue = excess = 0


def count_wrong(stacks: list[Stack]) -> int:
    """Count the samples with a wrong edge."""
    found = 0
    for stack in stacks:
        if names := list(edge_faults(stack)):
            found += stack.count
            edges.update({name: stack.count * n for name, n in Counter(names).items()})
            examples.append([f"{frame.function}:{frame.line}" for frame in stack.frames])
    return found


def capture() -> None:
    global samples, torn, lost, wrong, overdue, excess
    _native.start("cpu" if kind == "cpu" else "wall", period_us=1000)
    time.sleep(0.5)
    raw = _native.stop()
    stacks, counts = read_stacks(raw), raw["counts"]
    for stack in stacks:
        faults.update(frame_faults(stack))
    found = count_wrong(stacks)
    wrong, overdue = wrong + found, overdue + counts["overdue"]
    excess += max(0, found - counts["overdue"])
    samples, torn = samples + counts["samples"], torn + counts["torn"]
    lost += counts["table_full"] + counts["no_slot"]


end = time.monotonic() + seconds
sys.setswitchinterval(0.0005)
try:
    while time.monotonic() < end:
        capture()
finally:
    done.set()
    for thread in running:
        thread.join()
print(
    json.dumps(
        {
            "samples": samples,
            "torn": torn,
            "lost": lost,
            "freed": freed[0],
            "edges": edges,
            "examples": examples[:5],
            "wrong": wrong,  # samples with a wrong edge
            "overdue": overdue,
            "excess": excess,  # wrong samples that exceed the overdue ones of their capture
            "faults": faults,
        }
    )
)
