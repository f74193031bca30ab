"""Django URLs under /v2; uploads are handled before Django, by endpoint.py."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from endpoints import json_message
from endpoints.api_view import WireView, json_response
from ingest.caller import Caller
from ingest.cloud_profiler.handshake import create_profile
from ingest.cloud_profiler.listing import list_profiles


class ProfilesView(WireView):
    """CreateProfile (POST) and ListProfiles (GET) of a project."""

    async def post(self, request: HttpRequest, project: str) -> HttpResponse:
        caller, message = Caller.from_http(request), json_message.parse(request.body)
        return json_response(await create_profile(caller, project, message))

    async def get(self, request: HttpRequest, project: str) -> HttpResponse:
        return json_response(await list_profiles(Caller.from_http(request), project, request.GET))


urlpatterns = [path("v2/projects/<str:project>/profiles", ProfilesView.as_view())]
