r"""Make a data folder with the server of this version, and record its responses.

docs/development/releasing.md says when. The names that this script imports are those of the
current version:

    FLAMEWATCH_DATA_DIR=/tmp/old/data PYTHONPATH=. python tests/upgrades/make_data.py \
        /tmp/old/answers.json

With DATABASE_URL it fills an empty PostgreSQL database instead of SQLite; its dump (`pg_dump
--inserts --no-owner`) belongs into the folder as dump.sql. Store folder and responses as
tests/upgrades/data/<version>/<database>.tar.xz.
"""

import base64
import gzip
import json
import os
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlencode

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
os.environ.setdefault("FLAMEWATCH_ALLOWED_HOSTS", "*")
django.setup()

from django.conf import settings  # noqa: E402
from django.test import Client as Browser  # noqa: E402

from profiler_site.process.migration import migrate  # noqa: E402
from profiles.compaction import pending_series, plan  # noqa: E402
from profiles.compaction.compactor import Compactor  # noqa: E402
from profiles.models import Block, Profile, ResultSnapshot  # noqa: E402
from projects import annotations, invitations, saved_views  # noqa: E402
from projects.audit import NO_CLIENT  # noqa: E402
from projects.credentials import access_tokens, keys  # noqa: E402
from projects.models import Member, Project, Quota, Role, TokenScope, User  # noqa: E402
from projects.project_ids import create_project  # noqa: E402
from projects.webhooks.settings import create_webhook  # noqa: E402
from tests.findings.factory import add_finding  # noqa: E402
from tests.fuzz.seeds import build_native  # noqa: E402
from tests.ingest.client import Client  # noqa: E402
from tests.profiles.pprof_proto import Profile as Pprof  # noqa: E402
from tests.profiles.pprofs import upload  # noqa: E402
from tests.upgrades.rows import count_rows  # noqa: E402

PASSWORD = "a sentence works well"
DAY = datetime(2024, 3, 1, tzinfo=UTC)
LATER = DAY + timedelta(days=9)
STACKS = [
    *("main", "main;serve", "main;serve;parse", "main;serve;query", "main;serve;query;scan"),
    *("main;serve;render", "main;serve;render;escape", "main;gc", "worker", "worker;job"),
    *("worker;job;main;serve", "worker;job;hash"),
]
TYPES = {
    "CPU": [("samples", "count"), ("cpu", "nanoseconds")],
    "WALL": [("samples", "count"), ("wall", "nanoseconds")],
    "HEAP": [("inuse_objects", "count"), ("inuse_space", "bytes")],
}
chance = random.Random(11)
uploads: list[dict[str, object]] = []


def send(
    client: Client, service: str, version: str, at: datetime | None, type: str = "CPU"
) -> None:
    """Upload a profile of a random weight for each stack, at the given time."""
    chosen = chance.sample(STACKS, 8)
    values = {stack: [chance.randrange(1, 90), chance.randrange(10**5, 10**9)] for stack in chosen}
    nanos = {} if at is None else {"time_nanos": int(at.timestamp()) * 10**9}
    offer(
        client,
        service,
        version,
        type,
        upload(values, sample_types=TYPES[type], duration_nanos=10**10, **nanos),
    )


def send_native(client: Client, service: str, at: datetime) -> None:
    """Upload addresses without symbols, in binaries with and without a build id."""
    message = Pprof.FromString(build_native())
    message.time_nanos, message.duration_nanos = int(at.timestamp()) * 10**9, 10**10
    offer(client, service, "1", "CPU", gzip.compress(message.SerializeToString()))


def offer(client: Client, service: str, version: str, type: str, body: bytes) -> None:
    labels = {"zone": chance.choice(["eu-1", "us-2"]), "version": version, "language": "python"}
    message = {
        "profileType": type,
        "deployment": {"target": service, "labels": labels},
        "labels": {"endpoint": chance.choice(["/pay", "/search"])},
        "duration": "10s",
        "profileBytes": base64.b64encode(body).decode(),
    }
    response = client.request("POST", f"{client.profiles}:createOffline", json=message)
    assert response.status_code == 200, response.text
    uploads.append({"message": message, "response": response.json()})


def settle() -> None:
    """Date everything in the head back, as if it had been stored when it was captured."""
    Profile.objects.update(stored_at=DAY)


