"""Requests to the whole ASGI application, without the cost of an HTTP client."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from profiler_site.asgi import application
from tests.ingest.client import Client

Scope = dict[str, Any]
ADDRESS = "192.0.2.1"


def post(
    client: Client, path: str, message: object, *, peer: str = ADDRESS, **headers: str
) -> Scope:
    """Return the scope of a POST request, with its body in `body`."""
    fields = ({"Authorization": f"Bearer {client.key}"} if client.key else {}) | headers
    return {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [
            (name.replace("_", "-").lower().encode(), value.encode())
            for name, value in fields.items()
        ],
        "client": (peer, 5),
        "scheme": "http",
        "body": json.dumps(message).encode(),
    }


async def respond(scope: Scope, body_arrives: asyncio.Event | None = None) -> tuple[int, bytes]:
    """Send a request, its body after the event; return the status and body of its response."""
    statuses: list[int] = []
    bodies: list[bytes] = []
    messages = [{"type": "http.request", "body": scope["body"]}]
    leaves = asyncio.Event()  # never set: the client stays

    async def receive() -> Mapping[str, Any]:
        if messages:
            if body_arrives is not None:
                await body_arrives.wait()
            return messages.pop()
        await leaves.wait()
        return {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
        else:
            bodies.append(message.get("body", b""))

    await application(dict(scope), receive, send)  # type: ignore[arg-type]
    return statuses[0], b"".join(bodies)
