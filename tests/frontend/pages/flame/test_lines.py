"""`/p/<project>/flame/lines`, the lines of one function."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from projects.models import Project, User
from tests.frontend import shop


@pytest.fixture
def url(project: Project) -> str:
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 2))
    where = "name=discounts.apply&file=/app/shop/pricing/discounts.py"
    return f"{reverse('flame_lines', args=[project.project_id])}?service=checkout&type=CPU&{where}"


def test_each_line_has_its_values_and_no_link_without_a_pattern(
    client: Client, alice: User, url: str
) -> None:
    client.force_login(alice)
    text = client.get(url).content.decode()
    assert "421 ms" in text
    assert "24.6%" in text
    assert "<a " not in text


def test_lines_link_to_the_repository_at_the_version(
    client: Client, alice: User, project: Project, url: str
) -> None:
    project.source_url = "https://git.example.org/{version}/{file}#L{line}"
    project.source_root = "/app/"
    project.save()
    client.force_login(alice)
    link = "https://git.example.org/2.31.0/shop/pricing/discounts.py#L1"
    assert f'href="{link}"' in client.get(url).content.decode()


def test_a_function_that_is_not_there_has_no_lines(client: Client, alice: User, url: str) -> None:
    client.force_login(alice)
    text = client.get(f"{url}&f=hide:discounts").content.decode()
    assert "No lines of this function" in text
    assert client.get(url.partition("?")[0]).status_code == 400


def test_a_link_template_is_checked_before_it_is_stored(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    settings = reverse("settings", args=[project.project_id])
    said = {"name": project.name, "rate": "1.0", "source_url": "javascript:alert({file})"}
    rejected = client.post(settings, said)
    assert rejected.status_code == 400
    assert "must start with https://" in rejected.content.decode()
    accepted = client.post(settings, said | {"source_url": "https://git.example.org/{file}"})
    assert accepted.status_code == 302
    project.refresh_from_db()
    assert project.source_url == "https://git.example.org/{file}"