def main(target: Path) -> None:
    migrate()
    settings.FLAMEWATCH_URL = "http://127.0.0.1:8000"
    alice = User.objects.create_user("alice@example.org", PASSWORD)
    project = create_project("Acme Shop", alice)
    bob = User.objects.create_user("bob@example.org", PASSWORD)
    Member.objects.create(project=project, user=bob, role=Role.MEMBER)
    Quota.objects.create(project=project, retention_days=10_000, profiles_per_minute=10_000)
    issued = create_keys(project, alice)
    _, token = access_tokens.create(alice, "ci", tuple(TokenScope), 10_000)
    invite_and_notify(project, alice)
    add_finding(project)
    client = Client(project.project_id, issued["write"])
    fill(project, client)
    saved = save(project, alice)
    handshake = client.captured_request()
    responses = query_all(Client(project.project_id, issued["read"]))
    blocks = Block.objects.values_list("resolution", "is_level0", "day_block", "quarantined")
    assert len({(level, part, bool(by), bad) for level, part, by, bad in blocks}) >= 5, blocks
    target.write_text(
        json.dumps(
            {
                "project": project.project_id,
                "password": PASSWORD,
                "keys": issued,
                "token": token,
                "issued_name": handshake["name"],
                "issued_at": time.time(),
                "uploads": [uploads[0], uploads[-1], *arrived(project)],
                "rows": count_rows(),
                "answers": responses,
                "pages": saved,
            },
            indent=1,
        )
    )


def create_keys(project: Project, alice: User) -> dict[str, str]:
    _, write = keys.create(project, "agents", actor=alice)
    _, read = keys.create(project, "reader", write=False, read=True, actor=alice)
    row, revoked = keys.create(project, "old laptop", read=True, actor=alice)
    keys.revoke(row, actor=alice)
    return {"write": write, "read": read, "revoked": revoked}


def invite_and_notify(project: Project, alice: User) -> None:
    """Create an invitation and a webhook."""
    invitations.create(project, ["carol@example.org"], Role.VIEWER, actor=alice)
    create_webhook(
        project,
        name="chat",
        url="https://chat.example.org/hook",
        form="generic",
        kinds=["finding"],
        actor=alice,
        origin=NO_CLIENT,
    )


def query_all(reader: Client) -> dict[str, object]:
    responses = {}
    for path in requests():
        response = reader.request("GET", path)
        assert response.status_code == 200, (path, response.text)
        responses[path] = response.json()
    return responses


def fill(project: Project, client: Client) -> None:
    for hour in range(0, 24, 3):  # a day that is summed
        for minute in (5, 25, 45):
            at = DAY + timedelta(hours=hour, minutes=minute)
            send(client, "shop", "1.0" if hour < 12 else "1.1", at)
            send(client, "shop", "1.0", at + timedelta(minutes=1), "HEAP")
    send(client, "ledger", "7", DAY + timedelta(hours=4), "WALL")
    send_native(client, "native", DAY + timedelta(hours=4))
    settle()
    Compactor(project.pk, LATER).build_level1()
    Compactor(project.pk, LATER).build_level2()
    send_native(client, "native", DAY + timedelta(days=2, hours=12))
    send(client, "shop", "1.1", DAY + timedelta(hours=14))  # late, beside the day's block
    send(client, "broken", "1", DAY + timedelta(hours=14))
    for _ in range(2):  # without a time: recognised by rows of their names
        send(client, "timeless", "1", None)
    moved = Profile.objects.filter(service="timeless")
    moved.update(time=DAY + timedelta(days=1, hours=3))
    settle()
    Compactor(project.pk, LATER).build_level1()
    damage_block("broken")
    Compactor(project.pk, LATER).build_level2()
    for hour in (8, 9):  # a day of hour blocks
        for minute in (0, 20, 40):
            send(client, "shop", "1.1", DAY + timedelta(days=1, hours=hour, minutes=minute))
    settle()
    Compactor(project.pk, LATER).build_level1()
    last = DAY + timedelta(days=2, hours=12)  # an hour that has not ended
    for minute in range(0, 12, 2):
        send(client, "shop", "1.2", last + timedelta(minutes=minute))
    settle()
    with (
        patch.object(pending_series, "MIN_ROWS_OPEN_HOUR", 3),
        patch.object(plan, "MIN_ROWS_OPEN_HOUR", 3),
    ):
        Compactor(project.pk, last + timedelta(minutes=9)).build_level0()
    send(client, "broken", "2", DAY + timedelta(days=1))
    Profile.objects.filter(service="broken").update(tree=b"\x00garbage")
    settle()
    Compactor(project.pk, DAY + timedelta(days=2)).build_level1()
    for minute in (13, 14):
        send(client, "shop", "1.2", last + timedelta(minutes=minute))
    Profile.objects.exclude(service="broken").update(stored_at=last)
    Block.objects.update(created=last)  # compaction waits after a block is made


