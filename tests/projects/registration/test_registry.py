"""Registration of deployments and agents from their handshakes."""

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from common import write_behind
from common.cache import Cache
from projects.models import (
    Agent,
    DayRejections,
    DayUsage,
    Delivery,
    Deployment,
    Project,
    Quota,
    running_agents,
)
from projects.profile_types import ProfileType
from projects.registration import agents, deployments, registry
from projects.registration.registry import (
    AgentSeen,
    DeploymentKey,
    RegisteredAgent,
    derive_identity,
)
from projects.usage.quota_reached import QuotaReached
from tests.clock import Clock
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)

CHECKOUT = DeploymentKey("checkout", "eu", "1.4", "python")
CPU_WALL = frozenset({ProfileType.CPU, ProfileType.WALL})
ANNA = AgentSeen("a" * 32, "host-1", "flamewatch-python/1", CPU_WALL)
BEN = AgentSeen("b" * 32, "host-2", "flamewatch-python/1", CPU_WALL)


def see(
    project: Project, deployment: DeploymentKey = CHECKOUT, agent: AgentSeen = ANNA
) -> RegisteredAgent:
    return asyncio.run(registry.seen(project.pk, deployment, agent))


def row_of(registered: RegisteredAgent) -> Agent:
    assert registered.agent is not None
    return Agent.objects.get(pk=registered.agent)


def test_a_new_agent_is_added_with_its_deployment(project: Project) -> None:
    registered = see(project)
    deployment = Deployment.objects.get(pk=registered.deployment)
    assert (deployment.service, deployment.zone, deployment.version) == ("checkout", "eu", "1.4")
    assert deployment.language == "python"
    agent = row_of(registered)
    assert (agent.deployment, agent.hostname) == (deployment, "host-1")
    assert agent.types == ["CPU", "WALL"]
    assert registered.profiled == frozenset()


def test_a_registered_agent_costs_no_query(project: Project) -> None:
    first = see(project)
    with count_queries() as queries:
        assert see(project) == first
    assert queries == []


def test_agents_of_one_deployment_share_its_row(project: Project) -> None:
    anna, ben = see(project), see(project, agent=BEN)
    assert anna.deployment == ben.deployment
    assert anna.agent != ben.agent


def test_simultaneous_handshakes_add_each_agent_once(project: Project) -> None:
    async def storm() -> set[RegisteredAgent]:
        agents = [ANNA, BEN] * 20
        return set(await asyncio.gather(*(registry.seen(project.pk, CHECKOUT, a) for a in agents)))

    assert len(asyncio.run(storm())) == 2
    assert Agent.objects.count() == 2
    assert DayUsage.objects.get().new_deployments == 1


def test_simultaneous_handshakes_of_many_agents_take_a_few_queries(project: Project) -> None:
    fleet = [AgentSeen(f"{n:032x}", f"host-{n}", "x", CPU_WALL) for n in range(300)]

    async def start() -> list[RegisteredAgent]:
        return await asyncio.gather(*(registry.seen(project.pk, CHECKOUT, one) for one in fleet))

    see(project)
    with count_queries() as queries:
        registered = asyncio.run(start())
    assert len({one.agent for one in registered}) == Agent.objects.count() - 1 == 300
    assert len(queries) < 20


