"""Client of Pyroscope's query API."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from projects.models import Project
from projects.profile_types import ProfileType
from tests.ingest.client import Client
from tests.profiles import rows

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
NOON_MS = round(rows.NOON.timestamp() * 1000)
HOUR: dict[str, Any] = {"start": NOON_MS, "end": NOON_MS + 3_600_000}
Call = Callable[..., httpx.Response]


@pytest.fixture
def shops(project: Project) -> None:
    """Store profiles of two services.

    The shop has three of 9 ms CPU each, in two versions and zones, and one of memory; the till has
    one of 5 ms.
    """
    of = rows.deployment(project)
    rows.stored(of, labels={"instance": "a", "thread.name": "main"})
    rows.stored(of, minutes=1, labels={"instance": "b"})
    rows.stored(rows.deployment(project, zone="us-1", version="2"), minutes=2)
    till = rows.deployment(project, service="till")
    rows.stored(till, {"main": 2000, "main;foo1": 3000}, minutes=3)
    rows.stored(
        of,
        {"main;load": [3, 600]},
        sample_types=(("inuse_objects", "count"), ("inuse_space", "bytes")),
        type=ProfileType.HEAP,
        minutes=4,
    )


@pytest.fixture
def call(shops: None, reader: Client) -> Call:
    """Return a function that calls a procedure with a message in JSON, over an hour."""

    def post(procedure: str, client: Client = reader, **message: Any) -> httpx.Response:
        path = f"/querier.v1.QuerierService/{procedure}"
        return client.request("POST", path, json={**HOUR, **message})

    return post
