"""An ASGI application for uvicorn: FastAPI where it is installed, else Starlette below it."""

import importlib
import importlib.util
from typing import Any

from flamewatch.middleware.asgi import Middleware
from tests.end_to_end.hosts.shop import checkout


def pay() -> str:
    checkout()
    return "paid"


def fastapi_application() -> Any:
    app = importlib.import_module("fastapi").FastAPI()
    app.get("/pay/")(pay)
    return app


def starlette_application() -> Any:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse(pay())

    return Starlette(routes=[Route("/pay/", answer)])


has_fastapi = importlib.util.find_spec("fastapi") is not None
application = fastapi_application() if has_fastapi else starlette_application()
application.add_middleware(Middleware)
