"""Requests are labelled with their route, tested with the real frameworks."""

from collections.abc import Iterator

import flask
import httpx
import pytest
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, Client
from pytest_django import Settings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route, Router

from flamewatch.labelling.context import RUNNING
from flamewatch.labelling.encoding import decode
from flamewatch.middleware import endpoint
from flamewatch.middleware.asgi import App, Middleware, Scope
from flamewatch.middleware.flask import label

OURS = "flamewatch.middleware.django.Middleware"


def now() -> dict[str, str]:
    return dict(decode(RUNNING.get()))


@pytest.fixture(autouse=True)
def no_labelled_routes() -> Iterator[None]:
    endpoint._labelled_routes.clear()
    yield
    assert now() == {}, "a label outlived its request"


@pytest.fixture
def django_site(settings: Settings) -> None:
    settings.ROOT_URLCONF = "django_site"
    settings.MIDDLEWARE = [OURS]
    settings.ALLOWED_HOSTS = ["*"]


@pytest.mark.usefixtures("django_site")
@pytest.mark.parametrize("view", ["", "async/"])
class TestDjango:
    def test_wsgi_request_has_its_route_as_endpoint(self, view: str) -> None:
        found = Client().get(f"/orders/7/{view}").json()
        assert found == {"endpoint": f"/orders/<int:number>/{view}"}

    async def test_asgi_request_has_its_route_as_endpoint(self, view: str) -> None:
        found = (await AsyncClient().get(f"/orders/7/{view}")).json()
        assert found == {"endpoint": f"/orders/<int:number>/{view}"}

    async def test_asgi_request_through_sync_middlewares_has_its_route(
        self, settings: Settings, view: str
    ) -> None:
        settings.MIDDLEWARE = ["test_middleware.sync_only", OURS, "test_middleware.sync_only"]
        found = (await AsyncClient().get(f"/orders/7/{view}")).json()
        assert found == {"endpoint": f"/orders/<int:number>/{view}"}


@pytest.mark.usefixtures("django_site")
class TestDjangosErrors:
    def test_a_path_without_a_view_has_no_label(self) -> None:
        assert Client().get("/nowhere/").status_code == 404

    def test_an_error_ends_the_label(self) -> None:
        assert Client(raise_request_exception=False).get("/fails/").status_code == 500

    async def test_async_stack_uses_the_async_middleware(self) -> None:
        handler = ASGIHandler()
        [method] = handler._view_middleware
        assert method.__name__ == "_label_async"


def sync_only(get_response):  # type: ignore[no-untyped-def]
    def middleware(request: HttpRequest) -> HttpResponse:
        return get_response(request)  # type: ignore[no-any-return]

    return middleware


def flask_app() -> flask.Flask:
    app = flask.Flask("shop")
    label(app)
    app.add_url_rule("/orders/<int:number>", view_func=lambda number: now(), endpoint="order")
    app.add_url_rule("/fails", view_func=lambda: 1 / 0, endpoint="fails")
    return app


def test_flask_request_has_its_route_as_endpoint() -> None:
    client = flask_app().test_client()
    assert client.get("/orders/7").json == {"endpoint": "/orders/<int:number>"}
    assert client.get("/nowhere").status_code == 404
    assert client.get("/fails").status_code == 500


async def order(request: Request) -> JSONResponse:
    return JSONResponse(now())


INNER = [
    Route("/orders/{number:int}", order, methods=["GET"]),
    Route("/orders/{name}", order, methods=["POST"]),
    Route("/orders/new", order, methods=["GET"]),
]
ROUTES = [*INNER, Mount("/shop", routes=INNER), Mount("/other", app=Router(INNER))]


def around() -> App:
    return Middleware(Starlette(routes=ROUTES))


def within() -> App:
    app = Starlette(routes=ROUTES)
    app.add_middleware(Middleware)
    return app


async def get(app: App, path: str, method: str = "GET") -> httpx.Response:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://shop"
    ) as client:
        return await client.request(method, path)


@pytest.mark.parametrize("make", [around, within])
@pytest.mark.parametrize("mount", ["", "/shop", "/other"])
async def test_starlette_request_has_its_route_as_endpoint(make, mount: str) -> None:  # type: ignore[no-untyped-def]
    app = make()
    found = (await get(app, f"{mount}/orders/7")).json()
    assert found == {"endpoint": f"{mount}/orders/{{number:int}}"}
    found = (await get(app, f"{mount}/orders/new")).json()
    assert found == {"endpoint": f"{mount}/orders/new"}, "the route before takes another method"
    assert (await get(app, f"{mount}/nowhere")).status_code == 404
    assert (await get(app, f"{mount}/orders/7", "DELETE")).status_code == 405


async def plain(scope: Scope, receive: object, send) -> None:  # type: ignore[no-untyped-def]
    await JSONResponse(now())(scope, receive, send)  # type: ignore[arg-type]


async def test_other_asgi_application_passes_its_own_endpoint_function() -> None:
    assert (await get(Middleware(plain), "/7")).json() == {}
    application = Middleware(plain, endpoint=lambda scope: "/" + scope["path"].split("/")[1])
    assert (await get(application, "/orders/7")).json() == {"endpoint": "/orders"}


async def test_failing_endpoint_function_leaves_the_label_out() -> None:
    broken = Middleware(plain, endpoint=lambda scope: scope["no such key"])
    assert (await get(broken, "/7")).json() == {}


async def test_endpoints_are_bounded() -> None:
    paths = Middleware(plain, endpoint=lambda scope: scope["path"])
    for number in range(endpoint.MOST):
        assert (await get(paths, f"/{number}")).json() == {"endpoint": f"/{number}"}
    assert (await get(paths, "/one-more")).json() == {"endpoint": "(others)"}
    assert (await get(paths, "/0")).json() == {"endpoint": "/0"}
