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
from ingest.cloud_profiler import discovery, endpoint, token_endpoint  # noqa: E402
from profiler_site import health, metrics  # noqa: E402
from profiler_site.process import lifespan, static_handler  # noqa: E402

API, API_URLCONF = "/api/v1/", "api.urls"
ENCRYPTED = (endpoint.PREFIX, API, token_endpoint.PATH)  # paths of requests with credentials

agents = cast("ASGI3Application", endpoint.Endpoint())
pages = cast("ASGI3Application", PageHandler())
static_files = cast("ASGI3Application", static_handler.StaticHandler())
tokens = cast("ASGI3Application", token_endpoint.respond)
discovery_document = cast("ASGI3Application", discovery.respond)
programs = cast("ASGI3Application", LeanHandler(API_URLCONF))
plain_http_rejection = cast("ASGI3Application", plain_http.reject)


async def application(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    seen = through_proxies(cast("dict[str, Any]", scope))
    scope = cast("Scope", seen)
    if seen["path"].startswith(ENCRYPTED) and plain_http.is_rejected(seen):
        await plain_http_rejection(scope, receive, send)
    elif scope["type"] == "http" and scope["path"].startswith(endpoint.PREFIX):
        await agents(scope, receive, send)
    elif scope["type"] == "http" and scope["path"].startswith(API):
        await programs(scope, receive, send)
    elif scope["type"] == "http" and scope["path"] == token_endpoint.PATH:
        await tokens(scope, receive, send)
    elif scope["type"] == "http" and scope["path"] == discovery.PATH:
        await discovery_document(scope, receive, send)
    elif scope["type"] == "http" and scope["path"] in health.ADDRESSES:
        await health.respond(scope, send)
    elif scope["type"] == "http" and scope["path"] == metrics.PATH:
        await metrics.respond(scope, send)
    elif scope["type"] == "http" and scope["path"].startswith(static_handler.PREFIX):
        await static_files(scope, receive, send)
    else:
        await pages(scope, receive, send)


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
