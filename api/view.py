"""Base view of the query API: authenticate, limit the rate, parse the query and run it."""

from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from api.execution import execute
from api.requests import ApiQuery, ApiRequest
from api.response import body_of, may_compress, respond
from common.minute_counter import counter
from endpoints import credentials
from endpoints.api_view import WireView
from endpoints.errors import NotFound, TooManyQueries
from endpoints.params import query_string
from projects.credentials.authentication import Access

_KEY = "key"  # query parameter that may carry the API key


def _nothing(request: ApiRequest) -> ApiQuery:
    raise NotFound("Not found: no such URL.")


class ApiQueryView(WireView):
    """View of one resource. `query` parses the request, and raises if it is invalid."""

    http_method_names = ["get"]
    query: Callable[[ApiRequest], ApiQuery] = staticmethod(_nothing)

    async def get(self, request: HttpRequest, project: str) -> HttpResponse:
        access = await _reader(request, project)
        await _admit(access)
        api_request = _api_request(request, access)
        query = self.query(api_request)
        api_request.parameters.one(_KEY)
        api_request.parameters.done()
        body = await execute(access, partial(body_of, query, may_compress(request)))
        return respond(request, api_request, query, body)


async def _reader(request: HttpRequest, project: str) -> Access:
    text = credentials.key_text(request.headers, request.GET)
    access = await credentials.access(text)
    credentials.require_own(access, project)
    credentials.require_read(access)
    return access


async def _admit(access: Access) -> None:
    """Count one query of this key; raise TooManyQueries above FLAMEWATCH_QUERIES_PER_MINUTE."""
    minute, seconds = divmod(timezone.now().timestamp(), 60)
    allowed = settings.QUERIES_PER_MINUTE
    if not await counter("queries").increment(access.key, int(minute), allowed):
        raise TooManyQueries(allowed, 60 - seconds)


def _api_request(request: HttpRequest, access: Access) -> ApiRequest:
    return ApiRequest(
        project=access.project,
        project_id=access.project_id,
        parameters=query_string.parse(request.META.get("QUERY_STRING", "")),
        now=timezone.now(),
        preferred=request.get_preferred_type,
    )
