"""Tools of the MCP server by their names; a new tool is a module of `tools` and a line here."""

from collections.abc import Mapping

from api.mcp.tool import Tool
from api.mcp.tools.compare_versions import COMPARE_VERSIONS
from api.mcp.tools.function_history import FUNCTION_HISTORY
from api.mcp.tools.hottest_functions import HOTTEST_FUNCTIONS
from api.mcp.tools.list_services import LIST_SERVICES
from api.mcp.tools.regressions import REGRESSIONS
from api.mcp.tools.sandwich import SANDWICH

TOOLS: Mapping[str, Tool] = {
    each.name: each
    for each in (
        LIST_SERVICES,
        HOTTEST_FUNCTIONS,
        SANDWICH,
        COMPARE_VERSIONS,
        FUNCTION_HISTORY,
        REGRESSIONS,
    )
}
