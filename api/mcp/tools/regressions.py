"""Tool `regressions`: changes of functions that the server found by itself."""

from api.mcp.arguments import LIMIT, OFFSET, ROWS
from api.mcp.result_text import Row, encode_table, percent, shorten
from api.mcp.tool import Argument, Tool, ToolQuery, ToolRequest
from api.resources.regressions import DIRECTION, FUNCTION, STATE, VERSION_NAME, read_filter
from endpoints.params.selection import SERVICE, TYPE
from findings.listing import FindingOrder, find_findings
from findings.models import Finding, FindingState
from profiles.query import QueryContext
from projects.profile_types import ProfileType

MAX_FINDINGS = 1000  # the most urgent ones are listed
_COLUMNS = (
    *("service", "type", "function", "file", "value", "direction", "state"),
    *("before", "after", "change", "change_percent", "low", "high", "unit"),
    *("since", "version", "version_before"),
)


def query(request: ToolRequest) -> ToolQuery:
    restrictions = read_filter(request.parameters)
    offset, limit = request.parameters.read(OFFSET), request.parameters.read(LIMIT)

    def run(context: QueryContext) -> str:
        found = find_findings(
            request.project, restrictions, FindingOrder.RANK, context.services
        ).defer("checks", "merged")
        rows = [_describe(each) for each in found[:MAX_FINDINGS]]
        context.check()
        head = {
            "project": request.project_id,
            "values": "means per profile; low and high bound the change with 95 % confidence",
        }
        return encode_table(head, _COLUMNS, rows, offset, limit)

    return ToolQuery(run, restrictions.service)


def _describe(row: Finding) -> Row:
    return (
        row.service,
        row.type,
        row.function,
        row.file,
        "self" if row.is_self else "total",
        row.direction,
        row.state,
        row.before,
        row.after,
        row.change,
        percent(row.change, row.before),
        row.low,
        row.high,
        shorten(row.unit),
        row.change_time,
        row.version,
        row.version_before,
    )


REGRESSIONS = Tool(
    name="regressions",
    title="Regressions",
    description=(
        "List lasting changes of the cost of single functions that the server found by itself twice"
        " a day, the most urgent first, with the version that each came with. Begin here to find"
        " out what became slower; then look at the function with function_history and sandwich."
    ),
    arguments=(
        Argument(SERVICE),
        Argument(TYPE, schema={"enum": [each.value for each in ProfileType]}),
        Argument(FUNCTION),
        Argument(VERSION_NAME),
        Argument(STATE, schema={"enum": FindingState.values}),
        Argument(
            DIRECTION,
            schema={"enum": ["regression", "improvement", "any"], "default": "regression"},
        ),
        *ROWS,
    ),
    query=query,
)
