"""`/ready?verbose`: the state of each service, for the operator."""

import asyncio
from collections.abc import Iterator
from threading import Event

import httpx
import pytest
from pytest_django import Settings

from profiler_site import health
from profiler_site.asgi import application
from profiler_site.diagnosis.result import DiagnosisResult, Severity
from profiler_site.diagnosis.service_checks import SERVICE_CHECKS

TOKEN = "a token"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def new_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = {name: health._RepeatedCheck(name) for name in SERVICE_CHECKS}
    monkeypatch.setattr(health, "_checks", checks)


async def get(client: str = "127.0.0.1", **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(application, client=(client, 1))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
        return await http.get("/ready?verbose", headers=headers)


async def test_each_service_has_a_line_with_state_age_and_reason() -> None:
    response = await get()
    assert response.status_code == 200
    first, empty, *lines = response.text.splitlines()
    assert (first, empty) == ("ready", "")
    assert [line[9:20].strip() for line in lines] == list(SERVICE_CHECKS)
    database = lines[0].split()
    assert database[:5] == ["ok", "database", "worked", "0", "s"]


@pytest.mark.parametrize(
    ("client", "headers", "status"),
    [
        ("192.0.2.7", {}, 401),
        ("192.0.2.7", {"Authorization": "Bearer another"}, 401),
        ("192.0.2.7", {"Authorization": f"Bearer {TOKEN}"}, 200),
        ("127.0.0.1", {}, 200),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 401),
        ("127.0.0.1", {"Via": "1.1 proxy"}, 401),
    ],
)
async def test_verbose_needs_the_token_or_a_direct_local_client(
    client: str, headers: dict[str, str], status: int, settings: Settings
) -> None:
    settings.METRICS_TOKEN = TOKEN
    response = await get(client, **headers)
    assert response.status_code == status
    assert ("blob store" in response.text) == (status == 200)


async def test_without_a_configured_token_an_empty_one_is_401(settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    assert (await get("192.0.2.7", Authorization="Bearer ")).status_code == 401


async def test_failed_service_is_listed_and_the_status_stays_200(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = DiagnosisResult("redis", Severity.FAILED, "Redis does not respond: it is away.")
    monkeypatch.setitem(SERVICE_CHECKS, "redis", lambda: failed)
    response = await get()
    assert response.status_code == 200
    assert "failed   redis       not seen working       Redis does not respond" in response.text


async def test_a_recent_success_does_not_contradict_a_database_that_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    away = DiagnosisResult("database", Severity.FAILED, "The database does not respond.")
    assert "ok       database" in (await get()).text
    monkeypatch.setitem(SERVICE_CHECKS, "database", lambda: away)
    monkeypatch.setattr(health, "_trouble", lambda: (503, "The database is not available."))
    response = await get()
    assert response.status_code == 503
    assert "failed   database" in response.text


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Let the check of Redis hang until the end of the test; yield its calls."""
    calls: list[str] = []
    end = Event()

    def hang() -> DiagnosisResult:
        calls.append("redis")
        end.wait(60)
        return DiagnosisResult("redis", Severity.OK, "responds", 0.0)

    monkeypatch.setitem(SERVICE_CHECKS, "redis", hang)
    monkeypatch.setattr(health, "READY_SECONDS", 0.5)
    yield calls
    end.set()


@pytest.mark.slow
async def test_a_hanging_service_is_asked_once_and_reported_as_failed(hanging: list[str]) -> None:
    first, second = await asyncio.gather(get(), get())
    third = await get()
    for response in (first, second, third):
        assert "failed   redis" in response.text
        assert "It has not responded for 0.5 s." in response.text
        assert "ok       blob store" in response.text
    assert hanging == ["redis"]
