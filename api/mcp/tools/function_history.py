"""Tool `function_history`: the cost of functions over time, with the versions that ran."""

from functools import partial

from api.mcp.arguments import FILTER, LIMIT, OFFSET, ROWS, SELECTION, read_selection
from api.mcp.result_text import Row, describe_selection, encode_table, shorten
from api.mcp.tool import Argument, Tool, ToolQuery, ToolRequest
from endpoints.params import values
from endpoints.params.lists import STEP
from endpoints.params.parameter import Parameter, Repeated
from endpoints.params.view import read_view
from profiles.query import HistoryResult, QueryContext, run_history

MAX_FUNCTIONS = 5
FUNCTION = Repeated("function", "Full names of functions", values.short, most=MAX_FUNCTIONS)
TOP = Parameter(
    "top", "Number of functions, if none is named", partial(values.count, most=MAX_FUNCTIONS), 3
)
_MOST_VERSIONS = 10


def query(request: ToolRequest) -> ToolQuery:
    reader = request.parameters
    selection, view = read_selection(request), read_view(reader)
    names, step, top = reader.several(FUNCTION), reader.read(STEP), reader.read(TOP)
    offset, limit = reader.read(OFFSET), reader.read(LIMIT)

    def run(context: QueryContext) -> str:
        result = run_history(context, selection, view, step=step, names=names, lines=top)
        lines = result.lines[:MAX_FUNCTIONS]  # files may have functions of the same name
        head = {
            **describe_selection(selection, result.coverage, result.metric),
            "step_s": result.step_seconds,
            "functions": [
                {"function": shorten(each.name)[:300], "file": shorten(each.file)[:100]}
                for each in lines
            ],
            "versions": _list_versions(result),
        }
        columns = ["start", "profiles", "total"]
        for number in range(len(lines)):
            columns += (f"self_{number + 1}", f"total_{number + 1}")
        rows: list[Row] = []
        for index, each in enumerate(result.steps):
            costs = ((line.self[index], line.total[index]) for line in lines)
            flat = (value for pair in costs for value in pair)
            rows.append((each.start, each.profiles, each.total, *flat))
        return encode_table(head, columns, rows, offset, limit)

    return ToolQuery(run, selection.service)


def _list_versions(result: HistoryResult) -> list[dict[str, object]]:
    """Return the latest versions, in order of their first profile."""
    return [
        {"version": shorten(each.version)[:100], "first": each.first, "last": each.last}
        for each in result.versions[-_MOST_VERSIONS:]
    ]


FUNCTION_HISTORY = Tool(
    name="function_history",
    title="History of functions",
    description=(
        "Show the cost of functions step by step over the range, and which versions of the service"
        " ran when: to find when something became slower. Columns self_1 and total_1 are sums of"
        " the first function of `functions`, and so on; divide by `profiles` for means. Without"
        " `function`, these are the functions with the greatest self value."
    ),
    arguments=(
        *SELECTION,
        Argument(FUNCTION),
        Argument(TOP, schema={"type": "integer", "minimum": 1, "default": TOP.default}),
        Argument(STEP, schema={"examples": ["10m", "1h", "1d"]}),
        FILTER,
        *ROWS,
    ),
    query=query,
)