def test_processes_that_add_the_same_at_once_agree(project: Project) -> None:
    """Check that processes with separate caches agree, through the database, on the first row."""
    start, found = threading.Barrier(4), []

    def process() -> None:
        position = deployments._DeploymentPosition(project.pk, CHECKOUT)
        start.wait(10)
        deployment = deployments._load(position).pk
        key = agents._AgentKey(deployment, ANNA.identity, ANNA)
        agent = agents._load_many([key])[key]
        found.append((deployment, agent and agent.pk))
        connection.close()

    threads = [threading.Thread(target=process) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(found) == 4
    assert len(set(found)) == 1
    assert DayUsage.objects.get().new_deployments == 1


def test_another_projects_deployment_of_the_same_name_is_another(project: Project) -> None:
    other = Project.objects.create(project_id="other-project", name="Other")
    assert see(project).deployment != see(other).deployment


def test_client_that_keeps_sending_is_an_agent_after_a_minute(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, pusher = Clock(monkeypatch), replace(ANNA, delivery=Delivery.PUSH)
    seen = []
    for seconds in (0, 30, 30, 1200, 30, 40):
        clock.advance(seconds=seconds)
        registered = see(project, agent=pusher)
        write_behind.write_now()
        row = row_of(registered)
        assert row.is_running == Agent.objects.filter(running_agents()).exists()
        seen.append(row.is_running)
    assert seen == [False, False, True, False, False, True]


def test_file_makes_no_agent_however_often_it_is_sent(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    for _ in range(5):
        registered = see(project, agent=replace(ANNA, delivery=Delivery.FILE))
        clock.advance(seconds=40)
        write_behind.write_now()
        assert not row_of(registered).is_running
    see(project)
    write_behind.write_now()
    assert row_of(registered).is_running


def test_changes_are_written_by_the_write_behind_buffer(project: Project) -> None:
    registered = see(project)
    heap = frozenset({ProfileType.HEAP})
    changed = AgentSeen(ANNA.identity, "host-9", "flamewatch-python/2", heap)
    see(project, DeploymentKey("checkout", "eu", "1.4", "go"), changed)
    assert row_of(registered).types == ["CPU", "WALL"]
    write_behind.write_now()
    agent = row_of(registered)
    assert agent.last_seen > agent.first_seen
    assert (agent.hostname, agent.user_agent) == ("host-9", "flamewatch-python/2")
    assert agent.types == ["HEAP"]
    assert agent.deployment.last_seen > agent.deployment.first_seen
    assert agent.deployment.language == "go"


def test_many_agents_that_changed_are_written_in_one_commit(project: Project) -> None:
    """Check the number of commits: one per agent would take a stopping server minutes on disk."""
    for nth in range(20):
        see(project, agent=AgentSeen(f"{nth:032}"))
        see(project, agent=AgentSeen(f"{nth:032}", "host", "agent/2", CPU_WALL))
    updates: list[bool] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "user_agent" in sql:
            updates.append(connection.in_atomic_block)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        write_behind.write_now()
    assert updates == [True] * 20


def test_unchanged_agent_is_not_written_again(project: Project) -> None:
    see(project)
    write_behind.write_now()
    with count_queries() as queries:
        write_behind.write_now()
    assert queries == []


def test_a_client_that_sends_one_type_at_a_time_has_all_of_them(project: Project) -> None:
    sends = [replace(ANNA, types=frozenset({one}), delivery=Delivery.PUSH) for one in CPU_WALL]
    for agent in sends:
        registered = see(project, agent=agent)
    write_behind.write_now()
    assert row_of(registered).types == ["CPU", "WALL"]
    for agent in sends:
        see(project, agent=agent)
    with count_queries() as queries:
        write_behind.write_now()
    assert not [query for query in queries if "user_agent" in query]


def test_a_profile_is_remembered_of_its_deployment(project: Project) -> None:
    registered = see(project)
    registry.note_profiled(registered.deployment, ProfileType.CPU)
    assert see(project).profiled == {ProfileType.CPU}


def test_types_profiled_by_another_process_are_read_with_the_next_batch(project: Project) -> None:
    registered = see(project)
    Deployment.objects.filter(pk=registered.deployment).update(profiled=["WALL"])
    write_behind.write_now()
    assert see(project).profiled == {ProfileType.WALL}


def test_rows_that_were_deleted_are_added_anew(project: Project) -> None:
    registered = see(project)
    Deployment.objects.all().delete()
    write_behind.write_now()
    assert see(project) != registered
    assert Agent.objects.get().hostname == "host-1"


def test_too_many_new_deployments_are_rejected_and_existing_ones_go_on(project: Project) -> None:
    Quota.objects.create(project=project, new_deployments_per_day=2)
    one, two, three = (DeploymentKey("checkout", version=v) for v in "123")
    see(project, one)
    see(project, two)
    with pytest.raises(
        QuotaReached, match=r"limit of 2 new deployments per day.*midnight UTC"
    ) as no:
        see(project, three)
    assert no.value.limit == "new_deployments_per_day"
    assert no.value.resets_in is not None
    assert 0 < no.value.resets_in <= 86_400
    see(project, one)
    assert Deployment.objects.count() == 2
    assert DayUsage.objects.get().new_deployments == 2


def test_rejected_deployments_cause_no_more_queries_until_the_quota_is_raised(
    project: Project,
) -> None:
    quota = Quota.objects.create(project=project, new_deployments_per_day=0)
    with pytest.raises(QuotaReached):
        see(project)
    with count_queries() as queries, pytest.raises(QuotaReached):
        see(project)
    assert queries == []
    quota.new_deployments_per_day = 1
    quota.save()
    assert see(project).deployment


def test_a_rejected_handshake_is_counted(project: Project) -> None:
    Quota.objects.create(project=project, new_deployments_per_day=0)
    for _ in range(3):
        with pytest.raises(QuotaReached):
            see(project)
    write_behind.write_now()
    assert DayUsage.objects.get().rejected == 3


def fleet(first: int, last: int) -> list[AgentSeen]:
    return [AgentSeen(f"{nth:032}", "host", "x", CPU_WALL) for nth in range(first, last)]


def test_a_deployment_stores_so_many_new_agents_a_day_and_serves_the_others(
    project: Project, settings: Settings
) -> None:
    settings.NEW_AGENTS_PER_DAY = 3
    seen = [see(project, agent=one) for one in fleet(0, 5)]
    assert [one.agent is None for one in seen] == [False] * 3 + [True] * 2
    assert len({one.deployment for one in seen}) == 1
    assert Agent.objects.count() == 3
    assert see(project, agent=fleet(0, 1)[0]) == seen[0], "a stored agent goes on"
    other = DeploymentKey("checkout", version="2")
    assert see(project, other, fleet(4, 5)[0]).agent is not None


def test_simultaneous_handshakes_store_agents_up_to_the_limit(
    project: Project, settings: Settings
) -> None:
    settings.NEW_AGENTS_PER_DAY = 3

    async def start() -> list[RegisteredAgent]:
        return await asyncio.gather(
            *(registry.seen(project.pk, CHECKOUT, one) for one in fleet(0, 300))
        )

    stored = [one.agent for one in asyncio.run(start()) if one.agent is not None]
    assert len(stored) == Agent.objects.count() == 3


def test_the_next_day_stores_new_agents_again(
    project: Project, settings: Settings, clock: Clock
) -> None:
    settings.NEW_AGENTS_PER_DAY = 1
    ben = fleet(1, 2)[0]
    see(project)
    assert see(project, agent=ben).agent is None
    clock.advance(days=1)
    agents._agents.clear()  # the answer is cached for two minutes
    assert see(project, agent=ben).agent is not None


def test_an_agent_without_a_row_runs_no_query_the_second_time(
    project: Project, settings: Settings
) -> None:
    settings.NEW_AGENTS_PER_DAY = 1
    see(project)
    see(project, agent=BEN)
    with count_queries() as queries:
        assert see(project, agent=BEN).agent is None
    assert queries == []


def test_an_agent_that_another_process_stored_is_found_although_no_more_are_stored(
    project: Project, settings: Settings
) -> None:
    settings.NEW_AGENTS_PER_DAY = 1
    anna = see(project)
    see(project, agent=BEN)
    agents._agents.clear()
    with count_queries() as queries:
        assert see(project, agent=ANNA) == anna
    assert len(queries) == 1


def test_ids_made_up_for_each_request_fill_neither_the_table_nor_the_caches(
    project: Project, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.NEW_AGENTS_PER_DAY = 2
    small: Cache[Any, Any] = Cache(fetch=agents._fetch, size=100, max_missing=10)
    monkeypatch.setattr(agents, "_agents", small)
    for one in fleet(0, 40):
        see(project, agent=one)
    assert Agent.objects.count() == 2
    assert (len(small), small.count_missing()) == (2, 10)
    write_behind.write_now()
    count = DayRejections.objects.get()
    assert (count.reason, count.count) == ("new_agents", 38)


def test_header_characters_that_a_database_rejects_are_removed(project: Project) -> None:
    registered = see(project, agent=AgentSeen("c" * 32, "ho\x00st\n" + "x" * 300, "\ud800agent"))
    agent = row_of(registered)
    assert agent.hostname.startswith("hostxxx")
    assert agent.user_agent == "agent"


def test_an_agents_uuid_is_its_identity() -> None:
    said = "6F9619FF-8B86-D011-B42D-00C04FC964FF"
    assert derive_identity(said, key=1, user_agent="x", peer="10.0.0.1") == said.lower()


def test_identity_without_a_uuid_is_derived_from_key_user_agent_and_address() -> None:
    def identity(**changed: object) -> str:
        fields: dict[str, object] = {"key": 1, "user_agent": "gcloud-go", "peer": "10.0.0.1"}
        return derive_identity("not a uuid", **(fields | changed))  # type: ignore[arg-type]

    others = [identity(key=2), identity(user_agent="node"), identity(peer="10.0.0.2")]
    assert identity() == identity()
    assert len({identity(), *others}) == 4
    assert all(len(one) <= 64 for one in others)
