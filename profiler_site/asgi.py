"""The ASGI application: by path, to the part that serves it; and the lifespan."""

import os
from typing import cast

from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGISendCallable,
    LifespanShutdownCompleteEvent,
    LifespanStartupCompleteEvent,
    LifespanStartupFailedEvent,
    Scope,
)
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
pages = cast("ASGI3Application", get_asgi_application())

from ingest.cloud_profiler import door  # noqa: E402  needs Django to be set up
from ingest.cloud_profiler.handler import LeanHandler  # noqa: E402
from profiler_site import lifespan  # noqa: E402

API, API_URLCONF = "/api/v1/", "ingest.urls"

agents = cast("ASGI3Application", door.Door())
programs = cast("ASGI3Application", LeanHandler(API_URLCONF))


async def application(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    if scope["type"] == "lifespan":
        await _live(receive, send)
    elif scope["type"] == "http" and scope["path"].startswith(door.PREFIX):
        await agents(scope, receive, send)
    elif scope["type"] == "http" and scope["path"].startswith(API):
        await programs(scope, receive, send)
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
