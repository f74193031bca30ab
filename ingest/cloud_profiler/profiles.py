"""Views of `/v2/projects/{project}/profiles`: POST is CreateProfile, GET is ListProfiles."""

from django.http import HttpRequest, HttpResponse

from endpoints.api_view import WireView, json_response
from ingest.cloud_profiler.handshake import create_profile
from ingest.cloud_profiler.listing import list_profiles


class ProfilesView(WireView):
    async def post(self, request: HttpRequest, project: str) -> HttpResponse:
        return json_response(await create_profile(request, project))

    async def get(self, request: HttpRequest, project: str) -> HttpResponse:
        return json_response(await list_profiles(request, project))
