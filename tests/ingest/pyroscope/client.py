"""Pyroscope's client: requests with Basic authentication, and recorded requests."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.ingest.client import Client

RECORDED = Path(__file__).parent / "recorded"
PUSH = "/push.v1.PusherService/Push"


@dataclass(frozen=True)
class PyroscopeClient:
    agent: Client

    @property
    def authorization(self) -> str:
        return basic("shop", self.agent.key)

    def post(self, path: str, content: bytes, **headers: str) -> httpx.Response:
        fields = {"Authorization": self.authorization}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        plain = Client(self.agent.project)
        return plain.request("POST", path, content=content, headers=fields)

    def ingest(
        self, content: bytes = b"", headers: dict[str, str] | None = None, /, **query: object
    ) -> httpx.Response:
        """Send a body to /ingest; `query` has the parameters."""
        parameters = {"name": "shop", "from": "1", "until": "11"} | query
        stated = {name: str(value) for name, value in parameters.items() if value is not None}
        return self.post(f"/ingest?{httpx.QueryParams(stated)}", content, **(headers or {}))

    def multipart(self, parts: dict[str, bytes], **query: object) -> httpx.Response:
        body, content_type = multipart(parts)
        return self.ingest(body, {"Content-Type": content_type}, **query)

    def push(
        self, content: bytes, content_type: str = "application/json", **headers: str
    ) -> httpx.Response:
        return self.post(PUSH, content, Content_Type=content_type, **headers)

    def replay(self, name: str) -> httpx.Response:
        """Send a recorded request again."""
        request = recorded(name)
        return self.post(request["path"], body_of(name), **request["headers"])


def recorded(name: str) -> dict[str, Any]:
    request: dict[str, Any] = json.loads((RECORDED / f"{name}.json").read_text())
    return request


def body_of(name: str) -> bytes:
    return (RECORDED / f"{name}.body").read_bytes()


def basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def multipart(parts: dict[str, bytes], boundary: str = "limit") -> tuple[bytes, str]:
    """Return a multipart/form-data body and its Content-Type."""
    body = b""
    for name, content in parts.items():
        disposition = f'form-data; name="{name}"; filename="{name}.bin"'
        head = f"--{boundary}\r\nContent-Disposition: {disposition}\r\n\r\n"
        body += head.encode() + content + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"
