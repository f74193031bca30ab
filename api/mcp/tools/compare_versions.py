"""Tool `compare_versions`: what a version of a service costs more, or less, than another one."""

from dataclasses import replace
from itertools import chain

from api.mcp.arguments import (
    FILTER,
    LIMIT,
    METRIC,
    NARROWING,
    OFFSET,
    RANGE,
    ROWS,
    SERVICE_AND_TYPE,
    read_selection,
)
from api.mcp.result_text import (
    Row,
    describe_coverage,
    describe_selection,
    encode_table,
    percent,
    shorten,
)
from api.mcp.tool import Argument, Tool, ToolQuery, ToolRequest
from endpoints.params.reader import BadParameter
from endpoints.params.selection import VERSION, read_other_side
from endpoints.params.view import read_view
from profiles.query import CompareResult, QueryContext, run_compare

_SIDE = "baseline_"
_COLUMNS = (
    *("function", "file", "self", "baseline_self", "total", "baseline_total"),
    *("change", "change_percent", "low", "high", "significant"),
)


def query(request: ToolRequest) -> ToolQuery:
    reader = request.parameters
    selected = read_selection(request)
    others = reader.side(_SIDE)
    baseline = read_other_side(others, selected, request.now)
    others.done()
    if baseline == selected:
        raise BadParameter(
            f"{_SIDE}version", "is missing: name the version, or the range, to compare with"
        )
    view = read_view(reader)
    offset, limit = reader.read(OFFSET), reader.read(LIMIT)

    def run(context: QueryContext) -> str:
        result = run_compare(context, selected, baseline, view)
        mine, others = result.coverages
        head = describe_selection(selected, mine, result.metric)
        head["baseline"] = {
            "start": baseline.start,
            "end": baseline.end,
            **describe_coverage(others),
        }
        head["whole"] = _describe_whole(result)
        head["values"] = "means per profile; low and high bound the change with 95 % confidence"
        if result.untested:
            head["not_tested_because"] = shorten(str(result.untested))
        return encode_table(head, _COLUMNS, _list_changes(result), offset, limit)

    return ToolQuery(run, selected.service)


def _list_changes(result: CompareResult) -> list[Row]:
    """Return the functions, the largest absolute difference of means first."""
    profiles, of_baseline = (max(each.profiles, 1) for each in result.coverages)
    return [
        (
            each.name,
            each.file,
            _round(each.a_self / profiles),
            _round(each.b_self / of_baseline),
            _round(each.a_total / profiles),
            _round(each.b_total / of_baseline),
            _round(each.a_total / profiles - each.b_total / of_baseline),
            percent(
                each.a_total / profiles - each.b_total / of_baseline, each.b_total / of_baseline
            ),
            _round(each.low),
            _round(each.high),
            each.real,
        )
        for each in result.functions
    ]


def _describe_whole(result: CompareResult) -> dict[str, object]:
    """Return the change of all functions together."""
    whole = result.whole
    profiles, of_baseline = (max(each.profiles, 1) for each in result.coverages)
    mean, before = whole.a_total / profiles, whole.b_total / of_baseline
    return {
        "total": _round(mean),
        "baseline_total": _round(before),
        "change": _round(mean - before),
        "change_percent": percent(mean - before, before),
        "low": _round(whole.low),
        "high": _round(whole.high),
        "significant": whole.real,
    }


def _round(value: float | None) -> float | None:
    """Round to three decimals, and large values to whole numbers."""
    if value is None:
        return None
    return round(value) if abs(value) >= 1000 else round(value, 3)


COMPARE_VERSIONS = Tool(
    name="compare_versions",
    title="Compare versions",
    description=(
        "Compare a version of a service with a baseline, function by function, the largest change"
        " first: with `version` and `baseline_version`, or the same versions at two times with"
        " `baseline_from` and `baseline_to`. Without a range of its own, the baseline has that of"
        " the selected side. Values are means per profile. A change is significant if it exceeds"
        " the noise between profiles, which needs several profiles on both sides."
    ),
    arguments=(
        *SERVICE_AND_TYPE,
        Argument(VERSION),
        *RANGE,
        *NARROWING,
        METRIC,
        FILTER,
        *(replace(each, prefix=_SIDE) for each in chain((Argument(VERSION),), RANGE, NARROWING)),
        *ROWS,
    ),
    query=query,
)
