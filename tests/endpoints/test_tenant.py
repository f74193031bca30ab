"""Tenant of a request, which decides on the order of requests."""

import pytest

from endpoints import credentials
from projects.models import Project
from tests.ingest.client import Client

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]
ADDRESS = ("address", "192.0.2.1")


async def tenant(headers: dict[str, str], query: str = "") -> tuple[str, int | str]:
    scope = {"query_string": query.encode(), "client": ("192.0.2.1", 5)}
    return await credentials.tenant(headers, scope)


async def test_a_request_with_a_key_is_of_its_project(agent: Client, project: Project) -> None:
    key = agent.key
    assert await tenant({"authorization": f"Bearer {key}"}) == ("project", project.pk)
    assert await tenant({"x-goog-api-key": key}) == ("project", project.pk)
    assert await tenant({}, f"service=shop&key={key}&type=CPU") == ("project", project.pk)


async def test_a_request_without_a_valid_key_is_of_its_address(agent: Client) -> None:
    assert await tenant({}) == ADDRESS
    assert await tenant({"authorization": "Bearer fw_x"}) == ADDRESS
    assert await tenant({}, f"monkey={agent.key}&key=%00") == ADDRESS
