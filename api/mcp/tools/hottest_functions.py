"""Tool `hottest_functions`: the functions with the greatest self or total cost."""

from api.mcp.arguments import FILTER, LIMIT, OFFSET, ROWS, SELECTION, read_selection
from api.mcp.result_text import describe_selection, encode_table, percent
from api.mcp.tool import Argument, Tool, ToolQuery, ToolRequest
from api.resources.top import sort_functions
from endpoints.params.lists import FUNCTION_COLUMNS, FUNCTION_SORT
from endpoints.params.view import FOCUS, read_view
from profiles.query import QueryContext, run_top

_COLUMNS = ("function", "file", "self", "self_percent", "total", "total_percent", "stacks")


def query(request: ToolRequest) -> ToolQuery:
    reader = request.parameters
    selection, view = read_selection(request), read_view(reader)
    order = reader.read(FUNCTION_SORT)
    offset, limit = reader.read(OFFSET), reader.read(LIMIT)

    def run(context: QueryContext) -> str:
        result = run_top(context, selection, view)
        whole = result.selected_total
        rows = [
            (
                row.name,
                row.file,
                row.self,
                percent(row.self, whole),
                row.total,
                percent(row.total, whole),
                row.count,
            )
            for row in sort_functions(result.rows, order)
        ]
        head = describe_selection(selection, result.coverage, result.metric)
        return encode_table(head, _COLUMNS, rows, offset, limit)

    return ToolQuery(run, selection.service)


HOTTEST_FUNCTIONS = Tool(
    name="hottest_functions",
    title="Hottest functions",
    description=(
        "List the functions of a service by their cost in all matching profiles. `self` is spent in"
        " the function itself, `total` also in what it calls; percentages are of the whole service."
        " Sort by self to find expensive code, by total to find expensive operations. With `focus`,"
        " only stacks that reach that function count."
    ),
    arguments=(
        *SELECTION,
        Argument(FUNCTION_SORT, schema={"enum": FUNCTION_COLUMNS, "default": "self"}),
        Argument(FOCUS),
        FILTER,
        *ROWS,
    ),
    query=query,
)
