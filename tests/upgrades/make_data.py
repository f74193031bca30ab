"""Make a data folder with the server of an old commit, and record its responses.

Run in a checkout of that commit (b50b1ca5), with its engine built:

    FLAMEWATCH_DATA_DIR=/tmp/old/data PYTHONPATH=. python .../make_data.py /tmp/old/answers.json

With DATABASE_URL it fills an empty PostgreSQL database instead of SQLite. Store the folder (and a
dump of the database: `pg_dump --inserts --no-owner`) as tests/upgrades/data/<database>.tar.xz, and
the responses beside it. The names that this script imports are those of the old commit.
"""

import base64
import json
import os
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
os.environ.setdefault("FLAMEWATCH_ALLOWED_HOSTS", "*")
django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from profiles.rollup import days, due, hours, parts  # noqa: E402

from profiles.models import Block, KeptName, Profile  # noqa: E402
from projects import keys  # noqa: E402
from projects.models import Member, Project, Quota, Role, User  # noqa: E402
from projects.project_ids import create_project  # noqa: E402
from tests.ingest.client import Client  # noqa: E402
from tests.profiles.pprofs import upload  # noqa: E402

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
    body = upload(values, sample_types=TYPES[type], duration_nanos=10**10, **nanos)
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
    call_command("migrate", verbosity=0)
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    alice = User.objects.create_user("alice@example.org", PASSWORD)
    project = create_project("Acme Shop", alice)
    bob = User.objects.create_user("bob@example.org", PASSWORD)
    Member.objects.create(project=project, user=bob, role=Role.MEMBER)
    Quota.objects.create(project=project, retention_days=10_000, profiles_per_minute=10_000)
    _, write = keys.create(project, "agents", by=alice)
    _, read = keys.create(project, "reader", write=False, read=True, by=alice)
    row, revoked = keys.create(project, "old laptop", read=True, by=alice)
    keys.revoke(row, by=alice)
    client = Client(project.project_id, write)
    fill(project, client)
    handshake = client.asked()
    reader = Client(project.project_id, read)
    responses = {}
    for path in requests():
        response = reader.request("GET", path)
        assert response.status_code == 200, (path, response.text)
        responses[path] = response.json()
    blocks = Block.objects.values_list("level", "is_part", "covered_by", "set_aside")
    assert len({(level, part, bool(by), bad) for level, part, by, bad in blocks}) >= 5, blocks
    target.write_text(
        json.dumps(
            {
                "project": project.project_id,
                "password": PASSWORD,
                "keys": {"write": write, "read": read, "revoked": revoked},
                "issued_name": handshake["name"],
                "issued_at": time.time(),
                "uploads": [uploads[0], uploads[-1], *arrived(project)],
                "rows": {
                    "profiles": Profile.objects.count(),
                    "quarantined": Profile.objects.filter(set_aside=True).count(),
                    "blocks": Block.objects.count(),
                    "quarantined_blocks": Block.objects.filter(set_aside=True).count(),
                    "deduplication": KeptName.objects.count(),
                },
                "answers": responses,
            },
            indent=1,
        )
    )


def fill(project: Project, client: Client) -> None:
    for hour in range(0, 24, 3):  # a day that is summed
        for minute in (5, 25, 45):
            at = DAY + timedelta(hours=hour, minutes=minute)
            send(client, "shop", "1.0" if hour < 12 else "1.1", at)
            send(client, "shop", "1.0", at + timedelta(minutes=1), "HEAP")
    send(client, "ledger", "7", DAY + timedelta(hours=4), "WALL")
    settle()
    hours.roll_up_hours(project.pk, LATER)
    days.roll_up_days(project.pk, LATER)
    send(client, "shop", "1.1", DAY + timedelta(hours=14))  # late, beside the day's block
    send(client, "broken", "1", DAY + timedelta(hours=14))
    for _ in range(2):  # without a time: recognised by rows of their names
        send(client, "timeless", "1", None)
    moved = Profile.objects.filter(service="timeless")
    moved.update(time=DAY + timedelta(days=1, hours=3))
    settle()
    hours.roll_up_hours(project.pk, LATER)
    damage_block("broken")
    days.roll_up_days(project.pk, LATER)
    for hour in (8, 9):  # a day of hour blocks
        for minute in (0, 20, 40):
            send(client, "shop", "1.1", DAY + timedelta(days=1, hours=hour, minutes=minute))
    settle()
    hours.roll_up_hours(project.pk, LATER)
    last = DAY + timedelta(days=2, hours=12)  # an hour that has not ended
    for minute in range(0, 12, 2):
        send(client, "shop", "1.2", last + timedelta(minutes=minute))
    settle()
    due.LONG = parts.LONG = 3
    parts.pack_long_heads(project.pk, last + timedelta(minutes=9))
    send(client, "broken", "2", DAY + timedelta(days=1))
    Profile.objects.filter(service="broken").update(tree=b"\x00garbage")
    settle()
    hours.roll_up_hours(project.pk, DAY + timedelta(days=2))
    for minute in (13, 14):
        send(client, "shop", "1.2", last + timedelta(minutes=minute))
    Profile.objects.exclude(service="broken").update(stored_at=last)


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
        f"{base}tree?{urlencode({'service': 'broken', 'type': 'CPU'} | span)}",
        f"{base}tree?{urlencode({'service': 'timeless', 'type': 'CPU'} | span)}",
        f"{base}profiles?{urlencode({'service': 'broken', 'type': 'CPU'} | span)}",
    ]
    made.append(f"{base}services?{urlencode(span)}")
    versions = {"version": "1.0", "b.version": "1.1"}
    made.append(f"{base}compare?{urlencode(cpu | versions)}")
    return made


if __name__ == "__main__":
    main(Path(sys.argv[1]))
