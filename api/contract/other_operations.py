"""Operations that are not declared in tables: notes, captures and the import of files."""

from typing import Any

_PREFIX = "/api/v1/projects/{project}"
_BOTH: list[dict[str, list[str]]] = [{"apiKey": []}, {"token": []}]


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _json_body(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _json_response(description: str, properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _import_parameter(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": {"type": "string"}}


_NOTE = {
    "id": {"type": "integer"},
    "time": {"type": ["string", "null"], "format": "date-time"},
    "service": {"type": "string"},
    "version": {"type": "string"},
    "function": {"type": "string"},
    "text": {"type": "string"},
    "link": {"type": "string"},
    "created": {"type": "string", "format": "date-time"},
    "created_by_key": {"type": "string"},
}

# Operations by path and method; openapi.py adds the project and the error response.
OTHER_OPERATIONS: dict[str, dict[str, dict[str, Any]]] = {
    f"{_PREFIX}/annotations": {
        "post": {
            "summary": "Add a note at a time or at a function",
            "tags": ["profiles"],
            "security": _BOTH,
            "requestBody": _json_body(
                {
                    "text": _text("Text"),
                    "time": _text("RFC 3339; default: now"),
                    "service": _text("Service"),
                    "version": _text("Version of the service"),
                    "function": _text("Full name of a function, instead of a time"),
                    "link": _text("URL, https or http"),
                },
                ["text"],
            ),
            "responses": {"201": _json_response("Created", _NOTE)},
        }
    },
    f"{_PREFIX}/annotations/{{annotation}}": {
        "delete": {
            "summary": "Delete a note",
            "tags": ["profiles"],
            "security": _BOTH,
            "parameters": [
                {
                    "name": "annotation",
                    "in": "path",
                    "required": True,
                    "schema": {"type": "integer"},
                }
            ],
            "responses": {"204": {"description": "Deleted"}},
        }
    },
    f"{_PREFIX}/capture": {
        "post": {
            "summary": "Request a profile from the next free agent",
            "tags": ["profiles"],
            "security": _BOTH,
            "requestBody": _json_body(
                {
                    "service": _text("Service"),
                    "type": _text("Profile type"),
                    "zone": _text("Zone; default: any"),
                    "version": _text("Version; default: any"),
                },
                ["service", "type"],
            ),
            "responses": {
                "201": _json_response(
                    "Requested",
                    {
                        "slot": {"type": "string"},
                        "service": {"type": "string"},
                        "type": {"type": "string"},
                        "waiting": {"type": "integer", "description": "Agents that may take it"},
                    },
                )
            },
        }
    },
    f"{_PREFIX}/profiles:import": {
        "post": {
            "summary": "Import a file of another profiler",
            "tags": ["profiles"],
            "security": _BOTH,
            "parameters": [
                _import_parameter("service", "Service; required without snapshot"),
                _import_parameter("snapshot", "Title: store snapshots instead of profiles"),
                _import_parameter("version", "Version"),
                _import_parameter("zone", "Zone"),
                _import_parameter("language", "Language"),
                _import_parameter("label.NAME", "Label of the profiles"),
                _import_parameter("type", "Only this profile type of the file"),
                _import_parameter("format", "Format of the file; default: by the content"),
                _import_parameter("unit", "Unit of the values"),
                _import_parameter("time", "Start (RFC 3339), for files that state none"),
                _import_parameter("duration", "30s, 5m, for files that state none"),
            ],
            "requestBody": {
                "required": True,
                "content": {"application/octet-stream": {"schema": {}}},
            },
            "responses": {
                "200": _json_response(
                    "Imported",
                    {
                        "format": {"type": "string"},
                        "profiles": {"type": "array", "items": {"type": "object"}},
                    },
                )
            },
        }
    },
}
