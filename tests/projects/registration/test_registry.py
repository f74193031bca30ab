"""Registration of deployments and agents from their handshakes."""

import asyncio
import threading
from typing import Any

import pytest
from django.db import connection

from common import write_behind
from projects.models import Agent, DayUsage, Deployment, Project, Quota
from projects.profile_types import ProfileType
from projects.registration import agents, deployments, registry
from projects.registration.registry import AgentSeen, DeploymentKey, RegisteredAgent, identity_of
from projects.usage.quota_reached import QuotaReached
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


def test_a_new_agent_is_added_with_its_deployment(project: Project) -> None:
    known = see(project)
    deployment = Deployment.objects.get(pk=known.deployment)
    assert (deployment.service, deployment.zone, deployment.version) == ("checkout", "eu", "1.4")
    assert deployment.language == "python"
    agent = Agent.objects.get(pk=known.agent)
    assert (agent.deployment, agent.hostname) == (deployment, "host-1")
    assert agent.types == ["CPU", "WALL"]
    assert known.profiled == frozenset()


def test_a_known_agent_costs_no_query(project: Project) -> None:
    first = see(project)
    with count_queries() as queries:
        assert see(project) == first
    assert queries == []


def test_the_same_deployment_is_one_row_for_all_its_agents(project: Project) -> None:
    anna, ben = see(project), see(project, agent=BEN)
    assert anna.deployment == ben.deployment
    assert anna.agent != ben.agent


def test_agents_that_come_together_are_added_once(project: Project) -> None:
    async def storm() -> set[RegisteredAgent]:
        agents = [ANNA, BEN] * 20
        return set(await asyncio.gather(*(registry.seen(project.pk, CHECKOUT, a) for a in agents)))

    assert len(asyncio.run(storm())) == 2
    assert Agent.objects.count() == 2
    assert DayUsage.objects.get().new_deployments == 1


def test_a_fleet_that_starts_at_once_takes_a_handful_of_queries(project: Project) -> None:
    fleet = [AgentSeen(f"{n:032x}", f"host-{n}", "x", CPU_WALL) for n in range(300)]

    async def start() -> list[RegisteredAgent]:
        return await asyncio.gather(*(registry.seen(project.pk, CHECKOUT, one) for one in fleet))

    see(project)
    with count_queries() as queries:
        known = asyncio.run(start())
    assert len({one.agent for one in known}) == Agent.objects.count() - 1 == 300
    assert len(queries) < 20


def test_processes_that_add_the_same_at_once_agree(project: Project) -> None:
    """Check that processes with separate caches agree, through the database, on the first row."""
    start, found = threading.Barrier(4), []

    def process() -> None:
        place = deployments._DeploymentPosition(project.pk, CHECKOUT)
        start.wait(10)
        deployment = deployments._load(place).pk
        agent = agents._load(agents._AgentKey(deployment, ANNA.identity, ANNA)).pk
        found.append((deployment, agent))
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


def test_what_changed_is_written_behind(project: Project) -> None:
    known = see(project)
    heap = frozenset({ProfileType.HEAP})
    changed = AgentSeen(ANNA.identity, "host-9", "flamewatch-python/2", heap)
    see(project, DeploymentKey("checkout", "eu", "1.4", "go"), changed)
    assert Agent.objects.get(pk=known.agent).types == ["CPU", "WALL"]
    write_behind.write_now()
    agent = Agent.objects.get(pk=known.agent)
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


def test_nothing_new_is_nothing_to_write(project: Project) -> None:
    see(project)
    write_behind.write_now()
    with count_queries() as queries:
        write_behind.write_now()
    assert queries == []


def test_a_profile_is_remembered_of_its_deployment(project: Project) -> None:
    known = see(project)
    registry.note_profiled(known.deployment, ProfileType.CPU)
    assert see(project).profiled == {ProfileType.CPU}


def test_what_another_process_profiled_is_learnt_with_the_next_batch(project: Project) -> None:
    known = see(project)
    Deployment.objects.filter(pk=known.deployment).update(profiled=["WALL"])
    write_behind.write_now()
    assert see(project).profiled == {ProfileType.WALL}


def test_rows_that_were_deleted_are_added_anew(project: Project) -> None:
    known = see(project)
    Deployment.objects.all().delete()
    write_behind.write_now()
    assert see(project) != known
    assert Agent.objects.get().hostname == "host-1"


def test_too_many_new_deployments_are_refused_and_known_ones_go_on(project: Project) -> None:
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


def test_those_refused_cause_no_more_queries_until_the_quota_is_raised(project: Project) -> None:
    quota = Quota.objects.create(project=project, new_deployments_per_day=0)
    with pytest.raises(QuotaReached):
        see(project)
    with count_queries() as queries, pytest.raises(QuotaReached):
        see(project)
    assert queries == []
    quota.new_deployments_per_day = 1
    quota.save()
    assert see(project).deployment


def test_a_refused_handshake_is_counted(project: Project) -> None:
    Quota.objects.create(project=project, new_deployments_per_day=0)
    for _ in range(3):
        with pytest.raises(QuotaReached):
            see(project)
    write_behind.write_now()
    assert DayUsage.objects.get().rejected == 3


def test_a_header_with_what_a_database_refuses_does_no_harm(project: Project) -> None:
    known = see(project, agent=AgentSeen("c" * 32, "ho\x00st\n" + "x" * 300, "\ud800agent"))
    agent = Agent.objects.get(pk=known.agent)
    assert agent.hostname.startswith("hostxxx")
    assert agent.user_agent == "agent"


def test_an_agents_uuid_is_its_identity() -> None:
    said = "6F9619FF-8B86-D011-B42D-00C04FC964FF"
    assert identity_of(said, key=1, user_agent="x", peer="10.0.0.1") == said.lower()


def test_other_agents_are_told_by_key_program_and_address() -> None:
    def identity(**changed: object) -> str:
        fields: dict[str, object] = {"key": 1, "user_agent": "gcloud-go", "peer": "10.0.0.1"}
        return identity_of("not a uuid", **(fields | changed))  # type: ignore[arg-type]

    others = [identity(key=2), identity(user_agent="node"), identity(peer="10.0.0.2")]
    assert identity() == identity()
    assert len({identity(), *others}) == 4
    assert all(len(one) <= 64 for one in others)
