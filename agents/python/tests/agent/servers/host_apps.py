"""Web applications for tests in real servers; each request burns CPU time in `burn`."""

import time
from collections.abc import Callable, Iterable
from typing import Any

import flask

from flamewatch.middleware.flask import label

SECONDS = 0.02


def burn() -> None:
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        sum(range(300))


wsgi = flask.Flask("shop")
label(wsgi)


@wsgi.route("/orders/<int:number>")
def order(number: int) -> str:
    burn()
    return f"order {number}"


def bare(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """WSGI application without a framework or a label."""
    burn()
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"order"]


async def asgi(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    burn()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"order"})
