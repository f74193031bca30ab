"""Discovery document of the API, by which google-api-python-client makes its requests.

The Python agent fetches it at its start, and takes the server's address from `rootUrl`.
"""

from typing import Any

import orjson
from django.conf import settings

from common.asgi import Receive, Scope, Send
from endpoints.errors import WrongMethod
from endpoints.plain_asgi import IncomingRequest, send_error, send_response
from projects.profile_types import WIRE_NUMBERS

PATH = "/$discovery/rest"
_JSON = {"Content-Type": "application/json", "Cache-Control": "max-age=300"}
_PROJECT = r"^projects/[^/]+$"
_PROFILE = r"^projects/[^/]+/profiles/[^/]+$"
_STRING = {"type": "string"}
_STRINGS = {"type": "object", "additionalProperties": _STRING}


async def respond(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for the document (an ASGI application)."""
    if scope["method"] in {"GET", "HEAD"}:
        await send_response(send, 200, _JSON, orjson.dumps(document(settings.FLAMEWATCH_URL)))
    else:
        await send_error(IncomingRequest(receive).delay_end(send), WrongMethod("GET"))


def document(url: str) -> dict[str, Any]:
    """Return the document of a server with the given public URL."""
    return {
        "kind": "discovery#restDescription",
        "discoveryVersion": "v1",
        "id": "cloudprofiler:v2",
        "name": "cloudprofiler",
        "version": "v2",
        "title": "Flamewatch, by the Cloud Profiler API",
        "protocol": "rest",
        "rootUrl": f"{url}/",
        "baseUrl": f"{url}/",
        "servicePath": "",
        "batchPath": "batch",
        "parameters": {
            "alt": _query("string", "Format of the response; always JSON."),
            "key": _query("string", "API key, for clients that cannot send headers."),
        },
        "schemas": _schemas(),
        "resources": {"projects": {"resources": {"profiles": {"methods": _methods()}}}},
    }


def _methods() -> dict[str, object]:
    create = _method("create", "POST", "v2/{+parent}/profiles", "CreateProfileRequest", "Profile")
    offline = _method(
        "createOffline", "POST", "v2/{+parent}/profiles:createOffline", "Profile", "Profile"
    )
    patch = _method("patch", "PATCH", "v2/{+name}", "Profile", "Profile")
    patch["parameters"]["updateMask"] = _query("string", "Ignored: bytes and labels are set.")
    listing = _method("list", "GET", "v2/{+parent}/profiles", "", "ListProfilesResponse")
    listing["parameters"] |= {
        "pageSize": _query("integer", "Most profiles to return, up to 1,000.")
        | {"format": "int32"},
        "pageToken": _query("string", "nextPageToken of the previous response."),
        "profileBytes": _query("boolean", "Return the bytes of the profiles, too."),
    }
    return {"create": create, "createOffline": offline, "patch": patch, "list": listing}


def _method(name: str, verb: str, path: str, request: str, response: str) -> dict[str, Any]:
    parameter = "name" if "{+name}" in path else "parent"
    pattern = _PROFILE if parameter == "name" else _PROJECT
    method: dict[str, Any] = {
        "id": f"cloudprofiler.projects.profiles.{name}",
        "path": path,
        "flatPath": path,
        "httpMethod": verb,
        "parameterOrder": [parameter],
        "parameters": {
            parameter: {"type": "string", "location": "path", "required": True, "pattern": pattern}
        },
        "response": {"$ref": response},
    }
    return method | {"request": {"$ref": request}} if request else method


def _query(type: str, description: str) -> dict[str, str]:
    return {"type": type, "location": "query", "description": description}


def _schemas() -> dict[str, object]:
    types = [WIRE_NUMBERS[number] for number in sorted(WIRE_NUMBERS)]
    profile_type = {"type": "string", "enum": types}
    deployment, profile = {"$ref": "Deployment"}, {"$ref": "Profile"}
    properties: dict[str, dict[str, object]] = {
        "Deployment": {"projectId": _STRING, "target": _STRING, "labels": _STRINGS},
        "Profile": {
            "name": _STRING,
            "profileType": profile_type,
            "deployment": deployment,
            "duration": {"type": "string", "format": "google-duration"},
            "profileBytes": {"type": "string", "format": "byte"},
            "labels": _STRINGS,
            "startTime": {"type": "string", "format": "google-datetime", "readOnly": True},
        },
        "CreateProfileRequest": {
            "deployment": deployment,
            "profileType": {"type": "array", "items": profile_type},
        },
        "ListProfilesResponse": {
            "profiles": {"type": "array", "items": profile},
            "nextPageToken": _STRING,
            "skippedProfiles": {"type": "integer", "format": "int32"},
        },
    }
    return {
        name: {"id": name, "type": "object", "properties": fields}
        for name, fields in properties.items()
    }
