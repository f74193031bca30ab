"""`audit`: the audit log of a project, the newest entries first."""

from datetime import UTC, datetime
from functools import partial

from api.management.call import ProjectAction, ProjectCall, ProjectResource
from api.management.documents import AuditEntryList
from endpoints.params import parameter, values
from endpoints.params.parameter import Parameter
from projects.audit_actions import LABELS
from projects.audit_log import AuditFilter, Cursor, entry_document, list_page
from projects.models import ActorKind
from projects.permissions import Permission

_EARLIEST = datetime.min.replace(tzinfo=UTC)
SINCE = Parameter("since", "Only entries since this time (RFC 3339)", values.time, _EARLIEST)
ACTION = parameter.choice("action", "Only entries of this action", ["", *LABELS])
KIND = parameter.choice("kind", "Only entries of this kind of actor", ["", *ActorKind.values])
TEXT = parameter.text("text", "Only entries with this text in target, actor or address", 100)
PAGE = Parameter("page", "Token of a page, from next_page", Cursor.parse, None)
SIZE = Parameter("size", "Entries of a page", partial(values.count, most=500), 100)


def _list(call: ProjectCall) -> AuditEntryList:
    read = call.parameters.read
    kind = read(KIND)
    criteria = AuditFilter(
        project=call.project.pk,
        since=read(SINCE),
        kind=ActorKind(kind) if kind else None,
        action=read(ACTION),
        text=read(TEXT),
    )
    page = list_page(criteria, read(PAGE), read(SIZE))
    return {
        "rows": [entry_document(entry) for entry in page.entries],
        "next_page": str(page.next) if page.next else None,
    }


RESOURCES = (
    ProjectResource(
        "/audit",
        {
            "GET": ProjectAction(
                "List the audit log, the newest entries first",
                _list,
                parameters=(SINCE, ACTION, KIND, TEXT, PAGE, SIZE),
                permission=Permission.READ_AUDIT,
            )
        },
    ),
)
