"""Fields that the JSON documents of the query API have in common; sums are exact integers."""

from typing import Any

import orjson

from api.requests import ApiRequest
from profiles.queries.rendering.tree_json import VERSION, covered
from profiles.query import Coverage, Metric, Selection


def head(asking: ApiRequest) -> dict[str, Any]:
    return {"v": VERSION, "project": asking.project_id}


def selected(asking: ApiRequest, selection: Selection, coverage: Coverage) -> dict[str, Any]:
    """Return the fields for the selection, and for the coverage of its result."""
    return {
        **head(asking),
        "service": selection.service,
        "type": selection.type.value,
        "start": selection.start,
        "end": selection.end,
        **covered(coverage),
    }


def metric_json(metric: Metric) -> dict[str, str]:
    return {"name": metric.name, "unit": metric.unit}


def dumps(document: dict[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)
