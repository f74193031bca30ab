"""`…/regressions`: changes of functions that the server found by itself."""

from functools import partial
from typing import Any

from api.documents import head
from api.formats import JSON
from api.paging import AFTER, SIZE, page_fields
from api.requests import ApiQuery, ApiRequest
from endpoints.params import parameter
from endpoints.params.reader import StrictReader
from endpoints.params.selection import SERVICE, TYPE
from findings.listing import FindingFilter, FindingOrder, find_findings
from findings.models import Direction, Finding, FindingState
from profiles.query import QueryContext, dumps
from projects.commit_ranges import build_compare_url
from projects.models import Project

FUNCTION = parameter.text("function", "Part of the name of the function")
VERSION_NAME = parameter.text("version", "Version that the change came with")
STATE = parameter.choice("state", "Only findings of this state", ["", *FindingState.values])
DIRECTION = parameter.choice(
    "direction", "regression, improvement or any", ["regression", "improvement", "any"]
)


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    after, size = request.parameters.read(AFTER), request.parameters.read(SIZE)
    restrictions = read_filter(request.parameters)

    def run(context: QueryContext) -> bytes:
        rows = find_findings(
            request.project, restrictions, FindingOrder.STORED, context.services
        ).filter(pk__gt=after)
        page = list(rows[: size + 1])
        template = Project.objects.values_list("source_url", flat=True).get(pk=request.project)
        context.check()
        describe = partial(_describe, source_url=template)
        return dumps({**head(request), **page_fields(page, size, describe)})

    return ApiQuery(run, request.now, restrictions.service)


def read_filter(reader: StrictReader) -> FindingFilter:
    """Read the restrictions of a list of findings."""
    type_, state, direction = reader.read(TYPE), reader.read(STATE), reader.read(DIRECTION)
    return FindingFilter(
        direction=None if direction == "any" else Direction(direction),
        states=(FindingState(state),) if state else (),
        service=reader.read(SERVICE),
        type=type_ or "",
        function=reader.read(FUNCTION),
        version=reader.read(VERSION_NAME),
    )


def _describe(row: Finding, source_url: str) -> dict[str, Any]:
    return {
        "id": row.finding_id,
        "service": row.service,
        "type": row.type,
        "function": row.function,
        "file": row.file,
        "value": "self" if row.is_self else "total",
        "direction": row.direction,
        "state": row.state,
        "unit": row.unit,
        "before": row.before,
        "after": row.after,
        "change": row.change,
        "interval": [row.low, row.high],
        "relative": row.relative,
        "latest_change": row.latest_change,
        "since": row.change_time,
        "found": row.found,
        "version": row.version,
        "version_before": row.version_before,
        "commits": build_compare_url(source_url, row.version_before, row.version),
        "assignee": row.assignee.email if row.assignee else "",
        "evidence": {
            "p": row.p,
            "profiles_before": row.profiles_before,
            "profiles_after": row.profiles_after,
            "checks": row.checks,
            "merged": row.merged,
        },
    }
