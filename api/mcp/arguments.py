"""Arguments that several tools share: the selection of profiles, and the rows of the result."""

from functools import partial

from api.mcp.tool import Argument, ToolRequest
from endpoints.params import selection, values, view
from endpoints.params.parameter import Parameter
from profiles.query import ProfileSelection
from projects.profile_types import ProfileType

MAX_ROWS = 500
LIMIT = Parameter(
    "limit",
    "Number of rows; a result has fewer if they are long",
    partial(values.count, most=MAX_ROWS),
    40,
)
OFFSET = Parameter(
    "offset",
    "Number of rows to skip: next_offset of the result before",
    lambda text: 0 if text == "0" else values.count(text, most=10**9),
    0,
)
RANGE = (
    Argument(selection.SPAN, schema={"examples": ["30m", "6h", "7d"], "default": "1h"}),
    Argument(selection.END),
    Argument(selection.FROM, schema={"examples": ["2026-11-21T09:30:00Z"]}),
    Argument(selection.TO),
)
NARROWING = (Argument(selection.ZONE), Argument(selection.LABEL), Argument(selection.SAMPLE))
SERVICE_AND_TYPE = (
    Argument(selection.SERVICE, is_required=True),
    Argument(
        selection.TYPE, is_required=True, schema={"enum": [each.value for each in ProfileType]}
    ),
)
METRIC = Argument(view.METRIC)
FILTER = Argument(
    view.FILTER,
    schema={"examples": [["show:json", "hide:/^runtime\\./"]]},
)
ROWS = (
    Argument(LIMIT, schema={"type": "integer", "minimum": 1, "default": LIMIT.default}),
    Argument(OFFSET, schema={"type": "integer", "minimum": 0, "default": 0}),
)
SELECTION = (*SERVICE_AND_TYPE, *RANGE, Argument(selection.VERSION), *NARROWING, METRIC)


def read_selection(request: ToolRequest) -> ProfileSelection:
    return selection.read_selection(request.parameters, request.project, request.now)
