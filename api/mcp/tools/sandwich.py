"""Tool `sandwich`: the direct callers and callees of a function."""

from collections.abc import Iterable

from api.mcp.arguments import FILTER, LIMIT, OFFSET, ROWS, SELECTION, read_selection
from api.mcp.result_text import (
    MAX_BYTES,
    Row,
    build_table,
    describe_selection,
    encode_document,
    percent,
    shorten,
)
from api.mcp.tool import Argument, Tool, ToolQuery, ToolRequest
from endpoints.params.view import FOCUS, read_view
from profiles.query import FocusResult, Neighbour, QueryContext, run_focus

_COLUMNS = ("function", "file", "total", "percent_of_function")


def query(request: ToolRequest) -> ToolQuery:
    reader = request.parameters
    selection = read_selection(request)
    reader.read_required(FOCUS)
    view = read_view(reader)
    offset, limit = reader.read(OFFSET), reader.read(LIMIT)

    def run(context: QueryContext) -> str:
        result = run_focus(context, selection, view)
        head = describe_selection(selection, result.coverage, result.metric)
        head["function"] = _describe_function(result)
        room = (MAX_BYTES - len(encode_document(head).encode())) // 2
        tables = {
            name: build_table(_COLUMNS, _list_neighbours(result, neighbours), offset, limit, room)
            for name, neighbours in (
                ("callers", result.peek.callers),
                ("callees", result.peek.callees),
            )
        }
        return encode_document(head | tables)

    return ToolQuery(run, selection.service)


def _describe_function(result: FocusResult) -> dict[str, object] | None:
    row = result.row
    if row is None:
        return None
    # The sum of the selected samples is not known here.
    whole = 0 if result.selection.samples else result.coverage.total
    return {
        "name": shorten(row.name),
        "file": shorten(row.file),
        "self": row.self,
        "self_percent": percent(row.self, whole),
        "total": row.total,
        "total_percent": percent(row.total, whole),
        "stacks": row.count,
    }


def _list_neighbours(result: FocusResult, neighbours: Iterable[Neighbour]) -> list[Row]:
    whole = result.row.total if result.row else 0
    return [(each.name, each.file, each.total, percent(each.total, whole)) for each in neighbours]


SANDWICH = Tool(
    name="sandwich",
    title="Callers and callees",
    description=(
        "List the direct callers and the direct callees of a function, the greatest first, with the"
        " cost of the stacks in which one calls the other. `focus` is the full name of the"
        " function, as hottest_functions returns it. The function is null if no stack reaches it."
        " To go further up or down, call this tool for a caller or a callee."
    ),
    arguments=(*SELECTION, Argument(FOCUS, is_required=True), FILTER, *ROWS),
    query=query,
)
