"""`…/functions`: functions that match, in the CPU profiles of all services, and their cost."""

from dataclasses import asdict
from typing import Any

from api.documents import head
from api.formats import JSON
from api.requests import ApiQuery, ApiRequest
from endpoints.params.parameter import Parameter
from endpoints.params.selection import read_range
from findings.costs import ServiceCosts, load_costs
from insights.function_search import FoundFunctions, search_functions
from profiles.query import QueryContext, dumps, matcher


def _parse_pattern(text: str) -> str:
    matcher(text)
    return text


FIND = Parameter(
    "find", "Part of the name of a function or file, or /a regular expression/", _parse_pattern, ""
)


def query(request: ApiRequest) -> ApiQuery:
    request.form(JSON)
    find = request.parameters.read_required(FIND)
    start, end = read_range(request.parameters, request.now).bounds(request.now)

    def run(context: QueryContext) -> bytes:
        search = search_functions(context, find, start, end)
        costs = load_costs(request.project, request.now)
        fields = {
            "start": start,
            "end": end,
            "currency": costs.prices.currency,
            "examined": search.examined,
            "complete": not search.is_late,
            "failures": [
                {"service": service, "reason": reason} for service, reason in search.failures
            ],
            "services": [_describe(each, costs) for each in search.found],
        }
        return dumps({**head(request), **fields})

    return ApiQuery(run, end, service="")


def _describe(found: FoundFunctions, costs: ServiceCosts) -> dict[str, Any]:
    result, cost = found.result, found.cost
    price = costs.compute_cpu(found.service, result.compute_cores(cost))
    return {
        "service": found.service,
        "share": found.share,
        "value": result.compute_mean(cost),
        "unit": result.metric.unit,
        "profiles": result.coverage.profiles,
        "cores": price.cores,
        "cost_a_month": price.money,
        "kg_co2_a_month": price.kg_co2,
        "functions": [{"name": name, "total": total} for name, total in cost.functions],
        "callers": [{"name": name, "total": total} for name, total in cost.callers],
        "stack": cost.stack,
        "steps": {"start": found.steps, "share": found.shares},
        "versions": [asdict(each) for each in found.versions],
    }
