"""Endpoints /ok and /ready, served without Django."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import httpx
import pytest
from django.db.utils import OperationalError

from profiler_site import health
from profiler_site.asgi import application
from profiles.storage import disk

pytestmark = pytest.mark.django_db


@dataclass
class FakeConnection:
    ensure_connection: Callable[[], None]
    close: Callable[[], None] = lambda: None


async def _get(path: str, times: int = 1) -> list[httpx.Response]:
    transport = httpx.ASGITransport(application)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        return await asyncio.gather(*(client.get(path) for _ in range(times)))


def get(path: str, times: int = 1) -> list[httpx.Response]:
    return asyncio.run(_get(path, times))


@pytest.mark.parametrize(("path", "text"), [("/ok", "ok\n"), ("/ready", "ready\n")])
def test_ok_and_ready_respond_200(path: str, text: str) -> None:
    (response,) = get(path)
    assert (response.status_code, response.text) == (200, text)
    assert response.headers["cache-control"] == "no-store"


def test_concurrent_requests_share_one_database_check(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr(health, "connection", FakeConnection(lambda: looks.append(1)))
    assert {response.text for response in get("/ready", 50)} == {"ready\n"}
    assert len(looks) == 1


def test_a_database_that_is_away_is_503(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("no route to the secret host")

    monkeypatch.setattr(health, "connection", FakeConnection(away))
    (response,) = get("/ready")
    assert (response.status_code, response.text) == (503, "The database is not available.\n")


def test_a_full_disk_is_503_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "shortage", lambda: "The server's disk is full: 0 bytes are free.")
    (response,) = get("/ready")
    assert response.status_code == 503
    assert "disk is full" in response.text
    assert get("/ok")[0].status_code == 200
