"""FastAPI application for uvicorn."""

from fastapi import FastAPI

from flamewatch.middleware.asgi import Middleware
from tests.end_to_end.hosts.shop import checkout

application = FastAPI()
application.add_middleware(Middleware)


@application.get("/pay/")
def pay() -> str:
    checkout()
    return "paid"
