"""ASGI application: dispatch by path to the endpoints, and the lifespan protocol."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import django
from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGISendCallable,
    HTTPScope,
    LifespanShutdownCompleteEvent,
    LifespanStartupCompleteEvent,
    LifespanStartupFailedEvent,
    Scope,
)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
django.setup(set_prefix=False)

from api.mcp import urls as mcp  # noqa: E402  needs Django to be set up
from api.pyroscope import urls as pyroscope_queries  # noqa: E402  needs Django to be set up
from common.client_address import through_proxies  # noqa: E402
from endpoints import plain_asgi  # noqa: E402
from endpoints.connect_protocol import connect_rejection  # noqa: E402
from endpoints.lean_handler import LeanHandler  # noqa: E402
from frontend.http.page_handler import get_page_handler  # noqa: E402  needs Django to be set up
from frontend.pages.embed import urls as embeds  # noqa: E402
from ingest.cloud_profiler import discovery, token_endpoint  # noqa: E402
from ingest.cloud_profiler import endpoint as cloud_profiler  # noqa: E402
from ingest.files import endpoint as files  # noqa: E402
from ingest.otlp import endpoint as otlp  # noqa: E402
from ingest.pyroscope import endpoint as pyroscope  # noqa: E402
from ingest.uploads.upload_metrics import Protocol, measure_uploads  # noqa: E402
from profiler_site import health  # noqa: E402
from profiler_site.metrics import endpoint as metrics  # noqa: E402
from profiler_site.process import lifespan, proxied_requests  # noqa: E402
from profiler_site.static_files import handler as static_files  # noqa: E402
from projects.credentials.embed_tokens import PATH_PREFIX as EMBED_PREFIX  # noqa: E402

API, API_URLCONF = "/api/v1/", "api.urls"


class Route(NamedTuple):
    """Application for the paths that `takes` accepts."""

    takes: Callable[[str], bool]
    application: ASGI3Application
    of_programs: bool = False  # requests carry API keys


def _below(prefix: str) -> Callable[[str], bool]:
    return lambda path: path.startswith(prefix)


def _route(takes: Callable[[str], bool], application: object, **options: bool) -> Route:
    return Route(takes, cast("ASGI3Application", application), **options)


# In this order: the first route that takes the path responds.
ROUTES = (
    _route(_below(cloud_profiler.PREFIX), cloud_profiler.Endpoint(), of_programs=True),
    _route(token_endpoint.PATH.__eq__, token_endpoint.respond, of_programs=True),
    _route(discovery.PATH.__eq__, discovery.respond),
    _route(files.is_import, measure_uploads(Protocol.FILE, files.endpoint), of_programs=True),
    _route(
        otlp.PATHS.__contains__,
        measure_uploads(Protocol.OTLP, otlp.OtlpEndpoint().__call__),
        of_programs=True,
    ),
    _route(
        pyroscope.PATHS.__contains__,
        measure_uploads(Protocol.PYROSCOPE, pyroscope.endpoint),
        of_programs=True,
    ),
    _route(
        pyroscope_queries.takes,
        LeanHandler(pyroscope_queries.__name__, connect_rejection),
        of_programs=True,
    ),
    _route(mcp.PATH.__eq__, LeanHandler(mcp.__name__), of_programs=True),
    _route(_below(API), LeanHandler(API_URLCONF), of_programs=True),
    _route(_below(EMBED_PREFIX), LeanHandler(embeds.__name__)),
    _route(_below(static_files.PREFIX), static_files.StaticHandler()),
)
PAGES = cast("ASGI3Application", get_page_handler())
REJECT_PLAIN_HTTP = cast("ASGI3Application", plain_asgi.reject_plain_http)
REJECT_UNKNOWN_PATH = cast("ASGI3Application", plain_asgi.reject_unknown_path)


async def application(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    seen = through_proxies(cast("dict[str, Any]", scope))
    if seen.get("client") == scope.get("client") or seen["path"] in health.ADDRESSES:
        await _dispatch(cast("Scope", seen), receive, send)
    else:
        await proxied_requests.respond(cast("ASGI3Application", _dispatch), seen, receive, send)


async def _dispatch(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    """Pass a request to its application by its path."""
    seen = cast("dict[str, Any]", scope)
    path = seen["path"]
    if path in health.ADDRESSES:
        await health.respond(cast("HTTPScope", scope), send)
    elif path == metrics.PATH:
        await metrics.respond(cast("HTTPScope", scope), send)
    else:
        await _application_for(path, seen)(scope, receive, send)


def _application_for(path: str, seen: dict[str, Any]) -> ASGI3Application:
    for route in ROUTES:
        if route.takes(path):
            is_rejected = route.of_programs and plain_asgi.is_plain_http(seen)
            return REJECT_PLAIN_HTTP if is_rejected else route.application
    return REJECT_UNKNOWN_PATH if plain_asgi.is_unknown_to_programs(seen) else PAGES


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
