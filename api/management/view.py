"""View of the management resources: authenticate the token, check the permission, run the action.

Permissions are checked in the thread that runs the action, with the role as it is then.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from api.management.call import (
    AccountAction,
    AccountCall,
    AccountResource,
    Created,
    ProjectAction,
    ProjectCall,
    ProjectResource,
    ResourceAction,
    Result,
    TarDownload,
)
from common import database_pool
from common.asgi import get_scope, note_authenticated
from common.minute_counter import counter
from endpoints import credentials, json_message
from endpoints.api_view import WireView, json_response
from endpoints.errors import NotFound, TooManyQueries, WrongScope
from endpoints.json_message import Message
from endpoints.params import reader
from projects.audit import Origin
from projects.credentials import access_tokens
from projects.credentials.access_tokens import PermissionMissing, TokenHolder
from projects.models import Role, User

_BODY_METHODS = frozenset({"POST", "PATCH"})


class ManagementView(WireView):
    """View of one resource, which holds its actions by method."""

    http_method_names = ["get", "post", "patch", "delete"]
    resource: AccountResource | ProjectResource | None = None

    @property
    def allowed_methods(self) -> list[str]:
        return list(self._actions)

    async def get(self, request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        return await self._respond(request, arguments)

    async def post(self, request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        return await self._respond(request, arguments)

    async def patch(self, request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        return await self._respond(request, arguments)

    async def delete(self, request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        return await self._respond(request, arguments)

    async def _respond(self, request: HttpRequest, arguments: dict[str, Any]) -> HttpResponseBase:
        action = self._actions[request.method or ""]
        holder = await _authenticate(request)
        await _admit(holder)
        body = _read_body(request, action)
        parameters = reader.parse(request.META.get("QUERY_STRING", ""))
        parameters.expect(*action.parameters, credentials.KEY)
        parameters.done()

        def run() -> Result:
            call = AccountCall(
                holder=holder,
                user=User.objects.get(pk=holder.user),
                origin=replace(Origin.from_request(request), token=holder.prefix),
                parameters=parameters,
                body=body,
                arguments=arguments,
                now=timezone.now(),
            )
            return _run(action, call)

        return _build_response(await database_pool.run(run))

    @property
    def _actions(self) -> Mapping[str, ResourceAction[Any]]:
        if self.resource is None:
            raise TypeError("A view of the management API needs a resource.")
        return self.resource.actions


def _run(action: ResourceAction[Any], call: AccountCall) -> Result:
    if isinstance(action, AccountAction):
        if action.scope not in call.holder.scopes:
            raise PermissionMissing(f"This token lacks the scope {action.scope}.")
        return action.run(call)
    if not isinstance(action, ProjectAction):
        raise TypeError(action)
    arguments = dict(call.arguments)
    member = access_tokens.find_member(call.holder, arguments.pop("project"))
    if member is None:
        raise NotFound("No such project, or the owner of this token is not a member of it.")
    access_tokens.require_permission(call.holder, Role(member.role), action.permission)
    return action.run(
        ProjectCall(
            holder=call.holder,
            user=call.user,
            origin=call.origin,
            parameters=call.parameters,
            body=call.body,
            arguments=arguments,
            now=call.now,
            member=member,
        )
    )


async def _authenticate(request: HttpRequest) -> TokenHolder:
    text = credentials.key_text(request.headers, request.GET)
    if access_tokens.is_token(text):
        holder = await access_tokens.authenticate(text)
        note_authenticated(get_scope(request), ("user", holder.user))
        return holder
    await credentials.access(text, get_scope(request))  # raises for no key and for invalid ones
    raise WrongScope(
        "API keys send and read profiles. This resource needs a personal access token, which your"
        " account page creates."
    )


async def _admit(holder: TokenHolder) -> None:
    """Count one request of the person. Raise TooManyQueries."""
    minute, seconds = divmod(timezone.now().timestamp(), 60)
    allowed = settings.QUERIES_PER_MINUTE
    if not await counter("account_requests").increment(holder.user, int(minute), allowed):
        raise TooManyQueries(allowed, 60 - seconds, "person")


def _read_body(request: HttpRequest, action: ResourceAction[Any]) -> Message:
    if request.method not in _BODY_METHODS or not request.body:
        return {}
    body = json_message.parse(request.body)
    json_message.require_declared_fields(body, [each.name for each in action.fields])
    nullable = [each.name for each in action.fields if "null" in each.schema["type"]]
    json_message.require_no_null(body, nullable)
    return body


def _build_response(result: Result) -> HttpResponseBase:
    response: HttpResponseBase
    if result is None:
        response = HttpResponse(status=204)
    elif isinstance(result, TarDownload):
        response = StreamingHttpResponse(_pull(result.parts), content_type="application/x-tar")
        response["Content-Length"] = str(result.size)
        response["Content-Disposition"] = f'attachment; filename="{result.name}"'
    elif isinstance(result, Created):
        response = json_response(result.document, status=201)
    else:
        response = json_response(result)
    response["Cache-Control"] = "no-store"
    return response


async def _pull(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Make each part in a thread once the one before is sent: a slow client costs one part."""
    while (part := await database_pool.run(next, parts, None)) is not None:
        yield part
