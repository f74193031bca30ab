"""`/p/<project>/findings`: the list with its empty states, and one finding with its actions."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from findings.models import Direction, Finding, FindingMute, FindingState
from projects.models import Agent, Delivery, Member, Project, Role, User
from tests.findings.factory import MS, add_detection, add_finding
from tests.frontend.html import render_html
from tests.profiles import rows
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
FINDINGS = "/p/acme-shop/findings"


@pytest.fixture(autouse=True)
def signed_in(client: Client, alice: User) -> None:
    client.force_login(alice)


def list_names(client: Client, query: str = "") -> list[str]:
    page = render_html(client.get(FINDINGS + query))
    return re.findall(r'<span class="leaf">([^<]+)</span>', page)


def test_open_regressions_are_listed_the_most_urgent_first(
    client: Client, project: Project, other_project: Project
) -> None:
    add_detection(project)
    add_finding(project, function="low", rank=0.2)
    add_finding(project, function="high", rank=0.9)
    add_finding(project, function="over", state=FindingState.RESOLVED)
    add_finding(project, function="better", direction=Direction.IMPROVEMENT)
    add_finding(other_project, function="foreign")
    assert list_names(client) == ["high", "low"]
    assert list_names(client, "?direction=improvement") == ["better"]
    assert list_names(client, "?state=resolved") == ["over"]
    assert list_names(client, "?find=LO") == ["low"]
    assert list_names(client, "?service=till") == []


def test_row_says_the_change_with_units_version_and_share(client: Client, project: Project) -> None:
    add_finding(project)
    page = render_html(client.get(FINDINGS))
    assert "+23%" in page
    assert "100 ms → 123 ms" in page
    assert "+1.1%" in page  # of the service: 23 of 2,000 ms
    assert "2026-11-19" in page


def test_cores_are_those_of_the_agents_that_run_now(client: Client, project: Project) -> None:
    finding = add_finding(project, change=23 * MS)
    shop = rows.deployment(project)
    assert "not known" in render_html(client.get(FINDINGS))
    for number, minutes in enumerate((1, 9, 11)):
        seen = timezone.now() - timedelta(minutes=minutes)
        Agent.objects.create(
            deployment=shop, identity=f"agent-{number}", first_seen=seen, last_seen=seen
        )
    now = timezone.now()
    Agent.objects.create(
        deployment=shop, identity="file", first_seen=now, last_seen=now, delivery=Delivery.FILE
    )
    page = render_html(client.get(f"{FINDINGS}/{finding.finding_id}"))
    assert "+4.6 millicores" in page  # 2 agents × 23 ms ÷ 10 s
    assert "on 2 agents" in page


def test_navigation_counts_new_regressions(
    client: Client,
    project: Project,
    other_project: Project,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    assert 'class="count"' not in render_html(client.get("/p/acme-shop/settings"))
    with django_capture_on_commit_callbacks(execute=True):
        for function in ("a", "b"):
            add_finding(project, function=function)
        add_finding(project, function="c", state=FindingState.ACKNOWLEDGED)
        add_finding(project, function="d", direction=Direction.IMPROVEMENT)
        add_finding(other_project, function="e")
    page = render_html(client.get("/p/acme-shop/settings"))
    assert '<span class="count" aria-hidden="true">2</span>' in page
    assert '<span class="sr">2 new</span>' in page


@pytest.mark.parametrize(
    ("query", "is_analyzed", "said"),
    [
        ("", False, "Learning what is normal"),
        ("", True, "No regressions found"),
        ("?direction=improvement", True, "No improvements found"),
        ("?find=nothing", True, "No matching findings"),
    ],
)
def test_empty_list_says_why(
    client: Client, project: Project, query: str, is_analyzed: bool, said: str
) -> None:
    if is_analyzed:
        add_detection(project)
    assert said in render_html(client.get(FINDINGS + query))


def test_limits_say_which_changes_are_seen(client: Client, project: Project) -> None:
    add_detection(project, service="a", detectable=0.034)
    add_detection(project, service="b", detectable=0.36)
    add_detection(project, service="c", status="little_history", detectable=None)
    page = render_html(client.get(FINDINGS))
    assert "Changes of 3.4% or more are found within two days" in page
    assert "Too few samples to see changes below 36%" in page
    assert "Too little history" in page


def test_list_costs_the_same_statements_for_any_number_of_findings(
    client: Client, project: Project
) -> None:
    add_finding(project)
    client.get(FINDINGS)
    with count_queries() as few:
        client.get(FINDINGS)
    for number in range(20):
        add_finding(project, function=f"f{number}", service=f"s{number}")
    with count_queries() as many:
        client.get(FINDINGS)
    assert len(many) == len(few)


def test_finding_shows_its_evidence(client: Client, project: Project) -> None:
    finding = add_finding(project)
    page = render_html(client.get(f"{FINDINGS}/{finding.finding_id}"))
    assert "takes 23% more CPU time since 2" in page
    assert "95%: +19 ms … +27 ms, from 14,400 and 2,160 profiles" in page
    assert "Opposite changes nearby are 8% of this one" in page
    assert "shop.checkout" in page
    links = re.findall(r'href="([^"]+from=[^"]+)"', page)
    assert len(links) == 3
    for link in links:
        assert client.get(link.replace("&amp;", "&")).status_code == 200


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"before": 0.0, "after": 23 * MS}, "is new and takes 23 ms of CPU time per profile"),
        (
            {"direction": "improvement", "change": -20 * MS, "after": 80 * MS},
            "takes 20% less CPU time",
        ),
        (
            {"direction": "improvement", "change": -100 * MS, "after": 0.0},
            "takes no CPU time any more",
        ),
    ],
)
def test_heading_is_the_finding_as_a_sentence(
    client: Client, project: Project, changes: dict[str, object], said: str
) -> None:
    finding = add_finding(project, **changes)
    assert said in render_html(client.get(f"{FINDINGS}/{finding.finding_id}"))


def act(client: Client, finding: Finding, action: str, **data: str) -> str:
    response = client.post(f"{FINDINGS}/{finding.finding_id}/{action}", data, follow=True)
    finding.refresh_from_db()
    return render_html(response)


def test_actions_change_the_state(client: Client, project: Project, alice: User) -> None:
    finding = add_finding(project)
    assert "Finding acknowledged" in act(client, finding, "acknowledge")
    assert (finding.state, finding.assignee) == (FindingState.ACKNOWLEDGED, alice)
    act(client, finding, "assign", person="")
    assert finding.assignee is None
    act(client, finding, "resolve")
    assert finding.state == FindingState.RESOLVED
    act(client, finding, "reopen")
    act(client, finding, "mute", scope="version")
    assert finding.state == FindingState.MUTED
    mute = FindingMute.objects.get()
    assert (mute.function, mute.version) == (finding.function, "2")
    assert "1 said yes, 0 said no" in act(client, finding, "vote", real="1")


def test_action_that_the_state_forbids_says_why(client: Client, project: Project) -> None:
    finding = add_finding(project, state=FindingState.RESOLVED)
    assert "already resolved" in act(client, finding, "acknowledge")
    assert finding.state == FindingState.RESOLVED


def test_viewer_sees_no_actions(client: Client, project: Project, alice: User) -> None:
    finding = add_finding(project)
    Member.objects.filter(user=alice).update(role=Role.VIEWER)
    page = render_html(client.get(f"{FINDINGS}/{finding.finding_id}"))
    assert "Acknowledge" not in page
    assert client.post(f"{FINDINGS}/{finding.finding_id}/resolve").status_code == 403


def test_finding_of_another_project_is_404(
    client: Client, project: Project, other_project: Project
) -> None:
    finding = add_finding(other_project)
    assert client.get(f"{FINDINGS}/{finding.finding_id}").status_code == 404
    assert client.post(f"{FINDINGS}/{finding.finding_id}/resolve").status_code == 404
    assert client.post(f"{FINDINGS}/{add_finding(project).finding_id}/explode").status_code == 404


def test_commits_between_the_versions_are_linked(client: Client, project: Project) -> None:
    finding = add_finding(project, version="1.5", version_before="1.4")
    address = f"{FINDINGS}/{finding.finding_id}"
    assert "Commits between them" not in render_html(client.get(address))
    source_url = "https://github.com/acme/shop/blob/v{version}/{file}"
    Project.objects.filter(pk=project.pk).update(source_url=source_url)
    page = render_html(client.get(address))
    assert 'href="https://github.com/acme/shop/compare/v1.4...v1.5"' in page
