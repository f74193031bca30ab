"""No byte of a deleted service stays in the database, in blobs or in files of caches."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from alerts.models import AlertIncident, AlertRule, AlertState, RuleKind
from findings.models import Finding
from profiles import tasks
from profiles.deletion import jobs
from profiles.deletion.jobs import DeletionSelection
from profiles.engine.blocks import open_hour
from profiles.models import Blob, Block, Profile, ResultSnapshot, SavedTreeKind
from profiles.query import View, run_tree
from profiles.storage import saved_tree_rows
from profiles.storage.blob_store import blobs, get_location, read
from profiles.storage.column_files import column_files
from profiles.storage.saved_tree_rows import NewSavedTree
from projects import saved_views
from projects.credentials import keys
from projects.models import (
    Agent,
    Annotation,
    AuditEntry,
    Deployment,
    EventKind,
    Project,
    User,
    Webhook,
    WebhookDelivery,
)
from projects.profile_types import ProfileType
from projects.webhooks.deliveries import Event, record_event
from scheduler import user_captures
from scheduler.models import SampleNeed
from tests.findings.factory import add_detection, add_finding
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.deletion.run_jobs import run_to_end
from tests.profiles.deletion.stored_bytes import delete_audit_log, find_bytes
from tests.profiles.queries.compaction_stages import compact_to
from tests.profiles.queries.labelled_profiles import whole

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]
SERVICE, FUNCTION, ZONE, HOST = "erasedsvc", "ErasedFunction", "erasedzone", "erasedhost"
NAMES = {name.encode() for name in (SERVICE, FUNCTION, ZONE, HOST, "erasednote", "erasedversion")}
PIECE = 20  # bytes of compressed data that are searched for
STACKS = {"main": 3, f"main;{FUNCTION}": 5}


@pytest.fixture(params=["files", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path, settings: Settings) -> Iterator[None]:
    if request.param == "s3":
        url: str = request.getfixturevalue("s3_url")
        settings.BLOB_URL = url.replace("?", f"/{uuid.uuid4().hex}?")
    settings.DATA_DIR = tmp_path
    yield
    files = column_files()
    if files:
        files.wait()


def fill(project: Project) -> None:
    """Store profiles of a service to delete, and of another one, in the same hours."""
    erased = rows.deployment(project, SERVICE, zone=ZONE, version="erasedversion")
    for number in range(40):
        minutes = number * 47
        rows.stored(rows.deployment(project), minutes=minutes, name_id=f"kept{number}")
        rows.stored(erased, STACKS, minutes=minutes, name_id=f"erased{number}")


def add_related_rows(project: Project, owner: User) -> None:
    erased = Deployment.objects.get(service=SERVICE)
    now = rows.NOON
    Agent.objects.create(
        deployment=erased, identity="a", hostname=HOST, first_seen=now, last_seen=now
    )
    Annotation.objects.create(project=project, service=SERVICE, at=now, text="erasednote")
    Annotation.objects.create(project=project, service="shop", at=now, text="kept")
    for service in (SERVICE, "shop"):
        saved_views.create(
            project, service, f"/p/{project.project_id}/flame?service={service}", actor=owner
        )
        new = NewSavedTree(
            project=project.pk,
            kind=SavedTreeKind.SELECTION,
            title=service,
            service=service,
            type=ProfileType.CPU,
            start=now,
            end=now + timedelta(hours=1),
            query=f"service={service}",
            metrics=[],
            profiles=1,
            duration_ns=1,
            tree=f"tree of {service}".encode(),
        )
        saved_tree_rows.store(new, actor=owner)
        user_captures.note_rejected(project, service, ProfileType.CPU, "No agent.")
    keys.create(project, "key", write=True, read=False, default_service=SERVICE, actor=owner)
    Webhook.objects.create(project=project, name="chat", url="https://chat.example.org/")
    for service, function in ((SERVICE, FUNCTION), ("shop", "shop.price")):
        add_insight(project, service, function)


def add_insight(project: Project, service: str, function: str) -> None:
    """Store a finding, an alert of it, and their messages."""
    version = "erasedversion" if service == SERVICE else "2"
    add_finding(project, service=service, function=function, version=version)
    add_detection(project, service=service)
    SampleNeed.objects.create(project=project, service=service, type="CPU", profiles_a_day=2.0)
    for kind in (RuleKind.FINDING, RuleKind.VALUE):
        rule = AlertRule.objects.create(
            project=project,
            name=f"{kind} rule",
            kind=kind,
            parameters={},
            service="" if kind == RuleKind.FINDING else service,
            function="" if kind == RuleKind.FINDING else function,
            changed=rows.NOON,
        )
        AlertState.objects.create(rule=rule, subject=service, service=service)
        AlertIncident.objects.create(
            rule=rule, subject=f"{service}/{function}", service=service, started=rows.NOON
        )
    for event_kind in (EventKind.FINDING, EventKind.ALERT):
        sentence = f"{function} of {service} (CPU), +145 % since 2"
        event = Event(
            event_kind, f"{event_kind}:{service}", service, sentence, "https://h/", (service,)
        )
        record_event(project, event)


def read_pieces() -> set[bytes]:
    """Return a piece of each compressed tree and block of the service, and of its snapshot."""
    data = [bytes(row.tree) for row in Profile.objects.filter(service=SERVICE)]
    blocks = Block.objects.filter(service=SERVICE).select_related("blob")
    data += [read(get_location(block)) for block in blocks]
    return {each[-PIECE:] for each in data if len(each) > PIECE} | {f"tree of {SERVICE}".encode()}


@pytest.mark.slow
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("stage", ["head", "parts", "late"])
def test_no_byte_of_a_deleted_service_is_stored(project: Project, alice: User, stage: str) -> None:
    fill(project)
    compact_to(project, stage)
    add_related_rows(project, alice)
    selection = whole(project)
    run_tree(query_context(selection), selection, View())
    texts = NAMES | read_pieces()
    assert {text for _, text in find_bytes(texts)} >= {*(texts - NAMES), SERVICE.encode()}
    retained = Block.objects.filter(service="shop").count()
    run_to_end(jobs.request_deletion(project, DeletionSelection(SERVICE), actor=alice))
    assert AuditEntry.objects.filter(action="deletion.request", target=SERVICE).exists()
    assert AuditEntry.objects.filter(action="deletion.finish", target=SERVICE).exists()
    delete_audit_log()
    tasks.sweep_blobs()
    assert find_bytes(texts) == set()
    assert Block.objects.filter(service="shop").count() == retained
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 40
    assert [note.text for note in Annotation.objects.all()] == ["kept"]
    assert ResultSnapshot.objects.get().service == "shop"
    assert Finding.objects.get().service == "shop"
    assert {row.service for row in AlertIncident.objects.all()} == {"shop"}
    assert {row.event for row in WebhookDelivery.objects.all()} == {"finding:shop", "alert:shop"}
    assert Deployment.objects.get().service == "shop"


@pytest.mark.usefixtures("store")
def test_rewritten_blocks_have_no_names_of_deleted_profiles(project: Project) -> None:
    erased = rows.deployment(project, zone=ZONE)
    for number in range(20):
        rows.stored(erased, STACKS, minutes=number, labels={"erasedlabel": "x"})
        rows.stored(rows.deployment(project), minutes=number)
    compact_to(project, "days")
    run_to_end(jobs.request_deletion(project, DeletionSelection("shop", zone=ZONE), actor=None))
    blocks = Block.objects.select_related("blob")
    assert blocks
    for row in blocks:
        strings = [str(text) for text in open_hour(read(get_location(row))).strings]
        assert strings
        assert not any("rased" in text for text in strings)
        assert "erasedlabel" not in row.summary["labels"]
    delete_audit_log()
    tasks.sweep_blobs()
    assert find_bytes({ZONE.encode(), b"erasedlabel"}) == set()


@pytest.mark.usefixtures("store")
def test_no_byte_of_a_deleted_project_is_stored(
    project: Project, alice: User, settings: Settings, shop_of_bob: Deployment
) -> None:
    settings.PROJECT_DELETION_DAYS = 0
    rows.stored(shop_of_bob, name_id="other")
    fill(project)
    compact_to(project, "late")
    add_related_rows(project, alice)
    blobs().put(f"projects/{project.pk}/unknown", b"left by a crash")
    texts = NAMES | read_pieces() | {project.project_id.encode()}
    job = jobs.request_project_deletion(project, actor=alice)
    assert not Project.objects.filter(pk=project.pk, deletion_due=None).exists()
    before = timezone.now()
    tasks.run_deletion(job.pk)
    assert [each.pk for each in Project.objects.all()] == [shop_of_bob.project_id]
    entry = AuditEntry.objects.get(action="project.delete")
    assert (entry.subject, entry.detail["profiles"]) == (project.project_id, 80)
    assert entry.at >= before
    delete_audit_log()
    tasks.sweep_blobs()
    assert find_bytes(texts) == set()
    assert list(blobs().list(f"projects/{project.pk}/")) == []
    assert Profile.objects.get().name_id == "other"
    assert not Blob.objects.filter(project=project.pk).exists()
