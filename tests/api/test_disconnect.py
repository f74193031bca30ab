"""Cancellation of queries whose client disconnects."""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from profiler_site.asgi import application
from tests.api.conftest import SHOP
from tests.api.test_error_responses import until_abandoned
from tests.ingest.client import Client

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]


async def test_a_query_ends_when_its_client_leaves(
    reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()
    loop, left = asyncio.get_running_loop(), asyncio.Event()
    query = until_abandoned(ended, begun=lambda: loop.call_soon_threadsafe(left.set))
    monkeypatch.setattr("api.resources.tree.run_tree", query)
    sent: list[Mapping[str, Any]] = []
    messages = [{"type": "http.request", "body": b""}]

    async def receive() -> Mapping[str, Any]:
        if messages:
            return messages.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    async with asyncio.timeout(60):
        await application(scope(reader), receive, send)  # type: ignore[arg-type]
        assert await asyncio.to_thread(ended.wait, 60)
    assert not sent


def scope(reader: Client) -> Any:
    return {
        "type": "http",
        "method": "GET",
        "path": f"/api/v1/projects/{reader.project}/tree",
        "query_string": urlencode(SHOP).encode(),
        "headers": [(b"authorization", f"Bearer {reader.key}".encode())],
        "client": ("127.0.0.1", 5),
        "scheme": "http",
    }
