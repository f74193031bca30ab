"""`…/annotations`: create and delete notes at a time or at a function; list them by GET.

Keys with the scope `write` create them, such as the marks of deployments, and delete those that a
key of the project created; keys with the scope `read` list them. Personal access tokens do it in
the name of their owner, who may also delete own notes.
"""

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from api.resources.annotation_list import annotation_document
from api.view import ApiQueryView
from common.asgi import get_scope
from endpoints import credentials, json_message
from endpoints.api_view import WireView, json_response
from endpoints.errors import BadField, NotFound, TooManyAnnotations
from endpoints.json_message import Message
from endpoints.query_execution import admit_query, execute
from projects import annotations
from projects.annotations import AnnotationFields, AnnotationLimit
from projects.audit import Origin
from projects.credentials.authentication import Access, require_service
from projects.models import Annotation
from projects.models.annotation import MAX_FUNCTION, MAX_TEXT

_LONGEST = {"service": 255, "version": 512, "function": MAX_FUNCTION}
_FIELDS = {"text", "time", "link", *_LONGEST}


class AnnotationsView(ApiQueryView):
    http_method_names = ["get", "post"]

    async def post(self, request: HttpRequest, project: str) -> HttpResponse:
        access = await _writer(request, project)
        fields = _read_fields(json_message.parse(request.body))
        require_service(access, fields.service)
        origin = credentials.get_origin(request, access)
        row = await execute(
            access, lambda _: _create(access, fields, origin), kind="api_annotations"
        )
        return json_response(annotation_document(row), status=201)


class AnnotationView(WireView):
    http_method_names = ["delete"]

    async def delete(self, request: HttpRequest, project: str, annotation: int) -> HttpResponse:
        access = await _writer(request, project)
        origin = credentials.get_origin(request, access)
        await execute(access, lambda _: _delete(access, annotation, origin), kind="api_annotations")
        return HttpResponse(status=204)


async def _writer(request: HttpRequest, project: str) -> Access:
    text = credentials.key_text(request.headers, request.GET)
    access = await credentials.project_access(text, get_scope(request), project)
    credentials.require_write(access)
    await admit_query(access)
    return access


def _read_fields(message: Message) -> AnnotationFields:
    json_message.require_declared_fields(message, sorted(_FIELDS))
    json_message.require_no_null(message)
    text = json_message.read_text(message, "text", "text").strip()
    if not text:
        raise BadField("text", "is missing")
    if len(text) > MAX_TEXT:
        raise BadField("text", f"has {len(text):,} characters; {MAX_TEXT} are allowed")
    found = {name: _short(message, name, most) for name, most in _LONGEST.items()}
    time = json_message.read_text(message, "time", "time")
    if found["version"] and not found["service"]:
        raise BadField("version", "needs a service")
    if found["function"]:
        if not found["service"]:
            raise BadField("function", "needs a service")
        for name, value in (("time", time), ("version", found["version"])):
            if value:
                raise BadField(name, "cannot be combined with a function")
    link = json_message.read_text(message, "link", "link").strip()
    if problem := annotations.link_problem(link):
        raise BadField("link", problem)
    note_time = json_message.parse_time(time, "time") if "time" in message else timezone.now()
    return AnnotationFields(text, None if found["function"] else note_time, link=link, **found)


def _short(message: Message, name: str, most: int) -> str:
    value = json_message.read_text(message, name, name).strip()
    if len(value) > most:
        raise BadField(name, f"has {len(value):,} characters; {most:,} are allowed")
    return value


def _create(access: Access, fields: AnnotationFields, origin: Origin) -> Annotation:
    actor = credentials.find_person(access)
    key = "" if actor else access.prefix
    try:
        return annotations.create(access.project, fields, actor=actor, key=key, origin=origin)
    except AnnotationLimit as reached:
        raise TooManyAnnotations(str(reached)) from None


def _delete(access: Access, annotation: int, origin: Origin) -> None:
    """Delete an annotation that a key created: the keys of agents are for no one's own notes."""
    actor = credentials.find_person(access)
    deletable = ~Q(created_key="")
    if actor is not None:
        deletable |= Q(created_by=actor)
    rows = Annotation.objects.filter(deletable, project=access.project, pk=annotation)
    row = rows.select_related("project").first()
    if row is None:
        whom = "you or an API key" if actor else "an API key of the project"
        raise NotFound(f"No annotation with this id that {whom} created.")
    access.services.require(row.service)
    annotations.delete(row, actor=actor, key="" if actor else access.prefix, origin=origin)
