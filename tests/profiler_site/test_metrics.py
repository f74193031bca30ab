"""Metrics of caches and rejections at /metrics, for holders of the token."""

from typing import Any

import pytest
from pytest_django import Settings

from profiler_site.asgi import application
from profiles.queries.cache import result_cache
from projects.usage import rejections
from projects.usage.rejections import RejectionReason


async def get(*headers: tuple[bytes, bytes]) -> tuple[int, str]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/metrics", "headers": headers}
    await application(scope, receive, send)  # type: ignore[arg-type]
    return sent[0]["status"], sent[1]["body"].decode()


async def test_the_caches_are_counted(settings: Settings) -> None:
    settings.METRICS_TOKEN = "a-token"
    results = result_cache()
    before = results.stats()
    results.get("nothing")
    results.put("something", 1, 7, 60.0)
    results.get("something")
    status, text = await get((b"authorization", b"Bearer a-token"))
    assert status == 200
    lines = text.splitlines()
    assert f'flamewatch_cache_hits_total{{cache="result"}} {before.hits + 1}' in lines
    assert f'flamewatch_cache_misses_total{{cache="result"}} {before.misses + 1}' in lines
    assert 'flamewatch_cache_bytes{cache="result"} 7' in lines
    assert "# TYPE flamewatch_cache_evictions_total counter" in lines
    assert any(line.startswith('flamewatch_cache_bytes{cache="block"} ') for line in lines)


async def test_rejections_are_counted_by_reason_and_not_by_project(settings: Settings) -> None:
    settings.METRICS_TOKEN = "a-token"
    before = rejections.totals()[RejectionReason.UPLOAD_MEMORY]
    rejections.note(7, RejectionReason.UPLOAD_MEMORY)
    rejections.note(8, RejectionReason.UPLOAD_MEMORY)
    _status, text = await get((b"authorization", b"Bearer a-token"))
    lines = [line for line in text.splitlines() if line.startswith("flamewatch_rejections_total{")]
    assert f'flamewatch_rejections_total{{reason="upload_memory"}} {before + 2}' in lines
    assert len(lines) == len(RejectionReason)
    assert "# TYPE flamewatch_rejections_total counter" in text.splitlines()


@pytest.mark.parametrize(
    ("token", "header", "status"),
    [("", b"Bearer ", 404), ("a-token", b"Bearer another", 401), ("a-token", b"", 401)],
)
async def test_they_are_only_for_holders_of_the_token(
    token: str, header: bytes, status: int, settings: Settings
) -> None:
    settings.METRICS_TOKEN = token
    found, text = await get((b"authorization", header))
    assert found == status
    assert "flamewatch_cache" not in text
