"""`projects/{project}`: name, capture rate and source links."""

from api.management.call import (
    BodyField,
    ProjectAction,
    ProjectCall,
    ProjectResource,
    read_flag,
    require_text,
)
from api.management.documents import ProjectDocument
from endpoints.errors import BadField
from endpoints.json_message import Message, read_text
from projects import project_settings
from projects.models import Member
from projects.permissions import Permission
from projects.source_templates import InvalidLinkTemplate

_MAX_RATE = 60.0  # profiles per minute


def project_document(member: Member) -> ProjectDocument:
    project = member.project
    return {
        "project": project.project_id,
        "name": project.name,
        "created": project.created,
        "role": str(member.role),
        "profiles_per_minute": project.profiles_per_minute,
        "adaptive_rate": project.adaptive_rate,
        "source_url": project.source_url,
        "source_root": project.source_root,
    }


def _show(call: ProjectCall) -> ProjectDocument:
    return project_document(call.member)


def _change(call: ProjectCall) -> ProjectDocument:
    values: dict[str, object] = {}
    if "name" in call.body:
        values["name"] = require_text(call.body, "name", 100)
    if "profiles_per_minute" in call.body:
        values["profiles_per_minute"] = _read_rate(call.body)
    if (adaptive := read_flag(call.body, "adaptive_rate")) is not None:
        values["adaptive_rate"] = adaptive
    for name in ("source_url", "source_root"):
        if name in call.body:
            values[name] = _read_short(call.body, name)
    try:
        project_settings.change(call.project, values, actor=call.user, origin=call.origin)
    except InvalidLinkTemplate as error:
        raise BadField("source_url", str(error)) from None
    return project_document(call.member)


def _read_rate(body: Message) -> float:
    value = body["profiles_per_minute"]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= _MAX_RATE:
        raise BadField("profiles_per_minute", f"must be a number from 0 to {_MAX_RATE:g}")
    return float(value)


def _read_short(body: Message, name: str) -> str:
    value = read_text(body, name, name).strip()
    if len(value) > project_settings.MAX_SOURCE:
        most = project_settings.MAX_SOURCE
        raise BadField(name, f"has {len(value):,} characters; {most} are allowed")
    return value


RESOURCES = (
    ProjectResource(
        "",
        {
            "GET": ProjectAction("Show a project", _show),
            "PATCH": ProjectAction(
                "Change a project",
                _change,
                fields=(
                    BodyField("name", "Display name"),
                    BodyField(
                        "profiles_per_minute",
                        "Average profiles per minute of each deployment and profile type; 0 is off",
                        {"type": "number", "minimum": 0, "maximum": _MAX_RATE},
                    ),
                    BodyField(
                        "adaptive_rate",
                        "Capture services more often that need it, within half of the quotas",
                        {"type": "boolean"},
                    ),
                    BodyField("source_url", "Source link template"),
                    BodyField("source_root", "Path prefix to strip"),
                ),
                permission=Permission.CHANGE_SETTINGS,
            ),
        },
    ),
)
