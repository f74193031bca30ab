"""Project with profiles of one hour, and a client that queries them."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from projects.models import Deployment, Project
from tests.ingest.client import Client
from tests.ingest.fixtures import empty_queue, short_poll_timeout
from tests.profiles import rows

__all__ = ["empty_queue", "short_poll_timeout"]  # autouse

HOUR = {"from": "2026-11-20T12:00:00Z", "to": "2026-11-20T13:00:00Z"}
SHOP: dict[str, Any] = {"service": "shop", "type": "CPU", **HOUR}
Ask = Callable[..., httpx.Response]


@pytest.fixture
def shop(project: Project) -> Deployment:
    """Store two profiles of version 1 in eu-1 (instances a and b) and one of version 2 in us-1."""
    of = rows.deployment(project)
    rows.stored(of, labels={"instance": "a"})
    rows.stored(of, minutes=1, labels={"instance": "b"})
    rows.stored(rows.deployment(project, zone="us-1", version="2"), minutes=2)
    return of


@pytest.fixture
def ask(shop: Deployment, reader: Client) -> Ask:
    """Return a function that requests a resource with the parameters SHOP, changed by keywords.

    None removes a parameter.
    """

    def get(name: str, headers: dict[str, str] | None = None, **changes: Any) -> httpx.Response:
        params = {k: v for k, v in (SHOP | changes).items() if v is not None}
        path = f"/api/v1/projects/-/{name}"
        return reader.request("GET", path, params=params, headers=headers or {})

    return get
