"""`/p/<project>/settings/usage`: quotas, usage by day, requests for more, and the banner."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from common import cache
from projects.models import (
    DayRejections,
    DayUsage,
    Project,
    Quota,
    QuotaRequest,
    User,
)
from projects.usage.day_usage import utc_day
from tests.frontend.html import render_html
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
USAGE = "/p/acme-shop/settings/usage"
SETTINGS = "/p/acme-shop/settings"
REQUEST = {"limit": "stored_bytes", "amount": "40 GB", "reason": "Retention of 60 days"}


def test_quotas_are_shown_with_what_is_used(client: Client, alice: User, project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_day=50_000)
    client.force_login(alice)
    page = render_html(client.get(USAGE))
    assert "of 50,000" in page
    assert "of 20 GB" in page
    assert "16 MiB" in page
    assert "30 days" in page


def test_rejected_requests_are_listed_by_reason(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    assert 'id="rejections"' not in render_html(client.get(USAGE))
    day = utc_day()
    for ago, count in ((0, 1_234), (6, 10), (7, 100)):
        DayRejections.objects.create(
            project=project,
            day=day - timedelta(days=ago),
            reason="profiles_per_minute",
            count=count,
        )
    page = render_html(client.get(USAGE))
    table = page.partition('id="rejections"')[2].partition("</table>")[0]
    assert "Profiles per minute" in table
    assert re.findall(r'class="num">\s*([\d,]+)', table) == ["1,234", "1,244", "1,344"]


def test_days_are_drawn_and_listed_with_units(
    client: Client, alice: User, project: Project, other_project: Project
) -> None:
    today = utc_day()
    DayUsage.objects.create(
        project=project, day=today, profiles=12_345, stored_bytes=2_543_210, new_deployments=7
    )
    for ago in (29, 30):
        day = today - timedelta(days=ago)
        DayUsage.objects.create(project=project, day=day, profiles=100_000 + ago)
    DayUsage.objects.create(project=other_project, day=today, profiles=77_777)
    client.force_login(alice)
    page = render_html(client.get(USAGE))
    assert "Profiles per day: today 12,345, at most 100,029 a day" in page
    assert page.count('<rect class="full"') >= 1
    assert "2.5 MB" in page
    assert "100,030" not in page
    assert "77,777" not in page


def test_rejections_are_explained(client: Client, alice: User, project: Project) -> None:
    for reason in ("label_values", "of another version"):
        DayRejections.objects.create(project=project, day=utc_day(), reason=reason, count=1)
    client.force_login(alice)
    page = render_html(client.get(USAGE))
    assert "A label has a value for each request or user. Use fewer values." in page
    assert "of another version" in page


def test_request_is_sent_and_shown(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    page = render_html(client.post(USAGE, REQUEST, follow=True))
    assert "Request sent to the operator" in page
    assert "Stored, 20 GB → 40 GB" in page
    assert "Waiting for the operator" in page
    row = QuotaRequest.objects.get()
    assert (row.project, row.amount, row.created_by) == (project, 40 * 10**9, alice)


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"amount": "much"}, "Enter a number, or a size like 40 GB"),
        ({"amount": "1 GB"}, "The new limit must be more than 20 GB"),
        ({"amount": "9" * 30}, "Enter a number"),
        ({"limit": "nothing"}, "not one of the available choices"),
        ({"reason": ""}, "required"),
        ({"reason": "x" * 2_000}, "at most"),
    ],
)
def test_bad_request_is_400_and_names_the_field(
    client: Client, alice: User, project: Project, changed: dict[str, str], word: str
) -> None:
    client.force_login(alice)
    response = client.post(USAGE, REQUEST | changed)
    assert response.status_code == 400
    assert word in render_html(response)
    assert not QuotaRequest.objects.exists()


def test_member_sees_usage_but_requests_nothing(
    client: Client, bob: User, project: Project
) -> None:
    client.force_login(bob)
    assert "Send request" not in render_html(client.get(USAGE))
    assert client.post(USAGE, REQUEST).status_code == 403
    assert not QuotaRequest.objects.exists()


@pytest.mark.parametrize(
    ("profiles", "word"),
    [
        (79, None),
        (80, "Profiles per day: 80 of 100. At the limit, more is rejected."),
        (100, "Profiles per day: 100 of 100. What exceeds the limit is rejected"),
    ],
)
def test_banner_warns_owners_from_eighty_percent_on(
    client: Client, alice: User, bob: User, project: Project, profiles: int, word: str | None
) -> None:
    Quota.objects.create(project=project, profiles_per_day=100)
    DayUsage.objects.create(project=project, day=utc_day(), profiles=profiles)
    client.force_login(alice)
    page = " ".join(render_html(client.get(SETTINGS)).split())
    assert word in page if word else "Show usage" not in page
    assert ("Show usage" in page) == (word is not None)
    assert "Show usage" not in render_html(client.get(USAGE))
    client.force_login(bob)
    assert "Show usage" not in render_html(client.get(SETTINGS))


def test_banner_costs_one_statement_a_minute(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    client.get(SETTINGS)
    with count_queries() as cached:
        client.get(SETTINGS)
    assert not any("usage" in str(query).lower() for query in cached)
    cache.clear_all()
    with count_queries() as fresh:
        client.get(SETTINGS)
    assert sum("projects_dayusage" in str(query) for query in fresh) == 1
