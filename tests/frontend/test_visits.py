"""Read-only visits of operators: every page of the console, as a viewer sees it."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from projects.models import Project, User
from tests.frontend.every_page import FRAGMENTS, PAGES, P, furnish

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def test_visiting_operator_sees_what_a_viewer_sees(
    client: Client, alice: User, bob: User, project: Project
) -> None:
    furnish(project, alice, timezone.now())
    operator = User.objects.create_superuser("operator@example.org", "a sentence works well")
    client.force_login(operator)
    client.post(
        reverse("admin:projects_project_visit", args=[project.pk]), {"reason": "ticket 4812"}
    )
    viewer = Client()
    member = project.members.get(user=bob)
    member.role = "viewer"
    member.save()
    viewer.force_login(bob)
    pages = [shown for shown in (*PAGES, *FRAGMENTS) if shown.address.startswith(P)]
    assert len(pages) > 30
    statuses = {
        str(shown): tuple(
            visitor.get(shown.address, headers=shown.headers).status_code
            for visitor in (client, viewer)
        )
        for shown in pages
    }
    assert {name: pair for name, pair in statuses.items() if pair[0] != pair[1]} == {}
    assert {status for pair in statuses.values() for status in pair} <= {200, 302, 403}
