"""A capture that a user requests, from the parked agent's claim to its profile on the page."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from django.test import Client as Browser
from django.utils import timezone
from pytest_django import Settings

from common import database_pool
from frontend.components.capture_progress import CaptureProgress, CaptureState, capture_progress
from profiles.query import QueryContext
from projects.models import Agent, Project, User
from projects.profile_types import ProfileType
from scheduler import capture_now
from scheduler.models import UserCapture
from tests.ingest.client import HANDSHAKE, Client, until_parked

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def long_holds(settings: Settings) -> None:
    settings.POLL_TIMEOUT_SECONDS = 50


def captured(agent: Client, project: Project, alice: User) -> dict[str, Any]:
    """Return the Profile that a second, parked agent gets for a user's request."""
    other = Client(
        agent.project,
        agent.key,
        {
            "X-Flamewatch-Agent": "6f1c1f7e-3f5b-4b8e-9a52-0d1f7a1f2b11",
            "X-Flamewatch-Host": "web-2",
        },
    )

    async def both() -> httpx.Response:
        await agent.send("POST", agent.profiles, json=HANDSHAKE)  # takes the first profile
        parked = asyncio.create_task(other.send("POST", other.profiles, json=HANDSHAKE))
        await until_parked()
        ask = partial(
            capture_now.request_capture, project, "checkout", ProfileType.CPU, actor=alice
        )
        await database_pool.run(ask)
        return await parked

    response = asyncio.run(both())
    assert response.status_code == 200, response.text
    return dict(response.json())


def test_the_claim_is_stored_with_its_agent_and_name(
    agent: Client, project: Project, alice: User
) -> None:
    profile = captured(agent, project, alice)
    row = UserCapture.objects.select_related("agent").get()
    assert row.agent
    assert row.agent.hostname == "web-2"
    assert profile["name"].endswith(f"/{row.name_id}")
    assert row.claimed
    assert abs((timezone.now() - row.claimed).total_seconds()) < 60


def test_the_uploaded_profile_is_linked(
    agent: Client, project: Project, alice: User, client: Browser
) -> None:
    profile = captured(agent, project, alice)
    assert progress(project).state is CaptureState.UPLOADING
    uploaded = agent.upload(profile["name"])
    assert uploaded.status_code == 200, uploaded.text
    after = progress(project)
    assert after.state is CaptureState.UPLOADED
    client.force_login(alice)
    assert '<b class="strong">1 profile</b>' in client.get(after.profile_url).content.decode()


def progress(project: Project) -> CaptureProgress:
    """Return the progress of the project's only capture as it is shown in eleven seconds."""
    context = QueryContext(project.pk).for_project(project.pk, project.project_id, 20.0)
    later = timezone.now() + timedelta(seconds=11)
    found = capture_progress(context, project, UserCapture.objects.get().request, later)
    assert found
    return found


def test_planned_captures_are_not_stored(agent: Client) -> None:
    agent.captured_request()
    assert not UserCapture.objects.exists()
    assert Agent.objects.count() == 1
