"""Capture now: assignment to the next free agent, audit and limits."""

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from common import database_pool
from projects.models import Agent, AuditEntry, Delivery, Deployment, Project, User
from projects.profile_types import ProfileType
from scheduler import capture_now
from scheduler.capture_now import MAX_PENDING, NoMatchingAgent, TooManyPending
from scheduler.capture_requests import RequestOrigin
from scheduler.long_poll import queue_of_process
from scheduler.long_poll.interface import Waiter
from tests.scheduler.long_poll.parking import claimed, park, until

CPU, WALL, HEAP = ProfileType.CPU, ProfileType.WALL, ProfileType.HEAP

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]


def deployment(project: Project, service: str = "shop", zone: str = "", version: str = "") -> int:
    now = timezone.now()
    row = Deployment.objects.create(
        project=project, service=service, zone=zone, version=version, first_seen=now, last_seen=now
    )
    return row.pk


@pytest.fixture
def shop(project: Project) -> int:
    return deployment(project, zone="a", version="1")


def agent(project: Project, of: int, *types: ProfileType, name: str = "a") -> Waiter:
    return Waiter(name, project.pk, of, frozenset(types or {CPU}))


async def ask(
    project: Project,
    alice: User,
    kind: ProfileType = CPU,
    zone: str | None = None,
    version: str | None = None,
) -> capture_now.PendingCapture:
    call = partial(capture_now.request_capture, project, "shop", kind, zone, version, actor=alice)
    return await database_pool.run(call)


async def test_a_parked_agent_captures_at_once(project: Project, alice: User, shop: int) -> None:
    (wait,) = await park(queue_of_process(), agent(project, shop))
    pending = await ask(project, alice)
    assert await claimed(wait) == pending.request.id
    assert (pending.waiting, pending.request.origin) == (1, RequestOrigin.PERSON)


async def test_the_audit_log_records_the_actor_and_the_request(
    project: Project, alice: User, shop: int
) -> None:
    await park(queue_of_process(), agent(project, shop))
    pending = await ask(project, alice)
    entry = await database_pool.run(
        AuditEntry.objects.select_related("actor").get, action="capture.now"
    )
    assert entry.actor == alice
    assert entry.detail == {
        "service": "shop",
        "type": "CPU",
        "deployment": shop,
        "slot": pending.request.id,
    }


async def test_the_deployment_with_the_most_parked_agents_is_chosen(
    project: Project, alice: User, shop: int
) -> None:
    other = await database_pool.run(deployment, project, zone="b", version="1")
    waiters = [agent(project, other, name="b"), agent(project, other, name="c")]
    await park(queue_of_process(), agent(project, shop), *waiters)
    assert (await ask(project, alice)).request.deployment == other


async def test_zone_and_version_narrow_it_down(project: Project, alice: User, shop: int) -> None:
    other = await database_pool.run(deployment, project, zone="b", version="2")
    waiters = [agent(project, other, name="b"), agent(project, other, name="c")]
    await park(queue_of_process(), agent(project, shop), *waiters)
    assert (await ask(project, alice, zone="a")).request.deployment == shop
    assert (await ask(project, alice, version="2")).request.deployment == other


async def test_the_error_lists_the_offered_types(project: Project, alice: User, shop: int) -> None:
    await park(queue_of_process(), agent(project, shop, CPU, WALL))
    with pytest.raises(NoMatchingAgent, match=r"shop offers HEAP\. Available types: CPU, WALL"):
        await ask(project, alice, HEAP)
    assert not await database_pool.run(AuditEntry.objects.filter(action="capture.now").exists)


async def test_an_error_reports_that_no_agent_is_parked(
    project: Project, alice: User, shop: int
) -> None:
    with pytest.raises(NoMatchingAgent, match="No agent of shop"):
        await ask(project, alice)


async def test_the_error_explains_that_agents_send_on_their_own(
    project: Project, alice: User, shop: int
) -> None:
    now = timezone.now()
    add = partial(
        Agent.objects.create,
        **{"deployment_id": shop, "identity": "a", "delivery": Delivery.PUSH},
        **{"first_seen": now, "last_seen": now, "reporting_since": now - timedelta(minutes=5)},
    )
    await database_pool.run(add)
    with pytest.raises(NoMatchingAgent, match="agents of shop send on their own"):
        await ask(project, alice)
    with pytest.raises(NoMatchingAgent, match="No agent of shop"):
        await ask(project, alice, zone="b")


async def test_agents_of_another_project_are_not_used(
    project: Project, alice: User, shop: int
) -> None:
    other = await database_pool.run(
        Project.objects.create, project_id="other-project", name="Other"
    )
    theirs = await database_pool.run(deployment, other)
    (wait,) = await park(queue_of_process(), agent(other, theirs))
    with pytest.raises(NoMatchingAgent):
        await ask(project, alice)
    assert not wait.done()


async def test_repeated_requests_are_limited(project: Project, alice: User, shop: int) -> None:
    waits = await park(queue_of_process(), agent(project, shop))
    waits[0].cancel()
    for nth in range(MAX_PENDING):
        await ask(project, alice)
        await until(lambda nth=nth: queue_of_process().count_user_requests(shop, CPU) == nth + 1)  # type: ignore[misc]
    with pytest.raises(TooManyPending, match="10 captures of CPU"):
        await ask(project, alice)
