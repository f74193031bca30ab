"""Endpoint `POST /api/v1/projects/<project>/capture`: request a profile immediately.

It has the limits of a query, for it costs as much: statements on the head's database, one of them a
commit. The server's operator has no limits.
"""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse

from common import database_pool
from common.asgi import get_scope
from endpoints import credentials, json_message
from endpoints.api_view import WireView, json_response
from endpoints.errors import BadField, NotFound
from endpoints.json_message import Message
from endpoints.query_execution import admit_query, execute
from projects import audit
from projects.credentials import operator_token
from projects.credentials.authentication import require_service
from projects.models import Project, User
from projects.profile_types import NEVER_REQUESTED, ProfileType
from scheduler import capture_now
from scheduler.capture_now import PendingCapture


@dataclass(frozen=True, slots=True)
class CaptureParams:
    service: str
    type: ProfileType
    zone: str | None
    version: str | None


class CaptureView(WireView):
    http_method_names = ["post"]

    async def post(self, request: HttpRequest, project: str) -> HttpResponse:
        text = credentials.key_text(request.headers, request.GET)
        if text.startswith(operator_token.PREFIX) and operator_token.read_project(text) == project:
            params = _read_params(json_message.parse(request.body))
            origin = audit.Origin.from_request(request)
            pending = await database_pool.run(
                _request_capture, project, None, audit.OPERATOR, params, origin
            )
        else:
            access = await credentials.project_access(text, get_scope(request), project)
            if access.user is not None:
                credentials.require_write(access)
            await admit_query(access)
            params = _read_params(json_message.parse(request.body))
            require_service(access, params.service)
            origin = credentials.get_origin(request, access)
            pending = await execute(
                access,
                lambda _: _request_capture(
                    access.project_id,
                    credentials.find_person(access),
                    "" if access.user is not None else access.prefix,
                    params,
                    origin,
                ),
                kind="api_capture",
            )
        return json_response(_json(params, pending), status=201)


def _read_params(message: Message) -> CaptureParams:
    json_message.require_no_null(message)
    service = json_message.read_text(message, "service", "service")
    if not service:
        raise BadField("service", "is missing")
    type = json_message.parse_profile_type(message.get("type"), "type")
    if type in NEVER_REQUESTED:
        raise BadField("type", f"{type} cannot be requested from agents")
    return CaptureParams(
        service,
        type,
        zone=json_message.read_text(message, "zone", "zone") or None,
        version=json_message.read_text(message, "version", "version") or None,
    )


def _request_capture(
    project_id: str,
    person: User | None,
    key: str,
    params: CaptureParams,
    origin: audit.Origin,
) -> PendingCapture:
    """Request the capture for a person, or for a key (its prefix, or audit.OPERATOR)."""
    project = Project.objects.filter(project_id=project_id).first()
    if project is None:
        raise NotFound("No such project.")
    return capture_now.request_capture(
        project,
        params.service,
        params.type,
        params.zone,
        params.version,
        actor=person,
        actor_key=key,
        origin=origin,
    )


def _json(params: CaptureParams, pending: PendingCapture) -> dict[str, object]:
    return {
        "slot": pending.request.id,
        "service": params.service,
        "type": params.type.value,
        "waiting": pending.waiting,
    }
