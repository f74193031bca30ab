"""Tool `list_services`: services with their profile types, versions and zones."""

from api.mcp.arguments import LIMIT, OFFSET, RANGE, ROWS
from api.mcp.result_text import encode_table, shorten_all
from api.mcp.tool import Argument, Tool, ToolQuery, ToolRequest
from endpoints.params import parameter
from endpoints.params.selection import read_range
from profiles.query import QueryContext, run_services

CONTAINS = parameter.text("contains", "Only services whose name contains this text, in any case")
_MOST_VERSIONS, _MOST_ZONES = 5, 5
_COLUMNS = ("service", "types", "versions", "zones", "profiles", "last_profile")


def query(request: ToolRequest) -> ToolQuery:
    reader = request.parameters
    start, end = read_range(reader, request.now).bounds(request.now)
    offset, limit = reader.read(OFFSET), reader.read(LIMIT)
    contained = reader.read(CONTAINS).lower()

    def run(context: QueryContext) -> str:
        rows = [
            (
                row.service,
                [each.value for each in row.types],
                shorten_all(row.versions, _MOST_VERSIONS),
                shorten_all(row.zones, _MOST_ZONES),
                row.profiles,
                row.last_profile,
            )
            for row in run_services(context, start, end).rows
            if contained in row.service.lower() and context.services.allows(row.service)
        ]
        head = {"project": request.project_id, "start": start, "end": end}
        return encode_table(head, _COLUMNS, rows, offset, limit)

    return ToolQuery(run, service="")


LIST_SERVICES = Tool(
    name="list_services",
    title="List services",
    description=(
        "List the services of a project by name, with the profile types that they have, their"
        " newest versions first, their zones, the number of their profiles in the range, and the"
        " time of their latest one. Begin here: the other tools need a service and a type."
    ),
    arguments=(*RANGE, Argument(CONTAINS), *ROWS),
    query=query,
)
