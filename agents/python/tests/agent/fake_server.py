"""Fake Flamewatch server with scripted behaviour: respond, hang, redirect, send garbage, close."""

import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"
TIMEOUT = 60.0  # seconds; time limit for expected requests


@dataclass(frozen=True)
class Seen:
    """Received request."""

    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes
    connection: tuple[str, int]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def agent(self) -> str:
        return self.headers["x-flamewatch-agent"]


Respond = Callable[["Handler", Seen], None]


class FakeServer:
    """Server with scripted responses, used in order for each method; the last one is repeated."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.connections = 0
        self.closing = threading.Event()
        self._responses: dict[str, list[Respond]] = {
            "POST": [throttled("0.05s")],
            "PATCH": [stored],
        }
        self.changed = threading.Condition()

    def respond_with(self, method: str, *responses: Respond) -> None:
        with self.changed:
            self._responses[method] = list(responses)

    def note(self, seen: Seen) -> Respond:
        with self.changed:
            self.seen.append(seen)
            self.changed.notify_all()
            responses = self._responses[seen.method]
            return responses.pop(0) if len(responses) > 1 else responses[0]

    def requests(self, method: str) -> list[Seen]:
        with self.changed:
            return [seen for seen in self.seen if seen.method == method]

    def wait_for(self, method: str, count: int = 1) -> list[Seen]:
        return self.wait_until(
            lambda seen: sum(one.method == method for one in seen) >= count, method
        )

    def wait_until(self, enough: Callable[[list[Seen]], bool], method: str = "") -> list[Seen]:
        with self.changed:
            came = self.changed.wait_for(lambda: enough(self.seen), TIMEOUT)
        assert came, f"not within {TIMEOUT} s; {len(self.seen)} requests came: {self.seen[-3:]}"
        return self.requests(method) if method else list(self.seen)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fake: FakeServer

    def setup(self) -> None:
        super().setup()
        self.fake.connections += 1

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, self.path, headers, body, self.client_address)
        respond = self.fake.note(seen)
        with contextlib.suppress(OSError):
            respond(self, seen)

    do_PATCH = do_POST

    def log_message(self, format: str, *arguments: object) -> None:
        """Do nothing: tests check `seen` instead."""

    def send_json(self, status: int, message: object, **headers: str) -> None:
        body = json.dumps(message).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Do nothing: tests include clients that disconnect or reject the certificate."""


@contextlib.contextmanager
def serving(tls: ssl.SSLContext | None = None, port: int = 0) -> Iterator[tuple[FakeServer, str]]:
    """Yield the server and its address."""
    fake = FakeServer()
    handler = type("BoundHandler", (Handler,), {"fake": fake})
    server = QuietServer(("127.0.0.1", port), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield fake, f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
    finally:
        fake.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def assigned(
    kind: str, duration: str = "0.050s", name: str = "projects/acme/profiles/p1"
) -> Respond:
    def respond(handler: Handler, seen: Seen) -> None:
        profile = {"name": name, "profileType": kind, "duration": duration, "labels": {}}
        handler.send_json(200, profile | {"deployment": seen.json["deployment"]})

    return respond


def error_response(status: int, message: str = "no", delay: str | None = "0.05s") -> Respond:
    details = [{"@type": RETRY_INFO, "retryDelay": delay}] if delay else []
    error = {"code": status, "status": "ABORTED", "message": message, "details": details}

    def respond(handler: Handler, seen: Seen) -> None:
        handler.send_json(status, {"error": error})

    return respond


def throttled(delay: str) -> Respond:
    return error_response(409, "come back later", delay)


def stored(handler: Handler, seen: Seen) -> None:
    handler.send_json(200, {"name": seen.path.removeprefix("/v2/")})


def never_responds(handler: Handler, seen: Seen) -> None:
    """Send no response for as long as the server lives."""
    handler.fake.closing.wait(60)
    handler.close_connection = True


def cut(handler: Handler, seen: Seen) -> None:
    """Close the connection without a response."""
    handler.close_connection = True


def garbage(handler: Handler, seen: Seen) -> None:
    handler.wfile.write(b"\x00\xff\x13\x37 not http at all\r\n\r\n")
    handler.close_connection = True


def text(body: bytes, status: int = 200) -> Respond:
    def respond(handler: Handler, seen: Seen) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return respond


def flood(handler: Handler, seen: Seen) -> None:
    """Send 100 MB in chunks, so that no Content-Length reveals the size."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    for _ in range(100):
        handler.wfile.write(chunk)


def announced_flood(handler: Handler, seen: Seen) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(100 << 20))
    handler.end_headers()
    handler.wfile.write(b" " * 1024)


def redirect(url: str) -> Respond:
    def respond(handler: Handler, seen: Seen) -> None:
        handler.send_json(302, {}, Location=url)

    return respond
