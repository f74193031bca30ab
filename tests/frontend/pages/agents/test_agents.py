"""`/p/<project>/agents`, the agents of a project and their overhead."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from frontend.pages.agents import agent_list
from profiles.compaction.compactor import Compactor
from profiles.models import Block, Profile
from projects.models import (
    Agent,
    AgentReport,
    DayRejections,
    Delivery,
    Deployment,
    Project,
    Quota,
    User,
)
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from scheduler.capture_requests import CaptureTarget
from scheduler.long_poll import queue_of_process
from scheduler.long_poll.in_process import InProcessQueue
from scheduler.long_poll.interface import AgentActivity, QueueUnavailable
from tests.frontend.html import render_html
from tests.profiles import rows
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
AGENTS = "/p/acme-shop/agents"
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture(autouse=True)
def _a_room_of_its_own() -> Iterator[None]:
    queue_of_process.cache_clear()
    yield
    queue_of_process.cache_clear()


@pytest.fixture
def signed_in(client: Client, alice: User, project: Project) -> Client:
    client.force_login(alice)
    return client


def shown(signed_in: Client, **parameters: str) -> str:
    response = signed_in.get(AGENTS, parameters)
    assert response.status_code == 200
    return render_html(response)


def add_agent(project: Project, host: str, minutes_ago: float = 0.1, **more: Any) -> Agent:
    service, version = more.pop("service", "checkout"), more.pop("version", "2.31.0")
    report = more.pop("report", None)
    moment = timezone.now() - timedelta(minutes=minutes_ago)
    of = rows.deployment(project, service, version=version)
    defaults = {"identity": f"id-{host}"[:64], "hostname": host, "types": ["CPU", "WALL"]}
    agent = Agent.objects.create(
        deployment=of, first_seen=moment, last_seen=moment, **defaults | more
    )
    if report is not None:
        AgentReport.objects.create(agent=agent, **report)
    return agent


def hosts(html: str) -> list[str]:
    return re.findall(r'<span class="mono clip">([^<]*)</span></span>', html)


def cell_texts(html: str) -> list[str]:
    """Return the texts of the table cells, without markup."""
    found = re.findall(r"<td[^>]*>(.*?)</td>", html, re.S)
    return [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in found]


def test_page_without_agents_links_to_the_setup(signed_in: Client) -> None:
    html = shown(signed_in)
    assert "No agents in the last 24 hours" in html
    assert 'href="/p/acme-shop/setup"' in html


def test_row_has_kind_offered_types_and_overhead(signed_in: Client, project: Project) -> None:
    now = timezone.now()
    report = {
        "cpu_share": 0.0021,
        "dropped": 3,
        "samples": 900,
        "memory_bytes": 6_400_000,
        "last_profile": now,
        "last_type": "WALL",
    }
    add_agent(project, "web-1", user_agent="flamewatch-python/1.0.2", report=report)
    html = shown(signed_in)
    assert hosts(html) == ["web-1"]
    row = cell_texts(html)
    assert row[1] == "checkout 2.31.0 · eu-1"
    assert row[2:7] == ["Python 1.0.2", "CPU Wall", "0.2%", "6.1 MiB", "3 samples"]
    assert row[7].endswith("UTC Wall")
    assert "1 connected, 0 waiting now · 1 seen in the last 24 hours" in html
    assert "needs attention" not in html.replace("needs attention</option>", "")


def test_values_that_are_not_reported_have_a_text(signed_in: Client, project: Project) -> None:
    add_agent(project, "gw-1", user_agent="gcloud-go-profiler/0.4.2 grpc-go/1.6")
    row = cell_texts(shown(signed_in))
    assert row[2] == "Go, Cloud Profiler 0.4.2"
    assert row[4:7] == ["not reported", "not reported", "none yet"]


def test_agents_that_are_costly_lossy_or_rejected_need_attention(
    signed_in: Client, project: Project
) -> None:
    now = timezone.now()
    add_agent(project, "fine", report={"cpu_share": 0.009, "dropped": 5, "samples": 100})
    add_agent(project, "costly", report={"cpu_share": 0.0134, "dropped": 12480, "samples": 83520})
    add_agent(project, "lossy", report={"dropped": 6, "samples": 100})
    rejection = {"rejection": "413: too large", "rejected": 31, "rejected_at": now}
    add_agent(project, "rejected", report=rejection)
    old = {"rejection": "413: too large", "rejected_at": now - timedelta(days=2)}
    add_agent(project, "recovered", report=old)
    html = shown(signed_in)
    assert "3 agents need attention." in html
    assert "uses 1.3% of a core for profiling and dropped 12,480 of 96,000 samples." in html
    assert "Upload rejected: 413: too large" in html
    assert '<span class="tag bad">31 profiles</span>' in html
    assert hosts(shown(signed_in, state="look")) == ["costly", "lossy", "rejected"]


def test_connected_and_silent_agents_are_counted_and_filtered(
    signed_in: Client, project: Project
) -> None:
    add_agent(project, "here")
    add_agent(project, "silent", minutes_ago=180)
    add_agent(project, "gone", minutes_ago=60 * 25)
    html = shown(signed_in)
    assert hosts(html) == ["here", "silent"]
    assert "1 connected, 0 waiting now · 2 seen in the last 24 hours" in html
    assert hosts(shown(signed_in, state="connected")) == ["here"]
    assert hosts(shown(signed_in, state="silent")) == ["silent"]


def test_row_has_the_present_activity(
    signed_in: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    doing = {
        "a": AgentActivity(True, 0.0),
        "b": AgentActivity(False, 5.2),
        "c": AgentActivity(False, 0.0),
    }
    for host in doing:
        add_agent(project, host)

    def of_all(self: object, agents: list[tuple[int, str]]) -> list[AgentActivity]:
        return [doing[identity.removeprefix("id-")] for _, identity in agents]

    monkeypatch.setattr(InProcessQueue, "activities", of_all)
    firsts = [cell for cell in cell_texts(shown(signed_in)) if cell[:2] in ("a ", "b ", "c ")]
    assert firsts == ["a Waiting", "b Capturing, 6 s left", "c Backing off"]


def test_page_without_the_long_poll_queue_shows_the_rest(
    signed_in: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: object) -> None:
        raise QueueUnavailable("Redis is gone")

    monkeypatch.setattr(InProcessQueue, "activities", unavailable)
    monkeypatch.setattr(InProcessQueue, "targets", unavailable)
    add_agent(project, "web-1")
    html = shown(signed_in)
    assert hosts(html) == ["web-1"]
    assert "1 connected ·" in html
    assert "No agents connected" in shown(signed_in, show="deployments")


def test_a_deployment_whose_agents_push_takes_no_capture_requests(
    signed_in: Client, project: Project
) -> None:
    long_ago = timezone.now() - timedelta(minutes=5)
    add_agent(
        project,
        "collector-1",
        service="gateway",
        delivery=Delivery.PUSH,
        reporting_since=long_ago,
    )
    html = shown(signed_in, show="deployments")
    assert "Sends on its own" in html
    assert "No agents connected" not in html
    add_agent(project, "gw-1", service="gateway")  # waits for requests, but does not poll now
    assert "No agents connected" in shown(signed_in, show="deployments")


def test_search_matches_host_service_and_version(signed_in: Client, project: Project) -> None:
    add_agent(project, "web-1")
    add_agent(project, "gw-1", service="gateway", version="v3")
    assert hosts(shown(signed_in, find="GW")) == ["gw-1"]
    assert hosts(shown(signed_in, find="v3")) == ["gw-1"]
    assert hosts(shown(signed_in, service="checkout")) == ["web-1"]
    assert "No matching agents" in shown(signed_in, find="nothing")


def test_thousands_of_agents_are_paged(signed_in: Client, project: Project) -> None:
    for n in range(agent_list.PAGE_SIZE * 2 + 1):
        add_agent(project, f"web-{n:03}", report={"rejection": "413: " + "x" * 200, "rejected": 1})
    first, last = shown(signed_in), shown(signed_in, page="99")
    assert len(hosts(first)) == agent_list.PAGE_SIZE
    assert hosts(last) == ["web-040"]
    assert "Page 3 of 3" in last
    assert 'href="?page=2"' in first


@pytest.mark.parametrize("show", ["agents", "deployments"])
def test_a_fragment_is_small_and_takes_few_queries(
    show: str, signed_in: Client, project: Project
) -> None:
    types = [of.value for of in ProfileType]
    for n in range(30):
        version = f"{n}." + "0" * 80
        add_agent(project, f"w{n}-" + "y" * 50, types=types, version=version, report={"dropped": 1})
    headers = {"HX-Request": "true"}
    with count_queries() as queries:
        response = signed_in.get(AGENTS, {"show": show}, headers=headers)
    assert len(response.content) <= 30_000
    assert len(queries) <= 11  # three of them read the quotas and their usage every 15 s
    assert b"<html" not in response.content
    suffix = "" if show == "agents" else "?show=deployments"
    assert response.headers["HX-Push-Url"].rstrip("?") == AGENTS + suffix


def test_markup_in_names_is_escaped(signed_in: Client, project: Project) -> None:
    add_agent(project, HOSTILE, service=HOSTILE, version=HOSTILE, user_agent=HOSTILE)
    for show in ("agents", "deployments"):
        html = shown(signed_in, show=show, find="script")
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert" in html


def test_unreadable_parameters_are_named(signed_in: Client) -> None:
    html = shown(signed_in, state="asleep", show="pods", page="-3")
    assert "state=asleep could not be read; showing all instead." in html
    assert "show=pods could not be read; showing agents instead." in html
    assert "page=-3 could not be read; showing 1 instead." in html


def test_another_tenants_agents_are_not_counted(
    signed_in: Client, project: Project, charlie: User
) -> None:
    other = create_project("Other", charlie)
    add_agent(other, "their-host", report={"rejected": 1, "rejected_at": timezone.now()})
    for show in ("agents", "deployments"):
        html = shown(signed_in, show=show)
        assert "their-host" not in html
        assert "checkout" not in html
    assert "needs attention." not in shown(signed_in)


def test_deployments_have_agents_and_profiles_by_type(signed_in: Client, project: Project) -> None:
    of = rows.deployment(project, "checkout", version="2.31.0")
    for _ in range(2):
        stored = rows.stored(of, {"main": [1]})
        Profile.objects.filter(name_id=stored.name_id).update(time=timezone.now())
    Deployment.objects.filter(pk=of.pk).update(language="python")
    add_agent(project, "web-1")
    html = shown(signed_in, show="deployments")
    assert cell_texts(html)[:6] == ["checkout", "2.31.0", "eu-1", "python", "1", "CPU 2"]
    assert "1 deployment" in html
    assert 'service=checkout&amp;version=2.31.0&amp;zone=eu-1&amp;span=1d"' in html


def test_deployments_count_profiles_in_head_and_blocks(signed_in: Client, project: Project) -> None:
    """Check counts over blocks inside the day, a block that its start cuts, and head rows."""
    of = rows.deployment(project, "checkout", version="2.31.0")
    now = timezone.now()
    start = now - timedelta(hours=24)
    for minutes in (-7, -5, 5, 6, 7, 600, 23 * 60 + 59):
        stored = rows.stored(of, {"main": [1]})
        moment = start + timedelta(minutes=minutes)
        Profile.objects.filter(name_id=stored.name_id).update(time=moment, stored_at=moment)
    rows.stored(rows.deployment(project, "checkout", version="3"))
    Compactor(project.pk, now).build_level1()
    assert Block.objects.exists()
    assert Profile.objects.exists()
    html = shown(signed_in, show="deployments", find="2.31.0")
    assert cell_texts(html)[5] == "CPU 5"


def test_members_capture_what_is_offered_and_viewers_do_not(
    signed_in: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = rows.deployment(project, "checkout", version="2.31.0")
    types = frozenset({ProfileType.CPU, ProfileType.PEAK_HEAP})
    offers = [CaptureTarget(project.pk, of.pk, types, 1)]
    monkeypatch.setattr(InProcessQueue, "targets", lambda self: offers)
    html = shown(signed_in, show="deployments")
    assert re.findall(r'name="type" value="(\w+)"', html) == ["CPU"]
    project.members.update(role="viewer")
    assert "Capture now" not in shown(signed_in, show="deployments")


def add_import(project: Project, host: str, delivery: Delivery, **more: Any) -> Agent:
    report = {"last_profile": timezone.now(), "last_type": "CPU"}
    curl = "flamewatch-file-import curl/8.5.0" if delivery is Delivery.FILE else "curl/8.5.0"
    return add_agent(project, host, delivery=delivery, user_agent=curl, report=report, **more)


def test_senders_of_files_are_no_agents(signed_in: Client, project: Project) -> None:
    add_import(project, "laptop", Delivery.FILE, service="batch")
    once = timezone.now() - timedelta(seconds=6)
    add_import(project, "ci-runner", Delivery.PUSH, service="batch", reporting_since=once)
    html = shown(signed_in)
    assert "No agents in the last 24 hours" in html
    assert "Show imports" in html
    assert "connected" not in html.partition('id="summary"')[2].partition("</p>")[0]
    add_agent(project, "web-1")
    html = shown(signed_in)
    assert hosts(html) == ["web-1"]
    assert "1 connected, 0 waiting now · 1 seen in the last 24 hours" in html


def test_imports_are_listed_with_their_last_file(signed_in: Client, project: Project) -> None:
    add_agent(project, "web-1")
    add_import(project, "laptop", Delivery.FILE, service="batch", version="7")
    html = shown(signed_in, show="imports")
    row = cell_texts(html)
    assert len(row) == 4
    assert row[:3] == ["laptop", "batch 7 · eu-1", "curl/8.5.0"]
    assert row[3].endswith("UTC CPU")
    assert "1 sender in the last 24 hours" in html
    assert "No matching imports" in shown(signed_in, show="imports", find="nobody")


def test_client_that_sends_regularly_is_an_agent_that_reports(
    signed_in: Client, project: Project
) -> None:
    minute = timezone.now() - timedelta(seconds=70)
    add_import(project, "pyro", Delivery.PUSH, reporting_since=minute)
    html = shown(signed_in)
    assert hosts(html) == ["pyro"]
    assert "Reporting" in cell_texts(html)[0]
    assert "No imports in the last 24 hours" in shown(signed_in, show="imports")


def test_imports_make_no_deployment_connected(signed_in: Client, project: Project) -> None:
    add_import(project, "laptop", Delivery.FILE)
    assert cell_texts(shown(signed_in, show="deployments"))[4] == "0"
    add_agent(project, "web-1")
    assert cell_texts(shown(signed_in, show="deployments"))[4] == "1"


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"profiles_per_day": 0}, "limit of 0 profiles per day is reached; it resets at midnight"),
        ({"stored_bytes": 0}, "limit of 0 bytes of stored profiles is reached"),
    ],
)
def test_quota_that_keeps_agents_away_is_named(
    limits: dict[str, int], text: str, signed_in: Client, project: Project
) -> None:
    add_agent(project, "web-1")
    Quota.objects.create(project=project, **limits)
    html = shown(signed_in)
    assert text in html
    assert "they continue as soon as an operator raises the limit" in html
    assert "Over quota" in cell_texts(html)[0]


def test_quota_of_new_deployments_is_named_once_it_rejected_some(
    signed_in: Client, project: Project
) -> None:
    Quota.objects.create(project=project, new_deployments_per_day=0)
    add_agent(project, "web-1")
    text = "limit of 0 new deployments per day is reached"
    assert text not in shown(signed_in)
    today = datetime.now(UTC).date()
    DayRejections.objects.create(project=project, day=today, reason="new_deployments", count=1)
    html = shown(signed_in)
    assert text in html
    assert "Backing off" in cell_texts(html)[0], "existing deployments continue"
