"""Browser that requests pages of `PageHandler` through ASGI."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.test import Client

from frontend.http.page_handler import PageHandler
from projects.models import Project, User


def signed_in(user: User) -> tuple[bytes, bytes]:
    """Return the header of a browser in which the user is signed in."""
    client = Client()
    client.force_login(user)
    return b"cookie", f"sessionid={client.session.session_key}".encode()


class Browser:
    """One request, and what was sent in response until now."""

    def __init__(
        self,
        path: str,
        *headers: tuple[bytes, bytes],
        method: str = "GET",
        query: str = "",
        body: Sequence[bytes] = (b"",),
    ) -> None:
        self.sent: list[Mapping[str, Any]] = []
        self._body, self._closed = [*body], asyncio.Event()
        self._scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(b"host", b"127.0.0.1"), *headers],
            "client": ("127.0.0.1", 5),
            "scheme": "http",
            "state": {"not to be": "passed on"},
        }

    async def get(self) -> "Browser":
        await PageHandler()(self._scope, self._receive, self._send)
        return self

    def close(self) -> None:
        self._closed.set()

    async def _receive(self) -> Mapping[str, Any]:
        if self._body:
            body = self._body.pop(0)
            return {"type": "http.request", "body": body, "more_body": bool(self._body)}
        await self._closed.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Mapping[str, Any]) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[bytes, bytes]:
        return {name.lower(): value for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent[1:])

    @property
    def text(self) -> str:
        return self.body.decode()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110  the change happens in threads
            await asyncio.sleep(0.001)


def flame(project: Project) -> str:
    return f"/p/{project.project_id}/flame"
