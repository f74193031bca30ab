"""Fair sharing of threads, and bounded queues."""

import heapq
import itertools
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future

import pytest

from common.fair_threads import FairLimits, FairQueue, FairThreads, QueueFull, _FairJob
from common.recent_costs import RecentCosts
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
    limits_of_test = FairLimits(**(limits | changed))
    # A clock that stands still: all costs are equal, and tenants have turns.
    return FairThreads("fair", limits_of_test, costs=RecentCosts(), clock=lambda: 0.0)


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
    assert pool._pool._thread_count <= 4
    until(lambda: pool.is_idle and not pool.waiting, SECONDS, "an empty queue")


def test_tenants_alternate_and_so_do_their_clients(gate: ThreadGate) -> None:
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


def test_job_over_the_queue_limit_of_a_tenant_is_rejected_for_that_tenant_only(
    gate: ThreadGate,
) -> None:
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


def test_job_over_the_queue_limit_of_all_tenants_is_rejected(gate: ThreadGate) -> None:
    pool = threads(threads=1, waiting=2)
    ask(pool, gate, "A")
    until(lambda: bool(gate.began), SECONDS, "A")
    ask(pool, gate, "B")
    ask(pool, gate, "C")
    with pytest.raises(QueueFull) as full:
        ask(pool, gate, "B")
    assert (full.value.of_tenant, full.value.limit) == (False, 2)


def test_full_queue_accepts_one_job_of_each_other_tenant(gate: ThreadGate) -> None:
    pool = threads(threads=1, waiting=2)
    ask(pool, gate, "A")
    until(lambda: bool(gate.began), SECONDS, "A")
    ask(pool, gate, "B")
    ask(pool, gate, "B")
    late = [ask(pool, gate, "C"), ask(pool, gate, "D")]
    with pytest.raises(QueueFull):
        ask(pool, gate, "C")
    with pytest.raises(QueueFull):
        ask(pool, gate, "E")
    gate.open()
    assert [future.result(SECONDS) for future in late] == ["C", "D"]


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


def test_error_of_a_job_is_raised_by_its_future_and_the_thread_continues() -> None:
    pool = threads(threads=1)

    def fail() -> None:
        raise ValueError("no such luck")

    with pytest.raises(ValueError, match="no such luck"):
        pool.submit("A", "x", fail).result(SECONDS)
    assert pool.submit("A", "x", lambda: 7).result(SECONDS) == 7


# -- order by cost, without threads -------------------------------------------------------


class Backlog:
    """Queue with a clock of its own, whose tenants always have jobs waiting."""

    def __init__(self, seconds: Mapping[str, float], costs: RecentCosts | None = None) -> None:
        """`seconds` is the duration of each tenant's jobs."""
        self.now = 0.0
        self.costs = RecentCosts() if costs is None else costs
        limits = FairLimits(
            threads=4, running_of_tenant=4, running_of_client=4, waiting_of_tenant=10, waiting=99
        )
        self.queue = FairQueue(limits, self.costs, lambda: self.now)
        self._seconds = seconds
        for tenant in seconds:
            for _ in range(10):
                self.put(tenant)

    def put(self, tenant: str) -> None:
        self.queue.put(_FairJob(self.queue, tenant, tenant, lambda: None))

    def take(self) -> _FairJob:
        job = self.queue.take()
        assert job is not None
        return job

    def run(self, threads: int, seconds: float) -> dict[str, float]:
        """Let threads work until the time `seconds`; return the thread seconds by tenant."""
        used: defaultdict[str, float] = defaultdict(float)
        running: list[tuple[float, int, str, _FairJob]] = []  # by end; numbers decide ties
        numbers = itertools.count()
        while self.now < seconds:
            while len(running) < threads:
                job = self.take()
                tenant = str(job.tenant)
                end = self.now + self._seconds[tenant]
                heapq.heappush(running, (end, next(numbers), tenant, job))
                self.put(tenant)
            self.now, _number, tenant, job = heapq.heappop(running)
            self.queue.end(job)
            used[tenant] += self._seconds[tenant]
        return dict(used)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_many_short_jobs_and_few_long_ones_get_equal_shares(count: int) -> None:
    used = Backlog({"short": 0.05, "long": 5.0, "middle": 0.5}).run(count, 2000)
    fair = count * 2000 / 3
    assert used == {tenant: pytest.approx(fair, rel=0.1) for tenant in used}
    assert len(used) == 3


def test_an_idle_tenant_is_served_before_every_backlog() -> None:
    backlog = Backlog({"A": 0.1, "B": 3.0})
    backlog.run(1, 100)
    backlog.put("idle")
    assert backlog.take().tenant == "idle"


def test_idle_time_of_a_tenant_earns_no_later_priority() -> None:
    backlog = Backlog({"A": 1.0})
    backlog.run(1, 1000)
    backlog._seconds = {"A": 1.0, "late": 1.0}
    for _ in range(10):
        backlog.put("late")
    used = backlog.run(1, 1400)
    assert used["late"] < 0.75 * 400, "the cost of A is of the last minutes only"


def test_a_running_job_counts_before_it_ends() -> None:
    backlog = Backlog({"A": 1.0, "B": 1.0})
    first, second = backlog.take(), backlog.take()
    assert (first.tenant, second.tenant) == ("A", "B")
    backlog.now = 1.0
    backlog.queue.end(second)
    backlog.now = 5.0
    assert [backlog.take().tenant for _ in range(2)] == ["B", "B"]


def test_the_cost_in_one_pool_counts_in_another() -> None:
    costs = RecentCosts()
    Backlog({"A": 2.0}, costs).run(1, 10)
    other = Backlog({}, costs)
    other.now = 10.0
    for tenant in ("A", "B"):
        other.put(tenant)
    assert other.take().tenant == "B"
