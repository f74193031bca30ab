"""Batched updates of agents' rows."""

from datetime import timedelta

import pytest
from django.utils import timezone

from common import write_behind
from projects.models import Agent, AgentReport, Deployment, Project
from projects.profile_types import ProfileType
from projects.registration import agent_reports
from projects.registration.agent_reports import SelfReport
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
CPU, WALL = ProfileType.CPU, ProfileType.WALL


@pytest.fixture
def agents(project: Project) -> list[Agent]:
    then = timezone.now() - timedelta(seconds=100)
    of = Deployment.objects.create(
        project=project, service="checkout", first_seen=then, last_seen=then
    )
    return [
        Agent.objects.create(deployment=of, identity=name, first_seen=then, last_seen=then)
        for name in "abc"
    ]


def test_reports_are_written_with_the_batch_only(agents: list[Agent]) -> None:
    with count_queries() as queries:
        agent_reports.note_profile(agents[0].pk, CPU, SelfReport())
    assert queries == []
    write_behind.write_now()
    assert AgentReport.objects.count() == 1


def test_several_profiles_of_one_batch_are_added_up(agents: list[Agent]) -> None:
    pk = agents[0].pk
    agent_reports.note_profile(pk, CPU, SelfReport("native", 900, 100, 10**9, 6_400_000))
    agent_reports.note_profile(pk, WALL, SelfReport("native", 500, 0, 10**9, 6_500_000))
    write_behind.write_now()
    row = AgentReport.objects.get(pk=pk)
    assert (row.last_type, row.sampler, row.memory_bytes) == ("WALL", "native", 6_500_000)
    assert (row.samples, row.dropped) == (1400, 100)
    assert row.cpu_share == pytest.approx(0.02, rel=0.2), "2 s in the 100 s since it was first seen"


def test_next_batch_continues_the_sums_of_the_last(agents: list[Agent]) -> None:
    pk = agents[0].pk
    agent_reports.note_profile(pk, CPU, SelfReport(samples=1, dropped=1, cpu_ns=10**9))
    write_behind.write_now()
    AgentReport.objects.update(last_profile=timezone.now() - timedelta(seconds=300))
    agent_reports.note_profile(pk, CPU, SelfReport(samples=1, dropped=1, cpu_ns=10**9))
    write_behind.write_now()
    row = AgentReport.objects.get(pk=pk)
    assert row.dropped == 2
    assert row.cpu_share == pytest.approx(2 / 400, rel=0.2)


def test_agent_without_a_self_report_has_null_costs(agents: list[Agent]) -> None:
    agent_reports.note_profile(agents[0].pk, CPU, SelfReport())
    write_behind.write_now()
    row = AgentReport.objects.get()
    assert (row.cpu_share, row.dropped, row.memory_bytes) == (None, None, None)
    assert row.last_profile is not None


def test_a_rejection_stays_after_the_next_profile(agents: list[Agent]) -> None:
    agent_reports.note_rejection(agents[0].pk, "413: too\0 large" + "x" * 300)
    agent_reports.note_profile(agents[0].pk, CPU, SelfReport())
    write_behind.write_now()
    row = AgentReport.objects.get()
    assert row.rejection.startswith("413: too large")
    assert (len(row.rejection), row.rejected) == (254, 1)
    assert row.rejected_at is not None


def test_reports_of_many_agents_take_a_few_statements(agents: list[Agent]) -> None:
    for agent in agents:
        agent_reports.note_profile(agent.pk, CPU, SelfReport())
    with count_queries() as queries:
        write_behind.write_now()
    assert len(queries) <= 5
    assert AgentReport.objects.count() == 3


def test_report_of_a_deleted_agent_is_skipped(agents: list[Agent]) -> None:
    agent_reports.note_profile(agents[0].pk, CPU, SelfReport())
    agents[0].delete()
    write_behind.write_now()
    assert AgentReport.objects.count() == 0
