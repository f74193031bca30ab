"""ASGI application: dispatch by path to the endpoints, and the lifespan protocol."""

import os
from typing import Any, cast

import django
from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGISendCallable,
    LifespanShutdownCompleteEvent,
    LifespanStartupCompleteEvent,
    LifespanStartupFailedEvent,
    Scope,
)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
django.setup(set_prefix=False)

from common.client_address import through_proxies  # noqa: E402
from endpoints import plain_http  # noqa: E402
from endpoints.lean_handler import LeanHandler  # noqa: E402
from frontend.page_handler import PageHandler  # noqa: E402  needs Django to be set up
from ingest.cloud_profiler import endpoint  # noqa: E402
from ingest.otlp import endpoint as otlp_endpoint  # noqa: E402
from profiler_site import health, metrics  # noqa: E402
from profiler_site.process import lifespan, static_handler  # noqa: E402

API, API_URLCONF = "/api/v1/", "api.urls"

agents = cast("ASGI3Application", endpoint.Endpoint())
otlp = cast("ASGI3Application", otlp_endpoint.OtlpEndpoint())
pages = cast("ASGI3Application", PageHandler())
static_files = cast("ASGI3Application", static_handler.StaticHandler())
programs = cast("ASGI3Application", LeanHandler(API_URLCONF))
plain_http_rejection = cast("ASGI3Application", plain_http.reject)


async def application(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    seen = through_proxies(cast("dict[str, Any]", scope))
    scope = cast("Scope", seen)
    if _is_of_programs(seen["path"]) and plain_http.is_rejected(seen):
        await plain_http_rejection(scope, receive, send)
    elif scope["type"] == "http" and scope["path"].startswith(endpoint.PREFIX):
        await agents(scope, receive, send)
    elif scope["type"] == "http" and scope["path"] in otlp_endpoint.PATHS:
        await otlp(scope, receive, send)
    elif scope["type"] == "http" and scope["path"].startswith(API):
        await programs(scope, receive, send)
    elif scope["type"] == "http" and scope["path"] in health.ADDRESSES:
        await health.respond(scope, send)
    elif scope["type"] == "http" and scope["path"] == metrics.PATH:
        await metrics.respond(scope, send)
    elif scope["type"] == "http" and scope["path"].startswith(static_handler.PREFIX):
        await static_files(scope, receive, send)
    else:
        await pages(scope, receive, send)


def _is_of_programs(path: str) -> bool:
    """Return True for paths that programs use with an API key."""
    return path.startswith((endpoint.PREFIX, API)) or path in otlp_endpoint.PATHS


async def _live(receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    await receive()  # lifespan.startup
    try:
        await lifespan.start()
    except Exception as error:
        await send(LifespanStartupFailedEvent(type="lifespan.startup.failed", message=str(error)))
        raise
    await send(LifespanStartupCompleteEvent(type="lifespan.startup.complete"))
    await receive()  # lifespan.shutdown
    await lifespan.stop()
    await send(LifespanShutdownCompleteEvent(type="lifespan.shutdown.complete"))
