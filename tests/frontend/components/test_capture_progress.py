"""States of a requested capture, from its claim to the profile or to the reason of its failure."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from frontend.components.capture_progress import CaptureProgress, CaptureState, capture_progress
from profiles.query import QueryContext
from projects.models import Agent, AgentReport, Deployment, Project, User
from projects.profile_types import ProfileType
from scheduler import user_captures
from scheduler.capture_requests import CaptureRequest, CaptureTarget
from scheduler.long_poll.in_process import InProcessQueue
from scheduler.long_poll.interface import AgentActivity
from tests.frontend import shop

pytestmark = pytest.mark.django_db
NAME = "name-of-the-profile"


@pytest.fixture
def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def of(project: Project) -> Deployment:
    return shop.deployment(project)


@pytest.fixture
def worker(of: Deployment, now: datetime) -> Agent:
    return Agent.objects.create(
        deployment=of, identity="a", hostname="web-1", types=["CPU"], first_seen=now, last_seen=now
    )


def requested(of: Deployment, kind: ProfileType = ProfileType.CPU) -> str:
    request = CaptureRequest("person-1", of.project_id, of.pk, kind, 0.0)
    return user_captures.note_request(of.project, of.service, request).request


def progress_at(project: Project, moment: datetime) -> CaptureProgress:
    context = QueryContext(project.pk).for_project(project.pk, project.project_id, 20.0)
    found = capture_progress(context, project, "person-1", moment)
    assert found
    return found


def parks(monkeypatch: pytest.MonkeyPatch, of: Deployment, agents: int) -> None:
    target = CaptureTarget(of.project_id, of.pk, frozenset({ProfileType.CPU}), agents)
    activity = AgentActivity(waiting=agents > 0, capturing_for=0.0)
    monkeypatch.setattr(InProcessQueue, "targets", lambda _: [target])
    monkeypatch.setattr(InProcessQueue, "activities", lambda _, agents: [activity for _ in agents])


def test_a_claimed_request_counts_the_seconds_of_its_capture(
    of: Deployment, worker: Agent, now: datetime
) -> None:
    user_captures.note_claim(requested(of), worker.pk, NAME, now)
    found = progress_at(of.project, now + timedelta(seconds=3))
    assert (found.state, found.done, found.seconds) == (CaptureState.CAPTURING, 3, 10)
    assert found.text == "7 s left, on web-1."


def test_claimed_request_of_an_instantaneous_type_is_uploading_at_once(
    of: Deployment, worker: Agent, now: datetime
) -> None:
    user_captures.note_claim(requested(of, ProfileType.HEAP), worker.pk, NAME, now)
    found = progress_at(of.project, now + timedelta(seconds=1))
    assert (found.state, found.text) == (
        CaptureState.UPLOADING,
        "Waiting for the profile of web-1.",
    )


def test_the_uploaded_profile_is_one_click_away(
    of: Deployment, worker: Agent, now: datetime, client: Client, bob: User
) -> None:
    name = store(of, now)
    user_captures.note_claim(requested(of), worker.pk, name, now)
    for _ in range(2):  # found, then stored as found
        found = progress_at(of.project, now + timedelta(seconds=11))
        assert (found.state, found.is_final) == (CaptureState.UPLOADED, True)
    client.force_login(bob)
    assert '<b class="strong">1 profile</b>' in client.get(found.profile_url).content.decode()


def store(of: Deployment, moment: datetime) -> str:
    """Store one profile of that time; return its name."""
    shop.send(of, [moment])
    return f"{of.pk}-CPU-{moment.isoformat()}"


def test_a_rejected_upload_says_why(of: Deployment, worker: Agent, now: datetime) -> None:
    user_captures.note_claim(requested(of), worker.pk, NAME, now)
    report = AgentReport.objects.create(
        agent=worker, rejection="429: quota", rejected_at=now - timedelta(minutes=1)
    )
    assert progress_at(of.project, now + timedelta(seconds=11)).state is CaptureState.UPLOADING
    report.rejected_at = now + timedelta(seconds=10)
    report.save()
    found = progress_at(of.project, now + timedelta(seconds=11))
    assert found.state is CaptureState.FAILED
    assert found.text == "The profile was rejected: 429: quota"


@pytest.mark.parametrize(
    ("agents", "text"),
    [
        (0, "web-1 disconnected before it uploaded the profile."),
        (1, "web-1 uploaded no profile within 30 s after the capture."),
    ],
)
def test_a_missing_upload_fails(
    agents: int,
    text: str,
    of: Deployment,
    worker: Agent,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parks(monkeypatch, of, agents)
    user_captures.note_claim(requested(of), worker.pk, NAME, now)
    assert progress_at(of.project, now + timedelta(seconds=39)).state is CaptureState.UPLOADING
    found = progress_at(of.project, now + timedelta(seconds=40))
    assert (found.state, found.text) == (CaptureState.FAILED, text)


@pytest.mark.parametrize(
    ("agents", "text"),
    [
        (0, "Timed out: no agent of checkout connected within 60 s."),
        (3, "Timed out: no agent of checkout was free within 60 s."),
    ],
)
def test_an_unclaimed_request_times_out(
    agents: int, text: str, of: Deployment, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    parks(monkeypatch, of, agents)
    requested(of)
    assert progress_at(of.project, now + timedelta(seconds=50)).state is CaptureState.QUEUED
    found = progress_at(of.project, now + timedelta(seconds=62))
    assert (found.state, found.text) == (CaptureState.FAILED, text)


def test_a_profile_found_late_is_still_uploaded(
    of: Deployment, worker: Agent, now: datetime
) -> None:
    name = store(of, now)
    user_captures.note_claim(requested(of), worker.pk, name, now)
    assert progress_at(of.project, now + timedelta(hours=2)).state is CaptureState.UPLOADED
