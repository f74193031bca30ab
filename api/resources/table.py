"""Resources of the query API by their names."""

from collections.abc import Callable, Mapping

from api.requests import ApiQuery, ApiRequest
from api.resources import (
    annotation_list,
    compare,
    deployments,
    functions,
    insights,
    pgo,
    profiles,
    regressions,
    services,
    top,
    tree,
)
from api.resources.value_queries import VALUE_QUERIES

# Each function parses a request, and raises if it is invalid.
RESOURCES: Mapping[str, Callable[[ApiRequest], ApiQuery]] = {
    "tree": tree.query,
    "top": top.query,
    "compare": compare.query,
    **{name: each.query for name, each in VALUE_QUERIES.items()},
    "services": services.query,
    "profiles": profiles.query,
    "deployments": deployments.query,
    "pgo": pgo.query,
    "annotations": annotation_list.query,
    "regressions": regressions.query,
    "insights": insights.query,
    "functions": functions.query,
}
