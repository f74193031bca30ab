"""A Django project in one file, for gunicorn."""

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

from tests.end_to_end.hosts.shop import checkout

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=["flamewatch.middleware.django.Middleware"],
)


def pay(request: HttpRequest) -> HttpResponse:
    checkout()
    return HttpResponse("paid")


urlpatterns = [path("pay/", pay)]
application: WSGIHandler = get_wsgi_application()
