"""Keys that may send the profiles of some services only, by every protocol."""

import pytest

from common import write_behind
from profiles.models import Profile
from projects.credentials import keys
from projects.models import Agent, DayRejections, Deployment, Project
from tests.ingest.client import DEPLOYMENT, HANDSHAKE, Client, assert_error_response

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def shop_agent(project: Project) -> Client:
    """Client with a key that may send shop and cart; the client sends checkout by default."""
    return Client(project.project_id, keys.create(project, "shop", services=["shop", "cart"])[1])


def test_handshake_of_another_service_is_403_and_registers_nothing(shop_agent: Client) -> None:
    response = shop_agent.handshake()
    assert_error_response(response, 403, "PERMISSION_DENIED", "'checkout'", "cart, shop")
    assert shop_agent.key not in response.text
    assert not Deployment.objects.exists()
    assert not Agent.objects.exists()


def test_handshake_of_an_allowed_service_is_answered(shop_agent: Client) -> None:
    response = shop_agent.handshake(HANDSHAKE | {"deployment": DEPLOYMENT | {"target": "cart"}})
    assert response.status_code == 200, response.text


def test_other_uploads_of_another_service_are_403(shop_agent: Client) -> None:
    assert_error_response(shop_agent.offline(), 403, "PERMISSION_DENIED", "'checkout'")
    file = "/api/v1/projects/-/profiles:import?service=checkout&duration=30s"
    imported = shop_agent.request("POST", file, content=b"main;work 3\n")
    assert_error_response(imported, 403, "PERMISSION_DENIED", "'checkout'")
    pushed = shop_agent.request(
        "POST", "/ingest?name=checkout&from=1700000000&until=1700000010", content=b"main;work 3\n"
    )
    assert_error_response(pushed, 403, "PERMISSION_DENIED", "'checkout'")
    assert not Profile.objects.exists()
    allowed = shop_agent.request("POST", file.replace("checkout", "shop"), content=b"main;work 3\n")
    assert allowed.status_code == 200, allowed.text
    assert Deployment.objects.get().service == "shop"


async def test_rejections_are_counted(shop_agent: Client, project: Project) -> None:
    await shop_agent.send("POST", shop_agent.profiles, json=HANDSHAKE)
    await write_behind.flush()
    row = await DayRejections.objects.aget(project=project)
    assert (row.reason, row.count) == ("service_not_allowed", 1)
