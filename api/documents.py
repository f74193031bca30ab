"""Fields that the JSON documents of the query API have in common; sums are exact integers."""

from typing import Any

from api.requests import ApiRequest
from profiles.query import VERSION, Coverage, Metric, Selection, coverage_fields


def head(request: ApiRequest) -> dict[str, Any]:
    return {"v": VERSION, "project": request.project_id}


def selection_fields(
    request: ApiRequest, selection: Selection, coverage: Coverage
) -> dict[str, Any]:
    """Return the fields for the selection, and for the coverage of its result."""
    return {
        **head(request),
        "service": selection.service,
        "type": selection.type.value,
        "start": selection.start,
        "end": selection.end,
        **coverage_fields(coverage),
    }


def metric_json(metric: Metric) -> dict[str, str]:
    return {"name": metric.name, "unit": metric.unit}
