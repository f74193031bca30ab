"""Agent's client of the whole ASGI application, without a socket, with one event loop a request."""

import asyncio
import base64
from dataclasses import dataclass, field
from typing import Any

import httpx

from endpoints.error_responses import RETRY_INFO
from profiler_site.asgi import application
from scheduler.long_poll import queue_of_process
from tests.ingest import pprof

URL = "http://127.0.0.1:8000"
DEPLOYMENT = {"target": "checkout", "labels": {"zone": "eu-1", "version": "1.4", "language": "go"}}
HANDSHAKE: dict[str, Any] = {"deployment": DEPLOYMENT, "profileType": ["CPU"]}


@dataclass(frozen=True)
class Client:
    project: str
    key: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def profiles(self) -> str:
        return f"/v2/projects/{self.project}/profiles"

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return asyncio.run(self.send(method, path, **options))

    async def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(application, raise_app_exceptions=False)  # type: ignore[arg-type]
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        headers |= self.headers | options.pop("headers", {})
        async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
            return await client.request(method, path, headers=headers, **options)

    def handshake(self, message: dict[str, Any] = HANDSHAKE) -> httpx.Response:
        return self.request("POST", self.profiles, json=message)

    def captured_request(self) -> dict[str, Any]:
        """Return the response to a deployment's first handshake, which assigns a profile."""
        response = self.handshake()
        assert response.status_code == 200, response.text
        return dict(response.json())

    def upload(self, name: str, body: bytes = pprof.SIMPLE, **fields: Any) -> httpx.Response:
        message = {"profileBytes": base64.b64encode(body).decode()} | fields
        return self.request("PATCH", f"/v2/{name}", json=message)

    def offline(self, body: bytes = pprof.SIMPLE, **fields: Any) -> httpx.Response:
        message = {
            "profileType": "CPU",
            "deployment": DEPLOYMENT,
            "duration": "10s",
            "profileBytes": base64.b64encode(body).decode(),
        }
        return self.request("POST", f"{self.profiles}:createOffline", json=message | fields)


async def until_parked(agents: int = 1) -> None:
    while queue_of_process().counts().waiting < agents:  # noqa: ASYNC110  the queue has no event for it
        await asyncio.sleep(0.001)


def assert_error_response(
    response: httpx.Response, status: int, code: str, *words: str
) -> dict[str, Any]:
    """Check an error response's status, RetryInfo and message words; return its error."""
    assert response.status_code == status, response.text
    error: dict[str, Any] = response.json()["error"]
    assert (error["code"], error["status"]) == (status, code)
    delays = [d["retryDelay"] for d in error["details"] if d["@type"] == RETRY_INFO]
    assert len(delays) == 1
    assert float(delays[0].removesuffix("s")) > 0
    for word in words:
        assert word in error["message"]
    return error
