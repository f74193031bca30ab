"""OpenAPI 3.1 document of /api/v1: resources of queries, of management, and the import of files."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, get_args, get_type_hints

from django.utils import timezone

from api.contract.other_operations import OTHER_OPERATIONS
from api.contract.recorder import Declared, ParameterRecorder
from api.contract.schemas import Schema, build_schema
from api.formats import CSV, FOLDED, JSON, PPROF, SPEEDSCOPE
from api.management.call import (
    AccountAction,
    BodyField,
    Created,
    ProjectAction,
    ResourceAction,
    TarDownload,
)
from api.management.routes import RESOURCES as MANAGEMENT_RESOURCES
from api.management.routes import route
from api.requests import ApiRequest
from api.resources.table import RESOURCES as QUERY_RESOURCES
from endpoints.params.parameter import Family, Repeated
from projects.credentials.access_tokens import SCOPES

Operation = dict[str, Any]

_PATH_ARGUMENT = re.compile(r"<(int|str):(\w+)>")
_ERROR: Schema = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "status", "message", "details"],
            "properties": {
                "code": {"type": "integer", "description": "HTTP status"},
                "status": {"type": "string", "description": "Name of a google.rpc.Code"},
                "message": {"type": "string"},
                "details": {"type": "array", "items": {"type": "object"}},
            },
        }
    },
}
_ERROR_RESPONSE = {
    "description": "Error, with a sentence and the time after which to retry",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
_PROJECT = {
    "name": "project",
    "in": "path",
    "required": True,
    "description": "Project ID; - is the project of the API key",
    "schema": {"type": "string"},
}
_FORMS = {media: form for form in (JSON, PPROF, FOLDED, SPEEDSCOPE, CSV) for media in form.accepted}
_SUMMARIES = {
    "tree": "Get the merged call tree, or a file of it",
    "top": "List functions by self and total value",
    "compare": "Compare two selections of profiles",
    "history": "Get the values of functions over time",
    "series": "Get the values of profiles over time",
    "services": "List the services with their profiles in a time range",
    "profiles": "List single profiles",
    "deployments": "List deployments",
    "pgo": "Get a CPU profile for profile-guided optimization of a Go program",
    "annotations": "List notes",
    "regressions": "List changes of functions that the server found",
    "insights": "List the usual wastes that the profiles of a service show",
    "functions": "Search for functions in all services, with cost, callers and versions",
}


@cache
def build_contract() -> dict[str, Any]:
    """Return the document, which is the same for everybody and every project."""
    paths: dict[str, dict[str, Operation]] = {}
    for path, method, operation in _operations():
        paths.setdefault(path, {})[method] = operation
    bearer = {"type": "http", "scheme": "bearer"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Flamewatch API",
            "version": "1",
            "description": (
                "API keys (fw_…) send and read the profiles of one project. Personal access tokens"
                " (fwp_…) act as a person, within their scopes and the person's roles."
            ),
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": _ERROR},
            "securitySchemes": {
                "apiKey": bearer | {"description": "API key of a project"},
                "token": bearer | {"description": "Personal access token"},
            },
        },
    }


def _operations() -> Iterator[tuple[str, str, Operation]]:
    for resource in MANAGEMENT_RESOURCES:
        for method, action in resource.actions.items():
            yield (
                _openapi_path(route(resource)),
                method.lower(),
                _build_management_operation(resource.path, action),
            )
    for name in QUERY_RESOURCES:
        yield f"/api/v1/projects/{{project}}/{name}", "get", _build_query_operation(name)
    for path, methods in OTHER_OPERATIONS.items():
        for method, operation in methods.items():
            common = {
                "parameters": [_PROJECT, *operation.get("parameters", ())],
                "responses": {**operation["responses"], "default": _ERROR_RESPONSE},
            }
            yield path, method, operation | common


def _openapi_path(route: str) -> str:
    return "/" + _PATH_ARGUMENT.sub(r"{\2}", route)


def _build_management_operation(path: str, action: ResourceAction[Any]) -> Operation:
    arguments = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer" if kind == "int" else "string"},
        }
        for kind, name in _PATH_ARGUMENT.findall(path)
    ]
    operation: Operation = {
        "summary": action.summary,
        "tags": ["account" if isinstance(action, AccountAction) else "project"],
        "security": [{"token": []}],
        "parameters": [
            *([_PROJECT] if isinstance(action, ProjectAction) else []),
            *arguments,
            *(_query_parameter(each.name, each) for each in action.parameters),
        ],
        "responses": {**_build_management_response(action), "default": _ERROR_RESPONSE},
    }
    if isinstance(action, ProjectAction):
        scope = SCOPES[action.permission]
        operation["description"] = f"Permission: {action.permission.label}. Scope: {scope}."
    elif isinstance(action, AccountAction):
        operation["description"] = f"Scope: {action.scope}."
    if action.fields:
        schema = _body_schema(action.fields)
        content = {"application/json": {"schema": schema}}
        operation["requestBody"] = {"required": bool(schema["required"]), "content": content}
    return operation


def _build_management_response(action: ResourceAction[Any]) -> dict[str, Any]:
    returned = get_type_hints(action.run)["return"]
    if returned is type(None):
        return {"204": {"description": "Done"}}
    if returned is TarDownload:
        return {"200": {"description": "Tar file", "content": {"application/x-tar": {}}}}
    arguments = get_args(returned)
    is_created = getattr(returned, "__origin__", None) is Created
    schema = build_schema(arguments[0] if is_created else returned)
    content = {"application/json": {"schema": schema}}
    status = "201" if is_created else "200"
    return {status: {"description": "Created" if is_created else "Found", "content": content}}


def _body_schema(fields: tuple[BodyField, ...]) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {each.name: {**each.schema, "description": each.meaning} for each in fields},
        "required": [each.name for each in fields if each.is_required],
    }


def _build_query_operation(name: str) -> Operation:
    """Return the operation of a query resource, by parsing a request that has little more than
    the required parameters."""
    recorder = ParameterRecorder([("service", "x"), ("type", "CPU"), ("find", "x")])
    media_types: list[str] = []

    def note_media_types(available: Sequence[str]) -> str:
        media_types.extend(available)
        return available[0]

    QUERY_RESOURCES[name](
        ApiRequest(
            project=0,
            project_id="x",
            parameters=recorder,
            now=timezone.now(),
            preferred=note_media_types,
        )
    )
    forms = dict.fromkeys(_FORMS[each] for each in media_types)
    content = {
        form.content_type.partition(";")[0]: {"schema": {"type": "object"} if form is JSON else {}}
        for form in reversed(forms)  # JSON last: another format has its content type, too
    }
    return {
        "summary": _SUMMARIES[name],
        "tags": ["profiles"],
        "security": [{"apiKey": []}, {"token": []}],
        "parameters": [
            _PROJECT,
            *(
                _query_parameter(each, declared, is_required=each in recorder.required)
                for each, declared in recorder.declared.items()
            ),
        ],
        "responses": {
            "200": {"description": "Result", "content": content},
            "304": {"description": "Not changed since the ETag of If-None-Match"},
            "default": _ERROR_RESPONSE,
        },
    }


def _query_parameter(name: str, declared: Declared, *, is_required: bool = False) -> dict[str, Any]:
    schema: Schema = {"type": "string"}
    if isinstance(declared, Repeated | Family):
        schema = {"type": "array", "items": schema}
    return {
        "name": name,
        "in": "query",
        "required": is_required,
        "description": declared.meaning,
        "schema": schema,
    }
