"""URLs of a Django site whose views respond with the labels under which they run."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import include, path

from flamewatch.labelling.context import RUNNING
from flamewatch.labelling.encoding import decode


def sync_view(request: HttpRequest, **_: object) -> HttpResponse:
    return JsonResponse(dict(decode(RUNNING.get())))


async def async_view(request: HttpRequest, **_: object) -> HttpResponse:
    return JsonResponse(dict(decode(RUNNING.get())))


def failing(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("no")


orders = [path("<int:number>/", sync_view), path("<int:number>/async/", async_view)]
urlpatterns = [path("orders/", include(orders)), path("fails/", failing)]


def nothing(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return HttpResponse(status=500 if exception is None else 404)


handler404 = handler500 = nothing
