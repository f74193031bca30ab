"""Base view of the query API: authenticate, limit the rate, parse the query and run it."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from api.requests import ApiRequestFields
from api.resources.table import RESOURCES
from api.response import Body, build_body, may_compress, respond
from common.asgi import get_scope
from endpoints import credentials
from endpoints.api_view import WireView
from endpoints.query_execution import admit_query, execute
from profiles.query import QueryContext, QueryJob
from projects.audit import Origin
from projects.credentials.authentication import Access


class ApiQueryView(WireView):
    """View of one resource, by its name in RESOURCES."""

    http_method_names = ["get"]
    resource = ""

    async def get(self, request: HttpRequest, project: str) -> HttpResponse:
        access = await _authenticate_reader(request, project)
        await admit_query(access)
        fields = _read_fields(request, access)
        api_request = fields.parse()
        query = RESOURCES[self.resource](api_request)
        # _authenticate_reader has used the key; this makes it known to `done`.
        api_request.parameters.read(credentials.KEY)
        api_request.parameters.done()
        job = QueryJob(run_resource, (self.resource, fields, may_compress(request)))
        origin = Origin.from_request(request)
        body = await execute(access, job, kind=f"api_{self.resource}", origin=origin)
        return respond(request, api_request, query, body)


def run_resource(
    context: QueryContext, resource: str, fields: ApiRequestFields, may_compress: bool
) -> Body:
    """Return the body of a valid request, also in a worker process."""
    return build_body(RESOURCES[resource](fields.parse()), may_compress, context)


async def _authenticate_reader(request: HttpRequest, project: str) -> Access:
    text = credentials.key_text(request.headers, request.GET)
    access = await credentials.project_access(text, get_scope(request), project)
    credentials.require_read(access)
    return access


def _read_fields(request: HttpRequest, access: Access) -> ApiRequestFields:
    return ApiRequestFields(
        project=access.project,
        project_id=access.project_id,
        query_string=request.META.get("QUERY_STRING", ""),
        now=timezone.now(),
        accept=request.headers.get("accept"),
    )
