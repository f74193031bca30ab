"""Counts and times of uploads by protocol and status of the response."""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from typing import Any

from prometheus_client import Counter, Histogram

from common.asgi import Receive, Scope, Send
from common.metrics import DURATION_BUCKETS, REGISTRY
from endpoints.error_responses import http_status

Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class Protocol(StrEnum):
    """Protocol of an upload; label of metrics."""

    CLOUD_PROFILER = "cloud_profiler"
    CLOUD_PROFILER_GRPC = "cloud_profiler_grpc"
    FILE = "file"
    OTLP = "otlp"
    OTLP_GRPC = "otlp_grpc"
    PYROSCOPE = "pyroscope"


DISCONNECTED = "disconnected"  # the client left before the response
_UPLOADS = Counter(
    "flamewatch_uploads",
    "Uploads by protocol and HTTP status of the response (gRPC: that of the same error in HTTP).",
    ["protocol", "status"],
    registry=REGISTRY,
)
_SECONDS = Histogram(
    "flamewatch_upload_duration_seconds",
    "Time from the head of an upload to its response, with the transfer of its body.",
    ["protocol"],
    buckets=DURATION_BUCKETS,
    registry=REGISTRY,
)
for _protocol in Protocol:
    _SECONDS.labels(_protocol.value)
    _UPLOADS.labels(_protocol.value, "200")


def measure_uploads(protocol: Protocol, application: Application) -> Application:
    """Return the ASGI application, which counts each request as an upload."""

    @wraps(application)
    async def measure(scope: Scope, receive: Receive, send: Send) -> None:
        status = DISCONNECTED

        async def send_and_note(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        started = time.perf_counter()
        try:
            await application(scope, receive, send_and_note)
        finally:
            _note(protocol, status, time.perf_counter() - started)

    return measure


@contextmanager
def measure_call(protocol: Protocol) -> Iterator[None]:
    """Count a gRPC call as an upload."""
    started = time.perf_counter()
    status = DISCONNECTED
    try:
        yield
        status = "200"
    except Exception as error:
        status = str(http_status(error))
        raise
    finally:
        _note(protocol, status, time.perf_counter() - started)


def _note(protocol: Protocol, status: str, seconds: float) -> None:
    _UPLOADS.labels(protocol.value, status).inc()
    _SECONDS.labels(protocol.value).observe(seconds)
