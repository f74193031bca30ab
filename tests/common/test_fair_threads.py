"""Fair sharing of threads, and bounded queues."""

import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future

import pytest

from common.fair_threads import FairLimits, FairThreads, QueueFull
from tests.waiting import until

SECONDS = 30.0


class ThreadGate:
    """Blocking work that records its start and waits until the gate opens."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self._open = threading.Event()

    def work(self, name: str) -> str:
        self.began.append(name)
        assert self._open.wait(SECONDS)
        return name

    def open(self) -> None:
        self._open.set()


@pytest.fixture
def gate() -> Iterator[ThreadGate]:
    gate = ThreadGate()
    yield gate
    gate.open()


def threads(**changed: int) -> FairThreads:
    limits = {
        "threads": 4,
        "running_of_tenant": 2,
        "running_of_client": 2,
        "waiting_of_tenant": 100,
        "waiting": 1000,
    }
    return FairThreads("fair", FairLimits(**(limits | changed)))


def ask(pool: FairThreads, gate: ThreadGate, name: str) -> "Future[str]":
    """Submit work; `name` is the tenant, optionally followed by a slash and its client."""
    tenant, _, client = name.partition("/")
    return pool.submit(tenant, client, lambda: gate.work(name))


def test_a_tenant_has_its_share_of_the_threads_and_others_need_not_wait(gate: ThreadGate) -> None:
    pool = threads()
    of_a = [ask(pool, gate, "A") for _ in range(20)]
    until(lambda: len(gate.began) == 2, SECONDS, "A's share")
    of_b = ask(pool, gate, "B")
    until(lambda: "B" in gate.began, SECONDS, "B")
    assert gate.began == ["A", "A", "B"]
    gate.open()
    assert [future.result(SECONDS) for future in [*of_a, of_b]] == ["A"] * 20 + ["B"]
    assert sum(thread.name.startswith("fair_") for thread in threading.enumerate()) >= 2
    assert pool._pool._started <= 4
    until(lambda: pool.is_idle and not pool.waiting, SECONDS, "an empty queue")


def test_tenants_and_their_clients_have_turns(gate: ThreadGate) -> None:
    pool = threads(threads=1)
    first = ask(pool, gate, "A/x")
    until(lambda: bool(gate.began), SECONDS, "the first")
    names = ["A/x", "A/x", "A/x", "A/y", "B/z", "B/z"]
    later = [ask(pool, gate, name) for name in names]
    gate.open()
    for future in [first, *later]:
        future.result(SECONDS)
    # The two tenants alternate, and within A its two clients do.
    assert gate.began == ["A/x", "A/x", "B/z", "A/y", "B/z", "A/x", "A/x"]


def test_a_client_leaves_threads_of_its_tenant_to_others(gate: ThreadGate) -> None:
    pool = threads(running_of_tenant=3, running_of_client=2)
    for _ in range(5):
        ask(pool, gate, "A/x")
    ask(pool, gate, "A/y")
    until(lambda: len(gate.began) == 3, SECONDS, "three of A")
    assert sorted(gate.began) == ["A/x", "A/x", "A/y"]


def test_more_than_may_wait_is_rejected_and_only_for_that_tenant(gate: ThreadGate) -> None:
    pool = threads(waiting_of_tenant=3)
    for _ in range(2):
        ask(pool, gate, "A")
    until(lambda: len(gate.began) == 2, SECONDS, "A's share")
    for _ in range(3):
        ask(pool, gate, "A")
    with pytest.raises(QueueFull) as full:
        ask(pool, gate, "A")
    assert (full.value.of_tenant, full.value.limit) == (True, 3)
    ask(pool, gate, "B")
    until(lambda: "B" in gate.began, SECONDS, "B")


def test_all_together_have_a_bound(gate: ThreadGate) -> None:
    pool = threads(threads=1, waiting=2)
    ask(pool, gate, "A")
    until(lambda: bool(gate.began), SECONDS, "A")
    ask(pool, gate, "B")
    ask(pool, gate, "C")
    with pytest.raises(QueueFull) as full:
        ask(pool, gate, "D")
    assert not full.value.of_tenant


def test_a_job_cancelled_in_the_queue_leaves_it(gate: ThreadGate) -> None:
    pool = threads(threads=1, waiting_of_tenant=2)
    running = ask(pool, gate, "A")
    until(lambda: bool(gate.began), SECONDS, "A")
    waiting = [ask(pool, gate, "B") for _ in range(2)]
    assert all(future.cancel() for future in waiting)
    assert list(pool._queue._tenants) == ["A"]
    last = ask(pool, gate, "B")
    gate.open()
    assert (running.result(SECONDS), last.result(SECONDS)) == ("A", "B")
    assert gate.began == ["A", "B"]
    with pytest.raises(CancelledError):
        waiting[0].result(SECONDS)


def test_an_error_comes_back_and_the_thread_goes_on() -> None:
    pool = threads(threads=1)

    def fail() -> None:
        raise ValueError("no such luck")

    with pytest.raises(ValueError, match="no such luck"):
        pool.submit("A", "x", fail).result(SECONDS)
    assert pool.submit("A", "x", lambda: 7).result(SECONDS) == 7