def save(project: Project, alice: User) -> dict[str, object]:
    """Save a view, a note and the tree of a service; return that tree as its page shows it."""
    end = f"{DAY + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
    page = f"/p/{project.project_id}/flame?service=ledger&type=WALL&span=1d&end={end}"
    saved_views.create(project, "Ledger", page, actor=alice)
    fields = annotations.AnnotationFields("Deployed", at=DAY + timedelta(hours=4), service="ledger")
    annotations.create(project.pk, fields, actor=alice)
    browser = Browser(headers={"host": "127.0.0.1"})
    browser.force_login(alice)
    form = {"address": page, "title": "Ledger in March"}
    assert browser.post(f"/p/{project.project_id}/snapshots", form).status_code == 302
    snapshot = ResultSnapshot.objects.get().snapshot_id
    path = f"{page.replace('/flame?', '/flame/tree?')}&snapshot={snapshot}"
    response = browser.get(path)
    assert response.status_code == 200, response.content
    return {path: json.loads(gzip.decompress(response.content))}


def damage_block(service: str) -> None:
    """Overwrite the block of a service in its blob."""
    block = Block.objects.get(service=service)
    path = Path(settings.DATA_DIR, "blobs", block.blob.key)
    whole = bytearray(path.read_bytes())
    whole[block.offset : block.offset + block.length] = bytes(block.length)
    path.write_bytes(bytes(whole))


def arrived(project: Project) -> list[dict[str, object]]:
    return [each for each in uploads if each["message"]["deployment"]["target"] == "timeless"]  # type: ignore[index]


def requests() -> list[str]:
    base = "/api/v1/projects/-/"
    made = [f"{base}deployments"]
    spans = {
        "day": (DAY, DAY + timedelta(days=1)),
        "hours": (DAY + timedelta(hours=2), DAY + timedelta(days=1, hours=9)),
        "last hour": (DAY + timedelta(days=2, hours=12), DAY + timedelta(days=2, hours=13)),
        "all": (DAY, DAY + timedelta(days=3)),
    }
    for start, end in spans.values():
        span = {"from": start.isoformat(), "to": end.isoformat()}
        cpu = {"service": "shop", "type": "CPU"} | span
        made += [
            f"{base}tree?{urlencode(cpu)}",
            f"{base}top?{urlencode(cpu)}",
            f"{base}history?{urlencode(cpu)}",
            f"{base}profiles?{urlencode(cpu)}",
        ]
    span = {"from": DAY.isoformat(), "to": (DAY + timedelta(days=3)).isoformat()}
    cpu = {"service": "shop", "type": "CPU"} | span
    heap = {"service": "shop", "type": "HEAP"} | span
    made += [
        f"{base}tree?{urlencode(heap)}",
        f"{base}top?{urlencode(heap | {'metric': 'inuse_objects'})}",
        f"{base}tree?{urlencode(cpu | {'label.endpoint': '/pay', 'zone': 'eu-1'})}",
        f"{base}tree?{urlencode(cpu | {'f': 'show:query'})}",
        f"{base}tree?{urlencode(cpu | {'focus': 'serve'})}",
        f"{base}tree?{urlencode(cpu | {'weight': '20'})}",
        f"{base}tree?{urlencode({'service': 'ledger', 'type': 'WALL'} | span)}",
        f"{base}tree?{urlencode({'service': 'native', 'type': 'CPU'} | span)}",
        f"{base}top?{urlencode({'service': 'native', 'type': 'CPU'} | span)}",
        f"{base}tree?{urlencode({'service': 'broken', 'type': 'CPU'} | span)}",
        f"{base}tree?{urlencode({'service': 'timeless', 'type': 'CPU'} | span)}",
        f"{base}profiles?{urlencode({'service': 'broken', 'type': 'CPU'} | span)}",
    ]
    made += [f"{base}services?{urlencode(span)}", f"{base}regressions"]
    made.append(f"{base}functions?{urlencode({'find': 'scan'} | span)}")
    versions = {"version": "1.0", "b.version": "1.1"}
    made.append(f"{base}compare?{urlencode(cpu | versions)}")
    return made


if __name__ == "__main__":
    main(Path(sys.argv[1]))
