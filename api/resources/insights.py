"""`…/insights`: rules that match the profiles of a service, with their shares and evidence."""

from typing import Any

from api.documents import head
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params.selection import read_selection
from insights.catalog import Insight, find_insights
from profiles.query import QueryContext, dumps


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    selection = read_selection(request.parameters, request.project, request.now)

    def run(context: QueryContext) -> bytes:
        rows = [_describe(each) for each in find_insights(context, selection)]
        fields = {"service": selection.service, "type": selection.type.value}
        return dumps({**head(request), **fields, "rows": rows})

    return ApiQuery(run, selection.end, selection.service)


def _describe(insight: Insight) -> dict[str, Any]:
    rule, result, evidence = insight.rule, insight.result, insight.evidence
    return {
        "rule": rule.id,
        "language": rule.language.value,
        "title": str(rule.title),
        "advice": str(rule.advice),
        "share": insight.share,
        "value": result.compute_mean(evidence),
        "unit": result.metric.unit,
        "cores_per_agent": result.compute_cores(evidence),
        "functions": [{"name": name, "total": total} for name, total in evidence.functions],
        "callers": [{"name": name, "total": total} for name, total in evidence.callers],
        "stack": evidence.stack,
    }
