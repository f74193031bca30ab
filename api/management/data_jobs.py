"""`deletions` and `exports`: background jobs on a project's data."""

from api.management.call import (
    BodyField,
    Created,
    ProjectAction,
    ProjectCall,
    ProjectResource,
    TarDownload,
)
from api.management.documents import (
    DeletionDocument,
    DeletionList,
    ExportDocument,
    ExportList,
)
from endpoints.errors import BadField, NotFound
from endpoints.json_message import Message, read_text, read_time
from profiles.deletion import jobs as deletions
from profiles.deletion.jobs import DeletionSelection, ListedDeletion
from profiles.project_export import jobs as exports
from profiles.project_export.jobs import ExportJob
from projects.permissions import Permission
from projects.profile_types import ProfileType

_MAX_SERVICE, _MAX_NAME = 255, 512  # characters that the database stores
_TIME = {"type": "string", "format": "date-time"}


def _list_deletions(call: ProjectCall) -> DeletionList:
    return {"rows": [_deletion_document(row) for row in deletions.list_deletions(call.project)]}


def _request_deletion(call: ProjectCall) -> Created[DeletionDocument]:
    selection = _read_selection(call.body)
    if selection == DeletionSelection():
        raise BadField("service", "is missing: without any field, all profiles would be deleted")
    job = deletions.request_deletion(call.project, selection, actor=call.user, origin=call.origin)
    return Created(_deletion_document(ListedDeletion(job, selection.describe())))


def _read_selection(body: Message) -> DeletionSelection:
    start, end = read_time(body, "start", "start"), read_time(body, "end", "end")
    if start and end and start >= end:
        raise BadField("end", "must be after the start")
    kind = read_text(body, "type", "type")
    if kind and kind not in set(ProfileType):
        raise BadField("type", f"must be one of {', '.join(ProfileType)}")
    return DeletionSelection(
        service=_read_name(body, "service", _MAX_SERVICE) or "",
        type=kind,
        zone=_read_name(body, "zone"),
        version=_read_name(body, "version"),
        start=start,
        end=end,
    )


def _read_name(body: Message, name: str, most: int = _MAX_NAME) -> str | None:
    """Return a text, which may be empty; None if it is absent."""
    if body.get(name) is None:
        return None
    text = read_text(body, name, name)
    if len(text) > most:
        raise BadField(name, f"has {len(text):,} characters; {most} are allowed")
    return text


def _cancel_deletion(call: ProjectCall) -> None:
    job = deletions.find(call.project, call.arguments["job"])
    if job is None:
        raise NotFound("No such deletion in this project.")
    deletions.cancel(job, actor=call.user, origin=call.origin)


def _deletion_document(listed: ListedDeletion) -> DeletionDocument:
    job = listed.job
    return {
        "id": job.pk,
        "scope": job.scope,
        "target": listed.target,
        "state": job.state,
        "percent": listed.percent,
        "requested": job.requested,
        "requested_by": job.requested_by.email if job.requested_by else None,
        "due": job.due,
        "finished": job.finished,
        "profiles": job.profiles,
        "bytes": job.bytes,
        "problem": job.problem,
    }


def _list_exports(call: ProjectCall) -> ExportList:
    return {"rows": [_export_document(row) for row in exports.list_exports(call.project)]}


def _request_export(call: ProjectCall) -> Created[ExportDocument]:
    job = exports.request_export(call.project, actor=call.user, origin=call.origin)
    return Created(_export_document(job))


def _cancel_export(call: ProjectCall) -> None:
    exports.cancel(_find_export(call), actor=call.user, origin=call.origin)


def _download_export(call: ProjectCall) -> TarDownload:
    job = _find_export(call)
    parts = exports.download(job, actor=call.user, origin=call.origin)
    return TarDownload(parts, job.bytes, exports.build_file_name(job))


def _find_export(call: ProjectCall) -> ExportJob:
    job = exports.find(call.project, call.arguments["job"])
    if job is None:
        raise NotFound("No such export in this project.")
    return job


def _export_document(job: ExportJob) -> ExportDocument:
    return {
        "id": job.pk,
        "state": job.state,
        "requested": job.requested,
        "requested_by": job.requested_by.email if job.requested_by else None,
        "finished": job.finished,
        "expires": job.expires,
        "files": job.files,
        "profiles": job.profiles,
        "bytes": job.bytes,
        "problem": job.problem,
    }


RESOURCES = (
    ProjectResource(
        "/deletions",
        {
            "GET": ProjectAction(
                "List the latest deletions", _list_deletions, permission=Permission.DELETE_PROJECT
            ),
            "POST": ProjectAction(
                "Delete the profiles that match all fields; it starts after 5 minutes",
                _request_deletion,
                fields=(
                    BodyField("service", "Name of the service"),
                    BodyField("type", "Profile type", {"type": "string", "enum": [*ProfileType]}),
                    BodyField("zone", "Zone; it may be empty"),
                    BodyField("version", "Version; it may be empty"),
                    BodyField("start", "Time of the oldest profile (RFC 3339)", _TIME),
                    BodyField("end", "Time after the newest profile (RFC 3339)", _TIME),
                ),
                permission=Permission.DELETE_PROJECT,
            ),
        },
    ),
    ProjectResource(
        "/deletions/<int:job>",
        {
            "DELETE": ProjectAction(
                "Cancel a deletion that has not started",
                _cancel_deletion,
                permission=Permission.DELETE_PROJECT,
            )
        },
    ),
    ProjectResource(
        "/exports",
        {
            "GET": ProjectAction(
                "List the latest exports", _list_exports, permission=Permission.EXPORT_PROJECT
            ),
            "POST": ProjectAction(
                "Export the project; once the state is done, its archive can be downloaded",
                _request_export,
                permission=Permission.EXPORT_PROJECT,
            ),
        },
    ),
    ProjectResource(
        "/exports/<int:job>",
        {
            "DELETE": ProjectAction(
                "Cancel a running export", _cancel_export, permission=Permission.EXPORT_PROJECT
            )
        },
    ),
    ProjectResource(
        "/exports/<int:job>/archive",
        {
            "GET": ProjectAction(
                "Download the archive of an export",
                _download_export,
                permission=Permission.EXPORT_PROJECT,
            )
        },
    ),
)
