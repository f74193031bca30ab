"""Base view of the query API: authenticate, limit the rate, parse the query and run it."""

from collections.abc import Callable
from functools import partial

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from api.requests import ApiQuery, ApiRequest
from api.response import build_body, may_compress, respond
from common.asgi import get_scope
from endpoints import credentials
from endpoints.api_view import WireView
from endpoints.errors import NotFound
from endpoints.params import reader
from endpoints.query_execution import admit_query, execute
from projects.credentials.authentication import Access


def _reject_url(request: ApiRequest) -> ApiQuery:
    raise NotFound("Not found: no such URL.")


class ApiQueryView(WireView):
    """View of one resource. `parse_query` raises if the request is invalid."""

    http_method_names = ["get"]
    parse_query: Callable[[ApiRequest], ApiQuery] = staticmethod(_reject_url)
    kind = "api"  # label of metrics

    async def get(self, request: HttpRequest, project: str) -> HttpResponse:
        access = await _authenticate_reader(request, project)
        await admit_query(access)
        api_request = _build_api_request(request, access)
        query = self.parse_query(api_request)
        # _authenticate_reader has used the key; this makes it known to `done`.
        api_request.parameters.read(credentials.KEY)
        api_request.parameters.done()
        body = await execute(
            access, partial(build_body, query, may_compress(request)), kind=self.kind
        )
        return respond(request, api_request, query, body)


async def _authenticate_reader(request: HttpRequest, project: str) -> Access:
    text = credentials.key_text(request.headers, request.GET)
    access = await credentials.access(text, get_scope(request))
    credentials.require_own(access, project)
    credentials.require_read(access)
    return access


def _build_api_request(request: HttpRequest, access: Access) -> ApiRequest:
    return ApiRequest(
        project=access.project,
        project_id=access.project_id,
        parameters=reader.parse(request.META.get("QUERY_STRING", "")),
        now=timezone.now(),
        preferred=request.get_preferred_type,
    )
